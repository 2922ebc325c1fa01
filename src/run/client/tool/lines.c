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
static LatheMap lines = LATHE_MAP(LatheLine); /* by addresses, if they are in no chunk */

/* Code of one line, up to an address. */
typedef struct Row {
    u64 end;
    u32 line;
    const char *file;
} Row;

/* What was answered at once. */
typedef struct Chunk {
    u64 from, to;
    Row first;
    u32 count;
    Row row[];
} Chunk;

enum { ROWS = 64, PART_BYTES = 64 };
static LatheMap chunks = LATHE_MAP(Chunk *); /* by parts of memory that they are in */
static LatheMap names = LATHE_MAP(char *);   /* by their hashes */
static LatheMap texts = LATHE_MAP(char *);   /* file names, by their hashes */

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

/* What was answered for an address of which the line is known; NULL: it is not. */
static Chunk *read_rows(char *text, u64 address, u64 bias) {
    Row row[ROWS];
    u32 count = 0;
    while (text && count < ROWS)
        row[count++] = take_row(&text, bias);
    if (!count || !row[0].line)
        return NULL;
    Chunk *c = lathe_alloc(sizeof(*c) + count * sizeof(*row));
    *c = (Chunk){.from = address, .to = address, .first = row[0]};
    for (u32 i = 0; i < count && row[i].end > c->to; i++, c->count++) {
        c->row[i] = row[i];
        c->to = row[i].end;
    }
    return c;
}

/* Later answers take the place of earlier ones. */
static void add_chunk(Chunk *c) {
    for (u64 part = c->from / PART_BYTES; c->count && part <= (c->to - 1) / PART_BYTES; part++)
        __atomic_store_n((Chunk **)lathe_map_at(&chunks, part), c, __ATOMIC_RELEASE);
}

/* False: nothing was answered for the address. */
static bool line_in(const Chunk *c, u64 address, LatheLine *out) {
    u32 i = 0;
    if (!c || address < c->from || address >= c->to)
        return false;
    while (c->row[i].end <= address)
        i++;
    *out = (LatheLine){c->row[i].file, c->row[i].line, c->row[i].end};
    return true;
}

static const Chunk *chunk_at(u64 address) {
    Chunk **c = lathe_map_find(&chunks, address / PART_BYTES);
    return c ? __atomic_load_n(c, __ATOMIC_ACQUIRE) : NULL;
}

static LatheLine find_line(u64 address) {
    char question[4096 + 64], answer[ANSWER_BYTES];
    LatheSymbol s;
    LatheLine line = {"?", 0, 0};
    lathe_symbol(address, &s);
    size_t size = format_text(question, sizeof(question), "L %lx %s\n", s.address, s.file);
    if (*s.file == '?' || !ask(question, size, answer))
        return line;
    Chunk *c = read_rows(answer, address, address - s.address);
    if (!c)
        return line;
    line = (LatheLine){c->first.file, c->first.line, c->count ? c->first.end : 0};
    add_chunk(c);
    return line;
}

bool lathe_line(uint64_t address, LatheLine *out) {
    LatheLine *known = lathe_map_find(&lines, address);
    if (line_in(chunk_at(address), address, out))
        return true;
    *out = known && known->file ? *known : find_line(address);
    if (!known && !line_in(chunk_at(address), address, out)) {
        known = lathe_map_at(&lines, address);
        known->line = out->line;
        known->end = out->end;
        __atomic_store_n(&known->file, out->file, __ATOMIC_RELEASE);
    }
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
