/* string_match.c: which of four words occur in a list of words, both being compared in an encoded form. */
#include "phoenix.h"

enum { WORDS = 4, LONGEST = 32 };

typedef struct Job {
    const char **lines;
    char encoded[WORDS][LONGEST];
    long found[PARTS_MAX][WORDS];
} Job;

static void encode(const char *word, char *out) {
    long i = 0;
    for (; word[i] && i < LONGEST - 1; i++)
        out[i] = (char)(word[i] + 5);
    out[i] = 0;
}

static void *match_part(void *arg) {
    const Part *p = arg;
    Job *job = p->job;
    char *line = make_room(LONGEST);
    for (long i = p->begin; i < p->end; i++) {
        encode(job->lines[i], line);
        for (int w = 0; w < WORDS; w++)
            job->found[p->index][w] += !strcmp(line, job->encoded[w]);
    }
    free(line);
    return NULL;
}

static const char **make_lines(long count) {
    const char **lines = make_room((size_t)count * sizeof(*lines));
    uint32_t seed = 11;
    for (long i = 0; i < count; i++) {
        long length = 3 + next_random(&seed) % 8;
        char *line = make_room((size_t)length + 1);
        for (long k = 0; k < length; k++)
            line[k] = (char)('a' + next_random(&seed) % 5);
        lines[i] = line;
    }
    return lines;
}

int main(int argc, char **argv) {
    static const char *const words[WORDS] = {"abc", "decade", "cab", "facade"};
    long count = argument(argc, argv, 1, 500000), repeat = argument(argc, argv, 3, 12);
    int threads = (int)argument(argc, argv, 2, 0), parts = 1;
    Job *job = make_room(sizeof(*job));
    job->lines = make_lines(count);
    for (int w = 0; w < WORDS; w++)
        encode(words[w], job->encoded[w]);
    for (long i = 0; i < repeat; i++)
        parts = work_on_parts(match_part, job, count, threads);
    for (int w = 0; w < WORDS; w++) {
        long sum = 0;
        for (int i = 0; i < parts; i++)
            sum += job->found[i][w];
        printf("%s %ld\n", words[w], sum);
    }
    return 0;
}
