/* library.c: what is known of functions of the C library by their names. */
#include <elf.h>
#include <stdlib.h>

#include "raise/prototypes.h"
#include "raise/raise.h"

/* Functions of six arguments at most, none of which is a long double or a large struct: they find nothing on the stack. */
static const char *const in_registers[] = {
    "__assert_fail",
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__cxa_atexit",
    "__cxa_finalize",
    "__errno_location",
    "__isoc23_strtol",
    "__isoc23_strtoll",
    "__isoc23_strtoul",
    "__isoc23_strtoull",
    "__memcpy_chk",
    "__memset_chk",
    "__stack_chk_fail",
    "__strcpy_chk",
    "_exit",
    "abort",
    "abs",
    "access",
    "acos",
    "asin",
    "atan",
    "atan2",
    "atexit",
    "atof",
    "atoi",
    "atol",
    "atoll",
    "bsearch",
    "calloc",
    "ceil",
    "chdir",
    "clearerr",
    "clock",
    "clock_gettime",
    "close",
    "closedir",
    "cos",
    "cosf",
    "cosh",
    "exit",
    "exp",
    "exp2",
    "expf",
    "fabs",
    "fclose",
    "fcntl",
    "feof",
    "ferror",
    "fflush",
    "fgetc",
    "fgets",
    "fileno",
    "floor",
    "floorf",
    "fmax",
    "fmin",
    "fmod",
    "fopen",
    "fork",
    "fputc",
    "fputs",
    "fread",
    "free",
    "freopen",
    "frexp",
    "fseek",
    "fseeko",
    "fstat",
    "ftell",
    "ftello",
    "fwrite",
    "getc",
    "getchar",
    "getcwd",
    "getenv",
    "getopt",
    "getopt_long",
    "getpid",
    "gettimeofday",
    "hypot",
    "isalnum",
    "isalpha",
    "isatty",
    "isdigit",
    "isspace",
    "isupper",
    "kill",
    "labs",
    "ldexp",
    "localtime",
    "localtime_r",
    "log",
    "log10",
    "log2",
    "logf",
    "lseek",
    "malloc",
    "mblen",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "mempcpy",
    "memrchr",
    "memset",
    "mkdir",
    "mktime",
    "mmap",
    "modf",
    "mprotect",
    "munmap",
    "nanosleep",
    "open",
    "opendir",
    "perror",
    "pipe",
    "poll",
    "posix_memalign",
    "pow",
    "powf",
    "pthread_attr_destroy",
    "pthread_attr_init",
    "pthread_attr_setdetachstate",
    "pthread_attr_setstacksize",
    "pthread_barrier_destroy",
    "pthread_barrier_init",
    "pthread_barrier_wait",
    "pthread_cond_broadcast",
    "pthread_cond_destroy",
    "pthread_cond_init",
    "pthread_cond_signal",
    "pthread_cond_wait",
    "pthread_create",
    "pthread_detach",
    "pthread_equal",
    "pthread_getspecific",
    "pthread_join",
    "pthread_key_create",
    "pthread_mutex_destroy",
    "pthread_mutex_init",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_once",
    "pthread_self",
    "pthread_setspecific",
    "putc",
    "putchar",
    "puts",
    "qsort",
    "raise",
    "rand",
    "read",
    "readdir",
    "realloc",
    "reallocarray",
    "remove",
    "rename",
    "rewind",
    "rint",
    "round",
    "sched_yield",
    "setlocale",
    "setvbuf",
    "sigaction",
    "sigaddset",
    "sigaltstack",
    "sigdelset",
    "sigemptyset",
    "sigfillset",
    "signal",
    "sigprocmask",
    "sin",
    "sinf",
    "sinh",
    "sleep",
    "sqrt",
    "sqrtf",
    "srand",
    "stat",
    "stpcpy",
    "strcasecmp",
    "strcat",
    "strchr",
    "strchrnul",
    "strcmp",
    "strcoll",
    "strcpy",
    "strcspn",
    "strdup",
    "strerror",
    "strftime",
    "strlen",
    "strncasecmp",
    "strncat",
    "strncmp",
    "strncpy",
    "strndup",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strspn",
    "strstr",
    "strtod",
    "strtof",
    "strtok",
    "strtok_r",
    "strtol",
    "strtoll",
    "strtoul",
    "strtoull",
    "sysconf",
    "system",
    "tan",
    "tanh",
    "time",
    "times",
    "tolower",
    "toupper",
    "trunc",
    "ungetc",
    "unlink",
    "usleep",
    "wait",
    "waitpid",
    "write",
};

/* They return a second time: when longjmp() is called, and when the child has ended or become another program. */
static const char *const twice[] = {"__sigsetjmp", "_setjmp", "setjmp", "sigsetjmp", "vfork"};

static const char *const always[] = {
    "_Unwind_Resume",
    "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
    "_ZSt9terminatev",
    "__cxa_bad_cast",
    "__cxa_bad_typeid",
    "__cxa_call_unexpected",
    "__cxa_deleted_virtual",
    "__cxa_pure_virtual",
    "__cxa_rethrow",
    "__cxa_throw",
    "__cxa_throw_bad_array_new_length",
};

/* They need little room on the stack, call no function of the program and never throw. */
static const char *const leaves[] = {
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__errno_location",
    "acos",
    "asin",
    "atan",
    "atan2",
    "cbrt",
    "ceil",
    "cos",
    "cosf",
    "cosh",
    "exp",
    "exp2",
    "expf",
    "fabs",
    "floor",
    "floorf",
    "fmod",
    "hypot",
    "log",
    "log10",
    "log2",
    "logf",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "mempcpy",
    "memrchr",
    "memset",
    "pow",
    "powf",
    "rint",
    "round",
    "sin",
    "sinf",
    "sinh",
    "sqrt",
    "sqrtf",
    "stpcpy",
    "strcasecmp",
    "strcat",
    "strchr",
    "strchrnul",
    "strcmp",
    "strcpy",
    "strcspn",
    "strlen",
    "strncasecmp",
    "strncat",
    "strncmp",
    "strncpy",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strspn",
    "strstr",
    "tan",
    "tanh",
    "tolower",
    "toupper",
    "trunc",
};

static int by_name(const void *key, const void *row) {
    return strcmp(key, *(const char *const *)row);
}

bool raise_is_in_registers(const char *name) {
    return name && bsearch(name, in_registers, ARRAY_LEN(in_registers), sizeof(*in_registers), by_name);
}

/* std::__throw_out_of_range() and the like. */
static bool is_thrower(const char *name) {
    static const char head[] = "_ZSt";
    return !strncmp(name, head, strlen(head)) && strstr(name, "__throw_");
}

bool raise_always_throws(const char *name) {
    return name && (bsearch(name, always, ARRAY_LEN(always), sizeof(*always), by_name) || is_thrower(name));
}

bool raise_is_known_library(const char *name) {
    static const char *const known[] = {"ld-linux", "libc.so",       "libdl.so", "libgcc_s.so",
                                        "libm.so",  "libpthread.so", "librt.so", "libstdc++.so"};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (!strncmp(name, known[i], strlen(known[i])))
            return true;
    return false;
}

/* Are all functions that the program imports of libraries whose prototypes are known, or of C++'s, which has none of their names? Those of a library may be
 * of the program that uses it. What a statically linked program has left native is known by the names of functions that are like it. */
static bool has_known_libraries(const Raise *r) {
    const char *name;
    if (r->is_library || r->is_static)
        return false;
    for (size_t i = 0; (name = elf_dynamic_text(r->elf, DT_NEEDED, i)); i++)
        if (!raise_is_known_library(name))
            return false;
    return true;
}

/* How many registers for integers, and for floating point, the parameters need; false: that is not known. */
static bool count_registers(const char *types, u32 *ints, u32 *floats) {
    *ints = *floats = 0;
    for (; *types; types++)
        switch ((TypeLetter)*types) {
        case TYPE_FLOAT:
        case TYPE_DOUBLE:
            ++*floats;
            break;
        case TYPE_TWO:
            *ints += 2;
            break;
        case TYPE_EXTENDED: /* on the stack */
        case TYPE_VOID:
            break;
        case TYPE_MORE:
        case TYPE_MEMORY:
        case TYPE_OTHER:
            return false;
        case TYPE_I8:
        case TYPE_U8:
        case TYPE_I16:
        case TYPE_U16:
        case TYPE_I32:
        case TYPE_U32:
        case TYPE_I64:
        case TYPE_POINTER:
        case TYPE_CALLBACK:
        case TYPE_PRINTS:
        case TYPE_SCANS:
        case TYPE_WIDE_PRINTS:
        case TYPE_WIDE_SCANS:
        case TYPE_LIST:
            ++*ints;
            break;
        }
    return true;
}

RegSet raise_passed_to(const Raise *r, const char *name) {
    const CallAbi *abi = &r->isa->abi;
    const Prototype *p = name && !r->foreign ? prototype_find(name) : NULL;
    u32 ints, floats;
    /* A result that is not known may be a struct, for which there is one more parameter. */
    if (!p || p->types[0] == TYPE_OTHER || !count_registers(p->types + 1, &ints, &floats) || !has_known_libraries(r))
        return abi->passed;
    RegSet set = {0};
    if (regset_has(&abi->passed, abi->stack))
        regset_add(&set, abi->stack);
    for (u32 i = 0; i < ints && i < abi->int_arg_count; i++)
        regset_add(&set, abi->int_args[i]);
    for (u32 i = 0; i < floats && i < abi->float_arg_count; i++)
        regset_add(&set, abi->float_args[i]);
    return set;
}

bool raise_is_leaf(const Raise *r, const char *name) {
    return name && !r->foreign && bsearch(name, leaves, ARRAY_LEN(leaves), sizeof(*leaves), by_name) &&
           prototype_find(name) && has_known_libraries(r);
}

bool raise_returns_twice(const char *name) {
    return name && bsearch(name, twice, ARRAY_LEN(twice), sizeof(*twice), by_name);
}

/* Libraries that call nobody in another thread. */
static bool is_plain_library(const char *name) {
    static const char *const names[] = {"libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "ld-linux"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (!strncmp(name, names[i], strlen(names[i])))
            return true;
    return false;
}

bool raise_may_share(const Raise *r) {
    static const char *const names[] = {"pthread_create", "thrd_create", "mmap",       "mmap64",       "shmat",
                                        "aio_read",       "aio_write",   "lio_listio", "timer_create", "dlopen"};
    const char *library;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (elf_imports(r->elf, names[i]))
            return true;
    for (size_t i = 0; (library = elf_dynamic_text(r->elf, DT_NEEDED, i)); i++)
        if (!is_plain_library(library))
            return true;
    return false;
}
