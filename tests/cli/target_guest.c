/* target_guest.c: functions that are compiled for a guest, lifted, and compiled for a host: target_driver.c calls them there. They read no
 * constants from memory: the guest's is not there. */

/* Loops, calls of nothing, integers and memory. */
long checksum(const unsigned char *bytes, long n) {
    unsigned long h = 5381;
    for (long i = 0; i < n; i++)
        h = ((h << 7 | h >> 57) ^ bytes[i]) * 0x100000001b3;
    return (long)h;
}

/* Floating point. */
double weigh(const double *v, long n) {
    double sum = 0, most = v[0];
    for (long i = 0; i < n; i++) {
        sum += v[i] * v[i] / (double)(i + 1);
        most = v[i] > most ? v[i] : most;
    }
    return sum - most;
}

/* Division by a number that may be anything, and a switch. */
long classify(long a, long b) {
    switch (a & 7) {
    case 0:
        return b ? a / b : -1;
    case 1:
        return b ? a % b : -2;
    case 2:
        return a * b;
    case 3:
        return a >> (b & 63);
    case 5:
        return (long)((unsigned long)a / 3);
    default:
        return a - b;
    }
}

/* Results of 32 bits, which some hosts want extended. */
int shrink(int a, int b) {
    return (int)((unsigned)a << 16 | (unsigned)b >> 16);
}

#ifdef EXTENDED /* wider than a double: the x87 unit of x86-64 guests */
double precise(const double *v, long n) {
    long double sum = 0;
    for (long i = 0; i < n; i++)
        sum += (long double)v[i] * v[0];
    return (double)(sum / v[1]);
}
#endif
