/* stencil.c: one element of a stencil, given as data, as data sorted by weight, and as code. */
#include "kernels.h"

void KERNEL(stencil_flat)(const struct Stencil *s, const double *m1, double *m2, int index) {
    double v = 0;
    for (int i = 0; i < s->ps; i++) {
        const struct Point *p = &s->p[i];
        v += p->f * m1[index + p->dx + SIDE * p->dy];
    }
    m2[index] = v;
}

void KERNEL(stencil_sorted)(const struct Sorted *s, const double *m1, double *m2, int index) {
    double v = 0;
    for (int i = 0; i < s->gs; i++) {
        const struct Group *g = s->g[i];
        double sum = 0;
        for (int k = 0; k < g->ps; k++)
            sum += m1[index + g->p[k].dx + SIDE * g->p[k].dy];
        v += g->f * sum;
    }
    m2[index] = v;
}

void KERNEL(stencil_direct)(const double *m1, double *m2, int index) {
    m2[index] = 0.25 * (m1[index - 1] + m1[index + 1] + m1[index - SIDE] + m1[index + SIDE]);
}
