/* nbody.c: planets that attract each other: scalar double arithmetic with square roots. */
#include <math.h>
#include <stdio.h>

#include "work.h"

typedef struct Body {
    double at[3], speed[3], mass;
} Body;

static Body bodies[5] = {
    {{0, 0, 0}, {0, 0, 0}, 39.5},
    {{4.8, -1.2, -0.1}, {0.6, 2.8, -0.02}, 0.038},
    {{8.3, 4.1, -0.4}, {-1.0, 1.8, 0.008}, 0.011},
    {{12.9, -15.1, -0.2}, {1.1, 0.87, -0.01}, 0.0017},
    {{15.4, -25.9, 0.18}, {0.98, 0.6, -0.035}, 0.002},
};

static void step(double dt) {
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 5; j++) {
            Body *a = &bodies[i], *b = &bodies[j];
            double dx = a->at[0] - b->at[0], dy = a->at[1] - b->at[1], dz = a->at[2] - b->at[2];
            double d2 = dx * dx + dy * dy + dz * dz, mag = dt / (d2 * sqrt(d2));
            a->speed[0] -= dx * b->mass * mag, a->speed[1] -= dy * b->mass * mag, a->speed[2] -= dz * b->mass * mag;
            b->speed[0] += dx * a->mass * mag, b->speed[1] += dy * a->mass * mag, b->speed[2] += dz * a->mass * mag;
        }
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++)
            bodies[i].at[k] += dt * bodies[i].speed[k];
}

int main(int argc, char **argv) {
    for (long n = work_amount(argc, argv, 6000000); n; n--)
        step(0.001);
    double energy = 0;
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++)
            energy += bodies[i].mass * bodies[i].speed[k] * bodies[i].speed[k];
    printf("%.12f\n", energy);
    return 0;
}
