/* server.h: the process that translates: one connection, its client's guest memory by page, and LLVM. */
#ifndef RUN_SERVER_H
#define RUN_SERVER_H

#include "base/base.h"
#include "lathe/lift.h"
#include "run/protocol/protocol.h"

/* connection.c: messages on a socket. */
typedef struct Connection {
    int fd;
    u8 *buffer; /* payload of the last message received */
    size_t capacity;
} Connection;

/* The next message; false if the peer is gone or sent what no message can be. */
bool connection_receive(Connection *c, MessageHeader *header);
/* A message of two parts; false if the peer is gone. */
bool connection_send(Connection *c, MessageType type, const void *a, size_t a_size, const void *b, size_t b_size);

/* watch.c: the process ends when the peer of fd is gone, but not between hold and release. */
typedef struct Watch Watch;
Watch *watch_new(int fd);
void watch_hold(Watch *w);
void watch_release(Watch *w);

/* pages.c: what is known of the client's guest memory. */
typedef struct Pages Pages;
Pages *pages_new(Connection *c);
void pages_free(Pages *p);
/* From now on reads are for this request: pages of a module that has not changed since are kept, all others forgotten. */
void pages_begin(Pages *p, const TranslateMessage *request);
size_t pages_read(void *pages, u64 addr, void *buf, size_t size); /* a LatheReadMemory */
bool pages_lost(const Pages *p); /* the connection failed while reading */

/* translate.c: guest code to an object. */
typedef struct Translator Translator;
typedef struct Translation {
    ObjectMessage facts;
    void *object; /* malloc'ed; NULL: there is none */
    const LatheRange *ranges; /* guest bytes it was made from; until translation_free */
    size_t range_count;
    LatheFunc *fn;
} Translation;

Translator *translator_new(const CodeConfig *config, u32 dump, Pages *pages); /* dump: DUMP_* bits */
void translator_free(Translator *t);
bool translator_run(Translator *t, const TranslateMessage *request, Translation *out);
void translation_free(Translation *t);

/* guard.c: a function that goes on in `lifted` if the guest's bytes are still what they were, and has it translated anew
 * otherwise. NULL: they cannot be read. */
LLVMValueRef guard_build(LLVMValueRef lifted, const LatheConfig *cfg, u64 pc, const LatheRange *ranges, size_t count,
                         Pages *pages);

/* narrow.c: whether an object that LLVM made of a narrow function (lathe_func_vectors) keeps the guest's other vector registers. */
bool narrow_holds(const void *object, unsigned vectors);

/* dump.c: files for people. Failures have no effect. */
void dump_module(LLVMModuleRef mod, const char *name, const char *kind);
void dump_object(const void *object, size_t size, const char *name);

/* lookup.c: the inlined search for translated code. */
LLVMValueRef lookup_build(LLVMModuleRef mod, const LatheConfig *cfg);

#endif
