/* lift_one.h: what every fuzzer of the lifter does with one input. */
#ifndef FUZZ_LIFT_ONE_H
#define FUZZ_LIFT_ONE_H

#include "base/base.h"

/* Takes any bytes: the first few choose the configuration and the address, the rest is guest memory. Discovers,
 * lifts and verifies what is there, compiles it once in a while, and asks for everything the API tells about it;
 * ends the process if the IR is not valid. */
void lift_one(const u8 *data, size_t size);

#endif
