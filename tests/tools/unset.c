/* unset.c: functions that use values which were never set if they are asked to, and do the same with values that were set otherwise. `unset bad` and `unset good` call all of them one
 * after the other, or one: `unset bad NAME`, each announced by its name on standard error. valgrind says which lines are to be reported. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static volatile int sink;
static volatile size_t ten = 10; /* so that the compiler knows nothing */

/* A call that keeps a branch one. */
APART static void happens(void) {
    sink++;
}

/* Memory that the compiler knows nothing about. */
APART static void *block(size_t size) {
    void *p = malloc(size);
    __asm__ volatile("" : "+r"(p));
    return p;
}

static void branch(bool bad) {
    int *p = block(4 * ten);
    p[bad ? 1 : 3] = 7;
    if (p[3] == 5)
        happens();
    free(p);
}

static void order(bool bad) {
    int *p = block(4 * ten);
    p[bad ? 1 : 3] = 7;
    if (p[3] < 5)
        happens();
    free(p);
}

struct Bits {
    unsigned low : 3, high : 5, more : 24;
};

static void bit_field(bool bad) {
    struct Bits *b = block(sizeof(*b));
    b->low = 3;
    if (!bad)
        b->high = 7;
    if (b->low == 3)
        happens();
    if (b->high == 9)
        happens();
    free(b);
}

struct Pair {
    char first; /* and padding */
    int second;
    long third;
};

static void part_of_structure(bool bad) {
    struct Pair *p = block(sizeof(*p));
    p->first = 1;
    p->third = 3;
    if (!bad)
        p->second = 2;
    if (p->first == 1)
        happens();
    if (p->second == 2)
        happens();
    free(p);
}

APART static int add_one(int v) {
    return v + 1;
}

static void through_call(bool bad) {
    int *p = block(4 * ten);
    p[bad ? 1 : 2] = 4;
    if (add_one(p[2]) == 5)
        happens();
    free(p);
}

APART static void decide(int v) {
    if (v > 100)
        happens();
}

static void argument(bool bad) {
    int *p = block(4 * ten);
    p[bad ? 1 : 2] = 4;
    decide(p[2]);
    free(p);
}

static void copied(bool bad) {
    char *p = block(10 * ten), *q = block(10 * ten);
    memset(p, 1, bad ? 5 * ten : 10 * ten);
    memcpy(q, p, 10 * ten);
    if (q[80] == 1)
        happens();
    if (q[20] == 1)
        happens();
    free(p), free(q);
}

static void grown(bool bad) {
    char *p = block(20);
    memset(p, 1, 20);
    p = realloc(p, 60);
    if (!bad)
        memset(p + 20, 2, 40);
    if (p[10] == 1)
        happens();
    if (p[40] == 2)
        happens();
    free(p);
}

static void index_of(bool bad) {
    static int table[256];
    unsigned char *p = block(ten);
    p[bad ? 1 : 2] = 3;
    sink = table[p[2]];
    free(p);
}

static void pointer(bool bad) {
    int **p = block(8 * ten), value = 4;
    memset(p, 0, 8 * ten);
    p[2] = &value;
    uintptr_t *odd = block(16);
    odd[0] = bad ? odd[1] & 8 : 8;
    sink = *(int *)((char *)p + (odd[0] & 8));
    free(p), free(odd);
}

static void written(bool bad) {
    char *p = block(64);
    int fd = open("/dev/null", O_WRONLY);
    memset(p, 1, bad ? 40 : 64);
    if (write(fd, p, 64) != 64)
        happens();
    close(fd);
    free(p);
}

static void choice(bool bad) {
    int *p = block(4 * ten);
    p[bad ? 1 : 2] = 4;
    switch (p[2]) {
    case 1:
        happens();
        break;
    case 2:
        sink = 5;
        break;
    case 3:
        sink = 7;
        break;
    case 4:
        sink = 9;
        break;
    case 5:
        sink = 11;
        break;
    case 6:
        happens(), happens();
        break;
    }
    free(p);
}

static void floating(bool bad) {
    double *p = block(8 * ten);
    p[bad ? 1 : 2] = 4;
    if (p[2] * 2.5 > 3.0)
        happens();
    free(p);
}

static void single(bool bad) {
    float *p = block(4 * ten);
    p[bad ? 1 : 2] = 4;
    if (p[2] + 1.0f < 3.0f)
        happens();
    free(p);
}

static void bound(bool bad) {
    unsigned char *p = block(ten);
    p[bad ? 1 : 2] = 3;
    for (int i = 0; i < (p[2] & 7); i++)
        happens();
    free(p);
}

static void after_other_calls(bool bad) {
    int *p = block(4 * ten);
    p[bad ? 1 : 2] = 4;
    int v = p[2] * 3;
    char text[40];
    snprintf(text, sizeof(text), "%d", 17);
    if (text[0] != '1')
        happens();
    if (v == 12)
        happens();
    free(p);
}

static void shifted(bool bad) {
    unsigned *p = block(4 * ten);
    p[bad ? 1 : 2] = 0x1234;
    if (p[2] >> 8 & 1)
        happens();
    free(p);
}

static void summed(bool bad) {
    int *p = block(4 * ten), sum = 0;
    for (size_t i = 0; i < ten - bad; i++)
        p[i] = 3;
    for (size_t i = 0; i < ten; i++)
        sum += p[i];
    if (sum == 30)
        happens();
    free(p);
}

static void length(bool bad) {
    char *p = block(ten);
    memset(p, 'x', bad ? 4 : ten);
    p[ten - 1] = 0;
    sink = (int)strlen(p);
    free(p);
}

static void compared(bool bad) {
    char *p = block(ten), *q = block(ten);
    memset(p, 'x', bad ? 4 : ten);
    memset(q, 'x', ten);
    sink = memcmp(p, q, ten);
    free(p), free(q);
}

static void words(bool bad) {
    char *p = block(ten), *q = block(ten);
    strcpy(p, "abcdefg");
    strcpy(q, "abcd");
    if (bad)
        q = realloc(q, 20), q = memcpy(block(20), q, 20), q[4] = 'e', q[19] = 0;
    sink = strcmp(p, q) > 0;
    free(p), free(q);
}

/* ------------------------------------------------------------------------------------------------------- on the stack */

/* The compiler does not know whether something is stored there. */
static inline void hide(void *p) {
    __asm__ volatile("" : : "r"(p) : "memory");
}

static void local(bool bad) {
    int v[6];
    hide(v);
    v[bad ? 1 : 3] = 7;
    hide(v);
    if (v[3] == 5)
        happens();
}

/* What an earlier call has left in memory is nothing that the later one has set. */
APART static int leaves(int n) {
    int v[12];
    for (int i = 0; i < 12; i++)
        v[i] = n + i;
    hide(v);
    return v[n & 7];
}

APART static void finds(bool bad) {
    int v[12];
    hide(v);
    for (int i = 0; i < (bad ? 4 : 12); i++)
        v[i] = i;
    hide(v);
    if (v[6] == 5)
        happens();
}

static void left_by_others(bool bad) {
    sink = leaves(3);
    finds(bad);
}

/* A function that calls nothing need not move the stack pointer. */
APART static int leaf(bool bad) {
    volatile int v[4];
    v[bad ? 1 : 2] = 3;
    if (v[2] == 5)
        return 7;
    return 9;
}

static void of_leaf(bool bad) {
    sink = leaf(false);
    sink = leaf(bad);
}

static void of_variable_size(bool bad) {
    char v[ten * 20];
    memset(v, 1, bad ? ten : ten * 20);
    hide(v);
    if (v[77] == 5)
        happens();
}

static void large(bool bad) {
    int v[2000];
    hide(v);
    for (size_t i = 0; i < (bad ? 100u : 2000u); i++)
        v[i] = 1;
    hide(v);
    if (v[1500] == 5)
        happens();
}

static void with_alignment(bool bad) {
    __attribute__((aligned(64))) int v[40];
    hide(v);
    for (size_t i = 0; i < (bad ? ten : 40u); i++)
        v[i] = 1;
    hide(v);
    if (v[20] == 5)
        happens();
}

APART static void fill(struct Pair *p, bool bad) {
    p->first = 1;
    if (!bad)
        p->second = 2;
    p->third = 3;
}

static void filled_by_callee(bool bad) {
    struct Pair p;
    hide(&p);
    fill(&p, bad);
    if (p.first == 1)
        happens();
    if (p.second == 5)
        happens();
}

struct Many {
    long at[9];
};

APART static void decide_many(struct Many m) {
    if (m.at[2] == 5)
        happens();
    if (m.at[7] == 5)
        happens();
}

static void passed_in_memory(bool bad) {
    struct Many m;
    hide(&m);
    for (int i = 0; i < (bad ? 5 : 9); i++)
        m.at[i] = i;
    hide(&m);
    decide_many(m);
}

APART static struct Many made(bool bad) {
    struct Many m;
    hide(&m);
    for (int i = 0; i < (bad ? 5 : 9); i++)
        m.at[i] = i;
    hide(&m);
    return m;
}

static void returned(bool bad) {
    struct Many m = made(bad);
    hide(&m);
    if (m.at[2] == 5)
        happens();
    if (m.at[7] == 5)
        happens();
}

static void local_floating(bool bad) {
    double v[4];
    hide(v);
    v[bad ? 1 : 3] = 7;
    hide(v);
    if (v[3] < 5)
        happens();
}

static void local_index(bool bad) {
    static int table[256];
    unsigned char v[40];
    hide(v);
    v[bad ? 1 : 30] = 7;
    hide(v);
    sink = table[v[30]];
}

static void local_length(bool bad) {
    char v[40];
    hide(v);
    memset(v, 'x', bad ? ten : 39);
    v[39] = 0;
    sink = (int)strlen(v);
}

static void local_written(bool bad) {
    char v[64];
    int fd = open("/dev/null", O_WRONLY);
    hide(v);
    memset(v, 1, bad ? 4 * ten : 64);
    if (write(fd, v, 64) != 64)
        happens();
    close(fd);
}

APART static int deep(int n, bool bad) {
    int v[9];
    hide(v);
    v[n & 3] = n;
    if (!bad)
        v[5] = 4;
    hide(v);
    return n ? deep(n - 1, bad) + v[n & 3] : v[5];
}

static void from_depth(bool bad) {
    if (deep(20, bad) == 5)
        happens();
}

/* ---------------------------------------------------------------------------------------------- never a mistake */

static void zeroed(bool bad) {
    int *p = calloc(ten, 4);
    if (p[3] == 5)
        happens();
    free(p);
}

static void set(bool bad) {
    int *p = block(4 * ten);
    memset(p, 0, 4 * ten);
    if (p[3] == 5)
        happens();
    free(p);
}

static void padding(bool bad) {
    struct Pair *p = block(sizeof(*p)), *q = block(sizeof(*q)), local;
    p->first = 1, p->second = 2, p->third = 3;
    *q = *p;
    local = *q;
    memcpy(p, &local, sizeof(*p));
    if (p->first == 1 && p->second == 2 && p->third == 3)
        happens();
    free(p), free(q);
}

static void string(bool bad) {
    static const char text[] = "exactly as long as it is";
    char *p = block(sizeof(text)), *q = block(200);
    strcpy(p, text);
    strcpy(q, p);
    if (strlen(p) == 7 || strcmp(p, q) || strchr(q, 'z') || memcmp(p, q, sizeof(text)))
        happens();
    free(p), free(q);
}

/* Words are searched for a zero, as old code does. */
static void word_by_word(bool bad) {
    char *p = block(32);
    strcpy(p, "abcdef 12");
    for (const uint64_t *w = (const uint64_t *)p;; w++) {
        uint64_t zeros = (*w - 0x0101010101010101u) & ~*w & 0x8080808080808080u;
        if (zeros) {
            sink = __builtin_ctzl(zeros);
            if (sink == 77)
                happens();
            break;
        }
    }
    free(p);
}

static void known_part(bool bad) {
    unsigned *p = block(8);
    ((unsigned char *)p)[0] = 5;
    if ((p[0] & 255) == 5)
        happens();
    if ((p[0] | 0xffffff00u) == 5)
        happens();
    if ((p[1] ^ p[1]) != 0)
        happens();
    free(p);
}

static void from_system(bool bad) {
    struct stat *s = block(sizeof(*s));
    struct timespec *now = block(sizeof(*now));
    char *a = block(64), *b = block(64);
    int fd = open("/proc/self/cmdline", O_RDONLY);
    struct iovec v[2] = {{a, 4}, {b, 4}};
    if (fstat(fd, s) || s->st_size > 100 || S_ISDIR(s->st_mode))
        happens();
    if (readv(fd, v, 2) < 8 || a[1] == 'x' || b[2] == 'y')
        happens();
    if (read(fd, a, 8) > 3 && a[2] == 'x')
        happens();
    if (clock_gettime(CLOCK_MONOTONIC, now) || now->tv_nsec == 7 || now->tv_sec == 1)
        happens();
    if (clock_getres(CLOCK_MONOTONIC, now) || now->tv_nsec == 7)
        happens();
    close(fd);
    free(s), free(now), free(a), free(b);
}

static void not_used(bool bad) {
    int *p = block(4 * ten), *q = block(4 * ten);
    for (size_t i = 0; i < ten; i++)
        q[i] = p[i] * 3 + 1;
    sink = q[4] & 0;
    free(p), free(q);
}

static int by_number(const void *a, const void *b) {
    const struct Pair *p = a, *q = b;
    return (p->second > q->second) - (p->second < q->second);
}

/* The C library calls back, with structures that are on the stack, or that it has there itself. */
static void sorted(bool bad) {
    struct Pair v[20], key = {.second = 7};
    for (int i = 0; i < 20; i++)
        v[i] = (struct Pair){.first = 1, .second = i * 7 % 20, .third = i};
    qsort(v, 20, sizeof(v[0]), by_number);
    for (int i = 0; i < 20; i++)
        if (v[i].second != i)
            happens();
    const struct Pair *found = bsearch(&key, v, 20, sizeof(v[0]), by_number);
    if (!found || found->second != 7)
        happens();
}

static void local_from_system(bool bad) {
    struct stat s;
    struct timespec now;
    struct utsname name;
    int ends[2], status;
    char v[100], text[64];
    int fd = open("/proc/self/cmdline", O_RDONLY);
    if (fstat(fd, &s) || s.st_size > 100 || read(fd, v, 8) < 4 || v[2] == 1 || uname(&name) || !name.release[0])
        happens();
    if (clock_gettime(CLOCK_MONOTONIC, &now) || now.tv_sec == 1 || now.tv_nsec == 7)
        happens();
    if (pipe(ends) || ends[0] == ends[1] || write(ends[1], "abc", 3) != 3 || read(ends[0], v, 50) != 3 || v[1] != 'b')
        happens();
    pid_t child = fork();
    if (!child)
        _exit(3);
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3)
        happens();
    if (snprintf(text, sizeof(text), "%d %s %.3f", 17, "word", 2.5) != 13 || strcmp(text, "17 word 2.500"))
        happens();
    close(fd), close(ends[0]), close(ends[1]);
}

APART static long sum_of(int count, ...) {
    va_list list;
    long sum = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += i & 1 ? (long)va_arg(list, double) : va_arg(list, int);
    va_end(list);
    return sum;
}

static void variadic(bool bad) {
    if (sum_of(9, 1, 2.0, 3, 4.0, 5, 6.0, 7, 8.0, 9) != 45)
        happens();
}

APART static void jump_out(jmp_buf at, int n) {
    int v[30];
    hide(v);
    v[n] = n;
    if (n == 3)
        longjmp(at, v[n]);
    jump_out(at, n + 1);
}

static void jumped(bool bad) {
    jmp_buf at;
    volatile int before = 4;
    if (setjmp(at) == 3) {
        if (before != 4)
            happens();
    } else {
        jump_out(at, 0);
    }
}

static volatile int handled;

static void handler(int number) {
    int v[20];
    hide(v);
    for (int i = 0; i < 20; i++)
        v[i] = number;
    hide(v);
    handled += v[7] == number;
}

static void interrupted(bool bad) {
    int v[10];
    signal(SIGUSR1, handler);
    for (int i = 0; i < 10; i++)
        v[i] = i;
    hide(v);
    raise(SIGUSR1);
    if (handled != 1 || v[4] != 4)
        happens();
    handled = 0;
}

static void scanned(bool bad) {
    int a, b;
    char word[20], *end;
    if (sscanf("12 words 34", "%d %19s %d", &a, word, &b) != 3 || a != 12 || b != 34 || strcmp(word, "words"))
        happens();
    if (strtol("77x", &end, 10) != 77 || *end != 'x')
        happens();
}

#define CASE(name)                                                                                                     \
    { #name, name }

static const struct {
    const char *name;
    void (*run)(bool bad);
} cases[] = {CASE(branch),
             CASE(order),
             CASE(bit_field),
             CASE(part_of_structure),
             CASE(through_call),
             CASE(argument),
             CASE(copied),
             CASE(grown),
             CASE(index_of),
             CASE(pointer),
             CASE(written),
             CASE(choice),
             CASE(floating),
             CASE(single),
             CASE(bound),
             CASE(after_other_calls),
             CASE(shifted),
             CASE(summed),
             CASE(length),
             CASE(compared),
             CASE(words),
             CASE(local),
             CASE(left_by_others),
             CASE(of_leaf),
             CASE(of_variable_size),
             CASE(large),
             CASE(with_alignment),
             CASE(filled_by_callee),
             CASE(passed_in_memory),
             CASE(returned),
             CASE(local_floating),
             CASE(local_index),
             CASE(local_length),
             CASE(local_written),
             CASE(from_depth),
             CASE(zeroed),
             CASE(set),
             CASE(padding),
             CASE(string),
             CASE(word_by_word),
             CASE(known_part),
             CASE(from_system),
             CASE(not_used),
             CASE(sorted),
             CASE(local_from_system),
             CASE(variadic),
             CASE(jumped),
             CASE(interrupted),
             CASE(scanned)};

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (argc > 2 && strcmp(argv[2], cases[i].name))
            continue;
        dprintf(2, "case %s\n", cases[i].name);
        cases[i].run(argc > 1 && !strcmp(argv[1], "bad"));
    }
    return 0;
}
