/* object.c: see object.h. Names are taken from the dynamic symbol tables. */
#include "binopt/process/object.h"

#include "base/process.h"
#include "binopt/process/maps.h"

/* ----------------------------------------------------------------------------------------------------- linkage stubs */

/* The slot through which a stub [endbr64] [bnd] jmp *slot(%rip) jumps; 0: it is not a stub. */
static u64 slot_of(u64 pc) {
    static const u8 endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    u8 code[16];
    size_t size = maps_read(pc, code, sizeof(code)), at = 0;
    if (size < sizeof(code))
        return 0;
    if (!memcmp(code, endbr64, sizeof(endbr64)))
        at += sizeof(endbr64);
    if (code[at] == 0xf2)
        at++;
    if (code[at] != 0xff || code[at + 1] != 0x25)
        return 0;
    i32 disp;
    memcpy(&disp, code + at + 2, sizeof(disp));
    return pc + at + 6 + (u64)(i64)disp;
}

static void note_start(const ProcessFile *f, void *start) {
    *(u64 *)start = f->start;
}

/* Before a slot is bound, it points back into the file that it is in. */
static bool same_object(u64 a, u64 b) {
    u64 x = 0, y = 0;
    return process_look_at(a, note_start, &x) && process_look_at(b, note_start, &y) && x == y;
}

/* A question about an address, which is answered while its file cannot be unloaded. */
typedef struct NameQuestion {
    u64 addr;
    const char *(*ask)(const char *name); /* called with the name of a symbol; NULL: no */
    const char *answer;                   /* a string that outlives the file; NULL: no */
} NameQuestion;

typedef struct Relocation {
    u64 addr, type;
} Relocation;

static void find_relocation(const ProcessFile *f, void *user) {
    Relocation *r = user;
    const Elf64_Rela *rela = process_relocation(f, DT_JMPREL, DT_PLTRELSZ, r->addr, NULL);
    if (!rela)
        rela = process_relocation(f, DT_RELA, DT_RELASZ, r->addr, NULL);
    r->type = rela ? ELF64_R_TYPE(rela->r_info) : R_X86_64_NONE;
}

/* The type of relocation by which the dynamic linker fills the slot at this address. */
static u64 relocation_type(u64 addr) {
    Relocation r = {addr, R_X86_64_NONE};
    process_look_at(addr, find_relocation, &r);
    return r.type;
}

bool object_is_tls_descriptor(u64 addr) {
    return relocation_type(addr) == R_X86_64_TLSDESC;
}

bool object_is_function_slot(u64 addr) {
    u64 type = relocation_type(addr);
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_IRELATIVE;
}

bool object_is_stub(u64 pc) {
    return slot_of(pc) != 0;
}

u64 object_stub_slot(u64 pc) {
    return slot_of(pc);
}

u64 object_skip_stub(u64 pc) {
    u64 slot = slot_of(pc), to = 0;
    if (!slot || maps_read(slot, &to, sizeof(to)) < sizeof(to) || same_object(to, pc))
        return pc;
    return to;
}

/* ----------------------------------------------------------------------------------------------------- pointers to code */

typedef struct Inside {
    u64 start, end;
    bool found;
} Inside;

static bool has_pointer(const Inside *s, const u64 *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (words[i] - s->start - 1 < s->end - s->start - 1)
            return true;
    return false;
}

/* Pages that cannot be read are left out, because the program cannot take an address from them either. */
static bool segment_has_pointer(const Inside *s, u64 at, u64 end) {
    enum { WORDS = 8192, PAGE = 4096 };
    u64 *words = mem_new(WORDS * sizeof(*words));
    bool found = false;
    for (at = (at + 7) & ~(u64)7; at < end && !found;) {
        u64 wanted = end - at < WORDS * sizeof(*words) ? end - at : WORDS * sizeof(*words);
        u64 count = maps_read(at, words, wanted) / sizeof(*words);
        found = has_pointer(s, words, count);
        at += count ? count * sizeof(*words) : PAGE - at % PAGE;
    }
    mem_free(words);
    return found;
}

static void look_inside(const ProcessFile *f, void *user) {
    Inside *s = user;
    for (u32 i = 0; !s->found && i < f->segment_count; i++) {
        u64 at = f->base + f->segments[i].p_vaddr;
        s->found = f->segments[i].p_type == PT_LOAD && segment_has_pointer(s, at, at + f->segments[i].p_memsz);
    }
}

bool object_points_inside(u64 start, u64 end) {
    Inside s = {.start = start, .end = end};
    return !process_look_at(start, look_inside, &s) || s.found;
}

/* -------------------------------------------------------------------------------------------------------------- names */

static const char *find_among(const char *name, const char *const *names) {
    while (*names && strcmp(name, *names))
        names++;
    return *names;
}

static const char *never_returns(const char *name) {
    static const char *const names[] = {"abort",          "exit",
                                        "_exit",          "_Exit",
                                        "quick_exit",     "__stack_chk_fail",
                                        "__assert_fail",  "__fortify_fail",
                                        "__chk_fail",     "longjmp",
                                        "siglongjmp",     "_longjmp",
                                        "__longjmp_chk",  "__cxa_throw",
                                        "__cxa_rethrow",  "__cxa_bad_cast",
                                        "_Unwind_Resume", "_ZSt9terminatev",
                                        "pthread_exit",   NULL};
    bool throws = !strncmp(name, "_ZSt", 4) && strstr(name, "__throw_");
    return throws ? "throw" : find_among(name, names);
}

static const char *is_unusual(const char *name) {
    static const char *const names[] = {"setjmp", "_setjmp",     "__sigsetjmp",    "sigsetjmp", "getcontext",
                                        "vfork",  "swapcontext", "__tls_get_addr", NULL};
    return find_among(name, names);
}

static void ask_about_slot(const ProcessFile *f, void *user) {
    NameQuestion *q = user;
    const Elf64_Rela *rela = process_relocation(f, DT_JMPREL, DT_PLTRELSZ, q->addr, NULL);
    q->answer = rela ? q->ask(process_name_of(f, rela)) : NULL;
}

static void ask_about_code(const ProcessFile *f, void *user) {
    NameQuestion *q = user;
    q->answer = process_ask_names(f, q->addr, q->ask);
}

/* Asks about a stub by the name of its slot, and about the function that it leads to, once that is known, by that
 * function's names. */
static const char *ask_names(u64 pc, const char *(*ask)(const char *name)) {
    u64 slot = slot_of(pc);
    NameQuestion stub = {slot, ask, NULL}, code = {object_skip_stub(pc), ask, NULL};
    if (slot)
        process_look_at(slot, ask_about_slot, &stub);
    if (!stub.answer)
        process_look_at(code.addr, ask_about_code, &code);
    return stub.answer ? stub.answer : code.answer;
}

typedef struct SlotName {
    u64 slot;
    char text[256]; /* empty: there is none, or it is too long */
} SlotName;

static void copy_name(const ProcessFile *f, void *user) {
    SlotName *n = user;
    const Elf64_Rela *rela = process_relocation(f, DT_JMPREL, DT_PLTRELSZ, n->slot, NULL);
    const char *name = rela ? process_name_of(f, rela) : NULL;
    if (name && strlen(name) < sizeof(n->text))
        memcpy(n->text, name, strlen(name) + 1);
}

u64 object_stub_target(u64 pc) {
    SlotName name = {.slot = slot_of(pc)};
    u64 to = object_skip_stub(pc);
    if (!name.slot || to != pc)
        return to;
    process_look_at(name.slot, copy_name, &name);
    void *found = *name.text ? dlsym(RTLD_DEFAULT, name.text) : NULL;
    return found ? (u64)found : to;
}

static void is_library(const ProcessFile *f, void *user) {
    static const char *const prefixes[] = {"libc.so",  "libc-",      "libm.so",  "libm-",    "ld-linux",
                                           "libmvec",  "libpthread", "libdl.so", "librt.so", "libstdc++",
                                           "libgcc_s", "libasan",    "libubsan", "libtsan",  "linux-vdso"};
    NameQuestion *q = user;
    const char *slash = strrchr(f->path, '/'), *file = slash ? slash + 1 : f->path;
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (!strncmp(file, prefixes[i], strlen(prefixes[i])))
            q->answer = prefixes[i];
}

bool object_is_library(u64 pc) {
    NameQuestion q = {.addr = pc};
    return process_look_at(pc, is_library, &q) && q.answer != NULL;
}

bool object_never_returns(u64 pc) {
    return ask_names(pc, never_returns) != NULL;
}

const char *object_unusual(u64 pc) {
    return ask_names(pc, is_unusual);
}
