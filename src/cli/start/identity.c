/* identity.c: see identity.h. */
#include "cli/start/identity.h"

#include <stdio.h>
#include <sys/stat.h>

#include "cache/cpu.h"
#include "cache/pack.h"

static void print(u64 hash, char digits[IDENTITY_SIZE]) {
    snprintf(digits, IDENTITY_SIZE, "%015llx", (unsigned long long)hash >> 4);
}

void identity_of(const char *translator, char digits[IDENTITY_SIZE]) {
    struct stat st;
    PackIdentity file = {0};
    if (stat(translator, &st) == 0)
        file = (PackIdentity){
            .device = st.st_dev,
            .inode = st.st_ino,
            .size = (u64)st.st_size,
            .mtime_s = st.st_mtim.tv_sec,
            .mtime_ns = st.st_mtim.tv_nsec,
            .ctime_s = st.st_ctim.tv_sec,
            .ctime_ns = st.st_ctim.tv_nsec,
        };
    print(pack_hash(cpu_kind(), &file, sizeof(file)), digits);
}

void identity_of_far(const char *host, char digits[IDENTITY_SIZE]) {
    u64 here = pack_hash(cpu_kind(), digits, IDENTITY_SIZE - 1);
    print(pack_hash(here, host, strlen(host)), digits);
}

void identity_of_plugin(u64 plugin, char digits[IDENTITY_SIZE]) {
    print(pack_hash(plugin, digits, IDENTITY_SIZE - 1), digits);
}
