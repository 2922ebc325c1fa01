/* whole.c: see whole.h. */
#include "cli/explore/whole.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/explore/page.h"
#include "cli/explore/work.h"
#include "cli/start/status_line.h"

#define BYTES_MAX (24u << 20)

typedef struct Job {
    const Explorer *x;
    const Look *look;
} Job;

static void do_job(FILE *out, void *user) {
    const Job *job = user;
    explore_function(out, job->x, job->look);
}

/* What is wrong with a function is shown in its place. */
static void write_function(FILE *out, const Explorer *x, const Look *look) {
    Job job = {x, look};
    size_t size;
    const char *why;
    char *text = work_run(do_job, &job, &size, &why);
    fprintf(out, "\"0x%lx %s %s\": ", look->at, look_host_name(look->host), look_opt_name(look->opt));
    if (text)
        fwrite(text, 1, size, out);
    else
        explore_error(out, why);
    free(text);
}

/* Returns how many functions there was room for. */
static size_t write_functions(FILE *out, const Explorer *x, const Look *looks, size_t count) {
    size_t i = 0;
    for (; i < count && (looks[i].steps || ftell(out) < (long)BYTES_MAX); i++) {
        status_line_show("functions", i, count);
        fputs(i ? "," : "", out);
        write_function(out, x, &looks[i]);
    }
    status_line_end();
    return i;
}

static bool write_file(const char *path, const char *data) {
    FILE *out = fopen(path, "w");
    if (out)
        page_write_whole(out, data);
    bool ok = out && !ferror(out);
    ok = (out ? !fclose(out) : false) && ok;
    if (!ok)
        fprintf(stderr, "lathe: %s: %s\n", path, strerror(errno));
    return ok;
}

bool whole_write(const Explorer *x, const Look *first, const Look *looks, size_t count, const char *path) {
    char *data;
    size_t size;
    FILE *out = open_memstream(&data, &size);
    CHECK(out, "out of memory");
    fprintf(out, "{\"file\": ");
    explore_file(out, x, first);
    fprintf(out, ", \"functions\": {");
    size_t written = write_functions(out, x, looks, count);
    fprintf(out, "}}");
    CHECK(!fclose(out), "out of memory");
    bool ok = write_file(path, data);
    if (ok && written < count)
        fprintf(stderr, "lathe: %s: there is room for %zu of %zu functions; choose some by --function\n", path, written,
                count);
    free(data);
    return ok;
}
