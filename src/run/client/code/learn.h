/* learn.h: what runs of the program have learned about its hot places: see learn.c. All functions here are called with the arena's lock held, and are
 * for --tier=auto. */
#ifndef RUN_CLIENT_LEARN_H
#define RUN_CLIENT_LEARN_H

#include "run/client/core/client.h"

/* Recalls what earlier runs have learned about places in the modules that were mapped since the last call. */
void learn_recall(void);
/* The heat from which on a place is worth a request. */
u64 learn_need(void);
/* The heat from which on a place is compiled after the run, and how many places may be. */
u64 learn_need_after(void);
u64 learn_most_after(void);
/* Adds what this run has learned to the program's profile, whose name depends on the image's (image_key). */
void learn_save(void);
/* The same in the process that compiles after the run. */
void learn_save_after(void);

#endif
