/* load.c: see load.h. */
#include "codegen/load.h"

#include <dlfcn.h>

#include "codegen/helpers.h"

bool load_resolve(void *user, const char *name, u64 *address) {
    (void)user;
    void *at = codegen_helper(name);
    if (!at)
        at = dlsym(RTLD_DEFAULT, name);
    *address = (u64)at;
    return at != NULL;
}

LatheStatus load_object(CodeMem *m, const void *object, size_t size, LinkResolve *resolve, LinkDefine *define,
                        void *user, CodeSpan *span, u64 *unwind) {
    LinkNeeds needs;
    u64 bytes;
    LatheStatus status = link_measure(object, size, &needs);
    if (status < 0)
        return status;
    if (!codemem_alloc(m, needs.code_bytes, needs.data_bytes, needs.align, span))
        return LATHE_ERR_NOMEM;
    LinkPlace place = {.code_write = span->code_write,
                       .data_write = span->data,
                       .code_run = (u64)span->code_run,
                       .data_run = (u64)span->data,
                       .work = mem_new(needs.work_bytes),
                       .resolve = resolve,
                       .user = user};
    status = link_place(object, size, &place);
    if (status == LATHE_OK) {
        link_symbols(object, size, &place, define, user);
        if (!link_section(object, size, &place, ".eh_frame", unwind, &bytes))
            *unwind = 0;
        __builtin___clear_cache((char *)span->code_run, (char *)span->code_run + needs.code_bytes);
    } else {
        codemem_release(m, span);
    }
    mem_free(place.work);
    return status;
}
