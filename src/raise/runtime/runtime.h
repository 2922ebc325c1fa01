/* runtime.h: what raised code calls by name on another machine. Names and types are as src/raise/foreign builds them. */
#ifndef RAISE_RUNTIME_RUNTIME_H
#define RAISE_RUNTIME_RUNTIME_H

#include "isa/foreign.h"

/* Where frames of the program can go in this thread: 0 before there are any. While raised code runs, bit 0 is set, and the
 * program's own frames may lie below. */
extern __thread u64 lathe_raise_stack;

/* enter.c */
void lathe_raise_entered(ForeignRegs *regs, void (*bridge)(GuestCpu *cpu));
void lathe_raise_call(GuestCpu *cpu);
void lathe_raise_syscall(GuestCpu *cpu);
void lathe_raise_landed(u64 stack);
void lathe_raise_terminate(u64 exception);
_Noreturn void lathe_raise_stop(const char *text, u64 size, u64 pc);
_Noreturn void lathe_raise_signal(u64 number, u64 code, u64 pc);

/* format.c: a va_list for the host's C library with the arguments that the format asks for. `area` is room for it. */
enum { LIST_SLOTS = 128, AREA_BYTES = HOST_LIST_BYTES + 8 * LIST_SLOTS };
enum { FORMAT_SCANS = 1, FORMAT_WIDE = 2 }; /* `kind` */
void *lathe_raise_list(const ForeignRegs *regs, u32 ints, u32 floats, const void *format, u32 kind, void *area);
void *lathe_raise_list_of(const void *list, const void *format, u32 kind, void *area);

/* The variable arguments behind so many named ones, which are pointers up to a null pointer, as an array in `area`. */
void *lathe_raise_pointers(const ForeignRegs *regs, u32 ints, void *area);
/* The argument behind the null pointer. */
void *lathe_raise_pointers_end(void **pointers);

/* long double */
long double lathe_raise_extended(const void *at);

#endif
