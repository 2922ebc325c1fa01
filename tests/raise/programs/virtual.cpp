// virtual.cpp: virtual functions that return a class in memory: of the C++ library, called by the program, and of the program, called by the library.
#include <cstdio>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <locale>
#include <sstream>
#include <string>
#include <system_error>
struct Points : std::numpunct<char> {
    char do_thousands_sep() const override {
        return '.';
    }
    std::string do_grouping() const override {
        return "\3";
    }
    std::string do_truename() const override {
        return "a longer word than fits into the string itself: yes";
    }
    char do_decimal_point() const override {
        return ',';
    }
};
struct Before {
    long first = 1;
    virtual long more() {
        return first;
    }
};
/* The library's class is inside of objects of this one, behind another. */
struct Inside : Before, std::numpunct<char> {
    std::string do_grouping() const override {
        return "\2";
    }
    char do_thousands_sep() const override {
        return '_';
    }
};
struct Own : std::error_category {
    const char *name() const noexcept override {
        return "own";
    }
    std::string message(int n) const override {
        return "number " + std::to_string(n) + " of a category of the program's own";
    }
};
/* Most of its virtual functions are the library's. */
struct Few : std::numpunct<char> {
    char do_decimal_point() const override {
        return ';';
    }
};
static std::string (std::numpunct<char>::*volatile word)() const = &std::numpunct<char>::falsename;
static void ask_by_address() {
    Few few;
    const std::numpunct<char> *volatile p = &few;
    printf("%s %s %c\n", (p->*word)().c_str(), p->truename().c_str(), p->decimal_point());
}
static std::string ask(const std::error_category &c, int n) {
    return c.message(n);
}
/* Iterators of streams, which are two words each, by value. */
static void iterate() {
    std::tm t = {}, u = {};
    t.tm_year = 126;
    t.tm_mon = 10;
    t.tm_mday = 19;
    std::istringstream in("2025-03-04"), number("3.25xyz");
    std::ostringstream out;
    std::ios_base::iostate error = std::ios_base::goodbit;
    double d = 0;
    in >> std::get_time(&u, "%Y-%m-%d");
    out << std::put_time(&t, "%Y-%m-%d ");
    std::istreambuf_iterator<char> rest = std::use_facet<std::num_get<char>>(std::locale())
                                              .get(std::istreambuf_iterator<char>(number), {}, number, error, d);
    *std::use_facet<std::num_put<char>>(std::locale()).put(std::ostreambuf_iterator<char>(out), out, '*', 2.5) = '!';
    printf("%d %d %d %g %c %s\n", u.tm_year, u.tm_mon, u.tm_mday, d, *rest, out.str().c_str());
}
int main() {
    iterate();
    ask_by_address();
    Own own;
    printf("%s\n", ask(std::generic_category(), 2).c_str());
    printf("%s\n", ask(std::system_category(), 13).c_str());
    printf("%s\n", ask(own, 13).c_str());
    const auto &punct = std::use_facet<std::numpunct<char>>(std::locale::classic());
    printf("<%s> %s %s\n", punct.grouping().c_str(), punct.truename().c_str(), punct.falsename().c_str());
    std::error_code code(5, own);
    try {
        throw std::system_error(code, "trying");
    } catch (std::system_error &e) {
        printf("%s %d\n", e.what(), e.code().value());
    }
    std::ostringstream text;
    text.imbue(std::locale(std::locale::classic(), new Points));
    text << 1234567 << ' ' << 2.5 << ' ' << std::boolalpha << true;
    printf("%s\n", text.str().c_str());
    text.str("");
    text.imbue(std::locale(std::locale::classic(), new Inside));
    text << 1234567;
    printf("%s\n", text.str().c_str());
    const auto &col = std::use_facet<std::collate<char>>(std::locale::classic());
    std::string s = "abc";
    printf("%s\n", col.transform(s.data(), s.data() + 3).c_str());
    std::cout << std::error_code(2, std::generic_category()).message() << std::endl;
    std::stringstream both("12 345 abc");
    int n, m;
    std::string word;
    both >> n >> m >> word;
    printf("%d %d %s %ld\n", n, m, word.c_str(), (long)both.tellp());
    both.clear();
    both.seekg(3);
    both >> n;
    std::string reversed(word.rbegin(), word.rend());
    printf("%d %s %s\n", n, reversed.c_str(), std::locale().name().c_str());
    return 0;
}
