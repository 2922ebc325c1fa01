/* helpers.h: C functions of liblathe that lifted code calls by name. They are hidden, so dlsym does not find them. */
#ifndef CODEGEN_HELPERS_H
#define CODEGEN_HELPERS_H

/* NULL if no ISA has a helper of that name. */
void *codegen_helper(const char *name);

#endif
