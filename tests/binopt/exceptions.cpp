/* exceptions.cpp: what is thrown below a specialised function is caught above it, with all registers as they were; and what is caught or
 * cleaned up in it still is. */
#include <binopt.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>

#define APART __attribute__((noinline, noclone))

static int failures, checks, created;

static void check(bool right, const char *what, int line) {
    checks++;
    if (right)
        return;
    failures++;
    std::printf("exceptions.cpp:%d: %s\n", line, what);
}
#define CHECK_THAT(cond) check(cond, #cond, __LINE__)

/* ------------------------------------------------------------------------------------------------------------------ thrown */

static long throws_at = 5, cleaned;
static void *wanted_address;
static bool seen;

/* Is the function that called the caller of `attempt` found on the way up? */
static APART void look_up() {
    void *addresses[64];
    int count = backtrace(addresses, 64);
    seen = std::find(addresses, addresses + count, wanted_address) != addresses + count;
}

static APART long thrower(long i) {
    look_up();
    if (i == throws_at)
        throw std::runtime_error("thrown");
    return i * 3;
}

static APART long thrower_of_eight(long a, long b, long c, long d, long e, long f, long g, long h) {
    return thrower(a) + b + c + d + e + f + 2 * g + h;
}

static APART long thrower_by_address(long *values, long i) {
    values[1] = thrower(i);
    return values[0];
}

/* --------------------------------------------------------------------------------------------------------------- specialised */

static APART long passes(long (*f)(long), long x, long n) {
    long a = x * 3, b = x ^ 5, c = x + 11, sum = 0;
    for (long i = 0; i < n; i++) {
        sum += f(i) * a + b;
        b += c;
    }
    return sum + a + b + c;
}

static APART long inner(long (*f)(long), long x, long k) {
    long a = x * k, b = x - k;
    long r = f(x);
    return r * a + b;
}

static APART long passes_twice(long (*f)(long), long x, long n) {
    long sum = x, k = n * x + 1;
    for (long i = 0; i < n; i++)
        sum += inner(f, i, k) ^ k;
    return sum - k;
}

static APART long on_the_stack(long (*f)(long, long, long, long, long, long, long, long), long x, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += f(i, x, 2, 3, 4, 5, x + 6, sum);
    return sum;
}

static APART long with_frame(long (*f)(long *, long), long x, long n) {
    long values[8] = {x, 2, 3}, sum = 0;
    for (long i = 0; i < n; i++)
        sum += f(values, i) + values[i & 7];
    return sum;
}

static APART long never_returns(long (*f)(long), long x, long n) {
    long a = x * n;
    a += f(1);
    a ^= f(2);
    throw a;
}

static APART long catches(long (*f)(long), long x, long n) {
    long sum = x;
    for (long i = 0; i < n; i++) {
        try {
            sum += f(i);
        } catch (const std::runtime_error &e) {
            sum += 1000 + static_cast<long>(std::strlen(e.what()));
        }
    }
    return sum;
}

struct Cleaner {
    long by;
    APART ~Cleaner() {
        cleaned += by;
    }
};

static APART long cleans_up(long (*f)(long), long x, long n) {
    Cleaner cleaner = {x};
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += f(i);
    return sum + cleaner.by;
}

static APART long calls_who_catches(long (*f)(long), long x, long n) {
    return catches(f, x, n) * 2 + x;
}

static APART long calls_who_cleans(long (*f)(long), long x, long n) {
    return cleans_up(f, x, n) * 2 + x;
}

/* ------------------------------------------------------------------------------------------------------------------ compared */

struct Outcome {
    long result, kept, cleaned;
    bool seen;
    bool operator==(const Outcome &o) const {
        return result == o.result && kept == o.kept && cleaned == o.cleaned && seen == o.seen;
    }
};

/* Numbers that are needed afterwards are in the registers that callees keep. */
template <typename F, typename G> static APART long attempt(F function, G callee, long x, long n, long *kept) {
    long a = x + 1, b = x + 2, c = x + 3, d = x + 4, e = x + 5, result;
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
    try {
        result = function(callee, x, n);
    } catch (const std::runtime_error &error) {
        result = -1 - static_cast<long>(std::strlen(error.what()));
    } catch (long v) {
        result = v;
    }
    asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
    *kept = ((((a * 31 + b) * 31 + c) * 31) + d) * 31 + e;
    return result;
}

template <typename F, typename G> static APART Outcome run(F function, G callee, long x, long n) {
    Outcome o = {};
    wanted_address = __builtin_return_address(0);
    cleaned = 0;
    seen = false;
    o.result = attempt(function, callee, x, n, &o.kept);
    o.cleaned = cleaned;
    o.seen = seen;
    return o;
}

/* Those with handlers are not for llvm. */
template <typename F, typename G> static void compare(F function, G callee, bool handles, int line) {
    bool none = !std::strncmp(binopt_driver(), "Default", 7), lifts = !std::strcmp(binopt_driver(), "llvm");
    for (int fixed = 0; fixed < 8; fixed++) {
        binopt::Handle handle;
        auto cfg = binopt::configure(handle, function);
        if (fixed & 1)
            cfg.template fix<1>(7);
        if (fixed & 2)
            cfg.template fix<2>(4);
        if (fixed & 4)
            cfg.template fix<0>(callee);
        auto made = cfg.create();
        check(!none || made == function, "the original", line);
        check(!lifts || (made == function) == handles, "a new function, if it has no handlers", line);
        created += made != function;
        auto again = binopt::configure(handle, made).template fix<1>(7).create();
        for (long at = -1; at < 5; at++) {
            throws_at = at;
            Outcome expected = run(function, callee, 7, 4);
            check(run(made, callee, 7, 4) == expected, "the same, and the same is caught", line);
            check(run(again, callee, 7, 4) == expected, "the same by what was made from it", line);
        }
        if (again == made)
            continue;
        /* What is gone leaves no tables behind. */
        binopt_spec_delete(handle, reinterpret_cast<BinoptFunc>(made));
        throws_at = 2;
        CHECK_THAT(run(again, callee, 7, 4) == run(function, callee, 7, 4));
    }
}
#define COMPARE(function, callee) compare(function, callee, false, __LINE__)
#define COMPARE_HANDLER(function, callee) compare(function, callee, true, __LINE__)

/* A thread that ends below a specialised function cleans up above it. */
static long exits(long i) {
    if (i == 2)
        pthread_exit(nullptr);
    return i;
}

static void *work(void *function) {
    Cleaner cleaner = {1};
    return reinterpret_cast<void *>(reinterpret_cast<decltype(&passes)>(function)(exits, 7, 4));
}

int main() {
    COMPARE(passes, thrower);
    COMPARE(passes_twice, thrower);
    COMPARE(on_the_stack, thrower_of_eight);
    COMPARE(with_frame, thrower_by_address);
    COMPARE(never_returns, thrower);
    COMPARE_HANDLER(catches, thrower);
    COMPARE_HANDLER(cleans_up, thrower);
    COMPARE(calls_who_catches, thrower);
    COMPARE(calls_who_cleans, thrower);

    binopt::Handle handle;
    auto made = binopt::configure(handle, passes).fix<1>(7).create();
    pthread_t thread;
    cleaned = 0;
    pthread_create(&thread, nullptr, work, reinterpret_cast<void *>(made));
    pthread_join(thread, nullptr);
    CHECK_THAT(cleaned == 1);
    std::printf("%s: %d of %d checks failed, %d new functions\n", binopt_driver(), failures, checks, created);
    return failures != 0;
}
