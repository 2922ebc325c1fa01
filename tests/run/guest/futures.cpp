// futures.cpp: threads of the C++ library: results and exceptions that go from one to another, and turns that they take.
#include <atomic>
#include <condition_variable>
#include <future>
#include <iostream>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

static int work(int number) {
    if (number == 3)
        throw std::runtime_error("three");
    int sum = 0;
    for (int k = 0; k < 100000; k++)
        sum += k % (number + 1);
    return sum;
}

static void collect() {
    std::vector<std::future<int>> results;
    for (int i = 0; i < 8; i++)
        results.push_back(std::async(std::launch::async, work, i));
    for (auto &result : results)
        try {
            std::cout << result.get() << "\n";
        } catch (const std::exception &e) {
            std::cout << "caught " << e.what() << "\n";
        }
}

static void take_turns() {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<int> order;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&, i] {
            for (int k = 0; k < 50; k++) {
                std::unique_lock<std::mutex> lock(mutex);
                changed.wait(lock, [&] { return order.size() % 4 == (size_t)i; });
                order.push_back(i);
                changed.notify_all();
            }
        });
    for (auto &thread : threads)
        thread.join();
    std::cout << order.size() << " " << std::accumulate(order.begin(), order.end(), 0) << "\n";
}

struct Counted {
    static std::atomic<int> alive;
    Counted() {
        alive++;
    }
    ~Counted() {
        alive--;
    }
};
std::atomic<int> Counted::alive;
static thread_local Counted counted;

static void unwind(int depth) {
    Counted here;
    if (!depth)
        throw depth;
    unwind(depth - 1);
}

static void unwind_everywhere() {
    std::vector<std::thread> threads;
    std::atomic<int> caught{0};
    for (int i = 0; i < 4; i++)
        threads.emplace_back([&, i] {
            (void)&counted;
            for (int k = 0; k < 100; k++)
                try {
                    unwind(i + k % 7);
                } catch (int) {
                    caught++;
                }
        });
    for (auto &thread : threads)
        thread.join();
    std::cout << caught << " " << Counted::alive << "\n";
}

int main() {
    collect();
    take_turns();
    unwind_everywhere();
}
