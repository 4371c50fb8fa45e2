#include "comment/comment_id.h"

#include "base/assert.h"

#define MS_END (UINT64_C(1) << COMMENT_MS_BITS)

_Static_assert(COMMENT_MS_BITS + GENE_BITS + COMMENT_SEQUENCE_BITS == 63, "an id has 63 bits");

bool comment_id_next(struct comment_clock *clock, uint32_t time_s, uint32_t gene, uint64_t *id)
{
    ASSERT(gene < GENE_COUNT);
    if (time_s < COMMENT_EPOCH_S)
        return false;
    uint64_t next = (time_s - COMMENT_EPOCH_S) * UINT64_C(1000) << COMMENT_SEQUENCE_BITS;
    /* A sequence that is used up carries into the milliseconds. No id is 0, which means none. */
    if (next <= clock->newest)
        next = clock->newest + 1;
    uint64_t ms = next >> COMMENT_SEQUENCE_BITS;
    if (ms >= MS_END)
        return false;
    clock->newest = next;
    *id = (ms << GENE_BITS | gene) << COMMENT_SEQUENCE_BITS | (next & (COMMENT_SEQUENCE_COUNT - 1));
    return true;
}

void comment_id_note(struct comment_clock *clock, uint64_t id)
{
    uint64_t ms = comment_id_ms(id);
    uint64_t noted = ms << COMMENT_SEQUENCE_BITS | (id & (COMMENT_SEQUENCE_COUNT - 1));
    if (ms < MS_END && noted > clock->newest)
        clock->newest = noted;
}
