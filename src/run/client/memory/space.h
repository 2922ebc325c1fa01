/* space.h: the guest's address space: its system calls about memory, and what other parts of the client tell space.c and ask it. */
#ifndef RUN_CLIENT_SPACE_H
#define RUN_CLIENT_SPACE_H

#include "run/client/memory/limits.h"
#include "run/client/memory/low.h"

/* Sizes of the two parts of the reserved block: modules from the.memory.window on, then the code arena from the.code_base
 * on. All of it is PROT_NONE at first; code.c maps its views over the arena with MAP_FIXED. */
enum { WINDOW_BYTES = 1 << 30, ARENA_BYTES = 512 << 20 };

/* The guest wants these addresses, whatever is there: it gets those of the map, and there is no map any more. */
void space_make_room(u64 start, u64 size);

/* [start, start + size) is the client's for good: guest mappings over it are refused. own.c does this for its areas. */
void space_own(u64 start, u64 size);
bool space_is_own(u64 start, u64 size); /* any of it */
bool space_is_free(
    u64 start,
    u64 size); /* addresses of the window that the guest has nothing at; the kernel has a reservation there */
/* Is there something in [start, end) that the guest does not have, but the kernel: the client's memory, or a reservation? */
bool space_has_hole(u64 start, u64 end);

/* Address for an image of `size` bytes, reserved PROT_NONE; want != 0: there and nowhere else. Negative errno. */
i64 space_reserve(u64 want, u64 size, u64 align);
/* An image's place is known before its parts are mapped by space_mmap. */
void space_add_module(u64 base, u64 end, int fd, bool position_independent);
/* Code of no file that cannot change, but reads what does, position-independent: a module with the cache's key for
 * it. */
void space_add_code(u64 base, u64 end, Key pack, const char *name);
/* The program break: behind the image of a program with fixed addresses if there is room, else (image_end 0)
 * anywhere. */
bool space_start_brk(u64 image_end);

enum { PROT_UNMAPPED = -1 };
/* In the table of the guest's memory, beside PROT_*: changes of this memory are seen by others. */
enum { SPACE_SHARED = 1 << 30 };
/* What the guest may do at an address: PROT_* as it asked for, or PROT_UNMAPPED. */
int space_prot(u64 addr);
/* A page that the guest may write to: may the host, too? false: it is no such page, or the kernel refuses. */
bool space_let_write(u64 page, bool host_too);
/* The first range of the guest's that ends behind addr; false: there is none. */
bool space_next(u64 addr, u64 *start, u64 *end, u32 *prot);
LimitsUse space_use(void);
/* Something was mapped (with SPACE_SHARED, if it is) or unmapped (PROT_UNMAPPED) for the guest by other means, such as shmat. */
void space_note(u64 start, u64 size, int prot);

/* Around fork, so that the child's tables are whole; space_unlock in both processes. */
void space_lock(void);
void space_unlock(void);

/* ------------------------------------------------------------------------------------------------------ the guest's calls */

/* wish: where the block of modules and code should lie, if it can. */
bool space_init(u64 wish, bool low);
/* mmap, munmap, mprotect, mremap, brk of the guest: results or negative errno. They keep track of modules and tell code.c. */
i64 space_mmap(u64 addr, u64 size, u32 prot, u32 flags, int fd, u64 off);
i64 space_munmap(u64 addr, u64 size);
i64 space_mprotect(u64 addr, u64 size, u32 prot);
i64 space_mremap(u64 addr, u64 size, u64 new_size, u32 flags, u64 new_addr);
u64 space_brk(u64 want);
Module *space_module(u64 addr); /* the module that holds an address, or NULL */
/* Copy guest memory out without faulting; returns how many bytes. writable: may the guest write some of it? */
size_t space_read(u64 addr, void *buf, size_t size, bool *writable);
static inline size_t guest_read(u64 addr, void *buf, size_t size) {
    bool writable;
    return space_read(addr, buf, size, &writable);
}

/* shm.c: System V shared memory: shmat and shmdt of the guest. */
i64 shm_attach(int id, u64 addr, u32 flags);
i64 shm_detach(u64 addr);

/* vdso.c: give the guest the kernel's vdso (the.memory.vdso) if that is possible; else nobody has it. */
void vdso_adopt(void);

#endif
