/* files.cpp: file streams of C++ (std::ifstream and its like) as the program's machine lays them out.
 *
 * They have a lock of the C library in them, which nobody uses, but which is larger on some machines than on others, so that what is behind it is elsewhere. These classes are templates of
 * the library's headers: here they are compiled with a lock of the program's size, GUEST_LOCK_BYTES. Raised code finds them before the library's own, which have the same names; hidden.py
 * hides them, so that libraries go on to use theirs. */
#include <cstdio>
#include <istream>
#include <ostream>

/* In place of the library's bits/c++io.h, which says what its lock is. */
#define _GLIBCXX_CXX_IO_H 1
struct GuestLock {
    long words[GUEST_LOCK_BYTES / sizeof(long)];
};
namespace std {
typedef GuestLock __c_lock;
typedef FILE __c_file;
} // namespace std

/* The classes are not said to be somewhere else. */
#undef _GLIBCXX_EXTERN_TEMPLATE
#include <fstream>

/* The constructor of the library, in whose name is another type of lock, which it does not look at either. */
extern "C" void _ZNSt12__basic_fileIcEC1EP15pthread_mutex_t(void *file, void *lock);

namespace std {
__basic_file<char>::__basic_file(__c_lock *lock) throw() {
    _ZNSt12__basic_fileIcEC1EP15pthread_mutex_t(this, lock);
}

template class basic_filebuf<char>;
template class basic_ifstream<char>;
template class basic_ofstream<char>;
template class basic_fstream<char>;
template class basic_filebuf<wchar_t>;
template class basic_ifstream<wchar_t>;
template class basic_ofstream<wchar_t>;
template class basic_fstream<wchar_t>;
} // namespace std
