/* headers.h: the headers whose functions raised programs of other machines may call (prototypes.py). Behind them is what compilers call
 * or headers make of other names, and no header declares. */
#include <features.h>
/* With __USE_GNU, addresses of sockets would be unions of pointers to all kinds of them. */
#undef __USE_GNU
#include <sys/socket.h>
#define __USE_GNU 1
#include <aio.h>
#include <aliases.h>
#include <argp.h>
#include <argz.h>
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <assert.h>
#include <byteswap.h>
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <envz.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fenv.h>
#include <fmtmsg.h>
#include <fnmatch.h>
#include <fstab.h>
#include <fts.h>
#include <ftw.h>
#include <getopt.h>
#include <glob.h>
#include <gnu/libc-version.h>
#include <grp.h>
#include <gshadow.h>
#include <iconv.h>
#include <ifaddrs.h>
#include <inttypes.h>
#include <langinfo.h>
#include <libgen.h>
#include <libintl.h>
#include <limits.h>
#include <link.h>
#include <locale.h>
#include <malloc.h>
#include <math.h>
#include <mcheck.h>
#include <mntent.h>
#include <monetary.h>
#include <mqueue.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <netinet/in.h>
#include <nl_types.h>
#include <obstack.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <pwd.h>
#include <regex.h>
#include <resolv.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <shadow.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/acct.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/param.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/quota.h>
#include <sys/random.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/swap.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <syslog.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <ttyent.h>
#include <uchar.h>
#include <ucontext.h>
#include <ulimit.h>
#include <unistd.h>
#include <utime.h>
#include <utmp.h>
#include <utmpx.h>
#include <wchar.h>
#include <wctype.h>
#include <wordexp.h>

int sendmmsg(int fd, void *messages, unsigned count, int flags);
int recvmmsg(int fd, void *messages, unsigned count, int flags, struct timespec *timeout);
int capget(void *header, void *data);
int capset(void *header, const void *data);
int _IO_getc(FILE *file);
int _IO_putc(int c, FILE *file);
int accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
void __stack_chk_fail(void);
int __xstat(int version, const char *path, struct stat *to);
int __lxstat(int version, const char *path, struct stat *to);
int __fxstat(int version, int fd, struct stat *to);
int __fxstatat(int version, int fd, const char *path, struct stat *to, int flags);
int __xstat64(int version, const char *path, struct stat64 *to);
int __lxstat64(int version, const char *path, struct stat64 *to);
int __fxstat64(int version, int fd, struct stat64 *to);
int __fxstatat64(int version, int fd, const char *path, struct stat64 *to, int flags);
int __xpg_strerror_r(int number, char *to, size_t size);
locale_t __newlocale(int mask, const char *name, locale_t base);
locale_t __duplocale(locale_t locale);
void __freelocale(locale_t locale);
locale_t __uselocale(locale_t locale);
char *__nl_langinfo_l(nl_item item, locale_t locale);
int __strcoll_l(const char *a, const char *b, locale_t locale);
size_t __strxfrm_l(char *to, const char *from, size_t size, locale_t locale);
size_t __strftime_l(char *to, size_t size, const char *text, const struct tm *tm, locale_t locale);
double __strtod_l(const char *from, char **end, locale_t locale);
float __strtof_l(const char *from, char **end, locale_t locale);
int __wcscoll_l(const wchar_t *a, const wchar_t *b, locale_t locale);
size_t __wcsxfrm_l(wchar_t *to, const wchar_t *from, size_t size, locale_t locale);
size_t __wcsftime_l(wchar_t *to, size_t size, const wchar_t *text, const struct tm *tm, locale_t locale);
int __iswctype_l(wint_t c, wctype_t type, locale_t locale);
wctype_t __wctype_l(const char *name, locale_t locale);
wint_t __towlower_l(wint_t c, locale_t locale);
wint_t __towupper_l(wint_t c, locale_t locale);
int __openat_2(int fd, const char *path, int flags);
int __openat64_2(int fd, const char *path, int flags);
int __cxa_atexit(void (*function)(void *), void *argument, void *object);
void *__memcpy_chk(void *to, const void *from, size_t size, size_t room);
void *__memmove_chk(void *to, const void *from, size_t size, size_t room);
void *__mempcpy_chk(void *to, const void *from, size_t size, size_t room);
void *__memset_chk(void *to, int byte, size_t size, size_t room);
char *__strcpy_chk(char *to, const char *from, size_t room);
char *__stpcpy_chk(char *to, const char *from, size_t room);
char *__strcat_chk(char *to, const char *from, size_t room);
char *__strncpy_chk(char *to, const char *from, size_t size, size_t room);
char *__strncat_chk(char *to, const char *from, size_t size, size_t room);
int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...);
int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...);
int __vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list list);
int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, va_list list);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
ssize_t __read_chk(int fd, void *to, size_t size, size_t room);
ssize_t __readlink_chk(const char *path, char *to, size_t size, size_t room);
char *__realpath_chk(const char *path, char *to, size_t room);
char *__getcwd_chk(char *to, size_t size, size_t room);
size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *file);
size_t __fread_unlocked_chk(void *to, size_t room, size_t size, size_t count, FILE *file);
char *__fgets_chk(char *to, size_t room, int size, FILE *file);
char *__fgets_unlocked_chk(char *to, size_t room, int size, FILE *file);
size_t __mbstowcs_chk(wchar_t *to, const char *from, size_t size, size_t room);
size_t __wcstombs_chk(char *to, const wchar_t *from, size_t size, size_t room);
size_t __mbsrtowcs_chk(wchar_t *to, const char **from, size_t size, mbstate_t *state, size_t room);
wchar_t *__wmemcpy_chk(wchar_t *to, const wchar_t *from, size_t size, size_t room);
long __fdelt_chk(long fd);
int __gethostname_chk(char *to, size_t size, size_t room);
void *__tls_get_addr(void *place);
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);
int __cxa_at_quick_exit(void (*function)(void *), void *object);
void __cxa_finalize(void *object);
char *__strdup(const char *text);
char *__strndup(const char *text, size_t size);
void *__rawmemchr(const void *at, int byte);
char *__stpncpy_chk(char *to, const char *from, size_t size, size_t room);
void __chk_fail(void);
int __overflow(FILE *file, int byte);
int __uflow(FILE *file);
int __isnan(double x);
int __isinf(double x);
int __finite(double x);
int __signbit(double x);
int __fpclassify(double x);
/* What a compiler's own functions ask whether there are atomic instructions. */
unsigned long __getauxval(unsigned long type);
/* What a compiler calls to compute. */
double __powidf2(double x, int n);
float __powisf2(float x, int n);
int __clzdi2(unsigned long x);
int __ctzdi2(unsigned long x);
int __ffsdi2(unsigned long x);
int __clrsbdi2(long x);
int __paritydi2(unsigned long x);
int __popcountdi2(unsigned long x);
unsigned __bswapsi2(unsigned x);
unsigned long __bswapdi2(unsigned long x);
/* What C++ compilers call. */
int __cxa_guard_acquire(long *guard);
void __cxa_guard_release(long *guard);
void __cxa_guard_abort(long *guard);
void __cxa_pure_virtual(void);
void __cxa_deleted_virtual(void);
void __cxa_bad_cast(void);
void __cxa_bad_typeid(void);
void __cxa_throw_bad_array_new_length(void);
void *__dynamic_cast(const void *object, const void *from, const void *to, long distance);
int __cxa_thread_atexit(void (*function)(void *), void *object, void *library);
void *__cxa_allocate_exception(size_t size);
void __cxa_free_exception(void *exception);
void __cxa_throw(void *exception, void *type, void (*destroy)(void *));
void __cxa_rethrow(void);
void *__cxa_begin_catch(void *exception);
void __cxa_end_catch(void);
void *__cxa_get_exception_ptr(void *exception);
void _Unwind_Resume(void *exception);
void *__cxa_init_primary_exception(void *exception, void *type, void (*destroy)(void *));
void *__cxa_current_exception_type(void);
unsigned __cxa_uncaught_exceptions(void);
/* Its variable arguments are integers. */
void _ZSt24__throw_out_of_range_fmtPKcz(const char *text, ...);
