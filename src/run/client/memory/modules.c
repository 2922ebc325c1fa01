/* modules.c: see modules.h. */
#include "run/client/memory/modules.h"

#include <elf.h>

#include "run/client/memory/key.h"
#include "run/client/memory/space_table.h"
#include "run/client/memory/watch.h"

MappedFile file_look_at(int fd, u64 off) {
    MappedFile f = {0};
    struct stat st;
    if (sys_fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return f;
    f.dev = st.st_dev, f.ino = st.st_ino, f.regular = true;
    Elf64_Ehdr head;
    if (off || sys_pread(fd, &head, sizeof(head), 0) != sizeof(head) || memcmp(head.e_ident, ELFMAG, SELFMAG))
        return f;
    f.elf = head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_machine == guest_facts.machine &&
            (head.e_type == ET_DYN || head.e_type == ET_EXEC);
    f.position_independent = head.e_type == ET_DYN;
    return f;
}

Module *module_at(u64 addr) {
    Module *best = NULL;
    for (u32 i = 0; i < the.memory.module_count; i++) {
        Module *m = &the.memory.modules[i];
        if (addr >= m->base && addr < m->end && (!best || m->base > best->base))
            best = m;
    }
    return best;
}

static void name_module(Module *m, int fd) {
    char link[32], path[4096];
    format_text(link, sizeof(link), "/proc/self/fd/%d", fd);
    i64 len = sys_readlink(link, path, sizeof(path) - 1);
    path[len > 0 ? len : 0] = 0;
    const char *slash = strrchr(path, '/');
    format_text(m->name, sizeof(m->name), "%s", slash ? slash + 1 : path);
}

/* Uses the entry of a module that is gone if there is one; entries never move. Returns NULL if all are in use. */
static Module *new_module(u64 base, u64 end, const MappedFile *f) {
    u32 i = 0;
    while (i < the.memory.module_count && the.memory.modules[i].end)
        i++;
    if (i == MODULES_MAX)
        return NULL;
    bool near = base >= the.memory.window && end <= the.code_base;
    the.memory.modules[i] = (Module){
        .base = base,
        .end = end,
        .position_independent = f->position_independent && near,
        .unkept = f->position_independent && !near,
    };
    space_table()->file[i].dev = f->dev;
    space_table()->file[i].ino = f->ino;
    if (i == the.memory.module_count)
        the.memory.module_count++;
    return &the.memory.modules[i];
}

static void add_module(u64 base, u64 end, int fd, const MappedFile *f) {
    Module *m = new_module(base, end, f);
    if (m)
        name_module(m, fd);
}

static bool is_file_of(const Module *m, const MappedFile *f) {
    u64 i = (u64)(m - the.memory.modules);
    return space_table()->file[i].dev == f->dev && space_table()->file[i].ino == f->ino;
}

void modules_forget(u64 start, u64 end, const MappedFile *f) {
    for (u32 i = 0; i < the.memory.module_count; i++) {
        Module *m = &the.memory.modules[i];
        if (m->end <= start || m->base >= end || m->end > end || (f && f->regular && is_file_of(m, f)))
            continue;
        if (m->base >= start)
            m->base = m->end = 0;
        else if (!f || f->regular)
            m->end = start;
    }
}

bool module_note_file(u64 start, u64 end, u32 prot, int fd, const MappedFile *f) {
    Module *m = module_at(start);
    if (!m || !is_file_of(m, f)) {
        if (!f->elf)
            return false;
        add_module(start, end, fd, f);
        m = module_at(start);
    }
    return m && prot & PROT_EXEC && !m->pack.word[0] && !m->pack.word[1];
}

void module_find_key(u64 addr, int fd) {
    Key key = key_of_file(fd, &the.opt.code);
    lock(&space_table()->lock);
    Module *m = module_at(addr);
    if (m && !m->unkept)
        m->pack = key;
    unlock(&space_table()->lock);
    if (m)
        image_check(m);
}

Module *space_module(u64 addr) {
    lock(&space_table()->lock);
    Module *m = module_at(addr);
    unlock(&space_table()->lock);
    return m;
}

void space_add_module(u64 base, u64 end, int fd, bool position_independent) {
    MappedFile f = file_look_at(fd, 0);
    f.position_independent = position_independent;
    lock(&space_table()->lock);
    modules_forget(base, end, NULL);
    add_module(base, end, fd, &f);
    unlock(&space_table()->lock);
}

void space_add_code(u64 base, u64 end, Key pack, const char *name) {
    lock(&space_table()->lock);
    ranges_set(&space_table()->guest, base, end, PROT_READ | PROT_EXEC);
    sys_mprotect(base, end - base, space_host_prot(PROT_READ | PROT_EXEC));
    Module *m = new_module(base, end, &(MappedFile){.position_independent = true});
    if (m) {
        m->pack = pack;
        m->changing_data = true;
        format_text(m->name, sizeof(m->name), "%s", name);
    }
    unlock(&space_table()->lock);
}
