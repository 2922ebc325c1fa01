/* selfmod.c: memory that is writable and executable at once, with code that changes between calls. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int main(void) {
    uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    long sum = 0;
    for (int i = 0; i < 100; i++) {
        uint8_t code[] = {0x8d, 0x87, 0, 0, 0, 0, 0xc3}; /* lea eax, [rdi + i]; ret */
        memcpy(code + 2, &i, 4);
        memcpy(p, code, sizeof(code));
        sum = sum * 3 % 1000003 + ((int (*)(int))(uintptr_t)p)(1);
    }
    printf("%ld\n", sum);
    return 0;
}
