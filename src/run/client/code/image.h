/* image.h: quick code of an earlier run; see image.c. */
#ifndef RUN_CLIENT_IMAGE_H
#define RUN_CLIENT_IMAGE_H

#include "run/client/core/client.h"

/* Where the block of guest modules and code may lie so that an image of this program fits; 0: anywhere. */
u64 image_window_hint(const char *program);
/* The program is loaded, and nothing has run. */
void image_load(Thread *t, const char *program);
/* A module has been mapped, and has its key. */
void image_check(const Module *m);
/* The process ends. */
void image_save(Thread *t);
void image_give_up(void); /* this process writes none */

/* tidy.c: files of the cache beyond its bound go, and what writers left behind that did not come to an end. A writer has a minute. */
enum { TIDY_SECONDS = 60 };
#define TIDY_SUFFIX ".new" /* behind an image's name while it is written */
void tidy_cache(void);

#endif
