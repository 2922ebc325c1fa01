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

bool object_is_tls_descriptor(u64 addr) {
    const struct link_map *map = file_of(addr);
    const Elf64_Rela *rela = map ? relocation_of(map, DT_JMPREL, DT_PLTRELSZ, addr) : NULL;
    if (map && !rela)
        rela = relocation_of(map, DT_RELA, DT_RELASZ, addr);
    return rela && ELF64_R_TYPE(rela->r_info) == R_X86_64_TLSDESC;
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
