/* helpers.c: see helpers.h. */
#include "codegen/helpers.h"

#include "isa/isa.h"

static void *find_in(const Isa *isa, const char *name) {
    for (const Helper *const *table = isa->helpers; *table; table++)
        for (const Helper *row = *table; row->name; row++)
            if (!strcmp(row->name, name))
                return row->address;
    return NULL;
}

void *codegen_helper(const char *name) {
    const Isa *isa;
    for (int arch = 0; (isa = isa_find((LatheArch)arch)); arch++) {
        void *address = find_in(isa, name);
        if (address)
            return address;
    }
    return NULL;
}
