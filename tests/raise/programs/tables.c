/* tables.c: switches whose tables nothing bounds, calls that never return, and a table's address kept over them. */
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

int main(int argc, char **argv) {
    static const char letters[] = "abcdefghzyb";
    Token tokens[9];
    int sum = argc;
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
