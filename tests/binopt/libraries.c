/* libraries.c: functions of libraries that every system has, each specialised for random values of one parameter, called with
 * random values of the others, and compared with the original. Prints how many were specialised and why the others were not.
 *
 * Signatures are letters: the result, then the parameters: i int, l long, z a small size, d double, f float, s a string, c a
 * character. */
#include <binopt.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALUES = 2, CALLS = 60, STRINGS = 16, STRING_BYTES = 64, MAX_REASONS = 32 };

typedef struct Group {
    const char *file, *sig, *names;
} Group;

static const Group groups[] = {
    {"libm.so.6", "dd",
     "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 exp10 expm1 fabs floor j0 j1 y0 y1 log "
     "log10 log1p "
     "log2 logb nearbyint rint round roundeven significand sin sinh sqrt tan tanh tgamma trunc"},
    {"libm.so.6", "ff",
     "acosf acoshf asinf asinhf atanf atanhf cbrtf ceilf cosf coshf erff erfcf expf exp2f exp10f expm1f fabsf floorf "
     "j0f j1f "
     "y0f y1f logf log10f log1pf log2f logbf nearbyintf rintf roundf roundevenf significandf sinf sinhf sqrtf tanf "
     "tanhf tgammaf "
     "truncf"},
    {"libm.so.6", "ddd", "atan2 copysign drem fdim fmax fmin fmod hypot nextafter pow remainder scalb fmaxmag fminmag"},
    {"libm.so.6", "fff", "atan2f copysignf fdimf fmaxf fminf fmodf hypotf nextafterf powf remainderf scalbf"},
    {"libm.so.6", "dddd", "fma"},
    {"libm.so.6", "ddi", "ldexp scalbn"},
    {"libm.so.6", "ffi", "ldexpf scalbnf"},
    {"libm.so.6", "dcd", "jn yn"}, /* their time is that of their order */
    {"libm.so.6", "fcf", "jnf ynf"},
    {"libm.so.6", "id", "ilogb finite isinf isnan"},
    {"libm.so.6", "if", "ilogbf finitef isinff isnanf"},
    {"libm.so.6", "ld", "lrint llrint lround llround llogb"},
    {"libm.so.6", "lf", "lrintf llrintf lroundf llroundf llogbf"},
    {"libc.so.6", "ic",
     "isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit toupper tolower "
     "toascii "
     "isascii iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper "
     "iswxdigit "
     "towupper towlower btowc wctob"},
    {"libc.so.6", "ii", "abs ffs htonl ntohl"},
    {"libc.so.6", "ll", "labs llabs ffsl ffsll imaxabs"},
    {"libc.so.6", "ls", "strlen atoi atol atoll"},
    {"libc.so.6", "ds", "atof"},
    {"libc.so.6", "lsz", "strnlen"},
    {"libc.so.6", "lsc", "strchr strrchr strchrnul index rindex"},
    {"libc.so.6", "iss", "strcmp strcasecmp strcoll strverscmp"},
    {"libc.so.6", "issz", "strncmp strncasecmp memcmp bcmp"},
    {"libc.so.6", "lscz", "memchr memrchr"},
    {"libc.so.6", "lss", "strspn strcspn strpbrk strstr strcasestr"},
    {"libc.so.6", "lszsz", "memmem"},
    {"libc.so.6", "llll", "gnu_dev_makedev"},
    {"libc.so.6", "il", "gnu_dev_major gnu_dev_minor"},
    {"libc.so.6", "dds", "nan"},
    {"libz.so.1", "llsz", "adler32 crc32 adler32_z crc32_z"},
    {"libz.so.1", "lll", "crc32_combine_gen"},
    {"libz.so.1", "llll", "adler32_combine crc32_combine"}, /* crc32_combine_op takes no 0, and does not end with one */
    {"libz.so.1", "ll", "compressBound"},
};

/* --------------------------------------------------------------------------------------------------------------- random */

static uint64_t seed = 88172645463325252u;
static char strings[STRINGS][STRING_BYTES];

static uint64_t draw(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static void make_strings(void) {
    for (int i = 0; i < STRINGS; i++) {
        size_t length = draw() % (STRING_BYTES - 17);
        for (size_t k = 0; k < length; k++)
            strings[i][k] = "abAB01 -.xyz"[draw() % 12];
    }
}

static double draw_double(void) {
    static const double special[] = {0, -0.0, 1, -1, 0.5, 2, 1e300, -1e-300, 1e10, 3.5};
    double unit = (double)(draw() >> 11) * 0x1p-53;
    switch (draw() % 4) {
    case 0:
        return special[draw() % 10];
    case 1:
        return unit;
    case 2:
        return (unit - 0.5) * 200;
    default:
        return unit * 1e6;
    }
}

typedef union Value {
    uint64_t bits;
    double d;
    float f;
} Value;

static Value draw_value(char letter) {
    Value v = {0};
    switch (letter) {
    case 'i':
        v.bits = draw() % 3 ? (uint32_t)(int)(draw() % 41) - 20 : (uint32_t)draw();
        break;
    case 'l':
        v.bits = draw() % 3 ? draw() % 1000 : draw() >> 33;
        break;
    case 'z':
        v.bits = draw() % 17;
        break;
    case 'c':
        v.bits = draw() % 128;
        break;
    case 's':
        v.bits = (uint64_t)strings[draw() % STRINGS];
        break;
    case 'f':
        v.f = (float)draw_double();
        break;
    default:
        v.d = draw_double();
    }
    return v;
}

/* ---------------------------------------------------------------------------------------------------------------- calls */

typedef uint64_t IntCall(uint64_t, uint64_t, uint64_t, uint64_t, double, double, double, double);
typedef double FloatCall(uint64_t, uint64_t, uint64_t, uint64_t, double, double, double, double);

/* Any signature: integers and floating-point numbers are counted apart. */
static Value call(void *f, const char *sig, const Value *args) {
    uint64_t i[4] = {0};
    double d[4] = {0};
    int ints = 0, floats = 0;
    for (int k = 1; sig[k]; k++) {
        if (sig[k] == 'd' || sig[k] == 'f')
            d[floats++] = args[k - 1].d;
        else
            i[ints++] = args[k - 1].bits;
    }
    Value v;
    if (*sig == 'd' || *sig == 'f')
        v.d = ((FloatCall *)f)(i[0], i[1], i[2], i[3], d[0], d[1], d[2], d[3]);
    else
        v.bits = ((IntCall *)f)(i[0], i[1], i[2], i[3], d[0], d[1], d[2], d[3]);
    if (*sig == 'i' || *sig == 'f')
        v.bits = (uint32_t)v.bits;
    return v;
}

static bool equal(char letter, Value a, Value b) {
    if (letter == 'd' && a.d != a.d)
        return b.d != b.d;
    if (letter == 'f' && a.f != a.f)
        return b.f != b.f;
    return a.bits == b.bits;
}

/* ---------------------------------------------------------------------------------------------------------------- tests */

static struct {
    int functions, specialised, left_alone, wrong;
    struct {
        char text[80];
        int count;
    } reason[MAX_REASONS];
} totals;

static BinoptType type_of(char letter) {
    switch (letter) {
    case 'i':
    case 'c':
        return BINOPT_TY_INT32;
    case 'l':
        return BINOPT_TY_INT64;
    case 'z':
        return BINOPT_TY_UINT64;
    case 's':
        return BINOPT_TY_PTR;
    case 'f':
        return BINOPT_TY_FLOAT;
    }
    return BINOPT_TY_DOUBLE;
}

/* What is logged, instead of on standard error: the reason without the addresses in it. */
static BinoptFunc create(BinoptCfgRef cfg, char *why, size_t size) {
    static FILE *log;
    if (!log)
        log = tmpfile();
    fflush(stderr);
    int saved = dup(2);
    dup2(fileno(log), 2);
    BinoptFunc made = binopt_spec_create(cfg);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    char line[256] = "";
    rewind(log);
    while (fgets(line, sizeof(line), log))
        ;
    rewind(log);
    if (ftruncate(fileno(log), 0))
        exit(2);
    char *text = strstr(line, "left alone: ");
    snprintf(why, size, "%s", text ? text + 12 : "");
    for (char *p; (p = strstr(why, " at 0x"));)
        *p = 0;
    why[strcspn(why, "\n")] = 0;
    return made;
}

static void count_reason(const char *why) {
    for (int i = 0; i < MAX_REASONS; i++) {
        if (totals.reason[i].count && strcmp(totals.reason[i].text, why))
            continue;
        snprintf(totals.reason[i].text, sizeof(totals.reason[i].text), "%s", why);
        totals.reason[i].count++;
        return;
    }
}

static bool try_value(BinoptHandle handle, void *f, const char *name, const char *sig, char *why, size_t size,
                      bool *wrong) {
    unsigned count = (unsigned)strlen(sig) - 1, fixed = (unsigned)(draw() % count);
    Value args[4], fixed_value = draw_value(sig[1 + fixed]);
    BinoptCfgRef cfg = binopt_cfg_new(handle, f);
    binopt_cfg_set(cfg, BINOPT_F_LOGLEVEL, 0);
    binopt_cfg_type(cfg, count, type_of(sig[0]), type_of(sig[1]), type_of(sig[1 + (count > 1)]),
                    type_of(sig[1 + 2 * (count > 2)]), type_of(sig[1 + 3 * (count > 3)]));
    binopt_cfg_set(cfg, BINOPT_F_LOGLEVEL, 1);
    binopt_cfg_set(cfg, BINOPT_F_LIBRARIES, draw() & 1);
    binopt_cfg_set_param(cfg, fixed, &fixed_value);
    if (sig[1 + fixed] == 's')
        binopt_cfg_mem(cfg, (void *)fixed_value.bits, STRING_BYTES, BINOPT_MEM_CONST);
    void *made = create(cfg, why, size);
    for (int i = 0; made != f && i < CALLS; i++) {
        for (unsigned k = 0; k < count; k++)
            args[k] = k == fixed ? fixed_value : draw_value(sig[1 + k]);
        Value expected = call(f, sig, args), got = call(made, sig, args);
        if (equal(*sig, expected, got))
            continue;
        printf("%s(%#lx, %#lx, %#lx): %#lx, not %#lx; parameter %u is fixed\n", name, args[0].bits, args[1].bits,
               args[2].bits, got.bits, expected.bits, fixed);
        *wrong = true;
        break;
    }
    return made != f;
}

static void test_function(void *library, const char *name, const char *sig) {
    void *f = dlsym(library, name);
    if (!f)
        return;
    BinoptHandle handle = binopt_init();
    char why[200] = "";
    bool all = true, wrong = false;
    for (int i = 0; i < VALUES && all; i++)
        all = try_value(handle, f, name, sig, why, sizeof(why), &wrong);
    totals.functions++;
    totals.specialised += all;
    totals.left_alone += !all;
    totals.wrong += wrong;
    if (!all)
        count_reason(why);
    binopt_fini(handle);
}

int main(int argc, char **argv) {
    make_strings();
    for (size_t g = 0; g < sizeof(groups) / sizeof(*groups); g++) {
        void *library = dlopen(groups[g].file, RTLD_NOW);
        char *names = strdup(groups[g].names), *rest = names, *name;
        while (library && (name = strsep(&rest, " ")))
            if (argc < 2 || !strcmp(argv[1], name))
                test_function(library, name, groups[g].sig);
        free(names);
    }
    printf("%d functions: %d specialised, %d left alone, %d wrong\n", totals.functions, totals.specialised,
           totals.left_alone, totals.wrong);
    for (int i = 0; i < MAX_REASONS && totals.reason[i].count; i++)
        printf("%5d %s\n", totals.reason[i].count, totals.reason[i].text);
    return totals.wrong != 0 || totals.specialised <= totals.functions / 2;
}
