/* guest_processor.h: what guests are told of their processor: the host's, as far as the client can have the guest use it. */
#ifndef GUEST_PROCESSOR_H
#define GUEST_PROCESSOR_H

/* Without FSGSBASE the guest sets segment bases by arch_prctl. */
enum { HWCAP2_FSGSBASE = 2 };

#define GUEST_PROCESSOR .hwcap = ~(u64)0, .hwcap2 = ~(u64)HWCAP2_FSGSBASE, .is_hosts = true
#define GUEST_PLAIN_HELPERS /* the host has all instructions */

#endif
