/* contain.c: see contain.h. run/protocol/contained.h has the format of the file. */
#include "cli/contain.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cache/cpu.h"
#include "cli/commands.h"
#include "cli/start/code_config.h"
#include "cli/start/identity.h"
#include "cli/start/programs.h"
#include "run/ahead/ahead.h"
#include "run/protocol/contained.h"

enum { TIER_AUTO, TIER_QUICK }; /* as the client has them */
enum { PATH_SIZE = 256 };

typedef struct Bytes {
    const u8 *at;
    size_t size;
} Bytes;

/* The file to be written. */
typedef struct Contents {
    const ContainSettings *s;
    AheadPlan plan;
    AheadFiles sources;
    char build[IDENTITY_SIZE], client[PATH_SIZE], server[PATH_SIZE], cache[PATH_SIZE], sysroot[PATH_SIZE];
    VEC(ContainedFile) files;
    VEC(ContainedPack) packs;
    VEC(char) texts;
    VEC(Bytes) parts; /* the contents of files, then of packs, and then the image */
    u64 window;       /* that the image needs */
    bool has_image;
    VEC(u64) functions; /* of each file */
} Contents;

static bool fail(const char *path, const char *why) {
    fprintf(stderr, "lathe: %s: %s\n", path, why);
    return false;
}

/* Returns no bytes if the file cannot be read. */
static Bytes read_file(const char *path) {
    FILE *file = fopen(path, "re");
    struct stat st;
    Bytes b = {0};
    if (file && fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        u8 *bytes = mem_new((size_t)st.st_size);
        b = (Bytes){bytes, fread(bytes, 1, (size_t)st.st_size, file)};
    }
    if (file)
        fclose(file);
    return b;
}

static u64 add_text(Contents *c, const char *text) {
    u64 at = c->texts.len;
    do
        VEC_PUSH(&c->texts, *text);
    while (*text++);
    return at;
}

/* --------------------------------------------------------------------------------------------------------- what belongs in it */

/* Each kind of guest has a client. Returns NULL after a message. */
static const Kind *find_client(Contents *c, const char *program) {
    const Kind *kind = kind_of_file(program);
    char name[64] = "lathe-client";
    if (access(program, R_OK))
        return fail(program, strerror(errno)), NULL;
    if (!kind)
        return fail(program, "cannot be contained: not a program that lathe run could run, or a script"), NULL;
    if (kind != kind_of_host())
        snprintf(name, sizeof(name), "lathe-client-%s", kind->folder);
    return programs_find(name, c->client, sizeof(c->client)) ? kind : NULL;
}

/* By the same command that users have for it, into the same cache. */
static bool compile_ahead(const Contents *c) {
    VEC(char *) words = {0};
    char directory[PATH_SIZE + sizeof("-L")];
    snprintf(directory, sizeof(directory), "-L%s", c->sysroot);
    VEC_PUSH(&words, "compile");
    VEC_PUSH(&words, "--tier=auto");
    if (c->s->strict_fp)
        VEC_PUSH(&words, "--strict-fp");
    if (!isatty(STDERR_FILENO))
        VEC_PUSH(&words, "--quiet");
    if (*c->sysroot)
        VEC_PUSH(&words, directory);
    VEC_PUSH(&words, (char *)c->s->file);
    for (size_t i = 0; i < c->s->with->len; i++)
        VEC_PUSH(&words, (char *)c->s->with->at[i]);
    int count = (int)words.len;
    VEC_PUSH(&words, NULL);
    int status = command_compile(count, words.at);
    VEC_FREE(&words);
    return status == 0;
}

static bool make_plan(Contents *c) {
    const Kind *kind = find_client(c, c->s->file);
    if (!kind || !programs_find("lathe-server", c->server, sizeof(c->server)) ||
        !programs_cache_dir(getenv("LATHE_CACHE"), c->cache, sizeof(c->cache)))
        return false;
    identity_of(c->server, c->build);
    kind_sysroot(kind, c->sysroot, sizeof(c->sysroot));
    if (c->s->sysroot && !programs_absolute(c->s->sysroot, c->sysroot, sizeof(c->sysroot)))
        return fail(c->s->sysroot, "the path is too long");
    c->plan = (AheadPlan){.kind = kind, .cache_dir = c->cache, .server = c->server, .sysroot = c->sysroot};
    return true;
}

/* glibc opens this library when a thread is cancelled or ends by pthread_exit, and the program cannot do without it then. */
static void add_unwinder(Contents *c) {
    char path[LIBRARY_PATH_MAX];
    for (size_t i = 0; i < c->sources.len; i++) {
        const AheadFile *f = c->sources.at[i];
        const char *name = elf_dynamic_text(f->elf, DT_SONAME, 0);
        if (!name || strcmp(name, "libc.so.6"))
            continue;
        if (library_find(f, c->sysroot, "libgcc_s.so.1", path))
            files_add(&c->sources, &c->plan, path);
        return;
    }
}

static bool find_files(Contents *c) {
    bool ok = files_add(&c->sources, &c->plan, c->s->file);
    for (size_t i = 0; ok && i < c->s->with->len; i++)
        ok = files_add(&c->sources, &c->plan, c->s->with->at[i]);
    if (ok)
        add_unwinder(c);
    return ok;
}

/* The absolute path, without the sysroot and without double slashes. */
static void guest_path(const Contents *c, const char *path, char out[PATH_MAX]) {
    char absolute[PATH_MAX];
    size_t root = strlen(c->sysroot), n = 0;
    if (!programs_absolute(path, absolute, sizeof(absolute)))
        absolute[0] = 0;
    bool inside = root && !strncmp(absolute, c->sysroot, root) && absolute[root] == '/';
    for (const char *from = absolute + (inside ? root : 0); *from; from++)
        if (*from != '/' || from[1] != '/')
            out[n++] = *from;
    out[n] = 0;
}

/* Libraries are known by one name, whatever directories the dynamic linker looks into. */
static void add_file(Contents *c, const AheadFile *f) {
    char path[PATH_MAX];
    struct stat st;
    Bytes part;
    part.at = elf_bytes(f->elf, &part.size);
    const char *name = elf_dynamic_text(f->elf, DT_SONAME, 0);
    guest_path(c, f->path, path);
    VEC_PUSH(&c->files, ((ContainedFile){
                            .size = part.size,
                            .path = add_text(c, path),
                            .name = name || f->by ? add_text(c, name ? name : f->name) : 0,
                            .identity = f->identity,
                            .mode = stat(f->path, &st) ? 0555 : st.st_mode & 0777,
                        }));
    VEC_PUSH(&c->parts, part);
}

/* ----------------------------------------------------------------------------------------------------------------- code */

static u64 count_functions(Bytes pack) {
    u64 count = 0;
    size_t at = 0;
    for (const PackRecord *r; (r = pack_next(pack.at, pack.size, &at));)
        count += r->object_size != 0;
    return count;
}

/* Returns the number of functions. */
static u64 add_pack(Contents *c, Key key) {
    char name[PACK_NAME_SIZE], path[PATH_MAX];
    pack_name(key, name);
    snprintf(path, sizeof(path), "%s/%s", c->cache, name);
    Bytes part = *c->cache ? read_file(path) : (Bytes){0};
    u64 count = part.size ? count_functions(part) : 0;
    if (!count) {
        mem_free((void *)part.at);
        return 0;
    }
    VEC_PUSH(&c->packs, ((ContainedPack){.key = key, .size = part.size}));
    VEC_PUSH(&c->parts, part);
    return count;
}

/* Programs change over to code with polls when they set a handler of a signal, and to exact code when it is one of faults. */
static void add_packs(Contents *c) {
    static const struct { bool polls, exact; } kinds[] = {{false, false}, {true, false}, {true, true}};
    for (size_t i = 0; i < c->sources.len; i++) {
        u64 most = 0;
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            CodeConfig config =
                code_config(c->plan.kind, c->build, LATHE_OPT_FULL, c->s->strict_fp, true, kinds[k].polls);
            config.exact = kinds[k].exact;
            u64 count = add_pack(c, pack_key(&c->sources.at[i]->identity, &config));
            most = count > most ? count : most;
        }
        VEC_PUSH(&c->functions, most);
    }
}

/* What runs of the program have left: all of its code, as it lies in memory. */
static void add_image(Contents *c) {
    char name[PACK_NAME_SIZE], path[PATH_MAX];
    struct stat st;
    PackImage head;
    CodeConfig config = code_config(c->plan.kind, c->build, LATHE_OPT_FULL, c->s->strict_fp, true, false);
    if (!*c->cache || stat(c->client, &st))
        return;
    PackIdentity client = files_identity(&st);
    pack_name(pack_image_key(&c->sources.at[0]->identity, &client, TIER_AUTO, &config), name);
    snprintf(path, sizeof(path), "%s/%s", c->cache, name);
    Bytes part = read_file(path);
    if (part.size >= sizeof(head))
        memcpy(&head, part.at, sizeof(head));
    if (part.size < sizeof(head) || head.magic != PACK_IMAGE_MAGIC || head.version != PACK_IMAGE_VERSION) {
        mem_free((void *)part.at);
        return;
    }
    c->has_image = true;
    c->window = head.window;
    VEC_PUSH(&c->parts, part);
}

/* -------------------------------------------------------------------------------------------------------------- the file */

static u64 page_up(u64 x) {
    return (x + CONTAINED_PAGE - 1) & -(u64)CONTAINED_PAGE;
}

/* The client without its sections, which are for debuggers. Returns its size, or 0 if it makes no sense. */
static u64 cut_client(u8 *bytes, size_t size) {
    Elf64_Ehdr h;
    u64 end = 0;
    if (size < sizeof(h))
        return 0;
    memcpy(&h, bytes, sizeof(h));
    for (u32 i = 0; i < h.e_phnum; i++) {
        Elf64_Phdr p;
        u64 at = h.e_phoff + i * sizeof(p);
        if (at > size || size - at < sizeof(p))
            return 0;
        memcpy(&p, bytes + at, sizeof(p));
        u64 last = p.p_type == PT_LOAD ? p.p_offset + p.p_filesz : 0;
        end = last > end ? last : end;
    }
    h.e_shoff = h.e_shnum = h.e_shstrndx = 0;
    for (u32 i = 0; i < CONTAINED_IDENT_BYTES; i++)
        h.e_ident[CONTAINED_IDENT + i] = (u8)(page_up(end) / CONTAINED_PAGE >> 8 * i);
    memcpy(bytes, &h, sizeof(h));
    return end <= size ? end : 0;
}

static u64 add_options(Contents *c) {
    char text[PATH_SIZE];
    snprintf(text, sizeof(text), "tier=%d,opt=%d,strict=%d,build=%s",
             c->packs.len || c->has_image ? TIER_AUTO : TIER_QUICK, LATHE_OPT_FULL, c->s->strict_fp, c->build);
    return add_text(c, text);
}

/* Where the offset of a part is noted. */
static u64 *place_of(Contents *c, ContainedHead *h, size_t part) {
    size_t pack = part - c->files.len;
    if (part < c->files.len)
        return &c->files.at[part].off;
    return pack < c->packs.len ? &c->packs.at[pack].off : &h->image;
}

/* Decides where everything is; texts are offsets among texts until then. */
static ContainedHead lay_out(Contents *c) {
    ContainedHead h = {
        .magic = CONTAINED_MAGIC,
        .version = CONTAINED_VERSION,
        .file_count = (u32)c->files.len,
        .pack_count = (u32)c->packs.len,
        .files = sizeof(h),
        .cpu = cpu_kind(),
    };
    u64 options = add_options(c);
    h.packs = h.files + c->files.len * sizeof(ContainedFile);
    u64 texts = h.packs + c->packs.len * sizeof(ContainedPack);
    h.options = texts + options;
    h.size = page_up(texts + c->texts.len);
    for (size_t i = 0; i < c->parts.len; i++) {
        *place_of(c, &h, i) = h.size;
        h.size = page_up(h.size + c->parts.at[i].size);
    }
    if (c->has_image) {
        h.image_size = c->parts.at[c->parts.len - 1].size;
        h.window = c->window;
    }
    for (size_t i = 0; i < c->files.len; i++) {
        ContainedFile *f = &c->files.at[i];
        f->path += texts;
        f->name = f->name ? f->name + texts : 0;
    }
    return h;
}

static bool put(FILE *out, u64 at, const void *bytes, size_t size) {
    return fseek(out, (long)at, SEEK_SET) == 0 && (!size || fwrite(bytes, size, 1, out) == 1);
}

static bool is_zero(const u8 *bytes, size_t size) {
    return !*bytes && !memcmp(bytes, bytes + 1, size - 1);
}

/* Pages of zeros are holes, of which images have many. */
static bool put_pages(FILE *out, u64 at, Bytes b) {
    bool ok = true;
    for (size_t off = 0; ok && off < b.size; off += CONTAINED_PAGE) {
        size_t size = b.size - off < CONTAINED_PAGE ? b.size - off : CONTAINED_PAGE;
        ok = is_zero(b.at + off, size) || put(out, at + off, b.at + off, size);
    }
    return ok;
}

static bool write_all(Contents *c, FILE *out, Bytes client, u64 client_size) {
    ContainedHead h = lay_out(c);
    u64 start = page_up(client_size), texts = h.packs + c->packs.len * sizeof(ContainedPack);
    bool ok = put(out, 0, client.at, client_size) && put(out, start, &h, sizeof(h)) &&
              put(out, start + h.files, c->files.at, c->files.len * sizeof(ContainedFile)) &&
              put(out, start + h.packs, c->packs.at, c->packs.len * sizeof(ContainedPack)) &&
              put(out, start + texts, c->texts.at, c->texts.len);
    for (size_t i = 0; ok && i < c->parts.len; i++)
        ok = put_pages(out, start + *place_of(c, &h, i), c->parts.at[i]);
    return ok && fflush(out) == 0 && ftruncate(fileno(out), (off_t)(start + h.size)) == 0;
}

/* Under another name first: the output may be the program itself, or be running. */
static bool write_file(Contents *c, Bytes client, u64 client_size) {
    char temporary[PATH_MAX];
    const char *output = c->s->output;
    mode_t mask = umask(0);
    umask(mask);
    if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", output) >= (int)sizeof(temporary))
        return fail(output, "the path is too long");
    int fd = mkstemp(temporary);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out)
        return fail(output, strerror(errno));
    bool ok = write_all(c, out, client, client_size) && fchmod(fd, 0777 & ~mask) == 0;
    ok = fclose(out) == 0 && ok && rename(temporary, output) == 0;
    if (ok)
        return true;
    int error = errno;
    unlink(temporary);
    return fail(output, strerror(error));
}

static bool write_contents(Contents *c) {
    Bytes client = read_file(c->client);
    u64 size = client.at ? cut_client((u8 *)client.at, client.size) : 0;
    bool ok = size ? write_file(c, client, size) : fail(c->client, "cannot be read, or is damaged");
    mem_free((void *)client.at);
    return ok;
}

/* --------------------------------------------------------------------------------------------------------------- report */

static void report_text(const Contents *c) {
    u64 bytes = 0, functions = 0;
    for (size_t i = 0; i < c->files.len; i++) {
        bytes += c->files.at[i].size;
        functions += c->functions.at[i];
    }
    printf("%zu files contained, %llu bytes; %llu functions compiled ahead of time%s\n", c->files.len,
           (unsigned long long)bytes, (unsigned long long)functions,
           c->has_image ? "; an image of the code of earlier runs" : "");
    for (size_t i = 0; i < c->files.len; i++) {
        char path[PATH_MAX];
        guest_path(c, c->sources.at[i]->path, path);
        printf("  %s  %llu bytes, %llu functions compiled\n", path, (unsigned long long)c->files.at[i].size,
               (unsigned long long)c->functions.at[i]);
    }
}

static void print_quoted(const char *text) {
    putchar('"');
    for (; *text; text++)
        printf((u8)*text < 0x20 ? "\\u%04x" : strchr("\"\\", *text) ? "\\%c" : "%c", *text);
    putchar('"');
}

static void report_json(const Contents *c) {
    printf("{\"file\": ");
    print_quoted(c->s->file);
    printf(", \"machine\": \"%s\", \"image\": %s, \"contained\": [", c->plan.kind->name,
           c->has_image ? "true" : "false");
    for (size_t i = 0; i < c->files.len; i++) {
        char path[PATH_MAX];
        guest_path(c, c->sources.at[i]->path, path);
        printf("%s\n  {\"path\": ", i ? "," : "");
        print_quoted(path);
        printf(", \"bytes\": %llu, \"functions\": %llu}", (unsigned long long)c->files.at[i].size,
               (unsigned long long)c->functions.at[i]);
    }
    printf("]}\n");
}

/* -------------------------------------------------------------------------------------------------------------- the whole */

static void free_contents(Contents *c) {
    for (size_t i = c->files.len; i < c->parts.len; i++)
        mem_free((void *)c->parts.at[i].at);
    VEC_FREE(&c->parts);
    VEC_FREE(&c->files);
    VEC_FREE(&c->packs);
    VEC_FREE(&c->texts);
    VEC_FREE(&c->functions);
    files_free(&c->sources);
}

bool contain(const ContainSettings *s) {
    Contents c = {.s = s};
    VEC_PUSH(&c.texts, 0); /* a text at 0 means that there is none */
    bool ok = make_plan(&c) && find_files(&c) && (!s->ahead || compile_ahead(&c));
    for (size_t i = 0; ok && i < c.sources.len; i++)
        add_file(&c, c.sources.at[i]);
    if (ok)
        add_packs(&c), add_image(&c);
    ok = ok && write_contents(&c);
    if (ok && s->report == CONTAIN_REPORT_TEXT)
        report_text(&c);
    if (ok && s->report == CONTAIN_REPORT_JSON)
        report_json(&c);
    free_contents(&c);
    return ok;
}
