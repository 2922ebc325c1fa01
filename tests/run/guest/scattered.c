/* scattered: hot loops that are not one piece of code from their head to one jump back. Each argument pair is the name of a
 * shape and a number of rounds, in millions. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All take rounds in rdi and leave a sum in rax. `seldom` is called once in 2^20 rounds. */
__asm__(".text\n"
        "seldom: ret\n"

        /* The head of the hot loop is where a farther jump leads, too, and a call lies between. */
        "far_jump: xor %eax, %eax\n"
        "0: mov $0x100000, %ecx\n"
        "1: add %rcx, %rax\n"
        "   rol $3, %rax\n"
        "   sub $1, %ecx\n"
        "   jnz 1b\n"
        "   call seldom\n"
        "   mov $0x100000, %ecx\n"
        "   sub $0x100000, %rdi\n"
        "   ja 1b\n"
        "   ret\n"

        /* A part that is seldom run lies behind the loop, calls, and jumps back into its middle. */
        "cold_part: xor %eax, %eax\n"
        "1: add %rdi, %rax\n"
        "   test $0xfffff, %edi\n"
        "   jz 3f\n"
        "2: rol $3, %rax\n"
        "   sub $1, %rdi\n"
        "   jnz 1b\n"
        "   ret\n"
        "3: call seldom\n"
        "   xor $5, %rax\n"
        "   jmp 2b\n"

        /* The body lies behind other code, which calls. */
        "apart: xor %eax, %eax\n"
        "1: sub $1, %rdi\n"
        "   jz 3f\n"
        "   test $0xfffff, %edi\n"
        "   jnz 4f\n"
        "2: call seldom\n"
        "   xor $5, %rax\n"
        "   jmp 1b\n"
        "3: call seldom\n"
        "   ret\n"
        "4: add %rdi, %rax\n"
        "   rol $3, %rax\n"
        "   jmp 1b\n"

        /* Two jumps back to one head, from the same loop: a `continue`. */
        "two_jumps: xor %eax, %eax\n"
        "1: sub $1, %rdi\n"
        "   jz 3f\n"
        "   add %rdi, %rax\n"
        "   rol $3, %rax\n"
        "   test $1, %al\n"
        "   jnz 1b\n"
        "   test $0xfffff, %edi\n"
        "   jz 2f\n"
        "   xor $5, %rax\n"
        "   jmp 1b\n"
        "2: call seldom\n"
        "   jmp 1b\n"
        "3: ret\n");

typedef uint64_t Loop(uint64_t rounds);
Loop far_jump, cold_part, apart, two_jumps;

static Loop *find(const char *name) {
    static const struct {
        const char *name;
        Loop *loop;
    } all[] = {{"far_jump", far_jump}, {"cold_part", cold_part}, {"apart", apart}, {"two_jumps", two_jumps}};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (!strcmp(all[i].name, name))
            return all[i].loop;
    exit(2);
}

int main(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2)
        printf("%s %llx\n", argv[i], (unsigned long long)find(argv[i])((uint64_t)atoi(argv[i + 1]) << 20));
    return argc == 1;
}
