/* source.c: see source.h. */
#include "source.h"

#include "statement.h"

#define SAY(t, ...) fprintf((t)->to, __VA_ARGS__)
#define STRING_OF(...) #__VA_ARGS__
#define EXPANDED_STRING_OF(...) STRING_OF(__VA_ARGS__)

static const char beginning[] = "#include <string.h>\n" EXPANDED_STRING_OF(
    SOURCE_DATA) "\n"
                 "#define APART __attribute__((noinline))\n"
                 "#ifdef __cplusplus\n"
                 "#define EXPORTED extern \"C\" __attribute__((visibility(\"default\")))\n"
                 "#else\n"
                 "#define EXPORTED __attribute__((visibility(\"default\")))\n"
                 "#endif\n"
                 "typedef struct Pair { long a; int b; short c; } Pair;\n"
                 "typedef struct Big { long w[5]; } Big;\n";

/* What statements call: many arguments, structures by value, the C library, recursion. */
static const char *const helpers[] = {
    "static APART long mixed(long a, long b, int c, short e, long f, long g, char h, long i) {\n"
    "    return a - b * 3 + c * 5 + e - f * 7 + g + h * i;\n}\n",
    "static APART Pair swapped(Pair p) {\n    Pair r = {p.b + p.c, (int)(p.a >> 8), (short)p.b};\n    return r;\n}\n"
    "static long sum_of(Pair p) {\n    return p.a * 3 + p.b * 5 + p.c;\n}\n",
    "static APART long sum_of_big(Big p) {\n    return p.w[0] ^ p.w[1] * 3 ^ p.w[2] * 5 ^ p.w[3] ^ p.w[4];\n}\n",
    "static APART long copied(const Data *d, long x, long *out) {\n"
    "    char text[48];\n"
    "    memset(text, 0, sizeof(text));\n"
    "    memcpy(text, d->code, (x & 31) + 1);\n"
    "    memcpy(out + 8, text, 16);\n"
    "    return (long)strlen(text) + text[x & 31];\n}\n",
    "static APART long recursive(long x, long n) {\n"
    "    if (n <= 0)\n        return x * 3 + 1;\n"
    "    return n & 1 ? recursive(x ^ n, n - 1) - n : recursive(x + n, n - 2) + recursive(x - 1, n - 3);\n}\n",
};

/* Objects, pointers to members, a container and a callable that are inlined, exceptions. */
static const char classes[] =
    "struct Shape {\n"
    "    long side;\n"
    "    Shape(long s) : side(s) {}\n"
    "    virtual ~Shape() {}\n"
    "    virtual long area(long x) const { return side * x; }\n"
    "    virtual long twice(long x, long y) const { return area(x) + area(y); }\n"
    "    long plain(long x) const { return x - side; }\n"
    "};\n"
    "struct Round : Shape {\n"
    "    using Shape::Shape;\n"
    "    long area(long x) const override { return side * side * 3 - x; }\n"
    "};\n"
    "struct Odd : Round {\n"
    "    long more = 5;\n"
    "    using Round::Round;\n"
    "    long area(long x) const override { return x & 1 ? Round::area(x) : more + x; }\n"
    "    long twice(long x, long y) const override { return area(x ^ y); }\n"
    "};\n"
    "static const Shape shape(3);\nstatic const Round round_one(4);\nstatic const Odd odd(5), other(-6);\n"
    "static APART long pick_and_call(const Shape *s, long x, long y) {\n"
    "    static long (Shape::*const member[])(long) const = {&Shape::area, &Shape::plain};\n"
    "    return (s->*member[y & 1])(x);\n"
    "}\n"
    "template <class T, int N> struct Small {\n"
    "    T at[N];\n    int count = 0;\n"
    "    void push(T v) { if (count < N) at[count++] = v; }\n"
    "    T *begin() { return at; }\n    T *end() { return at + count; }\n"
    "};\n"
    "static APART long pushed(long x, long y, long z) {\n"
    "    Small<long, 6> list;\n"
    "    for (long i = 0; i < (z & 7); i++)\n        list.push(x + i * y);\n"
    "    long sum = 0;\n"
    "    for (long v : list)\n        sum = sum * 7 + v;\n"
    "    return sum;\n"
    "}\n"
    "template <class F> static long applied(long x, F f) {\n    return f(f(x) + 1);\n}\n"
    "static APART long thrown(const Data *d, long x) {\n"
    "    if ((x & 7) == 3)\n        throw d->number[x & 15];\n"
    "    return x + 1;\n"
    "}\n"
    "static APART long caught(const Data *d, long x, long y) {\n"
    "    try {\n        return thrown(d, x) + y;\n    } catch (int n) {\n        return n - y;\n    }\n"
    "}\n";

/* ------------------------------------------------------------------------------------------------------------- interpreters */

typedef enum Fetch { FETCH_BYTE, FETCH_INT, FETCH_LABEL } Fetch;

typedef struct Interpreter {
    Fetch fetch;
    bool offsets; /* labels are distances from one of them, which C++ has none of */
    bool open;    /* of a switch: there is nothing but its cases */
    bool by_switch, in_one_place;
    bool bytes_masked;
} Interpreter;

static void declare_labels(Text *t, const Interpreter *p) {
    SAY(t, p->offsets ? "static const int label[] = {" : "static const void *const label[] = {");
    for (u32 i = 0; i < SOURCE_OPS; i++)
        SAY(t, p->offsets ? "&&op_%u - &&op_0, " : "&&op_%u, ", i);
    SAY(t, "};\n");
}

static void go_on(Text *t, const Interpreter *p) {
    const char *mask = p->bytes_masked ? " & 7" : "";
    if (p->in_one_place)
        SAY(t, "goto next;\n");
    else if (p->fetch == FETCH_LABEL)
        SAY(t, "goto **pc++;\n");
    else if (p->offsets)
        SAY(t, "goto *(&&op_0 + label[*pc++%s]);\n", mask);
    else
        SAY(t, "goto *label[*pc++%s];\n", mask);
}

/* The one before the last begins again, a few times. */
static void operation(Text *t, u32 op, u32 slot, const Interpreter *p) {
    static const char *const program[] = {"d->code", "d->op", "d->labels[%u]"};
    if (op == SOURCE_OPS - 1) {
        SAY(t, "goto end;\n");
    } else if (op == SOURCE_OPS - 2) {
        SAY(t, "if (n-- > 0)\n    pc = ");
        SAY(t, program[p->fetch], slot);
        SAY(t, ";\n");
    } else {
        text_statements(t, 1 + rng_below(t->r, 2), rng_once_in(t->r, 4));
    }
}

static void threaded(Text *t, u32 slot, Interpreter *p) {
    p->in_one_place = rng_once_in(t->r, 4);
    Interpreter dispatch = *p;
    dispatch.in_one_place = false;
    if (p->in_one_place)
        SAY(t, "next:\n");
    go_on(t, &dispatch);
    for (u32 i = 0; i < SOURCE_OPS; i++) {
        SAY(t, "op_%u:\n", i);
        operation(t, i, slot, p);
        if (i < SOURCE_OPS - 1)
            go_on(t, p);
    }
}

static void switched(Text *t, u32 slot, const Interpreter *p) {
    SAY(t, "for (;;)\nswitch (*pc++%s) {\n", p->bytes_masked ? " & 7" : "");
    for (u32 i = 0; i < SOURCE_OPS; i++) {
        SAY(t, "case %u:\n", i);
        operation(t, i, slot, p);
        SAY(t, i < SOURCE_OPS - 1 && rng_once_in(t->r, 8) ? "" : "break;\n");
    }
    SAY(t, p->open ? "default: __builtin_unreachable();\n}\n" : "default: goto end;\n}\n");
}

/* `slot` is where the function's program of labels is; true if it has one. */
static bool interpreter(Text *t, u32 slot) {
    static const char *const pointer[] = {"const unsigned char *pc = d->code;\n", "const int *pc = d->op;\n",
                                          "const void *const *pc = d->labels[%u];\n"};
    Interpreter p = {.by_switch = rng_once_in(t->r, 3), .open = rng_next(t->r) & 1, .bytes_masked = rng_next(t->r) & 1};
    p.fetch = rng_below(t->r, p.by_switch ? 2 : 3);
    p.offsets = !t->cpp && !p.by_switch && p.fetch != FETCH_LABEL && rng_next(t->r) & 1;
    t->small = rng_below(t->r, 4);
    t->leaf |= rng_next(t->r) & 1;
    t->callable = 0; /* each operation is done many times */
    if (!p.by_switch)
        declare_labels(t, &p);
    if (p.fetch == FETCH_LABEL)
        SAY(t, "if (!d) return (long)label;\n");
    SAY(t, pointer[p.fetch], slot);
    SAY(t, "long n = 2;\n");
    if (t->small)
        SAY(t, "long acc = x;\n");
    else
        text_locals(t);
    if (p.by_switch)
        switched(t, slot, &p);
    else
        threaded(t, slot, &p);
    SAY(t, "end:\n");
    SAY(t, p.fetch == FETCH_LABEL || !p.by_switch ? "out[3] += n;\n" : "out[2] -= n;\n");
    if (!t->small)
        text_collect(t);
    SAY(t, "return acc;\n");
    return p.fetch == FETCH_LABEL;
}

/* ---------------------------------------------------------------------------------------------------------------- functions */

static void plain(Text *t) {
    text_locals(t);
    text_statements(t, 3 + rng_below(t->r, 8), 3);
    text_collect(t);
    SAY(t, "return acc;\n");
}

/* What is called last is jumped to. */
static void calling_last(Text *t) {
    static const char *const callees[] = {"d->leaf[x & 3]", "(x & 1 ? d->leaf[0] : leaf_2)", "d->leaf[y & 1]",
                                          "leaf_1"};
    static const char *const methods[] = {"((const Shape *)d->object[x & 3])->area(acc)",
                                          "((const Shape *)d->object[y & 1])->twice(x, acc)",
                                          "pick_and_call((const Shape *)d->object[1], acc, y)"};
    SAY(t, "long acc = x;\n");
    t->small = true;
    text_statements(t, rng_below(t->r, 4), 1);
    if (t->cpp && rng_next(t->r) & 1)
        SAY(t, "return %s;\n", methods[rng_below(t->r, ARRAY_LEN(methods))]);
    else
        SAY(t, "return %s(d, acc, y - 1, out);\n", callees[rng_below(t->r, ARRAY_LEN(callees))]);
}

/* A state that goes from one case to the next, so that compilers jump around the comparison. */
static void state_machine(Text *t) {
    t->small = true;
    SAY(t, "long acc = x;\nint state = (int)(y & 3);\n");
    SAY(t, "for (int n = 0; n < 20; n++)\nswitch (state) {\n");
    for (u32 i = 0; i < 6; i++) {
        SAY(t, "case %u:\n", i);
        text_statements(t, 1, 1);
        if (rng_next(t->r) & 1)
            SAY(t, "state = %u;\nbreak;\n", rng_below(t->r, 7));
        else
            SAY(t, "state = (int)(d->code[n] %s);\nbreak;\n", rng_next(t->r) & 1 ? "& 7" : "");
    }
    SAY(t, "default: return acc - n;\n}\nreturn acc;\n");
}

/* True if the function takes a program of labels. */
static bool function(Text *t, u32 index, bool leaf) {
    bool labels = false;
    SAY(t, "%s_%u(const Data *d, long x, long y, long *out) {\n",
        leaf ? "static APART long leaf" : "EXPORTED long entry", index);
    t->leaf = leaf;
    t->small = false;
    t->callable = leaf ? 0 : index;
    u32 what = rng_below(t->r, leaf ? 5 : 8);
    if (leaf && what < 2) {
        t->small = true;
        SAY(t, "long acc = x * 3 - y;\n");
        text_statements(t, 1 + rng_below(t->r, 4), 1);
        SAY(t, "return acc;\n");
    } else if (what < 3) {
        plain(t);
    } else if (what < 6) {
        labels = interpreter(t, leaf ? SOURCE_ENTRIES + index : index);
    } else if (what == 6) {
        calling_last(t);
    } else {
        state_machine(t);
    }
    SAY(t, "}\n");
    return labels;
}

/* The function gives its labels away when it gets no data. */
static void setup_labels(Text *t, u32 slot) {
    bool leaf = slot >= SOURCE_ENTRIES;
    SAY(t, "{\nstatic const void *program[SOURCE_CODE];\n");
    SAY(t, "const void *const *label = (const void *const *)%s_%u(0, 0, 0, 0);\n", leaf ? "leaf" : "entry",
        leaf ? slot - SOURCE_ENTRIES : slot);
    SAY(t, "for (int i = 0; i < SOURCE_CODE; i++) program[i] = label[d->code[i]];\nd->labels[%u] = program;\n}\n",
        slot);
}

static void setup(Text *t, u32 labels) {
    SAY(t, "EXPORTED void setup(Data *d) {\n");
    for (u32 i = 0; i < SOURCE_LEAVES; i++)
        SAY(t, "d->leaf[%u] = leaf_%u;\n", i, i);
    for (u32 i = 0; i < SOURCE_ENTRIES + SOURCE_LEAVES; i++)
        if (labels >> i & 1)
            setup_labels(t, i);
    if (t->cpp)
        SAY(t, "d->object[0] = &shape; d->object[1] = &round_one; d->object[2] = &odd; d->object[3] = &other;\n");
    SAY(t, "}\n");
}

void source_draw(Rng *r, FILE *to, bool cpp) {
    Text t = {.r = r, .to = to, .cpp = cpp};
    fputs(beginning, to);
    for (size_t i = 0; i < ARRAY_LEN(helpers); i++)
        fputs(helpers[i], to);
    if (cpp)
        fputs(classes, to);
    u32 labels = 0;
    for (u32 i = 0; i < SOURCE_LEAVES; i++)
        labels |= (u32)function(&t, i, true) << (SOURCE_ENTRIES + i);
    for (u32 i = 0; i < SOURCE_ENTRIES; i++)
        labels |= (u32)function(&t, i, false) << i;
    setup(&t, labels);
}
