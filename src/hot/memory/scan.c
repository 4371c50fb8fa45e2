/*
 * The implementation is chosen at the start and kept in a function pointer. An ifunc resolver would run
 * before the sanitizers are initialised, and a build for one processor only would not be portable.
 */
#include "hot/memory/scan.h"

static size_t scan_tail(const uint64_t *numbers, size_t from, size_t count, uint64_t number)
{
    while (from < count && numbers[from] != number)
        from++;
    return from;
}

/* Makes eight comparisons without a branch, for which the compiler uses vector instructions. */
static size_t scan_by_8(const uint64_t *numbers, size_t count, uint64_t number)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        const uint64_t *at = numbers + i;
        int any = (at[0] == number) | (at[1] == number) | (at[2] == number) | (at[3] == number) |
                  (at[4] == number) | (at[5] == number) | (at[6] == number) | (at[7] == number);
        if (any)
            break;
    }
    return scan_tail(numbers, i, count, number);
}

scan_fn *scan_plain(void)
{
    return scan_by_8;
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) static size_t scan_avx2(const uint64_t *numbers, size_t count,
                                                        uint64_t number)
{
    const __m256i wanted = _mm256_set1_epi64x((long long)number);
    size_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m256i *at = (const __m256i *)(numbers + i);
        __m256i a = _mm256_cmpeq_epi64(_mm256_loadu_si256(at), wanted);
        __m256i b = _mm256_cmpeq_epi64(_mm256_loadu_si256(at + 1), wanted);
        __m256i c = _mm256_cmpeq_epi64(_mm256_loadu_si256(at + 2), wanted);
        __m256i d = _mm256_cmpeq_epi64(_mm256_loadu_si256(at + 3), wanted);
        __m256i any = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));
        if (!_mm256_testz_si256(any, any))
            break;
    }
    for (; i + 4 <= count; i += 4) {
        __m256i at = _mm256_loadu_si256((const __m256i *)(numbers + i));
        int mask = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(at, wanted)));
        if (mask != 0)
            return i + (size_t)__builtin_ctz((unsigned)mask);
    }
    return scan_tail(numbers, i, count, number);
}

scan_fn *scan_wide(void)
{
    return __builtin_cpu_supports("avx2") ? scan_avx2 : NULL;
}
#else
scan_fn *scan_wide(void)
{
    return NULL;
}
#endif

scan_fn *scan_choose(void)
{
    scan_fn *wide = scan_wide();
    return wide != NULL ? wide : scan_by_8;
}
