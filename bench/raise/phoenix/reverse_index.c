/* reverse_index.c: which pages link to a place: pages of text are searched for links, and an index is made from links to pages. */
#include "words.h"

typedef struct Job {
    char **pages;
    Table *tables[PARTS_MAX];
} Job;

static void index_page(Table *t, const char *page, long number) {
    static const char open[] = "<a href=\"";
    for (const char *at = page; (at = strstr(at, open));) {
        char link[WORD_MAX];
        int length = 0;
        at += sizeof(open) - 1;
        while (*at && *at != '"' && length < WORD_MAX - 1)
            link[length++] = *at++;
        link[length] = 0;
        Word *w = find_word(t, link);
        if (!w->count || w->places[w->count - 1] != number)
            add_place(w, number);
    }
}

static void *index_part(void *arg) {
    const Part *p = arg;
    Job *job = p->job;
    Table *t = job->tables[p->index] = make_room(sizeof(Table));
    for (long i = p->begin; i < p->end; i++)
        index_page(t, job->pages[i], i);
    return NULL;
}

static char *make_page(long links, uint32_t *seed) {
    char *page = make_room((size_t)links * 160 + 1), *at = page;
    for (long i = 0; i < links; i++) {
        for (int k = next_random(seed) % 100; k > 0; k--)
            *at++ = (char)("etaoin shrdlu<p>"[next_random(seed) % 16]);
        at += sprintf(at, "<a href=\"/place/%u\">", next_random(seed) % 5000);
    }
    return page;
}

static int by_text(const void *x, const void *y) {
    return strcmp((*(Word *const *)x)->text, (*(Word *const *)y)->text);
}

int main(int argc, char **argv) {
    long count = argument(argc, argv, 1, 8000), sum = 0;
    Job job = {make_room((size_t)count * sizeof(char *)), {0}};
    uint32_t seed = 19;
    for (long i = 0; i < count; i++)
        job.pages[i] = make_page(20 + next_random(&seed) % 200, &seed);
    int parts = work_on_parts(index_part, &job, count, (int)argument(argc, argv, 2, 0));
    Table *all = job.tables[0];
    for (int i = 1; i < parts; i++) {
        Word **list = list_words(job.tables[i]);
        for (long w = 0; w < job.tables[i]->words; w++)
            for (long k = 0; k < list[w]->count; k++)
                add_place(find_word(all, list[w]->text), list[w]->places[k]);
        free(list);
    }
    Word **list = list_words(all);
    qsort(list, (size_t)all->words, sizeof(*list), by_text);
    for (long w = 0; w < all->words; w++) {
        for (long k = 0; k < list[w]->count; k++)
            sum = sum * 31 + list[w]->places[k];
        if (w % 500 == 0)
            printf("%s %ld\n", list[w]->text, list[w]->count);
    }
    printf("%ld links, %ld\n", all->words, sum);
    return 0;
}
