/* word_count.c: how often each word occurs in a text; those that occur most come first. */
#include <ctype.h>

#include "words.h"

typedef struct Job {
    const char *text;
    long bytes;
    Table *tables[PARTS_MAX];
} Job;

static void *count_part(void *arg) {
    const Part *p = arg;
    Job *job = p->job;
    Table *t = job->tables[p->index] = make_room(sizeof(Table));
    long i = p->begin;
    while (i > 0 && i < job->bytes && !isspace((unsigned char)job->text[i - 1]))
        i++; /* the word belongs to the part before */
    while (i < p->end) {
        char word[WORD_MAX];
        int length = 0;
        while (i < job->bytes && !isspace((unsigned char)job->text[i])) {
            if (length < WORD_MAX - 1)
                word[length++] = (char)toupper((unsigned char)job->text[i]);
            i++;
        }
        word[length] = 0;
        if (length)
            find_word(t, word)->count++;
        i++;
    }
    return NULL;
}

static int more_often(const void *x, const void *y) {
    const Word *a = *(Word *const *)x, *b = *(Word *const *)y;
    return a->count != b->count ? (a->count < b->count ? 1 : -1) : strcmp(a->text, b->text);
}

int main(int argc, char **argv) {
    long bytes = argument(argc, argv, 1, 12000000);
    Job job = {make_text(bytes, 17), bytes, {0}};
    int parts = work_on_parts(count_part, &job, bytes, (int)argument(argc, argv, 2, 0));
    Table *all = job.tables[0];
    for (int i = 1; i < parts; i++) {
        Word **list = list_words(job.tables[i]);
        for (long w = 0; w < job.tables[i]->words; w++)
            find_word(all, list[w]->text)->count += list[w]->count;
        free(list);
    }
    Word **list = list_words(all);
    qsort(list, (size_t)all->words, sizeof(*list), more_often);
    for (long w = 0; w < all->words && w < 200; w++)
        printf("%s %ld\n", list[w]->text, list[w]->count);
    printf("%ld words\n", all->words);
    return 0;
}
