/* order.h: the order in which the guest's memory is accessed, as its threads rely on it. */
#ifndef RUN_SERVER_ORDER_H
#define RUN_SERVER_ORDER_H

#include <llvm-c/Core.h>

#include "cache/key.h"
#include "host/host.h"

/* memory_order.c: keeps LLVM and the host from changing the guest's memory accesses more than this order allows. */
void memory_order_keep(LLVMValueRef fn, LLVMContextRef ctx, MemoryOrder order, const Host *host);
/* fences.c: puts fences where the host would change the order that the guest's threads rely on. */
void memory_order_fence(LLVMValueRef fn, LLVMContextRef ctx, const Host *host);

#endif
