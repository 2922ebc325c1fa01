/* plugin_header.c: the header of plugins compiles alone, and a plugin by its manual. */
#include <lathe/plugin.h>

static const char *init(LathePluginStart *start) {
    start->marks = LATHE_MARK_INSN | LATHE_MARK_MEMORY;
    return 0;
}

const LathePlugin lathe_plugin = {LATHE_PLUGIN_HEAD, .init = init, .instrument = 0, .finish = 0};

int main(void) {
    return lathe_plugin.version != LATHE_PLUGIN_VERSION || lathe_plugin.llvm != LLVM_VERSION_MAJOR;
}
