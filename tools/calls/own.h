/* own.h: what each thread has, and which threads there are. */
#ifndef CALLS_OWN_H
#define CALLS_OWN_H

#include "../costs.h"

/* A stack in folded output: the function, and what has called it. */
typedef struct Node {
    uint64_t function, cost, depth;
    struct Node *caller, *callees, *next; /* `next`: of those that have the same caller */
    struct Node *made;                    /* the one that was made next in the same thread */
    struct Node *merged;                  /* its counterpart in the tree of all threads */
} Node;

enum { DEEPEST_NODE = 1000 };

/* Calls from one instruction to one function, or jumps from there into it. */
typedef struct Edge {
    uint32_t function; /* its id */
    uint32_t number;   /* of the edge, from 0 on */
    uint32_t greatest; /* of both */
    uint16_t size;     /* of a call: how many bytes behind pc it goes on afterwards */
    bool jumped;       /* no call, but a jump */
    bool handles;      /* no call, but a signal: the function is its handler */
    bool stub;         /* what is called is one, and the function is it, or what it leads to */
    bool passes;       /* the function is the stub, or the dynamic linker, and only leads to another one */
    uint64_t pc;       /* the instruction; of a signal: the one before which it came */
    struct Edge *jump; /* of the last jump that came from the function, if it was this edge that led there */
    struct Edge *next; /* another one from the same instruction */
} Edge;

/* A call that has not returned. */
typedef struct Frame {
    uint64_t key;    /* the stack pointer before the call; see frame_key */
    uint64_t before; /* how many instructions the thread had executed when it called */
    Edge *edge;
} Frame;

/* What a thread has counted of an edge. */
typedef struct Sum {
    uint64_t calls, instructions;
} Sum;

/* What is known of a call that may lead to several functions, by the words of its site, or of a jump into another one. */
typedef struct Link {
    uint64_t from, target;
    Edge *edge;
    uint64_t unused;
} Link;

/* The function that an address is in, by its id. */
typedef struct Place {
    uint64_t pc, function;
} Place;

enum { LINKS = 4096, PLACES = 4096 };

/* What each thread has. */
typedef struct Own {
    uint64_t function;       /* the id of the one that it is in; 0: the thread has just begun */
    Frame *top, *end;        /* behind the innermost frame, and behind all that there is room for */
    uint64_t room;           /* of the two arrays that follow, which are in one piece of memory */
    uint64_t *counts;        /* of each function, backwards: see active */
    Sum *sums;               /* by the numbers of edges */
    uint64_t executed;       /* instructions, when something rare happens */
    const uint64_t *counted; /* what they are counted by */
    Frame *frames; /* the first one is no call: it has the function that the thread is in if all others have returned */
    Edge outermost;                /* its edge */
    Link *links;                   /* LINKS of them */
    const Link *call_links;        /* the same, or as many of nothing, in folded output */
    Place *places;                 /* PLACES of them: where jumps have led to */
    Node **nodes;                  /* folded, for each frame: what has called */
    Node *root, *last_node, *node; /* folded: the first and the last one that were made; where the thread is */
    uint64_t node_since;           /* what `executed` was when the thread came to `node` */
} Own;

_Static_assert(sizeof(Own) <= LATHE_OWN_WORDS * sizeof(uint64_t), "each thread has so much");

/* The compiler leaves the value in its register up to here: what Lathe knows of it becomes a part of the instructions that use it. */
#define STAYS(value) __asm__("" ::"r"(value))

/* The options. */
static bool folded;
static const char *output;

static Function *function_no(uint64_t id) {
    return function_chunks[(id - 1) / CHUNK][(id - 1) % CHUNK];
}

/* --------------------------------------------------------------------------------------------------------- threads that run */

/* What the threads that run now have as their own (LATHE_THREAD_OWN). Whoever looks at what others have holds the lock, and so does a thread that moves or frees what is
 * its own. */
static LatheVector live = LATHE_VECTOR(void *);
static LatheLock live_lock;

static void live_add(void *own) {
    lathe_lock(&live_lock);
    *(void **)lathe_vector_add(&live) = own;
    lathe_unlock(&live_lock);
}

/* The caller holds the lock. */
static void live_remove(const void *own) {
    void **each = live.at;
    for (size_t i = 0; i < live.count; i++)
        if (each[i] == own)
            each[i] = each[--live.count];
}

#endif
