/* dynload.c: dlopen, dlsym, calls in both directions, dlclose and again; the library beside the program is the argument. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int back(int n) {
    return n * 1000;
}

static int use(const char *path, int times) {
    void *library = dlopen(path, RTLD_NOW);
    if (!library)
        return printf("%s\n", dlerror());
    int (*call)(int (*)(int), int) = (int (*)(int (*)(int), int))dlsym(library, "plugin_call");
    int *count = dlsym(library, "plugin_count");
    for (int i = 0; i < times; i++)
        printf("%d ", call(back, i));
    printf("count %d\n", *count);
    fflush(stdout);
    return dlclose(library);
}

int main(int argc, char **argv) {
    char path[4096] = "";
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *slash = strrchr(path, '/');
    if (argc < 2 || len < 0 || !slash)
        return 1;
    snprintf(slash + 1, sizeof(path) - (size_t)(slash + 1 - path), "%s", argv[1]);
    int status = use(path, 3);
    status |= use(path, 2);
    void *m = dlopen("libm.so.6", RTLD_LAZY);
    double (*cosine)(double) = m ? (double (*)(double))dlsym(m, "cos") : NULL;
    printf("cos %.6f, none: %d, no file: %d\n", cosine ? cosine(1.0) : 0, dlsym(m, "no_such_function") == NULL,
           dlopen("libnonesuch.so", RTLD_NOW) == NULL);
    return status;
}
