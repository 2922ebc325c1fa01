// virtual.cpp: virtual calls, multiple inheritance, templates, containers, streams, static initialisers.
#include <algorithm>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
    virtual std::string name() const {
        return "shape";
    }
};
struct Named {
    virtual ~Named() = default;
    virtual int id() const {
        return 1;
    }
};
struct Square : Shape {
    explicit Square(double a) : a(a) {
    }
    double area() const override {
        return a * a;
    }
    std::string name() const override {
        return "square";
    }
    double a;
};
struct Circle : Shape, Named {
    explicit Circle(double r) : r(r) {
    }
    double area() const override {
        return 3.25 * r * r;
    }
    int id() const override {
        return 42;
    }
    double r;
};

struct Early {
    Early() : words{"set", "before", "main"} {
    }
    std::vector<std::string> words;
} early;

void shapes() {
    std::vector<std::unique_ptr<Shape>> all;
    for (int i = 0; i < 100; i++)
        if (i % 3)
            all.push_back(std::make_unique<Square>(i));
        else
            all.push_back(std::make_unique<Circle>(i));
    double sum = 0;
    int ids = 0;
    for (int round = 0; round < 500; round++)
        for (const auto &s : all) {
            sum += s->area();
            if (auto *n = dynamic_cast<const Named *>(s.get()))
                ids += n->id();
        }
    std::cout << std::fixed << std::setprecision(2) << sum << ' ' << ids << ' ' << all[0]->name() << ' '
              << all[1]->name() << '\n';
}

void containers() {
    std::map<std::string, int> ordered;
    std::unordered_map<int, long> hashed;
    for (int i = 0; i < 3000; i++) {
        ordered["key" + std::to_string(i * 37 % 501)] += i;
        hashed[i * 31 % 977] += i;
    }
    long total = 0;
    for (const auto &[key, value] : ordered)
        total = total * 7 % 1000003 + value + static_cast<long>(key.size());
    for (int i = 0; i < 977; i++)
        total = total * 5 % 1000003 + hashed[i];
    std::cout << ordered.size() << ' ' << hashed.size() << ' ' << total << '\n';
}

void functions() {
    std::vector<std::function<int(int)>> chain;
    for (int i = 0; i < 10; i++)
        chain.push_back([i](int v) { return v * 3 + i; });
    int v = 1;
    for (auto &f : chain)
        v = f(v);
    std::vector<int> numbers(1000);
    for (size_t i = 0; i < numbers.size(); i++)
        numbers[i] = static_cast<int>(i * 7919 % 1009);
    std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
    std::cout << v << ' ' << numbers.front() << ' ' << numbers.back() << '\n';
}

} // namespace

int main() {
    for (const auto &w : early.words)
        std::cout << w << ' ';
    std::cout << std::endl;
    shapes();
    containers();
    functions();
    std::istringstream in("12 3.5 word");
    int i;
    double d;
    std::string w;
    in >> i >> d >> w;
    std::cout << i + d << ' ' << w << ' ' << std::hex << 255 << std::endl;
    return 0;
}
