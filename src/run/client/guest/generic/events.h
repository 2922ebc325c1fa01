/* events.h: struct epoll_event as all but x86-64 have it, which packs the structure. */
#ifndef GUEST_EVENTS_H
#define GUEST_EVENTS_H

#include <linux/eventpoll.h>

#include "base/base.h"

typedef struct GuestEvent {
    u32 events, pad;
    u64 data;
} GuestEvent;

static inline struct epoll_event host_event(const GuestEvent *e) {
    return (struct epoll_event){.events = e->events, .data = e->data};
}

#endif
