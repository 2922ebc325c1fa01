/* ahead.c: for compile.sh: a program without libc whose functions are found in all ways: called directly, through
 * pointers in data and on the stack, by jump tables, by computed gotos through a table; ending in calls that do not
 * return. With -DLIBRARY it also calls one (ahead_library.c), with -DHANDLER it handles a signal that never comes.
 * Prints one number. */
typedef unsigned long u64;

static long call_system(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

__attribute__((noreturn, noinline)) static void leave(int status) {
    for (;;)
        call_system(60, status, 0, 0);
}

__attribute__((noinline)) static void print(u64 v) {
    char text[24], *at = text + sizeof(text);
    *--at = '\n';
    do
        *--at = (char)('0' + v % 10);
    while (v /= 10);
    call_system(1, 1, (long)at, text + sizeof(text) - at);
}

static u64 twice(u64 v) {
    return v * 2;
}
static u64 square(u64 v) {
    return v * v;
}
static u64 turn(u64 v) {
    return v << 7 | v >> 57;
}
static u64 less(u64 v) {
    return v - 12345;
}

static u64 (*const volatile constants[])(u64) = {twice, square};
static u64 (*volatile variables[])(u64) = {turn, less};

__attribute__((noinline)) static u64 choose(u64 v, unsigned how) {
    switch (how) {
    case 0:
        return v + 3;
    case 1:
        return v * 5;
    case 2:
        return v ^ 0x55;
    case 3:
        return v - 7;
    case 4:
        return v / 3;
    case 5:
        return ~v;
    case 6:
        return turn(v);
    default:
        return v;
    }
}

/* An interpreter: what it jumps to, only the table knows. */
__attribute__((noinline)) static u64 interpret(const unsigned char *code, u64 v) {
    static const void *const labels[] = {&&add, &&shift, &&mix, &&end};
    goto *labels[*code++];
add:
    v += 17;
    goto *labels[*code++];
shift:
    v ^= v >> 3;
    goto *labels[*code++];
mix:
    v = v * 0x9e3779b97f4a7c15u + 1;
    goto *labels[*code++];
end:
    return v;
}

__attribute__((noinline)) static u64 recurse(u64 n) {
    return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
}

#ifdef LIBRARY
u64 library_mix(u64 v, u64 (*callback)(u64));
#else
#define library_mix(v, callback) callback(v)
#endif

__attribute__((noinline)) static void check(u64 v) {
    if (v == 1)
        leave(3);
}

#ifdef HANDLER
static void handle(int signal) {
    leave(signal);
}

static void set_handler(void) {
    struct {
        void (*handler)(int);
        u64 flags;
        void (*restorer)(void);
        u64 mask;
    } action = {handle, 0x04000000 /* SA_RESTORER */, (void (*)(void))handle, 0};
    register long size __asm__("r10") = 8;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(13), "D"(10), "S"(&action), "d"(0), "r"(size)
                     : "rcx", "r11", "memory");
}
#else
#define set_handler() (void)0
#endif

__attribute__((force_align_arg_pointer, used)) void start(void) {
    static const unsigned char program[] = {0, 1, 2, 0, 0, 1, 2, 2, 3};
    u64 v = 1;
    set_handler();
    for (unsigned i = 0; i < 50; i++) {
        v = choose(v, i % 9);
        v = constants[i % 2](v) + variables[i % 2](v);
        v = interpret(program, v);
        v = library_mix(v, less);
    }
    check(v);
    print(v + recurse(12));
    leave(0);
}

__asm__(".globl _start\n.type _start, @function\n_start: jmp start\n");
