/* team_key.h: the key by which those who share a cache know each other's entries. */
#ifndef CLI_TEAM_KEY_H
#define CLI_TEAM_KEY_H

#include "base/base.h"

#define TEAM_KEY_VARIABLE "LATHE_CACHE_SECRET"

enum { TEAM_KEY_LEAST = 16, TEAM_KEY_SIZE = 256, TEAM_KEY_WHY = 512 };

typedef struct TeamKey {
    char text[TEAM_KEY_SIZE]; /* printable characters without a space; empty: there is no key */
} TeamKey;

/* Reads the key from the first line of a file, or, if `file` is NULL, from LATHE_CACHE_SECRET. Returns false with the reason if that is no
 * key, or if others than the file's owner and its group can read it, or others than the owner can write it. */
bool team_key_find(const char *file, TeamKey *key, char why[TEAM_KEY_WHY]);

#endif
