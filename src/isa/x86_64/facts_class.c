/* facts_class.c: the classes (isa/view.h) of an instruction (facts.h). */
#include "isa/x86_64/facts_parts.h"

static bool ends_with(const char *name, const char *end) {
    size_t size = strlen(name), end_size = strlen(end);
    return size >= end_size && !strcmp(name + size - end_size, end);
}

static bool ends_with_any(const char *name, const char *const ends[], size_t count) {
    for (size_t i = 0; i < count; i++)
        if (ends_with(name, ends[i]))
            return true;
    return false;
}

static bool has_any(const char *name, const char *const parts[], size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

/* The manual's names tell what vector instructions work on (SDM 1, 5.5 to 5.19): ss, sd and sh are single values of a floating-point format,
 * ps, pd and ph vectors of them, and p (or vp) at the beginning says packed integers, but for permutations. */
static bool is_packed_integer(const char *name) {
    return (*name == 'p' || !strncmp(name, "vp", 2)) && strncmp(name, "vperm", 5) != 0;
}

static bool is_conversion(const char *name) {
    return strstr(name, "cvt");
}

static bool is_single_float(const char *name) {
    static const char *const formats[] = {"ss", "sd", "sh"};
    static const char *const conversions[] = {"si2", "2si", "2usi", "ss2", "sd2", "sh2"};
    if (is_conversion(name))
        return has_any(name, conversions, ARRAY_LEN(conversions));
    return !strstr(name, "broadcast") && ends_with_any(name, formats, ARRAY_LEN(formats));
}

static bool is_float_vector(const char *name) {
    static const char *const formats[] = {"ps", "pd", "ph"};
    static const char *const parts[] = {"f128", "f32x", "f64x", "dup", "broadcasts"};
    return is_conversion(name) || ends_with_any(name, formats, ARRAY_LEN(formats)) ||
           has_any(name, parts, ARRAY_LEN(parts));
}

static u16 class_of_vectors(const char *name) {
    if (is_packed_integer(name))
        return CLASS_VECTOR;
    return is_single_float(name) ? CLASS_FLOAT : is_float_vector(name) ? CLASS_FLOAT | CLASS_VECTOR : CLASS_VECTOR;
}

static bool has_vector_register(const Decoded *d) {
    for (u32 i = 0; i < d->in.operand_count; i++) {
        if (d->ops[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        switch (ZydisRegisterGetClass(d->ops[i].reg.value)) {
        case ZYDIS_REGCLASS_MMX:
        case ZYDIS_REGCLASS_XMM:
        case ZYDIS_REGCLASS_YMM:
        case ZYDIS_REGCLASS_ZMM:
        case ZYDIS_REGCLASS_TMM:
        case ZYDIS_REGCLASS_MASK:
            return true;
        default:
            break;
        }
    }
    return d->in.mnemonic == ZYDIS_MNEMONIC_VZEROUPPER || d->in.mnemonic == ZYDIS_MNEMONIC_VZEROALL ||
           d->in.mnemonic == ZYDIS_MNEMONIC_EMMS;
}

static u16 class_of_data(const Decoded *d, const X86Facts *f) {
    const char *name = ZydisMnemonicGetString(d->in.mnemonic);
    if (d->in.meta.isa_ext == ZYDIS_ISA_EXT_X87 || d->in.meta.category == ZYDIS_CATEGORY_X87_ALU)
        return CLASS_FLOAT;
    if (has_vector_register(d) || is_conversion(name)) /* from memory into a general register there is none */
        return class_of_vectors(name);
    return f->flow == FLOW_NEXT && (f->access_count || !regset_is_empty(&f->writes)) ? CLASS_INTEGER : 0;
}

/* SDM 2B, XCHG: with memory it is atomic, lock or not. */
static bool is_atomic(const Decoded *d, const X86Facts *f) {
    switch (d->in.mnemonic) {
    case ZYDIS_MNEMONIC_LFENCE:
    case ZYDIS_MNEMONIC_MFENCE:
    case ZYDIS_MNEMONIC_SFENCE:
        return true;
    case ZYDIS_MNEMONIC_XCHG:
        return f->access_count;
    default:
        return f->prefixes & PREFIX_LOCK;
    }
}

void facts_class(const Decoded *d, X86Facts *f) {
    u16 system = STATE_MXCSR | STATE_SEGMENT | STATE_SYSTEM | STATE_SHADOW | STATE_HOST | STATE_CHANCE | STATE_TRAP;
    f->classes = classes_of_flow((Flow)f->flow) | classes_of_accesses(f->access, f->access_count);
    if (f->state & system)
        f->classes |= CLASS_SYSTEM;
    if (!(f->classes & CLASS_SYSTEM))
        f->classes |= class_of_data(d, f);
    if (facts_is_string(d))
        f->classes |= CLASS_STRING;
    if (is_atomic(d, f))
        f->classes |= CLASS_ATOMIC;
}
