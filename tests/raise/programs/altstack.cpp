// Exceptions, and handlers of faults on a stack of their own afterwards: their frames keep off those of the code that was interrupted.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <sys/mman.h>

static char *page;
static volatile int handled;

__attribute__((noinline)) static unsigned mix(unsigned depth, unsigned x) {
    volatile unsigned own[64];
    for (unsigned i = 0; i < 64; i++)
        own[i] = x + i;
    unsigned sum = depth ? mix(depth - 1, x * 3 + 1) : x;
    for (unsigned i = 0; i < 64; i++)
        sum += own[i] * i;
    return sum;
}

static void handler(int, siginfo_t *, void *) {
    handled = handled + 1;
    mix(20, 7);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

__attribute__((noinline)) static int thrower(int depth) {
    if (!depth)
        throw std::runtime_error("deep");
    return thrower(depth - 1) + 1;
}

// A page that may not be read yet is read at the bottom of many frames.
__attribute__((noinline)) static unsigned fault(unsigned depth, unsigned x) {
    volatile unsigned own[16];
    for (unsigned i = 0; i < 16; i++)
        own[i] = x ^ i;
    unsigned sum = depth ? fault(depth - 1, x + 5) : *(volatile unsigned *)page;
    for (unsigned i = 0; i < 16; i++)
        sum = sum * 5 + own[i];
    return sum;
}

// Its destructor runs right at a landing pad.
struct Cleaner {
    unsigned frames, *result;
    ~Cleaner() {
        *result = fault(frames, 3);
    }
};

__attribute__((noinline)) static int clean(int depth, unsigned frames, unsigned *result) {
    Cleaner cleaner = {frames, result};
    return thrower(depth);
}

static unsigned once(int depth, unsigned frames) {
    unsigned result = 0;
    mprotect(page, 4096, PROT_NONE);
    try {
        clean(depth, frames, &result);
    } catch (const std::exception &e) {
        return result + (unsigned)e.what()[0];
    }
    return 0;
}

int main() {
    page = static_cast<char *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    stack_t stack = {};
    stack.ss_size = 1 << 18;
    stack.ss_sp = std::malloc(stack.ss_size);
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaction(SIGSEGV, &action, nullptr);
    for (int depth = 0; depth < 100; depth += 33)
        for (unsigned frames = 0; frames < 300; frames += 60)
            std::printf("%d %u: %u\n", depth, frames, once(depth, frames));
    std::printf("handled %d\n", handled);
}
