/* handler_return.c: see handler_return.h. The guest has no vdso, so it gets a page with these instructions when it starts. */
#include "run/client/guest/generic/handler_return.h"

#include "run/client/core/frame.h"
#include "run/client/memory/space.h"

static u64 address;

u64 handler_return_address(void) {
    return address;
}

bool frame_prepare(void) {
    i64 page = space_mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sys_failed(page))
        return false;
    memcpy((void *)page, handler_return_code, sizeof(handler_return_code));
    address = (u64)page;
    return !space_mprotect((u64)page, PAGE, PROT_READ | PROT_EXEC);
}
