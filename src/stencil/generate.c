/* generate.c: the stencils of an ISA for a host, as a C source: generate HOST FILE. Run when Lathe is built. */
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>

#include "isa/form.h"
#include "stencil/extract.h"
#include "stencil/holder.h"

#define PASSES "function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg,early-cse,dce)"

/* What is lifted: one instruction of each form, once for every choice of its operands that are in host registers. */
typedef struct Variant {
    Insn in;
    Held held;
    u64 key;
    bool lifted;
    u32 stencil; /* STENCIL_NONE: there is none */
} Variant;

typedef struct Forms {
    VEC(Variant) all;
    Map64 seen;
} Forms;

/* What they are for. */
static const Host *target;

static u32 held_floats(const Held *h) {
    u32 n = 0;
    for (u32 i = 0; i < h->count; i++)
        n += h->number[i] >= target->stencil->first_float;
    return n;
}

/* Into the next register of its kind; false: there is none. */
static bool hold(Held *h, const Insn *in, Reg r) {
    const HostStencil *host = target->stencil;
    bool is_float = holder_is_float(r);
    u32 floats = held_floats(h), n = is_float ? floats : h->count - floats, taken = 0;
    if (h->count == STENCIL_OPERANDS || n == (is_float ? host->float_count : STENCIL_GENERALS))
        return false;
    while (host->taken[taken])
        taken++;
    h->number[h->count] = is_float ? host->flt[n] : host->general[n];
    h->value[h->count] = is_float ? (u8)(host->passed + taken + host->float_as[n]) : host->passed_as[n];
    h->reg[h->count++] = r;
    for (u32 i = 0; i < in->operand_count; i++)
        if (form_register(&in->op[i]) == r)
            h->mask |= 1u << i;
    return true;
}

/* With each choice of further registers from operand i on. */
static void add_variants(Forms *f, const Insn *in, u64 key, u32 i, Held h) {
    if (i == in->operand_count) {
        Variant v = {*in, h, stencil_key(key, h.mask), false, STENCIL_NONE};
        VEC_PUSH(&f->all, v);
        return;
    }
    Reg r = form_register(&in->op[i]);
    bool before = false;
    for (u32 k = 0; k < i; k++)
        before |= form_register(&in->op[k]) == r;
    add_variants(f, in, key, i + 1, h);
    if (r == REG_NONE || !form_may_be_held(r) || before || form_is_rare(in))
        return;
    if (hold(&h, in, r))
        add_variants(f, in, key, i + 1, h);
}

static void note(void *user, const Insn *in) {
    Forms *f = user;
    u32 at;
    u64 key = form_key(in);
    if (map64_get(&f->seen, key, &at))
        return;
    map64_set(&f->seen, key, 1);
    add_variants(f, in, key, 0, (Held){0});
}

static const char *name_of(size_t index, char name[32]) {
    snprintf(name, 32, "s%zu", index);
    return name;
}

static LLVMTargetMachineRef machine(void) {
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    LLVMInitializeAllAsmPrinters();
    LLVMInitializeAllAsmParsers();
    LLVMTargetRef llvm;
    char *error = NULL;
    CHECK(!LLVMGetTargetFromTriple(target->triple, &llvm, &error), "LLVM has no back end for the host");
    return LLVMCreateTargetMachine(llvm, target->triple, target->stencil_cpu, "", LLVMCodeGenLevelDefault,
                                   LLVMRelocStatic, LLVMCodeModelSmall);
}

/* Where guest calls push one word each, a stencil finds the stack pointer at any multiple of 8, and must not spill vectors with instructions that want more. */
static void align_stack(LLVMModuleRef mod) {
    static const char flag[] = "override-stack-alignment";
    LLVMValueRef bytes =
        LLVMConstInt(LLVMInt32TypeInContext(LLVMGetModuleContext(mod)), target->stencil->stack_align, false);
    LLVMAddModuleFlag(mod, LLVMModuleFlagBehaviorError, flag, sizeof(flag) - 1, LLVMValueAsMetadata(bytes));
}

static LLVMMemoryBufferRef compile(Forms *f) {
    LLVMTargetMachineRef tm = machine();
    LLVMModuleRef mod = LLVMModuleCreateWithName("stencils");
    align_stack(mod);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(tm);
    LLVMSetModuleDataLayout(mod, layout);
    LLVMSetTarget(mod, LLVMGetTargetMachineTriple(tm));
    for (size_t i = 0; i < f->all.len; i++)
        f->all.at[i].lifted = holder_lift(mod, target, &f->all.at[i].in, &f->all.at[i].held, name_of(i, (char[32]){0}));
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    CHECK(!LLVMRunPasses(mod, PASSES, tm, options), "LLVM knows the passes");
    holder_settle(mod);
    LLVMMemoryBufferRef object = NULL;
    char *error = NULL;
    CHECK(!LLVMTargetMachineEmitToMemoryBuffer(tm, mod, LLVMObjectFile, &error, &object), "LLVM compiles stencils");
    return object;
}

/* -------------------------------------------------------------------------------------------------------------- output */

/* The tables, with nothing in them twice. */
typedef struct Tables {
    VEC(u8) code;
    VEC(StencilPatch) patches;
    VEC(StencilField) fields;
    VEC(Stencil) stencils;
    VEC(Piece) pieces;
    Map64 by_hash;
} Tables;

static u64 hash_of(const Piece *p) {
    const u8 *bytes = (const u8 *)p;
    u64 h = 1;
    for (size_t i = 0; i < sizeof(*p); i++)
        h = (h ^ bytes[i]) * 0x100000001b3u;
    return h;
}

static u32 add_piece(Tables *t, const Piece *p) {
    u32 at;
    u64 h = hash_of(p);
    if (map64_get(&t->by_hash, h, &at) && !memcmp(&t->pieces.at[at], p, sizeof(*p)))
        return at;
    Stencil s = {.code = (u32)t->code.len,
                 .patch = (u32)t->patches.len,
                 .field = (u32)t->fields.len,
                 .size = (u16)p->size,
                 .patches = (u8)p->patches,
                 .fields = (u8)p->fields,
                 .distinct = p->distinct};
    for (u32 i = 0; i < p->size; i++)
        VEC_PUSH(&t->code, p->code[i]);
    for (u32 i = 0; i < p->patches; i++)
        VEC_PUSH(&t->patches, p->patch[i]);
    for (u32 i = 0; i < p->fields; i++)
        VEC_PUSH(&t->fields, p->field[i]);
    VEC_PUSH(&t->stencils, s);
    VEC_PUSH(&t->pieces, *p);
    map64_set(&t->by_hash, h, (u32)t->stencils.len - 1);
    return (u32)t->stencils.len - 1;
}

static void print_bytes(FILE *out, const char *name, const u8 *bytes, size_t count) {
    fprintf(out, "\nconst u8 %s[] = {", name);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%u,", i % 32 ? "" : "\n", bytes[i]);
    fprintf(out, "%s\n};\n", count ? "" : "0");
}

static void print_stencils(FILE *out, const Tables *t) {
    fprintf(out, "\nconst StencilPatch stencil_patches[] = {\n");
    for (size_t i = 0; i < t->patches.len; i++) {
        const StencilPatch *p = &t->patches.at[i];
        fprintf(out, "{%u,%u,%u,%d,%u},%s", p->at, p->kind, p->how, p->addend, p->arg, i % 8 == 7 ? "\n" : "");
    }
    fprintf(out, "\n};\n\nconst StencilField stencil_fields[] = {\n");
    for (size_t i = 0; i < t->fields.len; i++) {
        const StencilField *f = &t->fields.at[i];
        const HostField *h = &f->field;
        fprintf(out, "{{%u,%u,%u,%u,%u,%u},%u,%u},%s", h->at, h->shift, h->high_at, h->high_shift, h->operand,
                h->allowed, f->number, f->arg, i % 8 == 7 ? "\n" : "");
    }
    fprintf(out, "\n};\n\nconst Stencil stencils[] = {\n");
    for (size_t i = 0; i < t->stencils.len; i++) {
        const Stencil *s = &t->stencils.at[i];
        fprintf(out, "{%u,%u,%u,%u,%u,%u,%d},%s", s->code, s->patch, s->field, s->size, s->patches, s->fields,
                s->distinct, i % 8 == 7 ? "\n" : "");
    }
    fprintf(out, "\n};\n");
}

static void print_slots(FILE *out, const Forms *f) {
    u32 bits = 4;
    while ((size_t)1 << bits < 2 * f->all.len)
        bits++;
    StencilSlot *slots = mem_new(sizeof(StencilSlot) << bits);
    for (u32 i = 0; i < 1u << bits; i++)
        slots[i].stencil = STENCIL_NONE;
    for (size_t i = 0; i < f->all.len; i++) {
        const Variant *v = &f->all.at[i];
        u32 at = stencil_hash(v->key, bits);
        if (v->stencil == STENCIL_NONE)
            continue;
        while (slots[at].stencil != STENCIL_NONE)
            at = (at + 1) & ((1u << bits) - 1);
        slots[at] = (StencilSlot){v->key, v->stencil};
    }
    fprintf(out, "\nconst u32 stencil_slot_bits = %u;\n\nconst StencilSlot stencil_slots[] = {\n", bits);
    for (u32 i = 0; i < 1u << bits; i++)
        fprintf(out, "{%lluu,%uu},%s", (unsigned long long)slots[i].key, slots[i].stencil, i % 8 == 7 ? "\n" : "");
    fprintf(out, "};\n");
    mem_free(slots);
}

static void print_all(FILE *out, const Forms *f, const Tables *t, const Extract *x) {
    fprintf(out, "/* Made by stencil/generate.c. */\n#include \"stencil/stencil.h\"\n");
    print_bytes(out, "stencil_code", t->code.at, t->code.len);
    print_bytes(out, "stencil_constants", x->constants.at, x->constants.len);
    fprintf(out, "\nconst u32 stencil_constants_size = %zu;\n", x->constants.len);
    print_stencils(out, t);
    print_slots(out, f);
    fprintf(out, "\nconst StencilHelper stencil_helpers[] = {");
    for (size_t i = 0; i < x->helpers.len; i++)
        fprintf(out, "{\"%s\",%d}, ", x->helpers.at[i].name, x->helpers.at[i].with_state);
    fprintf(out, "{0}};\n");
}

/* A condition of two parts is one jump: who copies stencils knows of one place that leads to the target. */
static void set_llvm_options(void) {
    enum { OPTIONS_MAX = 8 };
    const char *all[OPTIONS_MAX] = {"stencil-generate", "-jump-is-expensive"};
    int count = 2;
    for (const char *const *own = target->stencil->options; *own; own++)
        all[count++] = *own;
    LLVMParseCommandLineOptions(count, all, NULL);
}

static const Host *host_named(const char *name) {
    const Host *host = host_of_triple(name);
    CHECK(host && host->stencil, "a host that stencils can be made for");
    return host;
}

int main(int argc, char **argv) {
    Forms forms = {0};
    Extract x;
    if (argc != 3) {
        fprintf(stderr, "usage: generate HOST FILE\n");
        return 1;
    }
    target = host_named(argv[1]);
    set_llvm_options();
    form_each(note, &forms);
    LLVMMemoryBufferRef object = compile(&forms);
    extract_begin(&x, target->stencil, LLVMGetBufferStart(object));
    Tables t = {0};
    for (size_t i = 0; i < forms.all.len; i++) {
        Variant *v = &forms.all.at[i];
        static Piece piece;
        bool found = v->lifted && extract_piece(&x, name_of(i, (char[32]){0}), &v->in, &v->held, &piece);
        CHECK(found || v->held.mask || !form_is_complete, "each form of this guest has a stencil");
        CHECK(found || v->in.flow == FLOW_NEXT, "what jumps does so with its operands in any registers");
        if (found)
            v->stencil = add_piece(&t, &piece);
    }
    FILE *out = fopen(argv[2], "w");
    CHECK(out, "the file can be written");
    print_all(out, &forms, &t, &x);
    return fclose(out) ? 1 : 0;
}
