/* lift.c: the libFuzzer target fuzz-lift: any bytes into decoder, discovery and lifter. */
#include "lift_one.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lift_one(data, size);
    return 0;
}
