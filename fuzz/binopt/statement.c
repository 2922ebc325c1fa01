/* statement.c: see statement.h. */
#include "statement.h"

#define SAY(t, ...) fprintf((t)->to, __VA_ARGS__)

static const char *pick(Text *t, const char *const *names, u32 count) {
    return names[rng_below(t->r, count)];
}
#define PICK(t, names) pick(t, names, ARRAY_LEN(names))

/* ------------------------------------------------------------------------------------------------------------- expressions */

static const char *const small_names[] = {"x", "y", "acc"};
static const char *const names[] = {"x", "y", "acc", "a", "b", "s", "q", "w", "u"};
static const char *const types[] = {"int",         "unsigned",      "short", "unsigned short",
                                    "signed char", "unsigned char", "long",  "unsigned long"};

static const char *variable(Text *t) {
    return t->small ? PICK(t, small_names) : PICK(t, names);
}

static void constant(Text *t) {
    static const long special[] = {0, 1, -1, 2, 7, 255, 256, 65535, 2147483647L, -2147483648L, 4294967295L};
    if (rng_next(t->r) & 1)
        SAY(t, "%ldL", special[rng_below(t->r, ARRAY_LEN(special))]);
    else
        SAY(t, "%ldL", (long)(rng_next(t->r) >> (20 + rng_below(t->r, 40))));
}

/* A place in one of the tables. */
static void element(Text *t, u32 depth) {
    static const char *const tables[][2] = {
        {"d->word", "7"}, {"d->number", "15"}, {"d->code", "31"}, {"v", "7"}, {"out", "7"}};
    u32 which = rng_below(t->r, t->small ? 3 : 5);
    SAY(t, "(long)%s[(", tables[which][0]);
    text_expression(t, depth);
    SAY(t, ") & %s]", tables[which][1]);
}

static void binary(Text *t, u32 depth) {
    static const char *const operators[] = {"+", "-", "*", "&", "|", "^", "<", "==", ">="};
    SAY(t, "(long)((");
    text_expression(t, depth);
    SAY(t, ") %s (", PICK(t, operators));
    text_expression(t, depth);
    SAY(t, "))");
}

static void shift(Text *t, u32 depth) {
    const char *type = rng_next(t->r) & 1 ? "unsigned long" : "long";
    SAY(t, "(long)((%s)(", type);
    text_expression(t, depth);
    SAY(t, ") %s ((", rng_next(t->r) & 1 ? "<<" : ">>");
    text_expression(t, depth);
    SAY(t, ") & 63))");
}

/* The divisor is odd, and the quotient always there. */
static void divide(Text *t, u32 depth) {
    bool narrow = rng_next(t->r) & 1;
    SAY(t, narrow ? "(long)((int)((" : "(((");
    text_expression(t, depth);
    SAY(t, narrow ? ") >> 33) %c (int)((" : ") >> 1) %c ((", rng_next(t->r) & 1 ? '/' : '%');
    text_expression(t, depth);
    SAY(t, narrow ? ") | 1))" : ") | 1))");
}

static void choose(Text *t, u32 depth) {
    SAY(t, "(");
    text_condition(t);
    SAY(t, " ? ");
    text_expression(t, depth);
    SAY(t, " : ");
    text_expression(t, depth);
    SAY(t, ")");
}

static void cast(Text *t, u32 depth) {
    SAY(t, "(long)(%s)(", PICK(t, types));
    text_expression(t, depth);
    SAY(t, ")");
}

void text_expression(Text *t, u32 depth) {
    u32 what = depth ? rng_below(t->r, 12) : rng_below(t->r, 3);
    if (what == 0)
        constant(t);
    else if (what < 3)
        SAY(t, "(long)%s", variable(t));
    else if (what < 7)
        binary(t, depth - 1);
    else if (what == 7)
        shift(t, depth - 1);
    else if (what == 8)
        element(t, depth - 1);
    else if (what == 9)
        cast(t, depth - 1);
    else if (what == 10)
        choose(t, depth - 1);
    else
        divide(t, depth - 1);
}

void text_condition(Text *t) {
    static const char *const compare[] = {"<", ">", "<=", ">=", "==", "!="};
    SAY(t, "(%s)(", PICK(t, types));
    text_expression(t, 1);
    SAY(t, ") %s (%s)(", PICK(t, compare), PICK(t, types));
    text_expression(t, 1);
    SAY(t, ")");
}

/* ------------------------------------------------------------------------------------------------------------------- calls */

static void arguments(Text *t) {
    SAY(t, "(d, ");
    text_expression(t, 1);
    SAY(t, ", ");
    text_expression(t, 1);
    SAY(t, ", out);\n");
}

/* Methods are those of the classes in source.c. */
static void call_object(Text *t) {
    static const char *const forms[] = {
        "((const Shape *)d->object[(%s) & 3])->area(acc)",
        "((const Shape *)d->object[(%s) & 3])->twice(acc, y)",
        "pick_and_call((const Shape *)d->object[(%s) & 3], acc, x)",
        "pushed(acc, %s, x)",
        "applied(%s, [=](long z) { return z * x - acc; })",
        "caught(d, %s, acc)",
    };
    SAY(t, "acc += ");
    SAY(t, PICK(t, forms), variable(t));
    SAY(t, ";\n");
}

static void call_helper(Text *t) {
    static const char *const forms[] = {"acc ^= mixed(%s, x, y, acc, 5, 6, 7, acc);\n",
                                        "acc += sum_of(swapped((Pair){acc, (int)%s, 3}));\n",
                                        "acc -= sum_of_big((Big){{acc, x, %s, 4, 5}});\n",
                                        "acc ^= copied(d, %s, out);\n", "acc += recursive(%s, acc & 7);\n"};
    SAY(t, PICK(t, forms), variable(t));
}

static void call_something(Text *t) {
    u32 what = rng_below(t->r, t->cpp ? 8 : 5);
    if (what == 0 && t->callable && !t->loops) {
        SAY(t, "acc ^= entry_%u", rng_below(t->r, t->callable));
        arguments(t);
    } else if (what < 2) {
        SAY(t, "acc -= leaf_%u", rng_below(t->r, 4));
        arguments(t);
    } else if (what == 2) {
        SAY(t, "acc += d->leaf[(%s) & 3]", variable(t));
        arguments(t);
    } else if (what < 5) {
        call_helper(t);
    } else {
        call_object(t);
    }
}

/* -------------------------------------------------------------------------------------------------------------- statements */

static void assign(Text *t) {
    static const char *const operators[] = {"=", "+=", "-=", "^=", "*="};
    SAY(t, "%s %s ", variable(t), PICK(t, operators));
    text_expression(t, 2);
    SAY(t, ";\n");
}

static void store(Text *t) {
    SAY(t, "%s[(", t->small || rng_next(t->r) & 1 ? "out" : "v");
    text_expression(t, 1);
    SAY(t, ") & 7] %s ", rng_next(t->r) & 1 ? "=" : "+=");
    text_expression(t, 2);
    SAY(t, ";\n");
}

/* Neither infinite nor no number: what such have in their bits is not compared. */
static void calculate(Text *t) {
    static const char *const forms[] = {"g = g * 0.5 + (double)(int)%s;\n",
                                        "g -= d->real[%s & 7];\n",
                                        "h = (float)g * (float)d->real[%s & 7];\n",
                                        "g += h + (double)(short)%s / 3.0;\n",
                                        "g = g < (double)(int)%s ? g + 1.5 : g * 1.25;\n",
                                        "acc += (long)g * (%s | 1);\n"};
    SAY(t, PICK(t, forms), variable(t));
    SAY(t, "if (!(g > -1e9 && g < 1e9)) g = 1.25;\nif (!(h > -1e9f && h < 1e9f)) h = 2.5f;\n");
}

static void branch(Text *t, u32 depth) {
    SAY(t, "if (");
    text_condition(t);
    SAY(t, ") {\n");
    text_statements(t, 1 + rng_below(t->r, 3), depth - 1);
    if (rng_next(t->r) & 1) {
        SAY(t, "} else {\n");
        text_statements(t, 1 + rng_below(t->r, 3), depth - 1);
    }
    SAY(t, "}\n");
}

static void loop(Text *t, u32 depth) {
    u32 k = t->loops++;
    if (rng_next(t->r) & 1)
        SAY(t, "for (int k%u = 0; k%u < %u; k%u++) {\n", k, k, 1 + rng_below(t->r, 9), k);
    else
        SAY(t, "for (long k%u = %s & 7; k%u >= 0; k%u--) {\n", k, variable(t), k, k);
    if (rng_next(t->r) & 1)
        SAY(t, "acc += d->number[(k%u + x) & 15];\n", k);
    text_statements(t, 1 + rng_below(t->r, 3), depth - 1);
    if (rng_once_in(t->r, 4)) {
        SAY(t, "if (");
        text_condition(t);
        SAY(t, ") %s;\n", rng_next(t->r) & 1 ? "break" : "continue");
    }
    SAY(t, "}\n");
    t->loops--;
}

/* Bounded by a mask, a remainder or a comparison; what is not among the cases is the default, or cannot be. */
static void switch_over(Text *t, u32 depth) {
    u32 count = 4 + rng_below(t->r, 6), how = rng_below(t->r, 4),
        first = rng_once_in(t->r, 3) ? rng_below(t->r, 40) : 0;
    static const char *const bound[] = {"& 15", "% 11", "& 255", "+ 0"};
    SAY(t, "switch (%s(%s)(%s) %s) {\n", first ? "3 + " : "", how == 1 ? "unsigned" : PICK(t, types), variable(t),
        bound[how]);
    for (u32 i = 0; i < count; i++) {
        SAY(t, "case %u:\n", first + i);
        text_statements(t, 1, depth - 1);
        if (!rng_once_in(t->r, 5))
            SAY(t, "break;\n");
    }
    if (rng_next(t->r) & 1) {
        SAY(t, "default:\n");
        text_statements(t, 1, depth - 1);
    }
    SAY(t, "}\n");
}

static void statement(Text *t, u32 depth) {
    u32 what = rng_below(t->r, 16);
    if (what < 2 && depth && !t->small)
        loop(t, depth);
    else if (what < 4 && depth)
        branch(t, depth);
    else if (what == 4 && depth)
        switch_over(t, depth);
    else if (what < 7 && !t->leaf && t->loops < 2)
        call_something(t);
    else if (what == 7 && !t->small)
        calculate(t);
    else if (what < 10)
        store(t);
    else
        assign(t);
}

void text_statements(Text *t, u32 count, u32 depth) {
    while (count--)
        statement(t, depth);
}

void text_locals(Text *t) {
    SAY(t,
        "long acc = x - y, a = d->word[1], b = 17, v[8] = {1, 2, x, y, 5};\n"
        "short s = (short)x; unsigned char q = (unsigned char)y; int w = (int)(x >> 3); unsigned u = (unsigned)y * 3;\n"
        "double g = d->real[0]; float h = 0.5f;\n");
}

void text_collect(Text *t) {
    SAY(t, "acc += a * 3 + b * 5 + s * 7 + q * 11 + w * 13L + u * 17L + (long)g + (long)h;\n"
           "for (int k = 0; k < 8; k++) acc = acc * 31 + v[k];\n");
}
