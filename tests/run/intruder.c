/* intruder.c: what should not come to a server's socket, or sit at one.
 *
 *     intruder rubbish SOCKET COUNT      sends COUNT times something that is no conversation
 *     intruder hold SOCKET COUNT         keeps COUNT connections until standard input ends
 *     intruder listen SOCKET UID         listens as another user; prints "spoken to" if a client says anything
 *
 * The exit status is 0 if all of that could be done. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "run/protocol/message.h"

static struct sockaddr_un address_of(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    return address;
}

static int join(const char *path) {
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return connect(fd, (struct sockaddr *)&address, sizeof(address)) ? -1 : fd;
}

static void send_bytes(int fd, const void *bytes, size_t size) {
    if (send(fd, bytes, size, MSG_NOSIGNAL) < 0)
        perror("intruder");
}

static void send_random(int fd, unsigned seed) {
    u8 bytes[4096];
    srand(seed);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (u8)rand();
    send_bytes(fd, bytes, seed * 37 % sizeof(bytes));
}

static void send_message(int fd, MessageType type, const void *payload, size_t size) {
    MessageHeader header = message_header(type, payload, size, NULL, 0);
    send_bytes(fd, &header, sizeof(header));
    send_bytes(fd, payload, size);
}

static void send_init(int fd, const char *build) {
    InitMessage init = {.version = PROTOCOL_VERSION, .code.version = CODE_VERSION};
    snprintf((char *)init.code.reserved, sizeof(init.code.reserved), "%s", build);
    send_message(fd, C_INIT, &init, sizeof(init));
}

/* The name of the socket is the build that its server wants to hear. */
static void send_rubbish(int fd, unsigned i, const char *build) {
    switch (i % 7) {
    case 0:
        send_random(fd, i);
        break;
    case 1:
        send_bytes(fd, &(MessageHeader){.type = C_INIT, .size = ~0u}, sizeof(MessageHeader));
        break;
    case 2:
        send_init(fd, "another build");
        break;
    case 3:
        send_init(fd, build);
        send_random(fd, i);
        break;
    case 4:
        send_init(fd, build);
        send_message(fd, C_TRANSLATE, "abc", 3);
        break;
    case 5:
        send_init(fd, build);
        send_bytes(fd, &(MessageHeader){.type = C_TRANSLATE, .size = 3}, sizeof(MessageHeader)); /* without its sums */
        break;
    case 6:
        break; /* nothing at all */
    }
}

/* Half of them wait for what the server says to it. */
static int rubbish(const char *path, unsigned count) {
    char build[16], answer[512];
    const char *name = strrchr(path, '/');
    snprintf(build, sizeof(build), "%s", name ? name + 1 : path);
    for (unsigned i = 0; i < count; i++) {
        int fd = join(path);
        if (fd < 0)
            return 1;
        send_rubbish(fd, i, build);
        shutdown(fd, SHUT_WR);
        while (i % 2 && read(fd, answer, sizeof(answer)) > 0)
            ;
        close(fd);
    }
    return 0;
}

static int hold(const char *path, unsigned count) {
    char end;
    for (unsigned i = 0; i < count; i++)
        if (join(path) < 0)
            return 1;
    puts("holding");
    fflush(stdout);
    return read(0, &end, 1) != 0;
}

static int listen_as(const char *path, unsigned uid) {
    struct sockaddr_un address = address_of(path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    char byte;
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || chmod(path, 0777) || setuid(uid) || listen(fd, 8))
        return 1;
    setlinebuf(stdout);
    puts("listening");
    for (;;) {
        int client = accept(fd, NULL, NULL);
        if (read(client, &byte, 1) == 1)
            puts("spoken to");
        close(client);
    }
}

int main(int argc, char **argv) {
    unsigned number = argc == 4 ? (unsigned)atoi(argv[3]) : 0;
    if (argc == 4 && !strcmp(argv[1], "rubbish"))
        return rubbish(argv[2], number);
    if (argc == 4 && !strcmp(argv[1], "hold"))
        return hold(argv[2], number);
    if (argc == 4 && !strcmp(argv[1], "listen"))
        return listen_as(argv[2], number);
    fprintf(stderr, "usage: intruder rubbish|hold|listen SOCKET NUMBER\n");
    return 2;
}
