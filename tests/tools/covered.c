/* covered.c: covered COUNT: a program with lines that are executed often, once and never, for what tools say about lines and functions. */
#include <stdio.h>
#include <stdlib.h>

static int never_called(int x) {
    if (x > 3)
        x++;
    return x;
}

static int classify(int i) {
    if (i % 3 == 0)
        return 1;
    else if (i % 5 == 0)
        return 2;
    switch (i % 7) {
    case 0:
        return 3;
    case 1:
    case 2:
        return 4;
    default:
        break;
    }
    return i > 1000000 ? never_called(i) : 0;
}

static int fib(int n) {
    if (n < 2)
        return n;
    return fib(n - 1) + fib(n - 2);
}

static long inner(int rows, int columns) {
    long sum = 0;
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < columns; k++) {
            sum += i * k;
            (void)(k == 3 && classify(k));
        }
        while (sum > 5000)
            sum -= 999;
    }
    return sum;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 0, kinds[5] = {0};
    if (!count) {
        fprintf(stderr, "how many?\n");
        return 2;
    }
    for (int i = 0; i < count; i++)
        kinds[classify(i)]++;
    printf("%d %d %d %d %d\n", kinds[0], kinds[1], kinds[2], kinds[3], kinds[4]);
    printf("%d\n", fib(12));
    printf("%ld\n", inner(20, count));
    return 0;
}
