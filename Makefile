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
	scripts/install-deps --long
	scripts/test $(BUILD) --suite long

# The programs of the tests under small limits, in namespaces, under Landlock, with servers killed.
test-stress: all
	scripts/install-deps --bench
	scripts/test $(BUILD) --suite stress

# libbinopt with what finds steps outside of memory and undefined arithmetic.
test-sanitized: deps
	[ -d $(BUILD)-sanitized ] || meson setup $(BUILD)-sanitized -Db_sanitize=address,undefined -Db_lundef=false
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 scripts/test $(BUILD)-sanitized --suite binopt

demo: all
	scripts/demo $(BUILD)

bench: all
	scripts/install-deps --bench
	meson test -C $(BUILD) --benchmark --verbose

install: all
	meson install -C $(BUILD) --no-rebuild

# Debian packages, in build/deb.
deb:
	scripts/deb $(BUILD)/deb

format:
	scripts/format

# The clients for other hosts alone: docs/hosts.md.
hosts: $(BUILD)/build.ninja
	@command -v aarch64-linux-gnu-gcc riscv64-linux-gnu-gcc >/dev/null || { echo "make hosts: there is neither aarch64-linux-gnu-gcc nor riscv64-linux-gnu-gcc"; exit 1; }
	ninja -C $(BUILD) hosts
	for host in $(BUILD)/src/run/client/host/*/lathe-client-aarch64; do \
	    host=$$(basename $${host%/*}) && ln -sfn src/run/client/host/$$host $(BUILD)/host-$$host || exit 1; \
	done

clean:
	rm -rf $(BUILD)

.PHONY: all deps test test-long test-stress test-sanitized demo bench install deb format hosts clean
