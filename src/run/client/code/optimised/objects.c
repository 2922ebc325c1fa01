/* objects.c: objects of the server and of the cache become code: linked into the arena, to each other and to the client's helpers. */
#include "codegen/link.h"
#include "host_helpers.h"
#include "host_stubs.h"
#include "run/client/code/arena/arena.h"
#include "run/client/code/optimised/accesses.h"
#include "run/client/code/optimised/code.h"
#include "run/client/code/optimised/entries.h"
#include "run/client/code/optimised/once.h"
#include "run/client/core/events.h"
#include "run/client/memory/own.h"
#include "run/client/tool/explain.h"
#include "run/client/tool/sites.h"
#include "run/client/tool/table/tables.h"

/* of enter.S */
void lathe_lazy(void);
void lathe_miss(void);
void lathe_jump_miss(void);
void lathe_stale(void);

typedef struct Linking {
    Code *code;
    u64 base; /* what names are relative to */
    u64 pc;
    void *entry;
} Linking;

/* A hexadecimal number, up to `end`; NULL: there is none. */
static const char *parse_number(const char *text, char end, u64 *number) {
    for (*number = 0; *text != end; text++) {
        if (!((*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f')))
            return NULL;
        *number = *number << 4 | (u64)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
    }
    return text + 1;
}

static bool parse_function(const char *name, u64 *off) {
    return name[0] == 'g' && name[1] == '_' && parse_number(name + 2, 0, off);
}

/* SITE_NAME */
static bool parse_site(const char *name, u64 *hook, u64 *off) {
    static const char first[] = "site_";
    const char *rest = strncmp(name, first, sizeof(first) - 1) ? NULL : name + sizeof(first) - 1;
    return rest && (rest = parse_number(rest, '_', hook)) && parse_number(rest, 0, off);
}

/* ROW_NAME */
static bool parse_row(const char *name, u64 base, u64 *table, u64 key[LATHE_KEYS]) {
    static const char first[] = "row_";
    u64 relative;
    const char *rest = strncmp(name, first, sizeof(first) - 1) ? NULL : name + sizeof(first) - 1;
    if (!rest || !(rest = parse_number(rest, '_', table)) || !(rest = parse_number(rest, '_', &relative)))
        return false;
    for (u32 i = 0; i < LATHE_KEYS; i++) {
        if (!(rest = parse_number(rest, i + 1 < LATHE_KEYS ? '_' : 0, &key[i])))
            return false;
        key[i] += relative >> i & 1 ? base : 0;
    }
    return true;
}

/* The code of a guest function, or a stub in its place. */
static u64 function_address(Code *c, u64 pc) {
    CodeEntry *e = entry_for(c, pc);
    if (e->code)
        return (u64)e->code;
    if (!e->stub) {
        c->any = true;
        e->stub = stub_new(c, pc);
    }
    return (u64)e->stub;
}

const Helper client_helpers[] = {
    {SYMBOL_MISS, (void *)lathe_miss},
    {SYMBOL_JUMP_MISS, (void *)lathe_jump_miss},
    {SYMBOL_SYSCALL, (void *)guest_syscall},
    {SYMBOL_STALE, (void *)lathe_stale},
    {"memcpy", (void *)memcpy},
    {"memset", (void *)memset},
    {"memmove", (void *)memmove},
    HOST_HELPERS{NULL, NULL},
};

/* The client may be elsewhere in another process, the arena not: what is in an image reaches it by trampolines. */
void objects_init(Code *c) {
    c->lazy = trampoline_new((void *)lathe_lazy);
    c->helpers = arena_code(0, STUB_BYTES);
    for (const Helper *const *table = guest_facts.helpers; *table; table++)
        for (const Helper *row = *table; row->name; row++)
            trampoline_new(row->address);
}

static bool helper_address(const Code *c, const char *name, u64 *address) {
    u64 count = 0;
    for (const Helper *const *table = guest_facts.helpers; *table; table++)
        for (const Helper *row = *table; row->name; row++, count++)
            if (!strcmp(row->name, name)) {
                *address = (u64)c->helpers + count * STUB_BYTES;
                return true;
            }
    return false;
}

u64 code_helper(const char *name) {
    u64 address = 0;
    CHECK(helper_address(the.tier.code, name, &address), "translated code calls what there is");
    return address;
}

/* Code has a name that the client does not know. If a plugin has put it there, the program cannot run with the plugin, and must not run without it. */
static bool is_missing(const char *name) {
    if (*the.opt.plugin)
        die("the plugin %s: its code uses %s, which neither a tool has nor lathe/tool.h", the.opt.plugin, name);
    return false;
}

static bool resolve(void *user, const char *name, u64 *address) {
    Linking *link = user;
    u64 off, hook, table, key[LATHE_KEYS];
    if (parse_function(name, &off))
        *address = function_address(link->code, link->base + off);
    else if (parse_site(name, &hook, &off) && hook < tool_hook_count())
        *address = (u64)site_words((u32)hook, link->base + off);
    else if (parse_row(name, link->base, &table, key) && rows_exist())
        *address = row_off(row_for((u32)table, key));
    else if (!strcmp(name, SYMBOL_GUEST))
        *address = link->base;
    else
        return helper_address(link->code, name, address) || tool_symbol(name, address) || is_missing(name);
    return true;
}

static void define(void *user, const char *name, u64 address, u64 size) {
    Linking *link = user;
    u64 off;
    (void)size;
    if (parse_function(name, &off) && link->base + off == link->pc)
        link->entry = (void *)address;
}

static void *scratch(Code *c, u64 bytes) {
    if (bytes > c->work_bytes) {
        if (c->work)
            sys_pages_free(c->work, c->work_bytes);
        c->work_bytes = (bytes + 0xffff) & ~(u64)0xffff;
        c->work = sys_pages(c->work_bytes);
    }
    return c->work;
}

void *objects_add(Code *c, const void *object, u32 size, u64 base, u64 pc) {
    LinkNeeds needs;
    if (link_measure(object, size, &needs) != LATHE_OK || needs.align > 4096)
        return NULL;
    u8 *code = arena_code(needs.code_bytes, needs.align), *data = arena_data(needs.data_bytes, needs.align);
    Linking link = {c, base, pc, NULL};
    LinkPlace place = {
        .code_write = arena_writable(code),
        .code_run = (u64)code,
        .data_write = data,
        .data_run = (u64)data,
        .work = scratch(c, needs.work_bytes),
        .resolve = resolve,
        .user = &link,
    };
    if (link_place(object, size, &place) != LATHE_OK)
        return NULL;
    arena_written(code, needs.code_bytes);
    link_symbols(object, size, &place, define, &link);
    AccessesPart rows = {0}, tools = {0};
    bool any = link_section(object, size, &place, LATHE_FAULTS, &rows.at, &rows.bytes);
    any |= link_section(object, size, &place, TOOL_ACCESSES, &tools.at, &tools.bytes);
    if (any)
        accesses_add((u64)code, (u64)code + needs.code_bytes, rows, tools);
    u64 sites, once, bytes;
    if (link_section(object, size, &place, TOOL_ONCE_SECTION, &once, &bytes))
        once_add((u8 *)once, bytes);
    if (link_section(object, size, &place, TOOL_SITES_SECTION, &sites, &bytes))
        explain_optimised((const ToolSites *)sites, bytes / sizeof(ToolSites));
    return link.entry;
}
