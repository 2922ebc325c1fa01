/* std::call_once, also where what it calls throws, and what the library makes of it: futures. It hands the function over in thread-local variables of its own. */
#include <cstdio>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
static std::once_flag flag;
static int calls;
static void first(int n) {
    calls += n;
}
int main(int argc, char **) {
    for (int i = 0; i < 3; i++)
        std::call_once(flag, first, argc + 4);
    std::once_flag other;
    try {
        std::call_once(other, [] { throw std::runtime_error("x"); });
    } catch (const std::exception &e) {
        std::printf("%s\n", e.what());
    }
    std::call_once(other, [&] { calls += 100; });
    std::thread t([&] {
        std::call_once(other, [&] { calls += 1000; });
        std::once_flag third;
        std::call_once(third, [] { calls += 10000; });
    });
    t.join();
    std::printf("%d\n", calls);
    auto f = std::async(
        std::launch::async, [](int n) { return n * 2; }, 21);
    std::printf("%d\n", f.get());
    auto g = std::async(
        std::launch::deferred, [](int n) { return n * 3; }, 21);
    std::printf("%d\n", g.get());
    std::promise<int> p;
    auto h = p.get_future();
    std::thread s([&p] { p.set_value(9); });
    std::printf("%d\n", h.get());
    s.join();
    auto e = std::async(std::launch::async, []() -> int { throw std::logic_error("thrown"); });
    try {
        e.get();
    } catch (const std::exception &x) {
        std::printf("%s\n", x.what());
    }
    return 0;
}
