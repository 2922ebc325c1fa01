// terminate.cpp: an exception that nobody catches: std::terminate, and the program dies of SIGABRT.
#include <cstdio>
#include <stdexcept>

static void leave() noexcept {
    throw std::runtime_error("nobody catches this");
}

int main() {
    std::puts("before");
    std::fflush(stdout);
    leave();
}
