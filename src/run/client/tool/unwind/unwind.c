/* unwind.c: see unwind.h. The instructions of .eh_frame make a row of rules, one for each register, up to an address: DWARF 5, 6.4. */
#include "run/client/tool/unwind/unwind.h"

#include "run/client/memory/peek.h"
#include "run/client/tool/unwind/expression.h"

typedef enum How {
    SAME,      /* the value is what it is */
    UNDEFINED, /* nobody knows it */
    AT,        /* it is in memory, `number` bytes from the frame's address */
    IS,        /* it is that address */
    IN,        /* it is in the register `number`; of the frame's address: that register and `more` */
    AT_EXPRESSION,
    IS_EXPRESSION,
} How;

typedef struct Rule {
    How how;
    union {
        struct {
            i64 number, more;
        };
        struct {
            const u8 *at, *end; /* the text of an expression */
        };
    };
} Rule;

typedef struct Row {
    Rule frame; /* the frame's address (CFA): the stack pointer in the caller, before the call */
    Rule reg[CALLER_REGISTERS];
} Row;

enum { REMEMBERED = 4 };

typedef struct Program {
    const FrameRules *rules;
    u64 at, until; /* the address that the row is for; the one that is asked for */
    Row row, initial, remembered[REMEMBERED];
    u32 remembered_count;
    bool bad;
} Program;

/* -------------------------------------------------------------------------------------------------------------- rows */

static void set(Program *p, u64 reg, Rule rule) {
    if (reg < CALLER_REGISTERS)
        p->row.reg[reg] = rule;
}

static void restore(Program *p, u64 reg) {
    if (reg < CALLER_REGISTERS)
        p->row.reg[reg] = p->initial.reg[reg];
}

static i64 scaled(const Program *p, i64 number) {
    return number * p->rules->data_factor;
}

static void remember(Program *p) {
    if (p->remembered_count == REMEMBERED)
        p->bad = true;
    else
        p->remembered[p->remembered_count++] = p->row;
}

static void recall(Program *p) {
    if (p->remembered_count)
        p->row = p->remembered[--p->remembered_count];
    else
        p->bad = true;
}

static Rule expression(How how, Cursor *c) {
    Cursor text = cursor_part(c, cursor_uleb(c));
    return (Rule){.how = how, .at = text.at, .end = text.end};
}

static Cursor text_of(const Rule *rule) {
    return (Cursor){rule->at, rule->end, false};
}

/* -------------------------------------------------------------------------------------------------------- instructions */

enum { ADVANCE = 0x40, OFFSET = 0x80, RESTORE = 0xc0 }; /* these have an operand in their lower six bits */
enum {
    NOP,
    SET_LOC,
    ADVANCE1,
    ADVANCE2,
    ADVANCE4,
    OFFSET_EXTENDED,
    RESTORE_EXTENDED,
    UNDEFINED_REGISTER,
    SAME_VALUE,
    REGISTER,
    REMEMBER_STATE,
    RESTORE_STATE,
    DEF_CFA,
    DEF_CFA_REGISTER,
    DEF_CFA_OFFSET,
    DEF_CFA_EXPRESSION,
    EXPRESSION,
    OFFSET_EXTENDED_SIGNED,
    DEF_CFA_SIGNED,
    DEF_CFA_OFFSET_SIGNED,
    VAL_OFFSET,
    VAL_OFFSET_SIGNED,
    VAL_EXPRESSION,
    GNU_ARGS_SIZE = 0x2e,
    GNU_NEGATIVE_OFFSET = 0x2f,
};

static void advance(Program *p, u64 units) {
    p->at += units * p->rules->code_factor;
}

/* Those about the frame's address, and about places in the code; false: it is none of these. */
static bool frame_instruction(Program *p, u32 op, Cursor *c) {
    Rule *frame = &p->row.frame;
    switch (op) {
    case NOP:
        return true;
    case ADVANCE1:
        return advance(p, cursor_fixed(c, 1)), true;
    case ADVANCE2:
        return advance(p, cursor_fixed(c, 2)), true;
    case ADVANCE4:
        return advance(p, cursor_fixed(c, 4)), true;
    case DEF_CFA:
        *frame = (Rule){.how = IN, .number = (i64)cursor_uleb(c)};
        frame->more = (i64)cursor_uleb(c);
        return true;
    case DEF_CFA_SIGNED:
        *frame = (Rule){.how = IN, .number = (i64)cursor_uleb(c)};
        frame->more = scaled(p, cursor_sleb(c));
        return true;
    case DEF_CFA_REGISTER: /* some files begin with this one, and an offset of zero */
        frame->how = IN;
        frame->number = (i64)cursor_uleb(c);
        return true;
    case DEF_CFA_OFFSET:
        frame->more = (i64)cursor_uleb(c);
        return true;
    case DEF_CFA_OFFSET_SIGNED:
        frame->more = scaled(p, cursor_sleb(c));
        return true;
    case DEF_CFA_EXPRESSION:
        *frame = expression(IS_EXPRESSION, c);
        return true;
    case REMEMBER_STATE:
        return remember(p), true;
    case RESTORE_STATE:
        return recall(p), true;
    case GNU_ARGS_SIZE:
        return cursor_uleb(c), true;
    default:
        return false;
    }
}

/* Those about a register, whose number comes first. */
static void register_instruction(Program *p, u32 op, Cursor *c) {
    u64 reg = cursor_uleb(c);
    switch (op) {
    case OFFSET_EXTENDED:
        set(p, reg, (Rule){.how = AT, .number = scaled(p, (i64)cursor_uleb(c))});
        return;
    case OFFSET_EXTENDED_SIGNED:
        set(p, reg, (Rule){.how = AT, .number = scaled(p, cursor_sleb(c))});
        return;
    case GNU_NEGATIVE_OFFSET:
        set(p, reg, (Rule){.how = AT, .number = -scaled(p, (i64)cursor_uleb(c))});
        return;
    case VAL_OFFSET:
        set(p, reg, (Rule){.how = IS, .number = scaled(p, (i64)cursor_uleb(c))});
        return;
    case VAL_OFFSET_SIGNED:
        set(p, reg, (Rule){.how = IS, .number = scaled(p, cursor_sleb(c))});
        return;
    case RESTORE_EXTENDED:
        restore(p, reg);
        return;
    case UNDEFINED_REGISTER:
        set(p, reg, (Rule){.how = UNDEFINED});
        return;
    case SAME_VALUE:
        set(p, reg, (Rule){.how = SAME});
        return;
    case REGISTER:
        set(p, reg, (Rule){.how = IN, .number = (i64)cursor_uleb(c)});
        return;
    case EXPRESSION:
        set(p, reg, expression(AT_EXPRESSION, c));
        return;
    case VAL_EXPRESSION:
        set(p, reg, expression(IS_EXPRESSION, c));
        return;
    default:
        p->bad = true;
    }
}

static void execute(Program *p, Cursor *c) {
    u32 op = cursor_byte(c), low = op & 0x3f;
    switch (op & 0xc0) {
    case ADVANCE:
        advance(p, low);
        return;
    case OFFSET:
        set(p, low, (Rule){.how = AT, .number = scaled(p, (i64)cursor_uleb(c))});
        return;
    case RESTORE:
        restore(p, low);
        return;
    default:
        if (!frame_instruction(p, op, c))
            register_instruction(p, op, c);
    }
}

/* Up to the row that has the address: what goes beyond it changes nothing else. */
static bool run(Program *p, Cursor text) {
    while (text.at < text.end && !text.bad && !p->bad && p->at <= p->until)
        execute(p, &text);
    return !text.bad && !p->bad;
}

/* ------------------------------------------------------------------------------------------------------------- values */

static bool frame_address(const Rule *rule, const Caller *c, u64 *address) {
    if (rule->how == IS_EXPRESSION)
        return expression_value(text_of(rule), c, NULL, address);
    if (rule->how != IN || (u64)rule->number >= CALLER_REGISTERS)
        return false;
    *address = c->reg[rule->number] + (u64)rule->more;
    return true;
}

static bool word_at(u64 address, u64 *word) {
    return copy_guarded(word, (const void *)address, sizeof(*word));
}

/* The value in the caller of the register that `value` has; false: it is not known. */
static bool apply(const Rule *rule, const Caller *c, u64 frame, u64 *value) {
    u64 address;
    switch (rule->how) {
    case SAME:
        return true;
    case UNDEFINED:
        return false;
    case AT:
        return word_at(frame + (u64)rule->number, value);
    case IS:
        *value = frame + (u64)rule->number;
        return true;
    case IN:
        if ((u64)rule->number >= CALLER_REGISTERS)
            return false;
        *value = c->reg[rule->number];
        return true;
    case AT_EXPRESSION:
        return expression_value(text_of(rule), c, &frame, &address) && word_at(address, value);
    case IS_EXPRESSION:
        return expression_value(text_of(rule), c, &frame, value);
    }
    return false;
}

bool unwind_step(const FrameRules *rules, u64 address, Caller *c) {
    Program p; /* most of it is used by few functions */
    p.rules = rules, p.at = rules->start, p.until = address;
    p.remembered_count = 0, p.bad = false;
    memset(&p.row, 0, sizeof(p.row));
    u32 back = rules->return_register;
    u64 frame;
    if (back >= CALLER_REGISTERS || !run(&p, rules->common))
        return false;
    p.initial = p.row;
    if (!run(&p, rules->own) || !frame_address(&p.row.frame, c, &frame))
        return false;
    Caller caller = *c;
    caller.reg[caller_sp_number()] = frame;
    for (u32 i = 0; i < CALLER_REGISTERS; i++)
        if (!apply(&p.row.reg[i], c, frame, &caller.reg[i]) && i == back)
            return false;
    caller.pc = caller.reg[back];
    *c = caller;
    return true;
}
