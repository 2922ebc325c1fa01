#!/bin/bash
# parts.sh LATHE: a C++ program that is compiled in several parts does as natively: exceptions go from each to all others.
lathe=$(realpath "${1:?}")
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2

# Each function calls another one far away, cleans up, and catches every third kind of exception.
python3 - >large.cpp <<'P'
count = 160
print("#include <cstdio>\n#include <stdexcept>\n#include <string>")
print("struct Counter { int &n; Counter(int &n) : n(n) { n++; } ~Counter() { n--; } };")
print("static int alive; static long sum;")
for i in range(count):
    print(f"template <int N> struct Kind; template <> struct Kind<{i}> {{ int value; }}; int f{i}(int depth, int x);")
for i in range(count):
    print(f"__attribute__((noinline)) int f{i}(int depth, int x) {{")
    print("    Counter counter(alive); volatile int own[8];")
    for k in range(12):
        print(f"    own[{k % 8}] = x * {k + i % 7 + 1} + (x >> {k % 5 + 1}); sum += own[{k % 8}] ^ {i * 31 + k};")
    print(f"    if (depth == 0) {{ if (x % 4 == 3) throw std::runtime_error(\"{i}\"); throw Kind<{i}>{{x + {i}}}; }}")
    print("    try {")
    print(f"        return f{(i * 37 + 101) % count}(depth - 1, x * 5 + own[3] % 3) + 1;")
    print(f"    }} catch (const Kind<{(i * 53 + 7) % count}> &k) {{ return k.value + 10000; }}")
    if i % 3 == 0:
        print(f"    catch (const Kind<{(i * 37 + 101) % count}> &k) {{ return k.value; }}")
    if i % 11 == 0:
        print("    catch (const std::exception &e) { sum += e.what()[0]; throw; }")
    print("}")
print("int (*const all[])(int, int) = {")
print(",".join(f"f{i}" for i in range(count)), "};")
print("int main() {")
print("    for (int i = 0; i < %d; i++)" % count)
print("        for (int depth = 0; depth < 6; depth++) {")
print("            int got = -1;")
print("            try { got = all[i](depth, i + depth); }")
print("            catch (const std::exception &e) { got = std::stoi(e.what()) + 100000; }")
print("            catch (...) { got = -2; }")
print('            std::printf("%d %d %d %d %ld\\n", i, depth, got, alive, sum);')
print("        }")
print("}")
P
g++ -O0 -w large.cpp -o native || exit 2
"$lathe" raise -O1 --report native -o raised >report || { echo "FAIL: the program is refused"; exit 1; }
insns=$(sed -n 's/^instructions *//p' report)
[ "$insns" -gt 40000 ] || { echo "FAIL: the program has only $insns instructions, so that it is one part"; exit 1; }
./native >native.out 2>&1
echo "status $?" >>native.out
./raised >raised.out 2>&1
echo "status $?" >>raised.out
if ! cmp -s native.out raised.out; then
    echo "FAIL: the raised program differs:"
    diff native.out raised.out | head -n 10
    exit 1
fi
echo "exceptions go from part to part: $(sort -u native.out | wc -l) lines, $insns instructions"
