/* target_driver.c: calls the functions of target_guest.c, as they are or lifted, and prints what they give. */
#include <stdio.h>

#ifdef LIFTED
#define F(name) sysv_##name
#else
#define F(name) name
#endif

long F(checksum)(const unsigned char *bytes, long n);
double F(weigh)(const double *v, long n);
long F(classify)(long a, long b);
int F(shrink)(int a, int b);
double F(precise)(const double *v, long n);

int main(void) {
    static const double v[] = {1.5, -2.25, 1e10, 3.141592653589793, 0.1};
    static const long numbers[] = {0, 1, -1, 7, -8, 1L << 40, 0x7fffffffffffffff};
    printf("%lx\n", F(checksum)((const unsigned char *)"code for another machine", 24));
    printf("%a\n", F(weigh)(v, 5));
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 7; k++)
            printf("%lx ", F(classify)(numbers[i], numbers[k]));
    for (int i = 0; i < 7; i++)
        printf("%lx ", (long)F(shrink)((int)numbers[i] | 0x8001, 65537 * i));
    printf("\n");
#ifdef EXTENDED
    printf("%a\n", F(precise)(v, 5));
#endif
    return 0;
}
