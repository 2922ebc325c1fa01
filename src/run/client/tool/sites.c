/* sites.c: see sites.h. */
#include "run/client/tool/sites.h"

#include "run/client/code/arena/arena.h"
#include "run/client/core/guest.h"
#include "run/client/memory/peek.h"
#include "run/client/memory/space.h"
#include "run/client/tool/table/tables.h"

_Static_assert((u32)TOOL_ADDRESSES == INSN_ACCESSES && LATHE_OPCODES == (u32)INSN_OPCODES, "the same for everybody");

/* ---------------------------------------------------------------------------------------------------------------- lists */

/* Others may make code at any time, for which these move: whoever is not making code takes copies with the arena's lock held. */
typedef struct Sites {
    Array sites, calls, accesses, amounts, rows;
} Sites;

static Sites all;

Array *sites_list(u32 index) {
    Array *const lists[SITE_LISTS] = {&all.sites, &all.calls, &all.accesses, &all.amounts, &all.rows};
    return lists[index];
}

static void add(Array *list, const void *what, u64 bytes) {
    if (bytes)
        memcpy(array_extend(list, bytes), what, bytes);
}

Site *site_no(u32 number) {
    return (Site *)all.sites.at + number;
}

u32 site_count(void) {
    return (u32)(all.sites.len / sizeof(Site));
}

void sites_kill(u32 first, u32 count) {
    for (u32 i = first; i < first + count; i++)
        site_no(i)->dead = true;
}

void site_forget_all(void) {
    array_free(&all.sites);
    array_free(&all.calls);
    array_free(&all.accesses);
    array_free(&all.amounts);
    array_free(&all.rows);
}

void site_amounts(const Site *site, TallySum *sum) {
    const i32 *own = (const i32 *)all.amounts.at + site->amounts;
    for (u32 i = 0; i < TOOL_COUNTS; i++)
        sum->amount[i] = own[i];
    sum->row_count = site->row_count;
    memcpy(sum->row, (const RowAdd *)all.rows.at + site->first_row, site->row_count * sizeof(RowAdd));
}

/* ------------------------------------------------------------------------------------------------------------ the tool */

/* What all hooks together are, which is asked at each instruction: it is looked at once. */
typedef struct Facts {
    bool known;
    bool exist, call, call_once, call_often, want_all, count_by_kind, count_in_rows, want_extents;
} Facts;

static bool wants(const LatheHook *h, LatheWhat what) {
    for (u32 i = 0; i < LATHE_VALUES; i++)
        if (h->value[i].what == what)
            return true;
    return false;
}

static void add_facts(Facts *f, u32 number) {
    const LatheHook *h = tool_hook(number);
    const ToolPlan *plan = tool_plan(number);
    bool counts = plan->kind == TOOL_COUNT;
    f->count_by_kind |= counts && !tool_only_counts_insns(number);
    f->count_in_rows |= counts && plan->row_count;
    f->want_extents |= h->event == LATHE_BLOCK && (wants(h, LATHE_BYTES) || wants(h, LATHE_COUNT));
    if (!site_is_event(h->event))
        return;
    f->exist = true;
    f->call |= !counts;
    f->call_once |= plan->once;
    f->call_often |= !counts && !plan->once;
    f->want_all |= !plan->once;
}

/* The first who asks does so when the program has one thread: before there is code. */
static const Facts *facts(void) {
    static Facts of_all;
    if (of_all.known || !tool_exists())
        return &of_all;
    for (u32 i = 0; i < tool_hook_count(); i++)
        add_facts(&of_all, i);
    of_all.known = true;
    return &of_all;
}

bool sites_exist(void) {
    return facts()->exist;
}

bool sites_call(void) {
    return facts()->call;
}

bool sites_call_once(void) {
    return facts()->call_once;
}

bool sites_call_often(void) {
    return facts()->call_often;
}

bool sites_want_all(void) {
    return facts()->want_all;
}

bool sites_can_be_kept(void) {
    return !facts()->count_by_kind && !facts()->call_often;
}

bool sites_have_blocks(void) {
    return tool_watches(LATHE_BLOCK);
}

bool sites_count_by_kind(void) {
    return facts()->count_by_kind;
}

bool sites_count_in_rows(void) {
    return facts()->count_in_rows;
}

bool sites_want_extents(void) {
    return facts()->want_extents;
}

/* -------------------------------------------------------------------------------------------------------------- filters */

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* What the symbols say of an instruction; it is looked for only once, and if somebody wants to know. */
typedef struct Symbol {
    bool asked, known;
    LatheSymbol is;
} Symbol;

static const LatheSymbol *symbol_at(u64 pc, Symbol *s) {
    if (!s->asked)
        s->known = lathe_symbol(pc, &s->is);
    s->asked = true;
    return &s->is;
}

static bool suits_names(const LatheWhere *w, u64 pc, Symbol *s) {
    if (w->module && !site_name_matches(w->module, last_part(symbol_at(pc, s)->file)))
        return false;
    return !w->symbol || (symbol_at(pc, s) && s->known && tool_symbol_matches(pc, w->symbol));
}

/* Is the target of a jump or branch in another function than itself? */
static bool leaves(const InsnView *view, u64 pc) {
    u64 from, to;
    if (view->flow != FLOW_JUMP && view->flow != FLOW_BRANCH)
        return false;
    lathe_extent(pc, &from, &to);
    return view->target < from || view->target >= to;
}

/* `view` is NULL if the instruction is not known. */
static bool suits(const LatheHook *hook, u64 pc, const InsnView *view, Symbol *s) {
    const LatheWhere *w = &hook->where;
    if (pc < w->from || (w->to && pc >= w->to))
        return false;
    if (w->classes && !(view && view->classes & w->classes))
        return false;
    if (w->opcode && !(view && site_name_matches(w->opcode, insn_opcode_name(view->opcode))))
        return false;
    if (w->leaves && !(view && leaves(view, pc)))
        return false;
    return suits_names(w, pc, s);
}

static bool suits_access(const LatheHook *hook, const InsnView *view, const SiteEvent *e) {
    return !hook->where.not_stack || !site_is_of_stack(&view->access[e->access], GUEST_SP);
}

const char *lathe_opcode_name(uint64_t opcode) {
    return insn_opcode_name(opcode < INSN_OPCODES ? (u32)opcode : INSN_OPCODES);
}

/* -------------------------------------------------------------------------------------------------------- instructions */

static bool is_of_pass(SitePhase phase) {
    return phase == SITE_PASS || phase == SITE_PASSED;
}

static u64 known_value(const SiteInsn *insn, const LatheValue *v, const SiteEvent *e) {
    SiteFacts facts = {&insn->view, insn->pc, insn->block_bytes, insn->block_insns};
    return site_known_value(v, e, &facts);
}

static void add_amounts(SiteInsn *insn, u32 hook, const SiteEvent *e) {
    const ToolCounts *c = tool_counts();
    const ToolPlan *plan = tool_plan(hook);
    for (u32 k = 0; k < plan->add_count; k++) {
        const ToolAdd *add = &plan->add[k];
        i32 amount = add->value ? (i32)known_value(insn, &tool_hook(hook)->value[add->value - 1], e) : add->amount;
        for (u32 i = 0; i < c->count; i++)
            if (c->add[i].counter == add->counter) {
                insn->amount[i] += amount;
                insn->counts = true;
            }
    }
}

static void add_rows(SiteInsn *insn, u32 hook, const SiteEvent *e) {
    const ToolPlan *plan = tool_plan(hook);
    for (u32 i = 0; i < plan->row_count; i++) {
        const ToolKey *key = plan->row[i].key;
        u64 keys[LATHE_KEYS];
        for (u32 k = 0; k < LATHE_KEYS; k++)
            keys[k] = key[k].value ? known_value(insn, &tool_hook(hook)->value[key[k].value - 1], e) : key[k].constant;
        insn->row[insn->row_count++] = (RowAdd){row_for(plan->row[i].table, keys), plan->row[i].amount};
        insn->counts = true;
    }
}

/* How often something is counted in a repeated instruction is not known ahead. */
static void add_hook(SiteInsn *insn, u32 hook, const SiteEvent *e) {
    u8 phase = tool_plan(hook)->once && e->phase == SITE_BEFORE ? SITE_ONCE : e->phase;
    if (tool_plan(hook)->kind == TOOL_COUNT && e->phase == SITE_BEFORE) {
        add_amounts(insn, hook, e);
        add_rows(insn, hook, e);
        insn->counting |= (u64)1 << hook;
        return;
    }
    CHECK(insn->call_count < SITE_CALLS, "an instruction has fewer events than that");
    insn->call[insn->call_count] = (SiteCall){(u8)hook, e->event, e->access};
    insn->phase[insn->call_count++] = phase;
    insn->repeats |= is_of_pass((SitePhase)e->phase);
    insn->notes_addresses |= (e->phase == SITE_PASSED || e->phase == SITE_BEHIND) && e->event != LATHE_INSN_DONE;
}

static void clear(SiteInsn *insn) {
    insn->known = insn->counts = insn->repeats = insn->notes_addresses = false;
    insn->call_count = insn->row_count = 0;
    insn->counting = 0;
    memset(insn->amount, 0, sizeof(insn->amount));
    memset(&insn->view, 0, sizeof(insn->view));
}

static bool begins_function(u64 pc, Symbol *s) {
    return symbol_at(pc, s)->offset == 0 && s->known;
}

/* A tool that has no hooks at instructions needs to know nothing of them. */
void sites_look(SiteInsn *insn, u64 bytes) {
    SiteEvent events[SITE_EVENTS];
    clear(insn);
    if (!sites_exist())
        return;
    insn->known = bytes && insn_view((const u8 *)insn->pc, bytes, insn->pc, &insn->view);
    Symbol symbol = {0};
    SitePlace place = {.begins_block = insn->begins_block,
                       .begins_function = tool_watches(LATHE_FUNCTION) && begins_function(insn->pc, &symbol)};
    const InsnView *view = insn->known ? &insn->view : NULL;
    u32 count = site_events(view, place, events);
    for (u32 i = 0; i < count; i++)
        for (u32 hook = 0; tool_watches((LatheEvent)events[i].event) && hook < tool_hook_count(); hook++)
            if ((u32)tool_hook(hook)->event == events[i].event &&
                suits_access(tool_hook(hook), &insn->view, &events[i]) &&
                suits(tool_hook(hook), insn->pc, view, &symbol))
                add_hook(insn, hook, &events[i]);
}

/* Registers that the function of a hook may look at, wherever it is called. */
static u32 watched_by(u32 hook) {
    return tool_wants_quick(hook) ? ~(u32)0 : tool_hook_registers(hook);
}

u32 sites_watched(u64 pc, const InsnView *view) {
    SiteEvent events[SITE_EVENTS];
    Symbol symbol = {0};
    u32 all = 0, count = site_events(view, (SitePlace){.begins_block = true, .begins_function = true}, events);
    for (u32 hook = 0; hook < tool_hook_count(); hook++) {
        const LatheHook *h = tool_hook(hook);
        u32 more = site_is_event(h->event) ? watched_by(hook) & ~all : 0;
        for (u32 i = 0; more && i < count; i++)
            if (events[i].event == (u8)h->event && suits_access(h, view, &events[i]) &&
                (h->event != LATHE_FUNCTION || begins_function(pc, &symbol)) && suits(h, pc, view, &symbol))
                all |= more;
    }
    return all;
}

static bool has_event(const SiteInsn *insn, LatheEvent event) {
    SiteEvent events[SITE_EVENTS];
    SitePlace any = {.begins_block = true, .begins_function = true};
    u32 count = site_events(insn->known ? &insn->view : NULL, any, events);
    for (u32 i = 0; i < count; i++)
        if (events[i].event == (u8)event)
            return true;
    return false;
}

u64 sites_hooks_at(u64 pc) {
    u8 text[GUEST_INSN_BYTES];
    SiteInsn insn = {.pc = pc};
    Symbol symbol = {0};
    u64 all = tool_is_named(pc) ? PLACE_IN_QUICK : 0;
    insn.known = insn_view(text, tool_read_text(pc, text), pc, &insn.view);
    for (u32 hook = 0; hook < tool_hook_count(); hook++) {
        const LatheHook *h = tool_hook(hook);
        bool here = h->event != LATHE_FUNCTION || begins_function(pc, &symbol);
        if (!here || !suits(h, pc, insn.known ? &insn.view : NULL, &symbol))
            continue;
        all |= (u64)1 << hook;
        all |= tool_wants_quick(hook) && has_event(&insn, h->event) ? PLACE_IN_QUICK : 0;
    }
    return all;
}

bool sites_vary(void) {
    for (u32 i = 0; i < tool_hook_count(); i++)
        if (tool_hook(i)->where.from || tool_hook(i)->where.to)
            return true;
    return false;
}

bool sites_may_call(const SiteInsn *insn, u32 hook) {
    LatheEvent event = tool_hook(hook)->event;
    for (u32 i = 0; i < insn->call_count; i++)
        if (insn->call[i].hook == hook)
            return true;
    return event == LATHE_INSN_DONE || event == LATHE_LOADED || event == LATHE_STORED;
}

/* The phase that notes addresses for the last ones. */
static SitePhase noting_phase(const SiteInsn *insn) {
    return insn->repeats ? SITE_PASS : SITE_BEFORE;
}

bool sites_has(const SiteInsn *insn, SitePhase phase) {
    for (u32 i = 0; i < insn->call_count; i++)
        if (insn->phase[i] == phase)
            return true;
    return insn->notes_addresses && phase == noting_phase(insn);
}

u32 site_new(const SiteInsn *insn, SitePhase phase) {
    const InsnView *v = &insn->view;
    Site site = {
        .pc = insn->pc,
        .first = (u32)(all.calls.len / sizeof(SiteCall)),
        .first_access = (u32)(all.accesses.len / sizeof(InsnAccess)),
        .block_bytes = insn->block_bytes,
        .block_insns = insn->block_insns,
        .classes = v->classes,
        .opcode = v->opcode,
        .size = v->size,
        .phase = (u8)phase,
        .access_count = v->access_count,
        .inside = !insn->begins_block,
        .notes = insn->notes_addresses && phase == noting_phase(insn),
        .has_before = phase != SITE_BEFORE && sites_has(insn, SITE_BEFORE),
    };
    memcpy(site.text, (const u8 *)insn->pc, v->size);
    for (u32 i = 0; i < insn->call_count; i++)
        if (insn->phase[i] == phase) {
            add(&all.calls, &insn->call[i], sizeof(SiteCall));
            site.count++;
        }
    if (is_of_pass(phase) || phase == SITE_BEFORE) {
        site.amounts = (u32)(all.amounts.len / sizeof(insn->amount[0]));
        add(&all.amounts, insn->amount, sizeof(insn->amount));
        site.first_row = (u32)(all.rows.len / sizeof(RowAdd));
        site.row_count = insn->row_count;
        add(&all.rows, insn->row, insn->row_count * sizeof(RowAdd));
    }
    add(&all.accesses, v->access, v->access_count * sizeof(InsnAccess));
    add(&all.sites, &site, sizeof(site));
    return site_count() - 1;
}

/* --------------------------------------------------------------------------------------------------------------- values */

static u64 address_of(const GuestCpu *cpu, const InsnAccess *a) {
    const Operand *at = &a->at;
    u64 index = at->index == REG_NONE ? 0 : guest_register(cpu, at->index);
    u64 base = at->base == REG_NONE || at->base == REG_PC ? 0 : guest_register(cpu, at->base);
    if (a->how & ACCESS_BYTE_INDEX)
        index &= 0xff;
    u64 address = base + index * at->scale + (u64)at->disp;
    return (at->addr_bits == 32 ? (u32)address : address) + guest_segment(cpu, at->seg);
}

/* What memory has, up to eight bytes of it; 0 where it cannot be read. */
static u64 word_at(u64 address, u64 bytes) {
    u64 word = 0, size = bytes < sizeof(word) ? bytes : sizeof(word);
    bool whole = address % PAGE <= PAGE - sizeof(word) && !space_is_own(address, sizeof(word));
    if (!whole || !copy_guarded(&word, (const void *)address, sizeof(word)))
        return guest_read(address, &word, size), word;
    return size == sizeof(word) ? word : word & (((u64)1 << 8 * size) - 1);
}

/* What is told behind an instruction is about addresses by the registers before it. */
static void set_access(Thread *t, const Site *site, const SiteCall *call, const InsnAccess *a, ToolEvent *about) {
    bool behind = site->phase == SITE_BEHIND || site->phase == SITE_PASSED;
    about->address = behind ? t->tool.address[call->access] : address_of(&t->cpu, a);
    about->bytes = a->at.bits / 8;
    if (call->event == LATHE_LOADED || call->event == LATHE_STORED)
        about->value = word_at(about->address, about->bytes);
}

static void set_transfer(Thread *t, const Site *site, ToolEvent *about) {
    InsnView view;
    if (!insn_view(site->text, site->size, site->pc, &view))
        return;
    about->target = view.target;
    if (view.flow == FLOW_BRANCH)
        about->taken = guest_branches(&t->cpu, t->quick.flags, site->text, site->size);
    else if (view.access_count && view.access[0].how & ACCESS_READ)
        about->target = word_at(address_of(&t->cpu, &view.access[0]), sizeof(u64));
    else if (view.indirect)
        about->target = guest_target(&t->cpu, site->text, site->size);
}

/* A call that is made before control is transferred stores what will be there then: the return address. */
static void set_stored(const Site *site, const SiteCall *call, ToolEvent *about) {
    if (call->event == LATHE_STORED && site->phase == SITE_BEFORE)
        about->value = about->next;
}

static void set_values(Thread *t, const Site *site, const SiteCall *call, const InsnAccess *a, ToolEvent *about) {
    switch ((LatheEvent)call->event) {
    case LATHE_LOAD:
    case LATHE_STORE:
    case LATHE_LOADED:
    case LATHE_STORED:
        set_access(t, site, call, a, about);
        set_stored(site, call, about);
        return;
    case LATHE_BRANCH:
    case LATHE_JUMP:
    case LATHE_GOTO:
    case LATHE_CALL:
    case LATHE_RETURN:
        set_transfer(t, site, about);
        about->result = call->event == LATHE_RETURN ? (i64)guest_result(&t->cpu) : 0;
        return;
    case LATHE_BLOCK:
        about->bytes = site->block_bytes;
        about->count = site->block_insns;
        return;
    default:
        return;
    }
}

/* ---------------------------------------------------------------------------------------------------------------- calls */

static void take_accesses(const Site *site, InsnAccess access[INSN_ACCESSES]) {
    memcpy(access, (InsnAccess *)all.accesses.at + site->first_access, site->access_count * sizeof(InsnAccess));
}

static void note_addresses(Thread *t, const Site *site, const InsnAccess access[INSN_ACCESSES]) {
    for (u32 i = 0; site->notes && i < site->access_count; i++)
        t->tool.address[i] = address_of(&t->cpu, &access[i]);
}

void site_note(Thread *t, const Site *site) {
    InsnAccess access[INSN_ACCESSES];
    if (!site->notes)
        return;
    arena_lock();
    take_accesses(site, access);
    arena_unlock();
    note_addresses(t, site, access);
}

/* What the instruction counts is counted behind functions that are called here. While they run it is in a cell, as it is for those that quick code calls. */
static void count_meanwhile(Thread *t, const i32 amount[TOOL_COUNTS], i32 sign) {
    const ToolCounts *c = tool_counts();
    for (u32 i = 0; i < c->count; i++)
        t->tool.cell[c->add[i].counter][0] += (u64)(i64)(sign * amount[i]);
}

void site_call(Thread *t, const Site *site) {
    InsnAccess access[INSN_ACCESSES];
    SiteCall call[SITE_CALLS];
    u64 *words[SITE_CALLS];
    i32 amount[TOOL_COUNTS] = {0};
    arena_lock();
    take_accesses(site, access);
    if (site->phase == SITE_BEFORE)
        memcpy(amount, (const i32 *)all.amounts.at + site->amounts, sizeof(amount));
    memcpy(call, (SiteCall *)all.calls.at + site->first, site->count * sizeof(SiteCall));
    for (u32 i = 0; i < site->count; i++)
        words[i] = wants(tool_hook(call[i].hook), LATHE_SITE) ? site_words(call[i].hook, site->pc) : NULL;
    arena_unlock();
    note_addresses(t, site, access);
    count_meanwhile(t, amount, 1);
    for (u32 i = 0; i < site->count; i++) {
        ToolEvent about = {.pc = site->pc,
                           .size = site->size,
                           .next = site->pc + site->size,
                           .classes = site->classes,
                           .opcode = site->opcode,
                           .site = (u64)words[i]};
        set_values(t, site, &call[i], &access[call[i].access], &about);
        tool_call_hook(call[i].hook, &about);
    }
    count_meanwhile(t, amount, -1);
}
