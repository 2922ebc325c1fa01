/* after.c: when the guest ends, a process of low priority compiles what the run has found hot, so that the next run has optimised code for it.
 *
 * That process is made by fork. So it has the guest's modules in memory, the tables of translated code and the way to the server, and does what a run
 * does: it asks the server, links the objects, and writes an image. Everything else of the guest it gives up: descriptors, data, session and
 * terminal; nobody has to wait for it, and no pipe stays open because of it. It is bounded in CPU time (--compile-after), in real time and in memory;
 * it runs only when a CPU has nothing else to do; and there is at most one for a cache directory at a time. On a machine with several CPUs it forks
 * further processes (jobs), each with a server of its own. If the guest has given up rights, or would become the parent of that process, none is
 * started. */
#include "run/client/code/after.h"

#include <asm/resource.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/wait.h>

#include "run/client/code/arena/arena.h"
#include "run/client/code/cache/store.h"
#include "run/client/code/image.h"
#include "run/client/code/learn.h"
#include "run/client/code/optimised/code.h"
#include "run/client/code/optimised/entries.h"
#include "run/client/code/server/remote.h"
#include "run/client/code/server/spawn.h"
#include "run/client/code/tier.h"
#include "run/client/code/translated.h"
#include "run/client/memory/own.h"
#include "run/client/memory/space.h"

enum { CHOSEN_MAX = 256, JOBS_MAX = REMOTES_MAX, PLACES_PER_JOB = 4 };
/* The process may live for this many times the CPU time that it may take. */
enum { REAL_TIME_FACTOR = 10 };
enum { SIG_SETMASK = 2, LOWEST_PRIORITY = 19 };

typedef struct Chosen {
    u64 pc;
    u32 heat;
} Chosen;

typedef struct After {
    Chosen list[CHOSEN_MAX]; /* the hottest first */
    u32 count;
    u64 end_us; /* no request is made from then on */
} After;

static After after;

/* --------------------------------------------------------------------------------------------------------- what to compile */

/* Adds a place to the list, in the order of heat. If the list is full, the coldest place is dropped. */
static void add(u64 pc, u32 heat) {
    u32 i = after.count < CHOSEN_MAX ? after.count++ : CHOSEN_MAX;
    if (i == CHOSEN_MAX && after.list[--i].heat >= heat)
        return;
    for (; i && after.list[i - 1].heat < heat; i--)
        after.list[i] = after.list[i - 1];
    after.list[i] = (Chosen){pc, heat};
}

/* Lists the places that are hot enough and have no optimised code. */
static void choose(void) {
    const Code *c = the.tier.code;
    u64 need = learn_need_after(), most = learn_most_after();
    for (u64 i = 0; i < c->map_cap; i++) {
        const CodeEntry *e = &c->map[i];
        u64 heat = (u64)e->heat + e->past;
        if (e->used && !e->code && !e->given_up && heat >= need && image_keeps(e->pc))
            add(e->pc, heat < UINT32_MAX ? (u32)heat : UINT32_MAX);
    }
    after.count = after.count < most ? after.count : (u32)most;
}

/* --------------------------------------------------------------------------------------------------------- the process */

/* Locks the first byte of the file `claims` in the cache's directory, so that there is only one such process; servers lock other bytes of it. The new
 * process inherits the descriptor and with it the lock. Returns the descriptor, or a negative number if another process has the lock. */
static i64 claim(void) {
    enum { WRITE_LOCK = 1, SET_LOCK = 37 /* F_OFD_SETLK */, MODE = 0600 };
    struct {
        i16 type, whence;
        i64 start, size;
        i32 pid;
    } lock = {.type = WRITE_LOCK, .size = 1};
    char path[sizeof(the.opt.cache_dir) + sizeof("/claims")];
    format_text(path, sizeof(path), "%s/claims", the.opt.cache_dir);
    i64 fd = sys_open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, MODE);
    if (fd < 0 || !sys_fcntl((int)fd, SET_LOCK, (u64)&lock))
        return fd;
    sys_close((int)fd);
    return -1;
}

/* The lowest address between `at` and `end` at which a module begins, or `end`. */
static u64 next_module(u64 at, u64 end) {
    for (u32 i = 0; i < the.memory.module_count; i++) {
        u64 base = the.memory.modules[i].base;
        end = the.memory.modules[i].end && base > at && base < end ? base : end;
    }
    return end;
}

/* Keeps the guest's memory out of the new process, except for the modules. Before the fork, memory is marked as not to be copied. That is only
 * possible while no other thread could fork as well; otherwise the new process unmaps the memory itself (in_child). */
static void leave_out_memory(bool in_child) {
    enum { NOT_FOR_CHILDREN = 10 /* MADV_DONTFORK */ };
    u64 start, end, at = 0;
    u32 prot;
    while (space_next(at, &start, &end, &prot)) {
        at = at > start ? at : start;
        const Module *m = space_module(at);
        u64 next = m ? m->end : next_module(at, end);
        if (!m && in_child)
            sys_munmap(at, next - at);
        else if (!m)
            sys_madvise(at, next - at, NOT_FOR_CHILDREN);
        at = next;
    }
}

static void set_limit(u32 resource, u64 value) {
    Limit limit;
    if (sys_prlimit(resource, NULL, &limit.soft))
        return;
    limit.soft = limit.hard = value < limit.hard ? value : limit.hard;
    sys_prlimit(resource, &limit.soft, NULL);
}

/* Makes the process end after so many seconds of real time, whatever it waits for, or by a signal that people send to end programs. None of the
 * guest's handlers is called. */
static void set_signals(u64 seconds) {
    static const u8 ends_it[] = {1 /* SIGHUP */, 2 /* SIGINT */, 3 /* SIGQUIT */, 14 /* SIGALRM */, 15 /* SIGTERM */};
    u64 by_default[4] = {0}, mask = ~(u64)0;
    for (u32 i = 0; i < ARRAY_LEN(ends_it); i++) {
        sys_rt_sigaction(ends_it[i], by_default, NULL);
        mask &= ~((u64)1 << (ends_it[i] - 1));
    }
    u64 once[4] = {0, 0, seconds, 0}; /* struct itimerval */
    sys3(__NR_setitimer, 0, (u64)once, 0);
    sys_rt_sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void become_idle(void) {
    enum { IDLE = 5 /* SCHED_IDLE */ };
    i32 priority = 0;
    sys3(__NR_setpriority, 0, 0, LOWEST_PRIORITY);
    sys3(__NR_sched_setscheduler, 0, IDLE, (u64)&priority);
    set_limit(RLIMIT_CPU, the.opt.after_s);
    set_signals((u64)the.opt.after_s * REAL_TIME_FACTOR);
}

/* In the new process: gives up the connections, descriptors and counts of the guest's process, and becomes a process of its own with the lowest priority. */
static void leave_guest(Thread *t, int lock, bool alone) {
    t->pid = (u32)sys_getpid();
    t->tid = (u32)sys_gettid();
    t->next = NULL;
    t->process.own_files = false;
    the.threads = t;
    translated_leave_parent(t);
    translated_after_fork(t);
    the.stats_fd = 2;
    the.os.status = 0;
    the.stats.requested = the.stats.servers = the.stats.reverted = the.stats.refused = 0;
    the.stats.lift_us = the.stats.opt_us = the.stats.emit_us = 0;
    the.server.background_s = the.opt.after_s;
    spawn_detach(lock);
    sys1(__NR_chdir, (u64) "/");
    sys_prctl(PR_SET_NAME, (u64) "lathe-after", 0, 0, 0);
    if (!alone)
        leave_out_memory(true);
    become_idle();
}

/* ------------------------------------------------------------------------------------------------------------ its work */

static void take(Thread *t, const ObjectMessage *facts, const void *object) {
    arena_lock();
    if (object)
        code_install(t, facts, object);
    else
        code_refused(facts);
    arena_unlock();
}

/* Has every `jobs`th place of the list compiled, beginning with place number `job`. */
static void compile(Thread *t, u32 job, u32 jobs) {
    for (u32 i = job; i < after.count && sys_now_us() < after.end_us; i += jobs) {
        u64 pc = after.list[i].pc;
        const Module *m = space_module(pc);
        ObjectMessage facts;
        const void *object;
        Remote *r = m ? remote_take(t) : NULL;
        if (r && remote_translate(t, r, remote_request(pc, m), &facts, &object))
            take(t, &facts, object);
        if (r)
            remote_give(r);
    }
}

static u32 count_jobs(void) {
    u32 jobs = 1 + after.count / PLACES_PER_JOB, most = remote_processors();
    jobs = jobs < most ? jobs : most;
    return jobs < JOBS_MAX ? jobs : JOBS_MAX;
}

/* Links what servers have put into the cache meanwhile, for this process, its jobs or another process. */
static void take_cached(Thread *t) {
    arena_lock();
    store_change(0);
    for (u32 i = 0; i < after.count; i++) {
        code_recall(after.list[i].pc, after.list[i].heat, false, false);
        code_load(t, after.list[i].pc);
    }
    arena_unlock();
}

static bool is_anything_left(void) {
    u32 kept = 0;
    arena_lock();
    for (u32 i = 0; i < after.count; i++)
        if (!code_has(after.list[i].pc))
            after.list[kept++] = after.list[i];
    after.count = kept;
    arena_unlock();
    return kept;
}

/* What servers did for a job, in memory that all jobs share. */
typedef struct Spent {
    u64 requested, servers, lift_us, opt_us, emit_us;
} Spent;

static void add_spent(const Spent *s) {
    the.stats.requested += s->requested;
    the.stats.servers += s->servers;
    the.stats.lift_us += s->lift_us;
    the.stats.opt_us += s->opt_us;
    the.stats.emit_us += s->emit_us;
}

static _Noreturn void be_job(Thread *t, u32 job, u32 jobs, Spent *spent) {
    const Stats *s = &the.stats;
    t->pid = (u32)sys_getpid();
    t->tid = (u32)sys_gettid();
    arena_after_fork();
    compile(t, job, jobs);
    *spent = (Spent){s->requested, s->servers, s->lift_us, s->opt_us, s->emit_us};
    sys_exit_group(0);
}

static void compile_all(Thread *t) {
    i64 shared = own_map(PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Spent *spent = (Spent *)shared;
    u32 jobs = shared < 0 ? 1 : count_jobs();
    for (u32 i = 1; i < jobs; i++)
        if (sys_fork_quietly(0) == 0)
            be_job(t, i, jobs, &spent[i]);
    arena_after_fork();
    compile(t, 0, jobs);
    while (jobs > 1 && sys_wait4(-1, NULL, __WALL, NULL) > 0)
        ;
    for (u32 i = 1; i < jobs; i++)
        add_spent(&spent[i]);
}

static _Noreturn void work(Thread *t, int lock, bool alone) {
    leave_guest(t, lock, alone);
    after.end_us = sys_now_us() + (u64)the.opt.after_s * REAL_TIME_FACTOR * 1000000 / 2;
    take_cached(t);
    if (is_anything_left()) {
        compile_all(t);
        take_cached(t);
    }
    image_save_after(t);
    sys_exit_group(0);
}

/* Forks twice; the process in between ends at once, so that the new process has no parent here, and nobody has to wait for it. */
static void start(Thread *t, int lock) {
    u64 all = ~(u64)0;
    bool alone = the.threads == t && !t->next;
    sys_rt_sigprocmask(SIG_SETMASK, &all, NULL);
    if (alone)
        leave_out_memory(false);
    arena_lock();
    space_lock();
    translated_before_fork();
    i64 child = sys_fork_quietly(CLONE_UNTRACED);
    i64 grandchild = child ? 0 : sys_fork_quietly(CLONE_UNTRACED);
    if (!child && grandchild)
        sys_exit_group(0);
    space_unlock();
    arena_unlock();
    if (!child)
        work(t, lock, alone);
    while (child > 0 && sys_wait4(child, NULL, __WALL, NULL) == -EINTR)
        ;
}

/* May a process be started after this run? Not with --dump, whose files belong to the run. */
static bool is_able(Thread *t) {
    return the.opt.after_s && !the.opt.dump && tier_asks() && image_is_writable(t) && !keeper_descriptor(t) &&
           !keeper_adopts_orphans();
}

void after_run(Thread *t) {
    if (is_able(t)) {
        arena_lock();
        choose();
        arena_unlock();
    }
    image_save(t);
    i64 lock = after.count ? claim() : -1;
    if (lock < 0)
        return;
    the.stats.left = after.count;
    start(t, (int)lock);
    sys_close((int)lock);
}
