/* discover.c: which functions a program has, and all of them lifted.
 *
 * Functions are entered where the file says so (its entry, constructors, exported symbols, pointers in its data), where code
 * takes the address of one, and where code calls. A place that is only jumped to belongs to whoever jumps there, so that parts
 * of functions that a compiler has put elsewhere come to lie in their function; if several functions jump to it, each has its
 * copy. First all functions are decoded, again and again until no new one is found, and then lifted, when it is known which
 * jumps lead to functions. */
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>

#include "lift/func.h"
#include "raise/raise.h"

static void want(Raise *r, u64 pc, bool native) {
    u32 index;
    if (map64_get(&r->by_pc, pc, &index)) {
        r->functions.at[index].native |= native;
        return;
    }
    if (!elf_is_code(r->elf, pc))
        return;
    map64_set(&r->by_pc, pc, (u32)r->functions.len);
    VEC_PUSH(&r->functions, ((RaiseFunction){.pc = pc, .native = native}));
}

/* Does the word lead into the middle of a function? */
static bool is_label(const Raise *r, u64 at) {
    u64 word;
    return elf_read(r->elf, at, &word, sizeof(word)) == sizeof(word) && elf_is_code(r->elf, word) &&
           elf_function_around(r->elf, word);
}

/* In a program that is not position-independent: is the word next to one that leads into the middle of a function? Then both may be of a table of jumps, and what it leads to
 * a part of a function that the compiler has put elsewhere. */
static bool is_among_labels(const Raise *r, u64 at) {
    return at && !r->extent.position_independent && (is_label(r, at - sizeof(u64)) || is_label(r, at + sizeof(u64)));
}

/* A pointer leads to a function unless it leads into the middle of one. In a program that is not position-independent, any
 * number may look like a pointer, so known functions come first, and the others are looked at when it is known what is code of these (want_loose).
 * Where constants are in one segment with code, as linkers have it for other machines, only known functions count and what is in a section of code. */
static void want_word(Raise *r, u64 at, u64 pc) {
    ElfFunction known = elf_function_at(r->elf, pc);
    bool begins = known.size || known.name || raise_is_stub(r, pc);
    bool is_code = r->isa == isa_of_host() || elf_is_code_section(r->elf, pc);
    bool may_begin = !begins && is_code && !elf_function_around(r->elf, pc);
    bool among = begins && is_among_labels(r, at);
    if ((begins && !among) || (may_begin && r->extent.position_independent))
        want(r, pc, true);
    else if ((may_begin || among) && elf_is_code(r->elf, pc))
        VEC_PUSH(&r->loose, ((ElfPointer){at, pc}));
}

/* The same for one that is in an instruction. */
static void want_pointer(Raise *r, u64 pc) {
    want_word(r, 0, pc);
}

static int by_address(const void *x, const void *y) {
    u64 a = *(const u64 *)x, b = *(const u64 *)y;
    return a < b ? -1 : a > b;
}

static int by_target(const void *x, const void *y) {
    u64 a = ((const ElfPointer *)x)->to, b = ((const ElfPointer *)y)->to;
    return a < b ? -1 : a > b;
}

/* Words of tables of jumps lead into functions, and so do numbers in instructions that lead behind another instruction that goes on there. */
static bool may_be_function(const Raise *r, const ElfPointer *p) {
    u32 known;
    return !map64_get(p->at ? &r->table_words : &r->claimed, p->at ? p->at : p->to, &known);
}

static bool want_lowest(Raise *r, bool among_labels) {
    for (size_t i = 0; i < r->loose.len; i++)
        if (may_be_function(r, &r->loose.at[i]) && is_among_labels(r, r->loose.at[i].at) == among_labels) {
            size_t before = r->functions.len;
            want(r, r->loose.at[i].to, true);
            if (r->functions.len != before)
                return true;
        }
    return false;
}

/* The lowest of the pointers that may lead to a function: a function is below the places in it that its tables lead to. False: there is none. */
static bool want_loose(Raise *r) {
    if (r->loose.len)
        qsort(r->loose.at, r->loose.len, sizeof(*r->loose.at), by_target);
    return want_lowest(r, false) || want_lowest(r, true);
}

/* For want_loose: instructions that others go on to, and tables. */
static void claim(Raise *r, const LatheFunc *fn) {
    for (size_t i = 0; !r->extent.position_independent && i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        if (in->flow == FLOW_NEXT || in->flow == FLOW_BRANCH)
            map64_set(&r->claimed, insn_end(in), 1);
        for (u64 at = in->table ? in->table->start : 0; in->table && at < in->table->end; at += sizeof(u64))
            map64_set(&r->table_words, at, 1);
    }
}

/* Places that a program jumps to by their addresses: pointers into the middle of functions. */
static void find_labels(Raise *r) {
    ElfPointers pointers = {0};
    elf_code_pointers(r->elf, &pointers);
    for (size_t i = 0; i < pointers.len; i++)
        if (elf_function_around(r->elf, pointers.at[i].to))
            VEC_PUSH(&r->labels, pointers.at[i].to);
    VEC_FREE(&pointers);
    if (r->labels.len)
        qsort(r->labels.at, r->labels.len, sizeof(*r->labels.at), by_address);
}

static void want_from_file(Raise *r) {
    ElfPointers pointers = {0}, exported = {0};
    want(r, elf_entry(r->elf), true);
    elf_code_pointers(r->elf, &pointers);
    elf_exported_functions(r->elf, &exported);
    for (size_t i = 0; i < pointers.len; i++)
        want_word(r, pointers.at[i].at, pointers.at[i].to);
    for (size_t i = 0; i < exported.len; i++)
        want(r, exported.at[i].to, true);
    for (size_t i = 0; i < r->offered.len; i++)
        want(r, r->offered.at[i].to, true);
    VEC_FREE(&pointers);
    VEC_FREE(&exported);
}

/* ------------------------------------------------------------------------------------------------- callbacks */

static size_t read_memory(void *user, u64 addr, void *buf, size_t size) {
    return elf_read_const(((Raise *)user)->elf, addr, buf, size);
}

static bool is_outside(void *user, u64 pc) {
    Raise *r = user;
    u32 index;
    return pc != r->current && map64_get(&r->by_pc, pc, &index);
}

static LLVMValueRef resolve(void *user, u64 pc) {
    Raise *r = user;
    RaiseFunction *f = raise_function_at(r, pc);
    return f && f->plain ? f->plain : r->nowhere;
}

static bool is_named(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; name && i < count; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static bool never_returns(void *user, u64 callee) {
    u32 known;
    if (map64_get(&((Raise *)user)->never_return, callee, &known))
        return true;
    static const char *const names[] = {
        "exit",          "_exit",          "_Exit",      "quick_exit", "abort",         "__stack_chk_fail",
        "__assert_fail", "__fortify_fail", "__chk_fail", "longjmp",    "__longjmp_chk", "siglongjmp",
        "err",           "errx",           "verr",       "verrx",
    };
    const char *import = raise_import_at(user, callee);
    return is_named(import, names, ARRAY_LEN(names)) || raise_always_throws(import);
}

/* error() of the C library comes back only if its first argument is 0. */
static bool ends_at(void *user, const LatheFunc *fn, const Insn *call) {
    static const char *const names[] = {"error", "error_at_line"};
    Raise *r = user;
    Reg first = r->isa->abi.int_args[0];
    u64 end = call->pc;
    if (!call->target || !is_named(raise_import_at(r, call->target), names, ARRAY_LEN(names)))
        return false;
    for (size_t i = fn->insns.len; i-- > 0;) {
        const Insn *in = &fn->insns.at[i];
        if (insn_end(in) != end || in->flow != FLOW_NEXT)
            return false;
        if (regset_has(&in->writes, first)) {
            Effect e = r->isa->effect(in);
            return e.kind == EFFECT_CONSTANT && e.to == first && e.value;
        }
        end = in->pc;
    }
    return false;
}

static bool is_entry(void *user, u64 at, u64 to) {
    const Raise *r = user;
    u32 off;
    return map64_get(&r->table_entries, at, &off) && to == r->extent.start + off;
}

/* What look like tables of jumps, each up to where it leads out of its function, or another one begins. */
static void find_table_entries(Raise *r) {
    ElfPointers entries = {0};
    elf_table_entries(r->elf, &entries);
    for (size_t i = 0; i < entries.len; i++)
        if (entries.at[i].at)
            map64_set(&r->table_entries, entries.at[i].at, (u32)(entries.at[i].to - r->extent.start));
    VEC_FREE(&entries);
}

/* --------------------------------------------------------------------------------------------------- decoding */

/* Does the instruction make the address of code? */
static bool takes_address(const Raise *r, const Insn *in, u64 *address) {
    Effect e = in->row ? r->isa->effect(in) : (Effect){0};
    if (e.kind != EFFECT_CONSTANT || in->flow != FLOW_NEXT)
        return false;
    bool relative = false;
    for (int i = 0; i < in->operand_count; i++)
        relative |= in->op[i].kind == OPERAND_MEM && in->op[i].base == REG_PC;
    *address = (u64)e.value;
    return relative || !r->extent.position_independent;
}

/* A number in an instruction that may be an address of code, in a program that is not position-independent: such a program stores and compares addresses without having
 * them in a register. 0: it is none. */
static u64 immediate_address(const Raise *r, const Insn *in, int i) {
    bool is_number = !r->extent.position_independent && in->flow == FLOW_NEXT && in->op[i].kind == OPERAND_IMM;
    return is_number && elf_is_code(r->elf, (u64)in->op[i].disp) ? (u64)in->op[i].disp : 0;
}

/* The index of the first pointer that leads to `pc` or behind it. */
static size_t first_label(const Raise *r, u64 pc) {
    size_t low = 0, high = r->labels.len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (r->labels.at[middle] < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_label(Raise *r, const ElfFunction *f, u64 pc) {
    if (pc <= f->addr || pc - f->addr >= f->size || !elf_is_code(r->elf, pc))
        return;
    for (size_t i = 0; i < r->jump_places.len; i++)
        if (r->jump_places.at[i] == pc)
            return;
    VEC_PUSH(&r->jump_places, pc);
}

/* The entries of a table of 32-bit distances, if there is one at `at`. */
static void add_table(Raise *r, const ElfFunction *f, u64 at) {
    u32 off;
    for (; map64_get(&r->table_entries, at, &off); at += sizeof(u32))
        add_label(r, f, r->extent.start + off);
}

/* What a computed jump may lead to: the places of its function that pointers lead to, and those whose addresses its code makes; and what the tables
 * lead to whose addresses it makes, since a jump may be far from where its target was loaded. */
static size_t labels(void *user, const LatheFunc *fn, const Insn *in, const u64 **places) {
    Raise *r = user;
    const ElfFunction *f = elf_function_around(r->elf, in->pc);
    u64 address;
    r->jump_places.len = 0;
    if (!f || raise_import_at(r, in->pc))
        return 0;
    for (size_t i = first_label(r, f->addr); i < r->labels.len && r->labels.at[i] - f->addr < f->size; i++)
        add_label(r, f, r->labels.at[i]);
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *each = &fn->insns.at[i];
        if (takes_address(r, each, &address)) {
            add_label(r, f, address);
            add_table(r, f, address);
        }
        for (int k = 0; k < each->operand_count; k++)
            add_label(r, f, immediate_address(r, each, k));
    }
    *places = r->jump_places.at;
    return r->jump_places.len;
}

static void want_native(Raise *r, u64 pc) {
    want(r, pc, true);
}

/* Where a thread may begin, the calling function goes on, too. */
static void want_thread(Raise *r, u64 pc) {
    want(r, pc, true);
    RaiseFunction *f = raise_function_at(r, pc);
    if (f)
        f->goes_on = true;
}

static void want_immediates(Raise *r, const Insn *in) {
    for (int i = 0; i < in->operand_count; i++) {
        u64 address = immediate_address(r, in, i);
        ElfFunction known = address ? elf_function_at(r->elf, address) : (ElfFunction){0};
        if (known.size || known.name)
            want(r, address, true);
    }
}

static void want_from_code(Raise *r, const LatheFunc *fn) {
    if (raise_kept(r, r->current)) {
        raise_kept_targets(r, fn, want_native);
        return;
    }
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        u64 address;
        if (in->flow == FLOW_CALL && in->target)
            want(r, in->target, false);
        else if (takes_address(r, in, &address) && elf_is_code(r->elf, address))
            want_pointer(r, address);
        want_immediates(r, in);
    }
    raise_far_addresses(r, fn, want_pointer);
    raise_thread_starts(r, fn, want_thread);
}

static LatheFunc *decode(Raise *r, u64 pc) {
    r->current = pc;
    LatheFunc *fn = lathe_func_new(r->mod, &r->cfg);
    CHECK(fn, "raise only takes guests and hosts that there are");
    if (lathe_func_decode_cfg(fn, pc) == LATHE_OK)
        return fn;
    lathe_func_free(fn);
    return NULL;
}

/* May control leave the function to `pc`, and come back to its caller from there? */
static bool returns_from(Raise *r, const LatheFunc *fn, u64 pc) {
    u32 index;
    return !map64_get(&fn->by_pc, pc, &index) && !map64_get(&r->never_return, pc, &index);
}

static bool returns_at(Raise *r, const LatheFunc *fn, const Insn *in) {
    switch ((Flow)in->flow) {
    case FLOW_RETURN:
        return true;
    case FLOW_INDIRECT:
        return !in->table || in->table->by_address;
    case FLOW_JUMP:
        return returns_from(r, fn, in->target);
    case FLOW_BRANCH:
        return returns_from(r, fn, in->target) || returns_from(r, fn, insn_end(in));
    case FLOW_CALL:
        return !in->last && returns_from(r, fn, insn_end(in));
    case FLOW_NEXT:
    case FLOW_SYSCALL:
        return returns_from(r, fn, insn_end(in));
    case FLOW_STOP:
        return false;
    }
    return true;
}

static bool may_return(Raise *r, const LatheFunc *fn) {
    for (size_t i = 0; i < fn->insns.len; i++)
        if (returns_at(r, fn, &fn->insns.at[i]))
            return true;
    return false;
}

/* Functions may be found behind the one that is being looked at. What they jump to is among their own instructions, so there is no
 * need to look at them again. True if a function has turned out never to return. */
static bool look_at_all(Raise *r) {
    size_t before = r->never_return.len;
    for (size_t i = 0; i < r->functions.len || want_loose(r); i++) {
        raise_progress(r, "functions found", i, r->functions.len);
        LatheFunc *fn = decode(r, r->functions.at[i].pc);
        if (!fn)
            continue;
        claim(r, fn);
        raise_leave(r, fn, r->functions.at[i].pc);
        want_from_code(r, fn);
        if (!may_return(r, fn) && !raise_is_left(r, r->functions.at[i].pc))
            map64_set(&r->never_return, r->functions.at[i].pc, 1);
        lathe_func_free(fn);
    }
    return r->never_return.len != before;
}

/* What follows calls of functions that never return is no code, or another function's, so that what was found there does not count. */
static void find_all(Raise *r) {
    do {
        r->functions.len = 0;
        r->loose.len = 0;
        map64_free(&r->by_pc);
        map64_free(&r->claimed);
        map64_free(&r->table_words);
        map64_free(&r->left);
        map64_free(&r->decoded);
        r->by_pc = r->claimed = r->table_words = r->left = r->decoded = (Map64){0};
        want_from_file(r);
    } while (look_at_all(r));
}

/* ----------------------------------------------------------------------------------------------------- lifting */

static LLVMValueRef declare(Raise *r, const char *name) {
    LLVMTypeRef ptr = LLVMPointerTypeInContext(r->ctx, 0);
    return LLVMAddFunction(r->mod, name, LLVMFunctionType(LLVMVoidTypeInContext(r->ctx), &ptr, 1, false));
}

LLVMValueRef raise_image(Raise *r) {
    LLVMValueRef image = LLVMGetNamedGlobal(r->mod, RAISE_IMAGE);
    return image ? image : LLVMAddGlobal(r->mod, LLVMInt8TypeInContext(r->ctx), RAISE_IMAGE);
}

static LLVMValueRef declare_lookup(Raise *r) {
    LLVMTypeRef ptr = LLVMPointerTypeInContext(r->ctx, 0);
    LLVMTypeRef params[] = {ptr, LLVMInt64TypeInContext(r->ctx), LLVMInt1TypeInContext(r->ctx)};
    return LLVMAddFunction(r->mod, "lathe_raise_lookup", LLVMFunctionType(ptr, params, 3, false));
}

static LLVMValueRef declare_threw(Raise *r) {
    LLVMTypeRef word = LLVMInt64TypeInContext(r->ctx);
    return LLVMAddFunction(r->mod, RAISE_PREFIX "threw",
                           LLVMFunctionType(LLVMInt1TypeInContext(r->ctx), &word, 1, false));
}

static void configure(Raise *r) {
    r->dispatch = declare(r, "lathe_raise_dispatch");
    r->nowhere = declare(r, "lathe_raise_nowhere");
    r->lookup = declare_lookup(r);
    r->threw = declare_threw(r);
    r->tuning = (LatheTuning){.is_outside = is_outside,
                              .ends_at = ends_at,
                              .is_entry = is_entry,
                              .labels = labels,
                              .landing = r->unwinds ? raise_landing : NULL,
                              .threw = r->threw,
                              .trusted_returns = true,
                              .native_fs = !r->foreign,
                              .native_traps = !r->foreign,
                              .half_phis = true,
                              .many_ways = true,
                              .watch = r->tool_watch};
    r->cfg = (LatheConfig){.arch = r->isa->arch,
                           .host = r->host->id,
                           .read_memory = read_memory,
                           .user = r,
                           .pic_symbol = RAISE_IMAGE,
                           .pic_base = r->extent.start,
                           .calls = LATHE_CALLS_RETURN,
                           .resolve = resolve,
                           .dispatch = r->dispatch,
                           .lookup = r->lookup,
                           .never_returns = never_returns,
                           .strict_fp = r->strict_fp,
                           .on_syscall = declare(r, RAISE_SYSCALL),
                           .on_cpuid = declare(r, RAISE_CPUID),
                           .tuning = &r->tuning};
}

static void name_function(Raise *r, u64 pc, char *name, size_t size) {
    ElfFunction known = elf_function_at(r->elf, pc);
    const char *import = raise_import_at(r, pc);
    if (known.name)
        snprintf(name, size, "raised_%lx_%s", pc, known.name);
    else if (import)
        snprintf(name, size, "raised_%lx_%s_stub", pc, import);
    else
        snprintf(name, size, "raised_%lx", pc);
}

static void keep_jump(Raise *r, const Insn *in) {
    if (in->table) {
        VEC_PUSH(&r->jumps, ((RaiseJump){in->pc, in->table->start, in->table->end, in->table->count}));
    } else if (!raise_import_at(r, in->pc)) {
        r->counts.unresolved_jumps++;
        raise_note(r, in->pc, "a computed jump, which must lead to a function");
    }
}

static void keep_code(Raise *r, const LatheFunc *fn) {
    for (size_t i = 0; i < fn->insns.len; i++) {
        const Insn *in = &fn->insns.at[i];
        if (in->status == LATHE_OK)
            VEC_PUSH(&r->code, ((LatheRange){in->pc, insn_end(in)}));
        if (in->flow == FLOW_INDIRECT)
            keep_jump(r, in);
    }
    r->counts.insns += fn->insns.len;
    LatheProblem p = lathe_func_problem(fn);
    if (p.status != LATHE_OK) {
        r->counts.unsupported++;
        raise_note(r, p.pc, "the program stops there: %s", p.text ? p.text : lathe_status_text(p.status));
    }
}

/* The declaration that other functions call so far becomes `by`. */
static void replace_declaration(RaiseFunction *f, LLVMValueRef by) {
    LLVMReplaceAllUsesWith(f->plain, by);
    LLVMDeleteFunction(f->plain);
}

static LLVMValueRef lift_or_keep(Raise *r, RaiseFunction *f, LatheFunc *fn) {
    f->kept = raise_kept(r, f->pc) || f->left;
    f->by_address = f->native && f->left;
    f->native &= !f->kept;
    return f->kept ? raise_kept_stub(r, f->pc) : fn ? lathe_func_lift(fn, "lifted") : NULL;
}

static void lift(Raise *r, RaiseFunction *f) {
    LatheFunc *fn = decode(r, f->pc);
    LLVMValueRef lifted = lift_or_keep(r, f, fn);
    replace_declaration(f, lifted ? lifted : r->nowhere);
    f->plain = lifted;
    if (lifted) {
        char name[RAISE_TEXT];
        raise_join_jumps(lifted);
        name_function(r, f->pc, name, sizeof(name));
        LLVMSetValueName2(lifted, name, strlen(name));
        f->import = raise_import_at(r, f->pc);
        if (!f->kept)
            keep_code(r, fn);
        if (r->is_object && r->foreign)
            raise_check_calls(r, fn);
        else if (f->left)
            raise_note_left(r, fn, f->pc);
        r->counts.functions++;
    } else {
        raise_note(r, f->pc, "no function can be read there");
    }
    lathe_func_free(fn);
}

RaiseFunction *raise_function_at(Raise *r, u64 pc) {
    u32 index;
    return map64_get(&r->by_pc, pc, &index) ? &r->functions.at[index] : NULL;
}

bool raise_discover(Raise *r) {
    configure(r);
    find_table_entries(r);
    find_labels(r);
    find_all(r);
    raise_settle(r);
    raise_tool_lifting(r);
    for (size_t i = 0; i < r->functions.len; i++)
        r->functions.at[i].plain = declare(r, "");
    for (size_t i = 0; i < r->functions.len; i++) {
        raise_progress(r, "functions lifted", i, r->functions.len);
        lift(r, &r->functions.at[i]);
    }
    return !*r->problem && (r->counts.functions || raise_fail(r, "no function can be read in it"));
}
