/* trees.c: binary trees built, walked and freed: recursion and the allocator. */
#include <stdio.h>

#include "work.h"

typedef struct Tree {
    struct Tree *left, *right;
} Tree;

static Tree *build(int depth) {
    Tree *t = malloc(sizeof(*t));
    t->left = depth ? build(depth - 1) : NULL;
    t->right = depth ? build(depth - 1) : NULL;
    return t;
}

static long count(const Tree *t) {
    return t->left ? 1 + count(t->left) + count(t->right) : 1;
}

static void drop(Tree *t) {
    if (t->left) {
        drop(t->left);
        drop(t->right);
    }
    free(t);
}

int main(int argc, char **argv) {
    long sum = 0;
    for (long n = work_amount(argc, argv, 600); n; n--) {
        Tree *t = build(15);
        sum += count(t);
        drop(t);
    }
    printf("%ld\n", sum);
    return 0;
}
