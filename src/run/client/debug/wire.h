/* wire.h: packets of gdb's remote protocol: $text#checksum, in which the characters * } # $ are escaped. The other side acknowledges each packet by +
 * or - until both agree to do without. */
#ifndef RUN_CLIENT_DEBUG_WIRE_H
#define RUN_CLIENT_DEBUG_WIRE_H

#include "run/client/core/client.h"

enum { PACKET_BYTES = 16 << 10 };

/* A packet that is being written, or one that was received and is being read: then `len` is how much of it was read. */
typedef struct Packet {
    char text[PACKET_BYTES + 1];
    size_t size, len;
} Packet;

/* Waits for the next packet. Returns false if the connection has ended. */
bool wire_receive(int fd, Packet *p);
/* Sends a packet. Returns false if the connection has ended. */
bool wire_send(int fd, const Packet *p);
/* From now on neither side acknowledges packets. */
void wire_set_quiet(bool quiet);
bool wire_has_input(int fd); /* true if something has come that was not read yet */
/* Takes what has come without waiting for more; true: it was a request to interrupt the guest, or the end of the connection. */
bool wire_take_interrupt(int fd);

/* Writing. What does not fit is left out. */
void put_text(Packet *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void put_hex(Packet *p, const void *bytes, size_t size);
void put_unknown(Packet *p, size_t size); /* bytes whose values cannot be known */
void put_bytes(Packet *p, const void *bytes, size_t size);

/* Reading. */
bool take_word(Packet *p, const char *word); /* true, and read, if that is next */
u64 take_number(Packet *p);                  /* hexadecimal; 0 if there is none */
bool take_char(Packet *p, char c);
size_t take_hex(Packet *p, void *bytes, size_t most);  /* pairs of digits, up to anything else */
size_t take_rest(Packet *p, void *bytes, size_t most); /* bytes as they are, up to the end */
/* The text up to one of these characters, or the end; it is ended by NUL, and what ended it is read. */
char *take_until(Packet *p, const char *ends);

#endif
