/* Genes are in ids and in names of tables: the pinned values must never change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/gene.h"

enum { SHARD_BITS = 6, SHARDS = 1 << SHARD_BITS };

static void pinned(void **state)
{
    (void)state;
    const struct {
        struct item item;
        uint32_t gene;
    } known[] = {
        {{.id = {.lo = 0}}, 1400},
        {{.id = {.lo = 1}}, 5989},
        {{.id = {.lo = 42}}, 5840},
        {{.id = {.lo = 42}, .type = 1}, 7742},
        {{.id = {.lo = UINT64_MAX}, .type = UINT16_MAX}, 1320},
        {{.id = {.hi = 0x550e8400e29b41d4, .lo = 0xa716446655440000}, .type = 2}, 940},
    };
    assert_int_equal(GENE_BITS, 13);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        assert_int_equal(gene(known[i].item), known[i].gene);
}

/* Ids as applications make them. */
static struct item numbered(uint32_t form, uint64_t number)
{
    uint64_t random = hash_mix(number, 77);
    switch (form) {
    case 0: /* an automatic number */
        return (struct item){.id = {.lo = number + 1}};
    case 1: /* the same of another type */
        return (struct item){.id = {.lo = number + 1}, .type = 3};
    case 2: /* milliseconds above a sequence that is always 0 */
        return (struct item){.id = {.lo = (number + 1000000) << 22}, .type = 1};
    case 3: /* numbers that differ only in their upper bits */
        return (struct item){.id = {.lo = (number + 1) << 40}};
    case 4: /* multiples of a round number */
        return (struct item){.id = {.lo = number * 1000}, .type = 2};
    case 5: /* a random UUID */
        return (struct item){.id = {.hi = hash_mix(number, 99) | 1, .lo = random}};
    case 6: /* a UUID with milliseconds, a hundred in each */
        return (struct item){
            .id = {.hi = (0x0190000000000 + number / 100) << 16 | 0x7000, .lo = random}};
    default: /* UUIDs that differ only in their first half */
        return (struct item){.id = {.hi = number + 1, .lo = 7}};
    }
}

enum { FORMS = 8 };

/* About 122 items have each gene. Randomly drawn genes would differ from it by 11 on average. */
static void spread_over_genes(void **state)
{
    (void)state;
    static uint32_t counts[GENE_COUNT];
    for (uint32_t form = 0; form < FORMS; form++) {
        memset(counts, 0, sizeof counts);
        for (uint64_t number = 0; number < 1000000; number++)
            counts[gene(numbered(form, number))]++;
        for (uint32_t i = 0; i < GENE_COUNT; i++)
            assert_in_range(counts[i], 61, 183);
    }
}

/* Also of few items, those of one page for example, no shard has a lot. */
static void spread_over_shards(void **state)
{
    (void)state;
    for (uint32_t form = 0; form < FORMS; form++)
        for (uint64_t seed = 0; seed < 100; seed++) {
            uint32_t counts[SHARDS] = {0};
            for (uint64_t number = 0; number < 6400; number++)
                counts[gene_shard(gene(numbered(form, number)), hash_mix(seed, 5), SHARD_BITS)]++;
            for (uint32_t i = 0; i < SHARDS; i++)
                assert_in_range(counts[i], 40, 160);
        }
}

static void each_shard_has_as_many_genes(void **state)
{
    (void)state;
    for (uint64_t number = 0; number < 1000; number++) {
        uint64_t seed = number < 100 ? number : hash_mix(number, 3);
        uint32_t counts[SHARDS] = {0};
        for (uint32_t i = 0; i < GENE_COUNT; i++)
            counts[gene_shard(i, seed, SHARD_BITS)]++;
        for (uint32_t i = 0; i < SHARDS; i++)
            assert_in_range(counts[i], 120, 136);
    }
}

static void seeds_differ(void **state)
{
    (void)state;
    uint32_t together = 0;
    for (uint32_t i = 0; i < GENE_COUNT; i++)
        together += gene_shard(i, 0x123456789abcdef, SHARD_BITS) ==
                    gene_shard(i, 0xfedcba987654321, SHARD_BITS);
    assert_in_range(together, 0, GENE_COUNT / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned),
        cmocka_unit_test(spread_over_genes),
        cmocka_unit_test(spread_over_shards),
        cmocka_unit_test(each_shard_has_as_many_genes),
        cmocka_unit_test(seeds_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
