/* progress.c: how far the work is, on stderr: a bar on a terminal, else a line now and then; and a line for each file
 * at the end. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "run/ahead/ahead.h"

enum { BAR_MAX = 40, REDRAW_MS = 200, LINE_MS = 10000, WIDTH_DEFAULT = 80 };

struct Progress {
    const AheadFiles *files;
    bool quiet, terminal;
    u64 start_ms, drawn_ms;
};

Progress *progress_new(const AheadFiles *files, bool quiet) {
    Progress *p = mem_new(sizeof(*p));
    *p = (Progress){.files = files, .quiet = quiet, .terminal = isatty(STDERR_FILENO)};
    p->start_ms = p->drawn_ms = ahead_now_ms();
    return p;
}

static void clear_line(const Progress *p) {
    if (p->terminal && !p->quiet)
        fprintf(stderr, "\r\033[K");
}

static int width_of_terminal(void) {
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH_DEFAULT;
}

typedef struct Counts {
    u64 all, closed, left_s;
    const char *name; /* of the first file that is not finished */
} Counts;

/* More functions are found on the way, so the time that is left is a guess. */
static Counts count(const Progress *p) {
    Counts c = {.name = ""};
    for (size_t i = 0; i < p->files->len; i++) {
        const AheadFile *f = p->files->at[i];
        c.all += f->open;
        c.closed += f->done + f->no_code + f->given_up;
        c.name = f->open && !*c.name ? f->name : c.name;
    }
    c.left_s = c.closed ? c.all * (ahead_now_ms() - p->start_ms) / c.closed / 1000 : 0;
    c.all += c.closed;
    return c;
}

static void draw(const Counts *c) {
    char line[256], bar[BAR_MAX + 1];
    memset(bar, '.', BAR_MAX);
    memset(bar, '#', c->all ? c->closed * BAR_MAX / c->all : 0);
    bar[BAR_MAX] = 0;
    snprintf(line, sizeof(line), "[%s] %lu/%lu, about %lu s left  %s", bar, c->closed, c->all, c->left_s, c->name);
    fprintf(stderr, "\r\033[K%.*s", width_of_terminal() - 1, line);
    fflush(stderr);
}

void progress_tick(Progress *p) {
    u64 now = ahead_now_ms();
    if (p->quiet || now - p->drawn_ms < (p->terminal ? REDRAW_MS : LINE_MS))
        return;
    p->drawn_ms = now;
    Counts c = count(p);
    if (p->terminal)
        draw(&c);
    else
        fprintf(stderr, "%lu of %lu functions, %s\n", c.closed, c.all, c.name);
}

void progress_say(Progress *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    clear_line(p);
    fprintf(stderr, "lathe: ");
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static void print_file(const AheadFile *f) {
    fprintf(stderr, "%s: %lu functions translated, %lu guest instructions", f->name, f->done, f->insns);
    if (f->had)
        fprintf(stderr, "; %lu were there already", f->had);
    if (f->no_code)
        fprintf(stderr, "; %lu are no code", f->no_code);
    fprintf(stderr, "\n");
}

void progress_files(Progress *p) {
    clear_line(p);
    for (size_t i = 0; !p->quiet && i < p->files->len; i++)
        print_file(p->files->at[i]);
}

void progress_end(Progress *p) {
    clear_line(p);
    mem_free(p);
}
