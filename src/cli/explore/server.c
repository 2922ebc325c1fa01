/* server.c: see server.h. HTTP is libmicrohttpd's.
 *
 * Only this machine reaches the server (127.0.0.1), and of its users only who knows the token: 128 random bits in the address that the command prints. A page of the web that has a name of its own lead here
 * does not pass, since the browser sends that name (Host). What can be asked for is what the page, its style, its script and its data are made of; no request names a file. */
#include "cli/explore/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/explore/page.h"
#include "cli/explore/work.h"

enum { TOKEN_BYTES = 16, CONNECTIONS = 64, WORKERS = 2, IDLE_SECONDS = 60 };

typedef struct Server {
    const Explorer *x;
    const Look *first;
    char token[2 * TOKEN_BYTES + 1];
    char hosts[2][32]; /* what a browser of this machine calls the server */
    sem_t workers;     /* how many more functions may be worked on */
} Server;

typedef struct MHD_Connection Connection;

/* ------------------------------------------------------------------------------------------------------------- answers */

static enum MHD_Result send_body(Connection *c, unsigned status, const char *type, char *body, size_t size) {
    static const char *const headers[][2] = {
        {"Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
                                    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
        {"Referrer-Policy", "no-referrer"},
        {"X-Content-Type-Options", "nosniff"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cache-Control", "no-store"},
    };
    struct MHD_Response *r = MHD_create_response_from_buffer(size, body, MHD_RESPMEM_MUST_FREE);
    if (!r) {
        free(body);
        return MHD_NO;
    }
    MHD_add_response_header(r, "Content-Type", type);
    for (size_t i = 0; i < ARRAY_LEN(headers); i++)
        MHD_add_response_header(r, headers[i][0], headers[i][1]);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, "Allow", "GET, HEAD");
    enum MHD_Result result = MHD_queue_response(c, status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result refuse(Connection *c, unsigned status, const char *text) {
    char *body = strdup(text);
    CHECK(body, "out of memory");
    return send_body(c, status, "text/plain; charset=utf-8", body, strlen(body));
}

/* Something that is written at once. */
typedef struct Text {
    FILE *out;
    char *body;
    size_t size;
} Text;

static FILE *text_begin(Text *t) {
    t->out = open_memstream(&t->body, &t->size);
    CHECK(t->out, "out of memory");
    return t->out;
}

static enum MHD_Result text_send(Text *t, Connection *c, unsigned status, const char *type) {
    CHECK(!fclose(t->out), "out of memory");
    return send_body(c, status, type, t->body, t->size);
}

static enum MHD_Result answer_page(const Server *s, Connection *c) {
    (void)s;
    Text t;
    page_write_served(text_begin(&t));
    return text_send(&t, c, MHD_HTTP_OK, "text/html; charset=utf-8");
}

static enum MHD_Result answer_style(const Server *s, Connection *c) {
    (void)s;
    Text t;
    fputs(page_css, text_begin(&t));
    return text_send(&t, c, MHD_HTTP_OK, "text/css; charset=utf-8");
}

static enum MHD_Result answer_script(const Server *s, Connection *c) {
    (void)s;
    Text t;
    fputs(page_js, text_begin(&t));
    return text_send(&t, c, MHD_HTTP_OK, "text/javascript; charset=utf-8");
}

static enum MHD_Result answer_file(const Server *s, Connection *c) {
    Text t;
    explore_file(text_begin(&t), s->x, s->first);
    return text_send(&t, c, MHD_HTTP_OK, "application/json");
}

static enum MHD_Result answer_error(Connection *c, unsigned status, const char *why) {
    Text t;
    explore_error(text_begin(&t), why);
    return text_send(&t, c, status, "application/json");
}

/* --------------------------------------------------------------------------------------------------------- a function */

typedef struct Job {
    const Explorer *x;
    Look look;
} Job;

static void do_job(FILE *out, void *user) {
    const Job *job = user;
    explore_function(out, job->x, &job->look);
}

static const char *argument(Connection *c, const char *name) {
    const char *value = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, name);
    return value ? value : "";
}

static bool read_address(const char *text, u64 *at) {
    char *end;
    errno = 0;
    *at = strncmp(text, "0x", 2) ? 0 : strtoull(text + 2, &end, 16);
    return !strncmp(text, "0x", 2) && strchr("0123456789abcdef", text[2]) && text[2] && !*end && !errno;
}

/* What is wrong with the question, or NULL. */
static const char *read_look(const Server *s, Connection *c, Look *look) {
    look->steps = true;
    if (!read_address(argument(c, "at"), &look->at))
        return "at: an address such as 0x1000 is needed";
    if (!elf_is_code(s->x->guest.elf, look->at))
        return "there is no code at this address";
    if (!look_host(argument(c, "target"), &look->host))
        return "target: there is no such host";
    return look_opt(argument(c, "opt"), &look->opt) ? NULL : "opt: there is no such level";
}

static enum MHD_Result answer_function(const Server *s, Connection *c) {
    Job job = {.x = s->x};
    const char *wrong = read_look(s, c, &job.look);
    if (wrong)
        return answer_error(c, MHD_HTTP_BAD_REQUEST, wrong);
    size_t size;
    const char *why;
    sem_t *workers = (sem_t *)&s->workers;
    while (sem_wait(workers))
        ;
    char *body = work_run(do_job, &job, &size, &why);
    sem_post(workers);
    return body ? send_body(c, MHD_HTTP_OK, "application/json", body, size)
                : answer_error(c, MHD_HTTP_INTERNAL_SERVER_ERROR, why);
}

/* ------------------------------------------------------------------------------------------------------------ requests */

static const struct {
    const char *name;
    enum MHD_Result (*answer)(const Server *s, Connection *c);
} answers[] = {
    {"", answer_page},          {"explore.css", answer_style},      {"explore.js", answer_script},
    {"file.json", answer_file}, {"function.json", answer_function},
};

static bool is_our_host(const Server *s, Connection *c) {
    const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
    for (size_t i = 0; host && i < ARRAY_LEN(s->hosts); i++)
        if (!strcmp(host, s->hosts[i]))
            return true;
    return false;
}

/* Takes as long for a token that is nearly right as for any. */
static bool has_token(const Server *s, const char *url) {
    size_t size = strlen(s->token);
    u8 differs = 0;
    if (strlen(url) < size + 2 || url[0] != '/' || url[size + 1] != '/')
        return false;
    for (size_t i = 0; i < size; i++)
        differs |= (u8)(url[i + 1] ^ s->token[i]);
    return !differs;
}

static enum MHD_Result answer(void *user, Connection *c, const char *url, const char *method, const char *version,
                              const char *upload, size_t *upload_size, void **state) {
    const Server *s = user;
    (void)version, (void)upload, (void)upload_size, (void)state;
    if (!is_our_host(s, c))
        return refuse(c, MHD_HTTP_FORBIDDEN, "This server is for browsers of its own machine.\n");
    if (!has_token(s, url))
        return refuse(c, MHD_HTTP_FORBIDDEN,
                      "The token is missing or wrong: open the address that lathe explore has printed.\n");
    if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
        return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "There is nothing here but to read.\n");
    url += strlen(s->token) + 2;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        if (!strcmp(url, answers[i].name))
            return answers[i].answer(s, c);
    return refuse(c, MHD_HTTP_NOT_FOUND, "There is no such page.\n");
}

/* -------------------------------------------------------------------------------------------------------------- serving */

static void make_token(Server *s) {
    u8 bytes[TOKEN_BYTES];
    CHECK(getrandom(bytes, sizeof(bytes), 0) == sizeof(bytes), "the kernel has random numbers");
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
}

/* Listens on 127.0.0.1 and stores the port. Returns -1 if that is not possible, with errno. */
static int listen_here(u16 *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(*port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&at, size) || listen(fd, CONNECTIONS) ||
        getsockname(fd, (struct sockaddr *)&at, &size)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    *port = ntohs(at.sin_port);
    return fd;
}

/* Other threads inherit that these signals are blocked. */
static void wait_for_end(const sigset_t *ends) {
    int with;
    while (sigwait(ends, &with))
        ;
}

/* Returns only if no server could be started. */
static bool serve(Server *s, int fd, u16 port) {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    signal(SIGPIPE, SIG_IGN);
    struct MHD_Daemon *daemon =
        MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0, NULL, NULL, answer, s,
                         MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                         MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
    if (!daemon) {
        close(fd);
        return guest_fail(&s->x->guest, "no server could be started");
    }
    printf("http://127.0.0.1:%u/%s/\n", port, s->token);
    fflush(stdout);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "Open this address in a browser of this machine; Ctrl-C ends it.\n");
    wait_for_end(&ends);
    _exit(0); /* threads may wait for minutes for what works for them, which ends with them */
}

bool server_run(const Explorer *x, const Look *first, u16 port) {
    Server s = {.x = x, .first = first};
    int fd = listen_here(&port);
    if (fd < 0) {
        fprintf(stderr, "lathe: --port=%u: %s\n", port, strerror(errno));
        return false;
    }
    make_token(&s);
    snprintf(s.hosts[0], sizeof(s.hosts[0]), "127.0.0.1:%u", port);
    snprintf(s.hosts[1], sizeof(s.hosts[1]), "localhost:%u", port);
    sem_init(&s.workers, 0, WORKERS);
    bool ok = serve(&s, fd, port);
    sem_destroy(&s.workers);
    return ok;
}
