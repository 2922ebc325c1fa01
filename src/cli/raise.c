/* raise.c: `lathe raise`: a program translated as a whole, into a native program. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/contain.h"
#include "cli/options.h"
#include "cli/raise_libraries.h"
#include "cli/start/programs.h"
#include "cli/start/status_line.h"
#include "cli/start/tool_files.h"
#include "codegen/inline.h"
#include "codegen/pipeline.h"
#include "raise/foreign/foreign.h"
#include "raise/raise.h"

enum { EMIT_EXE, EMIT_LLVM, EMIT_ASM, EMIT_OBJ };
enum { FOR_SIZE = LATHE_OPT_MAX + 1 }; /* of `opt` */
enum { REPORT_TEXT, REPORT_JSON, REPORT_NONE };
enum { FALLBACK_YES, FALLBACK_NO };

typedef struct RaiseSettings {
    const char *file; /* the operand */
    const char *output, *cpu, *target, *sysroot;
    int emit, opt, report, fallback;
    bool strict_fp, plain_calls, contained, ahead;
    OptionList with, tools;
} RaiseSettings;

#define AT(field) offsetof(RaiseSettings, field)

// clang-format off
static const Option table[] = {
    {"o",      "FILE",             "write to FILE (a.out)",                              OPTION_TEXT,   AT(output)},
    {"emit",   "exe|llvm|asm|obj", "the program, or the IR, assembly or object of its code", OPTION_CHOICE, AT(emit)},
    {"O",      "0|1|2|3|s",        "how far to optimise (2), s: for size",               OPTION_CHOICE, AT(opt)},
    {"target", "MACHINE",          "for this kind of machine (this one)",                OPTION_TEXT,   AT(target)},
    {"cpu",    "NAME",             "for this CPU or later ones, as LLVM calls it; native: this one",       OPTION_TEXT,   AT(cpu)},
    {"strict-fp", NULL,            "floating point with the NaNs, rounding and flags of the program's machine", OPTION_FLAG, AT(strict_fp)},
    {"plain-calls", NULL,          "functions of other objects take and return no structs, and have no variable arguments", OPTION_FLAG, AT(plain_calls)},
    {"report", "text|json",        "say what was found, and what is left to run time",   OPTION_MAYBE,  AT(report)},
    {"fallback", "yes|no",         "what cannot be raised stays as it is (yes), or stops the program", OPTION_MAYBE, AT(fallback)},
    {"L",      "DIR",              "look for the program's libraries below DIR first",   OPTION_TEXT,   AT(sysroot)},
    {"tool",   "NAME|FILE.c[,KEY=VALUE]...", "have it watched by this tool whenever it runs; may be given several times", OPTION_LIST, AT(tools)},
    {NULL, NULL, "The program as it is, with the translator:", OPTION_HEADING, 0},
    {"contained", NULL,            "a file that runs it translated, with its libraries, where Lathe is not", OPTION_FLAG, AT(contained)},
    {"with",   "FILE",             "also with this library that it opens, or program that it starts", OPTION_LIST, AT(with)},
    {"ahead",  NULL,               "compile all functions first, as lathe compile does", OPTION_FLAG,   AT(ahead)},
    {0},
};
// clang-format on

static const OptionSet options = {
    .command = "lathe raise",
    .usage = "[OPTION]... PROG -o FILE",
    .about =
        "Translates a whole program, a shared library or an object file into a native one that needs no translator.",
    .table = table,
};

typedef struct Output {
    u8 *bytes;
    size_t size;
} Output;

static bool fail(const RaiseSettings *s, const char *why) {
    status_line_end();
    fprintf(stderr, "lathe: %s: cannot be raised: %s\n", s->file, why);
    return false;
}

/* Why the program cannot be raised, in which an address may be of one of its libraries. */
static bool fail_raise(const RaiseSettings *s, const Raise *r) {
    char *rest;
    u64 address = strtoull(r->problem, &rest, 16), own;
    const char *library = strncmp(r->problem, "0x", 2) ? NULL : raise_library_at(r, address, &own);
    if (!library)
        return fail(s, r->problem);
    status_line_end();
    fprintf(stderr, "lathe: %s: cannot be raised: %s, 0x%lx%s\n", s->file, library, own, rest);
    return false;
}

static bool write_file(const char *path, const Output *out, bool executable) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, executable ? 0777 : 0666);
    size_t done = 0;
    ssize_t n = fd < 0 ? -1 : 0;
    while (n >= 0 && done < out->size && (n = write(fd, out->bytes + done, out->size - done)) > 0)
        done += (size_t)n;
    bool ok = n >= 0 && close(fd) == 0;
    if (!ok)
        fprintf(stderr, "lathe: %s: %s\n", path, strerror(errno));
    return ok;
}

/* An object that belongs to lathe, for the host. */
static bool find_object(const char *name, char *path, size_t size) {
    char multiarch[64];
    snprintf(multiarch, sizeof(multiarch), "/../../lib/%s-linux-gnu/lathe", host_own()->name);
    const char *const places[] = {"/src/host", "/src/raise", "/../lib/lathe", "/../../lib/lathe", multiarch};
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (programs_beside(places[i], name, path, size))
            return true;
    return false;
}

static bool find_helpers(const Host *host, char *path, size_t size) {
    char name[64];
    snprintf(name, sizeof(name), "lathe-helpers-%s.o", host->name);
    return find_object(name, path, size);
}

/* A whole file; an empty object if it cannot be read. */
static RaiseObject read_object(const char *path) {
    FILE *file = fopen(path, "re");
    RaiseObject object = {0};
    struct stat st;
    if (file && fstat(fileno(file), &st) == 0) {
        u8 *bytes = mem_new((size_t)st.st_size + 1);
        object = (RaiseObject){bytes, fread(bytes, 1, (size_t)st.st_size, file)};
    }
    if (file)
        fclose(file);
    return object;
}

/* The functions that lifted code calls. An empty object if they are not found, which matters only if one is needed. */
static RaiseObject read_helpers(const Host *host) {
    char path[PATH_MAX];
    return find_helpers(host, path, sizeof(path)) ? read_object(path) : (RaiseObject){0};
}

/* -------------------------------------------------------------------------------------------------------------- tools */

/* What a program has for tools that watch it. */
typedef struct Tools {
    RaiseObject package, runtime;
    char options[TOOL_OPTIONS_SIZE];
} Tools;

static void tools_free(Tools *t) {
    mem_free((void *)t->package.bytes);
    mem_free((void *)t->runtime.bytes);
}

/* False after a message. */
static bool tools_find(const RaiseSettings *s, const Host *host, Tools *t) {
    char cache[PATH_MAX], path[PATH_MAX], name[64];
    if (!programs_cache_dir(NULL, cache, sizeof(cache)) ||
        !tool_packages(s->tools.at, (u32)s->tools.len, cache, path, sizeof(path), t->options))
        return false;
    t->package = read_object(path);
    snprintf(name, sizeof(name), "lathe-raise-tool-%s.o", host->name);
    if (find_object(name, path, sizeof(path)))
        t->runtime = read_object(path);
    bool found = t->package.size && (t->runtime.size || host != host_own());
    return found || fail(s, "what tools need in raised programs is not where lathe is installed");
}

static bool tools_use(const RaiseSettings *s, Raise *r, const Tools *t) {
    return !s->tools.len || raise_use_tool(r, &(ToolUse){.package = t->package.bytes,
                                                         .size = t->package.size,
                                                         .options = t->options,
                                                         .file = s->file,
                                                         .runtime = t->runtime});
}

static bool emit_ir(Raise *r, Output *out) {
    char *text = LLVMPrintModuleToString(r->mod);
    out->size = strlen(text);
    out->bytes = memcpy(mem_new(out->size + 1), text, out->size);
    LLVMDisposeMessage(text);
    return true;
}

static const char *output_of(const RaiseSettings *s) {
    return s->output ? s->output : "a.out";
}

/* Does the code call functions that lifted code calls? */
static bool needs_helpers(const Raise *r) {
    size_t len;
    u64 pc;
    for (LLVMValueRef f = LLVMGetFirstFunction(r->mod); f; f = LLVMGetNextFunction(f)) {
        const char *name = LLVMGetValueName2(f, &len);
        bool is_entry = sscanf(name, RAISE_ENTRY, &pc) == 1;
        if (LLVMIsDeclaration(f) && LLVMGetFirstUse(f) && !is_entry && !strncmp(name, "lathe_", strlen("lathe_")) &&
            strncmp(name, RAISE_PREFIX, strlen(RAISE_PREFIX)))
            return true;
    }
    return false;
}

/* For the own machine the runtime is part of the module. */
static bool link_object(const RaiseSettings *s, Raise *r, const ObjectLayout *layout, RaiseObject object) {
    char helpers[PATH_MAX];
    bool needed = needs_helpers(r);
    if (needed && !find_helpers(r->host, helpers, sizeof(helpers)))
        return fail(s, "its helper functions are not where lathe is installed");
    const char *const files[] = {needed ? helpers : NULL, NULL};
    return object_link(r, layout, object, files, output_of(s)) || fail_raise(s, r);
}

/* Links what is for another machine; the linker writes the file. */
static bool link_foreign(const RaiseSettings *s, Raise *r, const ObjectLayout *layout, RaiseObject object) {
    char helpers[PATH_MAX], runtime[PATH_MAX], streams[PATH_MAX], name[64];
    snprintf(name, sizeof(name), "lathe-raise-%s-%s.o", isa_name(r->isa->arch), r->host->name);
    if (!find_helpers(r->host, helpers, sizeof(helpers)) || !find_object(name, runtime, sizeof(runtime)))
        return fail(s, "lathe was built without a C compiler for that machine");
    snprintf(name, sizeof(name), "lathe-raise-files-%s-%s.o", isa_name(r->isa->arch), r->host->name);
    if (r->own_files && !find_object(name, streams, sizeof(streams)))
        return fail(s, "it has file streams of C++, and lathe was built without a C++ compiler for that machine");
    const char *const files[] = {runtime, helpers, r->own_files ? streams : NULL, NULL};
    bool ok =
        layout ? object_link(r, layout, object, files, output_of(s)) : foreign_link(r, object, files, output_of(s));
    return ok || fail_raise(s, r);
}

/* Unrolled loops are worth it where code is made once for many runs. */
static LatheOpt level_of(const RaiseSettings *s) {
    if (s->opt == LATHE_OPT_FULL)
        return (LatheOpt)OPT_COPIES;
    return s->opt == FOR_SIZE ? (LatheOpt)OPT_SIZE : (LatheOpt)s->opt;
}

/* IR, assembly or one object. */
static bool emit_whole(const RaiseSettings *s, Raise *r, const LatheJitConfig *cfg, Output *out) {
    LatheJit *jit = lathe_jit_new(cfg);
    void *bytes = NULL;
    LatheStatus status = lathe_jit_optimize(jit, r->mod, level_of(s));
    if (status == LATHE_OK && s->emit == EMIT_LLVM)
        emit_ir(r, out);
    else if (status == LATHE_OK)
        status = lathe_jit_emit(jit, r->mod, LATHE_OPT_NONE, s->emit == EMIT_ASM, &bytes, &out->size);
    if (bytes)
        out->bytes = bytes;
    lathe_jit_free(jit);
    return status == LATHE_OK || fail(s, lathe_status_text(status));
}

static bool emit_linked(const RaiseSettings *s, Raise *r, const ObjectLayout *layout, const LatheJitConfig *cfg,
                        Output *out) {
    if (!emit_whole(s, r, cfg, out))
        return false;
    RaiseObject object = {out->bytes, out->size};
    return r->foreign ? link_foreign(s, r, layout, object) : link_object(s, r, layout, object);
}

/* The program of the module's objects, and of the tools'. */
static bool link_program(Raise *r, const Tools *tools, const RaiseObject *objects, size_t count, Output *out) {
    RaiseObject helpers = read_helpers(r->host), *all = mem_new((count + 2) * sizeof(*all));
    size_t used = count;
    memcpy(all, objects, count * sizeof(*all));
    if (r->tool) {
        all[used++] = raise_tool_object(r);
        all[used++] = tools->runtime;
    }
    bool ok = raise_program(r, all, used, helpers, &out->bytes, &out->size);
    mem_free(all);
    mem_free((void *)helpers.bytes);
    return ok;
}

static bool emit_program(const RaiseSettings *s, Raise *r, const Tools *tools, const LatheJitConfig *cfg, Output *out) {
    RaiseObject *objects;
    size_t count;
    LatheStatus status = raise_compile(r, cfg, level_of(s), &objects, &count);
    bool ok = status >= 0 && link_program(r, tools, objects, count, out);
    for (size_t i = 0; i < count; i++)
        mem_free((void *)objects[i].bytes);
    return ok || (status < 0 ? fail(s, lathe_status_text(status)) : fail_raise(s, r));
}

static bool emit(const RaiseSettings *s, Raise *r, const ObjectLayout *layout, const Tools *tools,
                 const LatheJitConfig *cfg, Output *out) {
    if (s->emit != EMIT_EXE)
        return emit_whole(s, r, cfg, out);
    return r->foreign || r->is_object ? emit_linked(s, r, layout, cfg, out) : emit_program(s, r, tools, cfg, out);
}

static void print_report(const RaiseSettings *s, const Raise *r) {
    if (s->report == REPORT_TEXT)
        raise_report_text(r, stdout);
    if (s->report == REPORT_JSON)
        raise_report_json(r, s->file, stdout);
}

/* The functions of the program as functions of values, and what lies between them and native code. `object`: NULL if it is none. */
static bool make_functions(const RaiseSettings *s, Raise *r, const ObjectLayout *object) {
    Foreign foreign = {.r = r};
    if (!raise_discover(r) || !raise_tool_surround(r))
        return false;
    bool ok = !r->foreign || foreign_begin(&foreign, r);
    if (ok) {
        raise_effects(r);
        raise_promote(r);
        raise_tool_count(r);
        if (s->opt != LATHE_OPT_NONE || (object && r->foreign)) /* whether others can call it depends on it */
            raise_frames(r);
        if (!r->foreign)
            raise_add_native(r);
        if (s->opt == FOR_SIZE)
            raise_for_size(r);
    }
    ok = ok && (!r->foreign || foreign_finish(&foreign)) && (!object || object_finish(&foreign, object));
    foreign_end(&foreign);
    if (ok)
        inline_marked(r->mod); /* some functions only work where they are called, and are put there at any level */
    return ok;
}

/* Without a name it is what every machine of the kind has; `native` is this one. */
static LatheJitConfig processor_of(const RaiseSettings *s, const Raise *r) {
    const char *features = r->foreign ? r->host->foreign->features : r->host->raise->features;
    if (s->cpu && !strcmp(s->cpu, "native") && r->host == host_own())
        return (LatheJitConfig){.host = LATHE_HOST_OWN};
    return (LatheJitConfig){.host = r->host->id, .cpu = s->cpu, .features = features};
}

static bool raise_with(const RaiseSettings *s, Raise *r, const ObjectLayout *object, const Tools *tools, Output *out) {
    LatheJitConfig cfg = processor_of(s, r);
    if (!tools_use(s, r, tools) || !make_functions(s, r, object))
        return fail_raise(s, r);
    status_line_end();
    LatheJit *jit = lathe_jit_new(&cfg);
    if (!jit)
        return fail(s, "LLVM does not know this CPU");
    lathe_jit_free(jit);
    return emit(s, r, object, tools, &cfg, out);
}

/* The host that --target names; this machine without a name. NULL after a message: there is none. */
static const Host *find_host(const RaiseSettings *s) {
    LatheHost id = LATHE_HOST_OWN;
    const char *name;
    while (s->target && (name = lathe_host_name(++id)))
        if (!strcmp(name, s->target))
            return host_find(id);
    if (!s->target)
        return host_own();
    fprintf(stderr, "lathe: there is no target %s; there are:", s->target);
    for (id = LATHE_HOST_OWN; (name = lathe_host_name(++id));)
        fprintf(stderr, " %s", name);
    fprintf(stderr, "\n");
    return NULL;
}

/* `object`: the object file that the program was made of, or what a library for another machine offers; NULL: it is a program, or a library for its own machine. */
static bool raise_file(const RaiseSettings *s, const Host *host, const char *path, const ObjectLayout *object) {
    ElfError error;
    ElfFile *elf = elf_open(path, &error);
    Output out = {0};
    Tools tools = {0};
    ElfParts parts = {0};
    Raise r;
    if (!elf) {
        fprintf(stderr, "lathe: %s: %s\n", s->file, error.text);
        return false;
    }
    bool foreign = raise_is_foreign(elf, host);
    bool is_object = object && !object->is_library;
    if (s->sysroot && (is_object || !foreign)) {
        elf_close(elf);
        return fail(s, "its libraries stay what they are, so -L has no meaning");
    }
    if (!is_object && foreign)
        elf = raise_join_libraries(elf, path, s->sysroot, &parts, &error);
    if (!elf) {
        raise_free_parts(&parts);
        return fail(s, error.text);
    }
    bool ok = raise_begin(&r, elf, host, is_object) || fail(s, r.problem);
    r.parts = parts.len ? &parts : NULL;
    if (object)
        object_begin(&r, object);
    r.strict_fp = s->strict_fp;
    r.plain_calls = s->plain_calls;
    r.fallback = !r.foreign && !object && s->fallback == FALLBACK_YES;
    char *processor = LLVMGetHostCPUName();
    if (!s->cpu && r.host == host_own()) /* it runs on every machine of the kind, and best on one like this */
        r.tuned_for = processor;
    r.progress = status_line_show;
    ok = ok && (!s->tools.len || tools_find(s, r.host, &tools)) && raise_with(s, &r, object, &tools, &out);
    bool is_linked = s->emit == EMIT_EXE && (r.foreign || object);
    ok = ok && (is_linked || write_file(output_of(s), &out, s->emit == EMIT_EXE));
    status_line_end();
    if (ok)
        print_report(s, &r);
    mem_free(out.bytes);
    raise_end(&r);
    raise_free_parts(&parts);
    tools_free(&tools);
    LLVMDisposeMessage(processor);
    return ok;
}

static bool is_foreign_library(const RaiseSettings *s, const Host *host) {
    ElfError error;
    ElfFile *elf = elf_open(s->file, &error);
    bool is = elf && raise_is_foreign(elf, host) && raise_is_library(elf);
    if (elf)
        elf_close(elf);
    return is;
}

static bool run(const RaiseSettings *s) {
    const Host *host = find_host(s);
    bool is_object = host && elf_is_object(s->file);
    if (!host || (!is_object && !is_foreign_library(s, host)))
        return host && raise_file(s, host, s->file, NULL);
    ObjectLayout object;
    bool ok = (is_object ? object_lay_out : object_of_library)(&object, s->file)
                  ? raise_file(s, host, object.image, &object)
                  : fail(s, object.problem);
    object_end(&object);
    return ok;
}

static bool run_contained(const RaiseSettings *s) {
    static const ContainReport reports[] = {
        [REPORT_TEXT] = CONTAIN_REPORT_TEXT, [REPORT_JSON] = CONTAIN_REPORT_JSON, [REPORT_NONE] = CONTAIN_REPORT_NONE};
    return contain(&(ContainSettings){.file = s->file,
                                      .output = output_of(s),
                                      .sysroot = s->sysroot,
                                      .with = &s->with,
                                      .ahead = s->ahead,
                                      .strict_fp = s->strict_fp,
                                      .report = reports[s->report]});
}

/* Returns the exit status for options that do not go together, or 0. */
static int misuse(const RaiseSettings *s) {
    bool elsewhere = s->target && strcmp(s->target, host_own()->name);
    if (s->contained && (s->emit != EMIT_EXE || s->cpu))
        return options_misuse(&options, "--contained: not together with --emit or --cpu");
    if (s->contained && elsewhere)
        return options_misuse(&options, "--contained: only for this machine, where the translator runs");
    if (!s->contained && (s->with.len || s->ahead))
        return options_misuse(&options, "--with and --ahead are for --contained");
    if (s->tools.len && (s->contained || s->emit != EMIT_EXE))
        return options_misuse(&options, "--tool: not together with --contained or --emit");
    return 0;
}

int command_raise(int argc, char **argv) {
    RaiseSettings s = {.opt = LATHE_OPT_FULL, .report = REPORT_NONE};
    ParseResult parsed = options_parse(&options, &argc, argv, &s);
    if (parsed != PARSE_OK)
        return parsed == PARSE_HELP ? 0 : 2;
    if (argc != 1)
        return options_misuse(&options, "which program? Give one");
    s.file = argv[1];
    int status = misuse(&s);
    if (status)
        return status;
    bool ok = s.contained ? run_contained(&s) : run(&s);
    VEC_FREE(&s.with);
    VEC_FREE(&s.tools);
    return ok ? 0 : 1;
}
