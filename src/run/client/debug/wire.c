/* wire.c: see wire.h. */
#include "run/client/debug/wire.h"

enum { INTERRUPT = 3, ESCAPE = '}', ESCAPE_BIT = 0x20 };

static const char digits[] = "0123456789abcdef";
static bool is_quiet;

void wire_set_quiet(bool quiet) {
    is_quiet = quiet;
}

/* ------------------------------------------------------------------------------------------------------------- connection */

static struct {
    u8 bytes[4096];
    size_t at, len;
} input;

static bool fill(int fd) {
    i64 n;
    do
        n = sys_read(fd, input.bytes, sizeof(input.bytes));
    while (n == -EINTR);
    input.at = 0;
    input.len = n > 0 ? (size_t)n : 0;
    return n > 0;
}

static bool next(int fd, char *c) {
    if (input.at == input.len && !fill(fd))
        return false;
    *c = (char)input.bytes[input.at++];
    return true;
}

/* sendto, so that a debugger that is gone raises no signal. */
static bool write_all(int fd, const char *bytes, size_t size) {
    enum { NO_SIGNAL = 0x4000 };
    while (size) {
        i64 n = sys_sendto(fd, bytes, size, NO_SIGNAL);
        if (n <= 0 && n != -EINTR)
            return false;
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool wire_has_input(int fd) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return input.at < input.len || sys_poll(&ready, 1, 0) > 0;
}

bool wire_take_interrupt(int fd) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    bool found = false, gone = false;
    while (input.at < input.len || (sys_poll(&ready, 1, 0) > 0 && !(gone = !fill(fd)))) {
        if (input.bytes[input.at] == '$')
            break; /* a command, for whoever talks next */
        found |= input.bytes[input.at++] == INTERRUPT;
    }
    return found || gone;
}

static int digit_of(char c) {
    const char *at = c ? strchr(digits, c | (c >= 'A' && c <= 'F' ? 0x20 : 0)) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Reads the text between $ and #, and compares the sum behind it (*right). */
static bool receive_text(int fd, Packet *p, bool *right) {
    u8 sum = 0;
    char c, high, low;
    bool fits = true;
    for (p->size = 0; next(fd, &c) && c != '#'; sum += (u8)c) {
        if (c == '$') { /* the one before was cut off */
            p->size = 0, sum = (u8)-c;
            continue;
        }
        fits = p->size < PACKET_BYTES;
        p->text[p->size] = c;
        p->size += fits;
    }
    p->text[p->size] = 0;
    p->len = 0;
    if (!next(fd, &high) || !next(fd, &low))
        return false;
    *right = fits && digit_of(high) >= 0 && digit_of(low) >= 0 && (digit_of(high) << 4 | digit_of(low)) == sum;
    return true;
}

static void unescape(Packet *p) {
    size_t to = 0;
    for (size_t i = 0; i < p->size; i++)
        p->text[to++] = p->text[i] == ESCAPE && i + 1 < p->size ? (char)(p->text[++i] ^ ESCAPE_BIT) : p->text[i];
    p->size = to;
    p->text[to] = 0;
}

bool wire_receive(int fd, Packet *p) {
    for (bool right = false; !right;) {
        char c;
        do
            if (!next(fd, &c))
                return false;
        while (c != '$');
        if (!receive_text(fd, p, &right))
            return false;
        if (!is_quiet && !write_all(fd, right ? "+" : "-", 1))
            return false;
    }
    unescape(p);
    return true;
}

static bool is_acknowledged(int fd, bool *again) {
    char c;
    do
        if (!next(fd, &c))
            return false;
    while (c != '+' && c != '-');
    *again = c == '-';
    return true;
}

bool wire_send(int fd, const Packet *p) {
    static char out[2 * PACKET_BYTES + 8];
    size_t n = 0;
    u8 sum = 0;
    out[n++] = '$';
    for (size_t i = 0; i < p->size; i++) {
        char c = p->text[i];
        if (c == '$' || c == '#' || c == '*' || c == ESCAPE)
            sum += (u8)(out[n++] = ESCAPE), c ^= ESCAPE_BIT;
        sum += (u8)(out[n++] = c);
    }
    out[n++] = '#';
    out[n++] = digits[sum >> 4];
    out[n++] = digits[sum & 15];
    for (bool again = true; again;) {
        again = false;
        if (!write_all(fd, out, n) || (!is_quiet && !is_acknowledged(fd, &again)))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- writing */

void put_text(Packet *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    p->size += format_args(p->text + p->size, PACKET_BYTES - p->size + 1, format, args);
    va_end(args);
}

void put_hex(Packet *p, const void *bytes, size_t size) {
    for (size_t i = 0; i < size && p->size + 2 <= PACKET_BYTES; i++) {
        p->text[p->size++] = digits[((const u8 *)bytes)[i] >> 4];
        p->text[p->size++] = digits[((const u8 *)bytes)[i] & 15];
    }
}

void put_unknown(Packet *p, size_t size) {
    for (size_t i = 0; i < 2 * size && p->size < PACKET_BYTES; i++)
        p->text[p->size++] = 'x';
}

void put_bytes(Packet *p, const void *bytes, size_t size) {
    size_t n = size < PACKET_BYTES - p->size ? size : PACKET_BYTES - p->size;
    memcpy(p->text + p->size, bytes, n);
    p->size += n;
}

/* ---------------------------------------------------------------------------------------------------------------- reading */

bool take_word(Packet *p, const char *word) {
    size_t n = strlen(word);
    if (n > p->size - p->len || memcmp(p->text + p->len, word, n))
        return false;
    p->len += n;
    return true;
}

bool take_char(Packet *p, char c) {
    bool found = p->len < p->size && p->text[p->len] == c;
    p->len += found;
    return found;
}

u64 take_number(Packet *p) {
    u64 v = 0;
    for (; p->len < p->size && digit_of(p->text[p->len]) >= 0; p->len++)
        v = v << 4 | (u64)digit_of(p->text[p->len]);
    return v;
}

size_t take_hex(Packet *p, void *bytes, size_t most) {
    size_t n = 0;
    for (; n < most && p->len + 1 < p->size; p->len += 2, n++) {
        int high = digit_of(p->text[p->len]), low = digit_of(p->text[p->len + 1]);
        if (high < 0 || low < 0)
            break;
        ((u8 *)bytes)[n] = (u8)(high << 4 | low);
    }
    return n;
}

size_t take_rest(Packet *p, void *bytes, size_t most) {
    size_t n = p->size - p->len < most ? p->size - p->len : most;
    memcpy(bytes, p->text + p->len, n);
    p->len += n;
    return n;
}

char *take_until(Packet *p, const char *ends) {
    char *start = p->text + p->len;
    while (p->len < p->size && !strchr(ends, p->text[p->len]))
        p->len++;
    p->text[p->len] = 0;
    p->len += p->len < p->size;
    return start;
}
