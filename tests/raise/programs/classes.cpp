// classes.cpp: virtual calls, containers, streams and exceptions, for other machines: through the libraries of C and C++, too.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Shape {
    virtual ~Shape() {
    }
    virtual double area() const = 0;
    virtual const char *name() const {
        return "shape";
    }
};
struct Square : Shape {
    double s;
    Square(double x) : s(x) {
    }
    double area() const override {
        return s * s;
    }
    const char *name() const override {
        return "square";
    }
};
struct Circle : Shape {
    double r;
    Circle(double x) : r(x) {
    }
    double area() const override {
        return 3 * r * r;
    }
};
static void containers() {
    std::vector<std::unique_ptr<Shape>> v;
    for (int i = 0; i < 10; i++)
        if (i & 1)
            v.emplace_back(new Square(i));
        else
            v.emplace_back(new Circle(i));
    double sum = 0;
    for (auto &s : v) {
        sum += s->area();
        printf("%s ", s->name());
    }
    std::map<std::string, int> m;
    for (int i = 0; i < 20; i++)
        m[std::to_string(i * 7 % 11) + "key"] += i;
    for (auto &p : m)
        printf("%s=%d ", p.first.c_str(), p.second);
    std::vector<int> w;
    for (int i = 0; i < 100; i++)
        w.push_back(i * 37 % 101);
    std::sort(w.begin(), w.end());
    printf("%g %d %d\n", sum, w[3], dynamic_cast<Square *>(v[1].get()) != nullptr);
}
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <stdexcept>
static int compare(const void *, const void *) {
    throw 5;
}
class Full : public std::streambuf {
    int overflow(int) override {
        throw std::runtime_error("full");
    }
};
static void exceptions() {
    int list[4] = {3, 2, 1, 4};
    try {
        qsort(list, 4, sizeof(int), compare);
    } catch (int k) {
        printf("caught %d\n", k);
    }
    Full full;
    std::ostream out(&full);
    out << 'c';
    printf("%d\n", out.bad());
    out.clear();
    out.exceptions(std::ios::badbit);
    try {
        out << "abc";
    } catch (std::exception &e) {
        printf("what %s\n", e.what());
    }
    try {
        printf("%d\n", std::vector<int>(3).at((size_t)list[3]));
    } catch (std::out_of_range &e) {
        printf("%s\n", e.what());
    }
}
static void streams() {
    std::ostringstream text;
    text << 3 << ' ' << 2.5 << ' ' << true << std::string(" abc").substr(1);
    std::cout << text.str() << std::endl;
}
/* Two pointers to functions, which compilers store at once. */
struct Pair {
    int (*a)(int), (*b)(int);
};
static int one(int n) {
    return n + 1;
}
static int two(int n) {
    return n + 2;
}
__attribute__((noinline)) static void fill(Pair *p) {
    *p = {one, two};
}
int main() {
    Pair p;
    containers();
    exceptions();
    streams();
    fill(&p);
    printf("%d %d\n", p.a(1), p.b(1));
    return 0;
}
