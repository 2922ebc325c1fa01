/* rewrites.c: code that is written anew and called at once, and code that changes an instruction of its own page. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { ADD_TO_A0 = 0x00050513, LOAD_A0 = 0x00000513, RETURN = 0x00008067 };

typedef unsigned long Function(unsigned long, uint32_t);

static unsigned long call(uint32_t *code, size_t words, unsigned long a0, uint32_t a1) {
    __builtin___clear_cache((char *)code, (char *)(code + words));
    return ((Function *)code)(a0, a1);
}

int main(void) {
    uint32_t *page = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned long sum = 0;
    for (uint32_t i = 0; i < 500; i++) {
        page[0] = ADD_TO_A0 | i << 20;
        page[1] = RETURN;
        sum = call(page, 2, sum, 0);
    }
    printf("%lu\n", sum);
    /* sw a1, 16(a0); fence.i; nop; nop; what is written over; ret */
    static const uint32_t own[] = {0x00b52823, 0x0000100f, 0x00000013, 0x00000013, LOAD_A0, RETURN};
    for (uint32_t i = 0; i < 50; i++) {
        memcpy(page, own, sizeof(own));
        sum += call(page, 6, (unsigned long)page, LOAD_A0 | i << 20);
    }
    printf("%lu\n", sum);
    return 0;
}
