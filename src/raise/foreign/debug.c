/* debug.c: prototypes of the functions of an object file, and of those that it calls, from its debug information.
 *
 * A prototype is in the letters of raise/prototypes.h. A struct by value becomes what it is passed as, if all machines pass it alike: as the words, or the floating-point numbers, that it
 * consists of, as long as registers are left on each of them. What machines pass in different ways is TYPE_OTHER. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "raise/foreign/foreign.h"

enum { TYPES_MAX = 32, DEPTH_MAX = 32, WORD = 8, PARTS_MAX = 2, ELEMENTS_MAX = 64 };

/* ---------------------------------------------------------------------------------------------------------------- types */

/* Without names and qualifiers; false: it is void. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type) {
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type) &&
           dwarf_peel_type(type, type) == 0 && dwarf_tag(type) != DW_TAG_unspecified_type;
}

static u64 number_of(Dwarf_Die *die, unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_attr_integrate(die, name, &attribute))
        dwarf_formudata(&attribute, &value);
    return value;
}

static TypeLetter integer_of(u64 bytes, bool is_signed) {
    switch (bytes) {
    case 1:
        return is_signed ? TYPE_I8 : TYPE_U8;
    case 2:
        return is_signed ? TYPE_I16 : TYPE_U16;
    case 4:
        return is_signed ? TYPE_I32 : TYPE_U32;
    case WORD:
        return TYPE_I64;
    }
    return TYPE_OTHER;
}

static TypeLetter float_of(Dwarf_Die *type, u64 bytes) {
    const char *name = dwarf_diename(type);
    if (bytes == 4)
        return TYPE_FLOAT;
    if (bytes == 8)
        return TYPE_DOUBLE;
    return bytes == 16 && name && !strcmp(name, "long double") ? TYPE_EXTENDED : TYPE_OTHER;
}

static TypeLetter base_of(Dwarf_Die *type) {
    u64 bytes = number_of(type, DW_AT_byte_size), encoding = number_of(type, DW_AT_encoding);
    switch (encoding) {
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        return integer_of(bytes, true);
    case DW_ATE_boolean:
    case DW_ATE_unsigned:
    case DW_ATE_unsigned_char:
    case DW_ATE_UTF:
        return integer_of(bytes, false);
    case DW_ATE_float:
        return float_of(type, bytes);
    }
    return TYPE_OTHER;
}

/* The debug information of compilers since DWARF 3 has the type of integers that it is kept as. */
static TypeLetter enum_of(Dwarf_Die *type) {
    Dwarf_Die under;
    bool known = type_of(type, &under) && dwarf_tag(&under) == DW_TAG_base_type;
    return known ? base_of(&under) : integer_of(number_of(type, DW_AT_byte_size), true);
}

/* Of a type that is no struct, union or array. */
static TypeLetter scalar_of(Dwarf_Die *type) {
    switch (dwarf_tag(type)) {
    case DW_TAG_base_type:
        return base_of(type);
    case DW_TAG_enumeration_type:
        return enum_of(type);
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return TYPE_POINTER;
    }
    return TYPE_OTHER;
}

/* -------------------------------------------------------------------------------------------------------------- structs */

static bool is_struct(Dwarf_Die *type) {
    int tag = dwarf_tag(type);
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* What there is in a struct, of integers and of each kind of floating-point number. */
typedef struct Contents {
    u32 ints, floats, doubles, others; /* others: also what is packed, or aligned more than it has to be */
    bool unions;                       /* with a floating-point number in one of them */
} Contents;

static void add_contents(Dwarf_Die *type, Contents *c, u64 off, int depth);

static void add_members(Dwarf_Die *type, Contents *c, u64 off, int depth) {
    Dwarf_Die child, member;
    u32 before = c->floats + c->doubles;
    for (int more = dwarf_child(type, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
        bool is_part = dwarf_tag(&child) == DW_TAG_member || dwarf_tag(&child) == DW_TAG_inheritance;
        bool is_static = dwarf_hasattr(&child, DW_AT_external) || dwarf_hasattr(&child, DW_AT_declaration);
        if (!is_part || is_static)
            continue;
        c->others += dwarf_hasattr(&child, DW_AT_alignment);
        if (type_of(&child, &member))
            add_contents(&member, c, off + number_of(&child, DW_AT_data_member_location), depth - 1);
    }
    c->unions |= dwarf_tag(type) == DW_TAG_union_type && c->floats + c->doubles > before;
}

static void add_elements(Dwarf_Die *type, Contents *c, u64 off, int depth) {
    Dwarf_Die element;
    Dwarf_Word bytes, one;
    if (!type_of(type, &element) || dwarf_hasattr(type, DW_AT_GNU_vector) || dwarf_aggregate_size(type, &bytes) != 0 ||
        dwarf_aggregate_size(&element, &one) != 0 || !one) {
        c->others++;
        return;
    }
    for (u64 i = 0; i < bytes / one && i < ELEMENTS_MAX; i++)
        add_contents(&element, c, off + i * one, depth - 1);
}

/* What is damaged may have itself in it: with so many parts it is no argument anyway. */
static bool is_full(const Contents *c) {
    return c->ints + c->floats + c->doubles + c->others > ELEMENTS_MAX;
}

static void add_contents(Dwarf_Die *type, Contents *c, u64 off, int depth) {
    if (is_full(c))
        return;
    TypeLetter letter = scalar_of(type);
    u64 bytes = letter == TYPE_POINTER ? WORD : number_of(type, DW_AT_byte_size);
    c->others += dwarf_hasattr(type, DW_AT_alignment);
    if (depth > 0 && is_struct(type))
        add_members(type, c, off, depth);
    else if (depth > 0 && dwarf_tag(type) == DW_TAG_array_type)
        add_elements(type, c, off, depth);
    else if (letter == TYPE_EXTENDED || letter == TYPE_OTHER || !bytes || off % bytes)
        c->others++;
    else if (letter == TYPE_FLOAT)
        c->floats++;
    else if (letter == TYPE_DOUBLE)
        c->doubles++;
    else
        c->ints++;
}

static bool is_of_integers(const Contents *c) {
    return c->ints && !c->floats && !c->doubles && !c->others;
}

static bool is_in_memory(Dwarf_Die *type) {
    return number_of(type, DW_AT_calling_convention) == DW_CC_pass_by_reference;
}

/* ----------------------------------------------------------------------------------------------------------- prototypes */

typedef struct Types {
    char letters[TYPES_MAX + 1];
    u32 count, ints, floats; /* of arguments in registers */
} Types;

static void add(Types *t, TypeLetter letter) {
    bool is_float = letter == TYPE_FLOAT || letter == TYPE_DOUBLE;
    if (t->count == TYPES_MAX) {
        t->letters[TYPES_MAX - 1] = TYPE_OTHER;
        return;
    }
    t->letters[t->count++] = (char)letter;
    t->ints += !is_float;
    t->floats += is_float;
}

/* Machines with six registers for arguments go on in memory where others go on in a register, or in half of it. */
enum { INTS_EVERYWHERE = 6, FLOATS_EVERYWHERE = 8 };

/* With two floats in it, a struct is in one vector register on some machines and in two on others, and a union with a double in one of integers. */
static bool add_struct(Types *t, Dwarf_Die *type) {
    Contents c = {0};
    u64 bytes = number_of(type, DW_AT_byte_size), words = (bytes + WORD - 1) / WORD;
    add_contents(type, &c, 0, DEPTH_MAX);
    bool alone = !c.ints && !c.others && !c.unions;
    if (is_in_memory(type)) {
        add(t, TYPE_POINTER);
    } else if (is_of_integers(&c) && words <= PARTS_MAX && t->ints + words <= INTS_EVERYWHERE) {
        for (u64 i = 0; i < words; i++)
            add(t, TYPE_I64);
    } else if (alone && !c.doubles && c.floats == 1 && bytes == 4 && t->floats < FLOATS_EVERYWHERE) {
        add(t, TYPE_FLOAT);
    } else if (alone && !c.floats && c.doubles && c.doubles <= PARTS_MAX && bytes == c.doubles * WORD &&
               t->floats + c.doubles <= FLOATS_EVERYWHERE) {
        for (u32 i = 0; i < c.doubles; i++)
            add(t, TYPE_DOUBLE);
    } else {
        return false;
    }
    return true;
}

static bool is_one_of(const char *name, const char *const *names) {
    while (*names && !(name && !strcmp(name, *names)))
        names++;
    return *names;
}

/* A list of variable arguments, which is the machine's own? By one of its names, or it is a pointer to what it consists of. */
static bool is_list(Dwarf_Die *parameter) {
    static const char *const names[] = {"va_list", "__builtin_va_list", "__gnuc_va_list", NULL};
    static const char *const parts[] = {"__va_list_tag", "__va_list", NULL};
    Dwarf_Die type = *parameter, part;
    Dwarf_Attribute attribute;
    for (int i = 0; i < DEPTH_MAX; i++) {
        if (!dwarf_attr_integrate(&type, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &type))
            return false;
        if (dwarf_tag(&type) != DW_TAG_typedef)
            break;
        if (is_one_of(dwarf_diename(&type), names))
            return true;
    }
    return type_of(parameter, &type) && dwarf_tag(&type) == DW_TAG_pointer_type && type_of(&type, &part) &&
           is_one_of(dwarf_diename(&part), parts);
}

static void add_parameter(Types *t, Dwarf_Die *parameter) {
    Dwarf_Die type;
    if (is_list(parameter) || !type_of(parameter, &type))
        add(t, TYPE_OTHER);
    else if (!is_struct(&type))
        add(t, scalar_of(&type));
    else if (!add_struct(t, &type))
        add(t, TYPE_OTHER);
}

/* Up to four floating-point numbers of a kind may be returned in vector registers, also those of a union, whose members are at the same place. */
static bool is_returned_in_memory(Dwarf_Die *type, const Contents *c, u64 bytes) {
    enum { KEPT = 4, FLOAT = 4, DOUBLE = 8 };
    bool mixed = c->floats && c->doubles;
    u64 most = KEPT * (c->doubles ? DOUBLE : FLOAT);
    return is_in_memory(type) || (bytes > PARTS_MAX * WORD && (c->ints || (!c->others && (mixed || bytes > most))));
}

static void set_struct_result(Types *t, Dwarf_Die *type) {
    Contents c = {0};
    u64 bytes = number_of(type, DW_AT_byte_size);
    add_contents(type, &c, 0, DEPTH_MAX);
    bool in_memory = is_returned_in_memory(type, &c, bytes);
    if (in_memory)
        add(t, TYPE_POINTER);
    t->letters[0] = in_memory                                         ? TYPE_MEMORY
                    : is_of_integers(&c) && bytes <= WORD             ? TYPE_I64
                    : is_of_integers(&c) && bytes <= PARTS_MAX * WORD ? TYPE_TWO
                                                                      : TYPE_OTHER;
}

static void set_result(Types *t, Dwarf_Die *function) {
    Dwarf_Die type;
    t->letters[0] = TYPE_VOID;
    t->count = 1;
    if (!type_of(function, &type))
        return;
    if (is_struct(&type))
        set_struct_result(t, &type);
    else
        t->letters[0] = (char)scalar_of(&type);
}

/* Definitions without a parameter, in old C, say that there may be some. */
static void read_types(Types *t, Dwarf_Die *function) {
    Dwarf_Die child;
    u32 parameters = 0;
    set_result(t, function);
    for (int more = dwarf_child(function, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
        bool more_follow = dwarf_tag(&child) == DW_TAG_unspecified_parameters;
        if (dwarf_tag(&child) == DW_TAG_formal_parameter) {
            add_parameter(t, &child);
            parameters++;
        } else if (more_follow && (parameters || dwarf_hasattr(function, DW_AT_declaration))) {
            add(t, TYPE_MORE);
        }
    }
}

/* The name for the linker; NULL: it is an instance of a function that has a name, or local. */
static const char *name_of(Dwarf_Die *function) {
    static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
    Dwarf_Attribute attribute;
    for (size_t i = 0; i < ARRAY_LEN(names) && dwarf_hasattr(function, DW_AT_external); i++)
        if (dwarf_attr(function, names[i], &attribute))
            return dwarf_formstring(&attribute);
    return NULL;
}

static void add_functions(Raise *r, Dwarf_Die *scope, int depth) {
    Dwarf_Die child;
    for (int more = dwarf_child(scope, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
        const char *name = dwarf_tag(&child) == DW_TAG_subprogram ? name_of(&child) : NULL;
        if (name) {
            Types t = {0};
            read_types(&t, &child);
            Prototype p = {.name = arena_printf(&r->arena, "%s", name),
                           .types = arena_printf(&r->arena, "%s", t.letters)};
            VEC_PUSH(&r->declared, p);
        } else if (depth && (dwarf_tag(&child) == DW_TAG_namespace || is_struct(&child))) {
            add_functions(r, &child, depth - 1);
        }
    }
}

void foreign_read_prototypes(Raise *r, const char *file) {
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    Dwarf *dwarf = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
    Dwarf_CU *unit = NULL;
    Dwarf_Die scope;
    while (dwarf && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &scope, NULL) == 0)
        add_functions(r, &scope, DEPTH_MAX);
    dwarf_end(dwarf);
    if (fd >= 0)
        close(fd);
}

void foreign_mark_declared(Raise *r) {
    for (size_t i = 0; i < r->declared.len; i++) {
        u64 pc;
        const Prototype *p = &r->declared.at[i];
        RaiseFunction *function =
            *p->types == TYPE_MEMORY && elf_symbol_value(r->elf, p->name, &pc) ? raise_function_at(r, pc) : NULL;
        if (function)
            function->gives_memory = true;
    }
}

const Prototype *foreign_declared(const Raise *r, const char *name) {
    for (size_t i = 0; i < r->declared.len; i++)
        if (!strcmp(r->declared.at[i].name, name))
            return &r->declared.at[i];
    return NULL;
}
