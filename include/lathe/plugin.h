/* lathe/plugin.h: plugins: shared objects that change lifted code.
 *
 * A program that runs by `lathe run --plugin=FILE.so` is lifted to LLVM-IR, function by function, in a process beside it, the server. There the plugin gets each function
 * before LLVM optimises it, and may do with it whatever LLVM's C API can do: look at it, insert, change and remove instructions, run passes. What comes out is optimised,
 * compiled and run in the function's place.
 *
 * A plugin has no access to the program's memory: it is in another process, and done with a function before that runs. What happens at run time is written as a tool, a C
 * file (lathe/tool.h) that is given together with the plugin; code that the plugin inserts calls its functions. A complete plugin, which has a function of the tool called
 * at the head of each block:
 *
 *     #include <lathe/plugin.h>
 *     #include <llvm-c/Core.h>
 *
 *     static const char *init(LathePluginStart *start) {
 *         start->marks = LATHE_MARK_BLOCK;
 *         return NULL;
 *     }
 *
 *     static const char *instrument(const LathePluginFunction *f) {
 *         LLVMValueRef block = f->find(f, "block");
 *         if (!block)
 *             return "it belongs to --tool=blocks.c";
 *         LLVMReplaceAllUsesWith(f->mark_block, block);           // a function of the marker's type: void(uint64_t pc, uint32_t instructions)
 *         return NULL;
 *     }
 *
 *     const LathePlugin lathe_plugin = {LATHE_PLUGIN_HEAD, .init = init, .instrument = instrument};
 *
 * and the tool, blocks.c:
 *
 *     #include <lathe/tool.h>
 *     static LatheCounter blocks;
 *     void block(uint64_t pc, uint32_t instructions) { lathe_count(&blocks, 1); }
 *     static void end(void) { lathe_print("%lu blocks\n", lathe_total(&blocks)); }
 *     LATHE_HOOKS(LATHE_ON(LATHE_END, end));
 *
 *     cc -shared -fPIC $(llvm-config-19 --cflags) blocks-plugin.c -o blocks.so
 *     lathe run --tool=blocks.c --plugin=./blocks.so -- PROGRAM
 *
 * The names of LLVM's functions are found in the server, which has them; a plugin is not linked with LLVM.
 *
 * Processes and threads: each process of the program has a server, or several (one for each thread that waits for code), and each of them loads the plugin and calls init. In a server, one
 * thread calls the plugin's functions, one at a time, so global variables are no problem. Standard output and error lead nowhere; `say` prints.
 *
 * Errors: whatever goes wrong in a plugin (it cannot be loaded, returns a sentence, crashes, does not end, makes code that LLVM refuses) ends the program, with a message and
 * status 127. It never runs on with other code than the plugin has made. docs/plugins.md says the rest.
 */
#ifndef LATHE_PLUGIN_H
#define LATHE_PLUGIN_H

#include <llvm-c/Types.h>
#include <llvm/Config/llvm-config.h>

#include "lathe/types.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LATHE_PLUGIN_VERSION = 1 };

/* Markers that a plugin may ask for: calls in lifted code which say where the program's instructions are. A call that the plugin leaves alone is removed afterwards. `pc` is a constant,
 * but not always a number: that of a file which may lie anywhere is an expression, which `address` computes. */
enum {
    LATHE_MARK_INSN = 1,  /* void(i64 pc, i32 size), before each instruction */
    LATHE_MARK_BLOCK = 2, /* void(i64 pc, i32 instructions), at the head of each block */
    /* void(i64 pc, ptr address, i32 size, i32 kind), before each access; kind 1 load, 2 store, 3 both */
    LATHE_MARK_MEMORY = 4
};

/* What init is told, and what it answers. */
typedef struct LathePluginStart {
    const char *options; /* what stands behind the first comma of --plugin=FILE.so,…; empty: nothing */
    LatheArch arch;      /* what the program is compiled for */
    /* Prints a line to the program's standard error. Not in finish: then nobody is there to print it. */
    void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    /* The answer: */
    uint32_t marks; /* LATHE_MARK_*, added up; 0: none */
} LathePluginStart;

/* A lifted function. All of it, and everything of LLVM's in it, is valid until instrument returns. */
typedef struct LathePluginFunction {
    LLVMModuleRef module;
    LLVMValueRef function; /* its name, type and calling convention have to stay */
    LLVMValueRef cpu;      /* the program's state (lathe/types.h), as far as registers are not values in the function */
    uint64_t pc;           /* where the program's code begins that it was lifted from */
    uint64_t base;         /* where the file with that code begins; 0: it is in no file */
    LLVMValueRef mark_insn, mark_block, mark_memory; /* the markers, as far as init has asked for them; else NULL */
    /* A function or variable of the tool that was given together with the plugin, by its name in C; NULL: there is none of that name. Functions of at most 40 LLVM instructions are inlined
     * where they are called. */
    LLVMValueRef (*find)(const struct LathePluginFunction *f, const char *name);
    /* The address that a marker's pc stands for, in this run; 0: the value is no such address. */
    uint64_t (*address)(const struct LathePluginFunction *f, LLVMValueRef pc);
} LathePluginFunction;

/* What a plugin is: it defines a constant of this type, lathe_plugin. Functions that are NULL are not called. */
typedef struct LathePlugin {
    uint32_t version; /* LATHE_PLUGIN_VERSION, */
    uint32_t llvm;    /* and LLVM's: both by LATHE_PLUGIN_HEAD */
    /* Called once, before anything else. Returns NULL, or a sentence that says what is wrong. */
    const char *(*init)(LathePluginStart *start);
    /* Called for each function that is lifted, and more than once for some: the first attempt to make code may fail for other reasons. What it does may depend on the code, on
     * its distance from `base`, and on the options only: the result is cached. Returns NULL, or a sentence that says what is wrong. */
    const char *(*instrument)(const LathePluginFunction *f);
    /* Called when the program has ended, as far as its server lives until then. */
    void (*finish)(void);
} LathePlugin;

#define LATHE_PLUGIN_HEAD .version = LATHE_PLUGIN_VERSION, .llvm = LLVM_VERSION_MAJOR

LATHE_API extern const LathePlugin lathe_plugin;

#ifdef __cplusplus
}
#endif
#endif
