/* aarch64_helpers.c: functions that stencils of aarch64 guests call: there are none on this host. */
#include "isa/aarch64/helpers.h"

const Helper a64_stencil_helpers[] = {{NULL, NULL}};
