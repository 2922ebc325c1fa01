/* cache.c: packs as written by servers and read by clients: what is found is right, whatever happened to the file, and
 * damage costs no more than the record it hit. With a directory as its argument, it only makes a pack there. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cache/pack.h"
#include "cache_client.h"

enum { IMAGE_BYTES = 1 << 16, FUNCTION_BYTES = 512, FUNCTIONS = IMAGE_BYTES / FUNCTION_BYTES };
enum { FEW = 6, OBJECT_MAX = 4096 };

static char dir[64];
static u8 image[IMAGE_BYTES], moved[IMAGE_BYTES];
static const Key pack = {{0x0123456789abcdef, 0xfedcba9876543210}};
static int passed, failed;

static void expect(bool ok, const char *what, long detail) {
    passed += ok;
    failed += !ok;
    if (!ok)
        printf("FAIL: %s (%ld)\n", what, detail);
}

/* -------------------------------------------------------------------------------------------- functions and objects */

static u64 offset_of(size_t function) {
    return function * FUNCTION_BYTES + 32;
}

/* What was "translated" for a function the n-th time. */
static u32 make_object(size_t function, u32 n, u8 object[OBJECT_MAX]) {
    u32 size = (u32)(1 + function * 37 % 200 + n % 50);
    for (u32 i = 0; i < size; i++)
        object[i] = (u8)(function * 11 + n * 7 + i);
    return size;
}

static size_t read_image(void *user, u64 addr, void *buf, size_t size) {
    (void)user;
    memcpy(buf, (const void *)addr, size);
    return size;
}

/* A function with a second range far away, as jump tables have it. */
static void append_made(PackWriter *w, size_t function, const void *object, u32 size, u32 insns, bool fixed) {
    u64 base = (u64)image, hash = PACK_HASH_START, pc = base + offset_of(function);
    LatheRange ranges[] = {{pc, pc + 100 + function},
                           {base + IMAGE_BYTES - 8 - function, base + IMAGE_BYTES - function}};
    size_t count = 1 + function % 2;
    for (size_t i = 0; i < count; i++)
        pack_hash_guest(&hash, ranges[i].start, ranges[i].end, read_image, NULL);
    PackFunction f = {.pc = pc, .base = base, .end = base + IMAGE_BYTES, .position_independent = !fixed, .pack = pack};
    pack_append(w, &f, ranges, count, hash, object, size, insns);
}

static void append_to(PackWriter *w, size_t function, u32 n) {
    u8 object[OBJECT_MAX];
    u32 size = make_object(function, n, object);
    append_made(w, function, object, size, n, false);
}

static void append(size_t function, u32 n) {
    PackWriter *w = pack_writer_open(dir);
    CHECK(w, "the test's directory can be written to");
    append_to(w, function, n);
    pack_writer_close(w);
}

typedef enum Found { MISSING, RIGHT, WRONG } Found;

/* The object found tells by its instruction count which one it must be. */
static Found find(size_t function, u32 *n) {
    u8 object[OBJECT_MAX];
    u32 size;
    const void *found = client_find(offset_of(function), &size, n);
    if (!found)
        return MISSING;
    u32 want = make_object(function, *n, object);
    return size == want && !memcmp(found, object, size) ? RIGHT : WRONG;
}

/* How many of the first functions are found; -1: a wrong one is. */
static long count_found(size_t functions) {
    long right = 0;
    u32 n;
    client_open(dir, pack, image, IMAGE_BYTES);
    for (size_t i = 0; i < functions; i++) {
        Found found = find(i, &n);
        right = found == WRONG || right < 0 ? -1 : right + (found == RIGHT);
    }
    client_close();
    return right;
}

/* --------------------------------------------------------------------------------------------------------- the file */

static const char *path_of(Key key) {
    static char path[128];
    char name[PACK_NAME_SIZE];
    pack_name(key, name);
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static size_t read_pack(u8 *data, size_t size) {
    FILE *f = fopen(path_of(pack), "rb");
    size_t got = f ? fread(data, 1, size, f) : 0;
    if (f)
        fclose(f);
    return got;
}

static void write_pack(const u8 *data, size_t size) {
    unlink(path_of(pack));
    FILE *f = fopen(path_of(pack), "wb");
    CHECK(f && fwrite(data, 1, size, f) == size && fclose(f) == 0, "the test's directory can be written to");
}

static void clear(void) {
    unlink(path_of(pack));
}

/* -------------------------------------------------------------------------------------------------------- the tests */

static void test_hash(void) {
    u8 data[100] = {0};
    u64 whole = pack_hash(1, data, sizeof(data));
    for (size_t bit = 0; bit < sizeof(data) * 8; bit++) {
        data[bit / 8] ^= 1 << bit % 8;
        expect(pack_hash(1, data, sizeof(data)) != whole, "a flipped bit changes the hash", (long)bit);
        data[bit / 8] ^= 1 << bit % 8;
    }
    for (size_t size = 0; size < sizeof(data); size++)
        expect(pack_hash(1, data, size) != pack_hash(1, data, size + 1), "zeros count", (long)size);
    expect(pack_hash(2, data, sizeof(data)) != whole, "the start counts", 0);
}

static void test_names(void) {
    char name[PACK_NAME_SIZE];
    Key back;
    pack_name(pack, name);
    expect(!strcmp(name, "0123456789abcdeffedcba9876543210.pack"), "name", 0);
    expect(pack_parse_name(name, &back) && !memcmp(&back, &pack, sizeof(pack)), "name read back", 0);
    const char *const others[] = {"",
                                  "0123",
                                  "0123456789abcdeffedcba9876543210.pac",
                                  "0123456789ABCDEFfedcba9876543210.pack",
                                  "0123456789abcdeffedcba9876543210.packs",
                                  "notes.txt"};
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        expect(!pack_parse_name(others[i], &back), others[i], 0);
}

static void test_keys(void) {
    CodeConfig config = {.version = CODE_VERSION, .opt = 2}, other = {.version = CODE_VERSION, .opt = 1};
    int null = open("/dev/null", O_RDONLY), self = open("/proc/self/exe", O_RDONLY),
        image_file = open(dir, O_TMPFILE | O_RDWR, 0600);
    Key a = client_key(self, &config), b = client_key(self, &config), c = client_key(self, &other);
    Key zero = {0}, none = client_key(null, &config);
    expect(!memcmp(&a, &b, sizeof(a)), "a file's key stays", 0);
    expect(memcmp(&a, &c, sizeof(a)), "the configuration counts", 0);
    expect(!memcmp(&none, &zero, sizeof(zero)), "devices have no key", 0);
    if (image_file >= 0 && write(image_file, "x", 1) == 1) {
        a = client_key(image_file, &config);
        expect(ftruncate(image_file, 0) == 0, "truncate", 0);
        b = client_key(image_file, &config);
        expect(memcmp(&a, &b, sizeof(a)), "another size is another key", 0);
    }
    close(null);
    close(self);
    close(image_file);
}

static void test_round_trip(void) {
    u32 n;
    clear();
    expect(count_found(FUNCTIONS) == 0, "no pack, no code", 0);
    for (size_t i = 0; i < FUNCTIONS; i++)
        append(i, (u32)i);
    expect(count_found(FUNCTIONS) == FUNCTIONS, "all are found", count_found(FUNCTIONS));
    append(3, 77);
    append(3, 78);
    client_open(dir, pack, image, IMAGE_BYTES);
    expect(find(3, &n) == RIGHT && n == 78, "the last record counts", n);
    expect(!client_find(offset_of(3) + 1, &n, &n), "nothing at other offsets", 0);
    client_close();
}

/* A guest whose bytes, place or size are others. */
static void test_guest(void) {
    u8 object[OBJECT_MAX];
    u32 size, n;
    memcpy(moved, image, IMAGE_BYTES);
    client_open(dir, pack, moved, IMAGE_BYTES);
    expect(find(5, &n) == RIGHT, "valid at another address", 0);
    moved[offset_of(5) + 50] ^= 1;
    expect(find(5, &n) == MISSING && find(6, &n) == RIGHT, "not for other bytes", 0);
    moved[offset_of(5) + 50] ^= 1;
    moved[IMAGE_BYTES - 5 - 8] ^= 1;
    expect(find(5, &n) == MISSING && find(4, &n) == RIGHT, "not for other bytes of the second range", 0);
    moved[IMAGE_BYTES - 5 - 8] ^= 1;
    client_close();
    client_open(dir, pack, moved, IMAGE_BYTES / 2);
    expect(find(FUNCTIONS / 2, &n) == MISSING && find(5, &n) == MISSING && find(4, &n) == RIGHT, "not outside of it",
           0);
    client_close();

    size = make_object(7, 7, object);
    PackWriter *w = pack_writer_open(dir);
    append_made(w, 7, object, size, 7, true);
    pack_writer_close(w);
    client_open(dir, pack, image, IMAGE_BYTES);
    expect(find(7, &n) == RIGHT, "fixed code where it belongs", 0);
    client_close();
    client_open(dir, pack, moved, IMAGE_BYTES);
    expect(find(7, &n) == MISSING, "fixed code elsewhere", 0);
    client_close();
}

static void test_foreign(void) {
    Key other = {{1, 2}};
    u32 n;
    char from[128];
    snprintf(from, sizeof(from), "%s", path_of(pack));
    expect(link(from, path_of(other)) == 0, "link", errno);
    client_open(dir, other, image, IMAGE_BYTES);
    expect(find(4, &n) == MISSING, "another pack's records", 0);
    client_close();
    chmod(from, 0666);
    expect(count_found(8) == 0, "a pack that all may write", 0);
    chmod(from, 0620);
    expect(count_found(8) == 0, "a pack that its group may write", 0);
    chmod(from, 0600);
    if (geteuid() == 0) {
        expect(chown(from, 1, 1) == 0, "chown", errno);
        expect(count_found(8) == 0, "someone else's pack", 0);
        append(4, 4);
        expect(chown(from, 0, 0) == 0, "chown", errno);
    }
    unlink(path_of(other));
}

static void write_few(void) {
    clear();
    for (size_t i = 0; i < FEW; i++)
        append(i, (u32)i);
}

static void test_flipped(void) {
    static u8 data[1 << 16];
    write_few();
    size_t size = read_pack(data, sizeof(data));
    long least = FEW;
    bool wrong = false;
    for (size_t bit = 0; bit < size * 8; bit++) {
        data[bit / 8] ^= 1 << bit % 8;
        write_pack(data, size);
        long found = count_found(FEW);
        wrong |= found < 0;
        least = found < least ? found : least;
        data[bit / 8] ^= 1 << bit % 8;
    }
    expect(!wrong, "no flipped bit makes a wrong object", 0);
    expect(least >= FEW - 1, "a flipped bit costs no more than its record", least);
}

/* Cut at every length, as crashes leave it: what is left is found, and what is appended then. */
static void test_torn(void) {
    static u8 data[1 << 16];
    u32 n;
    write_few();
    size_t size = read_pack(data, sizeof(data));
    PackWriter *w = pack_writer_open(dir);
    bool wrong = false, lost = false, new_lost = false;
    for (size_t cut = 0, at = 0, whole = 0; cut <= size; cut++) {
        write_pack(data, cut);
        size_t next = at;
        if (pack_next(data, cut, &next)) {
            at = next;
            whole++;
        }
        long found = count_found(FEW);
        wrong |= found < 0;
        lost |= found < (long)whole;
        append_to(w, FEW, 5);
        append_to(w, FEW + 1, 6);
        client_open(dir, pack, image, IMAGE_BYTES);
        new_lost |= find(FEW, &n) != RIGHT || find(FEW + 1, &n) != RIGHT;
        client_close();
    }
    pack_writer_close(w);
    expect(!wrong, "no torn file makes a wrong object", 0);
    expect(!lost, "what is whole in a torn file is found", 0);
    expect(!new_lost, "what is written behind a torn record is found", 0);
}

/* Bytes of any kind, and records in a row that are none. */
static void test_rubbish(void) {
    static u8 data[1 << 14];
    srandom(1);
    bool wrong = false;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof(data); i++)
            data[i] = (u8)random();
        for (size_t i = 0; i + sizeof(PackRecord) <= sizeof(data); i += 64 + (size_t)random() % 8 * 16) {
            PackRecord r = {
                .magic = PACK_MAGIC, .size = (u32)random() % 1024 / 16 * 16, .off = offset_of((size_t)random() % FEW)};
            r.range_count = (u32)random() % 4;
            r.object_size = random() % 8 ? r.size - (u32)(64 + r.range_count * sizeof(PackRange)) : (u32)random();
            memcpy(data + i, &r, sizeof(r));
            PackEnd end = {.head_hash = pack_hash(PACK_HASH_START, &r, sizeof(r)), .checksum = (u64)random()};
            if (r.size >= sizeof(end) && i + r.size <= sizeof(data))
                memcpy(data + i + r.size - sizeof(end), &end, sizeof(end));
        }
        write_pack(data, sizeof(data));
        wrong |= count_found(FEW) != 0;
    }
    expect(!wrong, "nothing is found in rubbish", 0);
}

static void append_all(size_t first, size_t step) {
    PackWriter *w = pack_writer_open(dir);
    for (size_t i = first; i < FUNCTIONS; i += step)
        append_to(w, i, (u32)i);
    pack_writer_close(w);
}

static void test_writers(void) {
    enum { WRITERS = 4 };
    int status, bad = 0;
    clear();
    for (size_t i = 0; i < WRITERS; i++)
        if (!fork()) {
            append_all(i, WRITERS);
            _exit(0);
        }
    for (size_t i = 0; i < WRITERS; i++)
        bad += wait(&status) < 0 || status;
    expect(!bad && count_found(FUNCTIONS) == FUNCTIONS, "several writers", count_found(FUNCTIONS));
}

/* Large records, so that some writes are cut short. */
static void append_forever(void) {
    static u8 object[8 << 20];
    PackWriter *w = pack_writer_open(dir);
    for (u32 n = 0;; n++) {
        append_to(w, n % FEW, n);
        append_made(w, FEW + 1, object, sizeof(object), n, false);
    }
}

static void test_killed(void) {
    u32 n;
    for (int round = 0; round < 10; round++) {
        clear();
        pid_t child = fork();
        if (!child)
            append_forever();
        while (access(path_of(pack), F_OK))
            sched_yield();
        nanosleep(&(struct timespec){.tv_nsec = round * 1300000},
                  NULL); /* the kill comes at another moment in each round */
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        expect(count_found(FEW) >= 0, "nothing wrong after a kill", round);
        append(2, 1234567);
        client_open(dir, pack, image, IMAGE_BYTES);
        expect(find(2, &n) == RIGHT && n == 1234567, "goes on after a kill", round);
        client_close();
    }
    clear();
}

/* A limit on the file's size stands for a full disk. */
static void test_full(void) {
    write_few();
    if (!fork()) {
        struct stat st;
        stat(path_of(pack), &st);
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){(rlim_t)st.st_size + 100, (rlim_t)st.st_size + 100});
        PackWriter *w = pack_writer_open(dir);
        append_to(w, FEW, 1);
        append_to(w, FEW + 1, 1);
        pack_writer_close(w);
        _exit(0);
    }
    int status;
    wait(&status);
    expect(status == 0, "a full disk is no failure", status);
    expect(count_found(FEW + 2) == FEW, "a full disk spoils nothing", count_found(FEW + 2));
    append(FEW, 1);
    expect(count_found(FEW + 2) == FEW + 1, "goes on when there is room", count_found(FEW + 2));
}

static void make_pack(u64 number, size_t bytes, i64 age_s) {
    const char *path = path_of((Key){{number, 0}});
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    struct timespec then[2] = {{.tv_sec = time(NULL) - age_s}, {.tv_sec = time(NULL) - age_s}};
    expect(fd >= 0 && posix_fallocate(fd, 0, (off_t)bytes) == 0 && futimens(fd, then) == 0, "make a pack", errno);
    close(fd);
}

static bool there(u64 number) {
    return access(path_of((Key){{number, 0}}), F_OK) == 0;
}

static void test_limit(void) {
    char note[128];
    snprintf(note, sizeof(note), "%s/note.txt", dir);
    FILE *f = fopen(note, "w");
    fclose(f);
    write_few();
    for (u64 i = 1; i <= 6; i++)
        make_pack(i, 400 << 10, (i64)i * 1000);
    setenv("LATHE_CACHE_SIZE", "3", 1);
    append(0, 0);
    expect(there(6), "nothing is removed within the limit", 0);
    setenv("LATHE_CACHE_SIZE", "1", 1);
    append(0, 0);
    expect(there(1) && !there(2) && !there(6), "the oldest are removed", 0);
    expect(count_found(FEW) == FEW, "the newest stays", count_found(FEW));
    expect(access(note, F_OK) == 0, "other files stay", 0);
    setenv("LATHE_CACHE_SIZE", "0", 1);
    expect(!pack_writer_open(dir), "no room, no writer", 0);
    setenv("LATHE_CACHE_SIZE", "a lot", 1);
    append(0, 0);
    expect(there(1), "nonsense is no limit", 0);
    unsetenv("LATHE_CACHE_SIZE");
    unlink(note);
    unlink(path_of((Key){{1, 0}}));
}

static void test_directories(void) {
    char deep[128], file[128];
    struct stat st;
    snprintf(deep, sizeof(deep), "%s/a/b", dir);
    snprintf(file, sizeof(file), "%s/file", dir);
    PackWriter *w = pack_writer_open(deep);
    expect(w && stat(deep, &st) == 0 && (st.st_mode & 0777) == 0700, "made, for the user only", 0);
    pack_writer_close(w);
    if (geteuid() == 0) {
        expect(chown(deep, 1, 1) == 0, "chown", errno);
        expect(!pack_writer_open(deep), "someone else's directory", 0);
    }
    rmdir(deep);
    *strrchr(deep, '/') = 0;
    rmdir(deep);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    expect(!pack_writer_open(file), "a file", 0);
    strcat(file, "/sub");
    expect(!pack_writer_open(file), "below a file", 0);
    *strrchr(file, '/') = 0;
    unlink(file);
    pack_append(NULL, &(PackFunction){0}, NULL, 0, 0, "", 1, 0);
    pack_writer_close(NULL);
}

static int make_sample(const char *where) {
    snprintf(dir, sizeof(dir), "%s", where);
    for (size_t i = 0; i < FEW; i++)
        append(i, (u32)i);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1)
        return make_sample(argv[1]);
    snprintf(dir, sizeof(dir), "/tmp/lathe-cache-XXXXXX");
    if (!mkdtemp(dir))
        return 1;
    for (size_t i = 0; i < IMAGE_BYTES; i++)
        image[i] = (u8)(i * i >> 3 ^ i);
    test_hash();
    test_names();
    test_keys();
    test_round_trip();
    test_guest();
    test_foreign();
    test_flipped();
    test_torn();
    test_rubbish();
    test_writers();
    test_killed();
    test_full();
    test_limit();
    test_directories();
    clear();
    expect(rmdir(dir) == 0, "nothing else is left behind", errno);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
