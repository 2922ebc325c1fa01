/* plugin_id.c: see plugin_id.h. */
#include "run/protocol/plugin_id.h"

#include <errno.h>
#include <stdio.h>

#include "cache/pack.h"

const char *plugin_split(const char *word, char path[PLUGIN_PATH_SIZE]) {
    size_t len = strcspn(word, ",");
    if (len >= PLUGIN_PATH_SIZE)
        return NULL;
    memcpy(path, word, len);
    path[len] = 0;
    return word[len] ? word + len + 1 : word + len;
}

bool plugin_identity(const char *path, const char *options, u64 *identity) {
    char bytes[4096];
    FILE *in = fopen(path, "re");
    if (!in)
        return false;
    u64 hash = pack_hash(PACK_HASH_START, options, strlen(options));
    for (size_t n; (n = fread(bytes, 1, sizeof(bytes), in));)
        hash = pack_hash(hash, bytes, n);
    int error = ferror(in) ? errno : 0;
    fclose(in);
    errno = error;
    *identity = hash | 1;
    return !error;
}
