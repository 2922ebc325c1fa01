// Virtual calls, containers, streams and what else a C++ program is made of.
#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
    virtual std::string name() const {
        return "shape";
    }
    virtual Shape *copy() const = 0;
};
struct Circle : Shape {
    double r;
    explicit Circle(double r) : r(r) {
    }
    double area() const override {
        return 3.25 * r * r;
    }
    std::string name() const override {
        return "circle";
    }
    Circle *copy() const override {
        return new Circle(*this);
    }
};
struct Box : Shape {
    double w, h;
    Box(double w, double h) : w(w), h(h) {
    }
    double area() const override {
        return w * h;
    }
    Box *copy() const override {
        return new Box(*this);
    }
};
struct Square : Box {
    explicit Square(double w) : Box(w, w) {
    }
    std::string name() const override {
        return "square, a " + Box::name();
    }
    Square *copy() const override {
        return new Square(*this);
    }
};

struct Noisy {
    int n;
    Noisy(int n) : n(n) {
        std::cout << "static " << n << "\n";
    }
    ~Noisy() {
        std::cout << "end of static " << n << std::endl;
    }
};
static Noisy first(1), second(2);
static thread_local Noisy local(3);

class Upper : public std::streambuf {
    std::streambuf *to;
    int limit;

  protected:
    int overflow(int c) override {
        if (limit-- == 0)
            throw std::runtime_error("full");
        return to->sputc((char)toupper(c));
    }

  public:
    Upper(std::streambuf *to, int limit) : to(to), limit(limit) {
    }
};

struct Expression;
using Node = std::unique_ptr<Expression>;
struct Expression {
    char op;
    long value;
    Node left, right;
};

struct Parser {
    std::istringstream in;
    explicit Parser(const std::string &text) : in(text) {
    }
    Node factor() {
        char c;
        if (!(in >> c))
            throw std::runtime_error("end of text");
        if (c == '(') {
            Node n = sum();
            if (!(in >> c) || c != ')')
                throw std::runtime_error("no )");
            return n;
        }
        in.unget();
        long v;
        if (!(in >> v))
            throw std::invalid_argument(std::string("no number at ") + c);
        return Node(new Expression{'n', v, nullptr, nullptr});
    }
    Node product() {
        Node n = factor();
        for (char c; in >> c;) {
            if (c != '*' && c != '/') {
                in.unget();
                break;
            }
            n = Node(new Expression{c, 0, std::move(n), factor()});
        }
        return n;
    }
    Node sum() {
        Node n = product();
        for (char c; in >> c;) {
            if (c != '+' && c != '-') {
                in.unget();
                break;
            }
            n = Node(new Expression{c, 0, std::move(n), product()});
        }
        return n;
    }
};

static long evaluate(const Expression &e) {
    if (e.op == 'n')
        return e.value;
    long a = evaluate(*e.left), b = evaluate(*e.right);
    switch (e.op) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    default:
        if (!b)
            throw std::domain_error("division by zero");
        return a / b;
    }
}

template <typename C> static void show(const char *name, const C &c) {
    std::cout << name << ":";
    for (const auto &x : c)
        std::cout << ' ' << x;
    std::cout << '\n';
}

int main() {
    std::cout << "local " << local.n << "\n";
    std::vector<std::unique_ptr<Shape>> shapes;
    shapes.emplace_back(new Circle(2));
    shapes.emplace_back(new Box(2, 3.5));
    shapes.emplace_back(new Square(1.5));
    for (size_t i = 0; i < 3; i++)
        shapes.emplace_back(shapes[i]->copy());
    std::sort(shapes.begin(), shapes.end(), [](const auto &a, const auto &b) { return a->area() < b->area(); });
    for (const auto &s : shapes)
        std::cout << std::setw(20) << s->name() << std::fixed << std::setprecision(3) << std::setw(10) << s->area()
                  << (dynamic_cast<const Box *>(s.get()) ? " box" : " round") << '\n';

    std::map<std::string, std::vector<int>> index;
    std::unordered_map<std::string, int> counts;
    std::istringstream text("the quick brown fox jumps over the lazy dog and the other fox");
    int position = 0;
    for (std::string word; text >> word; position++) {
        index[word].push_back(position);
        counts[word]++;
    }
    for (const auto &[word, places] : index) {
        std::cout << word << '(' << counts.at(word) << ')';
        show("", places);
    }
    std::list<int> numbers(10);
    std::iota(numbers.begin(), numbers.end(), 5);
    numbers.remove_if([](int n) { return n % 3 == 0; });
    numbers.reverse();
    show("list", numbers);
    std::deque<std::string> queue;
    for (int i = 0; i < 6; i++)
        i % 2 ? queue.push_back(std::to_string(i)) : queue.push_front(std::string(i, '*'));
    show("deque", queue);
    std::priority_queue<std::pair<int, std::string>> heap;
    for (const auto &w : index)
        heap.push({(int)w.first.size() * 10 + w.second[0], w.first});
    for (; heap.size() > 3; heap.pop())
        std::cout << heap.top().second << ' ';
    std::cout << '\n';
    std::set<long> squares;
    std::mt19937 random(12345);
    for (int i = 0; i < 1000; i++)
        squares.insert((long)(random() % 100) * (long)(random() % 100));
    std::cout << squares.size() << ' ' << *squares.lower_bound(1000) << ' ' << *squares.rbegin() << '\n';

    std::variant<int, std::string, double> v = 5;
    for (int i = 0; i < 4; i++) {
        std::visit([](const auto &x) { std::cout << x << '\n'; }, v);
        i == 0 ? v = "text" : i == 1 ? v = 2.5 : v = i;
    }
    try {
        std::cout << std::get<std::string>(v) << '\n';
    } catch (const std::bad_variant_access &) {
        std::cout << "bad variant access\n";
    }
    std::optional<std::string> nothing;
    std::cout << nothing.value_or("nothing") << '\n';

    for (const char *s :
         {"1 + 2 * 3", "(4 + 5) * (6 - 2) / 3", "7 / (3 - 3)", "8 * ", "(1 + 2", "1 + x", "((((((1))))))"}) {
        try {
            std::cout << s << " = " << evaluate(*Parser(s).sum()) << '\n';
        } catch (const std::logic_error &e) {
            std::cout << s << ": " << e.what() << '\n';
        } catch (const std::exception &e) {
            std::cout << s << ": error: " << e.what() << '\n';
        }
    }
    for (const char *s : {"12", "0x1f", "99999999999999999999", "abc", ""}) {
        try {
            size_t used;
            std::cout << std::stol(s, &used, 0) << ' ' << used << '\n';
        } catch (const std::out_of_range &) {
            std::cout << "out of range\n";
        } catch (const std::invalid_argument &) {
            std::cout << "invalid\n";
        }
    }
    // Exceptions of a raised function that native code catches, many times in one call of it.
    Upper upper(std::cout.rdbuf(), 40);
    std::ostream shout(&upper);
    for (int i = 0; i < 4; i++) {
        shout << "a line of text\n";
        std::cout << (shout.bad() ? "bad\n" : "good\n");
    }
    shout.clear();
    shout.exceptions(std::ios::badbit);
    try {
        Upper none(std::cout.rdbuf(), 0);
        shout.rdbuf(&none);
        shout << "x";
    } catch (const std::exception &e) {
        std::cout << "stream: " << e.what() << '\n';
    }
    std::ifstream missing("/nonexistent/file");
    missing.exceptions(std::ios::goodbit);
    std::cout << std::boolalpha << missing.is_open() << '\n';
    try {
        missing.exceptions(std::ios::failbit);
    } catch (const std::ios_base::failure &e) {
        std::cout << "failure\n";
    }
    std::function<int(int)> fib = [&](int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); };
    std::cout << fib(15) << '\n';
    try {
        std::function<void()>()();
    } catch (const std::bad_function_call &) {
        std::cout << "bad function call\n";
    }
    std::shared_ptr<Shape> shared(new Square(4));
    std::weak_ptr<Shape> weak = shared;
    std::cout << shared.use_count() << ' ' << weak.lock()->area() << '\n';
    shared.reset();
    try {
        std::shared_ptr<Shape> gone(weak);
    } catch (const std::bad_weak_ptr &e) {
        std::cout << e.what() << '\n';
    }
    try {
        std::vector<int> huge;
        huge.reserve((size_t)1 << 62);
    } catch (const std::length_error &e) {
        std::cout << e.what() << '\n';
    }
    std::array<std::string, 3> words = {"one", "two", "three"};
    std::cout << std::accumulate(words.begin(), words.end(), std::string("0")) << std::endl;
    return 0;
}
