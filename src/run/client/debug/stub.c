/* stub.c: see stub.h; gdb's manual, appendix "GDB Remote Serial Protocol", says what each request means.
 *
 * All threads of the guest stop when one does (all-stop mode). What is not known here gets an empty answer, by which gdb knows that it must do without. */
#include "run/client/debug/stub.h"

#include <linux/signal.h>

#include "run/client/code/translated.h"
#include "run/client/core/debug.h"
#include "run/client/core/debug_guest.h"
#include "run/client/debug/files.h"
#include "run/client/debug/memory.h"
#include "run/client/debug/wire.h"

enum { SIGINFO_BYTES = 128, REGISTERS_MOST = 256, MEMORY_MOST = PACKET_BYTES / 2 };

typedef enum Next { ANSWER, GO_ON, GONE } Next;

static struct {
    Packet request, answer;
    u32 thread; /* of registers: its number; 0: the one that has stopped */
    u64 passed; /* signals that the guest gets without a stop: QPassSignals */
    const Stop *stop;
    u8 memory[MEMORY_MOST];
} stub;

static int connection(void) {
    return (int)the.opt.debugger;
}

/* ----------------------------------------------------------------------------------------------------------------- threads */

/* The thread of the guest with this number, or NULL. */
static Thread *thread_of(u32 tid) {
    for (Thread *t = the.threads; t; t = t->next)
        if (t->tid == tid && thread_is_of_process(t))
            return t;
    return NULL;
}

/* Reads a thread's number. 0 and -1 mean any thread: 0 is returned, for the one that has stopped. */
static u32 take_thread(Packet *p) {
    if (take_word(p, "-1"))
        return 0;
    return (u32)take_number(p);
}

static Thread *chosen(Thread *self) {
    Thread *t = stub.thread ? thread_of(stub.thread) : self;
    return t ? t : self;
}

static void list_threads(Packet *answer) {
    char before = 'm';
    for (const Thread *t = the.threads; t; t = t->next)
        if (thread_is_of_process(t)) {
            put_text(answer, "%c%x", before, t->tid);
            before = ',';
        }
}

/* --------------------------------------------------------------------------------------------------------------- registers */

static void put_register(Packet *answer, Thread *t, bool self, u32 number) {
    u8 value[DEBUG_REGISTER_BYTES] = {0};
    u32 bytes = debug_guest_register_bytes(number);
    if (debug_guest_get(t, self, number, value))
        put_hex(answer, value, bytes);
    else
        put_unknown(answer, bytes);
}

static void get_registers(Thread *self) {
    Thread *t = chosen(self);
    for (u32 i = 0; i < REGISTERS_MOST && debug_guest_register_bytes(i); i++)
        put_register(&stub.answer, t, t == self, i);
}

static bool set_register(Thread *self, u32 number) {
    u8 value[DEBUG_REGISTER_BYTES];
    Thread *t = chosen(self);
    u32 bytes = debug_guest_register_bytes(number);
    return bytes && take_hex(&stub.request, value, bytes) == bytes && debug_guest_set(t, t == self, number, value);
}

/* Values that were unknown when gdb read them come back as zeros: those cannot be set, and stay what they are. */
static void set_registers(Thread *self) {
    for (u32 i = 0; i < REGISTERS_MOST && debug_guest_register_bytes(i); i++)
        set_register(self, i);
    put_text(&stub.answer, "OK");
}

static void answer_ok(bool ok) {
    put_text(&stub.answer, ok ? "OK" : "E01");
}

static void register_request(Thread *self, char command) {
    u32 number = command == 'p' || command == 'P' ? (u32)take_number(&stub.request) : 0;
    take_char(&stub.request, '=');
    if (command == 'g')
        get_registers(self);
    else if (command == 'G')
        set_registers(self);
    else if (command == 'P')
        answer_ok(set_register(self, number));
    else if (debug_guest_register_bytes(number))
        put_register(&stub.answer, chosen(self), chosen(self) == self, number);
    else
        put_text(&stub.answer, "E01");
}

/* ------------------------------------------------------------------------------------------------------------------ memory */

static void take_range(u64 *addr, u64 *size) {
    *addr = take_number(&stub.request);
    take_char(&stub.request, ',');
    *size = take_number(&stub.request);
}

static void read_memory(void) {
    u64 addr, size;
    take_range(&addr, &size);
    size_t n = memory_read(addr, stub.memory, size < MEMORY_MOST ? size : MEMORY_MOST);
    if (n || !size)
        put_hex(&stub.answer, stub.memory, n);
    else
        put_text(&stub.answer, "E14");
}

static void write_memory(bool binary) {
    u64 addr, size;
    take_range(&addr, &size);
    take_char(&stub.request, ':');
    size_t n = (binary ? take_rest : take_hex)(&stub.request, stub.memory, MEMORY_MOST);
    answer_ok(n == size && (!n || memory_write(addr, stub.memory, n)));
}

/* The requests Z type,addr,kind and z. Hardware breakpoints are treated as software breakpoints. Memory can be watched for writes only. */
static void change_breakpoint(bool insert) {
    enum { SOFTWARE = '0', HARDWARE = '1', WRITES = '2' };
    char type = stub.request.text[1];
    u64 addr, kind;
    stub.request.len = 3;
    take_range(&addr, &kind);
    if (type == SOFTWARE || type == HARDWARE)
        answer_ok(insert ? breakpoint_insert(addr, (u32)kind) : breakpoint_remove(addr));
    else if (type == WRITES)
        answer_ok(insert ? watch_add(addr, (u32)kind) : watch_remove(addr, (u32)kind));
}

/* ----------------------------------------------------------------------------------------------------------------- queries */

/* A part of a text that gdb reads in pieces: offset,size. */
static void put_part(const char *text, size_t whole) {
    u64 off, size;
    take_range(&off, &size);
    size_t most = PACKET_BYTES / 2 - 1, left = off < whole ? whole - (size_t)off : 0;
    size_t n = size < left ? (size_t)size : left;
    n = n < most ? n : most;
    put_text(&stub.answer, n < left ? "m" : "l");
    put_bytes(&stub.answer, text + (left ? off : 0), n);
}

static void put_auxv(void) {
    static char auxv[4096];
    i64 fd = sys_open("/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0),
        n = fd < 0 ? 0 : sys_read((int)fd, auxv, sizeof(auxv));
    if (fd >= 0)
        sys_close((int)fd);
    put_part(auxv, n > 0 ? (size_t)n : 0);
}

static void put_signal_info(void) {
    if (stub.stop->info)
        put_part(stub.stop->info, SIGINFO_BYTES);
    else
        put_text(&stub.answer, "E01");
}

/* qXfer:WHAT:read:ANNEX:OFFSET,SIZE */
static void transfer(void) {
    static char description[PACKET_BYTES];
    Packet *p = &stub.request;
    if (take_word(p, "features:read:target.xml:"))
        put_part(description, debug_guest_describe(description, sizeof(description)));
    else if (take_word(p, "auxv:read::"))
        put_auxv();
    else if (take_word(p, "siginfo:read::"))
        put_signal_info();
    else if (take_word(p, "exec-file:read:")) {
        take_number(p);
        take_char(p, ':');
        put_part(the.opt.guest_path, strlen(the.opt.guest_path));
    }
}

static void say_supported(void) {
    if (strstr(stub.request.text, "exec-events+"))
        the.opt.debugger_state |= DEBUGGER_EXECS;
    put_text(&stub.answer,
             "PacketSize=%x;QStartNoAckMode+;QPassSignals+;qXfer:features:read+;qXfer:auxv:read+;qXfer:exec-file:read+;"
             "qXfer:siginfo:read+;"
             "swbreak+;hwbreak+;vContSupported+;exec-events+",
             PACKET_BYTES);
}

static void pass_signals(void) {
    stub.passed = 0;
    while (stub.request.len < stub.request.size) {
        u64 sig = take_number(&stub.request);
        stub.passed |= sig && sig <= 64 ? (u64)1 << (sig - 1) : 0;
        if (!take_char(&stub.request, ';'))
            break;
    }
    put_text(&stub.answer, "OK");
}

static void query(const Thread *self) {
    Packet *p = &stub.request, *answer = &stub.answer;
    if (take_word(p, "qSupported"))
        say_supported();
    else if (take_word(p, "qXfer:"))
        transfer();
    else if (take_word(p, "qfThreadInfo"))
        list_threads(answer);
    else if (take_word(p, "qsThreadInfo"))
        put_text(answer, "l");
    else if (take_word(p, "qAttached"))
        put_text(answer, "0");
    else if (take_word(p, "QStartNoAckMode"))
        put_text(answer, "OK");
    else if (take_word(p, "QPassSignals:"))
        pass_signals();
    else if (take_word(p, "qC"))
        put_text(answer, "QC%x", self->tid);
}

/* ----------------------------------------------------------------------------------------------------------------- going on */

/* Numbers of signals in the protocol: those that gdb has for itself. Linux's are the same up to SIGTRAP and in some others. */
static const u8 gdb_numbers[] = {0, 1,  2,  3,  4,  5,  6,  10, 8,  9,  30, 11, 31, 13, 14, 15,
                                 0, 20, 19, 17, 18, 21, 22, 16, 24, 25, 26, 27, 28, 23, 32, 12};

enum { REALTIME_FIRST = 32, REALTIME_LAST = 64 };
enum { GDB_REALTIME_32 = 77, GDB_REALTIME_33 = 45, GDB_REALTIME_64 = 78, GDB_UNKNOWN = 143 };

u32 stub_number(u32 sig) {
    if (sig < ARRAY_LEN(gdb_numbers))
        return gdb_numbers[sig] || !sig ? gdb_numbers[sig] : GDB_UNKNOWN;
    return sig == REALTIME_FIRST  ? GDB_REALTIME_32
           : sig == REALTIME_LAST ? GDB_REALTIME_64
                                  : GDB_REALTIME_33 + sig - REALTIME_FIRST - 1;
}

static u32 from_gdb(u32 number) {
    for (u32 sig = 1; sig <= 64; sig++)
        if (stub_number(sig) == number)
            return sig;
    return 0;
}

/* A signal that the debugger gives to a thread that has stopped for something else is sent to it. */
static void let_go(Thread *t, bool steps, u32 sig) {
    t->debug.goes = true;
    t->debug.step = steps ? STEP_WANTED : STEP_NONE;
    t->debug.signal = sig;
    t->debug.given = t->debug.at_signal ? 0 : sig;
    if (t->debug.given)
        sys_tgkill(sys_getpid(), t->tid, (int)sig);
}

/* One action of vCont: c, C sig, s or S sig, and the thread that it is for. If several actions fit a thread, the first one counts. */
static void take_action(Thread *self) {
    Packet *p = &stub.request;
    char action = p->text[p->len++];
    bool steps = action == 's' || action == 'S';
    if (!action || !strchr("cCsS", action))
        return;
    u32 sig = action == 'C' || action == 'S' ? from_gdb((u32)take_number(p)) : 0;
    bool one = take_char(p, ':');
    u32 tid = one ? take_thread(p) : 0;
    for (Thread *t = the.threads; t; t = t->next)
        if (!t->debug.goes && (!one || !tid || t->tid == tid))
            let_go(t, steps, t == self || tid ? sig : 0);
}

static bool goes_anybody(void) {
    for (const Thread *t = the.threads; t; t = t->next)
        if (t->debug.goes && thread_is_of_process(t))
            return true;
    return false;
}

/* Refuses a request that names no existing thread, because all threads would wait for ever. */
static Next go_on(Thread *self) {
    for (Thread *t = the.threads; t; t = t->next)
        t->debug.goes = false;
    if (take_word(&stub.request, "vCont"))
        while (take_char(&stub.request, ';') && stub.request.len < stub.request.size)
            take_action(self);
    else
        take_action(self);
    if (goes_anybody())
        return GO_ON;
    answer_ok(false);
    return ANSWER;
}

/* ----------------------------------------------------------------------------------------------------------------- requests */

static void put_stop(const Thread *t) {
    const Stop *stop = stub.stop;
    Packet *answer = &stub.answer;
    put_text(answer, "T%02x", stub_number(stop->signal ? stop->signal : SIGTRAP));
    if (stop->executed && the.opt.debugger_state & DEBUGGER_EXECS) {
        put_text(answer, "exec:");
        put_hex(answer, the.opt.guest_path, strlen(the.opt.guest_path));
        put_text(answer, ";");
    }
    if (stop->breakpoint)
        put_text(answer, "swbreak:;");
    if (stop->watched)
        put_text(answer, "watch:%lx;", stop->watched);
    put_text(answer, "thread:%x;", t->tid);
}

static _Noreturn void kill_guest(void) {
    for (;;)
        sys_kill(sys_getpid(), SIGKILL);
}

static Next v_request(Thread *self) {
    Packet *p = &stub.request;
    if (take_word(p, "vCont?"))
        put_text(&stub.answer, "vCont;c;C;s;S");
    else if (!strncmp(p->text, "vCont;", 6))
        return go_on(self);
    else if (take_word(p, "vFile:"))
        files_answer(p, &stub.answer);
    else if (take_word(p, "vKill")) {
        put_text(&stub.answer, "OK");
        wire_send(connection(), &stub.answer);
        kill_guest();
    }
    return ANSWER;
}

static Next answer_request(Thread *self) {
    char command = stub.request.size ? stub.request.text[0] : 0;
    stub.answer.size = 0;
    stub.request.len = strchr("vqQcCsS", command) ? 0 : 1;
    switch (command) {
    case '?':
        put_stop(self);
        return ANSWER;
    case 'g':
    case 'G':
    case 'p':
    case 'P':
        register_request(self, command);
        return ANSWER;
    case 'm':
        read_memory();
        return ANSWER;
    case 'M':
    case 'X':
        write_memory(command == 'X');
        return ANSWER;
    case 'Z':
    case 'z':
        change_breakpoint(command == 'Z');
        return ANSWER;
    case 'H':
        stub.request.len = 2;
        stub.thread = stub.request.text[1] == 'g' ? take_thread(&stub.request) : stub.thread;
        put_text(&stub.answer, "OK");
        return ANSWER;
    case 'T':
        answer_ok(thread_of(take_thread(&stub.request)));
        return ANSWER;
    case 'q':
    case 'Q':
        query(self);
        return ANSWER;
    case 'v':
        return v_request(self);
    case 'c':
    case 'C':
    case 's':
    case 'S':
        return go_on(self);
    case 'D':
        put_text(&stub.answer, "OK");
        return GONE;
    case 'k':
        kill_guest();
    default:
        return ANSWER;
    }
}

bool stub_passes(u32 sig) {
    u32 number = stub_number(sig);
    return number <= 64 && stub.passed >> (number - 1) & 1;
}

static void stub_set(u32 state) {
    the.opt.debugger_state |= state;
    wire_set_quiet(the.opt.debugger_state & DEBUGGER_QUIET);
}

static bool exchange(Thread *self) {
    for (;;) {
        if (!wire_receive(connection(), &stub.request))
            return false;
        Next next = answer_request(self);
        bool quiet = next == ANSWER && !strcmp(stub.request.text, "QStartNoAckMode");
        if (next == GO_ON)
            return true;
        if (!wire_send(connection(), &stub.answer) || next == GONE)
            return false;
        if (quiet)
            stub_set(DEBUGGER_QUIET);
    }
}

void stub_talk(Thread *t, const Stop *stop) {
    stub.stop = stop;
    stub.thread = 0;
    stub.answer.size = 0;
    stub_set(0);
    if (stop->signal)
        put_stop(t);
    if ((stop->signal && !wire_send(connection(), &stub.answer)) || !exchange(t))
        stub_detach();
}

void stub_tell_end(const char *text) {
    stub.answer.size = 0;
    put_text(&stub.answer, "%s", text);
    wire_send(connection(), &stub.answer);
}

void stub_detach(void) {
    breakpoint_remove_all();
    watch_remove_all();
    files_close();
    if (the.opt.debugger)
        sys_close(connection());
    the.opt.debugger = 0;
    for (Thread *t = the.threads; t; t = t->next)
        let_go(t, false, 0);
}
