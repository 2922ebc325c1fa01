/* statics.c: see statics.h.
 *
 * Such an object's destructor is registered by a call of __cxa_atexit (Itanium C++ ABI, 3.3.6) when the object has been made, and
 * destructors are called in reverse order: what we register before LLVM works is called too late, and between two steps of LLVM's work there
 * is no place to register anything. So LLVM's own calls of __cxa_atexit are led to a function of ours, through the slot of the linkage
 * table of the file that LLVM is in. If LLVM is in a file without such a slot, these objects are destroyed as ever. */
#include "codegen/statics.h"

#include <llvm-c/Core.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/process.h"

int __cxa_atexit(void (*destroy)(void *), void *object, void *file);

typedef struct Static {
    void (*destroy)(void *);
    void *object;
} Static;

static void (*call_first)(void);

static void destroy_static(void *user) {
    Static *s = user;
    call_first();
    s->destroy(s->object);
    mem_free(s);
}

static int register_static(void (*destroy)(void *), void *object, void *file) {
    Static *s = mem_new(sizeof(*s));
    *s = (Static){destroy, object};
    return __cxa_atexit(destroy_static, s, file);
}

/* ------------------------------------------------------------------------------------------------------- the slot */

/* Files that are bound as a whole when they are loaded have their slots where nothing is written afterwards. */
static bool is_sealed(const ProcessFile *f, u64 slot) {
    bool bound = process_number(f, DT_FLAGS) & DF_BIND_NOW || process_number(f, DT_FLAGS_1) & DF_1_NOW;
    for (u32 i = 0; bound && i < f->segment_count; i++) {
        const ElfW(Phdr) *p = &f->segments[i];
        if (p->p_type == PT_GNU_RELRO && slot - f->base - p->p_vaddr < p->p_memsz)
            return true;
    }
    return false;
}

static void replace(const ProcessFile *f, u64 slot) {
    u64 page = (u64)sysconf(_SC_PAGESIZE);
    void *start = (void *)(slot & ~(page - 1));
    bool sealed = is_sealed(f, slot);
    if (sealed && mprotect(start, page, PROT_READ | PROT_WRITE))
        return;
    __atomic_store_n((void **)slot, (void *)register_static, __ATOMIC_RELEASE);
    if (sealed)
        mprotect(start, page, PROT_READ);
}

static void find_slot(const ProcessFile *f, void *unused) {
    static const char name[] = "__cxa_atexit";
    const ElfW(Rela) *rela = process_relocation(f, DT_JMPREL, DT_PLTRELSZ, 0, name);
    (void)unused;
    if (!rela)
        rela = process_relocation(f, DT_RELA, DT_RELASZ, 0, name);
    if (rela)
        replace(f, f->base + rela->r_offset);
}

void statics_destroyed_after(void (*first)(void)) {
    call_first = first;
    process_look_at((u64)LLVMContextCreate, find_slot, NULL);
}
