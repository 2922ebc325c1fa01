/* header.c: the public header compiles alone. */
#include <lathe/lift.h>

int main(void) {
    return sizeof(LatheConfig) == 0;
}
