/* pages.c: memory for tools (tool/library/memory.c), in own areas of the client (memory/own.h), which the guest never sees. */
#include "run/client/memory/own.h"
#include "run/client/tool/runtime.h"

/* Memory is taken when it is used: a tool may have a table for all addresses of the program, of which it uses few pages. */
void *tool_pages(u64 bytes) {
    i64 at = own_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return sys_failed(at) ? NULL : (void *)at;
}

void tool_pages_free(void *pages, u64 bytes) {
    sys_pages_free(pages, bytes);
}

bool tool_pages_clear(void *pages, u64 bytes) {
    return !sys_failed(sys_madvise((u64)pages, bytes, MADV_DONTNEED));
}
