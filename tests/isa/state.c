/* state.c: see state.h. */
#include "state.h"

#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Registers that are plain little-endian integers of the state. */
typedef struct Field {
    const char *name;
    u16 offset, size;
} Field;

#define FIELD(name, member)                                                                                            \
    { name, offsetof(LatheX86Cpu, member), sizeof(((LatheX86Cpu *)0)->member) }

// clang-format off
static const Field fields[] = {
    FIELD("pc", pc),
    FIELD("rax", gp[0]),  FIELD("rcx", gp[1]),  FIELD("rdx", gp[2]),  FIELD("rbx", gp[3]),
    FIELD("rsp", gp[4]),  FIELD("rbp", gp[5]),  FIELD("rsi", gp[6]),  FIELD("rdi", gp[7]),
    FIELD("r8", gp[8]),   FIELD("r9", gp[9]),   FIELD("r10", gp[10]), FIELD("r11", gp[11]),
    FIELD("r12", gp[12]), FIELD("r13", gp[13]), FIELD("r14", gp[14]), FIELD("r15", gp[15]),
    FIELD("cf", cf), FIELD("pf", pf), FIELD("af", af), FIELD("zf", zf),
    FIELD("sf", sf), FIELD("of", of), FIELD("df", df), FIELD("id", id),
    FIELD("fsbase", fsbase), FIELD("gsbase", gsbase), FIELD("mxcsr", mxcsr),
    FIELD("fcw", fpu_cw), FIELD("fsw", fpu_sw), FIELD("ftop", fpu_top), FIELD("ftag", fpu_tag),
    FIELD("k0", k[0]), FIELD("k1", k[1]), FIELD("k2", k[2]), FIELD("k3", k[3]),
    FIELD("k4", k[4]), FIELD("k5", k[5]), FIELD("k6", k[6]), FIELD("k7", k[7]),
};

static const struct TrapName {
    u32 trap;
    const char *name;
} trap_names[] = {
    {LATHE_TRAP_NONE, "none"},
    {LATHE_TRAP_UNSUPPORTED, "unsupported"},
    {LATHE_TRAP_DIVIDE, "divide"},
    {LATHE_TRAP_BREAK, "break"},
    {LATHE_TRAP_UNDEFINED, "undefined"},
    {LATHE_TRAP_PRIVILEGED, "privileged"},
    {LATHE_TRAP_UNREADABLE, "unreadable"},
    {LATHE_TRAP_SYSCALL, "syscall"},
    {LATHE_TRAP_INTERRUPT, "interrupt"},
    {TRAP_MEMORY, "memory"},
    {TRAP_MISALIGNED, "misaligned"},
    {TRAP_FLOAT, "float"},
    {TRAP_TIMEOUT, "timeout"},
    {TRAP_SIGNAL, "signal"},
};
// clang-format on

/* The x87 condition codes, so that a case can leave single ones open. */
static const u16 condition_code[4] = {0x0100, 0x0200, 0x0400, 0x4000};

/* One assignment being parsed. */
typedef struct Parse {
    State *s, *ignore;
    const char *name, *value;
    char *error;
    size_t error_size;
} Parse;

__attribute__((format(printf, 2, 3))) static bool fail(Parse *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(p->error, p->error_size, format, args);
    va_end(args);
    return false;
}

/* ------------------------------------------------------------------------------------------------------- values */

static bool parse_integer(Parse *p, const char *text, u64 *v) {
    u64 base = *text == '@' ? STATE_MEMORY : *text == '+' ? STATE_CODE : 0;
    char *end;
    *v = base + strtoull(base ? text + 1 : text, &end, 0);
    return (*end == 0 && end != text) || fail(p, "'%s' is no number", text);
}

typedef enum LaneKind { LANE_U8, LANE_U16, LANE_U32, LANE_U64, LANE_F32, LANE_F64, LANE_F80 } LaneKind;

static const struct Lane {
    const char *prefix;
    u8 size;
} lanes[] = {[LANE_U8] = {"u8:", 1},   [LANE_U16] = {"u16:", 2}, [LANE_U32] = {"u32:", 4}, [LANE_U64] = {"u64:", 8},
             [LANE_F32] = {"f32:", 4}, [LANE_F64] = {"f64:", 8}, [LANE_F80] = {"f80:", 10}};

static void convert_lane(LaneKind kind, const char *text, char **end, u8 *out) {
    float f = 0;
    double d = 0;
    long double e = 0;
    u64 u = 0;
    switch (kind) {
    case LANE_F32:
        f = strtof(text, end);
        memcpy(out, &f, 4);
        break;
    case LANE_F64:
        d = strtod(text, end);
        memcpy(out, &d, 8);
        break;
    case LANE_F80:
        e = strtold(text, end);
        memcpy(out, &e, 10);
        break;
    case LANE_U8:
    case LANE_U16:
    case LANE_U32:
    case LANE_U64:
        u = strtoull(text, end, 0);
        memcpy(out, &u, lanes[kind].size);
        break;
    }
}

/* `f32:1.0,2.0`: elements from the lowest address or lane up. False without an error text: it is no list. */
static bool parse_list(Parse *p, u8 *out, size_t room, size_t *size) {
    size_t kind = 0;
    while (kind < ARRAY_LEN(lanes) && strncmp(p->value, lanes[kind].prefix, strlen(lanes[kind].prefix)))
        kind++;
    if (kind == ARRAY_LEN(lanes))
        return false;
    const char *text = p->value + strlen(lanes[kind].prefix);
    for (*size = 0; *size + lanes[kind].size <= room; text++) {
        char *end;
        convert_lane((LaneKind)kind, text, &end, out + *size);
        if (end == text)
            return fail(p, "'%s' is no element of a list", text);
        *size += lanes[kind].size;
        text = end;
        if (*text == 0)
            return true;
        if (*text != ',')
            return fail(p, "expected ',' at '%s'", text);
    }
    return fail(p, "too many elements for %s", p->name);
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* A wide register: a list, or a hexadecimal number, most significant digit first; missing lanes and digits are zero. */
static bool parse_wide(Parse *p, u8 *out, size_t size) {
    size_t used;
    memset(out, 0, size);
    if (parse_list(p, out, size, &used) || *p->error)
        return !*p->error;
    const char *text = p->value + (strncmp(p->value, "0x", 2) ? 0 : 2);
    size_t digits = strlen(text);
    if (!digits || digits > 2 * size)
        return fail(p, "%s takes 1 to %zu hexadecimal digits", p->name, 2 * size);
    for (size_t i = 0; i < digits; i++) {
        int digit = hex_digit(text[digits - 1 - i]);
        if (digit < 0)
            return fail(p, "'%s' is no hexadecimal number", p->value);
        out[i / 2] |= (u8)(digit << 4 * (i & 1));
    }
    return true;
}

/* The bytes of a memory assignment: a list, an 8-byte address (`@`, `+`), or hexadecimal bytes by rising address. */
static bool parse_memory_value(Parse *p, u8 *out, size_t room, size_t *size) {
    if (parse_list(p, out, room, size) || *p->error)
        return !*p->error;
    u64 address;
    *size = *p->value == '@' || *p->value == '+' ? 8 : strlen(p->value) / 2;
    if (*size > room)
        return fail(p, "the value goes beyond the scratch memory");
    if (*p->value == '@' || *p->value == '+') {
        if (!parse_integer(p, p->value, &address))
            return false;
        memcpy(out, &address, 8);
        return true;
    }
    for (size_t i = 0; i < *size; i++) {
        int high = hex_digit(p->value[2 * i]), low = hex_digit(p->value[2 * i + 1]);
        if (high < 0 || low < 0)
            return fail(p, "'%s' are no hexadecimal bytes", p->value);
        out[i] = (u8)(high << 4 | low);
    }
    return (*size && strlen(p->value) % 2 == 0) || fail(p, "memory takes an even number of hexadecimal digits");
}

/* -------------------------------------------------------------------------------------------------- assignments */

/* `name=?`. The state of the register is left open. */
static bool open_bytes(Parse *p, void *in_state, size_t size) {
    if (!p->ignore)
        return fail(p, "%s=? makes sense only for expected state", p->name);
    memset((u8 *)p->ignore + ((u8 *)in_state - (u8 *)p->s), 0xff, size);
    return true;
}

static bool is_open(const Parse *p) {
    return !strcmp(p->value, "?");
}

/* `stem` followed by a number below `limit`. */
static bool numbered(const char *name, const char *stem, unsigned limit, unsigned *index) {
    size_t len = strlen(stem);
    char *end;
    if (strncmp(name, stem, len) || !isdigit((unsigned char)name[len]))
        return false;
    *index = (unsigned)strtoul(name + len, &end, 10);
    return *end == 0 && *index < limit;
}

static bool assign_field(Parse *p, const Field *f) {
    u8 *at = (u8 *)&p->s->cpu + f->offset;
    u64 v;
    if (is_open(p))
        return open_bytes(p, at, f->size);
    if (!parse_integer(p, p->value, &v))
        return false;
    u64 limit = f->size == 8 ? ~0ull : (1ull << 8 * f->size) - 1;
    if (v > limit || (f->size == 1 && v > 1 && f->name[0] != 'f'))
        return fail(p, "%s is too large for %s", p->value, p->name);
    memcpy(at, &v, f->size);
    return true;
}

/* stN is relative to the top given so far. Giving it a value puts the register in use. */
static bool assign_st(Parse *p, unsigned index) {
    LatheX86Cpu *c = &p->s->cpu;
    unsigned physical = (c->fpu_top + index) & 7;
    if (is_open(p))
        return open_bytes(p, c->st[physical], 10);
    c->fpu_tag &= (u8) ~(1 << physical);
    if (!strcmp(p->value, "empty"))
        return true;
    c->fpu_tag |= (u8)(1 << physical);
    return parse_wide(p, c->st[physical], 10);
}

/* An MMX write marks all of the x87 stack as in use, with top 0 and the exponent all ones (SDM 1, 9.6.2). */
static bool assign_mm(Parse *p, unsigned index) {
    LatheX86Cpu *c = &p->s->cpu;
    if (is_open(p))
        return open_bytes(p, c->st[index], 8);
    c->fpu_top = 0;
    c->fpu_tag = 0xff;
    c->st[index][8] = c->st[index][9] = 0xff;
    return parse_wide(p, c->st[index], 8);
}

static bool assign_vector(Parse *p, unsigned index, size_t size) {
    u8 *at = p->s->cpu.vec[index];
    return is_open(p) ? open_bytes(p, at, size) : parse_wide(p, at, size);
}

static bool assign_condition_code(Parse *p, unsigned index) {
    if (is_open(p) && !p->ignore)
        return fail(p, "%s=? makes sense only for expected state", p->name);
    u16 *word = is_open(p) ? &p->ignore->cpu.fpu_sw : &p->s->cpu.fpu_sw;
    *word = (u16)((*word & ~condition_code[index]) | (*p->value != '0' ? condition_code[index] : 0));
    return true;
}

static bool assign_trap(Parse *p) {
    for (size_t i = 0; i < ARRAY_LEN(trap_names); i++)
        if (!strcmp(p->value, trap_names[i].name)) {
            p->s->cpu.trap = trap_names[i].trap;
            return true;
        }
    return fail(p, "there is no trap '%s'", p->value);
}

/* `[offset]=bytes`, or `[offset]=?N`: N bytes are left open. */
static bool assign_memory(Parse *p) {
    char *end;
    u64 offset = strtoull(p->name + 1, &end, 0);
    if (end == p->name + 1 || strcmp(end, "]"))
        return fail(p, "'%s' is no [offset]", p->name);
    if (offset >= STATE_MEMORY_BYTES)
        return fail(p, "%s is outside the scratch memory of %u bytes", p->name, STATE_MEMORY_BYTES);
    size_t size, room = STATE_MEMORY_BYTES - offset;
    if (*p->value != '?')
        return parse_memory_value(p, p->s->memory + offset, room, &size);
    size = strtoul(p->value + 1, NULL, 0);
    return size && size <= room ? open_bytes(p, p->s->memory + offset, size) : fail(p, "write %s=?BYTES", p->name);
}

static bool assign(Parse *p) {
    unsigned i;
    for (size_t f = 0; f < ARRAY_LEN(fields); f++)
        if (!strcmp(p->name, fields[f].name))
            return assign_field(p, &fields[f]);
    if (*p->name == '[')
        return assign_memory(p);
    if (!strcmp(p->name, "trap"))
        return assign_trap(p);
    if (numbered(p->name, "xmm", 32, &i))
        return assign_vector(p, i, 16);
    if (numbered(p->name, "ymm", 32, &i))
        return assign_vector(p, i, 32);
    if (numbered(p->name, "zmm", 32, &i))
        return assign_vector(p, i, 64);
    if (numbered(p->name, "st", 8, &i))
        return assign_st(p, i);
    if (numbered(p->name, "mm", 8, &i))
        return assign_mm(p, i);
    if (numbered(p->name, "c", 4, &i))
        return assign_condition_code(p, i);
    return fail(p, "there is no state called '%s'", p->name);
}

/* ----------------------------------------------------------------------------------------------------- changes */

/* Text being put together. */
typedef struct Out {
    VEC(char) text;
} Out;

__attribute__((format(printf, 2, 3))) static void out(Out *o, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t len = (size_t)vsnprintf(NULL, 0, format, args);
    VEC_RESERVE(&o->text, len + 1);
    vsnprintf(o->text.at + o->text.len, len + 1, format, again);
    o->text.len += len;
    va_end(args);
    va_end(again);
}

/* The end of the last differing byte: 0 if there is none. */
static size_t differing(const void *from, const void *to, const void *ignore, size_t size) {
    const u8 *a = from, *b = to, *m = ignore;
    while (size && !((a[size - 1] ^ b[size - 1]) & ~m[size - 1]))
        size--;
    return size;
}

static void out_address(Out *o, const char *name, u64 v) {
    bool in_memory = v >= STATE_MEMORY && v <= STATE_MEMORY + STATE_MEMORY_BYTES;
    bool in_code = v >= STATE_CODE - 0x1000 && v < STATE_CODE + 0x1000;
    if (in_memory)
        out(o, " %s=@0x%llx", name, (unsigned long long)(v - STATE_MEMORY));
    else if (in_code && v >= STATE_CODE)
        out(o, " %s=+%llu", name, (unsigned long long)(v - STATE_CODE));
    else if (in_code)
        out(o, " %s=+-%llu", name, (unsigned long long)(STATE_CODE - v));
    else
        out(o, " %s=0x%llx", name, (unsigned long long)v);
}

static void out_number(Out *o, const char *stem, unsigned index, const u8 *bytes, size_t size, size_t digits_min) {
    while (size > 1 && 2 * size > digits_min && !bytes[size - 1])
        size--;
    out(o, " %s%u=", stem, index);
    while (size--)
        out(o, "%02x", bytes[size]);
}

static void field_changes(Out *o, const State *from, const State *to, const State *ignore) {
    for (const Field *f = fields; f < fields + ARRAY_LEN(fields); f++) {
        if (!differing((u8 *)from + f->offset, (u8 *)to + f->offset, (u8 *)ignore + f->offset, f->size))
            continue;
        u64 v = 0;
        memcpy(&v, (u8 *)to + f->offset, f->size);
        if (f->size == 1)
            out(o, f->offset == offsetof(LatheX86Cpu, fpu_tag) ? " %s=0x%x" : " %s=%u", f->name, (unsigned)v);
        else
            out_address(o, f->name, v);
    }
}

static bool is_mmx(const LatheX86Cpu *c, unsigned physical) {
    return c->fpu_tag == 0xff && c->fpu_top == 0 && c->st[physical][8] == 0xff && c->st[physical][9] == 0xff;
}

/* The contents of an empty register are no state. Which are empty is told by the tag's own entry. */
static void fpu_changes(Out *o, const LatheX86Cpu *from, const LatheX86Cpu *to, const LatheX86Cpu *ignore) {
    for (unsigned i = 0; i < 8; i++) {
        unsigned physical = (to->fpu_top + i) & 7;
        if (!(to->fpu_tag >> physical & 1) ||
            !differing(from->st[physical], to->st[physical], ignore->st[physical], 10))
            continue;
        if (is_mmx(to, physical))
            out_number(o, "mm", physical, to->st[physical], 8, 16);
        else
            out_number(o, "st", i, to->st[physical], 10, 20);
    }
}

/* A vector register is named by the smallest size that covers what changed. */
static void vector_changes(Out *o, const LatheX86Cpu *from, const LatheX86Cpu *to, const LatheX86Cpu *ignore) {
    for (unsigned i = 0; i < 32; i++) {
        size_t end = differing(from->vec[i], to->vec[i], ignore->vec[i], 64);
        if (end > 32)
            out_number(o, "zmm", i, to->vec[i], 64, 0);
        else if (end > 16)
            out_number(o, "ymm", i, to->vec[i], 32, 0);
        else if (end)
            out_number(o, "xmm", i, to->vec[i], 16, 32);
    }
}

/* Runs of changed bytes; a gap of up to three unchanged ones does not end a run. */
static void memory_changes(Out *o, const State *from, const State *to, const State *ignore) {
    for (size_t i = 0; i < STATE_MEMORY_BYTES; i++) {
        if (!differing(from->memory + i, to->memory + i, ignore->memory + i, 1))
            continue;
        size_t end = i + 1, ahead;
        do {
            size_t window = STATE_MEMORY_BYTES - end < 4 ? STATE_MEMORY_BYTES - end : 4;
            ahead = differing(from->memory + end, to->memory + end, ignore->memory + end, window);
            end += ahead;
        } while (ahead);
        out(o, " [0x%zx]=", i);
        for (; i < end; i++)
            out(o, "%02x", to->memory[i]);
    }
}

/* ------------------------------------------------------------------------------------------------------- public */

static u64 mix(u64 x) {
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void state_default(State *s) {
    *s = (State){.cpu = {.pc = STATE_CODE, .mxcsr = 0x1f80, .fpu_cw = 0x37f}};
    s->cpu.fsbase = STATE_MEMORY + 0x400;
    s->cpu.gsbase = STATE_MEMORY + 0xc00;
    for (unsigned i = 0; i < 16; i++)
        s->cpu.gp[i] = mix(i);
    s->cpu.gp[LATHE_RSP] = STATE_MEMORY + 0x800;
    for (unsigned i = 0; i < 8; i++) {
        s->cpu.k[i] = mix(0x100 + i);
        for (unsigned j = 0; j < 10; j++)
            s->cpu.st[i][j] = (u8)mix(0x200 + 16 * i + j);
    }
    for (unsigned i = 0; i < 32 * 64; i++)
        s->cpu.vec[i / 64][i % 64] = (u8)mix(0x1000 + i);
    for (unsigned i = 0; i < STATE_MEMORY_BYTES; i++)
        s->memory[i] = (u8)(i * 31 + (i >> 8) * 17 + 5);
}

bool state_parse(const char *text, State *s, State *ignore, char *error, size_t error_size) {
    char *copy = strdup(text), *rest = copy;
    bool ok = true;
    *error = 0;
    for (char *word; ok && (word = strsep(&rest, " \t"));) {
        char *equals = strchr(word, '=');
        Parse p = {s, ignore, word, equals ? equals + 1 : "", error, error_size};
        if (!*word)
            continue;
        if (equals)
            *equals = 0;
        ok = equals ? assign(&p) : fail(&p, "'%s' is not of the form name=value", word);
    }
    free(copy);
    return ok;
}

char *state_changes(Arena *a, const State *from, const State *to, const State *ignore) {
    Out o = {0};
    VEC_RESERVE(&o.text, 1);
    if (from->cpu.trap != to->cpu.trap)
        out(&o, " trap=%s", state_trap_name(to->cpu.trap));
    field_changes(&o, from, to, ignore);
    fpu_changes(&o, &from->cpu, &to->cpu, &ignore->cpu);
    vector_changes(&o, &from->cpu, &to->cpu, &ignore->cpu);
    memory_changes(&o, from, to, ignore);
    o.text.at[o.text.len] = 0;
    char *text = arena_printf(a, "%s", o.text.len ? o.text.at + 1 : "");
    VEC_FREE(&o.text);
    return text;
}

const char *state_trap_name(u32 trap) {
    for (size_t i = 0; i < ARRAY_LEN(trap_names); i++)
        if (trap_names[i].trap == trap)
            return trap_names[i].name;
    return "unknown";
}

u32 state_trap_of(NativeResult r, u32 expected) {
    switch (r.signal) {
    case 0:
        return LATHE_TRAP_NONE;
    case SIGFPE:
        return r.code == FPE_INTDIV || r.code == FPE_INTOVF ? LATHE_TRAP_DIVIDE : TRAP_FLOAT;
    case SIGILL:
        return expected == LATHE_TRAP_UNSUPPORTED ? expected : LATHE_TRAP_UNDEFINED;
    case SIGTRAP:
        return LATHE_TRAP_BREAK;
    case SIGBUS:
        return TRAP_MISALIGNED;
    case SIGVTALRM:
        return TRAP_TIMEOUT;
    case SIGSEGV:
        if (r.code != SI_KERNEL)
            return TRAP_MEMORY;
        return expected == TRAP_MISALIGNED || expected == LATHE_TRAP_INTERRUPT ? expected : LATHE_TRAP_PRIVILEGED;
    default:
        return TRAP_SIGNAL;
    }
}

u8 *state_memory(void) {
    static u8 *page;
    void *want = (void *)(uintptr_t)(STATE_MEMORY - STATE_MEMORY_BYTES);
    if (page)
        return page;
    u8 *three = mmap(want, 3 * STATE_MEMORY_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    CHECK(three == want, "the scratch memory's address is taken in this process");
    page = three + STATE_MEMORY_BYTES;
    CHECK(!mprotect(page, STATE_MEMORY_BYTES, PROT_READ | PROT_WRITE), "no scratch memory");
    return page;
}

NativeResult state_run_cpu(State *s, const u8 *code, size_t size, u32 expected_trap) {
    u8 *memory = state_memory();
    memcpy(memory, s->memory, STATE_MEMORY_BYTES);
    NativeResult result = native_run(&s->cpu, code, size);
    memcpy(s->memory, memory, STATE_MEMORY_BYTES);
    s->cpu.trap = state_trap_of(result, expected_trap);
    return result;
}
