// exceptions.cpp: unwinding through frames, with destructors, rethrowing, and what ends it.
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

int alive, destroyed;

struct Guard {
    explicit Guard(int id) : id(id) {
        alive++;
    }
    ~Guard() {
        alive--;
        destroyed += id;
    }
    int id;
};

__attribute__((noinline)) int dive(int depth) {
    Guard guard(depth);
    if (depth == 0)
        throw std::runtime_error("bottom");
    return dive(depth - 1) + guard.id;
}

__attribute__((noinline)) int between(int depth) {
    try {
        return dive(depth);
    } catch (const std::logic_error &) {
        return -1; // of another type: passed by
    }
}

__attribute__((noinline)) int again(int depth) {
    try {
        return between(depth);
    } catch (std::exception &e) {
        Guard guard(1000);
        if (depth % 2)
            throw;
        throw std::string("changed: ") + e.what();
    }
}

std::string outcome(int depth) {
    try {
        return std::to_string(again(depth));
    } catch (const std::string &s) {
        return s;
    } catch (const std::runtime_error &e) {
        return std::string("kept: ") + e.what();
    }
}

struct Base {
    virtual ~Base() = default;
};
struct Left : virtual Base {
    int a = 1;
};
struct Right : virtual Base {
    int b = 2;
};
struct Both : Left, Right {
    int c = 3;
};

int by_base() {
    try {
        throw Both();
    } catch (Right &r) {
        return dynamic_cast<Both &>(r).c;
    }
}

int nested() {
    int got = 0;
    try {
        try {
            throw 1;
        } catch (int n) {
            got += n;
            try {
                throw 20.5;
            } catch (double d) {
                got += static_cast<int>(d);
            }
            throw;
        }
    } catch (int n) {
        got += 100 * n;
    }
    return got;
}

struct Half {
    Guard first{7};
    explicit Half(bool fail) {
        if (fail)
            throw std::bad_alloc();
    }
    Guard second{9};
};

void build() {
    try {
        std::vector<std::unique_ptr<Half>> all;
        for (int i = 0; i < 5; i++)
            all.push_back(std::make_unique<Half>(i == 4));
    } catch (const std::bad_alloc &) {
        std::printf("built no half\n");
    }
}

int saved() {
    std::exception_ptr kept;
    try {
        dive(3);
    } catch (...) {
        kept = std::current_exception();
    }
    try {
        std::rethrow_exception(kept);
    } catch (const std::exception &e) {
        return static_cast<int>(std::string(e.what()).size());
    }
}

} // namespace

int main() {
    for (int depth : {0, 1, 10, 101, 2000})
        std::printf("%d: %s, %d alive, %d\n", depth, outcome(depth).c_str(), alive, destroyed);
    std::printf("%d %d %d\n", by_base(), nested(), saved());
    build();
    long sum = 0;
    for (int i = 0; i < 5000; i++) {
        try {
            throw i;
        } catch (int n) {
            sum += n;
        }
    }
    std::printf("%ld, %d alive, %d\n", sum, alive, destroyed);
    try {
        std::vector<int> v(3);
        v.at(static_cast<size_t>(alive) + 3) = 1;
    } catch (const std::out_of_range &) {
        std::printf("out of range\n");
    }
    return 0;
}
