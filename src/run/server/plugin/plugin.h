/* plugin.h: the plugin that changes lifted code (lathe/plugin.h). This process loads it only if it was started for it (--plugin).
 *
 * It is code of somebody else's in this process. Whatever goes wrong in it, or with what it has made, the client is told (S_PLUGIN), and this process ends. All functions accept NULL: there is no
 * plugin. */
#ifndef RUN_SERVER_PLUGIN_H
#define RUN_SERVER_PLUGIN_H

#include "lathe/lift.h"
#include "run/protocol/connection.h"

typedef struct Plugin Plugin;

/* word: FILE[,OPTIONS], or NULL. Nothing is loaded yet. */
Plugin *plugin_new(const char *word, Connection *c);
/* What CodeConfig.plugin has to be for a client of this server; 0: there is no plugin, or its file cannot be read. */
u64 plugin_wanted(const Plugin *p);
/* Loads it and calls its init, if that was not done yet. The client waits for an answer. */
void plugin_start(Plugin *p, LatheArch arch);
/* The client is gone. */
void plugin_finish(Plugin *p);

/* For each module that is made: has the lifter call the markers that the plugin wants, besides those that are in cfg. base: see LathePluginFunction. */
void plugin_mark(Plugin *p, LLVMModuleRef mod, LatheConfig *cfg, u64 base);
/* Hands a lifted function over; then, when all of a module were, makes sure that LLVM can work with them, and removes the markers. */
void plugin_instrument(Plugin *p, LLVMValueRef function, u64 pc);
void plugin_settle(Plugin *p);
/* LLVM has failed at a function. */
void plugin_failed_at(Plugin *p, u64 pc);

/* guard.c: what the process is doing, for the case that it does not survive it. */
typedef struct PluginPlace {
    const char *path, *what; /* the plugin's, and "instrument", for example */
    u64 pc;                  /* of the function that is concerned; 0: none */
    bool inside;             /* a function of the plugin's is called, which may not come back */
} PluginPlace;

/* From now on, signals that end the process are reported as what happened there. */
void plugin_guard_begin(int out);
void plugin_guard_end(void); /* the process ends as it should */
void plugin_guard_set(PluginPlace place);
/* The time or memory for a request is used up, and a function of the plugin's is running: the client is told. Usable in handlers. False: none is. */
bool plugin_guard_limit(void);
/* Tells the client what is wrong with the plugin, and ends the process. */
_Noreturn void plugin_guard_fail(const char *why);

#endif
