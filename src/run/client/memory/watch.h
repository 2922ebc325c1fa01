/* watch.h: the functions by which space.c and shm.c tell the folder `code`, which lies above them and keeps
 * translations, that the guest's memory has changed. The folder `code` has these functions. */
#ifndef RUN_CLIENT_WATCH_H
#define RUN_CLIENT_WATCH_H

#include "run/client/core/client.h"

/* Guest code in [start, end) was unmapped or changed: forgets its translations. */
void code_forget(u64 start, u64 end);
/* [start, end) was mapped anew, or unmapped. shared: it is a file that may have other views. quick_made_writable: the
 * guest may write to it now. */
void quick_remapped(u64 start, u64 end, bool shared);
void quick_made_writable(u64 start, u64 end);
/* The host keeps pages read-only whose code is translated. Makes those in [start, end) writable and forgets their
 * translations. Returns true if there were any. */
bool quick_allow_writes_to(u64 start, u64 end);
/* There shall be no map from guest to host addresses any more (quick/map.h). False: that is not possible now. */
bool quick_give_up_map(void);
/* A module has been mapped and has its key. */
void image_check(const Module *m);

#endif
