/* lines.c: see lines.h. In both kinds of text debug locations say of which guest instruction a line is (LatheConfig.mark_lines): in IR those of the instructions, which come in the order of
 * their lines, and in assembly the directive .loc before what it is of. */
#include "cli/explore/lines.h"

#include <llvm-c/Core.h>
#include <stdlib.h>

#define MARK " !dbg !"

/* A walk over the instructions of a function, in the order in which they are printed. */
typedef struct Walk {
    LLVMBasicBlockRef block;
    LLVMValueRef next;
} Walk;

static LLVMValueRef walk_next(Walk *w) {
    while (w->block && !w->next) {
        w->block = LLVMGetNextBasicBlock(w->block);
        w->next = w->block ? LLVMGetFirstInstruction(w->block) : NULL;
    }
    LLVMValueRef in = w->next;
    w->next = in ? LLVMGetNextInstruction(in) : NULL;
    return in;
}

static Line take_line(const char **at) {
    size_t size = strcspn(*at, "\n");
    Line line = {*at, (u32)size, 0};
    *at += size + ((*at)[size] == '\n');
    return line;
}

static bool begins(const Line *line, const char *with) {
    size_t size = strlen(with);
    return line->size >= size && !memcmp(line->text, with, size);
}

static void cut(Line *line, u32 size) {
    while (size && strchr(" ,\t", line->text[size - 1]))
        size--;
    line->size = size;
}

/* ----------------------------------------------------------------------------------------------------------------- IR */

/* Instructions are indented by two spaces; what belongs to one that is in several lines is indented further, or closes it. */
static bool begins_instruction(const Line *line) {
    return begins(line, "  ") && line->size > 2 && line->text[2] != ' ' && line->text[2] != ']';
}

/* The location itself is not shown, nor from where a label is reached. */
static void cut_mark(Line *line) {
    const char *mark = memmem(line->text, line->size, MARK, strlen(MARK));
    if (!mark)
        mark = line->size && *line->text != ' ' ? memmem(line->text, line->size, "; preds", 7) : NULL;
    if (!mark)
        return;
    bool opens = line->text[line->size - 1] == '{';
    cut(line, (u32)(mark - line->text));
    if (opens) { /* "define … !dbg !3 {": there is room for the brace where the mark was */
        char *end = (char *)line->text + line->size;
        memcpy(end, " {", 2);
        line->size += 2;
    }
}

void lines_of_function(Lines *lines, LLVMValueRef function, char **memory) {
    Walk walk = {LLVMGetFirstBasicBlock(function), NULL};
    walk.next = walk.block ? LLVMGetFirstInstruction(walk.block) : NULL;
    u32 from = 0;
    *memory = LLVMPrintValueToString(function);
    for (const char *at = *memory; *at;) {
        Line line = take_line(&at);
        if (begins_instruction(&line)) {
            LLVMValueRef in = walk_next(&walk);
            CHECK(in, "each instruction of a function begins a line of its text");
            from = LLVMGetDebugLocLine(in);
        }
        line.from = begins(&line, "  ") ? from : 0;
        cut_mark(&line);
        if (!begins(&line, ";") && (line.size || lines->len))
            VEC_PUSH(lines, line);
    }
}

/* ----------------------------------------------------------------------------------------------------------- assembly */

typedef struct Reader {
    u32 from;
    bool skips; /* it is in a section that only debuggers read */
} Reader;

static bool is_data(const Line *line) {
    static const char *const data[] = {".byte", ".short", ".long",  ".quad",  ".ascii", ".asciz", ".zero", ".word",
                                       ".half", ".xword", ".hword", ".2byte", ".4byte", ".8byte", ".octa"};
    for (size_t i = 0; i < ARRAY_LEN(data); i++)
        if (begins(line, data[i]))
            return true;
    return false;
}

static void read_directive(Reader *r, const Line *line) {
    if (begins(line, ".loc\t") || begins(line, ".loc ")) {
        char *end;
        strtoul(line->text + 4, &end, 10); /* the file */
        r->from = (u32)strtoul(end, NULL, 10);
    }
    if (begins(line, ".section"))
        r->skips = memmem(line->text, line->size, ".debug_", 7) || memmem(line->text, line->size, ".note", 5);
    else if (begins(line, ".text") || begins(line, ".data"))
        r->skips = false;
}

/* Labels that only directives use. */
static bool is_marker(const Line *line) {
    return begins(line, ".Ltmp") || begins(line, ".Lfunc_");
}

static bool is_comment(const Line *line) {
    return begins(line, "#") || begins(line, "//");
}

static Line unindented(Line line) {
    while (line.size && strchr(" \t", *line.text))
        line.text++, line.size--;
    return line;
}

/* What stands behind a label is a comment. */
static bool is_label(Line *line) {
    const char *colon = memchr(line->text, ':', line->size);
    if (strchr(" \t", *line->text) || !colon)
        return false;
    line->size = (u32)(colon - line->text) + 1;
    return true;
}

void lines_of_assembly(Lines *lines, const char *text) {
    Reader r = {0};
    while (*text) {
        Line line = take_line(&text), inner = unindented(line);
        if (!inner.size || is_comment(&inner))
            continue;
        if (is_label(&line)) {
            if (!r.skips && !is_marker(&line))
                VEC_PUSH(lines, line);
            continue;
        }
        if (*inner.text == '.')
            read_directive(&r, &inner);
        if (r.skips || (*inner.text == '.' && !is_data(&inner)))
            continue;
        line.from = *inner.text == '.' ? 0 : r.from;
        VEC_PUSH(lines, line);
    }
}

/* ------------------------------------------------------------------------------------------------------------- origins */

u64 line_hash(const Line *line) {
    u64 hash = 0xcbf29ce484222325;
    for (u32 i = 0; i < line->size; i++)
        hash = (hash ^ (u8)line->text[i]) * 0x100000001b3;
    return hash;
}

/* Of lines with the same text, each is used once, in their order. */
void lines_take_origins(Lines *plain, const Lines *marked) {
    Map64 first = {0}; /* by text: the number of the first line that was not used, counted from 1; 0: all were */
    u32 *next = mem_new((marked->len + 1) * sizeof(*next)), at;
    for (size_t i = marked->len; i-- > 0;) {
        u64 hash = line_hash(&marked->at[i]);
        next[i + 1] = map64_get(&first, hash, &at) ? at : 0;
        map64_set(&first, hash, (u32)i + 1);
    }
    for (size_t i = 0; i < plain->len; i++) {
        u64 hash = line_hash(&plain->at[i]);
        bool known = map64_get(&first, hash, &at) && at;
        plain->at[i].from = known ? marked->at[at - 1].from : 0;
        if (known)
            map64_set(&first, hash, next[at]);
    }
    map64_free(&first);
    mem_free(next);
}
