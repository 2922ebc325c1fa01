/* statics.h: LLVM's static objects inside functions, which are made when they are first used and destroyed when the process ends, before
 * everything that was registered for that moment earlier. */
#ifndef CODEGEN_STATICS_H
#define CODEGEN_STATICS_H

/* From now on `first` is called before any of those is destroyed that are made from now on. */
void statics_destroyed_after(void (*first)(void));

#endif
