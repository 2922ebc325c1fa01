/* words.h: text of random words, and tables of words by their hash, for word_count and reverse_index. */
#ifndef WORDS_H
#define WORDS_H

#include "phoenix.h"

enum { BUCKETS = 1 << 16, WORD_MAX = 24 };

typedef struct Word {
    struct Word *next;
    char text[WORD_MAX];
    long count, last;
    long *places;
    long room;
} Word;

typedef struct Table {
    Word *buckets[BUCKETS];
    long words;
} Table;

static inline Word *find_word(Table *t, const char *text) {
    unsigned hash = 5381;
    for (const char *c = text; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    Word **at = &t->buckets[hash % BUCKETS];
    for (; *at; at = &(*at)->next)
        if (!strcmp((*at)->text, text))
            return *at;
    *at = make_room(sizeof(Word));
    strcpy((*at)->text, text);
    t->words++;
    return *at;
}

static inline void add_place(Word *w, long place) {
    if (w->count == w->room) {
        w->room = w->room ? 2 * w->room : 4;
        w->places = realloc(w->places, (size_t)w->room * sizeof(long));
        if (!w->places)
            exit(2);
    }
    w->places[w->count++] = place;
}

/* Words of `syllables` of two letters, most of them short; the text ends with 0. */
static inline char *make_text(long bytes, uint32_t seed) {
    char *text = make_room((size_t)bytes + 1);
    long i = 0;
    while (i < bytes) {
        long syllables = 1 + next_random(&seed) % (1 + next_random(&seed) % 3);
        for (long s = 0; s < syllables && i + 2 < bytes; s++) {
            text[i++] = (char)("bdfgklmnprst"[next_random(&seed) % 12]);
            text[i++] = (char)("aeiou"[next_random(&seed) % 5]);
        }
        text[i++] = next_random(&seed) % 10 ? ' ' : '\n';
    }
    return text;
}

/* All words of a table, in an array of t->words. */
static inline Word **list_words(const Table *t) {
    Word **list = make_room((size_t)t->words * sizeof(*list));
    long n = 0;
    for (int b = 0; b < BUCKETS; b++)
        for (Word *w = t->buckets[b]; w; w = w->next)
            list[n++] = w;
    return list;
}

#endif
