/* files.c: the system calls of files, directories and descriptors. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static int by_name(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void directories(void) {
    mkdir("dir", 0755);
    for (const char **n = (const char *[]){"dir/b", "dir/a", "dir/c", NULL}; *n; n++)
        close(open(*n, O_CREAT | O_WRONLY, 0640));
    printf("%d %d %d", rename("dir/c", "dir/d"), symlink("a", "dir/link"), link("dir/a", "dir/hard"));
    struct dirent **list;
    int n = scandir("dir", &list, NULL, by_name);
    for (int i = 0; i < n; i++)
        printf(" %s", list[i]->d_name);
    struct stat st;
    stat("dir/a", &st);
    printf("\nmode %o links %lu", st.st_mode, (unsigned long)st.st_nlink);
    printf(" rmdir %s", rmdir("dir") ? strerror(errno) : "?");
    for (const char **n = (const char *[]){"a", "b", "d", "link", "hard", NULL}; *n; n++) {
        char path[100];
        snprintf(path, sizeof(path), "dir/%s", *n);
        unlink(path);
    }
    printf(" rmdir %d\n", rmdir("dir"));
}

static void reading(void) {
    int fd = open("file.tmp", O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct iovec parts[] = {{"one ", 4}, {"two ", 4}, {"three", 5}};
    char text[100] = "";
    printf("writev %zd", writev(fd, parts, 3));
    printf(" lseek %ld", (long)lseek(fd, 4, SEEK_SET));
    printf(" read %zd", read(fd, text, 3));
    printf(" '%s' end %ld", text, (long)lseek(fd, 0, SEEK_END));
    printf(" truncate %d", ftruncate(fd, 5));
    struct stat st;
    fstat(fd, &st);
    printf(" size %ld", (long)st.st_size);
    int copy = dup(fd);
    printf(" dup %d", (int)lseek(copy, 0, SEEK_CUR));
    printf(" flags %d", (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR);
    int available = -1;
    lseek(fd, 1, SEEK_SET);
    ioctl(fd, FIONREAD, &available);
    printf(" FIONREAD %d\n", available);
    close(fd), close(copy), unlink("file.tmp");
    fd = open("file.tmp", O_RDONLY);
    printf("%d %s\n", fd, strerror(errno));
    char cwd[4096], real[4096];
    int result = chdir("/usr/lib/..");
    printf("chdir %d %s\n", result, getcwd(cwd, sizeof(cwd)));
    printf("%s\n", realpath("/proc/self/fd/../../self/", real) ? "resolved" : "not");
}

static void waiting(void) {
    int fd[2], pair[2], event = eventfd(0, 0), epoll = epoll_create1(0);
    if (pipe(fd) || socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return;
    struct pollfd p = {.fd = fd[0], .events = POLLIN};
    printf("poll %d", poll(&p, 1, 0));
    printf(" %zd", write(fd[1], "abc", 3));
    printf(" %d", poll(&p, 1, 1000));
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd[0], &set);
    struct timeval none = {0, 0};
    printf(" select %d", select(fd[0] + 1, &set, NULL, NULL, &none));
    struct epoll_event e = {.events = EPOLLIN, .data.u32 = 77}, got = {0};
    epoll_ctl(epoll, EPOLL_CTL_ADD, event, &e);
    eventfd_write(event, 5);
    int ready = epoll_wait(epoll, &got, 1, 1000);
    printf(" epoll %d %u", ready, got.data.u32);
    char text[20] = "";
    printf(" send %zd", send(pair[0], "hello", 5, 0));
    ssize_t received = recv(pair[1], text, sizeof(text), 0);
    printf(" recv %zd %s\n", received, text);
}

/* The lowest that are free, whatever the client has open itself. */
static void numbers(void) {
    int first = dup(1), second = dup(1);
    printf("descriptors %d and %d\n", first, second);
    close(first);
    close(second);
}

int main(void) {
    numbers();
    directories();
    reading();
    waiting();
    return 0;
}
