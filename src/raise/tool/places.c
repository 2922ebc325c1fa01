/* places.c: which hooks of a tool apply to an instruction of a program that is raised: what LatheWhere says, by the symbols of its file. */
#include "raise/tool/tool.h"

/* Where the section ends that an address is in; the address itself if no section is known. */
static u64 section_end(const RaiseTool *t, u64 addr) {
    size_t size;
    const u8 *file = elf_bytes(t->r->elf, &size);
    Elf64_Ehdr head;
    memcpy(&head, file, sizeof(head));
    if (head.e_shoff > size || head.e_shnum > (size - head.e_shoff) / sizeof(Elf64_Shdr))
        return addr;
    for (u32 i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, file + head.e_shoff + i * sizeof(s), sizeof(s));
        if (s.sh_flags & SHF_ALLOC && addr - s.sh_addr < s.sh_size)
            return s.sh_addr + s.sh_size;
    }
    return addr;
}

u64 tool_function_room(const RaiseTool *t, const ElfFunction *f) {
    return f->size ? f->size : section_end(t, f->addr) - f->addr;
}

/* How many functions begin at an address or before. */
static size_t functions_up_to(const RaiseTool *t, u64 pc) {
    const ElfFunction *f;
    size_t low = 0, high = elf_functions(t->r->elf, &f);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (f[middle].addr <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The function that an instruction is in; one without a name: it is not known. */
static ElfFunction function_of(const RaiseTool *t, u64 pc) {
    const ElfFunction *f;
    size_t low = functions_up_to(t, pc);
    elf_functions(t->r->elf, &f);
    bool inside = low && pc - f[low - 1].addr < tool_function_room(t, &f[low - 1]);
    return inside ? f[low - 1] : (ElfFunction){0};
}

/* All code between two functions is one function, too. */
static bool same_function(const RaiseTool *t, u64 pc, u64 other) {
    return functions_up_to(t, pc) == functions_up_to(t, other) &&
           !function_of(t, pc).name == !function_of(t, other).name;
}

static bool leaves(const RaiseTool *t, u64 pc, const InsnView *view) {
    return (view->flow == FLOW_BRANCH || view->flow == FLOW_JUMP) && !same_function(t, pc, view->target);
}

/* By any of the function's names, if there are no stars. */
static bool is_in(const RaiseTool *t, const char *symbol, u64 pc) {
    ElfFunction f = function_of(t, pc), named;
    if (!f.name)
        return false;
    return site_name_matches(symbol, f.name) ||
           (!strchr(symbol, '*') && elf_lookup(t->r->elf, symbol, &named) && named.addr == f.addr);
}

static bool suits(const RaiseTool *t, const ToolPlace *p, u64 pc, const InsnView *view) {
    if (p->classes && !(view->classes & p->classes))
        return false;
    if (p->leaves && !leaves(t, pc, view))
        return false;
    if (p->opcode && !site_name_matches(p->opcode, t->r->isa->opcode_name(view->opcode)))
        return false;
    return (!p->module || site_name_matches(p->module, t->module)) && (!p->symbol || is_in(t, p->symbol, pc));
}

u64 tool_hooks_at(void *tool, u64 pc) {
    enum { INSN_BYTES = 16 };
    const RaiseTool *t = tool;
    u8 bytes[INSN_BYTES];
    InsnView view;
    u64 hooks = 0;
    if (!t->r->isa->view(bytes, elf_read(t->r->elf, pc, bytes, sizeof(bytes)), pc, &view))
        return 0;
    for (u32 i = 0; i < t->parts.head->hook_count; i++) {
        bool begins = t->hook[i].event != LATHE_FUNCTION || elf_function_at(t->r->elf, pc).name;
        hooks |= (u64)(begins && suits(t, &t->place[i], pc, &view)) << i;
    }
    return hooks;
}
