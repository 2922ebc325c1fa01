/* sorting.c: sorting and searching with a comparison that is known, or distances that are. */
#include <stdlib.h>
#include <string.h>

#include "gallery.h"

enum { COUNT = 256 };

typedef int Compare(const void *a, const void *b);
typedef struct Order {
    int descending, offset;
} Order;

static int scrambled[COUNT], work[COUNT], spare[COUNT];

static void scramble(void) {
    uint64_t seed = 7;
    for (int i = 0; i < COUNT; i++)
        scrambled[i] = (int)(next_number(&seed) % 1000);
}

static int by_value(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static uint64_t digest_of(const int *v) {
    uint64_t d = 0;
    for (int i = 0; i < COUNT; i++)
        d = mix(d, (uint64_t)v[i]);
    return d;
}

static void refill(void) {
    if (!scrambled[0] && !scrambled[1])
        scramble();
    memcpy(work, scrambled, sizeof(work));
}

KERNEL void quicksort(int *v, int low, int high, Compare *compare) {
    while (low < high) {
        int pivot = v[(low + high) / 2], i = low, j = high;
        while (i <= j) {
            while (compare(&v[i], &pivot) < 0)
                i++;
            while (compare(&v[j], &pivot) > 0)
                j--;
            if (i <= j) {
                int t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        quicksort(v, low, j, compare);
        low = i;
    }
}
static void fix_quicksort(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 3, (size_t)by_value);
}
static uint64_t run_quicksort(void *k) {
    refill();
    ((void (*)(int *, int, int, Compare *))k)(work, 0, COUNT - 1, by_value);
    return digest_of(work);
}

KERNEL void insertion(int *v, int count, Compare *compare) {
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && compare(&v[j - 1], &v[j]) > 0; j--) {
            int t = v[j];
            v[j] = v[j - 1];
            v[j - 1] = t;
        }
}
static void fix_array_compare(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 2, (size_t)by_value);
}
static uint64_t run_array_compare(void *k) {
    refill();
    ((void (*)(int *, int, Compare *))k)(work, COUNT, by_value);
    return digest_of(work);
}

static void swap_bytes(char *a, char *b, size_t size) {
    while (size--) {
        char t = *a;
        *a++ = *b;
        *b++ = t;
    }
}
KERNEL void heap_any(char *v, size_t count, size_t size, Compare *compare) {
    for (size_t start = count / 2, end = count; end > 1;) {
        if (start)
            start--;
        else
            swap_bytes(v, v + --end * size, size);
        for (size_t root = start, child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && compare(v + child * size, v + (child + 1) * size) < 0)
                child++;
            if (compare(v + root * size, v + child * size) >= 0)
                break;
            swap_bytes(v + root * size, v + child * size, size);
        }
    }
}
static void fix_heap_any(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_UINT64, BINOPT_TY_UINT64, BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 2, sizeof(int));
    binopt_cfg_set_parami(cfg, 3, (size_t)by_value);
}
static uint64_t run_heap_any(void *k) {
    refill();
    ((void (*)(void *, size_t, size_t, Compare *))k)(work, COUNT, sizeof(int), by_value);
    return digest_of(work);
}

static int gaps[] = {57, 23, 10, 4, 1};
KERNEL void shell(int *v, int count, const int *gap, int gap_count) {
    for (int g = 0; g < gap_count; g++)
        for (int i = gap[g]; i < count; i++) {
            int t = v[i], j = i;
            for (; j >= gap[g] && v[j - gap[g]] > t; j -= gap[g])
                v[j] = v[j - gap[g]];
            v[j] = t;
        }
}
static void fix_shell(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 2, gaps, sizeof(gaps), BINOPT_MEM_CONST);
    binopt_cfg_set_parami(cfg, 3, 5);
}
static uint64_t run_shell(void *k) {
    refill();
    ((void (*)(int *, int, const int *, int))k)(work, COUNT, gaps, 5);
    return digest_of(work);
}

KERNEL void by_library(int *v, int count, Compare *compare) {
    qsort(v, (size_t)count, sizeof(int), compare);
}

KERNEL void merge_sort(int *v, int *tmp, int count, Compare *compare) {
    if (count < 2)
        return;
    int half = count / 2, i = 0, j = half;
    merge_sort(v, tmp, half, compare);
    merge_sort(v + half, tmp, count - half, compare);
    for (int k = 0; k < count; k++)
        tmp[k] = j >= count || (i < half && compare(&v[i], &v[j]) <= 0) ? v[i++] : v[j++];
    memcpy(v, tmp, (size_t)count * sizeof(int));
}
static void fix_merge_sort(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 3, (size_t)by_value);
}
static uint64_t run_merge_sort(void *k) {
    refill();
    ((void (*)(int *, int *, int, Compare *))k)(work, spare, COUNT, by_value);
    return digest_of(work);
}

KERNEL int search(const int *v, int count, int wanted, Compare *compare) {
    int low = 0;
    while (low < count) {
        int middle = (low + count) / 2;
        if (compare(&v[middle], &wanted) < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}
static void fix_search(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 4, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_INT32, BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 3, (size_t)by_value);
}
static uint64_t run_search(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < COUNT; i++)
        spare[i] = 4 * i;
    for (int i = 0; i < 200; i++)
        d = mix(d, (uint64_t)((int (*)(const int *, int, int, Compare *))k)(spare, COUNT, i * 37 % 1000, by_value));
    return d;
}

KERNEL void selection(int *v, int count, const Order *order) {
    for (int i = 0; i < count; i++) {
        int best = i;
        for (int j = i + 1; j < count; j++) {
            int less = v[j] + order->offset < v[best] + order->offset;
            if (order->descending ? !less : less)
                best = j;
        }
        int t = v[i];
        v[i] = v[best];
        v[best] = t;
    }
}
static Order ascending = {0, 3};
static void fix_selection(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_INT32, BINOPT_TY_PTR);
    binopt_cfg_set_paramp(cfg, 2, &ascending, sizeof(ascending), BINOPT_MEM_CONST);
}
static uint64_t run_selection(void *k) {
    refill();
    ((void (*)(int *, int, const Order *))k)(work, COUNT, &ascending);
    return digest_of(work);
}

const Kernel sorting[] = {
    {"quicksort", quicksort, fix_quicksort, run_quicksort},
    {"insertion sort", insertion, fix_array_compare, run_array_compare},
    {"heap sort of anything", heap_any, fix_heap_any, run_heap_any},
    {"shell sort", shell, fix_shell, run_shell},
    {"qsort of libc", by_library, fix_array_compare, run_array_compare},
    {"merge sort", merge_sort, fix_merge_sort, run_merge_sort},
    {"binary search", search, fix_search, run_search},
    {"selection sort", selection, fix_selection, run_selection},
    {0},
};
