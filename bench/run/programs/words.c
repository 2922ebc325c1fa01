/* words.c: the C library's string functions on words: length, comparison, search, copies, splitting. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "work.h"

enum { SIZE = 1 << 18, SLOTS = 1 << 13 };
static char text[SIZE + 1], copy[SIZE + 1], *slots[SLOTS];
static long counts[SLOTS];

static void count(char *word) {
    uint32_t h = 2166136261u;
    for (const char *p = word; *p; p++)
        h = (h ^ (uint32_t)tolower((unsigned char)*p)) * 16777619u;
    for (h %= SLOTS; slots[h] && strcasecmp(slots[h], word); h = (h + 1) % SLOTS)
        ;
    if (!slots[h])
        slots[h] = strdup(word);
    counts[h]++;
}

int main(int argc, char **argv) {
    uint32_t seed = 9;
    long total = 0;
    for (int i = 0; i < SIZE; i++)
        text[i] = work_random(&seed) % 6 ? (char)((i % 2 ? 'a' : 'A') + (char)(work_random(&seed) % 5)) : ' ';
    for (long n = work_amount(argc, argv, 500); n; n--) {
        strcpy(copy, text);
        char *save;
        for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
            if (strlen(w) < 5)
                count(w);
        for (const char *p = text; (p = strstr(p, "AbCd")); p++)
            total++;
        for (const char *p = text; (p = strchr(p, 'E')); p++)
            total++;
        total += memcmp(text, copy, SIZE) != 0;
    }
    for (int i = 0; i < SLOTS; i++)
        total = total * 3 + counts[i];
    printf("%ld\n", total);
    return 0;
}
