/* words.c: the program of docs/tour.md. It looks words up in a list, and adds up a number for each. There is a mistake in it, which the tour finds. */
#include <stdio.h>
#include <string.h>

typedef struct Word {
    const char *text;
    unsigned number;
    const struct Word *next;
} Word;

static const Word *find(const Word *list, const char *text) {
    while (strcmp(list->text, text) != 0)
        list = list->next;
    return list;
}

/* A number that takes its time. */
unsigned weigh(const char *text, unsigned rounds) {
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; i++)
        for (const char *c = text; *c; c++)
            sum = sum * 31 + (unsigned char)*c;
    return sum;
}

int main(int argc, char **argv) {
    static const Word list[] = {{"one", 1, &list[1]}, {"two", 2, &list[2]}, {"three", 3, NULL}};
    unsigned sum = 0;
    for (int i = 1; i < argc; i++) {
        const Word *word = find(list, argv[i]);
        sum += word->number * weigh(argv[i], 100000);
    }
    printf("%u\n", sum);
    return 0;
}
