/* shadow.h: which bytes of the program's memory may be accessed.
 *
 * A byte of the shadow stands for 8 bytes of the program, a granule: 0 if all of them may be accessed, 1 to 7 if only so many of the first ones, a tag if
 * none. Everything may be accessed at first, but for the first pages; only the memory that the allocator has, and gives out, is ever different. */
#ifndef MEMCHECK_SHADOW_H
#define MEMCHECK_SHADOW_H

#include <lathe/tool.h>
#include <string.h>

enum { ADDRESS_BITS = 47, GRANULE_BITS = 3, PAGE_BITS = 12, PAGE = 1 << PAGE_BITS, NULL_PAGES = 16 };
#define NOWHERE (~0ul) /* no address */
enum { TAG_FIRST = 0x80, TAG_NULL = TAG_FIRST, TAG_HEAP, TAG_FREED };

static uint8_t *shadow;
static uint8_t *heap_pages; /* for each page: 1 if the allocator got it from the system */

/* Addresses of more bits are no program's. */
static uint8_t *shadow_of(uint64_t address) {
    return &shadow[address << (64 - ADDRESS_BITS) >> (64 - ADDRESS_BITS + GRANULE_BITS)];
}

static uint8_t *heap_page_of(uint64_t address) {
    return &heap_pages[address << (64 - ADDRESS_BITS) >> (64 - ADDRESS_BITS + PAGE_BITS)];
}

/* Of these, only pages that are used take memory. */
static void shadow_start(void) {
    shadow = (uint8_t *)lathe_alloc((1ul << (ADDRESS_BITS - GRANULE_BITS)) + sizeof(uint64_t));
    heap_pages = (uint8_t *)lathe_alloc(1ul << (ADDRESS_BITS - PAGE_BITS));
    memset(shadow, TAG_NULL, (NULL_PAGES * PAGE) >> GRANULE_BITS);
}

/* Both are multiples of a granule. */
static void shadow_forbid(uint64_t from, uint64_t to, uint8_t tag) {
    memset(shadow_of(from), tag, (to - from) >> GRANULE_BITS);
}

/* Does not write where nothing changes: memory of the shadow that was never written takes none. */
static void clear(uint8_t *at, uint64_t count) {
    for (; count && (uint64_t)at % 8; at++, count--)
        *at = 0;
    for (; count >= 8; at += 8, count -= 8)
        if (*(uint64_t *)at)
            *(uint64_t *)at = 0;
    for (; count; at++, count--)
        *at = 0;
}

/* The first one is the beginning of a granule. */
static void shadow_allow(uint64_t from, uint64_t bytes) {
    clear(shadow_of(from), bytes >> GRANULE_BITS);
    if (bytes % 8)
        *shadow_of(from + bytes) = bytes % 8;
}

enum { WORD_BYTES = sizeof(uint64_t) << GRANULE_BITS }; /* of the program, for which a word of the shadow stands */

/* The first byte of [from, to) that may not be accessed; `to` if all of them may. */
static uint64_t shadow_first_bad(uint64_t from, uint64_t to) {
    for (uint64_t at = from, next; at < to; at = next) {
        next = (at & -8ul) + WORD_BYTES;
        if (next <= to && !*(const uint64_t *)shadow_of(at))
            continue;
        uint8_t good = *shadow_of(at);
        next = (at | 7) + 1;
        if (!good)
            continue;
        if (good >= TAG_FIRST || at % 8 >= good)
            return at;
        if ((at & -8ul) + good < to)
            return (at & -8ul) + good;
    }
    return to;
}

/* The same as shadow_of, with one register: the compiler is not told what is in it meanwhile. */
static inline const uint8_t *shadow_near(uint64_t address) {
    address <<= 64 - ADDRESS_BITS;
    __asm__("" : "+r"(address));
    address = (address >> (64 - ADDRESS_BITS + GRANULE_BITS)) + (uint64_t)shadow;
    __asm__("" : "+r"(address));
    return (const uint8_t *)address;
}

/* What so many granules say, or some more. */
static inline bool granules_suspect(const uint8_t *at, uint64_t count) {
    return count == 1   ? *at
           : count == 2 ? *(const uint16_t *)at
           : count <= 4 ? *(const uint32_t *)at
                        : *(const uint64_t *)at;
}

/* For what is accessed most often, without a loop: is it worth to look closer? It may be right all the same. What is not aligned is in one granule more than its size says. Of what is larger than 32
 * bytes the first 64 and the last byte are looked at: for vectors that is everything, and of larger areas (fxsave) the middle is left out. */
static inline bool shadow_suspects(uint64_t address, uint64_t bytes) {
    uint64_t granules = (bytes + 7) >> GRANULE_BITS, aligned = bytes < 8 ? bytes : 8;
    const uint8_t *at = shadow_near(address);
    if (granules > 4 || bytes & (bytes - 1))
        return granules_suspect(at, 8) || *shadow_near(address + bytes - 1);
    if (__builtin_expect(address & (aligned - 1), 0))
        return granules_suspect(at, granules + 1);
    return granules_suspect(at, granules);
}

/* ------------------------------------------------------------------------------------------------------ the heap's pages */

/* The allocator has got memory from the system: nobody else may access it until it is given out. */
static void heap_add(uint64_t from, uint64_t to) {
    memset(heap_page_of(from), 1, (to - from + PAGE - 1) >> PAGE_BITS);
    shadow_forbid(from, to, TAG_HEAP);
}

/* Memory at these addresses is new, and not the allocator's. */
static void heap_remove(uint64_t from, uint64_t to) {
    for (uint64_t page = from & -(uint64_t)PAGE; page < to; page += PAGE) {
        uint8_t *is_heap = heap_page_of(page);
        if (*is_heap) {
            *is_heap = 0;
            shadow_allow(page, PAGE);
        }
    }
}

#endif
