/* gate.h: who is using LLVM in this process, for the three moments at which nobody may.
 *
 * When a process ends by exit() or by returning from main, the destructors of LLVM's static objects run while other threads go on: a
 * thread that is in LLVM then uses what is gone. When it forks, the child has none of the other threads, but the locks that they held
 * and the objects that they had made by half. And what has registered functions with the process must not be unloaded.
 *
 * A thread that may be at work at such a moment enters the gate first. An end of the process then closes the gate and waits until all
 * are out; a fork waits until all are out or between two passes, where LLVM holds no locks. Threads that never enter are not waited for. */
#ifndef CODEGEN_GATE_H
#define CODEGEN_GATE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Once, by whoever is going to enter, in a thread of the application; more is no harm. The library that this is in stays loaded. */
void gate_prepare(void);

/* False: the process is ending, and LLVM is not to be used any more. If true, gate_leave follows in the same thread. */
bool gate_enter(void);
void gate_leave(void);

/* Has the process begun to end? */
bool gate_is_closed(void);

/* Is somebody waiting for a thread that is between two passes? */
bool gate_is_wanted(void);

/* Between two passes. Waits while the process forks. False: the process is ending, what can be left out should be. */
bool gate_between_passes(void);

/* Around a fork, in the thread that forks. After the second one LLVM's users go on; in the child there are none. */
void gate_before_fork(void);
void gate_after_fork(bool in_child);

#ifdef __cplusplus
}
#endif
#endif
