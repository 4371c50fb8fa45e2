/*
 * Values by label. The number of labels is bounded: they are names of commands, names of errors, and
 * ranks. Users and items are never labels, because their number is not bounded. An operation that was
 * never run has counters but no histogram, which would be 27 lines of zeros.
 */
#include <stdio.h>

#include "base/status.h"
#include "metrics/exposition.h"
#include "metrics/metrics.h"

static bool write_build(const struct metrics *metrics, const char *family, struct buffer *out)
{
    char labels[EXPOSITION_LABELS] = "";
    exposition_label(labels, "version", metrics->texts[TEXT_VERSION]);
    exposition_label(labels, "shape", metrics->texts[TEXT_SHAPE]);
    exposition_label(labels, "durability", metrics->texts[TEXT_DURABILITY]);
    return exposition_sample(out, family, labels, 1, 0);
}

static bool write_operation(const struct metrics *metrics, uint32_t operation, const char *family,
                            enum metrics_vector vector, struct buffer *out)
{
    char labels[EXPOSITION_LABELS] = "";
    uint64_t refused = metrics->meter.operations[operation].refused;
    const struct buckets_total *times = &metrics->meter.operations[operation].times;
    uint64_t ran = buckets_count(times);
    exposition_label(labels, "operation", metrics->operations[operation]);
    if (vector == VECTOR_OPERATIONS)
        return exposition_sample(out, family, labels, ran + refused, 0);
    if (vector == VECTOR_OPERATION_ERRORS)
        return exposition_sample(out, family, labels,
                                 metrics->meter.operations[operation].failed + refused, 0);
    return ran == 0 || exposition_histogram(out, family, labels, times, BUCKETS_SHIFT_NS, 9);
}

static bool write_errors(const struct metrics *metrics, const char *family, struct buffer *out)
{
    bool written = true;
    for (int i = STATUS_BLOCKED + 1; written && i < STATUS_COUNT; i++) {
        char labels[EXPOSITION_LABELS] = "";
        exposition_label(labels, "code", status_resp((enum status)i));
        exposition_label(labels, "reason", status_name((enum status)i));
        written = exposition_sample(out, family, labels, metrics->meter.statuses[i], 0);
    }
    return written;
}

static bool write_rates(const struct hotkeys_rank *ranks, uint32_t count, const char *family,
                        struct buffer *out)
{
    bool written = true;
    for (uint32_t i = 0; written && i < METRICS_RANKS; i++) {
        char labels[EXPOSITION_LABELS] = "", rank[16];
        snprintf(rank, sizeof rank, "%u", i + 1);
        exposition_label(labels, "rank", rank);
        written =
            exposition_sample(out, family, labels, i < count ? hotkeys_rate(&ranks[i]) : 0, 0);
    }
    return written;
}

bool metrics_write_vector(const struct metrics *metrics, enum metrics_vector vector,
                          const char *family, struct buffer *out)
{
    bool written = true;
    switch (vector) {
    case VECTOR_BUILD:
        return write_build(metrics, family, out);
    case VECTOR_OPERATIONS:
    case VECTOR_OPERATION_ERRORS:
    case VECTOR_OPERATION_TIMES:
        for (uint32_t i = 0; written && i < metrics->operation_count; i++)
            written = write_operation(metrics, i, family, vector, out);
        return written;
    case VECTOR_COMMIT_WAITS:
        return exposition_histogram(out, family, "", &metrics->meter.waits, BUCKETS_SHIFT_NS, 9);
    case VECTOR_ERROR_REPLIES:
        return write_errors(metrics, family, out);
    case VECTOR_BATCH_EVENTS:
        return exposition_histogram(out, family, "", &metrics->batch_events, 0, 0);
    case VECTOR_SYNC_TIMES:
        return exposition_histogram(out, family, "", &metrics->sync_times, BUCKETS_SHIFT_NS, 9);
    case VECTOR_HOT_ITEM_RATES:
        return write_rates(metrics->top.items, metrics->top.item_count, family, out);
    case VECTOR_HOT_USER_RATES:
        return write_rates(metrics->top.users, metrics->top.user_count, family, out);
    case METRICS_VECTORS:
        break;
    }
    return false;
}
