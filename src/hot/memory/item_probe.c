#include "hot/memory/item_probe.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"

void item_probe_build(struct item_probe *probe, const struct item *items, uint32_t count,
                      uint32_t spread, uint64_t seed)
{
    uint32_t bits = 6;
    while ((1U << bits) < count * spread)
        bits++;
    ASSERT(1U << bits <= PROBE_HEADS);
    probe->shift = 64 - bits;
    probe->factor = hash_mix(seed, 0) | 1;
    memset(probe->heads, 0, sizeof(probe->heads[0]) << bits);
    for (uint32_t i = 0; i < count; i++) {
        uint16_t *head = &probe->heads[item_probe_slot(probe, items[i].id.lo)];
        probe->next[i] = *head;
        *head = (uint16_t)(i + 1);
    }
}
