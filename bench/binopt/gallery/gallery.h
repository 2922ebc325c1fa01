/* gallery.h: functions as strangers write them, each with a specialisation that its user would make.
 *
 * Kernels are in files by kind, which are compiled several times, by each compiler at each level, into a program of its own: C++ has
 * functions that the linker would otherwise take from one of them. */
#ifndef BENCH_BINOPT_GALLERY_H
#define BENCH_BINOPT_GALLERY_H

#include <binopt.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void Configure(BinoptCfgRef cfg);
/* Calls the kernel, or what was made of it, for some microseconds; returns a digest of the results. */
typedef uint64_t Run(void *kernel);

typedef struct Kernel {
    const char *name;
    void *function;
    Configure *configure;
    Run *run;
} Kernel;

/* Each ends with a row without a name. */
extern const Kernel sorting[], sorting_cpp[], recursion[], interpreters[], matching[], hashing[], wide[], matrices[],
    strings[], tables[], bits[], objects_cpp[], callbacks[], numeric[], graphs[];

/* The same numbers in each run. */
static inline uint64_t next_number(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static inline uint64_t mix(uint64_t digest, uint64_t v) {
    return (digest ^ v) * 0x9e3779b97f4a7c15u + (digest >> 29);
}

static inline uint64_t mix_double(uint64_t digest, double v) {
    union {
        double d;
        uint64_t bits;
    } u = {v};
    return mix(digest, u.bits);
}

#define KERNEL __attribute__((noinline)) static

#ifdef __cplusplus
}
#endif
#endif
