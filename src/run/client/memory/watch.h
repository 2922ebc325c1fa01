/* watch.h: how this folder tells the folder `code`, which lies above it and keeps translations, that the guest's memory has changed. The folder `code`
 * has these functions. */
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
/* Makes all code anew so that it does not look into the map from guest to host addresses (quick/map.h). Returns false if that is not possible now. */
bool quick_give_up_map(void);
/* A module has been mapped, and its key is known: forgets the image's code for it if the image was made from another file. */
void image_check(const Module *m);

#endif
