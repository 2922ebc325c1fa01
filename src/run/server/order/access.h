/* access.h: what instructions of a lifted function do to memory that others see (memory_order.c). */
#ifndef RUN_SERVER_ORDER_ACCESS_H
#define RUN_SERVER_ORDER_ACCESS_H

#include <llvm-c/Core.h>

#include "base/base.h"

/* Does a pointer lead to the guest state, which nobody else accesses? */
bool access_is_state(LLVMValueRef pointer, LLVMValueRef fn);
/* Is an intrinsic of LLVM called? And is it one that copies or fills memory? */
bool access_is_intrinsic(LLVMValueRef call);
bool access_is_copy(LLVMValueRef call);
/* Does LLVM know what memory the callee accesses, and is that not the guest's? So it is with helpers that get a pointer to nothing but the guest state. */
bool access_is_limited(LLVMValueRef call);

#endif
