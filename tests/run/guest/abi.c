/* abi.c: structures and flags that programs and the kernel hand each other. They differ between machines; what is printed does not. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define SHOW(expression) printf("%s: %lld\n", #expression, (long long)(expression))
#define SHOW_ERROR(expression)                                                                                         \
    do {                                                                                                               \
        errno = 0;                                                                                                     \
        long long result = (long long)(expression);                                                                    \
        printf("%s: %lld %s\n", #expression, result, strerror(errno));                                                 \
    } while (0)

/* -------------------------------------------------------------------------------------------------------------- files */

static int same_times(struct timespec a, struct statx_timestamp b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == (long)b.tv_nsec;
}

static void show_stat(const char *path) {
    struct stat a, b;
    struct statx x;
    int fd = open(path, O_RDONLY | O_NONBLOCK);
    SHOW(stat(path, &a));
    SHOW(fstat(fd, &b));
    SHOW(statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &x));
    SHOW(!memcmp(&a, &b, sizeof(a)));
    SHOW(a.st_dev == makedev(x.stx_dev_major, x.stx_dev_minor) &&
         a.st_rdev == makedev(x.stx_rdev_major, x.stx_rdev_minor));
    SHOW(a.st_ino == x.stx_ino && a.st_nlink == x.stx_nlink && a.st_uid == x.stx_uid && a.st_gid == x.stx_gid);
    SHOW(a.st_blksize == (blksize_t)x.stx_blksize && a.st_blocks == (blkcnt_t)x.stx_blocks &&
         a.st_size == (off_t)x.stx_size);
    SHOW(same_times(a.st_atim, x.stx_atime) && same_times(a.st_mtim, x.stx_mtime) &&
         same_times(a.st_ctim, x.stx_ctime));
    printf("%o %ld %lld %d %d\n", a.st_mode, (long)a.st_nlink, S_ISREG(a.st_mode) ? (long long)a.st_size : 0,
           major(a.st_rdev), minor(a.st_rdev));
    close(fd);
}

static void files(void) {
    int fd = open("file", O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0640);
    struct timespec times[2] = {{1000000001, 123456789}, {-5, 999999999}};
    SHOW(pwrite(fd, "hello", 5, 1 << 20));
    SHOW(futimens(fd, times));
    link("file", "second");
    symlink("file", "link");
    show_stat("file");
    show_stat("/dev/null");
    SHOW_ERROR(open("file", O_CREAT | O_EXCL | O_RDWR, 0600));
    SHOW_ERROR(open("file", O_RDONLY | O_DIRECTORY));
    SHOW_ERROR(open("link", O_RDONLY | O_NOFOLLOW));
    SHOW_ERROR(open(".", O_RDWR));
    SHOW_ERROR(openat(AT_FDCWD, "none", O_PATH));
    int other = open("file", O_WRONLY | O_APPEND | O_NONBLOCK | O_SYNC | O_NOATIME);
    /* Without O_LARGEFILE, which the kernel adds, and which the C library calls 0. */
    int large = O_DIRECTORY == 040000 ? 0400000 : 0100000;
    printf("%o %o\n", fcntl(fd, F_GETFL) & ~large, fcntl(other, F_GETFL) & ~large);
    SHOW(fcntl(fd, F_GETFD));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 100, .l_len = 50};
    SHOW(fcntl(fd, F_SETLK, &lock));
    struct flock mine = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 120, .l_len = 0};
    SHOW(fcntl(other, F_OFD_GETLK, &mine));
    printf("%d %ld %ld %d\n", mine.l_type, (long)mine.l_start, (long)mine.l_len, mine.l_pid == getpid());
    int anonymous = open(".", O_TMPFILE | O_RDWR, 0600);
    SHOW(anonymous >= 0 || errno == EOPNOTSUPP);
    SHOW(fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 4096));
    struct statvfs fs;
    SHOW(fstatvfs(fd, &fs));
    SHOW(fs.f_namemax);
    SHOW(fs.f_bsize > 0 && fs.f_blocks >= fs.f_bfree);
    SHOW(renameat2(AT_FDCWD, "second", AT_FDCWD, "file", RENAME_EXCHANGE));
    SHOW_ERROR(access("file", X_OK));
    close(fd);
    close(other);
}

/* ------------------------------------------------------------------------------------------------------------- events */

static void events(void) {
    int poller = epoll_create1(EPOLL_CLOEXEC), counter = eventfd(3, EFD_NONBLOCK), ends[2];
    pipe2(ends, O_NONBLOCK | O_CLOEXEC);
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = 0x1234567890abcdef}, got[8];
    SHOW(epoll_ctl(poller, EPOLL_CTL_ADD, counter, &e));
    e = (struct epoll_event){.events = EPOLLOUT | EPOLLET, .data.ptr = got};
    SHOW(epoll_ctl(poller, EPOLL_CTL_ADD, ends[1], &e));
    SHOW_ERROR(epoll_ctl(poller, EPOLL_CTL_ADD, ends[1], &e));
    int n = epoll_wait(poller, got, 8, 1000);
    SHOW(n);
    for (int i = 0; i < n; i++)
        printf("%x %d\n", got[i].events,
               got[i].events & EPOLLIN ? got[i].data.u64 == 0x1234567890abcdef : got[i].data.ptr == got);
    SHOW_ERROR(epoll_wait(poller, got, 0, 0));
    SHOW(epoll_pwait(poller, got, 8, 0, NULL));
    SHOW(epoll_ctl(poller, EPOLL_CTL_DEL, counter, NULL));
    uint64_t value = 0;
    SHOW(read(counter, &value, 8));
    SHOW(value);
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct itimerspec in = {{0, 0}, {0, 1000000}}, left;
    SHOW(timerfd_settime(timer, 0, &in, NULL));
    struct pollfd p = {.fd = timer, .events = POLLIN};
    SHOW(poll(&p, 1, 5000));
    SHOW(p.revents);
    SHOW(timerfd_gettime(timer, &left));
    int watcher = inotify_init1(IN_NONBLOCK);
    SHOW(inotify_add_watch(watcher, ".", IN_CREATE));
    close(creat("noticed", 0600));
    char buffer[512];
    SHOW(read(watcher, buffer, sizeof(buffer)) > 0);
    const struct inotify_event *notice = (const struct inotify_event *)buffer;
    printf("%x %s\n", notice->mask, notice->name);
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[1], &set);
    struct timeval none = {0, 0};
    SHOW(select(ends[1] + 1, NULL, &set, NULL, &none));
}

/* ------------------------------------------------------------------------------------------------------------ signals */

static volatile int seen, code, value;

static void handle(int sig, siginfo_t *info, void *context) {
    (void)context;
    seen = sig, code = info->si_code, value = info->si_value.sival_int;
}

static void signals(void) {
    struct sigaction a = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART}, old = {0};
    sigemptyset(&a.sa_mask);
    sigaddset(&a.sa_mask, SIGUSR2);
    sigaddset(&a.sa_mask, 60);
    SHOW(sigaction(SIGUSR1, &a, &old));
    SHOW(old.sa_handler == SIG_DFL);
    SHOW(sigaction(SIGUSR1, NULL, &old));
    enum { SA_RESTORER = 0x04000000 }; /* where there is one */
    printf("%d %x %d %d %d\n", old.sa_sigaction == handle, old.sa_flags & ~SA_RESTORER,
           sigismember(&old.sa_mask, SIGUSR2), sigismember(&old.sa_mask, 60), sigismember(&old.sa_mask, 61));
    sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 4711});
    printf("%d %d %d\n", seen, code, value);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_NONBLOCK);
    sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 815});
    struct signalfd_siginfo info;
    SHOW(read(fd, &info, sizeof(info)));
    printf("%u %d %d %d\n", info.ssi_signo, info.ssi_code, info.ssi_int, info.ssi_pid == (uint32_t)getpid());
    struct itimerval every = {{0, 0}, {0, 2000}}, now;
    signal(SIGALRM, SIG_IGN);
    SHOW(setitimer(ITIMER_REAL, &every, NULL));
    SHOW(getitimer(ITIMER_REAL, &now));
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 99};
    struct itimerspec once = {{0, 0}, {0, 1000000}};
    seen = 0;
    SHOW(timer_create(CLOCK_MONOTONIC, &event, &timer));
    SHOW(timer_settime(timer, 0, &once, NULL));
    while (!seen)
        usleep(1000);
    printf("%d %d %d\n", seen, code, value);
}

/* ------------------------------------------------------------------------------------------------- terminals, sockets */

static void terminals(void) {
    int master, slave;
    struct winsize size = {24, 80, 0, 0}, got = {0};
    struct termios t;
    SHOW(openpty(&master, &slave, NULL, NULL, &size));
    SHOW(ioctl(slave, TIOCGWINSZ, &got));
    printf("%d %d\n", got.ws_row, got.ws_col);
    SHOW(tcgetattr(slave, &t));
    printf("%x %x %x %x %d %d %d\n", t.c_iflag, t.c_oflag, t.c_cflag, t.c_lflag, t.c_cc[VINTR], t.c_cc[VEOF],
           t.c_cc[VMIN]);
    cfmakeraw(&t);
    cfsetspeed(&t, B115200);
    t.c_cc[VTIME] = 7;
    SHOW(tcsetattr(slave, TCSANOW, &t));
    SHOW(tcgetattr(slave, &t));
    printf("%x %x %x %x %d %d\n", t.c_iflag, t.c_oflag, t.c_cflag, t.c_lflag, t.c_cc[VTIME],
           cfgetospeed(&t) == B115200);
    SHOW(write(master, "typed", 5));
    int waiting = 0;
    SHOW(
        poll(&(struct pollfd){.fd = slave, .events = POLLIN}, 1, 10000)); /* the kernel hands it over in its own time */
    SHOW(ioctl(slave, FIONREAD, &waiting));
    SHOW(waiting);
    SHOW(isatty(slave));
    SHOW_ERROR(isatty(open("/dev/null", O_RDONLY)));
}

static void send_descriptor(int to, int fd) {
    char data[] = "with", control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec parts[2] = {{data, 2}, {data + 2, 2}};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = 2, .msg_control = control, .msg_controllen = sizeof(control)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    SHOW(sendmsg(to, &m, MSG_NOSIGNAL));
}

static void receive_descriptor(int from) {
    char data[16] = "", control[256];
    struct iovec part = {data, sizeof(data)};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
    SHOW(recvmsg(from, &m, MSG_CMSG_CLOEXEC));
    printf("%s %x\n", data, m.msg_flags);
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        int fd;
        memcpy(&fd, CMSG_DATA(c), sizeof(fd));
        printf("%d %d %zu\n", c->cmsg_level, c->cmsg_type, (size_t)c->cmsg_len);
        if (c->cmsg_type == SCM_RIGHTS)
            SHOW(fcntl(fd, F_GETFD));
    }
}

static void sockets(void) {
    int pair[2], one = 1, type = 0;
    SHOW(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair));
    socklen_t len = sizeof(type);
    SHOW(getsockopt(pair[0], SOL_SOCKET, SO_TYPE, &type, &len));
    SHOW(type);
    SHOW(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)));
    struct ucred peer;
    len = sizeof(peer);
    SHOW(getsockopt(pair[0], SOL_SOCKET, SO_PEERCRED, &peer, &len));
    SHOW(peer.pid == getpid() && peer.uid == getuid());
    struct timeval wait = {1, 500000}, got = {0};
    SHOW(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)));
    len = sizeof(got);
    SHOW(getsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &got, &len));
    printf("%ld %ld\n", (long)got.tv_sec, (long)got.tv_usec);
    struct linger linger = {1, 7};
    SHOW(setsockopt(pair[0], SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)));
    SHOW_ERROR(recv(pair[1], &one, 1, 0));
    send_descriptor(pair[0], 0);
    receive_descriptor(pair[1]);
    struct mmsghdr many[2] = {0};
    struct iovec parts[2] = {{"ab", 2}, {"cde", 3}};
    for (int i = 0; i < 2; i++)
        many[i].msg_hdr.msg_iov = &parts[i], many[i].msg_hdr.msg_iovlen = 1;
    SHOW(sendmmsg(pair[0], many, 2, 0));
    printf("%u %u\n", many[0].msg_len, many[1].msg_len);
    SHOW_ERROR(socket(AF_UNIX, 77, 0));
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"}, found;
    int server = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    SHOW(bind(server, (struct sockaddr *)&address, sizeof(address)));
    len = sizeof(found);
    SHOW(getsockname(server, (struct sockaddr *)&found, &len));
    printf("%s\n", found.sun_path);
}

/* --------------------------------------------------------------------------------------------------- System V, memory */

union semun {
    int val;
    struct semid_ds *buf;
    unsigned short *array;
    struct seminfo *info;
};

static void semaphores(void) {
    int id = semget(IPC_PRIVATE, 3, IPC_CREAT | 0600);
    unsigned short values[3] = {1, 2, 3};
    struct {
        uint64_t before;
        struct semid_ds ds;
        uint64_t after;
    } s = {.before = 11, .after = 22};
    SHOW(semctl(id, 0, SETALL, (union semun){.array = values}));
    SHOW(semctl(id, 0, IPC_STAT, (union semun){.buf = &s.ds}));
    printf("%ld %o %d %d %d\n", (long)s.ds.sem_nsems, s.ds.sem_perm.mode, s.ds.sem_perm.uid == getuid(),
           s.ds.sem_otime == 0, labs(s.ds.sem_ctime - time(NULL)) < 60);
    printf("%d %d\n", (int)s.before, (int)s.after);
    s.ds.sem_perm.mode = 0400;
    SHOW(semctl(id, 0, IPC_SET, (union semun){.buf = &s.ds}));
    s.ds.sem_perm.mode = 0;
    SHOW(semctl(id, 0, IPC_STAT, (union semun){.buf = &s.ds}));
    printf("%o\n", s.ds.sem_perm.mode);
    SHOW_ERROR(semctl(id, 0, IPC_STAT, (union semun){.buf = NULL}));
    struct sembuf less = {.sem_num = 1, .sem_op = -2};
    SHOW(semop(id, &less, 1));
    SHOW(semctl(id, 1, GETVAL));
    SHOW(semctl(id, 1, GETPID) == getpid());
    SHOW(semctl(id, 2, SETVAL, (union semun){.val = 42}));
    SHOW(semctl(id, 0, GETALL, (union semun){.array = values}));
    printf("%d %d %d\n", values[0], values[1], values[2]);
    SHOW(semctl(id, 0, IPC_RMID));
    SHOW_ERROR(semctl(id, 0, GETVAL));
}

static void other_ipc(void) {
    int shared = shmget(IPC_PRIVATE, 10000, IPC_CREAT | 0600), queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    struct shmid_ds s;
    char *at = shmat(shared, NULL, 0);
    strcpy(at, "shared");
    SHOW(shmctl(shared, IPC_STAT, &s));
    printf("%zu %d %d %d\n", s.shm_segsz, (int)s.shm_nattch, s.shm_cpid == getpid(), s.shm_perm.mode & 0777);
    SHOW(shmdt(at));
    SHOW(shmctl(shared, IPC_RMID, NULL));
    struct {
        long type;
        char text[16];
    } m = {7, "message"}, got = {0};
    struct msqid_ds q;
    SHOW(msgsnd(queue, &m, sizeof(m.text), 0));
    SHOW(msgctl(queue, IPC_STAT, &q));
    printf("%ld %d %d\n", (long)q.msg_qnum, q.msg_lspid == getpid(), q.msg_stime > 0);
    SHOW(msgrcv(queue, &got, sizeof(got.text), 7, 0));
    printf("%ld %s\n", got.type, got.text);
    SHOW(msgctl(queue, IPC_RMID, NULL));
}

static void memory(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at =
        mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_POPULATE, -1, 0);
    SHOW_ERROR(mmap(at, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED);
    SHOW(mmap(at + page, page, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at + page);
    SHOW(madvise(at, page, MADV_DONTNEED));
    SHOW(msync(at, page, MS_ASYNC));
    SHOW(mlock(at, page));
    unsigned char in[4];
    SHOW(mincore(at, 4 * page, in));
    char *moved = mremap(at, page, 2 * page, MREMAP_MAYMOVE);
    SHOW(moved != MAP_FAILED);
    SHOW_ERROR(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    int fd = memfd_create("name", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    SHOW(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW));
    SHOW_ERROR(ftruncate(fd, 100));
}

/* ---------------------------------------------------------------------------------------------------------- processes */

static void processes(void) {
    struct rusage usage;
    siginfo_t info = {0};
    int status, tid = 0;
    pid_t child = fork();
    if (!child)
        _exit(42);
    SHOW(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT));
    printf("%d %d %d %d\n", info.si_signo, info.si_code, info.si_status, info.si_pid == child);
    SHOW(wait4(child, &status, 0, &usage) == child);
    printf("%d %d\n", WEXITSTATUS(status), usage.ru_maxrss > 0);
    /* Of clone, the order of the last two differs. */
    child = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_PARENT_SETTID, 0, &tid, 0, 0);
    if (!child)
        _exit(7);
    SHOW(waitpid(child, &status, 0) == child && tid == child);
    SHOW(WEXITSTATUS(status));
    struct rlimit limit;
    SHOW(getrlimit(RLIMIT_NOFILE, &limit));
    limit.rlim_cur = 100;
    SHOW(setrlimit(RLIMIT_NOFILE, &limit));
    SHOW(sysconf(_SC_OPEN_MAX));
    struct sysinfo system;
    SHOW(sysinfo(&system));
    SHOW(system.totalram > 0 && system.mem_unit > 0 && system.procs > 0);
    struct tms clocks;
    SHOW(times(&clocks) != -1);
    struct timespec now, resolution;
    SHOW(clock_gettime(CLOCK_REALTIME, &now) || clock_getres(CLOCK_MONOTONIC, &resolution));
    SHOW(labs(now.tv_sec - time(NULL)) < 60);
    SHOW(resolution.tv_nsec);
    SHOW(syscall(SYS_rseq, 0, 0, 0, 0) == -1);
    SHOW(getpriority(PRIO_PROCESS, 0) == getpriority(PRIO_PROCESS, getpid()));
    cpu_set_t cpus;
    SHOW(sched_getaffinity(0, sizeof(cpus), &cpus));
    SHOW(CPU_COUNT(&cpus) > 0);
    SHOW_ERROR(syscall(100000));
}

int main(void) {
    files();
    events();
    signals();
    terminals();
    sockets();
    semaphores();
    other_ipc();
    memory();
    processes();
    return 0;
}
