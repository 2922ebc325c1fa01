// files.cpp: file streams, whose objects have other sizes on other machines.
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>
class Upper : public std::filebuf {
  protected:
    int overflow(int c) override {
        return std::filebuf::overflow(c >= 'a' && c <= 'z' ? c - 32 : c);
    }
};
struct Log {
    std::ofstream out;
    long after = 77;
    explicit Log(const std::string &path) : out(path, std::ios::app) {
    }
};
static void write(const std::string &path) {
    std::ofstream out(path);
    out << "first " << 42 << ' ' << std::setw(8) << std::setfill('*') << std::hex << 255 << '\n'
        << std::fixed << std::setprecision(3) << 2.0 / 3 << std::endl;
    for (int i = 0; i < 5000; i++)
        out << i << ' ';
    out << "\nlast line" << std::flush;
    std::cout << out.tellp() << ' ' << out.good() << out.is_open() << '\n';
}
static void read(const std::string &path) {
    std::ifstream in(path);
    std::string word, line;
    int n, m;
    long sum = 0;
    in >> word >> n >> std::setw(2) >> line;
    std::getline(in, line);
    std::getline(in, line);
    std::cout << word << n << line << '\n';
    while (in >> m)
        sum += m;
    std::cout << sum << ' ' << in.fail() << in.eof() << '\n';
    in.clear();
    in.seekg(-9, std::ios::end);
    std::getline(in, line);
    std::cout << line << ' ' << in.eof() << '\n';
}
int main() {
    char name[] = "/tmp/lathe-files-XXXXXX";
    close(mkstemp(name));
    std::string path = name;
    write(path);
    read(path);
    std::fstream both(path, std::ios::in | std::ios::out | std::ios::binary);
    both.seekp(6);
    both << "QQ";
    both.seekg(0);
    std::string line;
    std::getline(both, line);
    std::cout << line << '\n';
    both.close();
    {
        Log log(path);
        log.out << "\nappended";
        std::vector<std::unique_ptr<std::ostream>> many;
        many.emplace_back(new std::ofstream("/dev/null"));
        many.emplace_back(new std::ostringstream);
        for (auto &s : many)
            *s << "text" << 5;
        std::cout << log.after << ' ' << (dynamic_cast<std::ofstream *>(many[0].get()) != nullptr)
                  << (dynamic_cast<std::ofstream *>(many[1].get()) != nullptr) << '\n';
        std::ofstream moved = std::move(log.out);
        moved << "!";
    }
    Upper upper;
    upper.pubsetbuf(nullptr, 0);
    upper.open(path, std::ios::out | std::ios::app);
    std::ostream(&upper) << "shouted";
    upper.close();
    std::ifstream again(path);
    again.exceptions(std::ios::badbit | std::ios::failbit);
    std::stringstream all;
    all << again.rdbuf();
    std::cout << all.str().size() << ' ' << all.str().substr(all.str().size() - 20) << '\n';
    try {
        std::ifstream missing;
        missing.exceptions(std::ios::failbit);
        missing.open("/nowhere/at/all");
    } catch (std::ios_base::failure &e) {
        std::cout << "failure " << e.what() << '\n';
    }
    std::wofstream wide(path);
    wide << L"wide " << 3;
    wide.close();
    std::wifstream back(path);
    std::wstring text;
    back >> text;
    std::cout << text.size() << std::endl;
    unlink(name);
    return 0;
}
