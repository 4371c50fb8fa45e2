/*
 * Writes the text format of Prometheus: families with help and type, and samples with labels. Each
 * function appends to `out` and returns false if there is no memory. All samples of a family must
 * follow its head, and each family is written once. Any thread may call these functions.
 */
#ifndef LAUD_METRICS_EXPOSITION_H
#define LAUD_METRICS_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buckets.h"
#include "base/buffer.h"

#define EXPOSITION_LABELS 256 /* the room for all labels of a sample, in bytes */

/* Writes the head of a family. `type` is "counter", "gauge" or "histogram". */
bool exposition_family(struct buffer *out, const char *name, const char *type, const char *help);

/* Appends name="value", escaped, to labels that were "" at first. A label that does not fit is omitted. */
void exposition_label(char labels[EXPOSITION_LABELS], const char *name, const char *value);

/* Writes a sample of exactly value / 10^digits. `labels` come from exposition_label; "": none. */
bool exposition_sample(struct buffer *out, const char *name, const char *labels, uint64_t value,
                       unsigned digits);

/* Writes a whole histogram. Its bounds are 2^shift and so on; bounds and sum are divided by 10^digits. */
bool exposition_histogram(struct buffer *out, const char *name, const char *labels,
                          const struct buckets_total *total, uint32_t shift, unsigned digits);

#endif
