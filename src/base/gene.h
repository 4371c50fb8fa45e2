/*
 * The gene of an item: 13 bits that are computed from its type and id alone. Items with the same gene are
 * always kept together: they have the same shard in memory, and in a cluster the same partition. A
 * comment has the gene of the item that it is about.
 *
 * A gene is part of ids and of names of tables. Therefore this function must never change. It has no
 * secret seed, so a client can choose ids with the same gene; these share a lock, but hash tables within
 * a shard use a seeded hash and stay balanced.
 */
#ifndef LAUD_BASE_GENE_H
#define LAUD_BASE_GENE_H

#include <stdint.h>

#include "base/hash.h"
#include "base/id.h"

#define GENE_BITS  13
#define GENE_COUNT (1U << GENE_BITS)

/* hash_mix is part of the definition, so it must not change either; a test pins both. */
#define GENE_SEED   0x6c61756467656e65ULL
#define GENE_FACTOR 0xe7037ed1a0b428dbULL /* odd, so that it makes no two types the same */

/* The second multiplication is for ids at equal distances: they must not have genes at equal distances. */
static inline uint32_t gene(struct item item)
{
    uint64_t hash = hash_mix(item.id.lo ^ GENE_SEED, item.id.hi + item.type * GENE_FACTOR);
    return (uint32_t)(hash * GENE_FACTOR >> (64 - GENE_BITS));
}

/*
 * Which of 2^bits shards has the items of a gene, at a start with this seed. For every seed each shard has
 * about the same number of genes: a multiplication by this number spreads consecutive numbers evenly.
 */
static inline uint32_t gene_shard(uint32_t gene, uint64_t seed, unsigned bits)
{
    uint64_t mixed = (gene ^ seed) & (GENE_COUNT - 1);
    return (uint32_t)((mixed * 0x9e3779b97f4a7c15ULL + seed) >> (64 - bits));
}

#endif
