/* image.c: a shared library whose contents elf.c knows: tables of pointers that only relocation makes right. */
int counter = 7;
int zeroed[1000];

extern int imported(int x);

static int twice(int x) {
    return x * 2;
}

static int thrice(int x) {
    return x * 3;
}

static int (*const inner_table[])(int) = {twice, thrice, twice};
static int (*const outer_table[])(int) = {thrice, imported};

__attribute__((visibility("default"))) const char text[] = "constant text";

__attribute__((visibility("default"))) int call_inner(unsigned i, int x) {
    return inner_table[i](x);
}

__attribute__((visibility("default"))) int call_outer(unsigned i, int x) {
    return outer_table[i](x) + counter++ + zeroed[i];
}

__attribute__((visibility("default"), alias("call_inner"))) int call_alias(unsigned i, int x);
