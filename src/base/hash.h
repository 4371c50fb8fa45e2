/*
 * Hash functions for tables and shards. They are not for checksums on disk, which use XXH3 with
 * seeds of their own. They are not secret either: a table that a hostile client could fill must use
 * a random seed. Its owner mixes the seed into the client's value before the multiplication.
 */
#ifndef LAUD_BASE_HASH_H
#define LAUD_BASE_HASH_H

#include <stdint.h>

/* Multiply-and-fold: every input bit affects every output bit. */
static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(a ^ 0x9e3779b97f4a7c15ULL) * (b ^ 0xd6e8feb86659fd93ULL);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_3(uint64_t a, uint64_t b, uint64_t c)
{
    return hash_mix(hash_mix(a, b), c ^ 0xa0761d6478bd642fULL);
}

#endif
