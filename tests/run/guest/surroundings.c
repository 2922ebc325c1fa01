/* surroundings.c: what a program finds at its start: arguments, environment, the auxiliary vector, names of itself. */
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

extern char **environ;

static int objects(struct dl_phdr_info *info, size_t size, void *data) {
    int *n = data;
    (void)size;
    *n += info->dlpi_phnum > 0;
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        printf("%d: '%s'\n", i, argv[i]);
    printf("end %d\n", argv[argc] == NULL && environ == argv + argc + 1);
    setenv("OWN", "value", 1);
    printf("%s %s %s\n", getenv("OWN"), getenv("PATH") ? "PATH" : "no PATH", getenv("NO_SUCH_VARIABLE") ? "?" : "none");
    int hidden = 0;
    for (char **e = environ; *e; e++)
        hidden += !strncmp(*e, "LATHE_CLIENT", 12);
    printf("hidden %d\n", hidden);
    const Elf64_Phdr *phdr = (const Elf64_Phdr *)getauxval(AT_PHDR);
    printf("phdr %d %d, page %lu, entry %d, uid %d, random %d\n", phdr != NULL, (int)(getauxval(AT_PHNUM) > 3),
           getauxval(AT_PAGESZ), getauxval(AT_ENTRY) != 0, getauxval(AT_UID) == getuid(), getauxval(AT_RANDOM) != 0);
    const char *platform = (const char *)getauxval(AT_PLATFORM);
    printf("platform %s, secure %lu, ticks %lu\n", platform ? platform : "none", getauxval(AT_SECURE),
           getauxval(AT_CLKTCK));
    char path[4096] = "", real[4096];
    const char *execfn = (const char *)getauxval(AT_EXECFN), *name = strrchr(argv[0], '/');
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
    name = name ? name + 1 : argv[0];
    printf("exe %d, execfn %d\n", len > 0 && strstr(path, name) != NULL,
           execfn && realpath(execfn, real) && !strcmp(real, path));
    struct utsname uts;
    uname(&uts);
    printf("%s %s\n", uts.sysname, uts.machine);
    int n = 0;
    dl_iterate_phdr(objects, &n);
    printf("objects %d\n", n > 0);
    return argc;
}
