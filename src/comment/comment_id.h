/*
 * Ids of comments. An id has 63 bits: milliseconds since 2025-01-01 UTC (41 bits), the gene of the
 * subject (13), and a sequence number (9). So ids rise within a subject, a comment lives where its
 * subject lives, and the gene of an id is found without a lookup.
 *
 * Milliseconds are made from recorded times, which never go backwards. A sequence number that would
 * overflow borrows the next millisecond.
 *
 * The functions have no state of their own.
 */
#ifndef LAUD_COMMENT_COMMENT_ID_H
#define LAUD_COMMENT_COMMENT_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/gene.h"
#include "base/id.h"

#define COMMENT_EPOCH_S        1735689600U /* 2025-01-01 00:00:00 UTC */
#define COMMENT_MS_BITS        41
#define COMMENT_SEQUENCE_BITS  9
#define COMMENT_SEQUENCE_COUNT (1U << COMMENT_SEQUENCE_BITS)

/* The newest id of one gene: milliseconds and sequence in one number that only grows; 0: none yet. */
struct comment_clock {
    uint64_t newest; /* milliseconds << COMMENT_SEQUENCE_BITS | sequence */
};

/*
 * Makes the next id of a gene at this recorded time. False: the time is outside of what an id can hold
 * (before 2025 or after 2094), and nothing has changed.
 */
bool comment_id_next(struct comment_clock *clock, uint32_t time_s, uint32_t gene, uint64_t *id);

/*
 * An id that exists: later ids of its gene will be higher. An id of more than 63 bits is none that we
 * have made, and changes nothing.
 */
void comment_id_note(struct comment_clock *clock, uint64_t id);

static inline uint32_t comment_id_gene(uint64_t id)
{
    return (uint32_t)(id >> COMMENT_SEQUENCE_BITS) & (GENE_COUNT - 1);
}

/*
 * The gene of any item: that of a comment is the gene of its subject, which its id has. `type` is the index of the
 * type `comment`. Items of this type that are no comments are treated in the same way; only a UUID has no such bits.
 */
static inline uint32_t comment_item_gene(struct item item, uint16_t type)
{
    return item.type == type && !id_is_wide(item.id) ? comment_id_gene(item.id.lo) : gene(item);
}

/* Milliseconds since COMMENT_EPOCH_S. */
static inline uint64_t comment_id_ms(uint64_t id)
{
    return id >> (COMMENT_SEQUENCE_BITS + GENE_BITS);
}

/* The item that is the comment with this id; `type` is the index of the type `comment`. */
static inline struct item comment_item(uint64_t id, uint16_t type)
{
    return (struct item){.id = {.lo = id}, .type = type};
}

#endif
