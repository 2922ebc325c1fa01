/* image.h: quick code of an earlier run; see image.c. */
#ifndef RUN_CLIENT_IMAGE_H
#define RUN_CLIENT_IMAGE_H

#include "run/client/core/client.h"

/* The address at which the block of guest modules and code has to lie so that an image of this program fits, if the block is not at low addresses
 * (memory/low.h). */
u64 image_window_hint(const char *program);
/* Called when the program is in memory, before anything of it runs: takes over the image of an earlier run, if there is one. */
void image_load(Thread *t, const char *program);
/* Called when the process ends, or is about to become another program: keeps what it has learned (learn.h), and writes an image if there is enough new code. */
void image_save(Thread *t);
/* The same in the process that compiles after the run (after.c): an image is written if there is anything new. */
void image_save_after(Thread *t);
Key image_key(void);                     /* the name of the image's file */
bool image_is_usable(void);              /* images of this program can be read */
bool image_is_writable(const Thread *t); /* this thread can write one, in a process that fork has not made */
bool image_keeps(u64 pc);                /* an image has code for this address, if there is any */

#endif
