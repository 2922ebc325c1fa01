/* watch.h: what has to be known of changes of the guest's memory by those who keep translations of the code in it. The folder code has these
 * functions; space.c and shm.c, which are below it, call them. */
#ifndef RUN_CLIENT_WATCH_H
#define RUN_CLIENT_WATCH_H

#include "run/client/core/client.h"

/* Guest code in [start, end) was unmapped or changed: its translations are forgotten. */
void code_forget(u64 start, u64 end);
/* [start, end) is mapped anew or not at all; shared: a file that may have other views. The guest may write to it now. */
void quick_remapped(u64 start, u64 end, bool shared);
void quick_made_writable(u64 start, u64 end);
/* Memory in [start, end) that the host keeps read-only because its code is translated may be written to: the translations are forgotten.
 * True: there was some. */
bool quick_allow_writes_to(u64 start, u64 end);
/* There shall be no map from guest to host addresses any more (quick/map.h). False: that is not possible now. */
bool quick_give_up_map(void);
/* A module has been mapped, and has its key. */
void image_check(const Module *m);

#endif
