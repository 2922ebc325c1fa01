/* load.h: objects linked into code memory, ready to run. */
#ifndef CODEGEN_LOAD_H
#define CODEGEN_LOAD_H

#include "codegen/codemem.h"
#include "codegen/link.h"

/* Where it then is, in *span, and its unwind tables in *unwind, 0 if it has none; `define` is told of its global symbols. On
 * failure the memory is as before. */
LatheStatus load_object(CodeMem *m, const void *object, size_t size, LinkResolve *resolve, LinkDefine *define,
                        void *user, CodeSpan *span, u64 *unwind);

/* A LinkResolve for what is not defined by other objects: helpers of lifted code, and what dlsym finds. */
bool load_resolve(void *user, const char *name, u64 *address);

#endif
