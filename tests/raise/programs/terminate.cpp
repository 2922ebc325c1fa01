// Exceptions that end the program: not caught, out of functions that promise not to throw, out of destructors and threads.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

struct Trace {
    int n;
    Trace(int n) : n(n) {
    }
    ~Trace() {
        printf("  ~Trace %d\n", n);
    }
};

NOINLINE static void thrower(int n) {
    Trace t(n);
    if (n)
        throw std::runtime_error("thrown " + std::to_string(n));
}
NOINLINE static void promises(int n) noexcept {
    Trace t(100 + n);
    thrower(n);
    printf("  promise kept\n");
}
struct Destroyed {
    int n;
    ~Destroyed() {
        Trace t(200 + n);
        thrower(n);
    }
};
struct DestroyedLoudly {
    int n;
    ~DestroyedLoudly() noexcept(false) {
        thrower(n);
    }
};
NOINLINE static void in_cleanup() {
    DestroyedLoudly d{8};
    thrower(7);
}

static void own_handler() {
    printf("own handler");
    try {
        std::rethrow_exception(std::current_exception());
    } catch (const std::exception &e) {
        printf(": %s", e.what());
    } catch (...) {
        printf(": something else");
    }
    printf("\n");
    _exit(77);
}

static int compare(const void *a, const void *b) noexcept {
    thrower(*(const int *)a);
    return *(const int *)a - *(const int *)b;
}

static void run(int which) {
    switch (which) {
    case 0:
        promises(0);
        break;
    case 1:
        thrower(1);
        break;
    case 2:
        promises(2);
        break;
    case 3: {
        Destroyed d{3};
        break;
    }
    case 4:
        throw 4;
    case 5:
        in_cleanup();
        break;
    case 6:
        std::thread([] { thrower(6); }).join();
        break;
    case 7:
        std::set_terminate(own_handler);
        promises(7);
        break;
    case 8:
        std::set_terminate(own_handler);
        throw which;
    case 9:
        std::terminate();
    case 10:
        try {
            throw;
        } catch (...) {
            printf("not reached\n");
        }
        break;
    case 11: {
        int values[] = {1, 2, 3};
        qsort(values, 3, sizeof(int), compare);
        break;
    }
    case 12: {
        DestroyedLoudly d{0};
        break;
    }
    case 13:
        try {
            DestroyedLoudly d{13};
        } catch (const std::exception &e) {
            printf("caught %s\n", e.what());
        }
        break;
    case 14:
        std::exception_ptr p;
        std::set_terminate(own_handler);
        std::rethrow_exception(std::make_exception_ptr(std::logic_error("made")));
    }
}

int main() {
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int which = 0; which <= 14; which++) {
        pid_t child = fork();
        int status;
        if (!child) {
            run(which);
            _exit(which);
        }
        waitpid(child, &status, 0);
        printf("%d: %s %d\n", which, WIFSIGNALED(status) ? "signal" : "status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    return 0;
}
