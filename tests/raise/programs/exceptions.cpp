// Exceptions: thrown through, caught in, cleaned up in and rethrown in raised functions, also where native code is between them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <typeinfo>
#include <unistd.h>
#include <vector>

#define NOINLINE __attribute__((noinline))

static int volatile zero;

struct Trace {
    const char *name;
    int n;
    Trace(const char *name, int n) : name(name), n(n) {
    }
    ~Trace() {
        printf("  ~%s %d\n", name, n);
    }
};

struct Base {
    virtual ~Base() {
    }
    virtual const char *what() const {
        return "Base";
    }
};
struct Left : virtual Base {
    const char *what() const override {
        return "Left";
    }
};
struct Right : virtual Base {
    const char *what() const override {
        return "Right";
    }
};
struct Both : Left, Right {
    int value = 7;
    const char *what() const override {
        return "Both";
    }
};
struct Big {
    char bytes[300];
    int n;
    Big(int n) : n(n) {
        memset(bytes, n, sizeof(bytes));
    }
    Big(const Big &b) : n(b.n + 1000) {
        memcpy(bytes, b.bytes, sizeof(bytes));
    }
};

NOINLINE static void thrower(int kind) {
    Trace t("thrower", kind);
    switch (kind) {
    case 0:
        return;
    case 1:
        throw 42;
    case 2:
        throw std::runtime_error("runtime");
    case 3:
        throw std::string("text");
    case 4:
        throw Both();
    case 5:
        throw Left();
    case 6:
        throw Big(5);
    case 7:
        throw "literal";
    case 8:
        throw 2.5;
    case 9:
        throw std::bad_alloc();
    case 10:
        throw std::logic_error("logic");
    case 11:
        throw(long) 11;
    case 12:
        throw nullptr;
    }
    printf("nothing for %d\n", kind);
}

NOINLINE static void between(int kind) {
    Trace a("between", kind);
    thrower(kind);
    Trace b("after", kind);
    printf("  back %d\n", kind);
}

NOINLINE static int catcher(int kind) {
    try {
        Trace t("catcher", kind);
        between(kind);
    } catch (int n) {
        printf("int %d\n", n);
        return 1;
    } catch (const std::logic_error &e) {
        printf("logic_error %s\n", e.what());
        return 2;
    } catch (const std::exception &e) {
        printf("exception %s (%s)\n", e.what(), typeid(e).name());
        return 3;
    } catch (const Right &r) {
        printf("Right: %s\n", r.what());
        return 4;
    } catch (const Base &b) {
        printf("Base: %s\n", b.what());
        return 5;
    } catch (Big b) {
        printf("Big %d %d\n", b.n, b.bytes[299]);
        return 6;
    } catch (const char *s) {
        printf("pointer %s\n", s);
        return 7;
    } catch (const std::string &s) {
        printf("string %s\n", s.c_str());
        return 8;
    } catch (...) {
        printf("anything\n");
        return 9;
    }
    return 0;
}

// Rethrown, replaced by another, and thrown in a handler.
NOINLINE static void rethrower(int how) {
    Trace t("rethrower", how);
    try {
        thrower(how);
    } catch (int &n) {
        n++;
        throw;
    } catch (std::string &s) {
        throw std::runtime_error(s + " replaced");
    } catch (...) {
        try {
            throw;
        } catch (const std::exception &e) {
            printf("  inner %s\n", e.what());
        } catch (double) {
            Trace inner("inner", how);
            throw;
        }
        printf("  after inner\n");
    }
}

// A function that catches between the values of its loop, with a table of jumps in both.
NOINLINE static int switching(int from, int to) {
    int sum = 0;
    for (int i = from; i < to; i++) {
        try {
            switch (i) {
            case 0:
                sum += 1;
                break;
            case 1:
                thrower(1);
                break;
            case 2:
                sum *= 3;
                break;
            case 3:
                thrower(3);
                break;
            case 4:
                sum -= 5;
                break;
            case 5:
                throw i;
            case 6:
                sum ^= 99;
                thrower(0);
                break;
            default:
                throw std::out_of_range("switching");
            }
        } catch (int n) {
            switch (n) {
            case 40:
                sum += 2;
                break;
            case 41:
                sum += 3;
                break;
            case 42:
                sum += 1000;
                break;
            case 43:
                sum += 4;
                break;
            case 5:
                sum += 500;
                break;
            default:
                return -1;
            }
        } catch (const std::string &s) {
            sum += (int)s.size() * 10000;
        } catch (const std::exception &) {
            sum += 7;
        }
    }
    return sum;
}

// Many frames, each with something to clean up.
static int cleaned;
struct Count {
    int n;
    ~Count() {
        cleaned += n;
    }
};

NOINLINE static int deep(int n) {
    Count c{1};
    if (n == zero)
        throw std::runtime_error("bottom");
    return deep(n - 1) + c.n;
}

NOINLINE static int partly_caught(int n) {
    Count c{1};
    try {
        if (n == zero)
            throw 1;
        return partly_caught(n - 1) + 1;
    } catch (int depth) {
        if (depth % 10)
            throw depth + 1;
        return depth;
    }
}

// Through native code: comparisons of qsort(), handlers of atexit() and the like.
static int compared;
static int compare(const void *a, const void *b) {
    Trace t("compare", compared);
    if (++compared == 5)
        throw std::runtime_error("in qsort");
    return *(const int *)a - *(const int *)b;
}

NOINLINE static void sort_and_throw(int limit) {
    int values[] = {5, 3, 9, 1, 7, 2, 8};
    compared = limit;
    try {
        Trace t("sort", limit);
        qsort(values, 7, sizeof(int), compare);
    } catch (const std::exception &e) {
        printf("caught %s after %d\n", e.what(), compared);
        return;
    }
    printf("sorted %d %d %d\n", values[0], values[3], values[6]);
}

// Raised, native, raised, native: and caught at different places.
static int nesting(const void *a, const void *) {
    int depth = *(const int *)a;
    Trace t("nesting", depth);
    if (depth == 0)
        throw std::string("deep inside");
    int next[2] = {depth - 1, depth - 1};
    if (depth == 3) {
        try {
            qsort(next, 2, sizeof(int), nesting);
        } catch (const std::string &s) {
            throw s + " passed 3";
        }
    }
    qsort(next, 2, sizeof(int), nesting);
    return 0;
}

// Constructors that throw: what was constructed is destroyed.
struct Part {
    Trace t;
    Part(int n) : t("part", n) {
        if (n == 3)
            throw n;
    }
};
struct Whole : Part {
    Part second;
    std::vector<int> list;
    Part third;
    Whole(int n) : Part(n), second(n + 1), list(10, n), third(n + 2) {
    }
};
struct Tried {
    Part p;
    Tried(int n) try : p(n) { printf("  made %d\n", n); } catch (int m) {
        printf("  not made %d\n", m);
        throw std::logic_error("Tried");
    }
};

// Arguments on the stack of a call that throws.
NOINLINE static int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {
    if (a + b + c + d + e + f + g + h + i + j > 60)
        throw a + j;
    return a - j;
}
NOINLINE static int call_many(int n) {
    std::string local(20, (char)('a' + n));
    int result;
    try {
        result = many(n, 2, 3, 4, 5, 6, 7, 8, 9, n + (int)local.size());
    } catch (int caught) {
        result = caught * 100 + (int)local.size();
    }
    return result + local[3];
}

static NOINLINE void call_function(const std::function<void(int)> &f, int n) {
    Trace t("function", n);
    f(n);
}

static std::exception_ptr kept;
NOINLINE static void keep(int kind) {
    try {
        between(kind);
    } catch (...) {
        kept = std::current_exception();
    }
}

int main() {
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int kind = 0; kind <= 12; kind++)
        printf("catcher(%d) = %d\n", kind, catcher(kind));
    for (int how = 0; how <= 12; how++) {
        try {
            rethrower(how);
            printf("rethrower(%d) returned\n", how);
        } catch (int n) {
            printf("rethrown int %d\n", n);
        } catch (const std::exception &e) {
            printf("rethrown %s\n", e.what());
        } catch (...) {
            printf("rethrown something, %d uncaught\n", std::uncaught_exceptions());
        }
    }
    printf("switching %d %d\n", switching(0, 9), switching(3, 7));
    try {
        deep(10000);
    } catch (const std::runtime_error &e) {
        printf("%s, %d cleaned up\n", e.what(), cleaned);
    }
    cleaned = 0;
    printf("partly caught %d", partly_caught(95));
    printf(", %d cleaned up\n", cleaned);
    for (int limit = 4; limit >= -20; limit -= 3)
        sort_and_throw(limit);
    int start[2] = {4, 4};
    try {
        qsort(start, 2, sizeof(int), nesting);
    } catch (const std::string &s) {
        printf("%s\n", s.c_str());
    }
    for (int n = 0; n < 5; n++) {
        try {
            Whole w(n);
            printf("whole %d\n", (int)w.list.size());
        } catch (int m) {
            printf("no whole: %d\n", m);
        }
        try {
            Tried t(n);
        } catch (const std::logic_error &e) {
            printf("no %s\n", e.what());
        }
    }
    printf("many %d %d %d\n", call_many(0), call_many(1), call_many(-40));
    for (int n = 0; n < 3; n++) {
        int seen = 0;
        try {
            call_function(
                [&](int m) {
                    seen = m;
                    if (m == 1)
                        throw m;
                    thrower(m);
                },
                n);
        } catch (int m) {
            printf("function threw %d, seen %d\n", m, seen);
        } catch (const std::exception &e) {
            printf("function threw %s, seen %d\n", e.what(), seen);
        }
    }
    keep(2);
    for (int i = 0; i < 3; i++)
        try {
            std::rethrow_exception(kept);
        } catch (const std::runtime_error &e) {
            printf("kept %s\n", e.what());
        }
    kept = nullptr;
    try {
        std::vector<int> v(3);
        printf("%d\n", v.at(zero + 5));
    } catch (const std::out_of_range &) {
        printf("out of range\n");
    }
    try {
        Base *b = zero ? (Base *)new Both : new Base;
        Both &both = dynamic_cast<Both &>(*b);
        printf("%d\n", both.value);
    } catch (const std::bad_cast &e) {
        printf("bad cast\n");
    }
    try {
        throw std::nested_exception();
    } catch (const std::nested_exception &e) {
        printf("nested %d\n", e.nested_ptr() == nullptr);
    }
    return 0;
}
