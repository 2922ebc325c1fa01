// chosen.c: functions that are chosen by the processor (STT_GNU_IFUNC), called and by address.
#include <stdio.h>
#include <string.h>
static volatile int level = 2;
static int plain(const char *s) {
    return (int)strlen(s);
}
static int twice(const char *s) {
    return level * (int)strlen(s);
}
static int (*choose(void))(const char *) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse2") < 0 ? plain : twice;
}
static int (*choose_other(void))(const char *) {
    return plain;
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
