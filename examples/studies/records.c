/* records.c: packing of records into a message, by a description that is made at run time, as MPI's derived datatypes are: a
 * type is a list of parts, each some blocks of bytes or of another type, at a distance from each other. The general code
 * walks through the description for each record; with it known there are only moves. */
#include "study.h"

#include <stdint.h>

enum { MAX_PARTS = 8, RECORDS = 2000, RECORD_BYTES = 512 };

typedef struct Type Type;
typedef struct Part {
    const Type *type;          /* of the elements; NULL: single bytes */
    int offset, count, stride; /* `count` blocks, `stride` bytes from one to the next */
    int length;                /* elements of a block */
} Part;

struct Type {
    int extent; /* bytes from one element to the next */
    int packed; /* bytes of one in a message */
    int part_count;
    Part part[MAX_PARTS];
};

static uint8_t records[RECORDS][RECORD_BYTES], message[RECORDS * RECORD_BYTES];

/* A level of nesting is a function: types of types of types are as deep as it goes. */
static inline uint8_t *pack_bytes(const Part *p, const uint8_t *from, uint8_t *to) {
    for (int b = 0; b < p->count; b++)
        for (int i = 0; i < p->length; i++)
            *to++ = from[p->offset + b * p->stride + i];
    return to;
}

static inline uint8_t *pack_inner(const Type *t, const uint8_t *from, uint8_t *to) {
    for (int i = 0; i < t->part_count; i++)
        to = pack_bytes(&t->part[i], from, to);
    return to;
}

static inline uint8_t *pack_part(const Part *p, const uint8_t *from, uint8_t *to) {
    if (!p->type)
        return pack_bytes(p, from, to);
    for (int b = 0; b < p->count; b++)
        for (int i = 0; i < p->length; i++)
            to = pack_inner(p->type, from + p->offset + b * p->stride + i * p->type->extent, to);
    return to;
}

__attribute__((noinline)) static void pack(const Type *t, const uint8_t *from, uint8_t *to) {
    for (int i = 0; i < t->part_count; i++)
        to = pack_part(&t->part[i], from, to);
}

static void configure(BinoptCfgRef cfg, void *user) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_VOID, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_PTR_NOALIAS);
    binopt_cfg_set_paramp(cfg, 0, user, sizeof(Type), BINOPT_MEM_NESTED_CONST);
}

static void run(BinoptFunc kernel, void *user) {
    const Type *t = user;
    for (int i = 0; i < RECORDS; i++)
        ((__typeof__(&pack))kernel)(user, records[i], message + i * t->packed);
}

int main(int argc, char **argv) {
    /* struct { char tag; int id; double at[3]; }, and what is made of it. */
    static const Type point = {40, 29, 3, {{NULL, 0, 1, 0, 1}, {NULL, 4, 1, 0, 4}, {NULL, 16, 1, 0, 24}}};
    static const Type column = {0, 32, 1, {{NULL, 0, 8, 32, 4}}};
    static const Type pair = {0, 58, 1, {{&point, 0, 1, 0, 2}}};
    static const Type points = {0, 174, 1, {{&point, 0, 3, 160, 2}}};
    static const Type mixed = {
        0, 189, 4, {{NULL, 400, 1, 0, 8}, {&point, 0, 4, 64, 1}, {NULL, 300, 4, 16, 16}, {NULL, 420, 1, 0, 1}}};
    static const struct {
        const char *name;
        const Type *type;
    } types[] = {{"record", &point},
                 {"column of a matrix", &column},
                 {"two records", &pair},
                 {"blocks of records", &points},
                 {"mixed", &mixed}};
    bool bench, right = true;
    BinoptHandle handle = study_begin(argc, argv, "record", &bench);
    for (int i = 0; i < RECORDS * RECORD_BYTES; i++)
        records[i / RECORD_BYTES][i % RECORD_BYTES] = (uint8_t)(i * 31 >> 3);
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        Study s = {.name = types[i].name,
                   .kernel = (BinoptFunc)pack,
                   .configure = configure,
                   .run = run,
                   .result = message,
                   .result_bytes = sizeof(message),
                   .exact = true,
                   .units = RECORDS,
                   .user = (void *)types[i].type};
        right &= study_run(&s, handle, bench);
    }
    binopt_fini(handle);
    return !right;
}
