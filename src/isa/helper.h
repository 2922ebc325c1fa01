/* helper.h: C functions that lifted code calls by name. */
#ifndef ISA_HELPER_H
#define ISA_HELPER_H

/* A table of helpers ends with a row without a name. */
typedef struct Helper {
    const char *name;
    void *address;
} Helper;

#endif
