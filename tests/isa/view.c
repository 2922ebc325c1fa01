/* view.c: what a tool sees of some instructions (isa/view.h), by hand: view_cases.h of a guest has them. isa-effects compares accesses, registers and control with lifted
 * code; classes and names are here only. Prints the time that a view takes. */
#include "guest.h"
#include "isa/isa.h"

#include <stdio.h>
#include <time.h>

typedef struct Case {
    u32 word;
    const char *name;
    u16 classes;
    u32 reads, writes;
} Case;

#include "view_cases.h"

static const Isa *isa;

static u64 cpu_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (u64)ts.tv_sec * 1000000000 + (u64)ts.tv_nsec;
}

static bool check(const Case *c) {
    InsnView v = {0};
    bool known = isa->view((const u8 *)&c->word, sizeof(c->word), 0x1000, &v);
    if (known && !strcmp(isa->opcode_name(v.opcode), c->name) && v.classes == c->classes && v.reads == c->reads &&
        v.writes == c->writes && v.kills == (c->writes == ALL ? 0 : c->writes))
        return true;
    printf("%08x: %s, classes %#x, reads %#x, writes %#x instead of %s, %#x, %#x, %#x\n", c->word,
           isa->opcode_name(v.opcode), v.classes, v.reads, v.writes, c->name, c->classes, c->reads, c->writes);
    return false;
}

int main(void) {
    enum { ROUNDS = 20000 };
    size_t failures = 0;
    isa = isa_find(GUEST_ARCH);
    InsnView v;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        failures += !check(&cases[i]);
    u64 start = cpu_ns();
    for (size_t i = 0; i < ROUNDS * ARRAY_LEN(cases); i++)
        failures += !isa->view((const u8 *)&cases[i % ARRAY_LEN(cases)].word, 4, i, &v);
    printf("%.1f ns each\n", (double)(cpu_ns() - start) / (ROUNDS * ARRAY_LEN(cases)));
    printf("%zu failures\n", failures);
    return failures != 0;
}
