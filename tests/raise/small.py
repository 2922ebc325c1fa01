#!/usr/bin/env python3
"""small.py LATHE [--count=N] [--seed=S] [--csmith] [--target=MACHINE]: random small C programs, compiled in random ways, do raised what they do natively.

Each program is of one kind: integers, floating point, variable arguments, structs by value, pointers to functions, computed gotos, recursion,
bit fields, strings, loops over arrays, many doubles, early returns. With --csmith they are csmith's. With --target they are raised for that machine,
and run under qemu. What differs is kept in the working directory, and named.
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

HEAD = """#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define APART __attribute__((noinline))
"""
INTS = ["int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"]
LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os"]
TIMEOUT, CSMITH_TIMEOUT = 20, 4  # seconds; the second for a program of csmith natively, which may run for ever
SKIPPED = "skipped"


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def number(self):
        return self.r.choice([0, 1, 2, 3, 7, 8, 15, 100, 127, 128, 255, 256, 1000, 32767, 65535, 2147483647, self.r.randrange(1 << 31)])

    def integer(self, names, depth=3):
        """An expression that is defined for all values of the names, computed in 64 bits without sign."""
        r = self.r
        if depth == 0 or r.random() < 0.15:
            return f"(uint64_t){r.choice(names)}" if r.random() < 0.75 else f"UINT64_C({self.number()})"
        a, b = self.integer(names, depth - 1), self.integer(names, depth - 1)
        kind = r.randrange(10)
        if kind < 5:
            return f"({a} {r.choice(['+', '-', '*', '&', '|', '^'])} {b})"
        if kind == 5:
            return f"({a} {r.choice(['<<', '>>'])} ({b} & {r.choice([7, 15, 31, 63])}))"
        if kind == 6:
            return f"({a} {r.choice(['/', '%'])} (({b} & 0xffff) + 1))"
        if kind == 7:
            return f"(uint64_t)({r.choice(INTS)})({a})"
        if kind == 8:
            return f"({a} {r.choice(['<', '>', '==', '<=', '!='])} {b} ? {self.integer(names, depth - 1)} : {b})"
        return f"(uint64_t)((int64_t)({a}) {r.choice(['<', '>', '>='])} (int64_t)({b}))"

    def real(self, names, depth=3):
        r = self.r
        if depth == 0 or r.random() < 0.15:
            return r.choice(names) if r.random() < 0.75 else f"{r.uniform(-9, 9):.4f}"
        a, b = self.real(names, depth - 1), self.real(names, depth - 1)
        return r.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / (fabs({b}) + 1.5))", f"sqrt(fabs({a}))",
                         f"({a} < {b} ? {a} : {b})", f"(double)(float)({a})", f"(double)(int)fmod({a}, 1000.0)", f"floor({a})"])

    def integers(self):
        out, calls = HEAD, ""
        for f in range(self.r.randrange(2, 5)):
            types = [self.r.choice(INTS) for _ in range(self.r.randrange(1, 9))]
            names = [f"a{i}" for i in range(len(types))]
            out += f"APART static {self.r.choice(INTS)} f{f}({', '.join(map(' '.join, zip(types, names)))}) {{\n"
            for i in range(self.r.randrange(1, 4)):
                out += f"    {self.r.choice(INTS)} v{i} = {self.integer(names)};\n"
                names.append(f"v{i}")
            out += f"    return {self.integer(names)};\n}}\n"
            for _ in range(3):
                calls += f'    printf("%lld\\n", (long long)f{f}({", ".join(str(self.number()) for _ in types)}));\n'
        return out + f"int main(void) {{\n{calls}    return {self.r.randrange(100)};\n}}\n"

    def floats(self):
        out, calls = HEAD, ""
        for f in range(self.r.randrange(2, 4)):
            types = [self.r.choice(["double", "float", "int", "long double" if self.r.random() < 0.2 else "double"])
                     for _ in range(self.r.randrange(1, 11))]
            names = [f"a{i}" for i in range(len(types))]
            doubles = [f"(double){n}" for n in names]
            out += f"APART static {self.r.choice(['double', 'float', 'double', 'long double'])} f{f}({', '.join(map(' '.join, zip(types, names)))}) {{\n"
            out += f"    double x = {self.real(doubles)}, y = {self.real(doubles)};\n    return {self.real(doubles + ['x', 'y'])};\n}}\n"
            for _ in range(3):
                calls += f'    printf("%.6g %.6Lg\\n", (double)f{f}({", ".join(f"{self.r.uniform(-50, 50):.3f}" for _ in types)}), (long double){self.number()});\n'
        return out + f"int main(void) {{\n{calls}    return 0;\n}}\n"

    def varargs(self):
        r, out, calls = self.r, HEAD, ""
        out += """APART static double f(const char *kinds, ...) {
    va_list list, again;
    double sum = 0;
    va_start(list, kinds);
    va_copy(again, list);
    for (const char *k = kinds; *k; k++)
        sum = sum * 1.25 + (*k == 'i' ? va_arg(list, int) : *k == 'l' ? (double)va_arg(list, long) : *k == 'd' ? va_arg(list, double) : *k == 'L'
            ? (double)va_arg(list, long double) : strlen(va_arg(list, char *)));
    if (*kinds == 'i')
        sum += va_arg(again, int);
    va_end(again);
    va_end(list);
    return sum;
}
APART static void show(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}
"""
        for _ in range(6):
            kinds = "".join(r.choice("illdds" + "L") for _ in range(r.randrange(1, 14)))
            values = {"i": lambda: str(r.randrange(-9999, 9999)), "l": lambda: f"{r.randrange(1 << 40)}L", "d": lambda: f"{r.uniform(-99, 99):.3f}",
                      "s": lambda: '"' + "x" * r.randrange(9) + '"', "L": lambda: f"{r.uniform(-9, 9):.2f}L"}
            formats = {"i": "%d", "l": "%ld", "d": "%.3f", "s": "%s", "L": "%.3Lf"}
            args = [values[k]() for k in kinds]
            calls += f'    printf("%.6g\\n", f("{kinds}", {", ".join(args)}));\n'
            calls += f'    show("{" ".join(formats[k] for k in kinds)}\\n", {", ".join(args)});\n'
            calls += f'    printf("{" ".join(formats[k] for k in kinds)}\\n", {", ".join(args)});\n'
        return out + f"int main(void) {{\n{calls}    return 0;\n}}\n"

    def structs(self):
        r, out, calls = self.r, HEAD, ""
        for s in range(r.randrange(2, 5)):
            types = [r.choice(INTS + ["double", "float", "char"]) for _ in range(r.randrange(1, 8))]
            fields = [f"m{i}" for i in range(len(types))]
            out += f"typedef struct S{s} {{ {' '.join(f'{t} {n};' for t, n in zip(types, fields))} }} S{s};\n"
            sums = " + ".join(f"(double)s.{n}" for n in fields)
            out += f"""APART static double sum{s}(int before, S{s} s, double after, S{s} other) {{
    s.m0 = (__typeof__(s.m0))(s.m0 + other.m0);
    return {sums} + before * after;
}}
APART static S{s} make{s}(int seed) {{
    S{s} s = {{{", ".join(f"(seed * {r.randrange(1, 9)} + {i}) % 100" for i in range(len(types)))}}};
    return s;
}}
"""
            for _ in range(2):
                a, b = r.randrange(50), r.randrange(50)
                calls += f'    {{ S{s} x = make{s}({a}), y = make{s}({b}), z[3] = {{y, x, y}};\n'
                calls += f'      printf("%.6g %.6g %.6g\\n", sum{s}({a}, x, {b}.5, y), sum{s}({b}, z[{r.randrange(3)}], 0.5, make{s}({a})), (double)z[1].m0); }}\n'
        return out + f"int main(void) {{\n{calls}    return 0;\n}}\n"

    def pointers(self):
        r, out = self.r, HEAD
        count = r.randrange(3, 8)
        for f in range(count):
            out += f"static uint64_t f{f}(uint64_t a, uint64_t b) {{ return {self.integer(['a', 'b'])}; }}\n"
        order = [r.randrange(count) for _ in range(r.randrange(4, 12))]
        out += f"static uint64_t (*table[])(uint64_t, uint64_t) = {{{', '.join(f'f{o}' for o in order)}}};\n"
        out += f"""typedef struct Object {{ uint64_t (*method)(uint64_t, uint64_t); uint64_t state; }} Object;
static int compare(const void *x, const void *y) {{
    uint64_t a = table[{r.randrange(len(order))}](*(const uint64_t *)x, 3), b = table[0](*(const uint64_t *)y, 5);
    return (a > b) - (a < b);
}}
APART static uint64_t apply(uint64_t (*f)(uint64_t, uint64_t), uint64_t x) {{ return f(x, {self.number()}); }}
APART static uint64_t last(Object *o, uint64_t x) {{ return o->method(x, o->state); }}
int main(void) {{
    uint64_t x = {self.number()}, list[12];
    Object objects[] = {{{', '.join(f'{{f{r.randrange(count)}, {self.number()}}}' for _ in range(4))}}};
    for (unsigned i = 0; i < {len(order)}; i++) {{
        x = table[i](x, i) ^ apply(table[(i * 7) % {len(order)}], x) ^ last(&objects[i % 4], x);
        list[i % 12] = x % 1000;
        printf("%llu\\n", (unsigned long long)x);
    }}
    for (unsigned i = {len(order)}; i < 12; i++)
        list[i] = i * 37 % 11;
    qsort(list, 12, sizeof(*list), compare);
    for (int i = 0; i < 12; i++)
        printf("%llu ", (unsigned long long)table[0](list[i], 1) % 7);
    return 0;
}}
"""
        return out

    def gotos(self):
        r = self.r
        count = r.randrange(3, 9)
        labels = ", ".join(f"&&l{i}" for i in range(count))
        body = "".join(f"l{i}:\n    x = {self.integer(['x', 'y', 'n'])};\n    y += x >> {r.randrange(1, 9)};\n    NEXT;\n" for i in range(count))
        return HEAD + f"""APART static uint64_t run(uint64_t x, const uint8_t *code) {{
    static {r.choice(['const void *const', 'void *'])} labels[] = {{{labels}}};
    uint64_t y = 1, n = 0;
#define NEXT if (++n > 200) goto end; goto *labels[code[n % 16] % {count}]
    NEXT;
{body}end:
    return x ^ y;
}}
APART static int choose(unsigned x) {{
    switch (x % {count + 3}) {{
{"".join(f"    case {i}: return {self.number()};" + chr(10) for i in range(count))}    default: return (int)x;
    }}
}}
int main(void) {{
    uint8_t code[16];
    for (unsigned k = 0; k < 8; k++) {{
        for (unsigned i = 0; i < 16; i++)
            code[i] = (uint8_t)(i * {r.randrange(1, 99)} + k * {r.randrange(1, 99)});
        printf("%llu %d\\n", (unsigned long long)run({self.number()}u + k, code), choose(k * 5));
    }}
    return 0;
}}
"""

    def recursion(self):
        r = self.r
        return HEAD + f"""static jmp_buf place;
static uint64_t other(int depth, uint64_t x);
APART static uint64_t one(int depth, uint64_t x, int *counter) {{
    uint64_t local[{r.randrange(1, 5)}], sum = x;
    ++*counter;
    if (depth <= 0)
        return {self.integer(['x'])};
    for (unsigned i = 0; i < sizeof(local) / sizeof(*local); i++)
        local[i] = one(depth - 1 - (int)i, x + i, counter);
    for (unsigned i = 0; i < sizeof(local) / sizeof(*local); i++)
        sum = sum * 31 + local[i];
    return sum ^ other(depth - 2, sum);
}}
static uint64_t other(int depth, uint64_t x) {{
    uint64_t a = x * 3, b = {self.integer(['x', 'a'])};
    return depth <= 0 ? a ^ b : {self.integer(['a', 'b'])} + other(depth - 1, b);
}}
APART static void leave(int depth) {{
    if (depth == 0)
        longjmp(place, {r.randrange(1, 99)});
    leave(depth - 1);
    printf("never\\n");
}}
int main(void) {{
    int counter = 0;
    volatile int kept = {r.randrange(99)};
    printf("%llu\\n", (unsigned long long)one({r.randrange(3, 7)}, {self.number()}, &counter));
    printf("%d\\n", counter);
    int status = setjmp(place);
    if (!status) {{
        kept += 5;
        leave({r.randrange(1, 30)});
    }}
    printf("%d %d\\n", status, kept);
    return counter % 50;
}}
"""

    def bits(self):
        r = self.r
        fields = [f"{r.choice(['unsigned', 'int', 'unsigned long long', 'unsigned char'])} b{i} : {r.randrange(1, 9)};" for i in range(r.randrange(3, 12))]
        names = [f"b{i}" for i in range(len(fields))]
        steps = "".join(f"    s->{r.choice(names)} = (unsigned)({self.integer(['x', '(uint64_t)s->' + r.choice(names)], 2)});\n    x += (uint64_t)s->{r.choice(names)};\n"
                        for _ in range(8))
        return HEAD + f"""typedef struct Bits {{ {' '.join(fields)} }} Bits;
typedef union Both {{ Bits bits; unsigned char bytes[sizeof(Bits)]; }} Both;
APART static uint64_t work(Bits *s, uint64_t x) {{
{steps}    return x;
}}
APART static Bits copy(Bits b) {{ b.b0 ^= 1; return b; }}
int main(void) {{
    Both u;
    uint64_t x = {self.number()};
    memset(&u, 0, sizeof(u));
    for (int i = 0; i < 20; i++) {{
        x = work(&u.bits, x + (uint64_t)i);
        u.bits = copy(u.bits);
        printf("%llu", (unsigned long long)x);
        printf(" %lld", (long long)u.bits.{r.choice(names)});
        printf("\\n");
    }}
    return 0;
}}
"""

    def strings(self):
        r = self.r
        text = "".join(r.choice("abc dexyz,.019") for _ in range(r.randrange(20, 60)))
        return HEAD + f"""APART static char *turn(char *s) {{
    for (size_t i = 0, n = strlen(s); i < n / 2; i++) {{
        char c = s[i];
        s[i] = s[n - 1 - i];
        s[n - 1 - i] = c;
    }}
    return s;
}}
APART static unsigned hash(const char *s) {{
    unsigned h = {self.number()}u;
    while (*s)
        h = (h << {r.randrange(1, 8)}) ^ (h >> {r.randrange(1, 20)}) ^ (unsigned char)*s++;
    return h;
}}
int main(void) {{
    char text[] = "{text}", copy[100], *save = NULL;
    int counts[256] = {{0}}, words = 0;
    strcpy(copy, text);
    for (char *w = strtok_r(copy, " ,.", &save); w; w = strtok_r(NULL, " ,.", &save), words++)
        printf("%s %u\\n", turn(w), hash(w));
    for (const char *c = text; *c; c++)
        counts[(unsigned char)*c]++;
    for (int i = 0; i < 256; i++)
        if (counts[i])
            printf("%c%d ", i, counts[i]);
    snprintf(copy, sizeof(copy), "%-10.4s|%5d|%x|%g", text, words, hash(text), {r.uniform(-99, 99):.3f});
    puts(copy);
    return words;
}}
"""

    def arrays(self):
        r = self.r
        n, kind = r.randrange(5, 40), r.choice(["int", "double", "float", "short", "unsigned char", "long"])
        return HEAD + f"""enum {{ N = {n} }};
APART static void fill({kind} *a, int n) {{
    for (int i = 0; i < n; i++)
        a[i] = ({kind})((i * {r.randrange(1, 77)} + {r.randrange(99)}) % 97);
}}
APART static double work(int rounds) {{
    {kind} a[N], b[N], m[3][N];
    double sum = 0;
    fill(a, N);
    fill(b, N);
    for (int k = 0; k < 3; k++)
        fill(m[k], N);
    a[0] = 3;
    b[N - 1] = 4;
    for (int k = 0; k < rounds; k++) {{
        for (int i = 1; i < N; i++)
            a[i] = ({kind})(((long)a[i] {r.choice(['+', '-', '^'])} (long)b[N - i]) {r.choice(['&', '%'])} 63);
        for (int i = N - 1; i > 0; i--)
            m[k % 3][i] = ({kind})((long)(m[k % 3][i - 1] + a[i]) % 50);
    }}
    for (int i = 0; i < N; i++)
        sum = sum * 0.75 + a[i] + b[i] * 2 + m[0][i] + m[1][i] * 3 + m[2][i];
    return sum + a[0] + a[{n // 2}] + b[N - 1];
}}
int main(void) {{
    for (int i = 0; i < 6; i++)
        printf("%.6f\\n", work(i));
    return 0;
}}
"""

    def doubles(self):
        """More floating-point arguments than there are registers, to printf and to functions of its own."""
        r, out, calls = self.r, HEAD, ""
        for f in range(r.randrange(2, 5)):
            count = r.randrange(9, 13)
            names = [f"m[{i}]" for i in range(count)]
            params = [f"a{i}" for i in range(count)]
            out += f"APART static double f{f}({', '.join('double ' + p for p in params)}) {{ return {self.real(params)}; }}\n"
            out += f"APART static void show{f}(const double *m) {{\n"
            out += r.choice(["", '    puts("m");\n'])
            out += f'    printf("{" ".join(["%.4g"] * count)}\\n", {", ".join(names)});\n'
            out += f'    printf("%.6g\\n", f{f}({", ".join(names)}));\n}}\n'
            calls += f'    puts("{f}");\n    show{f}((const double[]){{{", ".join(f"{r.uniform(-50, 50):.3f}" for _ in names)}}});\n'
        return out + f"int main(void) {{\n{calls}    return 0;\n}}\n"

    def early(self):
        """Functions that return an argument as it is, on some ways."""
        r, out, calls = self.r, HEAD, ""
        for f in range(r.randrange(3, 7)):
            kind = r.choice(["double", "float", "uint64_t", "int32_t", "struct Two"])
            body = {"struct Two": "(struct Two){y * 3, y}"}.get(kind, self.real(["(double)x", "(double)y"]) if kind in ("double", "float") else
                                                                self.integer(["x", "y"]))
            out += "struct Two { double x, y; };\n" if not f else ""
            out += f"""APART static {kind} f{f}({kind} x, double y, int which) {{
    if (which == {r.randrange(3)})
        return x;
    if (which == 7)
        puts("seven");
    return ({kind})({body});
}}
APART static {kind} g{f}({kind} x, double y, int which) {{
    return which > {r.randrange(4)} ? x : f{f}(x, y, which);
}}
"""
            argument = "(struct Two){i, 2.5}" if kind == "struct Two" else f"({kind})(i + {r.randrange(50)})"
            shown = ".x" if kind == "struct Two" else ""
            calls += f'        printf("%.6g\\n", (double)f{f}({argument}, {r.uniform(-9, 9):.3f}, i){shown} + (double)g{f}({argument}, {r.uniform(-9, 9):.3f}, i){shown});\n'
        return out.replace("(struct Two)((struct Two)", "((struct Two)") + f"int main(void) {{\n    for (int i = 0; i < 9; i++) {{\n{calls}    }}\n    return 0;\n}}\n"

    KINDS = ["integers", "floats", "varargs", "structs", "pointers", "gotos", "recursion", "bits", "strings", "arrays", "doubles", "early"]


def execute(program, target=None, timeout=TIMEOUT):
    words = [f"qemu-{target}", "-L", f"/usr/{target}-linux-gnu"] if target else []
    try:
        run = subprocess.run(words + [program], stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return "takes too long"
    return run.returncode, run.stdout


def csmith_source(seed, path):
    with open(path, "w") as f:
        subprocess.run(["csmith", "--seed", str(seed), "--no-packed-struct"], stdout=f, check=True)


def try_one(lathe, seed, work, csmith, target):
    """None: the same; SKIPPED: it takes too long natively, or crashes, as a loop without end that clang drops makes csmith's main() do; else what is wrong."""
    r = random.Random(seed)
    source, native, raised = (os.path.join(work, n) for n in ("small.c", "native", "raised"))
    kind = "csmith" if csmith else Maker.KINDS[seed % len(Maker.KINDS)]
    if csmith:
        csmith_source(seed, source)
    else:
        with open(source, "w") as f:
            f.write(getattr(Maker(seed), kind)())
    compiler = r.choice([c for c in ("gcc", "clang-19") if shutil.which(c)])
    flags = [r.choice(LEVELS), "-w", "-fwrapv"] + r.choice([[], [], ["-no-pie", "-fno-pie"], ["-fno-plt"], ["-fcf-protection"], ["-fstack-protector-all"]])
    how = f"seed {seed}, {kind}, {compiler} {' '.join(flags)}"
    made = subprocess.run([compiler] + flags + ["-I/usr/include/csmith", source, "-o", native, "-lm"], capture_output=True, text=True)
    if made.returncode:
        return f"{how}: does not compile: {made.stderr[:200]}"
    right = execute(native, timeout=CSMITH_TIMEOUT if csmith else TIMEOUT)
    if right == "takes too long" or (csmith and right[0] < 0):
        return SKIPPED
    level = r.choice(["-O2", "-O2", "-O2", "-O1", "-O3", "-O0"])
    options = [f"--target={target}"] if target else []
    made = subprocess.run([lathe, "raise", level, *options, native, "-o", raised], capture_output=True, text=True)
    if made.returncode:
        return f"{how}: {made.stderr.strip()}"
    seen = execute(raised, target, 10 * TIMEOUT)
    if seen != right:
        shutil.copy(source, f"small-{kind}-{seed}.c")
        return f"{how}, raised with {level}: ends with {seen[0] if seen != 'takes too long' else seen} for {right[0]}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lathe")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--csmith", action="store_true")
    parser.add_argument("--target")
    options = parser.parse_args()
    if options.csmith and not shutil.which("csmith"):
        print("csmith is missing")
        return 77
    same = failed = skipped = 0
    seed = options.seed
    with tempfile.TemporaryDirectory() as work:
        while same + failed < options.count and skipped <= options.count:
            wrong = try_one(os.path.realpath(options.lathe), seed, work, options.csmith, options.target)
            seed += 1
            if wrong == SKIPPED:
                skipped += 1
            elif wrong:
                print("FAIL:", wrong, flush=True)
                failed += 1
            else:
                same += 1
    print(f"{same} of {options.count} programs do the same; {skipped} more take too long natively, or crash, and were replaced")
    return 1 if failed or same < options.count else 0


if __name__ == "__main__":
    sys.exit(main())
