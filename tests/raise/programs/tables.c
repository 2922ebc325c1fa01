/* tables.c: switches whose tables nothing bounds, calls that never return, and a table's address kept over them; and one whose address is loaded anew in very many
 * places, as in large loops, and that leads to a part of the function that is elsewhere. */
#include <error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Token {
    int value;
    unsigned char kind;
} Token;

__attribute__((noinline, noreturn)) static void usage(int status) {
    fprintf(status ? stderr : stdout, "usage\n");
    exit(status);
}

__attribute__((noinline)) static int evaluate(const Token *t, int x) {
    switch (t->kind) {
    case 0:
        return x + t->value;
    case 1:
        return x - t->value;
    case 2:
        return x * t->value;
    case 3:
        return x ^ t->value;
    case 4:
        return x << 1;
    case 5:
        return evaluate(t + 1, x);
    case 6:
        return t->value;
    case 7:
        return -x;
    default:
        __builtin_unreachable();
    }
}

#ifdef __x86_64__
/* The n-th of 40 places loads the address, and each jumps to the same switch. */
__asm__("\t.section .text.unlikely\n\t.type many.cold, @function\n"
        "many.cold:\n"
        "\timul $7, %rdi, %rax\n"
        "\tret\n"
        "\t.size many.cold, .-many.cold\n"
        "\t.text\n\t.globl many\n\t.type many, @function\n"
        "many:\n"
        "\t.set place, 0\n"
        "\t.rept 40\n"
        "\tcmp $place, %rdi\n"
        "\tjne 1f\n"
        "\tlea many_table(%rip), %r10\n"
        "\tadd $place, %rsi\n"
        "\tjmp 2f\n"
        "1:\n"
        "\t.set place, place + 1\n"
        "\t.endr\n"
        "\tret\n"
        "2:\tand $7, %esi\n"
        "\tcmp $5, %rsi\n"
        "\tja 3f\n"
        "\tmovslq (%r10,%rsi,4), %rax\n"
        "\tadd %r10, %rax\n"
        "\tjmp *%rax\n"
        "3:\tmov $3, %eax\n"
        "\tret\n"
        "4:\tlea 1(%rdi), %rax\n"
        "\tret\n"
        "5:\tlea 100(%rdi), %rax\n"
        "\tret\n"
        "\t.size many, .-many\n"
        "\t.section .rodata\n\t.p2align 2\n"
        "many_table:\n"
        "\t.long 4b - many_table, many.cold - many_table, 5b - many_table, many.cold - many_table, 4b - many_table, 3b "
        "- many_table\n"
        "\t.text\n");
long many(long place, long way);
#else
static long many(long place, long way) {
    return place + way;
}
#endif

int main(int argc, char **argv) {
    static const char letters[] = "abcdefghzyb";
    Token tokens[9];
    int sum = argc;
    for (long place = 0; place < 40; place++)
        sum += (int)many(place, place * 5 + argc);
    printf("%d\n", sum);
    for (int i = 0; i < 9; i++)
        tokens[i] = (Token){i * 3 + argc, (unsigned char)(i % 8)};
    for (int i = 0; i < 9; i++)
        sum = evaluate(&tokens[i], sum) & 0xffff;
    for (const char *p = letters; *p; p++) {
        switch (*p) {
        case 'a':
            sum += 5;
            break;
        case 'b':
            printf("b %d\n", sum);
            break;
        case 'c':
            sum ^= 77;
            break;
        case 'd':
            if (argc > 3)
                error(2, 0, "d");
            sum *= 3;
            break;
        case 'e':
            if (argc > 4)
                usage(3);
            sum--;
            break;
        case 'f':
            sum += argc;
            break;
        case 'g':
            puts("g");
            break;
        case 'h':
            if (argc > 5)
                abort();
            sum |= 8;
            break;
        default:
            if (argc > 6)
                usage(0);
            sum += (int)strlen(argv[0]) > 0;
        }
    }
    printf("%d\n", sum);
    usage(sum & 1);
}
