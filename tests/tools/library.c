/* library.c: uses the run-time of lathe/tool.h and says what is wrong with it: memory, maps, vectors, sorting, options, reading the program's memory. At each instruction, in all
 * threads, it counts in a map and takes and frees memory; at the end it compares the sums. */
#include <lathe/tool.h>

typedef struct Pair {
    uint64_t key, value;
} Pair;

static LatheCounter instructions;
static LatheMap seen = LATHE_MAP(uint64_t);
static LatheMap pairs = LATHE_MAP(Pair);
static LatheVector list = LATHE_VECTOR(Pair);
static LatheLock lock;
static uint64_t locked;
static unsigned wrong;

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            lathe_print("line %d: %s\n", __LINE__, #condition);                                                        \
            wrong++;                                                                                                   \
        }                                                                                                              \
    } while (0)

static bool is_zero(const unsigned char *at, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (at[i])
            return false;
    return true;
}

static void fill(unsigned char *at, size_t size, unsigned char byte) {
    for (size_t i = 0; i < size; i++)
        at[i] = byte;
}

static void check_memory(void) {
    static const size_t sizes[] = {0, 1, 15, 16, 17, 100, 4000, 65520, 65521, 1 << 20};
    for (unsigned round = 0; round < 3; round++) {
        unsigned char *at[10];
        for (unsigned i = 0; i < 10; i++) {
            at[i] = lathe_alloc(sizes[i]);
            EXPECT((uint64_t)at[i] % 16 == 0 && is_zero(at[i], sizes[i]));
            fill(at[i], sizes[i], (unsigned char)(i + 1));
        }
        for (unsigned i = 0; i < 10; i++) {
            for (size_t k = 0; k < sizes[i]; k += 7)
                EXPECT(at[i][k] == i + 1);
            at[i] = lathe_resize(at[i], 3 * sizes[i] + 5);
            EXPECT(is_zero(at[i] + sizes[i], 2 * sizes[i] + 5));
            EXPECT(!sizes[i] || (at[i][0] == i + 1 && at[i][sizes[i] - 1] == i + 1));
            lathe_free(at[i]);
        }
    }
    lathe_free(lathe_resize(0, 3));
    lathe_free(0);
}

static void check_map(void) {
    enum { MANY = 5000 };
    Pair *first = lathe_map_at(&pairs, 0);
    for (uint64_t i = 0; i < MANY; i++)
        ((Pair *)lathe_map_at(&pairs, i * 0x1000))->value += i;
    EXPECT(pairs.count == MANY && first == lathe_map_find(&pairs, 0));
    EXPECT(((Pair *)lathe_map_find(&pairs, 0x7000))->value == 7 && !lathe_map_find(&pairs, 0x7001));
    EXPECT(lathe_map_remove(&pairs, 0x7000) && !lathe_map_remove(&pairs, 0x7000) && !lathe_map_find(&pairs, 0x7000));
    uint64_t count = 0, sum = 0;
    for (LatheWalk w = {0}; lathe_map_next(&pairs, &w); count++)
        sum += ((Pair *)w.value)->value + w.key;
    EXPECT(count == MANY - 1 && sum == 0x1001 * ((uint64_t)MANY * (MANY - 1) / 2 - 7));
    EXPECT(!((Pair *)lathe_map_at(&pairs, 0x7000))->value && pairs.count == MANY);
    lathe_map_clear(&pairs);
    EXPECT(!pairs.count && !lathe_map_find(&pairs, 0));
    LatheWalk none = {0};
    EXPECT(!lathe_map_next(&pairs, &none));
}

static int by_key(const void *a, const void *b) {
    const Pair *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void check_vector(void) {
    for (uint64_t i = 0; i < 1000; i++) {
        Pair *p = lathe_vector_add(&list);
        EXPECT(!p->key && !p->value);
        *p = (Pair){i * 7919 % 1009, i};
    }
    lathe_sort(list.at, list.count, list.bytes, by_key);
    const Pair *p = list.at;
    for (size_t i = 1; i < list.count; i++)
        EXPECT(p[i - 1].key < p[i].key && p[i].value * 7919 % 1009 == p[i].key);
    lathe_vector_clear(&list);
    EXPECT(!list.count);
}

static void check_options(void) {
    EXPECT(!strcmp(lathe_option("name"), "value") && !strcmp(lathe_option("flag"), "") && !lathe_option("other"));
    EXPECT(lathe_option_number("number", 1) == 77 && lathe_option_number("hex", 1) == 0xab12);
    EXPECT(lathe_option_number("other", 5) == 5);
}

static void check_program(void) {
    char text[8];
    const char *const *arguments = lathe_arguments();
    EXPECT(strstr(lathe_program(), "counted") && strstr(arguments[0], "counted") && arguments[1] && !arguments[2]);
    EXPECT(lathe_read_string(text, (uint64_t)lathe_program(), 4) && text[0] == '/' && strlen(text) == 3);
    EXPECT(!lathe_read_string(text, 16, 4) && !lathe_read_guest(text, 16, 8) && !lathe_read_guest(text, 16, 3));
    const char *letters = "abcdefghijklmnopqrstuvwxyz";
    for (unsigned at = 0; at < 16; at++)
        for (unsigned size = 0; size < 8; size++)
            EXPECT(lathe_read_guest(text, (uint64_t)letters + at, size) && !strncmp(text, letters + at, size));
}

static void begin(void) {
    check_memory();
    check_map();
    check_vector();
    check_options();
    check_program();
}

static void look(uint64_t pc) {
    lathe_count(&instructions, 1);
    __atomic_fetch_add((uint64_t *)lathe_map_at(&seen, pc), 1, __ATOMIC_RELAXED);
    uint64_t *memory = lathe_alloc(pc % 100);
    *memory = pc;
    lathe_lock(&lock);
    locked++;
    lathe_unlock(&lock);
    if (*memory != pc)
        lathe_print("memory was given out twice\n");
    lathe_free(memory);
}

static void end(void) {
    uint64_t sum = 0;
    for (LatheWalk w = {0}; lathe_map_next(&seen, &w);)
        sum += *(uint64_t *)w.value;
    EXPECT(sum == lathe_total(&instructions) && locked == sum && seen.count > 10);
    lathe_print(wrong ? "wrong\n" : "right\n");
}

LATHE_HOOKS(LATHE_ON(LATHE_START, begin), LATHE_ON(LATHE_INSN, look, {LATHE_PC}), LATHE_ON(LATHE_END, end));
