#!/bin/sh
# binopt.sh LATHE MANDIR CC: what users of `lathe binopt` meet: output, messages, exit statuses.
lathe=$(realpath "$1")
mandir=$(realpath "$2")
cc=$3
. "$(dirname "$0")/../check.sh"

binopt() {
    "$lathe" binopt "$@"
}

cat >subject.c <<'C'
#include <stdlib.h>
int difference(int a, int b) { return a - b; }
long range(const int *p, unsigned long n) {
    long sum = 0;
    for (const int *end = p + n; p != end; p++)
        sum += *p;
    return sum;
}
double weighted(const double *w, const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += w[i] * x[i];
    return sum;
}
void fill(char *to, unsigned count, int c) {
    while (count--)
        *to++ = (char)c;
}
const int table[4] = {3, 1, 4, 1};
int variable[4] = {2, 7, 1, 8};
int pick(int i) { return table[i]; }
int pick_variable(int i) { return variable[i]; }
int quotient(int a, int b) { return a / b; }
void for_ever(int n) { while (n) __asm__ volatile(""); }
float half(float x, short s, unsigned char c) { return x / 2 + s + c; }
int through(int (*f)(int), int i) { return f(i) + 1; }
long double wide(long double x) { return x + 1; }
int calls_library(int i) { return abs(atoi("12")) + i; }
int with_avx(int a) { __asm__ volatile("vpaddd %%ymm1, %%ymm2, %%ymm3\n\tvzeroupper" ::: "xmm3"); return a; }
int main(void) { return difference(3, 4); }
C
$cc -g -O2 -fPIC -shared -o libsubject.so subject.c || exit 1
$cc -O2 -fPIC -shared -o libbare.so subject.c || exit 1
$cc -g -O2 -fPIE -pie -o pie subject.c || exit 1
$cc -g -O2 -fno-pie -no-pie -o fixed subject.c || exit 1
$cc -O2 -c -o subject.o subject.c || exit 1

# --------------------------------------------------------------------------------------------------------------- usage

documented binopt
expect 2 "no file" binopt --function=f
expect 2 "no function" binopt libsubject.so
says err 'which function'
expect 2 "two files" binopt libsubject.so pie --function=f
expect 2 "unknown option" binopt libsubject.so --functon=f
says err 'did you mean --function'

# -------------------------------------------------------------------------------------------------- what it does and shows

expect 0 "a fixed number" binopt libsubject.so --function=difference --fix=1=42 --arg=48
says out '^original \([0-9]+ instructions, [0-9]+ bytes\) +\| specialised \([0-9]+ bytes\)$'
says out 'sub .*\|'
says out '^define .*i64 @spec\(i64'
says out '^difference: int32\(int32, int32\), parameter 1 fixed$'
says out '^specialised by llvm in [0-9.]+ ms of CPU time'
says out '^original   : returned 6, '
says out '^specialised: returned 6, '
says out '^time: [0-9.]+ of the original'
expect 0 "a value with a sign" binopt libsubject.so --function=difference --fix=1=-3 --arg=0x10
says out '^specialised: returned 19, '
expect 0 "constant memory, numbers" binopt libsubject.so --function=weighted --fix=0=double:0.5,2 --fix=2=2 --arg=double:3,4
says out '^specialised: returned 9.5, '
expect 0 "memory is compared" binopt libsubject.so --function=fill --fix=1=5 --arg=zero:8 --arg=65
says out '^specialised: returned nothing, '
expect 0 "small types" binopt libsubject.so --function=half --fix=1=-300 --arg=3 --arg=200
says out '^specialised: returned -98.5, '
expect 0 "a function as value" binopt libsubject.so --function=through --fix=0=symbol:pick --arg=2
says out '^specialised: returned 5, '
expect 0 "all parameters" binopt libsubject.so --function=pick --fix=0=2 --call --ir=none
says out '^specialised: returned 4, '
says_not out '^define'
expect 0 "variable memory stays so" binopt libsubject.so --function=pick_variable --fix=0=1 --call --ir=none
says out '\| .*: mov eax, \[rax\]'
expect 0 "unless it is said to be constant" binopt libsubject.so --function=pick_variable --fix=0=1 --const=variable+16 --call --ir=none
says out '\| .*0x0: mov eax, 0x0*7$'
expect 0 "lifted" binopt libsubject.so --function=difference --ir=lifted
says out '@code_'
expect 0 "guard" binopt libsubject.so --function=difference --fix=1=42 --guard --arg=48
says out 'specialised: returned 6, '
expect 0 "a type by hand" binopt libbare.so --function=difference --type='int(int, int)' --fix=1=42 --arg=48
says out 'specialised: returned 6, '
# A loop from one pointer to another that is a known distance away: nobody has to know where they are.
for driver in trace function; do
    expect 0 "between pointers by $driver" binopt libsubject.so --function=range --fix=1=5 --arg=int32:1,2,3,4,500 --driver=$driver
    says out '^specialised: returned 510, '
    says out '\| .*: add .*'
    says_not out '\| .*: (j|cmp)'
done
expect 0 "to a file" binopt libsubject.so --function=difference --fix=1=42 -o text
silent out
says text '^specialised by llvm'

# ---------------------------------------------------------------------------------------------------------- kinds of files

for file in pie fixed; do
    expect 0 "$file" binopt $file --function=difference --fix=1=42 --arg=48
    says out 'specialised: returned 6, '
done
expect 0 "an object" binopt subject.o --function=difference --type='int(int,int)' --fix=1=42 --arg=48
says out 'specialised: returned 6, '
says out '\| specialised'

# ------------------------------------------------------------------------------------------------- functions that misbehave

expect 0 "both fault" binopt libsubject.so --function=quotient --fix=1=0 --arg=3
says out '^original   : ended by a signal: Floating point exception'
says out '^specialised: ended by a signal: Floating point exception'

# ------------------------------------------------------------------------------------------------------------ broken input

refuses "missing file" '^lathe: none: No such file' binopt none --function=f
refuses "directory" 'directory' binopt . --function=f
echo "not a program, but long enough to hold a header if it had one, really quite long" >text
refuses "not an ELF" 'not an ELF file' binopt text --function=f
head -c 70 subject.o >short.o
refuses "damaged object" 'cannot be linked' binopt short.o --function=difference
refuses "unknown function" "no function called 'none'" binopt libsubject.so --function=none
refuses "unknown function of an object" "no global function called 'none'" binopt subject.o --function=none --type='int(int)'
refuses "no type" 'no debug information.*--type' binopt libbare.so --function=difference
refuses "a type without name" 'no debug information.*--type' binopt libsubject.so --function=wide
for type in int 'int(' 'int(int' 'int(,)' 'int(void, int)' 'what(int)' 'int(int) x' '(int)' 'int(...)'; do
    refuses "type $type" 'is not the type of a function' binopt libbare.so --function=difference --type="$type"
done
for fix in 1 x=1 =1 1:2; do
    refuses "fix $fix" 'not of the form N=VALUE' binopt libsubject.so --function=difference --fix=$fix
done
refuses "fix of none" 'beyond the parameters' binopt libsubject.so --function=difference --fix=2=1
for value in '' x 1x 1.5 4294967296 -2147483649; do
    refuses "value $value" 'is no value of type int32' binopt libsubject.so --function=difference --fix=1=$value
done
for value in what:1 double: double:1,,2 zero:0 zero:x file:none void:1; do
    refuses "pointer $value" 'is no value of type ptr' binopt libsubject.so --function=weighted --fix=0=$value
done
refuses "memory" 'neither WHERE\+SIZE' binopt libsubject.so --function=pick --const=variable
refuses "memory of nobody" "no function called 'nobody'" binopt libsubject.so --function=pick --const=nobody+4
refuses "too few arguments" '2 parameters are not fixed, but there are 1' binopt libsubject.so --function=difference --arg=1
refuses "too many arguments" '1 parameters are not fixed, but there are 2' binopt libsubject.so --function=difference --fix=1=4 --arg=1 --arg=2
refuses "unknown rewriter" "there is no 'fast'; there are llvm" binopt libsubject.so --function=difference --driver=fast
expect 1 "left alone" binopt libsubject.so --function=difference --driver=none
says err "'difference' was left alone: this rewriter changes nothing"
expect 1 "an instruction without a meaning" binopt libsubject.so --function=with_avx
says err "'with_avx' was left alone: .*vpaddd ymm3, ymm2, ymm1 at 0x"
expect 1 "nowhere to write" binopt libsubject.so --function=difference -o none/text
says err 'none/text: No such file'

finish
