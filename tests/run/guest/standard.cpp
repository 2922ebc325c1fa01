// standard.cpp: the C++ library: files and formats of streams and their exceptions, algorithms, types at run time, thread_local.
#include <algorithm>
#include <array>
#include <bitset>
#include <complex>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>
#include <variant>
#include <vector>

namespace {

// ------------------------------------------------------------------------------------------------------------ streams

void formats() {
    std::cout << std::hex << std::showbase << 48879 << ' ' << std::oct << 511 << std::dec << std::noshowbase << ' '
              << std::setw(8) << std::setfill('*') << 42 << ' ' << std::boolalpha << true << '\n';
    for (double d : {0.1, -1e300, 1.0 / 3, 5e-324, std::numeric_limits<double>::infinity()})
        std::cout << std::scientific << std::setprecision(17) << d << ' ' << std::fixed << std::setprecision(2)
                  << (d > 1e100 || d < -1e100 ? 0 : d) << ' ' << std::defaultfloat << d << '\n';
    std::cout << std::setprecision(6) << 0.1f << ' ' << 1.0L / 3 << ' ' << std::complex<double>(1.5, -2) << '\n';
}

void files() {
    {
        std::ofstream out("numbers");
        for (int i = 0; i < 2000; i++)
            out << i * i << (i % 10 == 9 ? '\n' : ' ');
    }
    std::ifstream in("numbers");
    long sum = std::accumulate(std::istream_iterator<long>(in), std::istream_iterator<long>(), 0L);
    in.clear();
    in.seekg(0);
    std::string line;
    std::size_t lines = 0, bytes = 0;
    while (std::getline(in, line))
        lines++, bytes += line.size();
    std::cout << sum << ' ' << lines << ' ' << bytes << '\n';
    std::ifstream none;
    none.exceptions(std::ios::failbit);
    try {
        none.open("nowhere");
    } catch (const std::ios_base::failure &e) {
        std::cout << "no file: " << (e.code() == std::io_errc::stream) << '\n';
    }
    std::istringstream words("12 0x1f 1.5e3 word");
    int a = 0, b = 0;
    double d = 0;
    std::string w;
    words >> a >> std::hex >> b >> d >> w;
    std::cout << a << ' ' << b << ' ' << d << ' ' << w << ' ' << words.eof() << '\n';
}

// --------------------------------------------------------------------------------------------------------- algorithms

void algorithms() {
    std::mt19937_64 random(42);
    std::vector<std::uint64_t> v(5000);
    std::generate(v.begin(), v.end(), random);
    auto sorted = v;
    std::stable_sort(sorted.begin(), sorted.end(), [](auto x, auto y) { return x % 1000 < y % 1000; });
    std::nth_element(v.begin(), v.begin() + 2500, v.end());
    std::priority_queue<std::uint64_t> heap(v.begin(), v.end());
    std::uint64_t mix = 0;
    for (int i = 0; i < 1000; i++, heap.pop())
        mix = mix * 31 + heap.top();
    std::set<std::uint64_t> few;
    std::transform(v.begin(), v.end(), std::inserter(few, few.end()), [](auto x) { return x % 777; });
    std::unordered_map<std::string, int> counts;
    for (auto x : v)
        counts[std::to_string(x % 97)]++;
    std::deque<int> deque(100);
    std::iota(deque.begin(), deque.end(), 0);
    std::rotate(deque.begin(), deque.begin() + 30, deque.end());
    std::list<int> list(deque.rbegin(), deque.rend());
    list.remove_if([](int x) { return std::bitset<8>(static_cast<unsigned>(x)).count() % 2; });
    std::normal_distribution<double> normal(5, 2);
    double mean = 0;
    for (int i = 0; i < 1000; i++)
        mean += normal(random) / 1000;
    std::cout << sorted.front() << ' ' << v[2500] << ' ' << mix << ' ' << few.size() << ' ' << counts["13"] << ' '
              << deque.front() << ' ' << list.front() << ' ' << list.size() << ' ' << std::setprecision(12) << mean
              << '\n';
}

// ---------------------------------------------------------------------------------------------------------------- types

struct Node {
    virtual ~Node() = default;
};
struct Leaf : Node {};
template <class T> struct Holder : Node { T value{}; };

void types() {
    std::vector<std::unique_ptr<Node>> nodes;
    nodes.push_back(std::make_unique<Leaf>());
    nodes.push_back(std::make_unique<Holder<int>>());
    nodes.push_back(std::make_unique<Holder<std::array<double, 3>>>());
    std::unordered_map<std::type_index, int> seen;
    for (const auto &n : nodes) {
        const Node &node = *n;
        seen[typeid(node)]++;
        std::cout << typeid(node).name() << ' ' << (dynamic_cast<const Leaf *>(&node) != nullptr) << '\n';
    }
    try {
        dynamic_cast<Leaf &>(*nodes[1]);
    } catch (const std::bad_cast &) {
        std::cout << "another type, " << seen.size() << " in all\n";
    }
    std::variant<int, std::string, double> any = "text";
    std::visit([](const auto &x) { std::cout << x << '\n'; }, any);
    try {
        std::get<int>(any);
    } catch (const std::bad_variant_access &) {
        std::optional<int> empty;
        std::cout << "no int " << empty.value_or(7) << ' ' << std::get<1>(std::make_tuple(1, 2.5)) << '\n';
    }
}

// ---------------------------------------------------------------------------------------------------------- thread_local

struct Tracked {
    explicit Tracked(const char *name) : name(name) {
        std::printf("made %s\n", name);
    }
    ~Tracked() {
        std::printf("gone %s\n", name);
    }
    const char *name;
    int uses = 0;
};

thread_local Tracked first("first");
thread_local std::vector<int> numbers{1, 2, 3};
thread_local int plain = 17;

Tracked &second() {
    thread_local Tracked it("second");
    return it;
}

void locals() {
    first.uses++;
    numbers.push_back(plain++);
    second().uses += 2;
    std::fflush(stdout);
    std::cout << first.uses << ' ' << numbers.back() << ' ' << second().uses << ' ' << plain << std::endl;
}

} // namespace

int main() {
    formats();
    files();
    algorithms();
    types();
    std::cout << std::flush;
    locals();
    locals();
    return 0;
}
