/* sorting_cpp.cpp: algorithms of the C++ library with a comparison that is known. */
#include <algorithm>
#include <vector>

#include "gallery.h"

namespace {
using Less = bool (*)(int, int);
enum { COUNT = 256 };

bool smaller(int a, int b) {
    return a < b;
}

std::vector<int> numbers() {
    static const std::vector<int> made = [] {
        std::vector<int> v;
        uint64_t seed = 11;
        for (int i = 0; i < COUNT; i++)
            v.push_back((int)(next_number(&seed) % 1000));
        return v;
    }();
    return made;
}

uint64_t digest_of(const std::vector<int> &v) {
    uint64_t d = 0;
    for (int x : v)
        d = mix(d, (uint64_t)x);
    return d;
}

KERNEL void sort(int *first, int *last, Less less) {
    std::sort(first, last, less);
}
KERNEL void stable(int *first, int *last, Less less) {
    std::stable_sort(first, last, less);
}
KERNEL void heaps(int *first, int *last, Less less) {
    std::make_heap(first, last, less);
    std::sort_heap(first, last, less);
}
KERNEL void nth(int *first, int *last, Less less) {
    std::nth_element(first, first + (last - first) / 2, last, less);
}
KERNEL void partial(int *first, int *last, Less less) {
    std::partial_sort(first, first + 32, last, less);
}
void fix_range(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 2, (size_t)smaller);
}
uint64_t run_range(void *k) {
    std::vector<int> v = numbers();
    ((void (*)(int *, int *, Less))k)(v.data(), v.data() + v.size(), smaller);
    return digest_of(v);
}

KERNEL int *bound(int *first, int *last, int wanted, Less less) {
    return std::lower_bound(first, last, wanted, less);
}
void fix_bound(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 3, (size_t)smaller);
}
uint64_t run_bound(void *k) {
    std::vector<int> v = numbers();
    std::sort(v.begin(), v.end());
    uint64_t d = 0;
    for (int i = 0; i < 200; i++)
        d = mix(d, (uint64_t)(((int *(*)(int *, int *, int, Less))k)(v.data(), v.data() + v.size(), i * 37 % 1000,
                                                                     smaller) -
                              v.data()));
    return d;
}
} // namespace

const Kernel sorting_cpp[] = {
    {"std::sort", (void *)sort, fix_range, run_range},
    {"std::stable_sort", (void *)stable, fix_range, run_range},
    {"std::sort_heap", (void *)heaps, fix_range, run_range},
    {"std::nth_element", (void *)nth, fix_range, run_range},
    {"std::partial_sort", (void *)partial, fix_range, run_range},
    {"std::lower_bound", (void *)bound, fix_bound, run_bound},
    {},
};
