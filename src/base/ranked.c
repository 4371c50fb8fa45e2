#include "base/ranked.h"

#include <stdlib.h>

#include "base/assert.h"

static void swap(struct ranked *a, struct ranked *b)
{
    struct ranked kept = *a;
    *a = *b;
    *b = kept;
}

/*
 * Partitions the entries from low to high: those before the pivot are first. Returns the index of
 * the pivot. No two entries are equal.
 */
static uint32_t partition(struct ranked *entries, uint32_t low, uint32_t high)
{
    ASSERT(low < high);
    uint32_t middle = low + (high - low) / 2, last = high - 1;
    if (ranked_order(entries[middle], entries[low]) < 0)
        swap(&entries[middle], &entries[low]);
    if (ranked_order(entries[last], entries[low]) < 0)
        swap(&entries[last], &entries[low]);
    if (ranked_order(entries[middle], entries[last]) < 0)
        swap(&entries[middle], &entries[last]);
    uint32_t pivot = low;
    for (uint32_t i = low; i < last; i++)
        if (ranked_order(entries[i], entries[last]) < 0)
            swap(&entries[i], &entries[pivot++]);
    swap(&entries[pivot], &entries[last]);
    return pivot;
}

void ranked_best(struct ranked *entries, uint32_t count, uint32_t want)
{
    uint32_t low = 0, high = count;
    while (want > low && want < high) {
        uint32_t pivot = partition(entries, low, high);
        ASSERT(pivot >= low && pivot < high);
        if (pivot < want)
            low = pivot + 1;
        else
            high = pivot;
    }
}

static int compare(const void *a, const void *b)
{
    return ranked_order(*(const struct ranked *)a, *(const struct ranked *)b);
}

void ranked_sort(struct ranked *entries, size_t count)
{
    qsort(entries, count, sizeof(*entries), compare);
}
