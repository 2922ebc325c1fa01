/* events.h: struct epoll_event of the guest, which x86-64 packs and no other machine does. */
#ifndef GUEST_EVENTS_H
#define GUEST_EVENTS_H

#include <linux/eventpoll.h>

#include "guest_layouts.h"

static inline struct epoll_event host_event(const GuestEvent *e) {
    return (struct epoll_event){.events = e->events, .data = e->data};
}

#endif
