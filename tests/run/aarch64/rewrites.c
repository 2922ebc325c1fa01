/* rewrites.c: code that is written anew and called at once, and code that changes an instruction of its own page. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { ADD_TO_X0 = 0x91000000, MOVE_TO_X0 = 0x52800000, ISB = 0xd5033fdf, NOP = 0xd503201f, RETURN = 0xd65f03c0 };

typedef unsigned long Function(unsigned long, uint32_t);

static unsigned long call(uint32_t *code, size_t words, unsigned long x0, uint32_t w1) {
    __builtin___clear_cache((char *)code, (char *)(code + words));
    return ((Function *)code)(x0, w1);
}

int main(void) {
    uint32_t *page = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long sum = 0;
    for (uint32_t i = 0; i < 500; i++) {
        page[0] = ADD_TO_X0 | i << 10;
        page[1] = RETURN;
        sum = call(page, 2, sum, 0);
    }
    printf("%lu\n", sum);
    /* str w1, [x0, #32]; add x2, x0, #32; dc cvau, x2; dsb ish; ic ivau, x2; dsb ish; isb; nop; what is written over; ret */
    static const uint32_t own[] = {0xb9002001, 0x91008002, 0xd50b7b22, 0xd5033b9f, 0xd50b7522,
                                   0xd5033b9f, ISB,        NOP,        MOVE_TO_X0, RETURN};
    for (uint32_t i = 0; i < 50; i++) {
        memcpy(page, own, sizeof(own));
        sum += call(page, 10, (unsigned long)page, MOVE_TO_X0 | i << 5);
    }
    printf("%lu\n", sum);
    return 0;
}
