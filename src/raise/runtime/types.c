/* types.c: does a virtual function of the C++ library return a class in memory? For a machine that passes the address of such a result as the first integer, to programs of one that has
 * a register of its own for it, this must be known when the function is called.
 *
 * Which virtual functions of the library's classes do is a table that cxx.py makes. Functions that the library offers by name are looked for in the tables of virtual functions of these classes,
 * which it offers, too. All others are reached only as virtual functions of an object, whose type (Itanium C++ ABI, 2.9.5) leads to the library's class that it comes from. */
#include <dlfcn.h>
#include <stdio.h>

#include "isa/foreign.h"
#include "raise/runtime/slots.h"

#include "cxx_slots.h" /* made by cxx.py */

enum { DEPTH_MAX = 16, NAME_BYTES = 256, TABLE_HEAD = 2 };

/* Of a class that comes from one other; others have no `base`. */
typedef struct Type {
    const u64 *table;
    const char *name;
    const struct Type *base;
} Type;

/* Of the C++ library: the table of types with one base. */
extern const u64 _ZTVN10__cxxabiv120__si_class_type_infoE[] __attribute__((weak));

/* The rows have the names of types, which begin as _ZTI, and of their tables of virtual functions, which begin as _ZTV. */
static const char *row_class(const CxxSlot *row) {
    return row->type + strlen("_ZTI");
}

static bool is_in_offered_table(u64 target) {
    char name[NAME_BYTES];
    for (size_t i = 0; i < ARRAY_LEN(cxx_slots); i++) {
        snprintf(name, sizeof(name), "_ZTV%s", row_class(&cxx_slots[i]));
        const u64 *table = dlsym(RTLD_DEFAULT, name);
        if (table && table[TABLE_HEAD + cxx_slots[i].slot] == target)
            return true;
    }
    return false;
}

static bool has_slot(const Type *type, u32 slot) {
    for (size_t i = 0; i < ARRAY_LEN(cxx_slots); i++)
        if (cxx_slots[i].slot == slot && !strcmp(row_class(&cxx_slots[i]), type->name))
            return true;
    return false;
}

static bool comes_from_slot(const Type *type, u32 slot) {
    for (int depth = 0; depth < DEPTH_MAX; depth++) {
        if (has_slot(type, slot))
            return true;
        if (type->table != _ZTVN10__cxxabiv120__si_class_type_infoE + TABLE_HEAD)
            return false;
        type = type->base;
    }
    return false;
}

static bool is_in_memory_for(const u64 *table, u64 target) {
    const Type *type = (const Type *)table[-1];
    for (u32 slot = 0; slot < CXX_SLOTS; slot++)
        if (table[slot] == target)
            return comes_from_slot(type, slot);
    return false;
}

bool host_returns_in_memory(u64 target, u64 object) {
    Dl_info found;
    if (!dladdr((const void *)target, &found) || !found.dli_fname || !strstr(found.dli_fname, "libstdc++.so"))
        return false;
    if (found.dli_sname && (u64)found.dli_saddr == target)
        return is_in_offered_table(target);
    return is_in_memory_for(*(const u64 *const *)object, target);
}
