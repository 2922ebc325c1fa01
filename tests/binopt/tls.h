/* tls.h: see tls.c. */
#ifndef TESTS_TLS_H
#define TESTS_TLS_H

extern __thread long tls_counter;
long tls_count(long a, long b, long c, long d, long by);
long tls_calls(long a, long b, long by);

#endif
