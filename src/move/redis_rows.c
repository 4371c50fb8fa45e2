/*
 * The counter of a kind follows from the reactions and is never set. Instead, the value in Redis is
 * compared with the number of reactions, so that the owner learns where the two differ.
 *
 * The unit of a time follows from its size: for times between 1973 and 2106, seconds, milliseconds,
 * microseconds and nanoseconds since 1970 do not overlap. A score of 0 means that the time is unknown.
 * Any other score is not a time, but most likely a rank or a count, and is refused: otherwise every like
 * would get a time in 1970.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/decimal.h"
#include "base/id.h"
#include "move/redis_private.h"

#define TIME_MIN  1e8  /* seconds: March 1973 */
#define TIME_STEP 1e11 /* a larger number is in a unit that is a thousand times smaller */

struct row_item {
    char bytes[LIMIT_ITEM_TEXT];
    size_t length;
};

static enum status bad(struct redis_take *take, uint64_t *counted, const char *sentence)
{
    struct redis_report *report = take->report;
    if (!take->source->skip_bad) {
        snprintf(report->problem, sizeof report->problem, "%s", sentence);
        return STATUS_BAD_ARGUMENT;
    }
    (*counted)++;
    if (report->first_bad[0] == '\0')
        snprintf(report->first_bad, sizeof report->first_bad, "%s", sentence);
    return STATUS_OK;
}

enum status redis_key_bad(struct redis_take *take, struct text key, const char *why)
{
    char shown[REDIS_SHOWN], sentence[REDIS_SENTENCE];
    snprintf(sentence, sizeof sentence, "key '%s': %s", redis_show(key, shown), why);
    return bad(take, &take->report->bad_keys, sentence);
}

static enum status row_bad(struct redis_take *take, const struct redis_key *key, const char *what,
                           struct text member, const char *why)
{
    char shown_key[REDIS_SHOWN], shown[REDIS_SHOWN], sentence[REDIS_SENTENCE];
    snprintf(sentence, sizeof sentence, "key '%s', %s '%s': %.200s",
             redis_show(key->text, shown_key), what, redis_show(member, shown), why);
    return bad(take, &take->report->bad_rows, sentence);
}

/* Handles the status that the import returned for a row. */
static enum status row_done(struct redis_take *take, const struct redis_key *key,
                            struct text member, enum status status)
{
    if (status == STATUS_OK)
        take->report->rows++;
    else if (status == STATUS_BAD_ARGUMENT)
        return row_bad(take, key, "member", member, import_problem(take->import));
    else
        snprintf(take->report->problem, sizeof take->report->problem, "%.300s",
                 import_problem(take->import));
    return status;
}

static struct text value_of(const struct redis_values *a, const struct redis_values *b,
                            enum redis_hole hole)
{
    return a->of[hole].length > 0 ? a->of[hole] : b->of[hole];
}

static void item_make(const struct redis_pattern *pattern, const struct redis_values *key,
                      const struct redis_values *member, struct row_item *out)
{
    struct id id = {0, 0};
    struct text text = value_of(key, member, REDIS_ID);
    struct text type = value_of(key, member, REDIS_TYPE);
    bool good = id_parse(text.bytes, text.length, &id);
    ASSERT(good);
    if (pattern->type[0] != '\0')
        type = (struct text){pattern->type, strlen(pattern->type)};
    ASSERT(type.length > 0 && type.length <= LIMIT_NAME_LENGTH);
    memcpy(out->bytes, type.bytes, type.length);
    out->bytes[type.length] = ':';
    out->length = type.length + 1 + id_format(id, out->bytes + type.length + 1);
}

/* 0: the time is unknown. */
static bool time_read(struct text score, uint32_t *time_s)
{
    char *end = NULL;
    double value = score.length == 0 ? NAN : strtod(score.bytes, &end);
    if (!isfinite(value) || end != score.bytes + score.length)
        return false;
    for (int step = 0; step < 3 && value >= TIME_STEP; step++)
        value /= 1000;
    if (value != 0 && (value < TIME_MIN || value >= 4294967296.0))
        return false;
    *time_s = (uint32_t)value;
    return true;
}

static bool number_read(struct text text, int64_t *out)
{
    return text.length <= DECIMAL_MAX && decimal_read_signed(text, out);
}

static bool is_kind(const struct redis_source *source, struct text name)
{
    for (size_t i = 0; i < source->pattern_count; i++) {
        const struct redis_pattern *pattern = &source->patterns[i];
        if (redis_pattern_reacts(pattern) && strlen(pattern->name) == name.length &&
            memcmp(pattern->name, name.bytes, name.length) == 0)
            return true;
    }
    return name.length == 4 && memcmp(name.bytes, "like", 4) == 0;
}

static enum status compare(struct redis_take *take, const struct redis_key *key, struct text item,
                           struct text kind, int64_t value)
{
    const struct redis_source *source = take->source;
    struct redis_report *report = take->report;
    int64_t count = 0;
    if (source->count == NULL)
        return STATUS_OK;
    enum status status = source->count(source->context, item, kind, &count);
    if (status != STATUS_OK) {
        snprintf(report->problem, sizeof report->problem, "%s", status_sentence(status));
        return status;
    }
    report->compared++;
    if (count == value)
        return STATUS_OK;
    if (report->differences++ < REDIS_DIFFERENCES) {
        char shown[REDIS_SHOWN];
        snprintf(report->difference[report->differences - 1], sizeof report->difference[0],
                 "%.*s %.*s: %" PRId64 " in key '%s', %" PRId64 " by the reactions",
                 (int)item.length, item.bytes, (int)kind.length, kind.bytes, value,
                 redis_show(key->text, shown), count);
    }
    return STATUS_OK;
}

static enum status counter_take(struct redis_take *take, const struct redis_key *key,
                                const struct redis_values *member, struct text shown,
                                struct text name, struct text number)
{
    struct row_item item;
    int64_t value;
    if (!number_read(number, &value))
        return row_bad(take, key, "value", number,
                       "it is not a 64-bit integer; if only some fields are counters, name them "
                       "with 'fields'");
    item_make(take->pattern, &key->values, member, &item);
    struct text text = {item.bytes, item.length};
    if (is_kind(take->source, name))
        return compare(take, key, text, name, value);
    return row_done(take, key, shown, import_counter(take->import, text, name, value));
}

static const char *match_sentence(enum redis_match match)
{
    if (match == REDIS_TWO_WAYS)
        return "it is ambiguous: it can be read in two ways";
    return match == REDIS_OTHER ? "it does not have the form that the pattern describes"
                                : "it has something else where an id or a type must be";
}

/* Adds a member of a set, or of a ZSET with its score. */
static enum status reaction_take(struct redis_take *take, const struct redis_key *key,
                                 struct text member, const struct text *score)
{
    const struct redis_pattern *pattern = take->pattern;
    struct redis_values values;
    struct row_item item;
    uint32_t time_s = 0;
    enum redis_match match = redis_template_match(&pattern->member, member, &values);
    if (match != REDIS_FITS)
        return row_bad(take, key, "member", member, match_sentence(match));
    if (score != NULL && !time_read(*score, &time_s))
        return row_bad(
            take, key, "score", *score,
            "it is not a time since 1970 in seconds, milliseconds, microseconds or nanoseconds");
    item_make(pattern, &key->values, &values, &item);
    struct text user = value_of(&key->values, &values, REDIS_USER);
    struct text kind = {pattern->name, strlen(pattern->name)};
    struct text text = {item.bytes, item.length};
    return row_done(take, key, member,
                    time_s != 0
                        ? import_reaction(take->import, user, kind, text, time_s)
                        : import_untimed(take->import, user, kind, text, take->source->time_s));
}

/* Adds a field of a hash with its value. The field is a counter or an item. */
static enum status field_take(struct redis_take *take, const struct redis_key *key,
                              struct text field, struct text value)
{
    const struct redis_pattern *pattern = take->pattern;
    struct redis_values values = {0};
    struct text name = {pattern->name, strlen(pattern->name)};
    if (pattern->member.count == 0) {
        name = redis_pattern_counter(pattern, field);
        if (name.bytes == NULL) {
            take->report->fields_left++;
            return STATUS_OK;
        }
    } else {
        enum redis_match match = redis_template_match(&pattern->member, field, &values);
        if (match != REDIS_FITS)
            return row_bad(take, key, "field", field, match_sentence(match));
    }
    return counter_take(take, key, &values, field, name, value);
}

enum status redis_number_take(struct redis_take *take, const struct redis_key *key,
                              struct text number)
{
    struct redis_values none = {0};
    struct text name = {take->pattern->name, strlen(take->pattern->name)};
    return counter_take(take, key, &none, key->text, name, number);
}

static struct text element(const redisReply *members, size_t index)
{
    return (struct text){members->element[index]->str, members->element[index]->len};
}

enum status redis_rows_take(struct redis_take *take, const struct redis_key *key,
                            const redisReply *members)
{
    enum redis_layout layout = take->pattern->layout;
    size_t width = layout == REDIS_SET ? 1 : 2;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i + width <= members->elements; i += width) {
        struct text member = element(members, i);
        struct text second = width == 2 ? element(members, i + 1) : (struct text){NULL, 0};
        if (layout == REDIS_HASH)
            status = field_take(take, key, member, second);
        else
            status = reaction_take(take, key, member, layout == REDIS_ZSET ? &second : NULL);
    }
    return status;
}
