/* Arrays at the end of the initialised data, behind which linkers put variables of the C library that the program uses (stdout, environ): loops compare with the address where one ends and
 * the other begins. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

const char *words[] = {"one", "two", "three", "four"};
const char *names[] = {".bz2", ".bz", ".tbz2", ".tbz"};
long numbers[] = {1, 2, 3, 4, 5};

static int find(const char *text) {
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strstr(text, names[i]))
            return (int)i;
    return -1;
}

static size_t length(void) {
    size_t sum = 0;
    for (const char **w = words; w != words + sizeof(words) / sizeof(*words); w++)
        sum += strlen(*w);
    return sum;
}

static long total(void) {
    long sum = 0;
    for (long *n = numbers; n < numbers + sizeof(numbers) / sizeof(*numbers); n++)
        sum += (*n)++;
    return sum;
}

int main(int argc, char **argv) {
    fprintf(stdout, "%d %d\n", find("x.tbz"), find(argv[argc] ? "" : "none"));
    fprintf(stderr, "%zu %ld %ld\n", length(), total(), total());
    return environ[0] == NULL;
}
