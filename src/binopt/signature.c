/* signature.c: see signature.h; by libdw. */
#include "binopt/signature.h"

#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------------------- types */

static bool referred_type(Dwarf_Die *die, Dwarf_Die *type) {
    Dwarf_Attribute attr;
    return dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, type);
}

static BinoptType integer(i64 bytes, bool has_sign) {
    switch (bytes) {
    case 1:
        return has_sign ? BINOPT_TY_INT8 : BINOPT_TY_UINT8;
    case 2:
        return has_sign ? BINOPT_TY_INT16 : BINOPT_TY_UINT16;
    case 4:
        return has_sign ? BINOPT_TY_INT32 : BINOPT_TY_UINT32;
    case 8:
        return has_sign ? BINOPT_TY_INT64 : BINOPT_TY_UINT64;
    }
    return BINOPT_TY_VOID;
}

static BinoptType base_type(Dwarf_Die *die) {
    Dwarf_Attribute attr;
    Dwarf_Word encoding = 0;
    if (!dwarf_attr_integrate(die, DW_AT_encoding, &attr) || dwarf_formudata(&attr, &encoding))
        return BINOPT_TY_VOID;
    int bytes = dwarf_bytesize(die);
    switch (encoding) {
    case DW_ATE_float:
        return bytes == 4 ? BINOPT_TY_FLOAT : bytes == 8 ? BINOPT_TY_DOUBLE : BINOPT_TY_VOID;
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        return integer(bytes, true);
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
    case DW_ATE_boolean:
        return integer(bytes, false);
    }
    return BINOPT_TY_VOID;
}

/* The type that `die` refers to; BINOPT_TY_VOID also if there is no name for it. */
static BinoptType type_of(Dwarf_Die *die) {
    Dwarf_Die type;
    bool alone = false;
    while (referred_type(die, &type)) {
        switch (dwarf_tag(&type)) {
        case DW_TAG_base_type:
            return base_type(&type);
        case DW_TAG_enumeration_type:
            return integer(dwarf_bytesize(&type), false);
        case DW_TAG_pointer_type:
        case DW_TAG_reference_type:
        case DW_TAG_rvalue_reference_type:
            return alone ? BINOPT_TY_PTR_NOALIAS : BINOPT_TY_PTR;
        case DW_TAG_restrict_type:
            alone = true;
            break;
        case DW_TAG_typedef:
        case DW_TAG_const_type:
        case DW_TAG_volatile_type:
            break;
        default:
            return BINOPT_TY_VOID;
        }
        *die = type;
    }
    return BINOPT_TY_VOID;
}

static bool returns_something(Dwarf_Die function) {
    Dwarf_Die type;
    return referred_type(&function, &type);
}

/* ---------------------------------------------------------------------------------------------------------- functions */

static bool take_parameter(BinoptCfg *found, Dwarf_Die param) {
    BinoptType type = type_of(&param);
    if (type)
        VEC_PUSH(&found->params, ((Param){.type = type}));
    return type != BINOPT_TY_VOID;
}

static bool take_signature(BinoptCfg *found, Dwarf_Die *function) {
    Dwarf_Die child, copy = *function;
    found->ret = type_of(&copy);
    if (!found->ret && returns_something(*function))
        return false;
    if (dwarf_child(function, &child))
        return true;
    do {
        if (dwarf_tag(&child) == DW_TAG_unspecified_parameters)
            return false;
        if (dwarf_tag(&child) == DW_TAG_formal_parameter && !take_parameter(found, child))
            return false;
    } while (!dwarf_siblingof(&child, &child));
    return true;
}

typedef struct Search {
    Dwarf_Addr pc;
    Dwarf_Die found;
    bool is_found;
} Search;

static int look_at(Dwarf_Die *die, void *user) {
    Search *s = user;
    Dwarf_Addr entry;
    if (dwarf_lowpc(die, &entry) || entry != s->pc)
        return DWARF_CB_OK;
    s->found = *die;
    s->is_found = true;
    return DWARF_CB_ABORT;
}

static bool find_function(Dwarf *dwarf, Search *s) {
    Dwarf_CU *cu = NULL;
    Dwarf_Die unit;
    while (!s->is_found && !dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL))
        if (dwarf_haspc(&unit, s->pc) > 0)
            dwarf_getfuncs(&unit, look_at, s, 0);
    return s->is_found;
}

static bool search_file(const char *file, Search *s, BinoptCfg *found) {
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
    bool ok = dwarf && find_function(dwarf, s) && take_signature(found, &s->found);
    if (dwarf)
        dwarf_end(dwarf);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool signature_find_in(BinoptCfg *cfg, const char *file, u64 addr) {
    Search s = {.pc = addr};
    BinoptCfg found = {0};
    bool ok = search_file(file, &s, &found);
    if (ok) {
        config_set_type(cfg, (u32)found.params.len, found.ret);
        for (size_t i = 0; i < found.params.len; i++)
            cfg->params.at[i].type = found.params.at[i].type;
    }
    VEC_FREE(&found.params);
    return ok;
}

bool signature_find(BinoptCfg *cfg) {
    Dl_info info;
    struct link_map *map;
    if (!dladdr1((void *)cfg->function, &info, (void **)&map, RTLD_DL_LINKMAP))
        return false;
    return signature_find_in(cfg, *map->l_name ? map->l_name : "/proc/self/exe", cfg->function - map->l_addr);
}
