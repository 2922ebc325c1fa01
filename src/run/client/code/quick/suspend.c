/* suspend.c: blocks of pages that are written to, which come back if the write was to something else.
 *
 * A compiler in the process, as Java has one, puts code and data into the same pages: four of five writes to pages with blocks change no instruction. All blocks of such a
 * page go away all the same, since the page cannot be guarded while it is written to. But their host code stays where it is, and so does what leads from it to other
 * blocks. So the bytes that a block was made from are kept, if it lies in a guarded page. When it is asked for again, its pages are guarded anew, and if there are the bytes
 * that it was made from, it is the block that it was; nothing has to be copied.
 *
 * That is only for blocks that follow from their bytes. What a tool sees depends on more. */
#include "run/client/code/quick/blocks.h"
#include "run/client/code/quick/map.h"
#include "run/client/code/quick/quick.h"

static u8 *text_of(const QuickBlock *b) {
    return quick_all.texts.at + b->text - 1;
}

static bool is_guarded(u64 pc) {
    const Page *p = page_known(pc >> PAGE_SHIFT);
    return p && p->guarded;
}

void block_keep_text(QuickBlock *b) {
    if (*the.opt.tool || (!is_guarded(b->pc) && !is_guarded(b->pc + b->size - 1)))
        return;
    b->text = (u32)quick_all.texts.len + 1;
    memcpy(array_extend(&quick_all.texts, b->size), (const u8 *)b->pc, b->size);
}

void block_suspend(u32 number) {
    QuickBlock *b = block_no(number);
    block_kill(number);
    if (!b->text)
        return;
    Page *p = page_known(b->pc >> PAGE_SHIFT);
    b->next[0] = p->suspended;
    p->suspended = number;
}

/* Takes the suspended block that begins at pc off its page's list, and returns its number, or 0. It comes back now or never, because another block
 * will begin there. */
static u32 take(u64 pc) {
    Page *p = page_known(pc >> PAGE_SHIFT);
    u32 *at = p ? &p->suspended : NULL;
    while (at && *at && block_no(*at)->pc != pc)
        at = &block_no(*at)->next[0];
    u32 number = at ? *at : 0;
    if (number)
        *at = block_no(number)->next[0];
    return number;
}

/* Pages are guarded before they are read. */
static bool is_as_before(const QuickBlock *b) {
    if (quick_code_bytes(b->pc) < b->size)
        return false;
    page_guard(b->pc >> PAGE_SHIFT);
    page_guard((b->pc + b->size - 1) >> PAGE_SHIFT);
    return !memcmp((const u8 *)b->pc, text_of(b), b->size);
}

/* Notes where the guest returns to behind the block's calls, as for a new block: the processor predicts the return there, even if another block has
 * the same instruction by now. There is such a place behind the last instruction, too, if the block goes on elsewhere. emit_entry's code marks these
 * places; where there is none, returns are looked up. */
static void let_return(Thread *t, const QuickBlock *b) {
    const InsnLens *lens = block_lens(b);
    u64 pc = b->pc;
    const u8 *code = b->code;
    u32 places = b->insns + b->goes_on;
    for (u32 i = 0; emit_entry_bytes && i < places && map_covers(pc); i++) {
        if (i && (i == b->insns || lens[i].head) && emit_is_entered(code))
            table_set_return(t, pc, code);
        if (i < b->insns)
            pc += lens_guest(lens[i]), code += lens[i].host;
    }
}

u32 block_resume(Thread *t, u64 pc) {
    u32 number = take(pc);
    if (!number || !is_as_before(block_no(number)))
        return 0;
    block_raise(number);
    let_return(t, block_no(number));
    return number;
}

void blocks_forget_suspended(void) {
    for (u64 i = 0; i < quick_all.page_cap; i++)
        quick_all.pages[i].suspended = 0;
    for (u32 n = 1; n <= block_count(); n++)
        block_no(n)->text = 0;
    array_free(&quick_all.texts);
}
