/*
 * Numbers are written exactly, as decimals without an exponent: a sum of nanoseconds, written in
 * seconds, keeps all its digits, which a double would not.
 */
#include "metrics/exposition.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/assert.h"

#define NUMBER_TEXT 32 /* 20 digits, a point, a terminator */

static bool put(struct buffer *out, const char *text)
{
    return buffer_append(out, text, strlen(text));
}

/* In a help text, a backslash and a line end must be escaped. */
static bool put_help(struct buffer *out, const char *help)
{
    bool written = true;
    for (; written && *help != '\0'; help++)
        written = *help == '\\'   ? put(out, "\\\\")
                  : *help == '\n' ? put(out, "\\n")
                                  : buffer_append(out, help, 1);
    return written;
}

bool exposition_family(struct buffer *out, const char *name, const char *type, const char *help)
{
    return put(out, "# HELP ") && put(out, name) && put(out, " ") && put_help(out, help) &&
           put(out, "\n# TYPE ") && put(out, name) && put(out, " ") && put(out, type) &&
           put(out, "\n");
}

void exposition_label(char labels[EXPOSITION_LABELS], const char *name, const char *value)
{
    char added[EXPOSITION_LABELS];
    size_t used = strlen(labels), length;
    int head = snprintf(added, sizeof added, "%s%s=\"", used > 0 ? "," : "", name);
    if (head < 0 || (size_t)head >= sizeof added)
        return;
    length = (size_t)head;
    for (; *value != '\0'; value++) {
        char escaped = *value == '\n' ? 'n' : *value;
        if (length + 4 > sizeof added)
            return;
        if (*value == '\\' || *value == '"' || *value == '\n')
            added[length++] = '\\';
        added[length++] = escaped;
    }
    added[length++] = '"';
    added[length] = '\0';
    if (used + length < EXPOSITION_LABELS)
        memcpy(labels + used, added, length + 1);
}

/* Writes value / 10^digits without zeros at its end. */
static void scale(uint64_t value, unsigned digits, char text[NUMBER_TEXT])
{
    uint64_t unit = 1;
    ASSERT(digits <= 9);
    for (unsigned i = 0; i < digits; i++)
        unit *= 10;
    int length = snprintf(text, NUMBER_TEXT, "%" PRIu64, value / unit);
    if (value % unit == 0)
        return;
    char *at = text + length;
    snprintf(at, (size_t)(NUMBER_TEXT - length), ".%0*" PRIu64, (int)digits, value % unit);
    for (at += digits; *at == '0'; at--)
        *at = '\0';
}

static bool put_sample(struct buffer *out, const char *name, const char *suffix, const char *labels,
                       const char *value)
{
    bool labelled = labels[0] != '\0';
    return put(out, name) && put(out, suffix) &&
           (!labelled || (put(out, "{") && put(out, labels) && put(out, "}"))) && put(out, " ") &&
           put(out, value) && put(out, "\n");
}

bool exposition_sample(struct buffer *out, const char *name, const char *labels, uint64_t value,
                       unsigned digits)
{
    char text[NUMBER_TEXT];
    scale(value, digits, text);
    return put_sample(out, name, "", labels, text);
}

static bool put_bucket(struct buffer *out, const char *name, const char *labels, const char *bound,
                       uint64_t count)
{
    char all[EXPOSITION_LABELS], text[NUMBER_TEXT];
    snprintf(all, sizeof all, "%s", labels);
    exposition_label(all, "le", bound);
    scale(count, 0, text);
    return put_sample(out, name, "_bucket", all, text);
}

bool exposition_histogram(struct buffer *out, const char *name, const char *labels,
                          const struct buckets_total *total, uint32_t shift, unsigned digits)
{
    char text[NUMBER_TEXT];
    uint64_t count = 0;
    bool written = true;
    for (uint32_t i = 0; written && i < BUCKETS_BOUNDED; i++) {
        count += total->counts[i];
        scale((uint64_t)1 << (shift + i), digits, text);
        written = put_bucket(out, name, labels, text, count);
    }
    count += total->counts[BUCKETS_BOUNDED];
    written = written && put_bucket(out, name, labels, "+Inf", count);
    scale(total->sum, digits, text);
    written = written && put_sample(out, name, "_sum", labels, text);
    scale(count, 0, text);
    return written && put_sample(out, name, "_count", labels, text);
}
