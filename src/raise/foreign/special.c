/* special.c: functions and types that prototypes do not tell everything of. */
#include "raise/foreign/special.h"

static const struct {
    SpecialKind kind;
    const char *name, *why;
} rows[] = {
    {SPECIAL_WRAPPED, "stat", ""},
    {SPECIAL_WRAPPED, "fstat", ""},
    {SPECIAL_WRAPPED, "lstat", ""},
    {SPECIAL_WRAPPED, "fstatat", ""},
    {SPECIAL_WRAPPED, "stat64", ""},
    {SPECIAL_WRAPPED, "fstat64", ""},
    {SPECIAL_WRAPPED, "lstat64", ""},
    {SPECIAL_WRAPPED, "fstatat64", ""},
    {SPECIAL_WRAPPED, "open", ""},
    {SPECIAL_WRAPPED, "open64", ""},
    {SPECIAL_WRAPPED, "openat", ""},
    {SPECIAL_WRAPPED, "openat64", ""},
    {SPECIAL_WRAPPED, "__open_2", ""},
    {SPECIAL_WRAPPED, "__open64_2", ""},
    {SPECIAL_WRAPPED, "fcntl", ""},
    {SPECIAL_WRAPPED, "fcntl64", ""},
    {SPECIAL_WRAPPED, "verror", ""},
    {SPECIAL_WRAPPED, "pthread_attr_init", ""},
    {SPECIAL_WRAPPED, "pthread_mutex_init", ""},
    {SPECIAL_WRAPPED, "pthread_mutexattr_init", ""},
    {SPECIAL_WRAPPED, "pthread_condattr_init", ""},
    {SPECIAL_WRAPPED, "pthread_barrierattr_init", ""},
    {SPECIAL_OPAQUE, "pthread_attr_t", ""},
    {SPECIAL_OPAQUE, "pthread_mutex_t", ""},
    {SPECIAL_OPAQUE, "pthread_mutexattr_t", ""},
    {SPECIAL_OPAQUE, "pthread_condattr_t", ""},
    {SPECIAL_OPAQUE, "pthread_barrierattr_t", ""},
    {SPECIAL_OPAQUE, "pthread_rwlock_t", ""},
    {SPECIAL_OPAQUE, "sem_t", ""},
    {SPECIAL_FEW, "fcntl", ""},
    {SPECIAL_FEW, "fcntl64", ""},
    {SPECIAL_FEW, "ioctl", ""},
    {SPECIAL_FEW, "mremap", ""},
    {SPECIAL_FEW, "open", ""},
    {SPECIAL_FEW, "open64", ""},
    {SPECIAL_FEW, "openat", ""},
    {SPECIAL_FEW, "openat64", ""},
    {SPECIAL_FEW, "prctl", ""},
    {SPECIAL_FEW, "sem_open", ""},
    {SPECIAL_FEW, "semctl", ""},
    {SPECIAL_COPIED, "_obstack_allocated_p", ""},
    {SPECIAL_COPIED, "_obstack_begin", ""},
    {SPECIAL_COPIED, "_obstack_begin_1", ""},
    {SPECIAL_COPIED, "_obstack_free", ""},
    {SPECIAL_COPIED, "_obstack_memory_used", ""},
    {SPECIAL_COPIED, "_obstack_newchunk", ""},
    {SPECIAL_COPIED, "obstack_free", ""},
    {SPECIAL_REFUSED, "syscall", "system calls have other numbers on another machine"},
    {SPECIAL_REFUSED, "clone", "it makes threads without the C library"},
    {SPECIAL_REFUSED, "pthread_rwlock_init", "locks of that kind are laid out differently on another machine"},
    {SPECIAL_REFUSED, "pthread_getattr_np", "the program's stack is not where that says"},
    {SPECIAL_REFUSED, "mtx_init", "locks of that kind are larger on another machine"},
};

const char *special_find(SpecialKind kind, const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].kind == kind && !strcmp(rows[i].name, name))
            return rows[i].why;
    return NULL;
}
