/* table.c: the functions for what a host of another kind has no instruction for, which only lifted code calls: their types do not count here. */
#include "isa/x86_64/helpers/helpers.h"

#define PLAIN(M) M(block) M(crc32) M(float) M(pdep) M(pext) M(strings)
#define DECLARE(name) void lathe_x86_##name(void);
PLAIN(DECLARE)

#define ROW(name) {"lathe_x86_" #name, (void *)lathe_x86_##name},
const Helper x86_plain_helpers[] = {PLAIN(ROW){NULL, NULL}};
