/* bilateral_table.c: prints the weights of a bilateral filter, for bilateral_fixed.c to include. */
#include <stdio.h>
#include <stdlib.h>

#include "bilateral_kernel.h"

int main(int argc, char **argv) {
    int radius = argc > 1 ? atoi(argv[1]) : 1, count = bilateral_weight_count(radius);
    float *weight = malloc((size_t)count * sizeof(*weight));
    bilateral_weights(weight, radius);
    for (int i = 0; i < count; i++)
        printf("%af,\n", (double)weight[i]);
    free(weight);
    return 0;
}
