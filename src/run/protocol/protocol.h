/* protocol.h: what client and server say to each other; docs/protocol.md has the whole story.
 *
 * Every message is an 8-byte header and a payload. The client speaks first, and speaks only when asked after that:
 *
 *     C_INIT [C_SHARED] → S_INIT;   then any number of   C_TRANSLATE → (S_MEMREQ → C_MEMBUF)* → [S_SOURCE] S_OBJECT
 *
 * An S_WARNING may come at any time. An S_LIMIT, which has no payload, takes the place of an S_OBJECT that would take too much time or
 * memory; the server ends with it. All integers are little-endian. A side that gets anything else ends the connection.
 */
#ifndef RUN_PROTOCOL_H
#define RUN_PROTOCOL_H

#include "base/base.h"
#include "cache/key.h"

enum { PROTOCOL_VERSION = 4 };

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
    M(S_LIMIT, 11)

typedef enum MessageType {
#define M(name, number) name = number,
    MESSAGES(M)
#undef M
} MessageType;

enum { MESSAGE_MAX = 64 << 20 };

typedef struct MessageHeader {
    u32 type, size; /* size of the payload */
} MessageHeader;

/* What the server writes files of, for people. */
enum { DUMP_LIFT = 1, DUMP_OPT = 2, DUMP_OBJ = 4 };

typedef struct InitMessage { /* C_INIT */
    u32 version;
    u32 dump; /* DUMP_* bits */
    CodeConfig code;
    u64 cpu;     /* the kind of CPU that will run the code (cpu_kind); 0: the server's own */
    u32 sources; /* bool: an S_SOURCE comes before each S_OBJECT with an object */
    u32 reserved;
    char cache_dir[256]; /* where the server keeps what it makes; empty: nowhere */
} InitMessage;

/* C_SHARED: a cache that the server reads and writes besides. The password is not in the client's arguments, which everybody can
 * see, but in this variable of its environment. */
#define SHARED_SECRET "LATHE_SHARED_SECRET"
typedef struct SharedMessage {
    u32 run; /* the run's first process: of all its processes, one is warned */
    u32 reserved;
    char url[256];      /* cache/address.h, without password */
    char password[256]; /* empty: none */
} SharedMessage;

/* S_WARNING: a line for the user, without its end. */

typedef struct InitReply { /* S_INIT */
    u32 version, reserved;
} InitReply;

/* Translate the guest function at pc, in the module at [base, end), whose pack file is `pack` (zero: do not keep it). base 0:
 * code that is no file's, and may change. */
typedef struct TranslateMessage { /* C_TRANSLATE */
    u64 pc, base, end;
    u32 position_independent; /* the module may be elsewhere in another run: no address in it is a constant */
    u32 changing_data;        /* what it reads may change at any time: each load is made, and in its place */
    u32 again;                /* bool: a server has ended over it; do with little */
    u32 reserved;
    Key pack;
} TranslateMessage;

/* What a request is about, as the cache has it. */
static inline PackFunction translate_function(const TranslateMessage *m) {
    return (PackFunction){m->pc, m->base, m->end, m->position_independent, m->pack};
}

/* Names in objects. FUNCTION_NAME takes the offset of a guest address from its module's base (from 0 where there is no
 * module); the other symbols are the client's. */
#define FUNCTION_NAME "g_%llx"
#define SYMBOL_GUEST "guest"               /* the module's base, where it is position-independent */
#define SYMBOL_MISS "lathe_miss"           /* a lifted function: goes on at cpu->pc, whatever it takes */
#define SYMBOL_JUMP_MISS "lathe_jump_miss" /* the same for jumps; may return to the dispatcher instead */
#define SYMBOL_STALE "lathe_stale"         /* the same where the translation at cpu->pc is of code that has changed */
#define SYMBOL_SYSCALL "guest_syscall"     /* void(ptr cpu) */
#define SYMBOL_CPUID "guest_cpuid"

/* Translated code by guest address. Each thread has a table of its own, which it fills itself: what it finds there is of one piece. */
typedef struct TableEntry {
    u64 pc, code;
} TableEntry;

/* In front of a translated function, which begins at a multiple of 16 with an instruction of two bytes or more: room for a jump. */
enum { PATCH_BYTES = 16 };

/* The code of a translation is at most so far from its entry, to both sides. */
enum { CODE_REACH = 64 << 10 };

/* Behind the guest state, at a fixed place: the host stack address below which computed jumps return to the dispatcher. */
#define THREAD_STACK_LIMIT 2496
/* Likewise, not 0 if a signal waits for the guest's whole state (CodeConfig.polls). */
#define THREAD_PENDING 2504
/* Likewise, its table. */
#define THREAD_TABLE 4096

enum { TABLE_BITS = 16 };
/* The entry a guest address may be in: functions begin at multiples of 16, jump targets anywhere. */
#define TABLE_INDEX(pc) (((pc) >> 4 ^ (pc)) & ((1u << TABLE_BITS) - 1))

typedef struct MemRequest { /* S_MEMREQ */
    u64 addr;
    u32 size, reserved;
} MemRequest;

/* C_MEMBUF: MemReply, then the bytes that could be read, at most as many as asked for. */
typedef struct MemReply {
    u32 size;
    u32 writable; /* 1: the guest may write some of them */
} MemReply;

/* S_SOURCE: the guest bytes that the object behind it was made from: the hash of a pack's record, then the ranges (LatheRange) in guest
 * addresses. A client that keeps objects itself asks for them. */
typedef struct SourceMessage {
    u64 guest_hash;
    u32 range_count, reserved;
} SourceMessage;

/* S_OBJECT: the facts, then object_size bytes of an ELF object. object_size 0: the code at pc cannot be read or decoded, or is not
 * worth an object beside quick code. */
typedef struct ObjectMessage {
    u64 pc;
    u32 object_size;
    u32 insns; /* guest instructions */
    u32 lift_us, opt_us, emit_us;
    u32 shared;      /* bool: some other server made it, see C_SHARED */
    u32 inside;      /* bool: it was made from bytes of the request's module only */
    u32 undecodable; /* bool: there is no object because the bytes at pc are no instruction */
} ObjectMessage;

#endif
