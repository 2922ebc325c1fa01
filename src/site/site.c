/* site.c: see site.h. */
#include "site/site.h"

typedef struct List {
    SiteEvent *at;
    u32 count;
} List;

static void add(List *list, LatheEvent event, SitePhase phase, u32 access) {
    list->at[list->count++] = (SiteEvent){(u8)event, (u8)phase, (u8)access};
}

bool site_goes_on(const InsnView *view) {
    return view->flow == FLOW_NEXT;
}

bool site_repeats(const InsnView *view) {
    for (u32 i = 0; i < view->access_count; i++)
        if (view->access[i].how & ACCESS_REPEATED)
            return true;
    return false;
}

bool site_is_event(LatheEvent event) {
    return event == LATHE_INSN || (event >= LATHE_INSN_DONE && event <= LATHE_FUNCTION);
}

bool site_is_of_stack(const InsnAccess *a, u32 stack_pointer) {
    return a->at.base == stack_pointer && a->at.index == REG_NONE && !a->at.seg && a->at.addr_bits == 64;
}

static u64 known_bytes(const SiteEvent *event, const SiteFacts *facts) {
    bool is_access = event->event >= LATHE_LOAD && event->event <= LATHE_STORED;
    return is_access ? facts->view->access[event->access].at.bits / 8u : facts->block_bytes;
}

u64 site_known_value(const LatheValue *v, const SiteEvent *event, const SiteFacts *facts) {
    switch (v->what) {
    case LATHE_CONSTANT:
        return (u64)v->number;
    case LATHE_PC:
        return facts->pc;
    case LATHE_SIZE:
        return facts->view->size;
    case LATHE_NEXT:
        return facts->pc + facts->view->size;
    case LATHE_BYTES:
        return known_bytes(event, facts);
    case LATHE_COUNT:
        return facts->block_insns;
    case LATHE_CLASSES:
        return facts->view->classes;
    case LATHE_OPCODE:
        return facts->view->opcode;
    default:
        CHECK(false, "tools are built so that no other value is asked for ahead");
    }
}

/* One kind of event for all accesses that read, or that write. */
static void add_accesses(List *list, const InsnView *view, u32 how, LatheEvent event, SitePhase phase) {
    for (u32 i = 0; i < view->access_count; i++)
        if (view->access[i].how & how)
            add(list, event, phase, i);
}

static void add_begin(List *list, const InsnView *view) {
    SitePhase phase = site_repeats(view) ? SITE_PASS : SITE_BEFORE;
    add_accesses(list, view, ACCESS_READ, LATHE_LOAD, phase);
    add_accesses(list, view, ACCESS_WRITE, LATHE_STORE, phase);
}

/* Nothing can be told behind what transfers control. */
static void add_end(List *list, const InsnView *view) {
    SitePhase phase = site_repeats(view) ? SITE_PASSED : site_goes_on(view) ? SITE_BEHIND : SITE_BEFORE;
    add_accesses(list, view, ACCESS_READ, LATHE_LOADED, phase);
    add_accesses(list, view, ACCESS_WRITE, LATHE_STORED, phase);
}

static void add_flow(List *list, const InsnView *view) {
    switch ((Flow)view->flow) {
    case FLOW_BRANCH:
        add(list, LATHE_BRANCH, SITE_BEFORE, 0);
        return;
    case FLOW_CALL:
        add(list, LATHE_CALL, SITE_BEFORE, 0);
        return;
    case FLOW_INDIRECT:
        add(list, LATHE_JUMP, SITE_BEFORE, 0);
        return;
    case FLOW_RETURN:
        add(list, LATHE_RETURN, SITE_BEFORE, 0);
        return;
    case FLOW_NEXT:
        add(list, LATHE_INSN_DONE, SITE_BEHIND, 0);
        return;
    case FLOW_JUMP:
        add(list, LATHE_GOTO, SITE_BEFORE, 0);
        return;
    case FLOW_SYSCALL:
    case FLOW_STOP:
        return;
    }
}

u32 site_events(const InsnView *view, SitePlace place, SiteEvent events[SITE_EVENTS]) {
    List list = {events, 0};
    if (place.begins_block)
        add(&list, LATHE_BLOCK, SITE_BEFORE, 0);
    if (place.begins_function)
        add(&list, LATHE_FUNCTION, SITE_BEFORE, 0);
    add(&list, LATHE_INSN, SITE_BEFORE, 0);
    if (!view)
        return list.count;
    add_begin(&list, view);
    add_end(&list, view);
    add_flow(&list, view);
    return list.count;
}

/* A version (name@VERSION) is no part of a name. Where the rest does not match, the last star takes one character more. */
bool site_name_matches(const char *pattern, const char *name) {
    const char *star = NULL, *taken = NULL;
    for (;;) {
        if (*pattern == '*')
            star = pattern++, taken = name;
        else if (!*pattern && (!*name || *name == '@'))
            return true;
        else if (*name && *pattern == *name)
            pattern++, name++;
        else if (star && *taken)
            pattern = star + 1, name = ++taken;
        else
            return false;
    }
}
