/* stub.c: a call of a library's function by its prototype.
 *
 * It is built in the form in which functions are lifted, with the guest's registers in *cpu, so that effects.c finds its arguments and results
 * as it finds those of any function: a call of sqrt takes xmm0 and gives xmm0. Arguments are where the guest's convention has them, by
 * the types of the parameters. Variable arguments with a format become a va_list (src/raise/runtime/format.c), and the function that takes one is called
 * instead: vprintf for printf. */
#include <llvm-c/Core.h>
#include <stdio.h>

#include "raise/foreign/foreign.h"
#include "raise/runtime/runtime.h"

enum { CALL_MAX = 16 };

typedef struct Stub {
    Foreign *f;
    Raise *r;
    LLVMBuilderRef b;
    LLVMValueRef cpu;
    u32 ints, floats, slots; /* arguments so far: integers, floating-point numbers, words on the stack */
} Stub;

/* ------------------------------------------------------------------------------------------------------------ registers */

static LLVMTypeRef word(const Stub *s) {
    return LLVMInt64TypeInContext(s->r->ctx);
}

static LLVMTypeRef pointer(const Stub *s) {
    return LLVMPointerTypeInContext(s->r->ctx, 0);
}

static LLVMValueRef offset(Stub *s, LLVMValueRef p, u64 off) {
    LLVMValueRef index = LLVMConstInt(word(s), off, false);
    return LLVMBuildGEP2(s->b, LLVMInt8TypeInContext(s->r->ctx), p, &index, 1, "");
}

static LLVMValueRef place(Stub *s, Reg reg) {
    return offset(s, s->cpu, s->r->isa->regs[reg].off_bytes);
}

static LLVMValueRef read(Stub *s, Reg reg, LLVMTypeRef type) {
    return LLVMBuildLoad2(s->b, type, place(s, reg), "");
}

static LLVMValueRef stack(Stub *s) {
    return read(s, s->r->isa->abi.stack, pointer(s));
}

/* A call of a function of src/raise/runtime, or of the library. */
static LLVMValueRef call(Stub *s, const char *name, LLVMTypeRef result, LLVMValueRef *args, unsigned count,
                         bool variadic, unsigned named) {
    LLVMTypeRef types[CALL_MAX + 8];
    for (unsigned i = 0; i < count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(result, types, named, variadic);
    LLVMValueRef fn = LLVMGetNamedFunction(s->r->mod, name);
    if (!fn)
        fn = LLVMAddFunction(s->r->mod, name, type);
    return LLVMBuildCall2(s->b, type, fn, args, count, "");
}

/* ------------------------------------------------------------------------------------------------------------ arguments */

static LLVMTypeRef type_of(Stub *s, char letter) {
    LLVMContextRef ctx = s->r->ctx;
    switch ((TypeLetter)letter) {
    case TYPE_VOID:
    case TYPE_MEMORY:
        return LLVMVoidTypeInContext(ctx);
    case TYPE_I8:
    case TYPE_U8:
        return LLVMInt8TypeInContext(ctx);
    case TYPE_I16:
    case TYPE_U16:
        return LLVMInt16TypeInContext(ctx);
    case TYPE_I32:
    case TYPE_U32:
        return LLVMInt32TypeInContext(ctx);
    case TYPE_I64:
        return word(s);
    case TYPE_TWO:
        return LLVMArrayType2(word(s), 2);
    case TYPE_FLOAT:
        return LLVMFloatTypeInContext(ctx);
    case TYPE_DOUBLE:
        return LLVMDoubleTypeInContext(ctx);
    case TYPE_EXTENDED:
        return s->r->host->foreign->short_extended ? LLVMX86FP80TypeInContext(ctx) : LLVMFP128TypeInContext(ctx);
    case TYPE_POINTER:
    case TYPE_CALLBACK:
    case TYPE_PRINTS:
    case TYPE_SCANS:
    case TYPE_WIDE_PRINTS:
    case TYPE_WIDE_SCANS:
    case TYPE_LIST:
        return pointer(s);
    case TYPE_MORE:
    case TYPE_OTHER:
        break;
    }
    return NULL;
}

static bool is_float(char letter) {
    return letter == TYPE_FLOAT || letter == TYPE_DOUBLE;
}

/* The next argument that is on the stack. */
static LLVMValueRef stack_argument(Stub *s, u32 words) {
    s->slots = (s->slots + words - 1) / words * words;
    u64 off = s->r->isa->abi.return_address_bytes + 8 * (u64)s->slots;
    s->slots += words;
    return offset(s, stack(s), off);
}

/* The next word of integer arguments, as an address. */
static LLVMValueRef next_word(Stub *s) {
    const CallAbi *abi = &s->r->isa->abi;
    return s->ints < abi->int_arg_count ? place(s, abi->int_args[s->ints++]) : stack_argument(s, 1);
}

static bool is_wide(Raise *r, Reg reg) {
    return LLVMGetTypeKind(raise_reg_type(r, reg)) == LLVMVectorTypeKind;
}

static LLVMValueRef sixteen_bytes(Stub *s) {
    LLVMValueRef room = LLVMBuildAlloca(s->b, LLVMArrayType2(word(s), 2), "");
    LLVMSetAlignment(room, 16);
    return room;
}

/* Where a long double is: on the stack; in a vector register, if the guest has those; or in two words of integers. */
static LLVMValueRef extended_argument(Stub *s) {
    const CallAbi *abi = &s->r->isa->abi;
    bool wide = is_wide(s->r, abi->float_result);
    bool on_stack = wide ? s->floats >= abi->float_arg_count : s->ints >= abi->int_arg_count;
    if (abi->extended_in_memory || on_stack)
        return stack_argument(s, 2);
    LLVMValueRef room = sixteen_bytes(s);
    if (wide) {
        Reg reg = abi->float_args[s->floats++];
        LLVMBuildStore(s->b, read(s, reg, raise_reg_type(s->r, reg)), room);
        return room;
    }
    for (u64 off = 0; off < 16; off += 8)
        LLVMBuildStore(s->b, LLVMBuildLoad2(s->b, word(s), next_word(s), ""), offset(s, room, off));
    return room;
}

static LLVMValueRef argument(Stub *s, char letter) {
    const CallAbi *abi = &s->r->isa->abi;
    LLVMTypeRef type = type_of(s, letter);
    if (letter == TYPE_EXTENDED) {
        LLVMValueRef at = extended_argument(s);
        return call(s, RAISE_PREFIX "extended", type, &at, 1, false, 1);
    }
    if (is_float(letter) && s->floats < abi->float_arg_count)
        return read(s, abi->float_args[s->floats++], type);
    if (!is_float(letter) && s->ints < abi->int_arg_count)
        return read(s, abi->int_args[s->ints++], type);
    return LLVMBuildLoad2(s->b, type, stack_argument(s, 1), "");
}

/* ---------------------------------------------------------------------------------------------------- variable arguments */

/* All registers that arguments may be in, as a ForeignRegs in memory. */
static LLVMValueRef save_registers(Stub *s) {
    const CallAbi *abi = &s->r->isa->abi;
    LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(s->r->ctx), sizeof(ForeignRegs));
    LLVMValueRef regs = LLVMBuildAlloca(s->b, bytes, "");
    LLVMSetAlignment(regs, 16);
    for (u32 i = 0; i < abi->int_arg_count; i++)
        LLVMBuildStore(s->b, read(s, abi->int_args[i], word(s)), offset(s, regs, offsetof(ForeignRegs, ints[i])));
    for (u32 i = 0; i < abi->float_arg_count; i++) {
        LLVMTypeRef type = raise_reg_type(s->r, abi->float_args[i]);
        LLVMBuildStore(s->b, read(s, abi->float_args[i], type), offset(s, regs, offsetof(ForeignRegs, floats[i])));
    }
    LLVMBuildStore(s->b, stack(s), offset(s, regs, offsetof(ForeignRegs, stack)));
    return regs;
}

static LLVMValueRef area(Stub *s) {
    LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(s->r->ctx), AREA_BYTES);
    LLVMValueRef v = LLVMBuildAlloca(s->b, bytes, "");
    LLVMSetAlignment(v, 16);
    return v;
}

static LLVMValueRef number(Stub *s, u64 n) {
    return LLVMConstInt(LLVMInt32TypeInContext(s->r->ctx), n, false);
}

/* The va_list of a call's own variable arguments. */
static LLVMValueRef list_of_call(Stub *s, LLVMValueRef format, u32 kind) {
    u32 ints =
        s->ints + s->slots; /* no function has so many named floating-point arguments that some are on the stack */
    LLVMValueRef args[] = {save_registers(s), number(s, ints), number(s, s->floats), format, number(s, kind), area(s)};
    return call(s, RAISE_PREFIX "list", pointer(s), args, ARRAY_LEN(args), false, ARRAY_LEN(args));
}

static LLVMValueRef list_of_list(Stub *s, LLVMValueRef list, LLVMValueRef format, u32 kind) {
    LLVMValueRef args[] = {list, format, number(s, kind), area(s)};
    return call(s, RAISE_PREFIX "list_of", pointer(s), args, ARRAY_LEN(args), false, ARRAY_LEN(args));
}

/* --------------------------------------------------------------------------------------------------------------- results */

static LLVMValueRef widen(Stub *s, LLVMValueRef v, bool is_signed) {
    return is_signed ? LLVMBuildSExt(s->b, v, word(s), "") : LLVMBuildZExt(s->b, v, word(s), "");
}

static void set_float(Stub *s, LLVMValueRef v, bool is_double) {
    Reg reg = s->r->isa->abi.float_result;
    LLVMTypeRef type = raise_reg_type(s->r, reg), bits = is_double ? word(s) : LLVMInt32TypeInContext(s->r->ctx);
    v = LLVMBuildBitCast(s->b, v, bits, "");
    v = is_double ? v : widen(s, v, false);
    if (is_wide(s->r, reg)) {
        v = LLVMBuildInsertElement(s->b, LLVMConstNull(type), v, number(s, 0), "");
    } else if (!is_double) {
        v = LLVMBuildOr(s->b, v, LLVMConstInt(word(s), ~(u64)0 << 32, false), ""); /* boxed */
    }
    LLVMBuildStore(s->b, v, place(s, reg));
}

/* The register of results that is not the first. */
static Reg second_result(const Raise *r) {
    for (Reg reg = 0; reg < r->isa->reg_count; reg++)
        if (regset_has(&r->isa->abi.results, reg) && r->isa->regs[reg].kind == REG_INT && reg != r->isa->abi.int_result)
            return reg;
    return r->isa->abi.int_result;
}

/* In a vector register, or two words of integers; one machine has it on a stack of its own. */
static void set_extended(Stub *s, LLVMValueRef v) {
    const CallAbi *abi = &s->r->isa->abi;
    LLVMTypeRef nothing = LLVMVoidTypeInContext(s->r->ctx);
    LLVMValueRef args[] = {abi->extended_in_memory ? s->cpu : sixteen_bytes(s), v};
    call(s, abi->extended_in_memory ? RAISE_PREFIX "extended_result" : RAISE_PREFIX "put_extended", nothing, args, 2,
         false, 2);
    if (abi->extended_in_memory)
        return;
    if (is_wide(s->r, abi->float_result)) {
        LLVMTypeRef type = raise_reg_type(s->r, abi->float_result);
        LLVMBuildStore(s->b, LLVMBuildLoad2(s->b, type, args[0], ""), place(s, abi->float_result));
        return;
    }
    const Reg words[] = {abi->int_result, second_result(s->r)};
    for (u64 i = 0; i < 2; i++)
        LLVMBuildStore(s->b, LLVMBuildLoad2(s->b, word(s), offset(s, args[0], 8 * i), ""), place(s, words[i]));
}

static void set_result(Stub *s, char letter, LLVMValueRef v) {
    Reg reg = s->r->isa->abi.int_result;
    switch ((TypeLetter)letter) {
    case TYPE_I8:
    case TYPE_I16:
        LLVMBuildStore(s->b, widen(s, v, true), place(s, reg));
        break;
    case TYPE_I32:
    case TYPE_U32:
        LLVMBuildStore(s->b, widen(s, v, s->r->isa->abi.signed_ints), place(s, reg));
        break;
    case TYPE_U8:
    case TYPE_U16:
        LLVMBuildStore(s->b, widen(s, v, false), place(s, reg));
        break;
    case TYPE_POINTER:
    case TYPE_CALLBACK:
        LLVMBuildStore(s->b, LLVMBuildPtrToInt(s->b, v, word(s), ""), place(s, reg));
        break;
    case TYPE_I64:
        LLVMBuildStore(s->b, v, place(s, reg));
        break;
    case TYPE_TWO:
        LLVMBuildStore(s->b, LLVMBuildExtractValue(s->b, v, 0, ""), place(s, reg));
        LLVMBuildStore(s->b, LLVMBuildExtractValue(s->b, v, 1, ""), place(s, second_result(s->r)));
        break;
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        set_float(s, v, letter == TYPE_DOUBLE);
        break;
    case TYPE_EXTENDED:
        set_extended(s, v);
        break;
    case TYPE_VOID:
    case TYPE_MEMORY:
    case TYPE_PRINTS:
    case TYPE_SCANS:
    case TYPE_WIDE_PRINTS:
    case TYPE_WIDE_SCANS:
    case TYPE_LIST:
    case TYPE_MORE:
    case TYPE_OTHER:
        break;
    }
}

/* ------------------------------------------------------------------------------------------------------------- the call */

/* How C functions want what is narrower than a register: LLVM leaves that to whoever builds the call. */
static void extend(Stub *s, LLVMValueRef at, LLVMAttributeIndex index, char letter) {
    bool is_signed = strchr("bhi", letter) || (letter == TYPE_U32 && s->r->host->signed_arguments);
    if (!strchr("bBhHiI", letter))
        return;
    LLVMAddCallSiteAttribute(at, index, raise_attribute(s->r, is_signed ? "signext" : "zeroext", 0));
}

/* Native code that calls back finds the program's stack by it: see src/raise/runtime/runtime.h. */
static void mark_stack(Stub *s, bool inside) {
    LLVMValueRef var = LLVMGetNamedGlobal(s->r->mod, RAISE_PREFIX "stack");
    if (!var) {
        var = LLVMAddGlobal(s->r->mod, word(s), RAISE_PREFIX "stack");
        LLVMSetThreadLocalMode(var, foreign_thread_mode(s->r));
        LLVMSetVisibility(var, LLVMHiddenVisibility);
    }
    LLVMValueRef v = LLVMBuildPtrToInt(s->b, stack(s), word(s), "");
    LLVMBuildStore(s->b, LLVMBuildOr(s->b, v, LLVMConstInt(word(s), inside, false), ""), var);
}

/* The address comes as the first integer, and machines have it elsewhere. It is the result, too, where the program looks for it. */
static void return_in_memory(Stub *s, LLVMValueRef call) {
    LLVMTypeRef room = LLVMInt8TypeInContext(s->r->ctx);
    unsigned kind = LLVMGetEnumAttributeKindForName("sret", strlen("sret"));
    LLVMAddCallSiteAttribute(call, 1, LLVMCreateTypeAttribute(s->r->ctx, kind, room));
    set_result(s, TYPE_POINTER, LLVMGetOperand(call, 0));
}

static bool is_format(char letter) {
    return letter == TYPE_PRINTS || letter == TYPE_SCANS || letter == TYPE_WIDE_PRINTS || letter == TYPE_WIDE_SCANS;
}

static u32 format_kind(char letter) {
    return (letter == TYPE_SCANS || letter == TYPE_WIDE_SCANS ? FORMAT_SCANS : 0) |
           (letter == TYPE_WIDE_PRINTS || letter == TYPE_WIDE_SCANS ? FORMAT_WIDE : 0);
}

static void build_call(Stub *s, const Prototype *p, const char *name) {
    LLVMValueRef args[CALL_MAX + 8], format = NULL;
    bool calls_back = strchr(p->types, TYPE_CALLBACK), more = false;
    unsigned count = 0, named, kind = 0;
    if (*p->types == TYPE_MEMORY && s->r->isa->abi.memory_result)
        args[count++] = read(s, *s->r->isa->abi.memory_result, pointer(s));
    for (const char *t = p->types + 1 + count; *t; t++) {
        if (*t == TYPE_MORE) {
            more = !format;
            if (format)
                args[count++] = list_of_call(s, format, kind);
            continue;
        }
        args[count++] = argument(s, *t);
        if (is_format(*t)) {
            format = args[count - 1];
            kind = format_kind(*t);
        }
        if (*t == TYPE_LIST)
            args[count - 1] = list_of_list(s, args[count - 1], format, kind);
    }
    named = count;
    while (more && s->ints < s->r->isa->abi.int_arg_count)
        args[count++] = argument(s, TYPE_I64);
    calls_back |= prototype_find(p->name) != p; /* those of C++ may, by virtual functions, and those of other objects */
    if (calls_back)
        mark_stack(s, false);
    LLVMValueRef v = call(s, name, type_of(s, *p->types), args, count, more, named);
    extend(s, v, LLVMAttributeReturnIndex, *p->types);
    for (unsigned i = 0; i < named && p->types[1 + i]; i++)
        extend(s, v, i + 1, p->types[1 + i]);
    if (*p->types == TYPE_MEMORY)
        return_in_memory(s, v);
    if (calls_back)
        mark_stack(s, true);
    set_result(s, *p->types, v);
}

/* ------------------------------------------------------------------------------------------------------------------ jumps */

/* setjmp() and longjmp() are the host's. Its jmp_buf is larger than the program's, which has the address of one in the frame of the function that calls setjmp(): the
 * stub is always inlined there, since what returns twice must not have returned before. */
enum { JUMP_BYTES = 1024 };

static void build_setjmp(Stub *s, const char *name) {
    LLVMValueRef own = argument(s, TYPE_POINTER);
    bool says = strstr(name, "sig"), keeps = !strcmp(name, "setjmp"); /* the mask of signals */
    LLVMValueRef room = LLVMBuildAlloca(s->b, LLVMArrayType2(LLVMInt8TypeInContext(s->r->ctx), JUMP_BYTES), "");
    LLVMSetAlignment(room, 16);
    LLVMBuildStore(s->b, room, own);
    LLVMValueRef args[] = {room, says ? argument(s, TYPE_I32) : number(s, keeps)};
    LLVMValueRef v = call(s, "__sigsetjmp", type_of(s, TYPE_I32), args, 2, false, 2);
    LLVMAddCallSiteAttribute(v, LLVMAttributeFunctionIndex, raise_attribute(s->r, "returns_twice", 0));
    mark_stack(s, true);
    set_result(s, TYPE_I32, v);
}

static void build_longjmp(Stub *s) {
    LLVMValueRef own = argument(s, TYPE_POINTER);
    LLVMValueRef args[] = {LLVMBuildLoad2(s->b, pointer(s), own, ""), argument(s, TYPE_I32)};
    call(s, "siglongjmp", LLVMVoidTypeInContext(s->r->ctx), args, 2, false, 2);
}

/* False: it is no such function. */
static bool build_jump(Stub *s, const char *name) {
    if (special_find(SPECIAL_SETJMP, name))
        build_setjmp(s, name);
    else if (special_find(SPECIAL_LONGJMP, name))
        build_longjmp(s);
    else
        return false;
    return true;
}

/* execl(): what follows the path are pointers up to a null pointer. */
static bool build_exec(Stub *s, const Prototype *p) {
    const char *with_array = special_find(SPECIAL_POINTERS, p->name);
    if (!with_array)
        return false;
    LLVMValueRef path = argument(s, TYPE_POINTER), room = area(s);
    LLVMValueRef list[] = {save_registers(s), number(s, 1), room};
    LLVMValueRef args[] = {path, call(s, RAISE_PREFIX "pointers", pointer(s), list, 3, false, 3), NULL};
    unsigned count = strcmp(with_array, "execve") ? 2 : 3;
    if (count == 3)
        args[2] = call(s, RAISE_PREFIX "pointers_end", pointer(s), &args[1], 1, false, 1);
    set_result(s, TYPE_I32, call(s, with_array, type_of(s, TYPE_I32), args, count, false, count));
    return true;
}

/* -------------------------------------------------------------------------------------------------------- what is called */

/* That of printf is vprintf, of __printf_chk __vprintf_chk, of __isoc99_sscanf __isoc99_vsscanf. NULL: there is none. */
static const char *with_list(Raise *r, const Prototype *p) {
    static const char *const prefixes[] = {"__isoc99_", "__isoc23_", "__", ""};
    size_t fixed = strlen(p->types) - 1;
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        size_t len = strlen(prefixes[i]);
        if (strncmp(p->name, prefixes[i], len))
            continue;
        const char *name = arena_printf(&r->arena, "%sv%s", prefixes[i], p->name + len);
        const Prototype *other = prototype_find(name);
        if (special_find(SPECIAL_WRAPPED, name))
            return arena_printf(&r->arena, "lathe_wrap_%s", name);
        if (other && !strncmp(other->types, p->types, fixed) && !strcmp(other->types + fixed, "a"))
            return name;
    }
    return NULL;
}

static bool has_format(const Prototype *p) {
    for (const char *t = p->types; *t; t++)
        if (is_format(*t))
            return true;
    return false;
}

static bool check_types(Foreign *f, const Prototype *p, u64 pc) {
    bool takes_more = strchr(p->types, TYPE_MORE);
    const char *differs = p->differs[f->host] ? p->differs[f->host] : p->differs[f->guest],
               *why = special_find(SPECIAL_REFUSED, p->name);
    if (why)
        return raise_fail(f->r, "0x%lx: it calls %s: %s", pc, p->name, why);
    if (strchr(p->types, TYPE_OTHER) || strchr(p->types + 1, TYPE_TWO) || strlen(p->types) > CALL_MAX)
        return raise_fail(f->r,
                          "0x%lx: it calls %s, whose arguments or result are of a kind that cannot be handed over", pc,
                          p->name);
    if (strchr(p->types, TYPE_LIST) && !has_format(p))
        return raise_fail(f->r, "0x%lx: it calls %s, and what is in its va_list cannot be known", pc, p->name);
    if (takes_more && !has_format(p) && !special_find(SPECIAL_FEW, p->name) && !special_find(SPECIAL_POINTERS, p->name))
        return raise_fail(f->r, "0x%lx: it calls %s, whose variable arguments cannot be known", pc, p->name);
    if (differs && !special_find(SPECIAL_WRAPPED, p->name) && !special_find(SPECIAL_OPAQUE, differs))
        return raise_fail(f->r, "0x%lx: it calls %s: %s is laid out differently on %s", pc, p->name, differs,
                          f->r->host->name);
    return true;
}

static bool is_jump(const char *name) {
    return special_find(SPECIAL_SETJMP, name) || special_find(SPECIAL_LONGJMP, name);
}

const Prototype *foreign_prototype(const Foreign *f, const char *name) {
    const Prototype *p = prototype_find(name);
    p = p ? p : prototype_find_cxx(name);
    return p ? p : foreign_declared(f->r, name);
}

bool foreign_gives_memory(const Foreign *f, const char *name) {
    const Prototype *p = foreign_prototype(f, name);
    return p && *p->types == TYPE_MEMORY && f->r->isa->abi.memory_result && !f->r->host->foreign->result_apart;
}

bool foreign_needs_stub(const Foreign *f, const char *name) {
    const Prototype *p = prototype_find(name);
    return is_jump(name) || foreign_gives_memory(f, name) ||
           (p && (special_find(SPECIAL_WRAPPED, name) || strpbrk(p->types, "xa.") || f->r->host->signed_arguments));
}

/* A function that dlsym() finds is called without its prototype, and where ints are extended in registers, that would have to be known. */
static bool finds_functions(const Foreign *f, const char *name) {
    return f->r->host->signed_arguments && (!strcmp(name, "dlsym") || !strcmp(name, "dlvsym"));
}

/* The host's function that does what the program means by this one; NULL with r->problem set: there is none. */
static const char *callee_for(Foreign *f, const Prototype *p, u64 pc) {
    Raise *r = f->r;
    if (!check_types(f, p, pc))
        return NULL;
    if (finds_functions(f, p->name))
        raise_note(r, pc, "%s stops the program if it finds a function, since its prototype is not known", p->name);
    if (special_find(SPECIAL_WRAPPED, p->name) || finds_functions(f, p->name))
        return arena_printf(&r->arena, "lathe_wrap_%s", p->name);
    if (special_find(SPECIAL_INSTEAD, p->name))
        return special_find(SPECIAL_INSTEAD, p->name);
    if (!strchr(p->types, TYPE_MORE) || !has_format(p))
        return p->name;
    const char *callee = with_list(r, p);
    if (!callee)
        raise_fail(r, "0x%lx: it calls %s, of which no form with a va_list is known", pc, p->name);
    return callee;
}

bool foreign_build_stub(Foreign *f, LLVMValueRef fn, const char *name, u64 pc) {
    Raise *r = f->r;
    const Prototype *p = foreign_prototype(f, name);
    if (!p && !is_jump(name))
        return raise_fail(r, "0x%lx: it calls %s, which no header declares that was there when lathe was built", pc,
                          name);
    const char *callee = is_jump(name) ? name : callee_for(f, p, pc);
    if (!callee)
        return false;
    Stub s = {.f = f, .r = r, .b = LLVMCreateBuilderInContext(r->ctx), .cpu = LLVMGetParam(fn, 0)};
    LLVMPositionBuilderAtEnd(s.b, LLVMAppendBasicBlockInContext(r->ctx, fn, ""));
    if (!build_jump(&s, name) && !build_exec(&s, p))
        build_call(&s, p, callee);
    LLVMBuildRetVoid(s.b);
    LLVMDisposeBuilder(s.b);
    return true;
}
