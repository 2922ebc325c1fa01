// std: c++14
// Exception specifications: lists of types that a function may throw, and what becomes of others.
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

struct Trace {
    int n;
    ~Trace() {
        printf("  ~Trace %d\n", n);
    }
};

NOINLINE static void thrower(int kind) {
    Trace t{kind};
    switch (kind) {
    case 1:
        throw 1;
    case 2:
        throw std::runtime_error("two");
    case 3:
        throw "three";
    case 4:
        throw 4.5;
    }
}
NOINLINE static void only_int(int kind) throw(int) {
    Trace t{10 + kind};
    thrower(kind);
}
NOINLINE static void int_or_bad(int kind) throw(int, std::bad_exception) {
    Trace t{20 + kind};
    thrower(kind);
}
NOINLINE static void nested(int kind) throw(std::exception, int) {
    try {
        int_or_bad(kind);
    } catch (std::bad_exception &) {
        Trace t{30 + kind};
        throw std::logic_error("bad became logic");
    }
}
NOINLINE static void nothing(int kind) throw() {
    thrower(kind);
}
static void replace_by_int() {
    printf("  unexpected: now an int\n");
    throw 99;
}
static void replace_by_other() {
    printf("  unexpected: something else\n");
    throw 2.5f;
}

template <typename F> static void attempt(const char *name, int kind, F f) {
    try {
        f(kind);
        printf("%s %d returned\n", name, kind);
    } catch (int n) {
        printf("%s %d: int %d\n", name, kind, n);
    } catch (const std::exception &e) {
        printf("%s %d: %s\n", name, kind, e.what());
    } catch (...) {
        printf("%s %d: something\n", name, kind);
    }
}

static void run(int kind) {
    std::set_unexpected(replace_by_int);
    attempt("only_int", kind, only_int);
    std::set_unexpected(replace_by_other);
    attempt("int_or_bad", kind, int_or_bad);
    attempt("nested", kind, nested);
    std::set_unexpected(replace_by_int);
    attempt("only_int", kind, only_int);
    attempt("nothing", kind, nothing);
}

int main() {
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int kind = 0; kind <= 4; kind++) {
        pid_t child = fork();
        int status;
        if (!child) {
            run(kind);
            _exit(0);
        }
        waitpid(child, &status, 0);
        printf("%d: %s %d\n", kind, WIFSIGNALED(status) ? "signal" : "status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    return 0;
}
