/* lines.c: lathe_line, lathe_source, lathe_insn_text and lathe_demangle. A process beside the guest knows DWARF, sources, how instructions are written and C++ names: `lathe-tools lines`
 * (cli/lines.c), which is started when the first question is asked. Answers about lines and names are kept. */
#include "isa/view.h"
#include "run/client/memory/limits.h"
#include "run/client/tool/above.h"
#include "run/client/tool/runtime.h"
#include "run/client/tool/tool.h"

enum {
    SOCKET_FLAGS = 02000000 /* SOCK_CLOEXEC */ | 1 /* SOCK_STREAM */,
    UNIX = 1,
    NO_SIGNAL = 0x4000 /* MSG_NOSIGNAL */
};
enum { ANSWER_BYTES = 8192 };

/* The process, under the lock of files: its descriptor may be moved (code/server/hidden.c). */
typedef struct LineHelper {
    int fd; /* -1: it was not started, or has ended */
    bool failed;
} LineHelper;

static LineHelper helper = {.fd = -1};

/* Code of one line, up to an address. */
typedef struct Row {
    u64 end;
    u32 line;
    const char *file;
} Row;

/* What was answered at once: the lines of [from, to), or that the one of `from` is not known (line 0) or ends nobody knows where. */
typedef struct Chunk {
    struct Chunk *next; /* of all */
    u64 from, to;
    u32 count;
    Row row[];
} Chunk;

/* That a chunk is in a part of memory. */
typedef struct InPart {
    const Chunk *chunk;
    struct InPart *next;
} InPart;

enum { ROWS = 64, PART_BYTES = 64, REGION_BYTES = 1 << 20 };

/* All chunks, and those of each part of memory, the last one first. A chunk that was answered later may have some of what an earlier one has. */
typedef struct Known {
    LatheLock lock;
    Chunk *chunks;
    LatheMap parts;   /* of InPart * */
    LatheMap regions; /* a number each, which says nothing: some chunk is there, or was */
} Known;

static Known known = {.parts = LATHE_MAP(InPart *), .regions = LATHE_MAP(u64)};
static LatheMap names = LATHE_MAP(char *); /* by their hashes */
static LatheMap texts = LATHE_MAP(char *); /* file names, by their hashes */

int *tool_lines_descriptor(void) {
    return &helper.fd;
}

/* The answers of the parent's process are the parent's. */
void tool_lines_after_fork(void) {
    if (helper.fd >= 0)
        sys_close(helper.fd);
    helper = (LineHelper){.fd = -1};
}

static bool start(void) {
    int ends[2];
    helper.failed = true;
    if (!*the.opt.tools_path || sys_socketpair(UNIX, SOCKET_FLAGS, 0, ends))
        return false;
    bool started = tool_start_helper(ends[1]);
    sys_close(ends[1]);
    i64 away = started ? limits_dup_away(ends[0]) : -1;
    helper.fd = away >= 0 ? (int)away : ends[0];
    if (away >= 0 || !started)
        sys_close(ends[0]);
    helper.failed = !started;
    return started;
}

static void give_up(void) {
    sys_close(helper.fd);
    helper = (LineHelper){.fd = -1, .failed = true};
}

static bool send(const char *question, size_t size) {
    for (size_t done = 0; done < size;) {
        i64 n = sys_sendto(helper.fd, question + done, size - done, NO_SIGNAL);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* One line, without its end. */
static bool receive(char *answer) {
    size_t len = 0;
    while (len < ANSWER_BYTES) {
        i64 n = sys_read(helper.fd, answer + len, ANSWER_BYTES - len);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            return false;
        len += (size_t)n;
        if (answer[len - 1] == '\n') {
            answer[len - 1] = 0;
            return true;
        }
    }
    return false;
}

/* The answer to a question; false: there is none. */
static bool ask(const char *question, size_t size, char *answer) {
    bool done = false;
    if (thread_self()->process.own_files)
        return false;
    tool_files_lock();
    if (!helper.failed && (helper.fd >= 0 || start())) {
        done = send(question, size) && receive(answer);
        if (!done)
            give_up();
    }
    tool_files_unlock();
    return done;
}

static u64 hash_of(const char *text) {
    u64 hash = 0xcbf29ce484222325u;
    for (; *text; text++)
        hash = (hash ^ (u8)*text) * 0x100000001b3u;
    return hash;
}

/* A copy that stays. Texts that have one hash are taken for the same: there are at most some ten thousand. */
static char *keep(const char *text) {
    char **at = lathe_map_at(&texts, hash_of(text)), *none = NULL;
    if (!__atomic_load_n(at, __ATOMIC_ACQUIRE)) {
        char *copy = lathe_alloc(strlen(text) + 1);
        memcpy(copy, text, strlen(text));
        if (!__atomic_compare_exchange_n(at, &none, copy, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            lathe_free(copy);
    }
    return *at;
}

static u32 take_number(const char **text) {
    u32 number = 0;
    for (; **text >= '0' && **text <= '9'; ++*text)
        number = number * 10 + (u32)(**text - '0');
    *text += **text == ' ';
    return number;
}

static u64 take_address(const char **text) {
    u64 address = 0;
    for (; **text && **text != ' '; ++*text)
        address = address << 4 | (u64)(**text <= '9' ? **text - '0' : **text - 'a' + 10);
    *text += **text == ' ';
    return address;
}

/* One row of an answer; the text goes on behind it. */
static Row take_row(char **text, u64 bias) {
    const char *at = *text;
    Row row = {.line = take_number(&at)};
    row.end = take_address(&at) + bias;
    char *end = strchr(at, '\t');
    *text = end ? end + 1 : NULL;
    if (end)
        *end = 0;
    row.file = keep(at);
    return row;
}

/* What was answered for an address. */
static Chunk *read_rows(char *text, u64 address, u64 bias) {
    Row row[ROWS];
    u32 count = 0;
    while (text && count < ROWS)
        row[count++] = take_row(&text, bias);
    Chunk *c = lathe_alloc(sizeof(*c) + (count + 1) * sizeof(*row));
    *c = (Chunk){.from = address, .to = address};
    for (u32 i = 0; i < count && row[0].line && row[i].end > c->to; i++) {
        c->row[c->count++] = row[i];
        c->to = row[i].end;
    }
    if (c->count)
        return c;
    c->row[c->count++] = count && row[0].line ? (Row){0, row[0].line, row[0].file} : (Row){.file = "?"};
    c->to = address + 1;
    return c;
}

/* Under the lock. */
static void add_chunk(Chunk *c) {
    c->next = known.chunks;
    known.chunks = c;
    for (u64 part = c->from / PART_BYTES; part <= (c->to - 1) / PART_BYTES; part++) {
        InPart **first = lathe_map_at(&known.parts, part), *in = lathe_alloc(sizeof(*in));
        *in = (InPart){c, *first};
        *first = in;
    }
    for (u64 region = c->from / REGION_BYTES; region <= (c->to - 1) / REGION_BYTES; region++)
        lathe_map_at(&known.regions, region);
}

/* Most that is unmapped is no code that anybody has asked for. */
static bool may_have_chunks(u64 start, u64 end) {
    u64 first = start / REGION_BYTES, last = (end - 1) / REGION_BYTES;
    if (last - first < known.regions.count) {
        while (first <= last && !lathe_map_find(&known.regions, first))
            first++;
        return first <= last;
    }
    for (LatheWalk w = {0}; lathe_map_next(&known.regions, &w);)
        if (w.key >= first && w.key <= last)
            return true;
    return false;
}

static void remove_from_part(u64 part, const Chunk *c) {
    InPart **at = lathe_map_at(&known.parts, part);
    while ((*at)->chunk != c)
        at = &(*at)->next;
    InPart *in = *at;
    *at = in->next;
    lathe_free(in);
    if (!*(InPart **)lathe_map_at(&known.parts, part))
        lathe_map_remove(&known.parts, part);
}

/* What is known of code that was unmapped, or that other code has taken the place of. */
void tool_lines_forget(u64 start, u64 end) {
    lathe_lock(&known.lock);
    bool some = may_have_chunks(start, end);
    for (Chunk **at = &known.chunks; some && *at;) {
        Chunk *c = *at;
        if (c->from >= end || c->to <= start) {
            at = &c->next;
            continue;
        }
        for (u64 part = c->from / PART_BYTES; part <= (c->to - 1) / PART_BYTES; part++)
            remove_from_part(part, c);
        *at = c->next;
        lathe_free(c);
    }
    lathe_unlock(&known.lock);
}

static LatheLine line_in(const Chunk *c, u64 address) {
    u32 i = 0;
    while (i + 1 < c->count && c->row[i].end <= address)
        i++;
    return (LatheLine){c->row[i].file, c->row[i].line, c->row[i].end};
}

/* Under the lock. False: nothing was answered for the address yet. */
static bool find_line(u64 address, LatheLine *out) {
    InPart **first = lathe_map_find(&known.parts, address / PART_BYTES);
    for (const InPart *in = first ? *first : NULL; in; in = in->next)
        if (address >= in->chunk->from && address < in->chunk->to) {
            *out = line_in(in->chunk, address);
            return true;
        }
    return false;
}

/* NULL: nobody can be asked. */
static Chunk *ask_line(u64 address) {
    char question[4096 + 64], answer[ANSWER_BYTES];
    LatheSymbol s;
    lathe_symbol(address, &s);
    size_t size = format_text(question, sizeof(question), "L %lx %s\n", s.address, s.file);
    if (*s.file == '?' || !ask(question, size, answer))
        return NULL;
    return read_rows(answer, address, address - s.address);
}

/* The lock is held while somebody is asked: nobody asks for the same meanwhile, and no code is unmapped whose lines are kept afterwards. */
bool lathe_line(uint64_t address, LatheLine *out) {
    *out = (LatheLine){"?", 0, 0};
    lathe_lock(&known.lock);
    if (!find_line(address, out)) {
        Chunk *c = ask_line(address);
        if (c) {
            add_chunk(c);
            *out = line_in(c, address);
        }
    }
    lathe_unlock(&known.lock);
    return out->line;
}

const char *lathe_demangle(const char *name) {
    char question[4096 + 8], answer[ANSWER_BYTES];
    if (strncmp(name, "_Z", 2))
        return name;
    char **known = lathe_map_at(&names, hash_of(name));
    if (__atomic_load_n(known, __ATOMIC_ACQUIRE))
        return *known;
    size_t size = format_text(question, sizeof(question), "D %s\n", name);
    if (size + 1 >= sizeof(question) || !ask(question, size, answer))
        return name;
    const char *text = answer;
    take_number(&text);
    __atomic_store_n(known, keep(text), __ATOMIC_RELEASE);
    return *known;
}

/* The text of an answer that begins with a number other than 0, cut to `size`. Returns that number. */
static u32 take_answer(const char *question, size_t asked, char *to, size_t size) {
    char answer[ANSWER_BYTES];
    const char *text = answer;
    u32 number = ask(question, asked, answer) ? take_number(&text) : 0;
    if (number && size) {
        size_t len = strlen(text) < size ? strlen(text) : size - 1;
        memcpy(to, text, len);
        to[len] = 0;
    }
    return number;
}

bool lathe_source(const char *file, unsigned line, char *text, size_t size) {
    char question[4096 + 64];
    size_t asked = format_text(question, sizeof(question), "S %u %s\n", line, file);
    return *file != '?' && take_answer(question, asked, text, size);
}

bool lathe_insn_text(uint64_t address, char *text, size_t size) {
    char question[128];
    u8 bytes[GUEST_INSN_BYTES];
    LatheInsn insn;
    if (!lathe_insn(address, &insn) || !lathe_read_guest(bytes, address, insn.size))
        return false;
    size_t asked = format_text(question, sizeof(question), "I %u %lx ", guest_facts.arch, address);
    for (u32 i = 0; i < insn.size; i++)
        asked += format_text(question + asked, sizeof(question) - asked, "%02x", bytes[i]);
    asked += format_text(question + asked, sizeof(question) - asked, "\n");
    if (!take_answer(question, asked, text, size))
        format_text(text, size, "%s", insn_opcode_name(insn.opcode));
    return true;
}
