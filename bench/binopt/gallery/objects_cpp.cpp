/* objects_cpp.cpp: objects, virtual functions, closures and containers of C++, of which some are known. */
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "gallery.h"

namespace {
struct Shape {
    virtual ~Shape() = default;
    virtual double area(double scale) const = 0;
    virtual int corners() const {
        return 0;
    }
};
struct Square : Shape {
    double side = 3;
    double area(double scale) const override {
        return side * side * scale;
    }
    int corners() const override {
        return 4;
    }
};
struct Circle : Shape {
    double radius = 2;
    double area(double scale) const override {
        return 3.25 * radius * radius * scale;
    }
};
Square square;
Circle circle;

/* One object is known; it is asked for each element. */
KERNEL double areas(const Shape *s, const double *v, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += s->area(v[i]) + s->corners();
    return sum;
}
double scales[128];
void fix_areas(BinoptCfgRef cfg) {
    for (int i = 0; i < 128; i++)
        scales[i] = i * 0.25;
    binopt_cfg_type(cfg, 3, BINOPT_TY_DOUBLE, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, &square, sizeof(square), BINOPT_MEM_NESTED_CONST);
}
uint64_t run_areas(void *k) {
    return mix_double(0, ((double (*)(const Shape *, const double *, int))k)(&square, scales, 128));
}

/* The objects are known, and what they are asked is not. */
struct Scene {
    int count;
    const Shape *shape[4];
} scene = {4, {&square, &circle, &square, &circle}};
KERNEL double total(const Scene *s, double scale) {
    double sum = 0;
    for (int i = 0; i < s->count; i++)
        sum += s->shape[i]->area(scale);
    return sum;
}
void fix_total(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_DOUBLE, BINOPT_TY_PTR, BINOPT_TY_DOUBLE);
    binopt_cfg_set_paramp(cfg, 0, &scene, sizeof(scene), BINOPT_MEM_NESTED_CONST);
}
uint64_t run_total(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < 40; i++)
        d = mix_double(d, ((double (*)(const Scene *, double))k)(&scene, i * 0.5));
    return d;
}

std::function<int(int)> closure = [factor = 3, term = 7](int x) { return x * factor + term; };
KERNEL int apply(const std::function<int(int)> *f, int *v, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += v[i] = (*f)(v[i]);
    return sum;
}
void fix_apply(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, &closure, sizeof(closure), BINOPT_MEM_CONST);
}
uint64_t run_apply(void *k) {
    int v[100];
    std::iota(v, v + 100, 1);
    return (uint64_t)((int (*)(const std::function<int(int)> *, int *, int))k)(&closure, v, 100);
}

using Predicate = bool (*)(int);
bool is_odd(int x) {
    return x & 1;
}
KERNEL long choose(const std::vector<int> &v, Predicate wanted) {
    std::vector<int> kept;
    for (int x : v)
        if (wanted(x))
            kept.push_back(x * x);
    return std::accumulate(kept.begin(), kept.end(), 0L);
}
void fix_select(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT64, BINOPT_TY_PTR, BINOPT_TY_PTR);
    binopt_cfg_set_parami(cfg, 1, (size_t)is_odd);
}
uint64_t run_select(void *k) {
    static const std::vector<int> v = [] {
        std::vector<int> r(100);
        std::iota(r.begin(), r.end(), 5);
        return r;
    }();
    return (uint64_t)((long (*)(const std::vector<int> &, Predicate))k)(v, is_odd);
}

using Ordered = std::map<int, int, bool (*)(int, int)>;
bool before(int a, int b) {
    return a < b;
}
KERNEL int look_up(const Ordered *m, int key) {
    auto found = m->find(key);
    return found == m->end() ? -1 : found->second;
}
const Ordered *ordered() {
    static const Ordered made = [] {
        Ordered m(before);
        for (int i = 0; i < 64; i++)
            m[i * 37 % 101] = i;
        return m;
    }();
    return &made;
}
void fix_look_up(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 2, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, ordered(), sizeof(Ordered), BINOPT_MEM_CONST);
}
uint64_t run_look_up(void *k) {
    uint64_t d = 0;
    for (int i = 0; i < 60; i++)
        d = mix(d, (uint64_t)((int (*)(const Ordered *, int))k)(ordered(), i));
    return d;
}

/* A chain of handlers, each with a successor. */
struct Handler {
    const Handler *next;
    int low, high, add;
    explicit Handler(const Handler *n, int l, int h, int a) : next(n), low(l), high(h), add(a) {
    }
    virtual ~Handler() = default;
    virtual int handle(int x) const {
        if (x >= low && x < high)
            return x + add;
        return next ? next->handle(x) : x;
    }
};
struct Doubler : Handler {
    using Handler::Handler;
    int handle(int x) const override {
        return x >= low && x < high ? 2 * x : next ? next->handle(x) : x;
    }
};
Handler last(nullptr, 50, 100, 5);
Doubler middle(&last, 20, 50, 0);
Handler first(&middle, 0, 20, 1000);
KERNEL int chain(const Handler *h, const int *v, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += h->handle(v[i]);
    return sum;
}
void fix_chain(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_INT32, BINOPT_TY_PTR, BINOPT_TY_PTR, BINOPT_TY_INT32);
    binopt_cfg_set_paramp(cfg, 0, &first, sizeof(first), BINOPT_MEM_NESTED_CONST);
}
uint64_t run_chain(void *k) {
    int v[64];
    for (int i = 0; i < 64; i++)
        v[i] = i * 29 % 120;
    return (uint64_t)((int (*)(const Handler *, const int *, int))k)(&first, v, 64);
}

KERNEL size_t join(const std::vector<std::string> &words, char separator, bool upper) {
    std::string all;
    for (const std::string &w : words) {
        if (!all.empty())
            all += separator;
        for (char c : w)
            all += upper && c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    }
    return all.size() + (unsigned char)all[all.size() / 2];
}
void fix_join(BinoptCfgRef cfg) {
    binopt_cfg_type(cfg, 3, BINOPT_TY_UINT64, BINOPT_TY_PTR, BINOPT_TY_INT8, BINOPT_TY_UINT8);
    binopt_cfg_set_parami(cfg, 1, ',');
    binopt_cfg_set_parami(cfg, 2, 1);
}
uint64_t run_join(void *k) {
    static const std::vector<std::string> words = {"one", "two", "three", "four", "five", "six", "seven"};
    return ((size_t(*)(const std::vector<std::string> &, char, bool))k)(words, ',', true);
}
} // namespace

const Kernel objects_cpp[] = {
    {"virtual, known object", (void *)areas, fix_areas, run_areas},
    {"virtual, known scene", (void *)total, fix_total, run_total},
    {"std::function", (void *)apply, fix_apply, run_apply},
    {"std::vector, predicate", (void *)choose, fix_select, run_select},
    {"std::map, comparison", (void *)look_up, fix_look_up, run_look_up},
    {"chain of handlers", (void *)chain, fix_chain, run_chain},
    {"std::string, join", (void *)join, fix_join, run_join},
    {},
};
