/* proc_memory.c: the files of /proc about memory, as the guest sees them: the host's lists and sums without the client's memory.
 *
 * The table of the guest's memory (space.c) says which parts of the host's mappings belong to the guest. One mapping of the host may
 * hold several of the guest, which only the guest tells apart; then the figures of the whole mapping are given for the first of them.
 * Reserved pages that neither the guest nor the client uses are left out. */
#include "run/client/os/proc.h"

#include "run/client/memory/limits.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"

enum { NAME_COLUMN = 73, FIELDS_BYTES = 4 << 10, KIB_SHIFT = 10, FIELDS_MAX = 40 };

/* ------------------------------------------------------------------------------------------------------------ maps */

static const char *name_of(u64 addr, const MapsLine *line) {
    if (addr >= the.memory.stack_start && addr < the.memory.stack_end)
        return "[stack]";
    if (addr >= the.memory.brk_start && addr < the.memory.brk_now)
        return "[heap]";
    bool others = !strcmp(line->name, "[stack]") || !strcmp(line->name, "[heap]");
    return others ? "" : line->name;
}

/* Writes one line of maps the way the kernel does, with all names in the same column. */
static void put_mapping(ProcOut *o, u64 start, u64 end, u32 prot, const MapsLine *line) {
    const char *name = name_of(start, line);
    char head[256];
    size_t n = format_text(head, sizeof(head) - NAME_COLUMN, "%08lx-%08lx %c%c%c%c %08lx %s ", start, end,
                           prot & PROT_READ ? 'r' : '-', prot & PROT_WRITE ? 'w' : '-', prot & PROT_EXEC ? 'x' : '-',
                           line->prot[3], line->file ? line->off + (start - line->start) : 0, line->origin);
    while (*name && n < NAME_COLUMN)
        head[n++] = ' ';
    head[n] = 0;
    proc_put(o, "%s%s\n", head, name);
}

/* The end of the piece of [start, end) that begins at `start`. The bounds of the heap and of the stack cut a mapping,
 * because each of the two has a line of its own. */
static u64 cut(u64 start, u64 end) {
    const u64 bounds[] = {the.memory.stack_start, the.memory.stack_end, the.memory.brk_start,
                          page_up(the.memory.brk_now)};
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
        if (bounds[i] > start && bounds[i] < end)
            end = bounds[i];
    return end;
}

/* Finds the next piece of the host's mapping `line` that belongs to the guest, at or behind *start. Returns false if
 * there is none. */
static bool next_piece(const MapsLine *line, u64 *start, u64 *end, u32 *prot) {
    u64 at = *start, to;
    if (at >= line->end || !space_next(at, start, &to, prot) || *start >= line->end)
        return false;
    *start = *start > at ? *start : at;
    *end = cut(*start, to < line->end ? to : line->end);
    return true;
}

static void put_line(ProcOut *o, const MapsLine *line) {
    u64 end;
    u32 prot;
    for (u64 start = line->start; next_piece(line, &start, &end, &prot); start = end)
        put_mapping(o, start, end, prot, line);
}

/* ----------------------------------------------------------------------------------------------------------- smaps */

/* One mapping of the host in smaps: its first line, as in maps, and the lines of its fields. The name of a field begins
 * with a capital letter. */
typedef struct SmapsEntry {
    char line_text[PROC_LINE_BYTES], fields[FIELDS_BYTES];
    MapsLine line;
    size_t len;
} SmapsEntry;

typedef struct SmapsReader {
    MapsReader maps;
    SmapsEntry entry;
    char *pending; /* the first line of the next mapping, which is still in the buffer of `maps` */
} SmapsReader;

static bool is_field(const char *text) {
    return *text >= 'A' && *text <= 'Z';
}

static bool next_entry(SmapsReader *r) {
    SmapsEntry *e = &r->entry;
    char *text = r->pending ? r->pending : maps_next_text(&r->maps);
    if (!text)
        return false;
    format_text(e->line_text, sizeof(e->line_text), "%s", text);
    maps_parse(e->line_text, &e->line);
    e->len = 0;
    e->fields[0] = 0;
    while ((r->pending = maps_next_text(&r->maps)) && is_field(r->pending))
        e->len += format_text(e->fields + e->len, sizeof(e->fields) - e->len, "%s\n", r->pending);
    return true;
}

static bool begins(const char *line, const char *name) {
    return !strncmp(line, name, strlen(name));
}

static u64 number_in(const char *line) {
    u64 n = 0;
    while (*line && *line != '\n' && (*line < '0' || *line > '9'))
        line++;
    for (; *line >= '0' && *line <= '9'; line++)
        n = 10 * n + (u64)(*line - '0');
    return n;
}

/* The number of kB in the field of this name (with its colon), or 0 if there is no such field. */
static u64 field(const SmapsEntry *e, const char *name) {
    for (const char *line = e->fields; *line; line = strchr(line, '\n') + 1)
        if (begins(line, name))
            return number_in(line);
    return 0;
}

/* Writes a field the way the kernel does: "Rss:                  24 kB". */
static void put_field(ProcOut *o, const char *name, size_t name_len, u64 kib) {
    char padded[24];
    size_t n = 0;
    for (; n < name_len && n < 16; n++)
        padded[n] = name[n];
    while (n < 16)
        padded[n++] = ' ';
    padded[n] = 0;
    proc_put(o, "%s%8lu kB\n", padded, kib);
}

static void put_fields(ProcOut *o, const SmapsEntry *e, u64 size, bool first) {
    for (const char *line = e->fields, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        size_t name = (size_t)(strchr(line, ':') + 1 - line), len = (size_t)(end + 1 - line);
        bool kept =
            first || begins(line, "KernelPageSize:") || begins(line, "MMUPageSize:") || memcmp(end - 2, "kB", 2);
        char copy[256];
        if (begins(line, "Size:"))
            put_field(o, line, name, size >> KIB_SHIFT);
        else if (!kept)
            put_field(o, line, name, 0);
        else if (len < sizeof(copy))
            memcpy(copy, line, len), copy[len] = 0, proc_put(o, "%s", copy);
    }
}

static void put_entry(ProcOut *o, const SmapsEntry *e) {
    u64 end;
    u32 prot;
    bool first = true;
    for (u64 start = e->line.start; next_piece(&e->line, &start, &end, &prot); start = end, first = false) {
        put_mapping(o, start, end, prot, &e->line);
        put_fields(o, e, end - start, first);
    }
}

/* ------------------------------------------------------------------------------------------------------------ sums */

typedef struct Sums {
    u64 low, high;               /* the guest's lowest and highest address */
    u64 size, data, code, stack; /* bytes, from the table of the guest's memory */
    u64 pss_anon, pss_file, pss_shmem, rss_anon, rss_file, rss_shmem, swap; /* kB, as are `fields` */
    u32 count;
    struct {
        char name[24]; /* including the colon */
        u64 kib;
    } fields[FIELDS_MAX];
} Sums;

static bool is_shmem(const MapsLine *line) {
    return begins(line->name, "/dev/shm/") || begins(line->name, "/memfd:") || begins(line->name, "/SYSV") ||
           begins(line->name, "/dev/zero");
}

static void add_field(Sums *s, const char *line) {
    size_t len = (size_t)(strchr(line, ':') + 1 - line);
    u32 i = 0;
    while (i < s->count && (strlen(s->fields[i].name) != len || memcmp(s->fields[i].name, line, len)))
        i++;
    if (i == FIELDS_MAX || len >= sizeof(s->fields[i].name))
        return;
    if (i == s->count)
        memcpy(s->fields[s->count++].name, line, len);
    s->fields[i].kib += number_in(line);
}

static void add_entry(Sums *s, const SmapsEntry *e) {
    u64 start = e->line.start, end, pss = field(e, "Pss:"), rss = field(e, "Rss:"), own = field(e, "Anonymous:");
    u32 prot;
    if (!next_piece(&e->line, &start, &end, &prot))
        return;
    bool shmem = is_shmem(&e->line);
    u64 pss_own = own < pss ? own : pss;
    s->pss_anon += pss_own, s->rss_anon += own;
    *(shmem ? &s->pss_shmem : &s->pss_file) += pss - pss_own;
    *(shmem ? &s->rss_shmem : &s->rss_file) += rss - own;
    s->swap += field(e, "Swap:");
    for (const char *line = e->fields; *line; line = strchr(line, '\n') + 1)
        add_field(s, line);
}

/* Adds the sums that come from the table of the guest's memory. */
static void add_ranges(Sums *s) {
    u64 start, end;
    u32 prot;
    LimitsUse use = space_use();
    s->size = use.space, s->data = use.data, s->stack = use.stack;
    for (u64 at = 0; space_next(at, &start, &end, &prot); at = end) {
        s->low = s->low ? s->low : start;
        s->high = end;
        s->code += prot & PROT_EXEC ? end - start : 0;
    }
}

/* Sums up the host's smaps, which is open as `fd`. Returns false if it cannot be read. */
static bool sum_up(Sums *s, int fd) {
    SmapsReader *r = fd < 0 ? NULL : sys_pages(sizeof(*r));
    if (!r)
        return false;
    memset(s, 0, sizeof(*s));
    maps_begin(&r->maps, fd);
    while (next_entry(r))
        add_entry(s, &r->entry);
    add_ranges(s);
    sys_pages_free(r, sizeof(*r));
    return true;
}

static bool find_sum(const Sums *s, const char *line, size_t len, u64 *kib) {
    const struct {
        const char *name;
        u64 kib;
    } derived[] = {{"Pss_Anon:", s->pss_anon}, {"Pss_File:", s->pss_file}, {"Pss_Shmem:", s->pss_shmem}};
    for (u32 i = 0; i < ARRAY_LEN(derived); i++)
        if (begins(line, derived[i].name))
            return *kib = derived[i].kib, true;
    for (u32 i = 0; i < s->count; i++)
        if (strlen(s->fields[i].name) == len && !memcmp(s->fields[i].name, line, len))
            return *kib = s->fields[i].kib, true;
    return false;
}

/* The names of the fields and their order are taken from the host's file. */
static void put_rollup(ProcOut *o, MapsReader *r, const Sums *s) {
    u64 kib;
    for (char *line; (line = maps_next_text(r));) {
        char *colon = strchr(line, ':');
        size_t len = colon ? (size_t)(colon + 1 - line) : 0;
        if (!is_field(line))
            proc_put(o, "%08lx-%08lx ---p 00000000 00:00 0                          [rollup]\n", s->low, s->high);
        else if (find_sum(s, line, len, &kib))
            put_field(o, line, len, kib);
        else
            proc_put(o, "%s\n", line);
    }
}

static void put_statm(ProcOut *o, MapsReader *r, const Sums *s) {
    enum { KIB_OF_PAGE = PAGE >> KIB_SHIFT };
    char *host = maps_next_text(r);
    u64 text = 0;
    for (int word = 0; host && word < 4; word++, host += *host == ' ')
        for (text = 0; *host >= '0' && *host <= '9'; host++)
            text = 10 * text + (u64)(*host - '0');
    u64 shared = s->rss_file + s->rss_shmem;
    proc_put(o, "%lu %lu %lu %lu 0 %lu 0\n", s->size / PAGE, (s->rss_anon + shared) / KIB_OF_PAGE, shared / KIB_OF_PAGE,
             text, (s->data + s->stack) / PAGE);
}

/* The name of the program stands in brackets and may contain blanks, so fields are counted from the bracket behind it:
 * the first one there, the state, is field 3. */
static void put_stat(ProcOut *o, MapsReader *r, const Sums *s) {
    enum { STATE = 3, SIZE = 23, RESIDENT = 24, KIB_OF_PAGE = PAGE >> KIB_SHIFT };
    char *line = maps_next_text(r), *bracket = line ? strrchr(line, ')') : NULL;
    if (!bracket)
        return;
    char *at = bracket + 1;
    *at = 0;
    proc_put(o, "%s", line);
    at++;
    for (u32 n = STATE; *at; n++) {
        char *end = at;
        while (*end && *end != ' ')
            end++;
        bool last = !*end;
        *end = 0;
        if (n == SIZE || n == RESIDENT)
            proc_put(o, " %lu", n == SIZE ? s->size : (s->rss_anon + s->rss_file + s->rss_shmem) / KIB_OF_PAGE);
        else
            proc_put(o, " %s", at);
        at = last ? end : end + 1;
    }
    proc_put(o, "\n");
}

/* ---------------------------------------------------------------------------------------------------------- status */

/* Estimates the guest's peak from the peak of the host's process. How much the client had at that time is unknown; it
 * is taken to be as much as it has now. */
static u64 most(u64 host_most, u64 host_now, u64 now) {
    u64 others = host_now > now ? host_now - now : 0;
    return host_most > now + others ? host_most - others : now;
}

static u64 status_number(const char *status, const char *name) {
    const char *at = strstr(status, name);
    return at ? number_in(at) : 0;
}

/* The sizes in the host's status from which the guest's are computed, in kB. */
typedef struct HostSizes {
    u64 peak, size, peak_rss, rss, code;
} HostSizes;

static HostSizes host_sizes(const char *status) {
    return (HostSizes){status_number(status, "VmPeak:"), status_number(status, "VmSize:"),
                       status_number(status, "VmHWM:"), status_number(status, "VmRSS:"),
                       status_number(status, "VmExe:")};
}

/* Gives the guest's number of kB for a line of status. Returns false if the line is not about sizes. */
static bool status_size(const Sums *s, const HostSizes *host, const char *line, u64 *kib) {
    u64 rss = s->rss_anon + s->rss_file + s->rss_shmem, size = s->size >> KIB_SHIFT, code = s->code >> KIB_SHIFT;
    const struct {
        const char *name;
        u64 kib;
    } sizes[] = {
        {"VmPeak:", most(host->peak, host->size, size)},
        {"VmSize:", size},
        {"VmHWM:", most(host->peak_rss, host->rss, rss)},
        {"VmRSS:", rss},
        {"RssAnon:", s->rss_anon},
        {"RssFile:", s->rss_file},
        {"RssShmem:", s->rss_shmem},
        {"VmData:", s->data >> KIB_SHIFT},
        {"VmStk:", s->stack >> KIB_SHIFT},
        {"VmLib:", code > host->code ? code - host->code : 0},
        {"VmSwap:", s->swap},
    };
    for (u32 i = 0; i < ARRAY_LEN(sizes); i++)
        if (begins(line, sizes[i].name))
            return *kib = sizes[i].kib, true;
    return false;
}

/* Copies the lines of `status` to `text`, with the guest's numbers in the lines about sizes. */
static void write_status(const Sums *s, char *status, char *text, size_t size) {
    HostSizes host = host_sizes(status);
    size_t len = 0;
    u64 kib;
    for (char *line = status, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        bool replaced = status_size(s, &host, line, &kib);
        if (replaced)
            strchr(line, ':')[1] = 0;
        len += format_text(text + len, size - len, "%s", line);
        len += replaced ? format_text(text + len, size - len, "\t%8lu kB\n", kib)
                        : format_text(text + len, size - len, "\n");
    }
}

void proc_correct_status(char *status, size_t size, int smaps) {
    Sums *s = sys_pages(sizeof(*s) + size);
    char *text = (char *)(s + 1);
    if (s && sum_up(s, smaps)) {
        write_status(s, status, text, size);
        memcpy(status, text, size);
    }
    if (s)
        sys_pages_free(s, sizeof(*s) + size);
}

/* ---------------------------------------------------------------------------------------------------------- limits */

static void put_limit_number(char text[24], u64 value) {
    if (value == ~(u64)0)
        format_text(text, 24, "unlimited");
    else
        format_text(text, 24, "%lu", value);
}

static void put_limits(ProcOut *o, MapsReader *r) {
    static const char *const names[LIMITS_KEPT] = {[LIMIT_SPACE] = "Max address space", [LIMIT_DATA] = "Max data size"};
    const Limits *l = thread_self()->memory.limits;
    for (char *line; (line = maps_next_text(r));) {
        u32 i = 0;
        while (i < LIMITS_KEPT && !begins(line, names[i]))
            i++;
        if (i == LIMITS_KEPT) {
            proc_put(o, "%s\n", line);
            continue;
        }
        char soft[24], hard[24];
        put_limit_number(soft, l->of[i].soft);
        put_limit_number(hard, l->of[i].hard);
        proc_put(o, "%-26s%-21s%-21s%-10s\n", names[i], soft, hard, "bytes");
    }
}

/* -------------------------------------------------------------------------------------------------------- the files */

/* Each line begins with the address of a mapping; the lines of the client's mappings are left out. */
static void put_numa(ProcOut *o, MapsReader *r) {
    for (char *line; (line = maps_next_text(r));) {
        const char *at = line;
        if (space_prot(maps_take_hex(&at)) != PROT_UNMAPPED)
            proc_put(o, "%s\n", line);
    }
}

static void put_smaps(ProcOut *o, SmapsReader *r) {
    while (next_entry(r))
        put_entry(o, &r->entry);
}

bool proc_put_memory(ProcOut *o, ProcFile file, int host, int smaps) {
    struct {
        SmapsReader smaps;
        Sums sums;
    } *work = sys_pages(sizeof(*work));
    if (!work)
        return false;
    MapsReader *r = &work->smaps.maps;
    MapsLine line;
    bool sums = file == PROC_ROLLUP || file == PROC_STATM || file == PROC_STAT,
         ok = !sums || sum_up(&work->sums, smaps);
    maps_begin(r, host);
    if (file == PROC_MAPS)
        while (maps_next(r, &line))
            put_line(o, &line);
    else if (file == PROC_SMAPS)
        put_smaps(o, &work->smaps);
    else if (file == PROC_NUMA)
        put_numa(o, r);
    else if (file == PROC_LIMITS)
        put_limits(o, r);
    else if (ok)
        (file == PROC_ROLLUP ? put_rollup : file == PROC_STATM ? put_statm : put_stat)(o, r, &work->sums);
    sys_pages_free(work, sizeof(*work));
    return ok;
}
