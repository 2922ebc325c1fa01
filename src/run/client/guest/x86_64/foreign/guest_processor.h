/* guest_processor.h: what guests are told of their processor: there is none, but code that does what one of level x86-64-v2 does: see isa/x86_64/plain/host.c. */
#ifndef GUEST_PROCESSOR_H
#define GUEST_PROCESSOR_H

#include "isa/x86_64/plain/processor.h"

static const char cpuinfo[] =
    "processor\t: %u\nvendor_id\t: " PLAIN_VENDOR "\ncpu family\t: 6\nmodel\t\t: 15\nmodel name\t: Lathe\n"
    "stepping\t: 0\nphysical id\t: 0\ncore id\t\t: %u\nfpu\t\t: yes\nwp\t\t: yes\nflags\t\t: " PLAIN_FLAGS
    "\nbogomips\t: 100.00\nclflush size\t: 64\ncache_alignment\t: 64\n\n";

#define GUEST_PROCESSOR .more_hwcap = PLAIN_FEATURES, .signal_stack = 2048, .cpuinfo = cpuinfo
#define GUEST_PLAIN_HELPERS x86_plain_helpers,

#endif
