/* helpers_x87_table.c: the table of x87 instructions, which only lifted code calls: their types do not count here. */
#include "isa/x86_64/helpers/helpers.h"

#define X87(name) void lathe_x87_##name(void);
#include "isa/x86_64/helpers/helpers_x87.def"
#undef X87

const Helper x86_x87_helpers[] = {
#define X87(name) {"lathe_x87_" #name, (void *)lathe_x87_##name},
#include "isa/x86_64/helpers/helpers_x87.def"
#undef X87
    {NULL, NULL},
};
