"""work.py: what the programs of bench-debian do: some tenths of a second of compressing, sorting, searching, compiling and interpreting.

In the scripts, TIMES is how often the same is done, for longer runs.
"""
import os

SCRIPTS = {
    "loop.py": """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

counts = {}
for i in range(600000 * TIMES):
    key = "k%d" % (i * 7907 % 4999)
    counts[key] = counts.get(key, 0) + i
words = sorted("%o" % (i * 7907 % 100003) for i in range(90000 * TIMES))
print([fib(25) for _ in range(TIMES)][0], sum(counts.values()), words[:3])
""",
    "threads.py": """
import threading, zlib

def work(result, n):
    data = bytes(i * n & 255 for i in range(60000))
    result[n] = sum(len(zlib.compress(data, 9)) for _ in range(25 * TIMES))

result = {}
threads = [threading.Thread(target=work, args=(result, n)) for n in range(1, 5)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(sorted(result.items()))
""",
    "count.pl": """
my (%h, $s, $n);
for my $i (1 .. 1200000 * TIMES) { $h{"k" . ($i * 7907 % 10007)} += $i; }
$s += $h{$_} for sort keys %h;
my $t = "one two three " x (150000 * TIMES);
$n++ while $t =~ /(\\w+)\\s/g;
print "$s $n\\n";
""",
    "sort.lua": """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 250000 * TIMES do t[i] = tostring(i * 7907 % 100003) end
table.sort(t)
local f
for i = 1, TIMES do f = fib(30) end
print(f, t[1], #table.concat(t))
""",
    "count.awk": """
BEGIN {
    for (i = 0; i < 500000 * TIMES; i++) h["k" (i * 7907 % 1009)] += i
    for (k in h) n += h[k]
    for (j = 0; j < TIMES; j++) {
        s = ""
        for (i = 0; i < 80000; i++) s = s substr("abcdefghij", i % 10 + 1, 1)
        gsub(/[aeiou]/, "x", s)
    }
    print n, length(s)
}
""",
    "join.sql": """
create table t(a integer, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 220000) insert into t select x * 7907 % 100003, 'v' || x from c;
create index i on t(a);
select count(*), sum(a) from t where a between 1000 and 50000;
select b from t order by a, b limit 3;
select sum(x.a) from t x join t y on x.a = y.a where x.b < y.b;
drop table t;
""",
    "map.js": """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
const m = new Map();
for (let i = 0; i < 3000000 * TIMES; i++) { const k = "k" + (i * 7907 % 1009); m.set(k, (m.get(k) || 0) + i) }
let f;
for (let i = 0; i < TIMES; i++) f = fib(35);
console.log(f, m.size);
""",
    "Sort.java": """
import java.util.*;

public class Sort {
    static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

    public static void main(String[] args) {
        Map<String, Long> counts = new HashMap<>();
        for (long i = 0; i < 2000000 * TIMES; i++) counts.merge("k" + i * 7907 % 4999, i, Long::sum);
        List<String> keys = new ArrayList<>(counts.keySet());
        Collections.sort(keys);
        System.out.println(fib(38) + " " + keys.get(7) + " " + counts.get(keys.get(7)));
    }
}
""",
    "loop.sh": """
s=0
for ((i = 0; i < 120000 * TIMES; i++)); do ((s += i % 7)); a[i % 100]=$s; done
echo $s ${#a[@]}
for i in {1..50}; do /bin/true; done
""",
    "pi.bc": "scale=850; for (i = 0; i < TIMES; i++) p = 4*a(1)\np\n",
}
C_FUNCTIONS, GO_FUNCTIONS = 280, 8000
DATA = ("/usr/bin/perl", "/bin/bash")  # some megabytes that every Debian has


def c_source(functions):
    """Many functions, so that a compiler has many to do."""
    body = """static int f%d(int a, int b, int *p) {
    int s = 0;
    for (int i = 0; i < a; i++) {
        s += p[i] * %d;
        if (s > %d) s ^= b; else s += b * %d;
        switch (s & 7) { case 1: s += 3; break; case 2: s -= b; break; case 5: s *= a; break; default: s ^= %d; }
    }
    return s;
}
"""
    text = "".join(body % (i, i + 3, 7 * i + 100, i, i) for i in range(functions))
    calls = "".join(f"s += f{i}(c, s, p);" for i in range(functions))
    return text + "int main(int c) { int p[100], s = 0; for (int i = 0; i < 100; i++) p[i] = i * c; " + calls + " return s; }\n"


def go_source(functions):
    """The same for a formatter, on few lines."""
    body = """func f%d(a, b int, p []int) int { s := 0; for i := 0; i < a; i++ { s += p[i]*%d
if s>%d { s^=b } else { s+=b*%d }; switch s&7 { case 1: s+=3; case 2: s-=b; default: s^=%d }}; return s }
"""
    return "package main\n" + "".join(body % (i, i + 3, 7 * i + 100, i, i) for i in range(functions))


def changed(data, times):
    """The data so often, each time in other letters: compressors find nothing of one in another."""
    return b"".join(data.translate(bytes(b ^ i for b in range(256))) for i in range(times))


def prepare(folder, times=1):
    def write(name, text):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())

    data = b""
    for path in DATA:
        with open(path, "rb") as f:
            data += f.read()
    write("data", changed(data, times))
    write("less", changed(data[:3000000], times))
    write("words", "".join("%dabcxyz%duvw\n" % (i * 7907 % 1000003, i % 97) for i in range(1, 350000 * times + 1)))
    write("big.i", c_source(C_FUNCTIONS * times))
    write("big.go", go_source(GO_FUNCTIONS * times))
    for name, text in SCRIPTS.items():
        write(name, text * times if name == "join.sql" else text.replace("TIMES", str(times)))


def programs(guest, folder):
    """Name → command. The first word is looked for in the folders of programs."""

    def at(name):
        return os.path.join(folder, name)

    both = {
        "xz": ["xz", "-5", "-T1", "-c", at("less")],
        "bzip2": ["bzip2", "-c", at("data")],
        "perl": ["perl", at("count.pl")],
        "lua": ["lua5.4", at("sort.lua")],
        "python3": ["python3", at("loop.py")],
        "sqlite3": ["sqlite3", ":memory:", ".read " + at("join.sql")],
        "cc1": ["cc1", "-quiet", "-O2", at("big.i"), "-o", "/dev/null"],
        "gofmt": ["gofmt", at("big.go")],
        "node": ["node", at("map.js")],
        "xz, threads": ["xz", "-5", "-T2", "--block-size=700000", "-c", at("less")],
        "python threads": ["python3", at("threads.py")],
    }
    if guest != "x86_64":
        return {**both, "gawk": ["gawk", "-f", at("count.awk")]}
    return {
        **both,
        "gzip": ["gzip", "-9", "-c", at("data")],
        "zstd": ["zstd", "-12", "-q", "-c", at("data")],
        "sha256sum": ["sha256sum"] + [at("data")] * 16,
        "sort": ["sort", "-u", at("words")],
        "grep": ["grep", "-c", "-E", "[aeiou][^aeiou]{3}[x-z]", at("words")],
        "mawk": ["mawk", "-f", at("count.awk")],
        "bc": ["bc", "-l", at("pi.bc")],
        "openssl": ["openssl", "enc", "-aes-256-cbc", "-pass", "pass:x", "-pbkdf2", "-iter", "200000", "-nosalt", "-in", at("data"), "-out", "/dev/null"],
        "convert": ["convert", "-size", "1100x800", "-seed", "3", "plasma:red-blue", "-blur", "0x4", "-resize", "50%", "ppm:-"],
        "java": ["java", at("Sort.java")],
        "bash": ["bash", at("loop.sh")],
        "pigz": ["pigz", "-p2", "-9", "-n", "-c", at("data")],
    }
