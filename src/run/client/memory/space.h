/* space.h: the guest's address space: its system calls about memory (mapping.c, brk.c, shm.c), its start (block.c), and what the rest of the client
 * tells or asks the table of the guest's memory (space.c, modules.c). */
#ifndef RUN_CLIENT_SPACE_H
#define RUN_CLIENT_SPACE_H

#include "run/client/memory/limits.h"
#include "run/client/memory/low.h"

/* Sizes of the two parts of the reserved block: modules begin at the.memory.window, the code arena behind them at
 * the.code_base. All of it is PROT_NONE at first; arena.c maps its views over the arena with MAP_FIXED. */
enum { WINDOW_BYTES = 1 << 30, ARENA_BYTES = 512 << 20 };

/* Called before the guest gets something at these addresses: if the map from guest to host addresses lies there, the map is given up. */
void space_make_room(u64 start, u64 size);

/* [start, start + size) belongs to the client forever: guest mappings over it are refused. own.c calls this for its
 * areas. */
void space_own(u64 start, u64 size);
bool space_is_own(u64 start, u64 size); /* true if any part of it does */
/* True if the guest has nothing at these addresses of the window; the kernel has a reservation there. */
bool space_is_free(u64 start, u64 size);
/* True if a part of [start, end) is mapped on the host but not by the guest: the client's memory, or a reservation. */
bool space_has_hole(u64 start, u64 end);

/* Reserves addresses (PROT_NONE) for an image of `size` bytes: at `want`, or anywhere if want is 0. Returns the address
 * or a negative errno. */
i64 space_reserve(u64 want, u64 size, u64 align);
/* Tells the place of an image before its parts are mapped by space_mmap. */
void space_add_module(u64 base, u64 end, int fd, bool position_independent);
/* Adds a module for code that is in no file, does not change and is position-independent, but reads data that changes
 * (the vdso). pack: the cache's key for it. */
void space_add_code(u64 base, u64 end, Key pack, const char *name);
/* Places the program break: behind the image of a program with fixed addresses if there is room, otherwise (image_end
 * 0) anywhere. */
bool space_start_brk(u64 image_end);

enum { PROT_UNMAPPED = -1 };
/* A flag in the table of the guest's memory, beside PROT_*: changes of this memory are visible to others. */
enum { SPACE_SHARED = 1 << 30 };
/* What the guest may do at an address: PROT_* as it asked for, or PROT_UNMAPPED. */
int space_prot(u64 addr);
/* Makes a page that the guest may write to writable for the host, or read-only (host_too). Returns false if it is no
 * such page, or the kernel refuses. */
bool space_let_write(u64 page, bool host_too);
/* Finds the first range of the guest that ends behind addr. Returns false if there is none. */
bool space_next(u64 addr, u64 *start, u64 *end, u32 *prot);
LimitsUse space_use(void);
/* Records that memory of the guest was mapped (prot with SPACE_SHARED if it is shared) or unmapped (PROT_UNMAPPED) by
 * other means, such as shmat. */
void space_note(u64 start, u64 size, int prot);

/* Held around fork, so that the child's tables are complete. Both processes call space_unlock. */
void space_lock(void);
void space_unlock(void);

/* ------------------------------------------------------------------------------------------------------ the guest's calls */

/* wish: the preferred address of the block of modules and code. */
bool space_init(u64 wish, bool low);
/* mmap, munmap, mprotect, mremap and brk of the guest: their results, or a negative errno. They keep track of modules,
 * and tell the folder `code` of changes (watch.h). */
i64 space_mmap(u64 addr, u64 size, u32 prot, u32 flags, int fd, u64 off);
i64 space_munmap(u64 addr, u64 size);
i64 space_mprotect(u64 addr, u64 size, u32 prot);
i64 space_mremap(u64 addr, u64 size, u64 new_size, u32 flags, u64 new_addr);
u64 space_brk(u64 want);
Module *space_module(u64 addr); /* the module that holds an address, or NULL */
/* Copies guest memory without faulting and returns the number of bytes. writable: the guest may write to some of it. */
size_t space_read(u64 addr, void *buf, size_t size, bool *writable);
static inline size_t guest_read(u64 addr, void *buf, size_t size) {
    bool writable;
    return space_read(addr, buf, size, &writable);
}

/* shm.c: System V shared memory: shmat and shmdt of the guest. */
i64 shm_attach(int id, u64 addr, u32 flags);
i64 shm_detach(u64 addr);

/* vdso.c: gives the guest the kernel's vdso (the.memory.vdso) if possible; otherwise removes the vdso. */
void vdso_adopt(void);

#endif
