// chosen.c: functions that are chosen by the processor (STT_GNU_IFUNC), called and by address.
#include <cpuid.h>
#include <stdio.h>
#include <string.h>
static volatile int level = 2;
static int plain(const char *s) {
    return (int)strlen(s);
}
static int twice(const char *s) {
    return level * (int)strlen(s);
}
/* All processors of today and the one of lifted code have SSE2, and none has 3DNow!. */
static int (*choose(void))(const char *) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (d & bit_SSE2) ? twice : plain;
}
static int (*choose_other(void))(const char *) {
    unsigned a, b, c, d;
    return __get_cpuid(0x80000001, &a, &b, &c, &d) && (d & bit_3DNOW) ? twice : plain;
}
int length(const char *s) __attribute__((ifunc("choose")));
static int other(const char *s) __attribute__((ifunc("choose_other")));
int (*pointer)(const char *) = length;
int (*const table[])(const char *) = {other, length};
__attribute__((constructor)) static void begin(void) {
    printf("begins with %d\n", length("ab"));
}
int main(void) {
    int (*local)(const char *) = other;
    printf("%d %d %d %d %d %d\n", length("abc"), other("abc"), pointer("abcd"), local("x"), table[0]("ab"),
           table[1]("ab"));
    printf("%d\n", (void *)local == (void *)pointer);
    return 0;
}
