/* slots.h: a virtual function of a class of the C++ library that returns a class in memory: a row of the table that cxx.py makes. */
#ifndef RAISE_RUNTIME_SLOTS_H
#define RAISE_RUNTIME_SLOTS_H

#include "base/base.h"

typedef struct CxxSlot {
    const char *type; /* the mangled name of the class's type, which begins as _ZTI */
    u32 slot;         /* which of its virtual functions */
} CxxSlot;

/* So many virtual functions of a class are looked at. */
enum { CXX_SLOTS = 32 };

#endif
