/* hello.c: to be compiled and linked by a translated compiler. */
#include <stdio.h>
#include <string.h>

struct point {
    int x, y;
};

static int area(const struct point *p, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i].x * p[(i + 1) % n].y - p[(i + 1) % n].x * p[i].y;
    return sum / 2;
}

int main(int argc, char **argv) {
    struct point p[] = {{0, 0}, {4, 0}, {4, 3}, {0, 3}};
    printf("hello, area %d, %d arguments, %zu\n", area(p, 4), argc - 1, argc > 1 ? strlen(argv[1]) : 0);
    return 0;
}
