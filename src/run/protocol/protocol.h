/* protocol.h: the messages between client and server; docs/protocol.md describes them.
 *
 * Every message is a header (run/protocol/message.h) and a payload. The client begins; after that it sends a message only to make or answer a request:
 *
 *     C_INIT [C_TOOL] [C_SHARED] → S_INIT;   then any number of   C_TRANSLATE → (S_MEMREQ → C_MEMBUF | S_PLACES → C_PLACES)* → [S_SOURCE] S_OBJECT
 *
 * An S_WARNING may come at any time. An S_LIMIT, which has no payload, is sent in place of an S_OBJECT that would take too much time or
 * memory; the server ends after it. All integers are little-endian. A side that receives anything else ends the connection.
 */
#ifndef RUN_PROTOCOL_H
#define RUN_PROTOCOL_H

#include "base/base.h"
#include "cache/key.h"
#include "lathe/types.h"
#include "tool/package.h"

enum { PROTOCOL_VERSION = 10 };

#define MESSAGES(M)                                                                                                    \
    M(C_INIT, 1)                                                                                                       \
    M(S_INIT, 2)                                                                                                       \
    M(C_TRANSLATE, 3)                                                                                                  \
    M(S_MEMREQ, 4)                                                                                                     \
    M(C_MEMBUF, 5)                                                                                                     \
    M(S_OBJECT, 6)                                                                                                     \
    M(S_ERROR, 7)                                                                                                      \
    M(S_SOURCE, 8)                                                                                                     \
    M(C_SHARED, 9)                                                                                                     \
    M(S_WARNING, 10)                                                                                                   \
    M(S_LIMIT, 11)                                                                                                     \
    M(C_TOOL, 12)                                                                                                      \
    M(S_PLUGIN, 13)                                                                                                    \
    M(S_PLACES, 14)                                                                                                    \
    M(C_PLACES, 15)

typedef enum MessageType {
#define M(name, number) name = number,
    MESSAGES(M)
#undef M
} MessageType;

enum { MESSAGE_MAX = 64 << 20 };

typedef struct MessageHeader {
    u32 type, size; /* size of the payload */
    u64 sum;        /* of the payload */
    u64 head_sum;   /* of what is before it */
} MessageHeader;

/* What the server writes to files for people (--dump). */
enum { DUMP_LIFT = 1, DUMP_OPT = 2, DUMP_OBJ = 4 };

/* Offsets, from the guest state, of what a thread has for a tool. */
typedef struct ToolOffsets {
    u32 counters; /* where the cells of its counters begin: TOOL_CELLS words for each */
    u32 self;     /* a word with the address that the following are offsets from, too */
    u32 own;      /* LATHE_THREAD_OWN */
    u32 tid;      /* 32 bits: LATHE_THREAD_ID */
    u32 inside;   /* LiftWatch.inside_off (lift/watch.h) */
    u32 crossings,
        known; /* of values.h in the server: words with the number of crossings between the tiers, and with that at which masks of registers were known, plus 1 */
} ToolOffsets;

typedef struct InitMessage { /* C_INIT */
    u32 version;
    u32 dump; /* DUMP_* bits */
    CodeConfig code;
    u64 cpu;          /* the kind of CPU that will run the code (cpu_kind); 0: the server's CPU */
    u32 sources;      /* bool: the server sends an S_SOURCE before each S_OBJECT that has an object */
    u32 background_s; /* not 0: the server takes the lowest priority, and ends after so much CPU time */
    ToolOffsets tool;
    u32 cell_count; /* what each instruction is counted by, if the tool counts them: */
    ToolCell cells[TOOL_COUNTS];
    char cache_dir[256]; /* where the server stores objects; empty: nowhere */
} InitMessage;

/* C_SHARED: another cache that the server reads and writes. Key and password are not in the client's arguments, which everybody can see, but
 * in this variable of its environment, with a space between them: the key has none. */
#define SHARED_SECRET "LATHE_SHARED_SECRET"
typedef struct SharedMessage {
    u32 run; /* the run's first process; only one process of a run is warned */
    u32 reserved;
    char url[256];      /* cache/address.h, without password */
    char password[256]; /* empty: none */
    char key[256];      /* what entries are signed with; empty: they are not */
} SharedMessage;

/* C_TOOL: the package of a tool (tool/package.h) whose functions are called at instructions. */

/* S_PLACES: addresses of instructions, 64 bits each. C_PLACES: a word for each of these: bit n is set if hook n applies to it, for some event (LatheWhere); for
 * LATHE_FUNCTION only if a function begins there. With PLACE_IN_QUICK, the instruction is to be left to quick code: a function is called there that wants the whole state, or it has a name
 * that only this run knows, and code is for later runs, too. */
enum { PLACES_MAX = 16384 };
#define PLACE_IN_QUICK ((u64)1 << 63)

/* S_WARNING: a line for the user, without its end. */

/* S_PLUGIN: in place of an S_OBJECT: what is wrong with the plugin, a line without its end. The server ends after it, and so does the program. */

typedef struct InitReply { /* S_INIT */
    u32 version, reserved;
} InitReply;

/* C_TRANSLATE: translate the guest function at pc, in the module at [base, end), whose pack file is `pack` (zero: do
 * not store the object). base 0: the code is not in a file and may change. */
typedef struct TranslateMessage { /* C_TRANSLATE */
    u64 pc, base, end;
    u32 position_independent; /* the module may be at another address in another run: no address in it is a constant */
    u32 changing_data;        /* the data it reads may change at any time: no load may be omitted or moved */
    u32 again;                /* bool: a server has failed at this function; use little time and memory */
    u32 changes;              /* how often the code of the module has changed since it was mapped */
    Key pack;
} TranslateMessage;

/* The function of a request, in the form that the cache uses. */
static inline PackFunction translate_function(const TranslateMessage *m) {
    return (PackFunction){m->pc, m->base, m->end, m->position_independent, m->pack};
}

/* Names in objects. FUNCTION_NAME takes the offset of a guest address from its module's base (from 0 if there is no
 * module); the client provides the other symbols. */
#define FUNCTION_NAME "g_%llx"
#define SYMBOL_GUEST "guest"               /* the module's base, if it is position-independent */
#define SYMBOL_MISS "lathe_miss"           /* a lifted function that goes on at cpu->pc, translating it if necessary */
#define SYMBOL_JUMP_MISS "lathe_jump_miss" /* the same for jumps; may return to the dispatcher instead */
#define SYMBOL_STALE "lathe_stale"     /* the same if the translation at cpu->pc was made from code that has changed */
#define SYMBOL_SYSCALL "guest_syscall" /* void(ptr cpu) */
#define SYMBOL_CPUID "guest_cpuid"
/* The words that a hook has for an instruction (LATHE_SITE): the number of the hook, and the address as in FUNCTION_NAME. */
#define SITE_NAME "site_%x_%llx"
/* Where a row of a tool's tables is, as an offset from the guest state: the number of the table; a bit for each key that is an address, as in FUNCTION_NAME; the keys. */
#define ROW_NAME "row_%x_%x_%llx_%llx_%llx"

/* Translated code by guest address. Each thread has a table of its own and is the only one to fill it, so entries are
 * never half written when they are read. */
typedef struct TableEntry {
    u64 pc, code;
} TableEntry;

/* Bytes in front of a translated function, which leave room for a jump. The function begins at a multiple of 16, and
 * its first instruction has at least two bytes. */
enum { PATCH_BYTES = 16 };

/* The offset, from the guest state, of the host stack address below which computed jumps return to the dispatcher. */
#define THREAD_STACK_LIMIT 2496
/* The offset of a word that is not 0 if a signal waits until the guest's state is complete (CodeConfig.polls). */
#define THREAD_PENDING 2504
/* The offset of the thread's table. */
#define THREAD_TABLE 4096

enum { TABLE_BITS = 16 };
/* The index of the entry for a guest address. Functions begin at multiples of 16, jump targets anywhere. */
#define TABLE_INDEX(pc) (((pc) >> 4 ^ (pc)) & ((1u << TABLE_BITS) - 1))

typedef struct MemRequest { /* S_MEMREQ */
    u64 addr;
    u32 size, reserved;
} MemRequest;

/* C_MEMBUF: a MemReply, then the bytes that could be read, at most as many as requested. */
typedef struct MemReply {
    u32 size;
    u32 writable; /* 1: the guest may write to some of them */
} MemReply;

/* S_SOURCE: the guest bytes that the following object was made from: their hash as in a pack's record, then the ranges
 * (LatheRange) in guest addresses. A client that stores objects itself asks for them. */
typedef struct SourceMessage {
    u64 guest_hash;
    u32 range_count, reserved;
} SourceMessage;

/* S_OBJECT: an ObjectMessage, then object_size bytes of an ELF object. object_size 0: the code at pc cannot be read or
 * decoded, or is not worth an object beside quick code. */
typedef struct ObjectMessage {
    u64 pc;
    u32 object_size;
    u32 insns; /* number of guest instructions */
    u32 lift_us, opt_us, emit_us;
    u32 shared;      /* bool: another server has made it, see C_SHARED */
    u32 inside;      /* bool: it was made only from bytes of the request's module */
    u32 undecodable; /* bool: there is no object because the bytes at pc are not an instruction */
    LatheRange span; /* contains all guest bytes that it was made from */
} ObjectMessage;

#endif
