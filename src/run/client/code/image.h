/* image.h: quick code of an earlier run; see image.c. */
#ifndef RUN_CLIENT_IMAGE_H
#define RUN_CLIENT_IMAGE_H

#include "run/client/core/client.h"

/* Where the block of guest modules and code may lie so that an image of this program fits; 0: anywhere. */
u64 image_window_hint(const char *program);
/* The program is loaded, and nothing has run. */
void image_load(Thread *t, const char *program);
/* The process ends: what it has learned is kept (learn.h), and an image if there is enough that is new. */
void image_save(Thread *t);
/* In the process that compiles after the run (after.c): an image is written if there is anything new. */
void image_save_after(Thread *t);
/* The name of the image's file; whether images of this program can be read, and written by this thread; and whether they have code of this address. */
Key image_key(void);
bool image_is_usable(void);
bool image_is_writable(const Thread *t);
bool image_keeps(u64 pc);

#endif
