/* print.c: text for people, from tools and about them. */
#include "run/client/tool/runtime.h"
#include "run/client/tool/tool.h"

enum { FAILED_STATUS = 127 };

/* format_args cuts a text that does not fit, so it is tried with twice the room until some is left. */
void tool_text(ToolText *text, const char *format, va_list args) {
    size_t room = sizeof(text->room);
    text->at = text->room, text->allocated = false;
    for (;;) {
        va_list again;
        va_copy(again, args);
        text->len = format_args(text->at, room, format, again);
        va_end(again);
        if (text->len + 1 < room)
            return;
        tool_text_free(text);
        room *= 2;
        text->at = lathe_alloc(room), text->allocated = true;
    }
}

void tool_text_free(ToolText *text) {
    if (text->allocated)
        lathe_free(text->at);
}

void lathe_print(const char *format, ...) {
    ToolText text;
    va_list args;
    va_start(args, format);
    tool_text(&text, format, args);
    va_end(args);
    sys_write_all(the.stats_fd, text.at, text.len);
    tool_text_free(&text);
}

/* One line, without memory of the tool's. */
static void print_line(const char *before, const char *format, va_list args) {
    char line[4096];
    size_t len = format_text(line, sizeof(line), "lathe: %s", before);
    len += format_args(line + len, sizeof(line) - len - 1, format, args);
    line[len++] = '\n';
    sys_write_all(the.stats_fd, line, len);
}

void tool_say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_line("", format, args);
    va_end(args);
}

void lathe_fail_of(unsigned tool, const char *format, ...) {
    char before[256];
    va_list args;
    format_text(before, sizeof(before), tool_name(tool) ? "the tool %s: " : "the tool: ", tool_name(tool));
    va_start(args, format);
    print_line(before, format, args);
    va_end(args);
    tool_files_flush_dying();
    sys_exit_group(FAILED_STATUS);
}
