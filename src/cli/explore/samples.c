/* samples.c: see samples.h. A line of the file is "ADDRESS BYTES INSTRUCTIONS TIMES FILE", and the first one says what it is. */
#include "cli/explore/samples.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define FIRST_LINE "lathe hot 1"
#define BLOCK_BYTES_MAX (1 << 20)

static bool fail(const char *path, const char *why) {
    fprintf(stderr, "lathe: %s: %s\n", path, why);
    return false;
}

/* Is `path` another name of the file? */
static bool is_file(const char *path, const struct stat *file) {
    struct stat is;
    return !stat(path, &is) && is.st_dev == file->st_dev && is.st_ino == file->st_ino;
}

static int by_start(const void *a, const void *b) {
    const Sample *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* False: the line makes no sense. */
static bool read_line(Samples *s, const char *line, const struct stat *file) {
    Sample b;
    u64 bytes;
    int at = 0;
    if (sscanf(line, "%" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %n", &b.start, &bytes, &b.insns, &b.times, &at) !=
            4 ||
        !at || bytes > BLOCK_BYTES_MAX || b.insns > bytes)
        return false;
    b.end = b.start + bytes;
    s->total += b.insns * b.times;
    if (is_file(line + at, file))
        VEC_PUSH(&s->blocks, b);
    return true;
}

static bool read_lines(Samples *s, FILE *in, const char *path, const struct stat *file) {
    char *line = NULL;
    size_t room = 0;
    bool ok = true, first = true;
    for (; ok && getline(&line, &room, in) > 0; first = false) {
        line[strcspn(line, "\n")] = 0;
        ok = first ? !strcmp(line, FIRST_LINE) : read_line(s, line, file);
    }
    free(line);
    if (!ok || first)
        return fail(path, "it is not what 'lathe run --tool=hot,data=FILE' writes");
    return s->blocks.len || fail(path, "nothing in it is of the file that is explored");
}

bool samples_read(Samples *s, const char *path, const char *of) {
    struct stat file;
    if (stat(of, &file))
        return fail(of, strerror(errno));
    FILE *in = fopen(path, "r");
    if (!in)
        return fail(path, strerror(errno));
    bool ok = read_lines(s, in, path, &file);
    fclose(in);
    if (ok)
        qsort(s->blocks.at, s->blocks.len, sizeof(*s->blocks.at), by_start);
    return ok;
}

void samples_free(Samples *s) {
    VEC_FREE(&s->blocks);
}

/* The first block that starts at `pc` or behind it. */
static size_t block_from(const Samples *s, u64 pc) {
    size_t low = 0, high = s->blocks.len;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->blocks.at[middle].start < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

u64 samples_times(const Samples *s, u64 pc) {
    u64 times = 0;
    for (size_t i = block_from(s, pc > BLOCK_BYTES_MAX ? pc - BLOCK_BYTES_MAX : 0);
         i < s->blocks.len && s->blocks.at[i].start <= pc; i++)
        times += pc < s->blocks.at[i].end ? s->blocks.at[i].times : 0;
    return times;
}

u64 samples_cost(const Samples *s, u64 start, u64 end) {
    u64 cost = 0;
    for (size_t i = block_from(s, start); i < s->blocks.len && s->blocks.at[i].start < end; i++)
        cost += s->blocks.at[i].insns * s->blocks.at[i].times;
    return cost;
}
