/* prototypes.c: looks up prototypes of C functions. */
#include "raise/prototypes.h"

#include <stdlib.h>

#include "raise/runtime/slots.h"

#include "cxx_slots.h"       /* cxx_slots: made by cxx.py */
#include "cxx_table.h"       /* cxx_prototypes: likewise */
#include "prototype_table.h" /* prototypes, by name, and prototype_hosts: made by prototypes.py */

static int by_name(const void *name, const void *row) {
    return strcmp(name, ((const Prototype *)row)->name);
}

const Prototype *prototype_find(const char *name) {
    return bsearch(name, prototypes, ARRAY_LEN(prototypes), sizeof(*prototypes), by_name);
}

const Prototype *prototype_find_cxx(const char *name) {
    return bsearch(name, cxx_prototypes, ARRAY_LEN(cxx_prototypes), sizeof(*cxx_prototypes), by_name);
}

bool prototype_slot_in_memory(const char *type, u32 slot) {
    for (size_t i = 0; i < ARRAY_LEN(cxx_slots); i++)
        if (cxx_slots[i].slot == slot && !strcmp(cxx_slots[i].type, type))
            return true;
    return false;
}

/* The same machine may be written with a dash. */
static bool is_same(const char *a, const char *b) {
    for (; *a && (*a == *b || (*a == '_' && *b == '-')); a++)
        b++;
    return !*a && !*b;
}

int prototype_host(const char *host) {
    for (size_t i = 0; i < ARRAY_LEN(prototype_hosts); i++)
        if (is_same(prototype_hosts[i], host))
            return (int)i;
    return -1;
}
