/* plugin.c: the library that dynload opens. */
#include <stdio.h>

int plugin_count = 40;
static __thread int own = 2;

__attribute__((constructor)) static void arrive(void) {
    puts("plugin: here");
}

__attribute__((destructor)) static void leave(void) {
    puts("plugin: gone");
    fflush(stdout);
}

int plugin_call(int (*back)(int), int n) {
    plugin_count++;
    own += n;
    return back(own) + plugin_count;
}
