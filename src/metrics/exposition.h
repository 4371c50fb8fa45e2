/*
 * Writing Prometheus' text format: families with help and type, samples with labels. Each function
 * appends; false: no memory. Families must be written one after the other, each name once.
 */
#ifndef LAUD_METRICS_EXPOSITION_H
#define LAUD_METRICS_EXPOSITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buckets.h"
#include "base/buffer.h"

#define EXPOSITION_LABELS 256 /* bytes of all labels of a sample */

/* `type`: "counter", "gauge" or "histogram". */
bool exposition_family(struct buffer *out, const char *name, const char *type, const char *help);

/* Adds name="value", escaped, to labels that begin empty; what has no room is left out. */
void exposition_label(char labels[EXPOSITION_LABELS], const char *name, const char *value);

/* A sample of value / 10^digits, exactly. `labels` as exposition_label makes them, "": none. */
bool exposition_sample(struct buffer *out, const char *name, const char *labels, uint64_t value,
                       unsigned digits);

/* All of a histogram: bounds from 2^shift on, divided by 10^digits as the sum is. */
bool exposition_histogram(struct buffer *out, const char *name, const char *labels,
                          const struct buckets_total *total, uint32_t shift, unsigned digits);

#endif
