/* dump.c: --dump: writes the stages of each function to files of the directory lathe-dump in the guest's working
 * directory. */
#include <errno.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <sys/stat.h>

#include "run/server/server.h"

static FILE *create(const char *name, const char *kind) {
    char path[128];
    snprintf(path, sizeof(path), "lathe-dump/%s.%s", name, kind);
    if (mkdir("lathe-dump", 0777) && errno != EEXIST)
        return NULL;
    return fopen(path, "we");
}

void dump_module(LLVMModuleRef mod, const char *name, const char *kind) {
    FILE *f = create(name, kind);
    if (!f)
        return;
    char *text = LLVMPrintModuleToString(mod);
    fputs(text, f);
    LLVMDisposeMessage(text);
    fclose(f);
}

void dump_object(const void *object, size_t size, const char *name) {
    FILE *f = create(name, "o");
    if (!f)
        return;
    fwrite(object, 1, size, f);
    fclose(f);
}
