/* signature.c: see signature.h. It uses libdw. */
#include "binopt/config/signature.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "base/process.h"
#include "binopt/process/fork.h"

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

/* The type that `die` refers to; BINOPT_TY_VOID also if binopt has no name for it. */
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

/* ------------------------------------------------------------------------------------------------------------ results */

/* The classes of the two words that a result in registers has at most. */
enum { WORD = 8, WORDS = 2, MAX_NESTING = 16 };
typedef enum Class { CLASS_NONE, CLASS_INT, CLASS_FLOAT } Class;
typedef struct Classes {
    Class word[WORDS];
    i64 bytes;  /* size of the whole result */
    bool other; /* it is in memory or in x87 registers, or its type is not understood */
} Classes;

static void add_scalar(Classes *c, i64 offset, i64 bytes, Class class) {
    if (offset < 0 || bytes <= 0 || offset + bytes > WORD * WORDS || offset % (bytes < WORD ? bytes : WORD)) {
        c->other = true;
        return;
    }
    c->bytes = offset + bytes > c->bytes ? offset + bytes : c->bytes;
    for (i64 at = offset / WORD; at * WORD < offset + bytes; at++)
        c->word[at] = class == CLASS_INT || c->word[at] == CLASS_INT ? CLASS_INT : class;
}

static void add_base_type(Classes *c, Dwarf_Die *type, i64 offset) {
    Dwarf_Attribute attr;
    Dwarf_Word encoding = 0;
    i64 bytes = dwarf_bytesize(type);
    if (!dwarf_attr_integrate(type, DW_AT_encoding, &attr) || dwarf_formudata(&attr, &encoding)) {
        c->other = true;
    } else if (encoding == DW_ATE_complex_float && bytes <= 16) {
        add_scalar(c, offset, bytes / 2, CLASS_FLOAT);
        add_scalar(c, offset + bytes / 2, bytes / 2, CLASS_FLOAT);
    } else if (encoding == DW_ATE_float && bytes <= 8) {
        add_scalar(c, offset, bytes, CLASS_FLOAT);
    } else if (encoding == DW_ATE_float || encoding == DW_ATE_complex_float) {
        c->other = true;
    } else {
        add_scalar(c, offset, bytes, CLASS_INT);
    }
}

static void add_type(Classes *c, Dwarf_Die *of, i64 offset, int depth);

/* The offset of a bit-field is given in bits. */
static bool member_offset(Dwarf_Die *member, i64 *offset) {
    Dwarf_Attribute attr;
    Dwarf_Word value = 0;
    *offset = 0;
    if (dwarf_attr_integrate(member, DW_AT_data_bit_offset, &attr)) {
        if (dwarf_formudata(&attr, &value))
            return false;
        *offset = (i64)value / 8;
    } else if (dwarf_attr_integrate(member, DW_AT_data_member_location, &attr)) {
        if (dwarf_formudata(&attr, &value))
            return false;
        *offset = (i64)value;
    }
    return true;
}

/* A bit-field has class INTEGER wherever its bits are. */
static void add_member(Classes *c, Dwarf_Die *member, i64 offset, int depth) {
    i64 at;
    if (!member_offset(member, &at))
        c->other = true;
    else if (dwarf_hasattr(member, DW_AT_bit_size))
        add_scalar(c, offset + at, 1, CLASS_INT);
    else
        add_type(c, member, offset + at, depth);
}

/* A class of C++ says whether it is passed like a struct of C. Debug information of older compilers does not say so:
 * then it is not known. */
static bool is_by_value(Dwarf_Die *type) {
    Dwarf_Attribute attr;
    Dwarf_Word convention = 0;
    Dwarf_Die unit;
    int language = dwarf_diecu(type, &unit, NULL, NULL) ? dwarf_srclang(&unit) : 0;
    if (dwarf_attr_integrate(type, DW_AT_calling_convention, &attr) && !dwarf_formudata(&attr, &convention))
        return convention == DW_CC_pass_by_value;
    return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 || language == DW_LANG_C11;
}

static void add_members(Classes *c, Dwarf_Die *type, i64 offset, int depth) {
    Dwarf_Die child;
    if (!is_by_value(type) || dwarf_child(type, &child)) {
        c->other = true;
        return;
    }
    do {
        int tag = dwarf_tag(&child);
        bool is_static = dwarf_hasattr(&child, DW_AT_external) || dwarf_hasattr(&child, DW_AT_const_value);
        if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) && !is_static)
            add_member(c, &child, offset, depth);
    } while (!dwarf_siblingof(&child, &child));
}

static void add_elements(Classes *c, Dwarf_Die *array, i64 offset, int depth) {
    Dwarf_Die element;
    Dwarf_Word all = 0, each = 0;
    bool known = !dwarf_hasattr(array, DW_AT_GNU_vector) && !dwarf_aggregate_size(array, &all) &&
                 referred_type(array, &element) && !dwarf_aggregate_size(&element, &each) && each &&
                 all <= WORD * WORDS;
    c->other |= !known;
    for (Dwarf_Word at = 0; known && at < all; at += each)
        add_type(c, array, offset + (i64)at, depth);
}

/* Adds the type that `of` refers to, at an offset in the result. */
static void add_type(Classes *c, Dwarf_Die *of, i64 offset, int depth) {
    Dwarf_Die type, from = *of;
    if (depth > MAX_NESTING || !referred_type(&from, &type)) {
        c->other = true;
        return;
    }
    switch (dwarf_tag(&type)) {
    case DW_TAG_base_type:
        add_base_type(c, &type, offset);
        break;
    case DW_TAG_enumeration_type:
        add_scalar(c, offset, dwarf_bytesize(&type), CLASS_INT);
        break;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        add_scalar(c, offset, WORD, CLASS_INT);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        add_members(c, &type, offset, depth + 1);
        break;
    case DW_TAG_array_type:
        add_elements(c, &type, offset, depth + 1);
        break;
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
        add_type(c, &type, offset, depth + 1);
        break;
    default:
        c->other = true;
    }
}

/* Integers are in rax and then rdx, floating-point numbers in xmm0 and then xmm1. Returns 0 if the result is in
 * neither. */
static ResultRegs result_registers(Dwarf_Die *function) {
    Classes c = {0};
    u32 regs = 0, ints = 0, floats = 0;
    add_type(&c, function, 0, 0);
    for (int i = 0; i < WORDS && !c.other; i++) {
        if (c.word[i] == CLASS_INT)
            regs |= ints++ ? RESULT_RDX : RESULT_RAX;
        if (c.word[i] == CLASS_FLOAT)
            regs |= floats++ ? RESULT_XMM1 : RESULT_XMM0;
    }
    if (regs == RESULT_XMM0 && c.bytes == 4)
        regs |= RESULT_SINGLE;
    return (ResultRegs)regs;
}

/* ---------------------------------------------------------------------------------------------------------- functions */

static bool take_parameter(BinoptCfg *found, Dwarf_Die param) {
    BinoptType type = type_of(&param);
    if (type)
        VEC_PUSH(&found->params, ((Param){.type = type}));
    return type != BINOPT_TY_VOID;
}

/* If binopt has no name for the result's type but it is in registers, takes the type of the first of them. */
static bool take_result(BinoptCfg *found, Dwarf_Die *function) {
    Dwarf_Die copy = *function;
    if (!returns_something(*function))
        return true;
    found->ret = type_of(&copy);
    found->results = result_registers(function);
    if (!found->ret && found->results)
        found->ret = found->results & RESULT_RAX ? BINOPT_TY_INT64 : BINOPT_TY_DOUBLE;
    return found->ret != BINOPT_TY_VOID;
}

/* Returns false with the reason in found->untyped. */
static bool take_signature(BinoptCfg *found, Dwarf_Die *function) {
    Dwarf_Die child;
    found->untyped = "its result has a type that is neither a BinoptType nor returned in registers";
    if (!take_result(found, function))
        return false;
    if (dwarf_child(function, &child))
        return true;
    do {
        bool is_parameter = dwarf_tag(&child) == DW_TAG_formal_parameter;
        found->untyped = is_parameter ? "a parameter has a type that is no BinoptType, such as a struct"
                                      : "it has a variable number of arguments";
        if (dwarf_tag(&child) == DW_TAG_unspecified_parameters || (is_parameter && !take_parameter(found, child)))
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

/* Returns false if the file has no such function, or `take` returns false. */
static bool search_file(const char *file, u64 addr, BinoptCfg *found, bool (*take)(BinoptCfg *, Dwarf_Die *)) {
    Search s = {.pc = addr};
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
    bool ok = dwarf && find_function(dwarf, &s) && take(found, &s.found);
    if (dwarf)
        dwarf_end(dwarf);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool signature_find_in(BinoptCfg *cfg, const char *file, u64 addr) {
    BinoptCfg found = {.untyped = "there is no debug information of it, and binopt_cfg_type was not called"};
    bool ok = search_file(file, addr, &found, take_signature);
    cfg->untyped = found.untyped;
    if (ok) {
        config_set_type(cfg, (u32)found.params.len, found.ret);
        cfg->results = found.results;
        for (size_t i = 0; i < found.params.len; i++)
            cfg->params.at[i].type = found.params.at[i].type;
    }
    VEC_FREE(&found.params);
    return ok;
}

/* ------------------------------------------------------------------------------------------------------ of this process */

/* The file that a function is in, and its address there. */
typedef struct FunctionOrigin {
    u64 function;
    u64 unloads;
    char path[PATH_MAX];
} FunctionOrigin;

static void note_origin(const ProcessFile *f, void *user) {
    FunctionOrigin *o = user;
    snprintf(o->path, sizeof(o->path), "%s", *f->path ? f->path : "/proc/self/exe");
    o->function -= f->base;
    o->unloads = f->unloads;
}

bool signature_find(BinoptCfg *cfg) {
    FunctionOrigin o = {.function = cfg->function};
    cfg->untyped = "it is in no file, and binopt_cfg_type was not called";
    return process_look_at(cfg->function, note_origin, &o) && signature_find_in(cfg, o.path, o.function);
}

static bool take_registers(BinoptCfg *found, Dwarf_Die *function) {
    found->results = returns_something(*function) ? result_registers(function) : 0;
    return true;
}

/* Results that were found, because they are needed for each version of a function. They are valid as long as no file is
 * unloaded, since another one may then be in its place. When the table is full, all of it is forgotten. */
enum { MOST_KNOWN = 256 };
static struct {
    pthread_mutex_t lock;
    u64 unloads;
    u32 count;
    struct {
        u64 function;
        ResultRegs results;
    } at[MOST_KNOWN];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool recall(u64 function, u64 unloads, ResultRegs *results) {
    bool found = false;
    fork_protect(&known.lock);
    pthread_mutex_lock(&known.lock);
    if (known.unloads != unloads || known.count == MOST_KNOWN)
        known.count = 0;
    known.unloads = unloads;
    for (u32 i = 0; i < known.count && !found; i++) {
        found = known.at[i].function == function;
        *results = known.at[i].results;
    }
    pthread_mutex_unlock(&known.lock);
    return found;
}

static void remember(u64 function, u64 unloads, ResultRegs results) {
    pthread_mutex_lock(&known.lock);
    if (known.unloads == unloads && known.count < MOST_KNOWN) {
        known.at[known.count].function = function;
        known.at[known.count++].results = results;
    }
    pthread_mutex_unlock(&known.lock);
}

ResultRegs signature_results(u64 function) {
    FunctionOrigin o = {.function = function};
    BinoptCfg found = {0};
    if (!process_look_at(function, note_origin, &o) || recall(function, o.unloads, &found.results))
        return found.results;
    search_file(o.path, o.function, &found, take_registers);
    remember(function, o.unloads, found.results);
    return found.results;
}
