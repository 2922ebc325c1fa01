/* cpu.c: see cpu.h. */
#include "cache/cpu.h"

#include "cache/pack.h"
#include "host/host.h"

u64 cpu_kind(void) {
    u8 facts[HOST_CPU_FACTS];
    return pack_hash(PACK_HASH_START, facts, host_cpu_facts(facts)) | 1;
}
