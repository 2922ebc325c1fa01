/* places.c: see places.h. */
#include "binopt/process/places.h"

static CodeMem *keep(Places *p, const CodeMem *memory) {
    CodeMem *one = mem_new(sizeof(*one));
    *one = *memory;
    VEC_PUSH(&p->list, one);
    return one;
}

CodeMem *places_new(Places *p, u64 function) {
    CodeMem memory;
    return codemem_init_near(&memory, function) ? keep(p, &memory) : NULL;
}

CodeMem *places_near(Places *p, u64 function) {
    for (size_t i = p->list.len; i-- > 0;)
        if (codemem_reaches(p->list.at[i], function))
            return p->list.at[i];
    return places_new(p, function);
}

CodeMem *places_far(Places *p) {
    CodeMem memory;
    return codemem_init(&memory) ? keep(p, &memory) : NULL;
}

void places_free(Places *p) {
    for (size_t i = 0; i < p->list.len; i++) {
        codemem_free(p->list.at[i]);
        mem_free(p->list.at[i]);
    }
    VEC_FREE(&p->list);
}
