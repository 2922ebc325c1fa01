/* channel.c: see channel.h. The socket is non-blocking; operations that have to wait poll it until the deadline.
 *
 * TLS is OpenSSL's, as a build option. The server's certificate is checked against the system's authorities or those of
 * LATHE_REDIS_CACERT; LATHE_REDIS_CERT and LATHE_REDIS_KEY name a certificate of our own for servers that ask for one. */
#include "cache/channel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cache/resolve.h"

#ifdef LATHE_TLS
#include <openssl/err.h>
#include <openssl/ssl.h>
#endif

u64 channel_now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (u64)now.tv_sec * 1000000 + (u64)now.tv_nsec / 1000;
}

void channel_allow(Channel *c, u32 limit_ms) {
    c->deadline_us = channel_now_us() + (u64)limit_ms * 1000;
}

static bool fail(Channel *c, const char *why) {
    snprintf(c->why, sizeof(c->why), "%s", why);
    return false;
}

/* Rounded up, because a poll of 0 ms would not wait for the last millisecond. */
static int left_ms(const Channel *c) {
    u64 now = channel_now_us();
    return now >= c->deadline_us ? 0 : (int)((c->deadline_us - now + 999) / 1000);
}

static bool wait_for(Channel *c, short events) {
    struct pollfd p = {.fd = c->fd, .events = events};
    for (;;) {
        int n = poll(&p, 1, left_ms(c));
        if (n > 0)
            return true;
        if (n == 0 || errno != EINTR)
            return fail(c, "it does not answer in time");
    }
}

/* ------------------------------------------------------------------------------------------------------------------ TCP */

static bool reach(Channel *c, const struct addrinfo *to) {
    int error = 0, yes = 1;
    c->fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, to->ai_protocol);
    if (c->fd < 0)
        return fail(c, strerror(errno));
    if (connect(c->fd, to->ai_addr, to->ai_addrlen) && errno != EINPROGRESS)
        error = errno;
    else if (!wait_for(c, POLLOUT))
        error = ETIMEDOUT;
    else
        getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &(socklen_t){sizeof(error)});
    if (!error) {
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
        return true;
    }
    close(c->fd);
    c->fd = -1;
    return fail(c, strerror(error));
}

/* Tries one address after the other, each with its share of the time. */
static bool reach_any(Channel *c, const struct addrinfo *list) {
    u32 count = 0;
    for (const struct addrinfo *a = list; a; a = a->ai_next)
        count++;
    u64 end = c->deadline_us;
    for (const struct addrinfo *a = list; a; a = a->ai_next, count--) {
        u64 now = channel_now_us();
        c->deadline_us = now < end ? now + (end - now) / count : now;
        if (reach(c, a))
            return true;
    }
    return false;
}

static bool connect_to(Channel *c, const RedisAddress *to, u32 limit_ms) {
    const char *why = "";
    channel_allow(c, limit_ms);
    struct addrinfo *list = resolve_host(to->host, to->port, limit_ms, &why);
    if (!list)
        return fail(c, why);
    bool ok = reach_any(c, list);
    freeaddrinfo(list);
    return ok;
}

/* ------------------------------------------------------------------------------------------------------------------ TLS */

#ifdef LATHE_TLS
/* An operation has failed. Returns true to try it again; otherwise false, with the reason in c->why. */
static bool retry(Channel *c, int result) {
    switch (SSL_get_error(c->tls, result)) {
    case SSL_ERROR_WANT_READ:
        return wait_for(c, POLLIN);
    case SSL_ERROR_WANT_WRITE:
        return wait_for(c, POLLOUT);
    case SSL_ERROR_ZERO_RETURN:
        return fail(c, "it ended the connection");
    default:
        break; /* an enumeration of OpenSSL, which may grow */
    }
    long verified = SSL_get_verify_result(c->tls);
    const char *reason = ERR_reason_error_string(ERR_peek_error());
    if (verified != X509_V_OK)
        reason = X509_verify_cert_error_string(verified);
    return fail(c, reason ? reason : "the TLS connection failed");
}

/* Returns NULL if a file that the environment names cannot be used. */
static SSL_CTX *new_context(void) {
    const char *ca = getenv("LATHE_REDIS_CACERT"), *cert = getenv("LATHE_REDIS_CERT"), *key = getenv("LATHE_REDIS_KEY");
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    CHECK(ctx, "out of memory");
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    bool ok = ca && *ca ? SSL_CTX_load_verify_locations(ctx, ca, NULL) : SSL_CTX_set_default_verify_paths(ctx);
    if (ok && cert && *cert)
        ok = SSL_CTX_use_certificate_chain_file(ctx, cert) == 1 &&
             SSL_CTX_use_PrivateKey_file(ctx, key && *key ? key : cert, SSL_FILETYPE_PEM) == 1;
    if (ok)
        return ctx;
    SSL_CTX_free(ctx);
    return NULL;
}

static bool expect_name(SSL *tls, const char *host) {
    u8 number[sizeof(struct in6_addr)];
    if (inet_pton(AF_INET, host, number) == 1 || inet_pton(AF_INET6, host, number) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), host) == 1;
    return SSL_set_tlsext_host_name(tls, host) == 1 && SSL_set1_host(tls, host) == 1;
}

static bool secure(Channel *c, const char *host, u32 limit_ms) {
    SSL_CTX *ctx = new_context();
    if (!ctx)
        return fail(c, "a certificate that LATHE_REDIS_CACERT, _CERT or _KEY names cannot be used");
    c->tls = SSL_new(ctx);
    SSL_CTX_free(ctx);
    CHECK(c->tls, "out of memory");
    if (!expect_name(c->tls, host) || SSL_set_fd(c->tls, c->fd) != 1)
        return fail(c, "its name cannot be one of a certificate");
    channel_allow(c, limit_ms);
    for (int result; (result = SSL_connect(c->tls)) != 1; ERR_clear_error())
        if (!retry(c, result))
            return false;
    return true;
}

static ssize_t write_tls(Channel *c, const void *data, size_t size) {
    for (;;) {
        ERR_clear_error();
        int n = SSL_write(c->tls, data, size > INT32_MAX ? INT32_MAX : (int)size);
        if (n > 0)
            return n;
        if (!retry(c, n))
            return -1;
    }
}

static ssize_t read_tls(Channel *c, void *buf, size_t size) {
    for (;;) {
        ERR_clear_error();
        int n = SSL_read(c->tls, buf, size > INT32_MAX ? INT32_MAX : (int)size);
        if (n > 0)
            return n;
        if (!retry(c, n))
            return -1;
    }
}

static void end_tls(Channel *c) {
    SSL_free(c->tls);
}
#else
static bool secure(Channel *c, const char *host, u32 limit_ms) {
    (void)host, (void)limit_ms;
    return fail(c, "this build has no TLS");
}

static ssize_t write_tls(Channel *c, const void *data, size_t size) {
    (void)c, (void)data, (void)size;
    return -1;
}

static ssize_t read_tls(Channel *c, void *buf, size_t size) {
    (void)c, (void)buf, (void)size;
    return -1;
}

static void end_tls(Channel *c) {
    (void)c;
}
#endif

/* ---------------------------------------------------------------------------------------------------------------- bytes */

static ssize_t write_some(Channel *c, const void *data, size_t size) {
    for (;;) {
        ssize_t n = send(c->fd, data, size, MSG_NOSIGNAL);
        if (n > 0)
            return n;
        bool waits = errno == EAGAIN || errno == EINTR;
        if (!waits)
            fail(c, strerror(errno));
        if (!waits || !wait_for(c, POLLOUT))
            return -1;
    }
}

static ssize_t read_some(Channel *c, void *buf, size_t size) {
    for (;;) {
        ssize_t n = recv(c->fd, buf, size, 0);
        if (n > 0)
            return n;
        bool waits = n < 0 && (errno == EAGAIN || errno == EINTR);
        if (!waits)
            fail(c, n == 0 ? "it ended the connection" : strerror(errno));
        if (!waits || !wait_for(c, POLLIN))
            return -1;
    }
}

bool channel_open(Channel *c, const RedisAddress *to, u32 limit_ms) {
    c->fd = -1;
    return connect_to(c, to, limit_ms) && (!to->tls || secure(c, to->host, limit_ms));
}

/* The deadline covers the whole write: a peer that accepts a byte now and then gets no more time than one that accepts
 * none. */
bool channel_write(Channel *c, const void *data, size_t size) {
    const u8 *at = data;
    while (size) {
        ssize_t n = c->tls ? write_tls(c, at, size) : write_some(c, at, size);
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
        if (size && !left_ms(c))
            return fail(c, "it does not answer in time");
    }
    return true;
}

size_t channel_read(Channel *c, void *buf, size_t size) {
    if (!left_ms(c)) {
        fail(c, "it does not answer in time");
        return 0;
    }
    ssize_t n = c->tls ? read_tls(c, buf, size) : read_some(c, buf, size);
    return n > 0 ? (size_t)n : 0;
}

void channel_close(Channel *c) {
    if (c->tls)
        end_tls(c);
    if (c->fd >= 0)
        close(c->fd);
    *c = (Channel){.fd = -1};
}
