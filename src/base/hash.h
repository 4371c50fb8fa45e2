/*
 * Hashing for tables and shards. Not for checksums on disk (those call XXH3 with their own seeds)
 * and not secret: tables that a hostile client could fill take a random seed mixed in by the owner,
 * into what the client chooses and before it is multiplied.
 */
#ifndef LAUD_BASE_HASH_H
#define LAUD_BASE_HASH_H

#include <stdint.h>

/* Multiply-and-fold: every input bit reaches every output bit. */
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
