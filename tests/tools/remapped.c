/* remapped.c ALPHA BETA: maps files so that they can be executed, over each other, in parts, and by mprotect. Each file has a function of its name, where its ELF header says that it
 * begins. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, SIZE = 2 * PAGE };

static char *const place = (char *)0x123450000000;

static void map(const char *path, int prot) {
    int fd = open(path, O_RDONLY);
    if (mmap(place, SIZE, prot, MAP_PRIVATE | MAP_FIXED, fd, 0) != place)
        perror(path);
    close(fd);
}

static void call(void) {
    int (*function)(void) = (int (*)(void))(place + ((const Elf64_Ehdr *)place)->e_entry);
    printf("%d\n", function());
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    setvbuf(stdout, NULL, _IONBF, 0);
    map(argv[1], PROT_READ | PROT_EXEC);
    call();
    map(argv[2], PROT_READ | PROT_EXEC); /* over it */
    call();
    munmap(place, SIZE);
    map(argv[1], PROT_READ);
    mprotect(place, SIZE, PROT_READ | PROT_EXEC); /* a module from here on */
    call();
    mprotect(place, PAGE, PROT_READ | PROT_EXEC); /* which it was */
    mprotect(place, SIZE, PROT_READ);
    mprotect(place, SIZE, PROT_READ | PROT_EXEC);
    munmap(place + PAGE, PAGE); /* a piece of it */
    mmap(place, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0);
    map(argv[1], PROT_READ | PROT_EXEC);
    call();
    munmap(place, SIZE);
    rename(argv[2], argv[1]); /* another file of the same name */
    map(argv[1], PROT_READ | PROT_EXEC);
    call();
    return 0;
}
