// faulty.cpp: functions that do something wrong with memory if they are asked to, and the same without the mistake otherwise. `faulty bad` and `faulty good` call all of
// them one after the other (or one: `faulty bad NAME`), each announced by its name on standard error; `faulty list` says what is to be reported of each.
//
// The mistake is made in the line that ends with "here", and is made by this function itself.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include <malloc.h>

static volatile char sink;
static volatile long long_sink;
static volatile size_t ten = 10; // so that the compiler knows nothing
static char *volatile kept;

static char *block(size_t size) {
    char *p = (char *)malloc(size);
    memset(p, 'x', size);
    return p;
}

// ------------------------------------------------------------------------------------------------------------ over the end

static void write_after(bool bad) {
    char *p = block(ten);
    p[ten - !bad] = 1; // here
    free(p);
}

static void read_after(bool bad) {
    char *p = block(ten);
    sink = p[ten - !bad]; // here
    free(p);
}

static void write_before(bool bad) {
    char *p = block(ten);
    p[-(int)bad] = 1; // here
    free(p);
}

static void read_before(bool bad) {
    char *p = block(ten);
    sink = p[-8 * (int)bad]; // here
    free(p);
}

static void write_word_across_end(bool bad) {
    char *p = block(ten + 2);
    *(volatile uint64_t *)(p + 4 + 4 * bad) = 1; // here
    free(p);
}

static void read_word_after(bool bad) {
    uint64_t *p = (uint64_t *)block(8 * ten);
    long_sink = p[ten - !bad]; // here
    free(p);
}

static void read_word_before(bool bad) {
    uint64_t *p = (uint64_t *)block(8 * ten);
    long_sink = *(volatile uint64_t *)((char *)p - 4 * bad); // here
    free(p);
}

static void write_farther_after(bool bad) {
    int *p = (int *)block(4 * ten);
    p[ten + 4 - 5 * !bad] = 3; // here
    free(p);
}

static void write_nothing_allocated(bool bad) {
    char *p = (char *)malloc(ten - 10);
    if (bad)
        *p = 1; // here
    free(p);
}

static void read_large_block(bool bad) {
    char *p = block(1000 * ten * ten);
    sink = p[100000 - !bad]; // here
    free(p);
}

static void read_huge_block(bool bad) {
    char *p = (char *)malloc(1000000 * ten);
    sink = p[10000000 - !bad]; // here
    free(p);
}

static void loop_too_long(bool bad) {
    int *p = (int *)malloc(ten * sizeof(int));
    for (size_t i = 0; i < ten + bad; i++)
        p[i] = (int)i; // here
    free(p);
}

// ---------------------------------------------------------------------------------------------------------- after the end

static void read_after_free(bool bad) {
    char *p = block(ten);
    kept = p;
    if (!bad)
        sink = p[3];
    free(p);
    if (bad)
        sink = kept[3]; // here
}

static void write_after_free(bool bad) {
    char *p = block(ten);
    kept = p;
    free(p);
    if (bad)
        kept[9] = 3; // here
}

static void read_after_free_reused(bool bad) {
    char *p = block(ten);
    kept = p;
    free(p);
    char *other = block(ten);
    sink = bad ? kept[0] : other[0]; // here
    free(other);
}

static void read_large_after_free(bool bad) {
    char *p = block(100000 * ten);
    kept = p;
    free(p);
    if (bad)
        sink = kept[500000]; // here
}

static void free_twice(bool bad) {
    char *p = block(ten);
    kept = p;
    free(p);
    if (bad)
        free(kept); // here
}

static void free_inside(bool bad) {
    char *p = block(ten);
    kept = p + 4 * bad;
    free(kept); // here
    if (bad)
        free(p);
}

static void free_stack(bool bad) {
    char on_stack[64];
    kept = bad ? on_stack + 16 : NULL;
    free(kept); // here
}

static void free_global(bool bad) {
    static char global[64];
    kept = bad ? global : NULL;
    free(kept); // here
}

// -------------------------------------------------------------------------------------------------------------- realloc

static void realloc_too_small(bool bad) {
    char *p = (char *)realloc(block(ten), 2 * ten);
    p[20 - !bad] = 1; // here
    free(p);
}

static void realloc_shrunk(bool bad) {
    char *p = (char *)realloc(block(10 * ten), ten);
    sink = p[10 - !bad]; // here
    free(p);
}

static void realloc_old_address(bool bad) {
    char *p = block(ten);
    kept = p;
    char *q = (char *)realloc(p, 3 * ten);
    sink = bad ? kept[0] : q[0]; // here
    free(q);
}

static void realloc_freed(bool bad) {
    char *p = block(ten);
    kept = p;
    if (bad)
        free(p);
    free(realloc(kept, 2 * ten)); // here
}

static void realloc_keeps_contents(bool bad) {
    char *p = (char *)realloc(strcpy(block(ten), "contents"), 1000 * ten);
    if (strcmp(p, "contents"))
        abort();
    p = (char *)realloc(p, 100000 * ten);
    if (strcmp(p, "contents"))
        abort();
    p = (char *)realloc(p, ten - 1);
    if (strcmp(p, "contents"))
        abort();
    p[8 + bad] = 0; // here
    free(p);
}

static void reallocarray_after(bool bad) {
    int *p = (int *)reallocarray(NULL, ten, sizeof(int));
    p[10 - !bad] = 1; // here
    free(p);
}

// -------------------------------------------------------------------------------------------------- calloc and alignment

static void calloc_after(bool bad) {
    int *p = (int *)calloc(ten, sizeof(int));
    for (size_t i = 0; i < ten; i++)
        if (p[i])
            abort();
    p[10 - !bad] = 1; // here
    free(p);
}

static void memalign_after(bool bad) {
    char *p = (char *)memalign(256, 10 * ten);
    if ((uintptr_t)p % 256)
        abort();
    p[100 - !bad] = 1; // here
    free(p);
}

static void aligned_alloc_before(bool bad) {
    char *p = (char *)aligned_alloc(64, 64);
    p[-(int)bad] = 1; // here
    free(p);
}

static void posix_memalign_after(bool bad) {
    void *p;
    if (posix_memalign(&p, 4096, ten))
        abort();
    sink = ((char *)p)[10 - !bad]; // here
    free(p);
}

static void valloc_after(bool bad) {
    char *p = (char *)valloc(ten);
    sink = p[10 - !bad]; // here
    free(p);
}

static void usable_size(bool bad) {
    char *p = (char *)malloc(ten);
    size_t size = malloc_usable_size(p);
    p[size - !bad] = 1; // here
    free(p);
}

// -------------------------------------------------------------------------------------------------------------- strings

static void memcpy_writes_after(bool bad) {
    char *p = block(ten), from[64] = "";
    memcpy(p, from, ten + bad); // here
    free(p);
}

static void memcpy_reads_after(bool bad) {
    char *p = block(ten * 10), to[200];
    memcpy(to, p, ten * 10 + 4 * bad); // here
    sink = to[50];
    free(p);
}

static void memset_after(bool bad) {
    char *p = block(ten);
    memset(p, 0, ten + bad); // here
    free(p);
}

static void strlen_unterminated(bool bad) {
    char *p = block(ten);
    if (!bad)
        p[9] = 0;
    long_sink = (long)strlen(p); // here
    free(p);
}

static void strcpy_after(bool bad) {
    char *p = block(ten), from[64] = "123456789\0";
    from[9] = bad ? 'x' : 0;
    strcpy(p, from); // here
    free(p);
}

static void strcat_after(bool bad) {
    char *p = (char *)calloc(1, ten), more[8] = "567890";
    strcpy(p, "1234");
    more[5] = bad ? '0' : 0;
    strcat(p, more); // here
    free(p);
}

static void strcmp_freed(bool bad) {
    char *p = strdup("some text");
    kept = p;
    if (bad)
        free(p);
    sink = strcmp(kept, "some text") != 0; // here
    if (!bad)
        free(p);
}

static void memchr_after(bool bad) {
    char *p = block(ten);
    sink = memchr(p, 'y', ten + bad) != NULL; // here
    free(p);
}

static void wcslen_unterminated(bool bad) {
    wchar_t *p = (wchar_t *)block(ten * sizeof(wchar_t));
    if (!bad)
        p[9] = 0;
    long_sink = (long)wcslen(p); // here
    free(p);
}

static void write_call_after(bool bad) {
    char *p = block(ten);
    int fd[2];
    if (pipe(fd))
        abort();
    if (write(fd[1], p, ten + bad) < 0) // here
        abort();
    close(fd[0]);
    close(fd[1]);
    free(p);
}

// ----------------------------------------------------------------------------------------------------- stack and others

static void below_stack(bool bad) {
    char on_stack[16];
    char *volatile p = on_stack;
    p[0] = 0;
    sink = *(bad ? p - 4096 : p); // here
}

static void *thread_reads_after(void *p) {
    sink = ((char *)p)[10]; // here
    return NULL;
}

static void in_thread(bool bad) {
    pthread_t thread[4];
    char *p = block(ten + !bad);
    for (pthread_t &t : thread)
        pthread_create(&t, NULL, thread_reads_after, p);
    for (pthread_t t : thread)
        pthread_join(t, NULL);
    free(p);
}

static void *thread_frees(void *p) {
    free(p);
    return NULL;
}

static void freed_by_thread(bool bad) {
    pthread_t thread;
    char *p = block(ten);
    kept = p;
    if (!bad)
        kept = strdup("other");
    pthread_create(&thread, NULL, thread_frees, p);
    pthread_join(thread, NULL);
    sink = kept[2]; // here
    if (!bad)
        free(kept);
}

// ------------------------------------------------------------------------------------------------------------------ C++

struct Object {
    long value[3];
    ~Object() {
        long_sink = value[0];
    }
};

static void new_after(bool bad) {
    long *p = new long[ten]();
    long_sink = p[10 - !bad]; // here
    delete[] p;
}

static void delete_then_read(bool bad) {
    Object *volatile p = new Object();
    long_sink = p->value[1];
    delete p;
    if (bad)
        long_sink = p->value[1]; // here
}

static void delete_twice(bool bad) {
    int *volatile p = new int(3);
    delete p;
    if (bad)
        delete p; // here
}

static void delete_array_as_one(bool bad) {
    int *p = new int[ten];
    if (bad)
        operator delete(p); // here
    else
        delete[] p;
}

static void free_of_new(bool bad) {
    int *p = new int(3);
    if (bad)
        free(p); // here
    else
        delete p;
}

static void delete_of_malloc(bool bad) {
    int *p = (int *)(bad ? malloc(4) : operator new(4));
    operator delete(p); // here
}

static void new_aligned_after(bool bad) {
    char *p = (char *)operator new(ten, std::align_val_t(128));
    sink = p[10 - !bad]; // here
    operator delete(p, std::align_val_t(128));
}

static void objects_with_destructors(bool bad) {
    Object *p = new Object[ten]();
    long_sink = p[10 - !bad].value[0]; // here
    delete[] p;
}

// ---------------------------------------------------------------------------------------------------------------- leaks

struct Node {
    Node *next;
    char more[40];
};

static void leak_direct(bool bad) {
    kept = (char *)malloc(ten + 1000); // here
    if (!bad)
        free(kept);
    kept = NULL;
}

static void leak_indirect(bool bad) {
    Node *first = (Node *)calloc(1, sizeof(Node)); // here
    first->next = (Node *)calloc(1, sizeof(Node));
    first->next->next = (Node *)calloc(1, sizeof(Node));
    for (Node *n = first, *next; !bad && n; n = next) {
        next = n->next;
        free(n);
    }
}

static void leak_cycle(bool bad) {
    Node *a = (Node *)malloc(sizeof(Node) + ten); // here
    a->next = a;
    if (!bad)
        free(a);
}

static void leak_new(bool bad) {
    Object *volatile p = new Object(); // here
    if (!bad)
        delete p;
}

static void *thread_leaks(void *bad) {
    char *volatile p = (char *)malloc(777); // here
    if (!bad)
        free(p);
    p = NULL;
    return NULL;
}

static void leak_in_thread(bool bad) {
    pthread_t thread;
    pthread_create(&thread, NULL, thread_leaks, bad ? &thread : NULL);
    pthread_join(thread, NULL);
}

static void *volatile reachable;

static void not_leaked(bool bad) {
    Node *p = (Node *)calloc(1, sizeof(Node)); // nothing is wrong with this: it is reachable
    p->next = (Node *)malloc(100);
    reachable = bad ? p : NULL;
    if (!bad) {
        free(p->next);
        free(p);
    }
}

// The program dies of it: `faulty null`.
static void read_null() {
    long_sink = *(volatile long *)NULL; // here
}

struct Case {
    const char *name;
    void (*call)(bool bad);
    const char *report, *near; // what is reported, and about which block or address
    const char *function;      // that the report is about
};

#define CASE(name, ...)                                                                                                \
    { #name, name, __VA_ARGS__ }

static const Case cases[] = {
    CASE(write_after, "Invalid write of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(read_after, "Invalid read of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(write_before, "Invalid write of size 1", "1 bytes before a block of size 10 alloc'd"),
    CASE(read_before, "Invalid read of size 1", "8 bytes before a block of size 10 alloc'd"),
    CASE(write_word_across_end, "Invalid write of size 8", "a block of size 12 alloc'd"),
    CASE(read_word_after, "Invalid read of size 8", "0 bytes after a block of size 80 alloc'd"),
    CASE(read_word_before, "Invalid read of size 8", "4 bytes before a block of size 80 alloc'd"),
    CASE(write_farther_after, "Invalid write of size 4", "16 bytes after a block of size 40 alloc'd"),
    CASE(write_nothing_allocated, "Invalid write of size 1", "0 bytes after a block of size 0 alloc'd"),
    CASE(read_large_block, "Invalid read of size 1", "0 bytes after a block of size 100000 alloc'd"),
    CASE(read_huge_block, "Invalid read of size 1", "0 bytes after a block of size 10000000 alloc'd"),
    CASE(loop_too_long, "Invalid write of size 4", "0 bytes after a block of size 40 alloc'd"),
    CASE(read_after_free, "Invalid read of size 1", "3 bytes inside a block of size 10 free'd"),
    CASE(write_after_free, "Invalid write of size 1", "9 bytes inside a block of size 10 free'd"),
    CASE(read_after_free_reused, "Invalid read of size 1", "0 bytes inside a block of size 10 free'd"),
    CASE(read_large_after_free, "Invalid read of size 1", "500000 bytes inside a block of size 1000000 free'd"),
    CASE(free_twice, "Invalid free()", "0 bytes inside a block of size 10 free'd"),
    CASE(free_inside, "Invalid free()", "4 bytes inside a block of size 10 alloc'd"),
    CASE(free_stack, "Invalid free()", "on the thread's stack"),
    CASE(free_global, "Invalid free()", "Address"),
    CASE(realloc_too_small, "Invalid write of size 1", "0 bytes after a block of size 20 alloc'd"),
    CASE(realloc_shrunk, "Invalid read of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(realloc_old_address, "Invalid read of size 1", "0 bytes inside a block of size 10 free'd"),
    CASE(realloc_freed, "Invalid free()", "0 bytes inside a block of size 10 free'd"),
    CASE(realloc_keeps_contents, "Invalid write of size 1", "0 bytes after a block of size 9 alloc'd"),
    CASE(reallocarray_after, "Invalid write of size 4", "0 bytes after a block of size 40 alloc'd"),
    CASE(calloc_after, "Invalid write of size 4", "0 bytes after a block of size 40 alloc'd"),
    CASE(memalign_after, "Invalid write of size 1", "0 bytes after a block of size 100 alloc'd"),
    CASE(aligned_alloc_before, "Invalid write of size 1", "1 bytes before a block of size 64 alloc'd"),
    CASE(posix_memalign_after, "Invalid read of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(valloc_after, "Invalid read of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(usable_size, "Invalid write of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(memcpy_writes_after, "Invalid write of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(memcpy_reads_after, "Invalid read of size 1", "0 bytes after a block of size 100 alloc'd"),
    CASE(memset_after, "Invalid write of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(strlen_unterminated, "Invalid read of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(strcpy_after, "Invalid write of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(strcat_after, "Invalid write of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(strcmp_freed, "Invalid read of size 1", "0 bytes inside a block of size 10 free'd"),
    CASE(memchr_after, "Invalid read of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(wcslen_unterminated, "Invalid read of size 4", "0 bytes after a block of size 40 alloc'd"),
    CASE(write_call_after, "System call write reads memory", "0 bytes after a block of size 10 alloc'd"),
    CASE(below_stack, "Invalid read of size 1", "bytes below the stack pointer"),
    CASE(in_thread, "Invalid read of size 1", "0 bytes after a block of size 10 alloc'd", "thread_reads_after"),
    CASE(freed_by_thread, "Invalid read of size 1", "2 bytes inside a block of size 10 free'd"),
    CASE(new_after, "Invalid read of size 8", "0 bytes after a block of size 80 alloc'd"),
    CASE(delete_then_read, "Invalid read of size 8", "8 bytes inside a block of size 24 free'd"),
    CASE(delete_twice, "Invalid free()", "0 bytes inside a block of size 4 free'd"),
    CASE(delete_array_as_one, "Mismatched free()", "0 bytes inside a block of size 40 alloc'd"),
    CASE(free_of_new, "Mismatched free()", "0 bytes inside a block of size 4 alloc'd"),
    CASE(delete_of_malloc, "Mismatched free()", "0 bytes inside a block of size 4 alloc'd"),
    CASE(new_aligned_after, "Invalid read of size 1", "0 bytes after a block of size 10 alloc'd"),
    CASE(objects_with_destructors, "Invalid read of size 8", "0 bytes after a block of size 248 alloc'd"),
    CASE(leak_direct, "1010 bytes in 1 blocks are definitely lost", NULL),
    CASE(leak_indirect, "144 (48 direct, 96 indirect) bytes in 1 blocks are definitely lost", NULL),
    CASE(leak_cycle, "58 bytes in 1 blocks are definitely lost", NULL),
    CASE(leak_new, "24 bytes in 1 blocks are definitely lost", NULL),
    CASE(leak_in_thread, "777 bytes in 1 blocks are definitely lost", NULL, "thread_leaks"),
    CASE(not_leaked, NULL, NULL),
};

static void announce(const char *name) {
    char text[80];
    int len = snprintf(text, sizeof(text), "case %s\n", name);
    if (write(2, text, (size_t)len) != len)
        abort();
}

// What a function has left on the stack may be a pointer to what it has lost.
static void wipe_stack() {
    volatile char area[8192];
    for (volatile char &c : area)
        c = 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "null"))
        read_null();
    for (const Case &c : cases) {
        if (!strcmp(what, "list"))
            printf("%s|%s|%s|%s\n", c.name, c.report ? c.report : "", c.near ? c.near : "",
                   c.function ? c.function : c.name);
        else if (argc < 3 || !strcmp(argv[2], c.name))
            announce(c.name), c.call(!strcmp(what, "bad")), wipe_stack();
    }
    return 7;
}
