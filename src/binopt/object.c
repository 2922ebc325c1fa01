/* object.c: see object.h. Names come from the dynamic symbol tables, by dladdr. */
#include "binopt/object.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "binopt/maps.h"

/* ----------------------------------------------------------------------------------------------------- linkage stubs */

/* The slot that a stub [endbr64] [bnd] jmp *slot(%rip) jumps through; 0: no stub. */
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

/* Before it is bound, a slot leads back to the file it is in. */
static bool same_object(u64 a, u64 b) {
    Dl_info x, y;
    return dladdr((void *)a, &x) && dladdr((void *)b, &y) && x.dli_fbase == y.dli_fbase;
}

/* A dynamic section's entry; those that are addresses have been relocated by the dynamic linker. */
static u64 dynamic(const struct link_map *map, i64 tag) {
    for (const Elf64_Dyn *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == tag)
            return d->d_un.d_val;
    return 0;
}

/* The file that has an address, if it tells about itself. */
static const struct link_map *file_of(u64 addr) {
    Dl_info info;
    struct link_map *map;
    bool found = dladdr1((void *)addr, &info, (void **)&map, RTLD_DL_LINKMAP) && map->l_ld;
    return found ? map : NULL;
}

/* The relocation of a slot in one of the file's two tables; NULL: none. */
static const Elf64_Rela *relocation_of(const struct link_map *map, i64 table_tag, i64 size_tag, u64 slot) {
    const Elf64_Rela *rela = (const Elf64_Rela *)dynamic(map, table_tag);
    u64 count = rela ? dynamic(map, size_tag) / sizeof(*rela) : 0;
    for (u64 i = 0; i < count; i++)
        if (rela[i].r_offset + map->l_addr == slot)
            return &rela[i];
    return NULL;
}

/* The name of the function that a slot is for; NULL if its file does not say. */
static const char *name_of_slot(u64 slot) {
    const struct link_map *map = file_of(slot);
    const Elf64_Rela *rela = map ? relocation_of(map, DT_JMPREL, DT_PLTRELSZ, slot) : NULL;
    const Elf64_Sym *symbols = map ? (const Elf64_Sym *)dynamic(map, DT_SYMTAB) : NULL;
    const char *names = map ? (const char *)dynamic(map, DT_STRTAB) : NULL;
    return rela && symbols && names ? names + symbols[ELF64_R_SYM(rela->r_info)].st_name : NULL;
}

/* The relocation of an address in either table; NULL: none. */
static const Elf64_Rela *any_relocation_of(u64 addr) {
    const struct link_map *map = file_of(addr);
    const Elf64_Rela *rela = map ? relocation_of(map, DT_JMPREL, DT_PLTRELSZ, addr) : NULL;
    return map && !rela ? relocation_of(map, DT_RELA, DT_RELASZ, addr) : rela;
}

bool object_is_tls_descriptor(u64 addr) {
    const Elf64_Rela *rela = any_relocation_of(addr);
    return rela && ELF64_R_TYPE(rela->r_info) == R_X86_64_TLSDESC;
}

bool object_is_function_slot(u64 addr) {
    const Elf64_Rela *rela = any_relocation_of(addr);
    u64 type = rela ? ELF64_R_TYPE(rela->r_info) : R_X86_64_NONE;
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
    bool in_file, found;
} Inside;

static bool has_pointer(const Inside *s, const u64 *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (words[i] - s->start - 1 < s->end - s->start - 1)
            return true;
    return false;
}

/* Pages that cannot be read are left out: nobody can take an address from them. */
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

static int look_inside(struct dl_phdr_info *info, size_t size, void *user) {
    Inside *s = user;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];
        s->in_file |= p->p_type == PT_LOAD && s->start - info->dlpi_addr - p->p_vaddr < p->p_memsz;
    }
    for (int i = 0; s->in_file && !s->found && i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *p = &info->dlpi_phdr[i];
        u64 at = info->dlpi_addr + p->p_vaddr;
        s->found = p->p_type == PT_LOAD && segment_has_pointer(s, at, at + p->p_memsz);
    }
    return s->in_file;
}

bool object_points_inside(u64 start, u64 end) {
    Inside s = {.start = start, .end = end};
    dl_iterate_phdr(look_inside, &s);
    return !s.in_file || s.found;
}

/* -------------------------------------------------------------------------------------------------------------- names */

static const char *name_of(u64 pc) {
    u64 slot = slot_of(pc);
    const char *name = slot ? name_of_slot(slot) : NULL;
    Dl_info info;
    if (name)
        return name;
    pc = object_skip_stub(pc);
    return dladdr((void *)pc, &info) && info.dli_saddr == (void *)pc && info.dli_sname ? info.dli_sname : "";
}

static bool is_among(const char *name, const char *const *names) {
    for (; *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}

bool object_is_library(u64 pc) {
    static const char *const prefixes[] = {"libc.so",  "libc-",      "libm.so",  "libm-",    "ld-linux",
                                           "libmvec",  "libpthread", "libdl.so", "librt.so", "libstdc++",
                                           "libgcc_s", "libasan",    "libubsan", "libtsan",  "linux-vdso"};
    Dl_info info;
    if (!dladdr((void *)pc, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/'), *file = slash ? slash + 1 : info.dli_fname;
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (!strncmp(file, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

bool object_never_returns(u64 pc) {
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
    const char *name = name_of(pc);
    bool throws = !strncmp(name, "_ZSt", 4) && strstr(name, "__throw_");
    return throws || is_among(name, names);
}

bool object_is_unusual(u64 pc) {
    static const char *const names[] = {"setjmp", "_setjmp",     "__sigsetjmp",    "sigsetjmp", "getcontext",
                                        "vfork",  "swapcontext", "__tls_get_addr", NULL};
    return is_among(name_of(pc), names);
}
