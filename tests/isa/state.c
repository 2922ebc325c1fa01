/* state.c: see state.h. */
#include "state_text.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

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
    {LATHE_TRAP_MISALIGNED, "misaligned"},
    {LATHE_TRAP_FAULT, "fault"},
    {LATHE_TRAP_ROUNDING, "rounding"},
    {TRAP_MEMORY, "memory"},
    {TRAP_FLOAT, "float"},
    {TRAP_TIMEOUT, "timeout"},
    {TRAP_SIGNAL, "signal"},
};
bool parse_fail(Parse *p, const char *format, ...) {
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
    return (*end == 0 && end != text) || parse_fail(p, "'%s' is no number", text);
}

typedef enum LaneKind { LANE_U8, LANE_U16, LANE_U32, LANE_U64, LANE_F16, LANE_F32, LANE_F64, LANE_F80 } LaneKind;

static const struct Lane {
    const char *prefix;
    u8 size;
} lanes[] = {[LANE_U8] = {"u8:", 1},   [LANE_U16] = {"u16:", 2}, [LANE_U32] = {"u32:", 4}, [LANE_U64] = {"u64:", 8},
             [LANE_F16] = {"f16:", 2}, [LANE_F32] = {"f32:", 4}, [LANE_F64] = {"f64:", 8}, [LANE_F80] = {"f80:", 10}};

static void convert_lane(LaneKind kind, const char *text, char **end, u8 *out) {
    _Float16 h = 0;
    float f = 0;
    double d = 0;
    long double e = 0;
    u64 u = 0;
    switch (kind) {
    case LANE_F16:
        h = (_Float16)strtof(text, end);
        memcpy(out, &h, 2);
        break;
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

bool parse_list(Parse *p, u8 *out, size_t room, size_t *size) {
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
            return parse_fail(p, "'%s' is no element of a list", text);
        *size += lanes[kind].size;
        text = end;
        if (*text == 0)
            return true;
        if (*text != ',')
            return parse_fail(p, "expected ',' at '%s'", text);
    }
    return parse_fail(p, "too many elements for %s", p->name);
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool parse_wide(Parse *p, u8 *out, size_t size) {
    size_t used;
    memset(out, 0, size);
    if (parse_list(p, out, size, &used) || *p->error)
        return !*p->error;
    const char *text = p->value + (strncmp(p->value, "0x", 2) ? 0 : 2);
    size_t digits = strlen(text);
    if (!digits || digits > 2 * size)
        return parse_fail(p, "%s takes 1 to %zu hexadecimal digits", p->name, 2 * size);
    for (size_t i = 0; i < digits; i++) {
        int digit = hex_digit(text[digits - 1 - i]);
        if (digit < 0)
            return parse_fail(p, "'%s' is no hexadecimal number", p->value);
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
        return parse_fail(p, "the value goes beyond the scratch memory");
    if (*p->value == '@' || *p->value == '+') {
        if (!parse_integer(p, p->value, &address))
            return false;
        memcpy(out, &address, 8);
        return true;
    }
    for (size_t i = 0; i < *size; i++) {
        int high = hex_digit(p->value[2 * i]), low = hex_digit(p->value[2 * i + 1]);
        if (high < 0 || low < 0)
            return parse_fail(p, "'%s' are no hexadecimal bytes", p->value);
        out[i] = (u8)(high << 4 | low);
    }
    return (*size && strlen(p->value) % 2 == 0) || parse_fail(p, "memory takes an even number of hexadecimal digits");
}

/* -------------------------------------------------------------------------------------------------- assignments */

bool parse_open(Parse *p, void *in_state, size_t size) {
    if (!p->ignore)
        return parse_fail(p, "%s=? makes sense only for expected state", p->name);
    memset((u8 *)p->ignore + ((u8 *)in_state - (u8 *)p->s), 0xff, size);
    return true;
}

bool parse_is_open(const Parse *p) {
    return !strcmp(p->value, "?");
}

bool parse_numbered(const char *name, const char *stem, unsigned limit, unsigned *index) {
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
    if (parse_is_open(p))
        return parse_open(p, at, f->size);
    if (!parse_integer(p, p->value, &v))
        return false;
    if (v > f->limit)
        return parse_fail(p, "%s is too large for %s", p->value, p->name);
    memcpy(at, &v, f->size);
    return true;
}

static bool assign_trap(Parse *p) {
    for (size_t i = 0; i < ARRAY_LEN(trap_names); i++)
        if (!strcmp(p->value, trap_names[i].name)) {
            p->s->cpu.trap = trap_names[i].trap;
            return true;
        }
    return parse_fail(p, "there is no trap '%s'", p->value);
}

/* `[offset]=bytes`, or `[offset]=?N`: N bytes are left open. */
static bool assign_memory(Parse *p) {
    char *end;
    u64 offset = strtoull(p->name + 1, &end, 0);
    if (end == p->name + 1 || strcmp(end, "]"))
        return parse_fail(p, "'%s' is no [offset]", p->name);
    if (offset >= STATE_MEMORY_BYTES)
        return parse_fail(p, "%s is outside the scratch memory of %u bytes", p->name, STATE_MEMORY_BYTES);
    size_t size, room = STATE_MEMORY_BYTES - offset;
    if (*p->value != '?')
        return parse_memory_value(p, p->s->memory + offset, room, &size);
    size = strtoul(p->value + 1, NULL, 0);
    return size && size <= room ? parse_open(p, p->s->memory + offset, size)
                                : parse_fail(p, "write %s=?BYTES", p->name);
}

static bool assign(Parse *p) {
    for (const Field *f = guest_fields; f < guest_fields + guest_field_count; f++)
        if (!strcmp(p->name, f->name))
            return assign_field(p, f);
    if (*p->name == '[')
        return assign_memory(p);
    return strcmp(p->name, "trap") ? guest_assign(p) : assign_trap(p);
}

/* ----------------------------------------------------------------------------------------------------- changes */

void out(Out *o, const char *format, ...) {
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

size_t out_differing(const void *from, const void *to, const void *ignore, size_t size) {
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

void out_number(Out *o, const char *stem, unsigned index, const u8 *bytes, size_t size, size_t digits_min) {
    while (size > 1 && 2 * size > digits_min && !bytes[size - 1])
        size--;
    out(o, " %s%u=", stem, index);
    while (size--)
        out(o, "%02x", bytes[size]);
}

static void field_changes(Out *o, const State *from, const State *to, const State *ignore) {
    for (const Field *f = guest_fields; f < guest_fields + guest_field_count; f++) {
        if (!out_differing((u8 *)from + f->offset, (u8 *)to + f->offset, (u8 *)ignore + f->offset, f->size))
            continue;
        u64 v = 0;
        memcpy(&v, (u8 *)to + f->offset, f->size);
        if (f->size == 1)
            out(o, f->hex ? " %s=0x%x" : " %s=%u", f->name, (unsigned)v);
        else
            out_address(o, f->name, v);
    }
}

/* Runs of changed bytes; a gap of up to three unchanged ones does not end a run. */
static void memory_changes(Out *o, const State *from, const State *to, const State *ignore) {
    for (size_t i = 0; i < STATE_MEMORY_BYTES; i++) {
        if (!out_differing(from->memory + i, to->memory + i, ignore->memory + i, 1))
            continue;
        size_t end = i + 1, ahead;
        do {
            size_t window = STATE_MEMORY_BYTES - end < 4 ? STATE_MEMORY_BYTES - end : 4;
            ahead = out_differing(from->memory + end, to->memory + end, ignore->memory + end, window);
            end += ahead;
        } while (ahead);
        out(o, " [0x%zx]=", i);
        for (; i < end; i++)
            out(o, "%02x", to->memory[i]);
    }
}

/* ------------------------------------------------------------------------------------------------------- public */

u64 guest_mix(u64 x) {
    x = (x + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void state_default(State *s) {
    *s = (State){0};
    guest_default(&s->cpu);
    s->cpu.pc = STATE_CODE;
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
        ok = equals ? assign(&p) : parse_fail(&p, "'%s' is not of the form name=value", word);
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
    guest_changes(&o, &from->cpu, &to->cpu, &ignore->cpu);
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
