/* identity.h: identifies what translated code depends on besides the guest and the options: the translator and the CPU
 * it compiles for. */
#ifndef CLI_IDENTITY_H
#define CLI_IDENTITY_H

#include "base/base.h"

enum { IDENTITY_SIZE = 16 };

/* Digits that differ if the translator's program is another one, or runs on another kind of CPU. */
void identity_of(const char *translator, char digits[IDENTITY_SIZE]);

/* Turns the digits of a translator here into those of the one on another machine. */
void identity_of_far(const char *host, char digits[IDENTITY_SIZE]);

/* Turns the digits of a translator into those of one with a plugin. */
void identity_of_plugin(u64 plugin, char digits[IDENTITY_SIZE]);

#endif
