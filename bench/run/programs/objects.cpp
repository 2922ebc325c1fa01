// objects.cpp: virtual calls on a mixed collection, std::map, std::string, std::function.
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "work.h"

namespace {

struct Shape {
    virtual ~Shape() = default;
    virtual long area(long scale) const = 0;
    virtual bool wide() const {
        return false;
    }
};
template <int N> struct Kind : Shape {
    explicit Kind(long a) : a(a) {
    }
    long area(long scale) const override {
        return a * scale + N;
    }
    bool wide() const override {
        return a % (N + 2) == 0;
    }
    long a;
};

std::vector<std::unique_ptr<Shape>> make(int n) {
    std::vector<std::unique_ptr<Shape>> all;
    uint32_t seed = 17;
    for (int i = 0; i < n; i++) {
        long a = work_random(&seed) % 1000;
        switch (work_random(&seed) % 5) {
        case 0:
            all.push_back(std::make_unique<Kind<0>>(a));
            break;
        case 1:
            all.push_back(std::make_unique<Kind<1>>(a));
            break;
        case 2:
            all.push_back(std::make_unique<Kind<2>>(a));
            break;
        case 3:
            all.push_back(std::make_unique<Kind<3>>(a));
            break;
        default:
            all.push_back(std::make_unique<Kind<4>>(a));
            break;
        }
    }
    return all;
}

} // namespace

int main(int argc, char **argv) {
    auto shapes = make(1000);
    std::map<std::string, long> names;
    std::vector<std::function<long(long)>> steps;
    for (long k = 1; k < 6; k++)
        steps.push_back([k](long v) { return v * 3 + k; });
    long sum = 0;
    for (long n = work_amount(argc, argv, 100000); n; n--) {
        for (const auto &s : shapes)
            sum += s->wide() ? s->area(n) : -1;
        for (int i = 0; i < 100; i++)
            sum = steps[static_cast<size_t>(i % 5)](sum) & 0xffffffff;
        for (int i = 0; i < 20; i++)
            names["name of " + std::to_string((n * 31 + i * 7) % 500)] += sum & 7;
    }
    for (const auto &[name, value] : names)
        sum += value * static_cast<long>(name.size());
    std::printf("%ld\n", sum);
}
