/* build.c: identifies this translator, wherever it is installed, by the build ids of the server and of LLVM and by the
 * host's CPU. Servers of the same build make code for each other if they run on CPUs of the same kind. */
#include <elf.h>
#include <link.h>
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "cache/pack.h"
#include "run/server/server.h"

typedef struct Search {
    u64 hash;
    u32 found;
} Search;

enum { SERVER = 1, LLVM = 2 };

static size_t padded(size_t size) {
    return (size + 3) & ~(size_t)3;
}

static bool add_build_id(Search *s, const u8 *notes, size_t size) {
    Elf64_Nhdr note;
    for (size_t at = 0; at + sizeof(note) <= size; at += sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz)) {
        memcpy(&note, notes + at, sizeof(note));
        const u8 *name = notes + at + sizeof(note), *id = name + padded(note.n_namesz);
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 || memcmp(name, "GNU", 4))
            continue;
        s->hash = pack_hash(s->hash, id, note.n_descsz);
        return true;
    }
    return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *user) {
    Search *s = user;
    (void)size;
    u32 kind = !*info->dlpi_name ? SERVER : strstr(info->dlpi_name, "libLLVM") ? LLVM : 0;
    for (int i = 0; kind && !(s->found & kind) && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_NOTE && add_build_id(s, (const u8 *)(info->dlpi_addr + p->p_vaddr), p->p_memsz))
            s->found |= kind;
    }
    return 0;
}

/* A static LLVM is part of the server and has no build id of its own. */
static bool hash_builds(Search *s) {
    unsigned version[3];
    dl_iterate_phdr(look_at, s);
    LLVMGetVersion(&version[0], &version[1], &version[2]);
    s->hash = pack_hash(s->hash, version, sizeof(version));
    return s->found & SERVER;
}

static u64 hash_text(u64 hash, char *text) {
    hash = pack_hash(hash, text, strlen(text));
    LLVMDisposeMessage(text);
    return hash;
}

bool build_identity(bool portable, u64 *hash) {
    Search s = {.hash = PACK_HASH_START};
    if (!hash_builds(&s))
        return false;
    *hash = portable ? s.hash : hash_text(hash_text(s.hash, LLVMGetHostCPUName()), LLVMGetHostCPUFeatures());
    return true;
}
