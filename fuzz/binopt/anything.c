/* anything.c: see anything.h.
 *
 * What is specialised is: bytes, instructions and damaged copies of real code that end where a page is missing; pages that
 * cannot be read, or executed, or have no file behind them; addresses of anything else, also in the middle of real functions. */
#include "anything.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "configure.h"

enum { PAGE = 4096, PAGES = 3 };

/* The linker's names for the program's text. */
extern const u8 __executable_start[], etext[];

/* ------------------------------------------------------------------------------------------------------------------- code */

static void fill_with_instructions(Rng *r, const Forms *f, u8 *at, size_t size) {
    while (size >= ENCODING_BYTES) {
        Encoding e = f->found.at[rng_below(r, (u32)f->found.len)].e;
        Insn in = {.pc = 0x401000};
        u8 bytes[ENCODING_BYTES];
        rng_fill(r, e.imm, sizeof(e.imm));
        e.rxb = (u8)(rng_next(r) & 7);
        e.sib = (u8)rng_next(r);
        e.disp = (i32)rng_next(r) >> rng_below(r, 32);
        if (rng_next(r) & 1) /* jumps that stay near */
            memset(e.imm + 1, rng_next(r) & 1 ? 0 : 0xff, 7);
        size_t length = encoding_put(&e, bytes);
        if (isa_find(LATHE_ARCH_X86_64)->decode(bytes, length, in.pc, &in) != LATHE_OK)
            continue;
        memcpy(at, bytes, in.size);
        at += in.size;
        size -= in.size;
    }
    memset(at, 0x90, size);
}

/* A function of this program, the C library or the one for mathematics, or what is in the middle of it. */
static const u8 *draw_real_code(Rng *r) {
    static const void *const functions[] = {malloc, qsort, snprintf, pow, sin, fopen, strtod};
    if (rng_next(r) & 1)
        return __executable_start + rng_below(r, (u32)(etext - __executable_start - PAGE));
    return (const u8 *)functions[rng_below(r, ARRAY_LEN(functions))] + (rng_next(r) & 1 ? 0 : rng_below(r, 1000));
}

static void fill(Rng *r, const Forms *f, u8 *at, size_t size) {
    u32 what = rng_below(r, 4);
    if (what == 0) {
        rng_fill(r, at, size);
    } else if (what == 1) {
        fill_with_instructions(r, f, at, size);
    } else {
        memcpy(at, draw_real_code(r), size);
        for (u32 i = what == 2 ? 0 : rng_below(r, 6); i > 0; i--)
            at[rng_below(r, (u32)size)] = (u8)rng_next(r);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ memory */

/* Pages of a file, which has only one of them: to touch another one is a bus error. */
static u8 *map_short_file(void) {
    int fd = memfd_create("short", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, PAGE))
        exit(2);
    u8 *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return at;
}

static void specialize(Rng *r, u64 function) {
    BinoptHandle handle = binopt_init();
    BinoptCfgRef cfg = binopt_cfg_new(handle, (BinoptFunc)function);
    configure_randomly(r, cfg);
    BinoptFunc made = binopt_spec_create(cfg), again = rng_next(r) & 1 ? binopt_spec_create(cfg) : NULL;
    if (rng_once_in(r, 4)) { /* what was made, once more */
        BinoptCfgRef next = binopt_cfg_new(handle, made);
        configure_randomly(r, next);
        binopt_spec_delete(handle, binopt_spec_create(next));
    }
    if (rng_next(r) & 1)
        binopt_spec_delete(handle, made);
    if (rng_next(r) & 1)
        binopt_spec_delete(handle, again);
    binopt_fini(handle);
}

/* Code in memory of its own, with a missing page behind it. */
static void run_in_pages(Rng *r, const Forms *forms) {
    static const int permissions[] = {PROT_NONE, PROT_READ, PROT_EXEC, PROT_READ | PROT_WRITE,
                                      PROT_READ | PROT_WRITE | PROT_EXEC};
    bool is_file = rng_once_in(r, 8);
    u8 *at = is_file ? map_short_file()
                     : mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    u32 size = 16 + rng_below(r, rng_next(r) & 1 ? 48 : 1000);
    u8 *code = at + PAGE - size;
    fill(r, forms, code, size);
    if (is_file)
        mprotect(at, PAGES * PAGE, PROT_READ | PROT_EXEC);
    else
        mprotect(at, PAGE,
                 rng_once_in(r, 8) ? permissions[rng_below(r, ARRAY_LEN(permissions))] : PROT_READ | PROT_EXEC);
    size_t mapped = !is_file && rng_next(r) & 1 ? PAGE : PAGES * PAGE; /* what is not any more may become another's */
    munmap(at + mapped, PAGES * PAGE - mapped);
    specialize(r, (u64)code);
    munmap(at, mapped);
}

void anything_run(Rng *r, const Forms *forms) {
    u32 what = rng_below(r, 6);
    if (what == 0)
        specialize(r, configure_address(r, (u64)__executable_start, (u64)(etext - __executable_start)));
    else if (what == 1)
        specialize(r, (u64)draw_real_code(r));
    else
        run_in_pages(r, forms);
}
