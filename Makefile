# A front for Meson: 'make' on a fresh machine installs what is missing, then builds into build/.
BUILD ?= build

all: $(BUILD)/build.ninja
	ninja -C $(BUILD)

$(BUILD)/build.ninja: | deps
	meson setup $(BUILD)

deps:
	@scripts/install-deps

test: all
	scripts/test $(BUILD)

test-long: all
	scripts/install-deps --bench
	scripts/test $(BUILD) --suite long

demo: all
	scripts/demo $(BUILD)

bench: all
	scripts/install-deps --bench
	meson test -C $(BUILD) --benchmark --verbose

install: all
	meson install -C $(BUILD) --no-rebuild

format:
	git ls-files '*.c' '*.h' '*.cpp' | xargs clang-format -i

clean:
	rm -rf $(BUILD)

.PHONY: all deps test test-long demo bench install format clean
