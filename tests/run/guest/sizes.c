/* sizes.c: what /proc tells a program of its own memory fits together, and is of a size that a small program has. */
#include <ctype.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MIB = 1 << 20, KIB_OF_MIB = 1 << 10 };

static char text[1 << 20];

static const char *read_file(const char *dir, const char *name) {
    char path[256];
    size_t len = 0;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    int fd = open(path, O_RDONLY);
    for (ssize_t n; fd >= 0 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0;)
        len += (size_t)n;
    close(fd);
    text[len] = 0;
    return text;
}

/* The sum of the numbers behind a name at the beginning of lines. */
static long sum_of(const char *all, const char *name) {
    long sum = 0;
    for (const char *line = all; line && *line; line = strchr(line, '\n'), line += line != NULL)
        if (!strncmp(line, name, strlen(name)))
            sum += strtol(line + strlen(name), NULL, 10);
    return sum;
}

static long mapped_kib(const char *maps) {
    long sum = 0;
    for (const char *line = maps; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        char *rest;
        if (isupper((unsigned char)*line))
            continue;
        unsigned long start = strtoul(line, &rest, 16), end = strtoul(rest + 1, NULL, 16);
        sum += (long)((end - start) >> 10);
    }
    return sum;
}

static int is_near(long a, long b, long by) {
    return a - b <= by && b - a <= by;
}

static void look(const char *dir) {
    enum { STACK_KIB = 8 << 10 }; /* which may be listed in whole, or as far as it was used */
    long maps = mapped_kib(read_file(dir, "maps")), smaps = mapped_kib(read_file(dir, "smaps"));
    long smaps_size = sum_of(text, "Size:"), smaps_rss = sum_of(text, "Rss:");
    printf("%s: smaps is about the same mappings as maps: %d, with their sizes: %d\n", dir, smaps == maps,
           smaps_size == smaps);
    long rollup_rss = sum_of(read_file(dir, "smaps_rollup"), "Rss:");
    printf("rollup has their sum: %d\n", is_near(rollup_rss, smaps_rss, 512));
    long size = sum_of(read_file(dir, "status"), "VmSize:"), rss = sum_of(text, "VmRSS:"),
         peak = sum_of(text, "VmPeak:");
    long data = sum_of(text, "VmData:"),
         parts = sum_of(text, "RssAnon:") + sum_of(text, "RssFile:") + sum_of(text, "RssShmem:");
    printf("status agrees: %d %d %d\n", is_near(size, maps, STACK_KIB), is_near(rss, smaps_rss, 1024),
           is_near(rss, parts, 64));
    printf("sizes are those of a small program: %d %d\n", size < 400 * KIB_OF_MIB && peak < 400 * KIB_OF_MIB,
           rss < 200 * KIB_OF_MIB);
    long pages = strtol(read_file(dir, "statm"), NULL, 10), page_kib = sysconf(_SC_PAGESIZE) >> 10;
    printf("statm agrees: %d\n", is_near(pages * page_kib, size, 256));
    const char *stat = strrchr(read_file(dir, "stat"), ')');
    for (int field = 2; stat && field < 23; field++)
        stat = strchr(stat + 1, ' ');
    printf("stat agrees: %d; data is a part: %d\n", stat && is_near(strtol(stat, NULL, 10) >> 10, size, 256),
           data < size);
}

int main(void) {
    char number[64];
    long before = sum_of(read_file("/proc/self", "status"), "VmRSS:"), size_before = sum_of(text, "VmSize:");
    char *p = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, 32 * MIB);
    long after = sum_of(read_file("/proc/self", "status"), "VmRSS:"), size_after = sum_of(text, "VmSize:");
    printf("32 MiB more were used: %d, 64 MiB mapped: %d\n", is_near(after - before, 32 * KIB_OF_MIB, 2 * KIB_OF_MIB),
           is_near(size_after - size_before, 64 * KIB_OF_MIB, KIB_OF_MIB));
    look("/proc/self");
    look("/proc/thread-self");
    snprintf(number, sizeof(number), "/proc/%d", (int)getpid());
    if (chdir(number) == 0)
        look(".");
    munmap(p, 64 * MIB);
    printf("and are free again: %d\n",
           is_near(sum_of(read_file("/proc/self", "status"), "VmRSS:"), before, 4 * KIB_OF_MIB));
    return 0;
}
