#!/bin/sh
# mistakes.sh LATHE COUNTED ENDS: what is wrong with a tool is said when it is built, not while it watches a program; and faults are described as what they are.
lathe=$(realpath "$1") counted=$(realpath "$2") ends=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LATHE_CACHE="$work/cache"
failed=0
unset LATHE_TOOL
cd "$work" || exit 1

fail() {
    echo "FAIL: $*"
    failed=1
}

# A tool with these functions and hooks.
written() {
    printf '#include <lathe/tool.h>\n%s\nLATHE_HOOKS(%s);\n' "$1" "$2" > tool.c
}
says() {
    case $got in
    *"$1"*) ;;
    *) fail "'$got' does not say '$1'; $(tail -n 1 tool.c)" ;;
    esac
}
refuse() {
    written "$2" "$3"
    got=$("$lathe" tool tool.c 2>&1) && fail "$3: is built"
    says "$1"
}
accept() {
    written "$2" "$3"
    got=$("$lathe" tool tool.c 2>&1) || fail "$3: is not built"
    says "$1"
}

# Values and events.
one='static void f(uint64_t a) { lathe_print("%lu", a); }'
two='static void f(uint64_t a, uint64_t b) { lathe_print("%lu", a + b); }'
none='static void f(void) { lathe_print("none"); }'
refuse 'hook 1: LATHE_TAKEN is not known at LATHE_INSN' "$one" 'LATHE_ON(LATHE_INSN, f, {LATHE_TAKEN})'
refuse 'hook 2: LATHE_RESULT is not known at LATHE_SYSCALL' "$one" \
    'LATHE_ON(LATHE_INSN, f, {LATHE_PC}), LATHE_ON(LATHE_SYSCALL, f, {LATHE_RESULT})'
refuse 'hook 1: LATHE_PC is not known at LATHE_START' "$one" 'LATHE_ON(LATHE_START, f, {LATHE_PC})'
refuse 'hook 1: {LATHE_ARGUMENT, 9}: the number is from 0 to 5' "$one" 'LATHE_ON(LATHE_SYSCALL, f, {LATHE_ARGUMENT, 9})'
refuse 'hook 1: {LATHE_ARGUMENT, -1}: the number is from 0 to 5' "$one" 'LATHE_ON(LATHE_SYSCALL, f, {LATHE_ARGUMENT, -1})'
refuse 'hook 1: {LATHE_REGISTER, 77}: the number is from 0 to 31' "$one" 'LATHE_ON(LATHE_INSN, f, {LATHE_REGISTER, 77})'
refuse 'hook 1: LATHE_COUNTED has the address of a variable that is a LatheCounter' "$one" 'LATHE_ON(LATHE_INSN, f, {LATHE_COUNTED, 3})'
refuse 'hook 1: f takes 2 values, the hook has 1' "$two" 'LATHE_ON(LATHE_INSN, f, {LATHE_PC})'
refuse 'hook 1: f takes 1 value, the hook has 2' "$one" 'LATHE_ON(LATHE_INSN, f, {LATHE_PC}, {LATHE_SIZE})'
refuse 'hook 1: f takes 0 values, the hook has 1' "$none" 'LATHE_ON(LATHE_INSN, f, {LATHE_PC})'
refuse 'parameter 1 of f is neither an integer nor a pointer' 'static void f(double a) { lathe_print("%d", (int)a); }' \
    'LATHE_ON(LATHE_INSN, f, {LATHE_PC})'
refuse 'hook 1: LATHE_PC has no number; each value has braces' "$two" 'LATHE_ON(LATHE_INSN, f, LATHE_PC, LATHE_SIZE)'
refuse 'hook 1: LATHE_NO_VALUE is not known' "$two" 'LATHE_ON(LATHE_INSN, f, {LATHE_NO_VALUE}, {LATHE_SIZE})'
refuse 'excess elements' "$none" 'LATHE_ON(LATHE_INSN, f, {LATHE_PC}, {LATHE_PC}, {LATHE_PC}, {LATHE_PC}, {LATHE_PC}, {LATHE_PC}, {LATHE_PC})'
refuse 'hook 1: there is no event 99' "$none" 'LATHE_ON(99, f)'
refuse 'a hook is for LATHE_NOTHING' "$none" 'LATHE_ON(LATHE_NOTHING, f), LATHE_ON(LATHE_INSN, f)'
refuse 'hook 1: LATHE_WHERE at LATHE_END, which is not about an instruction' "$none" \
    'LATHE_WHERE(LATHE_END, f, ((LatheWhere){.module = "libc*"}))'
refuse 'hook 1: leaves at LATHE_JUMP, which is neither LATHE_BRANCH nor LATHE_GOTO' "$none" 'LATHE_WHERE(LATHE_JUMP, f, ((LatheWhere){.leaves = true}))'
refuse 'hook 1: not_stack at LATHE_INSN, which is no access' "$none" 'LATHE_WHERE(LATHE_INSN, f, ((LatheWhere){.not_stack = true}))'
refuse 'hook 1: once at LATHE_INSN_DONE, which comes behind an instruction' "$none" 'LATHE_WHERE(LATHE_INSN_DONE, f, ((LatheWhere){.once = true}))'
refuse 'hook 1: the name of an option is a text of at most 31 characters' "$none" \
    'LATHE_WHERE(LATHE_INSN, f, ((LatheWhere){.option = "a_name_that_has_more_than_31_of_them"}))'
accept 'hook 1: called once at each instruction' "$none" 'LATHE_WHERE(LATHE_INSN, f, ((LatheWhere){.once = true, .unless = "all"}))'
accept 'hook 1: called' 'static void f(uint64_t a, uint32_t b, char *c, uint64_t d, uint64_t e, uint64_t g) { lathe_print("%lu", a + b + (uint64_t)c + d + e + g); }' \
    'LATHE_ON(LATHE_BRANCH, f, {LATHE_TAKEN}, {LATHE_SIZE}, {LATHE_SITE}, {LATHE_CONSTANT, -7}, {LATHE_REGISTER, 31}, {LATHE_TARGET})'

# What is called and not put between instructions, and why.
counter='static LatheCounter c;'
accept 'hook 1: only counts' "$counter static void f(void) { lathe_count(&c, 2); }" 'LATHE_ON(LATHE_INSN, f)'
accept 'hook 1: only counts' "$counter static void f(uint64_t n) { lathe_count(&c, n); }" 'LATHE_ON(LATHE_BLOCK, f, {LATHE_COUNT})'
accept 'hook 1: called: the event is behind' "$counter static void f(void) { lathe_count(&c, 2); }" 'LATHE_ON(LATHE_LOADED, f)'
accept 'hook 1: called: it has conditions' "$counter static void f(uint64_t a) { if (a & 1) lathe_print(\"odd\"); lathe_count(&c, 2); }" 'LATHE_ON(LATHE_INSN, f, {LATHE_PC})'
accept 'hook 1: called: an amount is not constant' "$counter static void f(uint64_t a) { lathe_count(&c, a); }" 'LATHE_ON(LATHE_INSN, f, {LATHE_PC})'
accept 'hook 1: called: an amount is too large' "$counter static void f(void) { lathe_count(&c, 5000000000); }" 'LATHE_ON(LATHE_INSN, f)'
accept 'hook 1: called: it does more' "$counter static void f(void) { lathe_count(&c, 1); lathe_print(\".\"); }" 'LATHE_ON(LATHE_INSN, f)'

# Names that there are not, warnings that are mistakes, files that are missing.
refuse 'tool.c: it uses printf, which lathe/tool.h does not have' 'int printf(const char *, ...); static void f(void) { printf("no"); }' 'LATHE_ON(LATHE_END, f)'
refuse 'tool.c: it uses errno, which' 'extern int errno; static void f(void) { errno = 1; }' 'LATHE_ON(LATHE_END, f)'
refuse 'Wformat' 'static void f(void) { lathe_print("%s", 5); }' 'LATHE_ON(LATHE_END, f)'
refuse 'Wformat' 'static void f(void) { lathe_print("%d %d", 5); }' 'LATHE_ON(LATHE_END, f)'
[ "$("$lathe" tool missing.c 2>&1)" = "$("$lathe" run --tool=missing.c -- "$ends" exit 2>&1)" ] ||
    fail "a missing file: $("$lathe" tool missing.c 2>&1)"

# Counters that are none.
refuse 'lathe_count_in of a LatheTable on the stack' 'static void f(void) { LatheTable t = {0}; lathe_count_in(&t, 1, 2, 3, 1); }' 'LATHE_ON(LATHE_END, f)'
refuse 'a LatheTable is a variable of its own' 'static LatheTable t[2]; static void f(uint64_t pc) { lathe_count_in(&t[pc & 1], pc, 0, 0, 1); }' 'LATHE_ON(LATHE_INSN, f, {LATHE_PC})'
refuse 'lathe_count of a LatheCounter on the stack' 'static void f(void) { LatheCounter c = {0}; lathe_count(&c, 1); }' 'LATHE_ON(LATHE_END, f)'
fails() {
    written "$2" "$3"
    got=$("$lathe" run --tier=quick --tool="tool.c$4" -- "$counted" 5 2>&1)
    [ $? = 127 ] || fail "$3: status"
    says "$1"
}
fails 'a LatheTable is no global variable' 'static LatheTable *t; static void f(void) { t = lathe_alloc(sizeof(*t)); lathe_count_in(t, 1, 0, 0, 1); }' 'LATHE_ON(LATHE_END, f)'
fails 'a LatheCounter is no global variable' 'static LatheCounter *c; static void f(void) { c = lathe_alloc(sizeof(*c)); lathe_print("%lu", lathe_total(c)); }' 'LATHE_ON(LATHE_END, f)'
fails 'a LatheCounter is no global variable' 'static LatheCounter *c; static void s(void) { c = lathe_alloc(sizeof(*c)); } static void f(void) { lathe_count(c, 1); }' 'LATHE_ON(LATHE_START, s), LATHE_ON(LATHE_INSN, f)'

# Faults.
fails 'function g has failed: its stack is used up (signal 11)' 'static uint64_t g(uint64_t n) { volatile uint64_t words[64]; words[n % 64] = n; return n ? g(n + 1) + words[n % 64 ^ 1] : 0; } static void f(uint64_t a) { lathe_print("%lu", g(a)); }' 'LATHE_ON(LATHE_INSN, f, {LATHE_PC})'
for event in INSN BLOCK SYSCALL END; do
    fails 'function f has failed: a bad access' 'static void e(void) { lathe_print(""); } static void f(void) { *(volatile int *)8 = 1; }' "LATHE_ON(LATHE_CALL, e), LATHE_ON(LATHE_$event, f)"
    case $got in
    *'in a call of'*) fail "$event: there is no call: $got" ;;
    esac
    fails 'in a call of lathe/tool.h' 'static void e(void) { lathe_print(""); } static void f(void) { lathe_print("%s", (const char *)8); }' "LATHE_ON(LATHE_CALL, e), LATHE_ON(LATHE_$event, f)"
done

# What a function returns is of no interest, and an order that is none sorts in some way.
written 'static uint64_t returns(uint64_t pc) { return pc * 0x9e3779b97f4a7c15u; }
static char *returns_too(char *address) { return address + 5; }
static uint64_t seed;
static int no_order(const void *a, const void *b) { return (int)((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 60) - 8; }
static void end(void) {
    int number[300], sum = 0;
    for (int i = 0; i < 300; i++)
        number[i] = i;
    lathe_sort(number, 300, sizeof(*number), no_order);
    for (int i = 0; i < 300; i++)
        sum += number[i];
    lathe_print("%d\n", sum);
}' 'LATHE_ON(LATHE_INSN, returns, {LATHE_PC}), LATHE_ON(LATHE_LOAD, returns_too, {LATHE_ADDRESS}), LATHE_ON(LATHE_END, end)'
for tier in quick opt; do
    got=$("$lathe" run --tier=$tier --tool=tool.c -- "$counted" 1 2>&1; echo "status $?")
    [ "$got" = "$(echo 44850; "$counted" 1; echo "status $?")" ] || fail "rubbish, tier $tier: '$got'"
done

# Options.
none='static void f(void) { lathe_option("func"); lathe_option_number("from", 0); }'
fails "tool has no option 'fnuc'; it knows func, from" "$none" 'LATHE_ON(LATHE_START, f)' ,fnuc=a
fails "'func' is given twice" "$none" 'LATHE_ON(LATHE_START, f)' ,func=a,func=b
fails "tool has no option 'fnuc', nor any other" 'static void f(void) { lathe_flush(lathe_open("-")); }' 'LATHE_ON(LATHE_START, f)' ,fnuc=a

# A copy of the program goes on with the words of threads and sites.
written 'static uint64_t *site;
static void start(uint64_t *own) { lathe_print("%d%d ", own[0] > 0, site && *site > 0); }
static void look(uint64_t *own, uint64_t *here) { own[0]++, (*here)++, site = here; }' \
    'LATHE_ON(LATHE_START, start, {LATHE_THREAD_OWN}), LATHE_ON(LATHE_INSN, look, {LATHE_THREAD_OWN}, {LATHE_SITE})'
got=$("$lathe" run --tool=tool.c -- "$counted" f 2>&1)
[ "$got" = "00 11 " ] || fail "words after fork: '$got'"

# Names of functions, and stars in filters.
written 'static void f(uint64_t pc) {
    LatheSymbol s;
    lathe_symbol(pc, &s);
    if (lathe_symbol_is(pc, "nine") && lathe_symbol_is(pc, "a_nine") && lathe_symbol_is(pc, "__n*") && !lathe_symbol_is(pc, "nin"))
        lathe_print("%s\n", s.name);
}
static void g(void) { lathe_print("filter\n"); }
static void no(void) { lathe_print("wrong filter\n"); }' \
    'LATHE_ON(LATHE_FUNCTION, f, {LATHE_PC}), LATHE_WHERE(LATHE_FUNCTION, g, ((LatheWhere){.module = "*n*s", .symbol = "*ine"})),
    LATHE_WHERE(LATHE_FUNCTION, no, ((LatheWhere){.module = "*n*s", .symbol = "*nin"}))'
got=$("$lathe" run --tool=tool.c -- "$ends" nine 2>&1 | tr '\n' ' ')
[ "$got" = "ready nine filter 936 " ] || fail "names: '$got'"

[ $failed = 0 ] && echo ok
exit $failed
