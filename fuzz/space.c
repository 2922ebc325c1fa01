/* space.c: random mappings through the client's space.c, and the kernel as the oracle. Freestanding like the client.
 *
 *     fuzz-space [COUNT [SEED]]
 *
 * After each call, every page of the addresses in play must be in /proc/self/maps with what the host should allow,
 * given what the table says of the guest: the same, but readable in place of executable. Between the calls the client takes and frees
 * memory of its own, which must be at none of these addresses. Then some rules that random calls seldom reach.
 */
#include "run/client/memory/space.h"
#include "ground.h"
#include "run/client/memory/own.h"

enum { PAGES = 48, MAPS_SIZE = 1 << 20, ROUNDS = 2000 };

/* ----------------------------------------------------------------------------------------------------------- oracle */

static u64 parse_hex(const char **p) {
    u64 n = 0;
    for (;; (*p)++) {
        char c = **p;
        if (c >= '0' && c <= '9')
            n = n * 16 + (u64)(c - '0');
        else if (c >= 'a' && c <= 'f')
            n = n * 16 + (u64)(c - 'a' + 10);
        else
            return n;
    }
}

/* What the kernel allows in each page from start on; PROT_UNMAPPED where it has nothing. */
static void kernel_view(u64 start, int *prot, char *text) {
    int fd = (int)sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    size_t size = 0;
    for (i64 n; (n = sys_read(fd, text + size, MAPS_SIZE - 1 - size)) > 0;)
        size += (size_t)n;
    sys_close(fd);
    text[size] = 0;
    for (u32 i = 0; i < PAGES; i++)
        prot[i] = PROT_UNMAPPED;
    for (const char *p = text; *p;) {
        u64 from = parse_hex(&p);
        p++;
        u64 to = parse_hex(&p);
        int allowed = (p[1] == 'r' ? PROT_READ : 0) | (p[2] == 'w' ? PROT_WRITE : 0) | (p[3] == 'x' ? PROT_EXEC : 0);
        for (u32 i = 0; i < PAGES; i++) {
            if (start + i * PAGE >= from && start + i * PAGE < to)
                prot[i] = allowed;
        }
        while (*p && *p++ != '\n')
            ;
    }
}

static int expected(u64 addr, bool reserved) {
    int prot = space_prot(addr);
    if (prot == PROT_UNMAPPED)
        return reserved ? PROT_NONE : PROT_UNMAPPED;
    return prot & PROT_EXEC ? (prot & ~PROT_EXEC) | PROT_READ : prot;
}

static bool agrees(u64 start, bool reserved, char *text) {
    int prot[PAGES];
    kernel_view(start, prot, text);
    for (u32 i = 0; i < PAGES; i++) {
        u64 addr = start + i * PAGE;
        if (prot[i] != expected(addr, reserved)) {
            say("page %u: the host allows %d, not %d", i, prot[i], expected(addr, reserved));
            return false;
        }
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------- random calls */

/* Memory of the client's own, as it comes and goes between the guest's calls. */
typedef struct Pages {
    u8 *at;
    u64 size;
} Pages;

static void random_pages(u64 start, u64 *state) {
    static Pages all[32];
    Pages *p = &all[next(state) % ARRAY_LEN(all)];
    if (p->at) {
        CHECK(p->at[0] == 1 && p->at[p->size - 1] == 1, "nobody else has this memory");
        sys_pages_free(p->at, p->size);
        p->at = NULL;
        return;
    }
    p->size = (1 + next(state) % 16) * PAGE;
    p->at = sys_pages(p->size);
    CHECK(p->at && ((u64)p->at >= start + PAGES * PAGE || (u64)p->at + p->size <= start),
          "it is where the guest had nothing");
    CHECK(space_is_own((u64)p->at, p->size) && !p->at[0] && !p->at[p->size - 1], "it is new");
    p->at[0] = p->at[p->size - 1] = 1;
}

static void random_call(u64 start, u64 *state) {
    u64 first = next(state) % PAGES, count = 1 + next(state) % (PAGES - first), addr = start + first * PAGE,
        size = count * PAGE;
    u32 prot = next(state) % 8;
    u32 anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    switch (next(state) % 5) {
    case 0:
        space_mmap(addr, size, prot, anonymous, -1, 0);
        break;
    case 1:
        space_munmap(addr, size);
        break;
    case 2:
        space_mprotect(addr, size, prot);
        break;
    case 3:
        if (first + count < PAGES / 2) {
            u64 new_size = (1 + next(state) % (PAGES / 2)) * PAGE;
            space_mremap(addr, size, new_size, MREMAP_MAYMOVE | MREMAP_FIXED, start + PAGES / 2 * PAGE);
        }
        break;
    case 4:
        space_mremap(addr, size, (1 + next(state) % count) * PAGE, 0, 0);
        break;
    }
}

static bool random_calls(u64 start, bool reserved, u64 count, u64 seed) {
    u64 state = seed * 2654435761u + 1;
    char *text = sys_pages(MAPS_SIZE);
    for (u64 i = 0; i < count; i++) {
        random_call(start, &state);
        random_pages(start, &state);
        if (!agrees(start, reserved, text)) {
            say("call %lu of seed %lu", i, seed);
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------ rules */

#define RULE(cond) ((cond) ? (void)0 : die("line %d: not so: %s", __LINE__, #cond))

static void own_memory_stays(void) {
    u32 flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    u8 *own = sys_pages(3 * PAGE);
    own[PAGE] = 7;
    RULE(space_mmap((u64)own, PAGE, PROT_READ, flags, -1, 0) == -ENOMEM);
    RULE(space_mmap((u64)own - PAGE, 9 * PAGE, PROT_READ, flags, -1, 0) == -ENOMEM);
    RULE(space_mprotect((u64)own + PAGE, PAGE, PROT_NONE) == -ENOMEM);
    RULE(space_munmap((u64)own, 3 * PAGE) == 0 && own[PAGE] == 7);
    RULE(space_mmap(the.code_base, PAGE, PROT_READ, flags, -1, 0) == -ENOMEM);
    RULE(space_mmap((u64)&the, PAGE, PROT_READ, flags, -1, 0) == -ENOMEM);
    RULE(space_mmap((u64)own, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == -EEXIST);
}

/* Addresses that the client had stay reserved; where it has too few, there is one more area. */
static void own_addresses_stay(void) {
    enum { SIZE = 64 * PAGE };
    u64 hole = (u64)space_mmap(0, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    RULE(space_munmap(hole, SIZE) == 0);
    u64 pages = (u64)sys_pages(SIZE);
    RULE(pages >= hole + SIZE || pages + SIZE <= hole);
    sys_pages_free((void *)pages, SIZE);
    RULE(space_is_own(pages, SIZE) && space_has_hole(pages, pages + SIZE));
    RULE(sys_mmap(pages, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == -EEXIST);
    RULE((u64)sys_pages(SIZE) == pages);
    i64 large = own_map((u64)200 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    RULE(large > 0 && space_is_own((u64)large, PAGE) && space_is_own((u64)large + ((u64)200 << 30) - PAGE, PAGE));
    own_unmap((u64)large, (u64)200 << 30);
    RULE(own_map((u64)150 << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == large);
}

static void limits_hold(void) {
    u32 private = MAP_PRIVATE | MAP_ANONYMOUS, shared = MAP_SHARED | MAP_ANONYMOUS;
    LimitsUse before = space_use();
    u64 at = (u64)space_mmap(0, 12 * PAGE, PROT_READ | PROT_WRITE, private, -1, 0);
    RULE(space_munmap(at + 8 * PAGE, 4 * PAGE) == 0); /* nothing is behind it */
    u64 other = (u64)space_mmap(0, 8 * PAGE, PROT_READ | PROT_WRITE, shared, -1, 0);
    LimitsUse use = space_use();
    RULE(use.space == before.space + 16 * PAGE && use.data == before.data + 8 * PAGE);
    the.memory.limits.of[LIMIT_SPACE].soft = use.space + 4 * PAGE + 1;
    RULE(space_mmap(0, 5 * PAGE, PROT_NONE, private, -1, 0) == -ENOMEM);
    RULE(space_mmap(at, 12 * PAGE, PROT_READ, private | MAP_FIXED, -1, 0) == (i64)at &&
         space_use().space == use.space + 4 * PAGE);
    RULE(space_mremap(at, 12 * PAGE, 13 * PAGE, MREMAP_MAYMOVE, 0) == -ENOMEM &&
         space_munmap(at + 8 * PAGE, 4 * PAGE) == 0);
    the.memory.limits.of[LIMIT_SPACE].soft = ~(u64)0;
    the.memory.limits.of[LIMIT_DATA].soft = before.data + 8 * PAGE;
    RULE(space_mprotect(at, 8 * PAGE, PROT_READ | PROT_WRITE) == 0 &&
         space_mmap(0, PAGE, PROT_WRITE, private, -1, 0) == -ENOMEM);
    RULE(space_mprotect(other, 8 * PAGE, PROT_READ) == 0 &&
         space_mprotect(other, 8 * PAGE, PROT_READ | PROT_WRITE) == 0);
    u64 third = (u64)space_mmap(0, PAGE, PROT_READ, private, -1, 0);
    RULE(space_prot(third) == PROT_READ && space_mprotect(third, PAGE, PROT_WRITE) == -ENOMEM);
    the.memory.limits.of[LIMIT_DATA].soft = ~(u64)0;
    RULE(space_mprotect(third, PAGE, PROT_WRITE) == 0);
    RULE(space_munmap(third, PAGE) == 0 && space_munmap(at, 8 * PAGE) == 0 && space_munmap(other, 8 * PAGE) == 0);
    RULE(space_use().space == before.space && space_use().data == before.data);
}

static void modules_come_and_go(void) {
    int fd = (int)sys_open("/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
    i64 at = space_mmap(0, 8 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    RULE((u64)at >= the.memory.window && (u64)at < the.code_base);
    Module *m = space_module((u64)at + 5 * PAGE);
    RULE(m && m->base == (u64)at && m->end == (u64)at + 8 * PAGE && !m->pack.word[0]);
    RULE(space_mmap((u64)at + PAGE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, PAGE) == at + PAGE);
    RULE(space_module((u64)at + PAGE) == m && m->pack.word[0] && m->position_independent && m->name[0]);
    RULE(space_mmap((u64)at + 6 * PAGE, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) > 0);
    RULE(space_module((u64)at + 7 * PAGE) == m);
    i64 second = space_mmap(0, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    RULE((u64)second >= (u64)at + 9 * PAGE && space_module((u64)second) != m);
    forgotten = 0;
    RULE(space_munmap((u64)at, 8 * PAGE) == 0 && forgotten == 8 * PAGE && !space_module((u64)at));
    RULE(space_module((u64)second));
    RULE(space_mmap(0, 4 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0) == at);
    RULE(space_mmap(0, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) > 0);
    sys_close(fd);
}

static void code_is_forgotten(void) {
    u64 at = (u64)space_mmap(0, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    forgotten = 0;
    RULE(space_mprotect(at, PAGE, PROT_READ) == 0 && !forgotten);
    RULE(space_mprotect(at + PAGE, PAGE, PROT_READ | PROT_EXEC) == 0 && forgotten == PAGE);
    RULE(space_mprotect(at + PAGE, PAGE, PROT_READ | PROT_EXEC) == 0 && forgotten == PAGE);
    RULE(space_mprotect(at + PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) == 0 && forgotten == 2 * PAGE);
    RULE(space_mmap(at, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) > 0 &&
         forgotten == 6 * PAGE);
}

static void heap_moves(void) {
    RULE(space_start_brk(0));
    u64 start = space_brk(0);
    RULE(space_brk(start + 3 * PAGE + 5) == start + 3 * PAGE + 5 &&
         space_prot(start + 3 * PAGE) == (PROT_READ | PROT_WRITE));
    ((u8 *)start)[3 * PAGE] = 1;
    RULE(space_brk(start + 1) == start + 1 && space_prot(start + PAGE) == PROT_UNMAPPED);
    RULE(space_brk(start + 4 * PAGE) == start + 4 * PAGE && !((u8 *)start)[3 * PAGE]);
    RULE(space_brk(start - 1) == start + 4 * PAGE && space_brk(~(u64)0) == start + 4 * PAGE);
}

static void reads_stop_at_holes(void) {
    u64 at = (u64)space_mmap(0, 40 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    u8 *buf = sys_pages(64 * PAGE);
    bool writable;
    RULE(space_munmap(at + 30 * PAGE, PAGE) == 0);
    RULE(space_read(at + 5, buf, 40 * PAGE, &writable) == 30 * PAGE - 5 && !writable);
    RULE(space_read(at + 30 * PAGE, buf, 1, &writable) == 0 && !writable);
    RULE(space_mprotect(at + PAGE, PAGE, PROT_WRITE | PROT_READ) == 0);
    RULE(space_read(at, buf, 2 * PAGE, &writable) == 2 * PAGE && writable);
    RULE(space_read(at, buf, PAGE, &writable) == PAGE && !writable);
    RULE(space_read(~(u64)0 - 10, buf, 20, &writable) == 0);
}

int client_main(int argc, char **argv, char **envp, u64 *auxv) {
    (void)envp;
    the.auxv = auxv;
    RULE(space_init(0, false));
    own_memory_stays();
    own_addresses_stay();
    limits_hold();
    modules_come_and_go();
    code_is_forgotten();
    heap_moves();
    reads_stop_at_holes();
    u64 count = argc > 1 ? number(argv[1]) : ROUNDS, seed = argc > 2 ? number(argv[2]) : 1;
    u64 outside = (u64)space_mmap(0, PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return random_calls(outside, false, count, seed) &&
                   random_calls(the.memory.window + WINDOW_BYTES / 2, true, count, seed)
               ? 0
               : 1;
}
