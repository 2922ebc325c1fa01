// Threads of C++: exceptions in them, and those that are handed from one to another.
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <future>
#include <mutex>
#include <pthread.h>
#include <queue>
#include <semaphore.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static std::mutex lock;
static std::condition_variable changed;
static std::queue<int> work;
static bool closed;
static std::atomic<int> caught, done, destroyed;

struct Count {
    ~Count() {
        destroyed++;
    }
};

__attribute__((noinline)) static int compute(int n) {
    Count c;
    if (n % 7 == 3)
        throw std::runtime_error("seven " + std::to_string(n));
    if (n % 11 == 5)
        throw n;
    return n * 2;
}

static void worker() {
    for (;;) {
        std::unique_lock<std::mutex> l(lock);
        changed.wait(l, [] { return !work.empty() || closed; });
        if (work.empty())
            return;
        int n = work.front();
        work.pop();
        l.unlock();
        try {
            done += compute(n);
        } catch (const std::exception &) {
            caught++;
        } catch (int m) {
            caught += 1000;
        }
    }
}

static thread_local std::string name = "none";
struct AtEnd {
    std::string text;
    ~AtEnd() {
        destroyed += (int)text.size();
    }
};
static thread_local AtEnd at_end{"12345"};

static std::once_flag once;
static int tries;
static void initialise() {
    tries++;
}

// Threads that end in the middle: what they have on their stacks is destroyed.
struct Trace {
    int n;
    ~Trace() {
        printf("  ~Trace %d\n", n);
    }
};
__attribute__((noinline)) static void leave(int n) {
    Trace t{n};
    std::string s((size_t)n * 10, 'x');
    if (n > 2)
        pthread_exit((void *)s.size());
    leave(n + 1);
    printf("not reached\n");
}
static int compare(const void *a, const void *) {
    Trace t{50};
    leave(*(const int *)a);
    return 0;
}
static void *leaving(void *through_native) {
    Trace t{100};
    int values[2] = {1, 2};
    if (through_native)
        qsort(values, 2, sizeof(int), compare);
    leave(0);
    return NULL;
}
static sem_t waiting;
static void *cancelled(void *) {
    Trace t{200};
    for (;;) {
        Trace u{201};
        sem_post(&waiting);
        pause();
    }
}

static void end_threads() {
    pthread_t t;
    void *result;
    for (long through_native = 0; through_native < 2; through_native++) {
        pthread_create(&t, NULL, leaving, (void *)through_native);
        pthread_join(t, &result);
        printf("left with %ld\n", (long)result);
    }
    sem_init(&waiting, 0, 0);
    pthread_create(&t, NULL, cancelled, NULL);
    sem_wait(&waiting);
    pthread_cancel(t);
    pthread_join(t, &result);
    printf("cancelled: %d\n", result == PTHREAD_CANCELED);
}

int main() {
    end_threads();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(worker);
    for (int n = 0; n < 2000; n++) {
        std::lock_guard<std::mutex> l(lock);
        work.push(n);
        changed.notify_one();
    }
    {
        std::lock_guard<std::mutex> l(lock);
        closed = true;
    }
    changed.notify_all();
    for (auto &t : threads)
        t.join();
    printf("%d %d %d\n", done.load(), caught.load(), destroyed.load());

    std::future<int> fine = std::async(std::launch::async, compute, 1),
                     bad = std::async(std::launch::async, compute, 3),
                     late = std::async(std::launch::deferred, compute, 5);
    printf("%d\n", fine.get());
    try {
        bad.get();
    } catch (const std::runtime_error &e) {
        printf("%s\n", e.what());
    }
    try {
        late.get();
    } catch (int n) {
        printf("int %d\n", n);
    }
    std::promise<std::string> promise;
    std::thread giver([&] {
        name = "giver";
        at_end.text += name;
        try {
            compute(10);
        } catch (...) {
            promise.set_exception(std::current_exception());
        }
    });
    try {
        promise.get_future().get();
    } catch (const std::exception &e) {
        printf("promised %s\n", e.what());
    }
    giver.join();
    printf("%s %d\n", name.c_str(), destroyed.load());
    for (int i = 0; i < 4; i++)
        std::call_once(once, initialise);
    printf("initialised %d time\n", tries);
    try {
        std::future<int> broken;
        {
            std::promise<int> given_up;
            broken = given_up.get_future();
        }
        broken.get();
    } catch (const std::future_error &e) {
        printf("%s\n", e.code() == std::future_errc::broken_promise ? "broken promise" : "other");
    }
    std::packaged_task<int(int)> task(compute);
    std::future<int> result = task.get_future();
    std::thread(std::move(task), 17).join();
    try {
        result.get();
    } catch (const std::exception &e) {
        printf("task: %s\n", e.what());
    }
    return 0;
}
