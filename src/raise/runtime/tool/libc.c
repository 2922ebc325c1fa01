/* libc.c: what the tools' run-time uses of the program's C library, and the functions of C that a tool may call by their names. */
#include "raise/runtime/tool/runtime.h"

#ifdef TOOL_OWN_MACHINE
#define F(name) extern __typeof__(name) lathe_import_##name;
LIBC_FUNCTIONS(F)
#undef F
#define F(name) .name##_at = lathe_import_##name,
#else
#define F(name) .name##_at = name,
#endif

Libc lathe_tool_libc = {LIBC_FUNCTIONS(F)};
#undef F

#ifdef TOOL_OWN_MACHINE
void *memcpy(void *to, const void *from, size_t size) {
    return LIBC(memcpy)(to, from, size);
}

void *memmove(void *to, const void *from, size_t size) {
    return LIBC(memmove)(to, from, size);
}

void *memset(void *to, int byte, size_t size) {
    return LIBC(memset)(to, byte, size);
}

int memcmp(const void *a, const void *b, size_t size) {
    return LIBC(memcmp)(a, b, size);
}

void *memchr(const void *in, int byte, size_t size) {
    return LIBC(memchr)(in, byte, size);
}

size_t strlen(const char *text) {
    return LIBC(strlen)(text);
}

int strcmp(const char *a, const char *b) {
    return LIBC(strcmp)(a, b);
}

int strncmp(const char *a, const char *b, size_t most) {
    return LIBC(strncmp)(a, b, most);
}

char *strchr(const char *text, int byte) {
    return LIBC(strchr)(text, byte);
}

char *strrchr(const char *text, int byte) {
    return LIBC(strrchr)(text, byte);
}

char *strstr(const char *text, const char *part) {
    return LIBC(strstr)(text, part);
}
#endif
