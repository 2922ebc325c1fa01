/* ahead_library.c: the library of ahead.c. */
typedef unsigned long u64;

static __attribute__((noinline)) u64 inner(u64 v) {
    return v * 31 + 7;
}

u64 library_twice(u64 v, u64 (*callback)(u64)) {
    return callback(inner(v)) ^ callback(v);
}

u64 library_mix(u64 v, u64 (*callback)(u64)) {
    return library_twice(v & 1 ? v + 1 : v, callback);
}
