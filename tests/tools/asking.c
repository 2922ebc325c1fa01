/* asking.c: a program that makes known system calls from known functions, and asks for blocks of known sizes, for the tools of examples/tools. */
#include <stdlib.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static void *volatile kept;

APART static int asks(void) {
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += getppid() > 0;
    return sum;
}

APART static int says(void) {
    int sum = 0;
    for (int i = 0; i < 3; i++)
        sum += write(1, "said\n", 5) == 5;
    return sum + asks();
}

APART static void takes(size_t bytes, int times) {
    for (int i = 0; i < times; i++) {
        kept = malloc(bytes);
        free(kept);
    }
}

int main(void) {
    takes(3333, 7);
    takes(44444, 2);
    return says() + asks() == 13 ? 0 : 1;
}
