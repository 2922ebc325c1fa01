/* avx.c: computing with AVX2, FMA, BMI and AVX-512, by compilers' intrinsics; and such instructions with operands relative to rip, in
 * code that lies far from everything. */
#include <immintrin.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { N = 1000 };
static float x[N], y[N];
static int32_t n[N];

static void print_sum(const char *name, const void *data, size_t size) {
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ ((const uint8_t *)data)[i]) * 1099511628211u;
    printf("%s %016lx\n", name, (long)sum);
}

/* --------------------------------------------------------------------------------------------------------- intrinsics */

__attribute__((target("avx2,fma"), noinline)) static void products(float *out) {
    const __m256 a = _mm256_set1_ps(1.25f), b = _mm256_setr_ps(1, 2, 3, 4, 5, 6, 7, 8);
    for (int i = 0; i + 8 <= N; i += 8) {
        __m256 v = _mm256_fmadd_ps(_mm256_loadu_ps(x + i), a, _mm256_loadu_ps(y + i));
        _mm256_storeu_ps(out + i, _mm256_blendv_ps(v, _mm256_mul_ps(v, b), _mm256_cmp_ps(v, a, _CMP_LT_OQ)));
    }
}

__attribute__((target("avx2"), noinline)) static void integers(int32_t *out) {
    const __m256i order = _mm256_setr_epi32(7, 1, 5, 3, 0, 2, 6, 4);
    for (int i = 0; i + 8 <= N; i += 8) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(n + i));
        __m256i index = _mm256_and_si256(v, _mm256_set1_epi32(511));
        __m256i g = _mm256_i32gather_epi32(n, index, 4);
        v = _mm256_permutevar8x32_epi32(_mm256_mullo_epi32(v, g), order);
        v = _mm256_xor_si256(v, _mm256_sllv_epi32(g, _mm256_set1_epi32(i & 31)));
        v = _mm256_shuffle_epi8(v, _mm256_setr_epi8(3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 1, 0, 3, 2, 5,
                                                    4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
        _mm256_storeu_si256((__m256i *)(out + i), v);
    }
}

__attribute__((target("bmi,bmi2,lzcnt,popcnt"), noinline)) static uint64_t bits(uint64_t v) {
    uint64_t sum = 0;
    for (int i = 0; i < 100; i++) {
        v = v * 6364136223846793005u + 1442695040888963407u;
        sum += _pdep_u64(v, 0x5555f0f0aaaa0f0f) ^ _pext_u64(v, 0xff00ff00ff00ff00) ^ _andn_u64(v, sum) ^ _blsr_u64(v) ^
               _lzcnt_u64(v);
        sum = sum << (v & 31) | sum >> (64 - (v & 31)) % 64;
    }
    return sum;
}

__attribute__((target("avx,f16c"), noinline)) static void halves(uint16_t *out) {
    for (int i = 0; i + 8 <= N; i += 8)
        _mm_storeu_si128((__m128i *)(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(x + i), 0));
}

__attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"), noinline)) static size_t masked(int32_t *out) {
    size_t count = 0;
    for (int i = 0; i + 16 <= N; i += 16) {
        __m512i v = _mm512_loadu_si512(n + i);
        __mmask16 odd = _mm512_test_epi32_mask(v, _mm512_set1_epi32(1)),
                  small = _mm512_cmplt_epi32_mask(v, _mm512_set1_epi32(1000));
        __m512i r = _mm512_mask_add_epi32(v, odd, v, _mm512_set1_epi32(i));
        r = _mm512_ternarylogic_epi32(r, _mm512_rol_epi32(v, 7), _mm512_maskz_loadu_epi32(small, n + i), 0x96);
        _mm512_mask_compressstoreu_epi32(out + count, (__mmask16)~small, r);
        count += __builtin_popcount((uint16_t)~small);
        _mm256_mask_storeu_epi16(out + count, (__mmask16)(odd & 0xff), _mm256_set1_epi16((short)i));
    }
    return count;
}

__attribute__((target("avx512f,avx512dq"), noinline)) static double sum_wide(void) {
    __m512d sum = _mm512_setzero_pd();
    for (int i = 0; i + 8 <= N; i += 8)
        sum = _mm512_fmadd_round_pd(_mm512_cvtps_pd(_mm256_loadu_ps(x + i)), _mm512_set1_pd(1.0 / 3), sum,
                                    _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    return _mm512_reduce_add_pd(sum);
}

/* ------------------------------------------------------------------------------------------------------ jumping about */

static jmp_buf back;

__attribute__((target("avx2"), noinline)) static void jump_with(__m256i v) {
    v = _mm256_add_epi64(v, v);
    if (_mm256_extract_epi64(v, 3) < 100)
        longjmp(back, (int)_mm256_extract_epi64(v, 3));
}

__attribute__((target("avx2"), noinline)) static void jumps(void) {
    volatile int sum = 0;
    int value = setjmp(back);
    sum += value;
    if (sum < 2000)
        jump_with(_mm256_set1_epi64x(sum % 40 + 1));
    printf("longjmp %d\n", sum);
}

static ucontext_t here, there;
static long switched;

__attribute__((target("avx2"), noinline)) static void coroutine(void) {
    __m256i v = _mm256_set1_epi64x(3);
    for (int i = 0; i < 100; i++) {
        v = _mm256_add_epi64(v, _mm256_set1_epi64x(i));
        switched += _mm256_extract_epi64(v, 2);
        swapcontext(&there, &here);
    }
}

static void contexts(void) {
    static char stack[64 << 10];
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof(stack);
    makecontext(&there, coroutine, 0);
    for (int i = 0; i < 100; i++)
        swapcontext(&here, &there);
    printf("contexts %ld\n", switched);
}

/* ----------------------------------------------------------------------------------------------------------- far code */

/* f(out, a, b): everything it needs lies behind it. */
extern const char far_avx[], far_avx_end[], far_wide[], far_wide_end[];

asm(".section .rodata\n"
    "far_avx:\n"
    "vmovdqu 1f(%rip), %ymm1\n vpaddq 2f(%rip), %ymm1, %ymm9\n vpermq $0x1b, 1f(%rip), %ymm12\n vpxor %ymm9, %ymm12, "
    "%ymm2\n"
    "vfmadd231pd 3f(%rip), %ymm2, %ymm1\n vinserti128 $1, 2f(%rip), %ymm2, %ymm3\n vbroadcastss 3f+4(%rip), %ymm4\n"
    "vmovdqu %ymm1, (%rdi)\n vmovdqu %ymm9, 32(%rdi)\n vmovdqu %ymm3, 64(%rdi)\n vmovdqu %ymm4, 96(%rdi)\n vzeroupper\n"
    "andn 1f(%rip), %rsi, %rax\n mov %rax, 128(%rdi)\n andn 2f(%rip), %rdi, %rcx\n not %rcx\n xor %rdi, %rcx\n"
    "bextr %rdx, 1f(%rip), %rsi\n mov %rsi, 136(%rdi)\n pdep 2f(%rip), %rdx, %r9\n mov %r9, 144(%rdi)\n rorx $9, "
    "1f+8(%rip), %rbx\n"
    "mov %rbx, 152(%rdi)\n mulx 2f+8(%rip), %rsi, %r8\n mov %rsi, 160(%rdi)\n mov %r8, 168(%rdi)\n shlx %rdx, "
    "3f(%rip), %rsi\n"
    "mov %rsi, 176(%rdi)\n ret\n"
    "1: .quad 0x0123456789abcdef, 0xfedcba9876543210, 0x1111222233334444, 0x5555666677778888\n"
    "2: .quad 0x9999aaaabbbbcccc, 0xddddeeeeffff0000, 0x13579bdf2468ace0, 0xeca86420fdb97531\n"
    "3: .double 1.5, -2.25, 1e10, 3.125\n"
    "far_avx_end:\n"
    "far_wide:\n"
    "mov $0x5a, %eax\n kmovd %eax, %k3\n vmovdqu64 1f(%rip), %zmm17\n vpaddq 1f(%rip){1to8}, %zmm17, %zmm18{%k3}{z}\n"
    "vpternlogq $0x6a, 2f(%rip), %zmm18, %zmm17\n vpermq 2f(%rip), %zmm18, %zmm5{%k3}\n kmovq 2f(%rip), %k1\n vpcmpgtd "
    "1f(%rip), %zmm17, %k2\n"
    "vcvtsi2sdq 1f(%rip), %xmm17, %xmm30\n vmovq %xmm30, 128(%rdi)\n"
    "vmovdqu64 %zmm17, (%rdi)\n vmovdqu64 %zmm18, 64(%rdi)\n kmovq %k1, 136(%rdi)\n kmovq %k2, 144(%rdi)\n "
    "vzeroupper\n ret\n"
    "1: .quad 0x0123456789abcdef, 0xfedcba9876543210, 0x1111222233334444, 0x5555666677778888, 5, 6, 7, 8\n"
    "2: .quad 0x9999aaaabbbbcccc, 0xddddeeeeffff0000, 0x13579bdf2468ace0, 0xeca86420fdb97531, 9, 10, 11, 12\n"
    "far_wide_end:\n"
    ".text\n");

static void run_far(const char *name, const char *code, const char *end) {
    uint64_t out[32] = {0};
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, end - code);
    asm volatile("call *%%rax"
                 :
                 : "a"(page), "D"(out), "S"(0xff00ff00ff00ff00u), "d"(0x0c04ul)
                 : "rbx", "rcx", "r8", "r9", "memory", "cc", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm9", "xmm12");
    print_sum(name, out, sizeof(out));
    munmap(page, 4096);
}

int main(void) {
    static float floats[N];
    static int32_t ints[2 * N];
    static uint16_t shorts[N];
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2")) {
        printf("no AVX2\n");
        return 0;
    }
    for (int i = 0; i < N; i++)
        x[i] = (i * 37 % 101) * 0.37f - 5, y[i] = i * 0.01f, n[i] = i * 7919 % 10007;
    for (int round = 0; round < 3; round++) {
        products(floats);
        print_sum("products", floats, sizeof(floats));
        integers(ints);
        print_sum("integers", ints, sizeof(ints));
        halves(shorts);
        print_sum("halves", shorts, sizeof(shorts));
        printf("bits %016lx\n", (long)bits(round + 1));
        jumps();
        contexts();
    }
    for (int round = 0; round < 3; round++)
        run_far("far", far_avx, far_avx_end);
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
        return 0;
    for (int round = 0; round < 3; round++) {
        memset(ints, 0, sizeof(ints));
        printf("%zu, ", masked(ints));
        print_sum("masked", ints, sizeof(ints));
        printf("sum %a\n", sum_wide());
        run_far("far", far_wide, far_wide_end);
    }
    return 0;
}
