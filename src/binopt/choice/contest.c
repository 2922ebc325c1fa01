/* contest.c: begin and end; see contest.h. */
#include "binopt/choice/contest.h"

#include <sys/prctl.h>

_Static_assert(offsetof(Contest, enter) == 0 && offsetof(Contest, current) == 8, "as contest_enter.S has them");

static bool may_read_time(void) {
    int allowed = PR_TSC_ENABLE;
    prctl(PR_GET_TSC, &allowed);
    return allowed == PR_TSC_ENABLE;
}

/* mov $c, %r11; jmp *(%r11). A function's caller expects nothing of r11, and gives nothing in it. */
static void write_end(const Contest *c) {
    u8 code[] = {0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0xff, 0x23};
    memcpy(code + 2, &c, sizeof(c));
    memcpy(c->door.span.code_write + DOOR_END, code, sizeof(code));
}

Contest *contest_begin(const Door *door, const BinoptFunc *versions, u32 count) {
    if (!may_read_time())
        return NULL;
    Contest *c = mem_new(sizeof(*c));
    *c = (Contest){.enter = contest_enter, .door = *door, .left = (i32 *)(door->span.data + sizeof(BinoptFunc))};
    write_end(c);
    contest_begin_again(c, versions, count);
    return c;
}

void contest_free(Contest *c) {
    mem_free(c);
}

int contest_winner(const Contest *c) {
    return __atomic_load_n(&c->winner, __ATOMIC_RELAXED);
}

bool contest_lost(const Contest *c) {
    return contest_winner(c) == (int)c->count - 1;
}
