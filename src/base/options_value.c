/*
 * Parsing is strict on purpose: a value that is not completely understood is refused. An operator
 * sees a refused value at once, but may find a truncated, rounded or wrapped number only weeks
 * later.
 */
#include "base/options_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include "base/quantity.h"

const struct option option_table[OPTIONS_TOTAL] = {
#define OPTION(field, name, type, initial, min, max, value, group, help)                           \
    {name, OPTION_##type, initial, min, max, value, group, help, offsetof(struct options, field)},
#include "base/options.def"
#undef OPTION
};

/*
 * If the name of a duration option contains its unit, a plain number has this unit; otherwise
 * seconds.
 */
static enum quantity quantity_of(const struct option *option)
{
    size_t length = strlen(option->name);
    if (option->type == OPTION_BYTES)
        return QUANTITY_BYTES;
    if (option->type != OPTION_MS)
        return QUANTITY_COUNT;
    return length > 3 && strcmp(option->name + length - 3, "-ms") == 0 ? QUANTITY_MS
                                                                       : QUANTITY_SECONDS;
}

static bool set_number(const struct option *option, uint64_t *field, const char *text, char *reason,
                       size_t size)
{
    enum quantity quantity = quantity_of(option);
    uint64_t value;
    char min[32], max[32];
    enum quantity_result result = quantity_parse(quantity, text, &value);
    if (result == QUANTITY_GOOD && value >= option->min && value <= option->max) {
        *field = value;
        return true;
    }
    quantity_format(quantity, option->min, min, sizeof min);
    quantity_format(quantity, option->max, max, sizeof max);
    if (result == QUANTITY_MALFORMED)
        snprintf(reason, size, "'%.64s' is not %s: give %s", text, quantity_noun(quantity),
                 quantity_form(quantity));
    else if (option->max == UINT64_MAX)
        snprintf(reason, size, "'%.64s' is larger than %s can be", text, quantity_noun(quantity));
    else
        snprintf(reason, size, "'%.64s' is out of range: give %s from %s to %s", text,
                 quantity_noun(quantity), min, max);
    return false;
}

static bool parse_count(const char *text, uint64_t *out)
{
    return quantity_parse(QUANTITY_COUNT, text, out) == QUANTITY_GOOD;
}

/* The word with this index in "one|two|three", and its length; NULL if there is none. */
static const char *word_at(const char *words, uint64_t place, size_t *length)
{
    for (; place > 0; place--) {
        words += strcspn(words, "|");
        if (*words++ == '\0')
            return NULL;
    }
    *length = strcspn(words, "|");
    return words;
}

static bool set_word(const struct option *option, uint64_t *field, const char *text, char *reason,
                     size_t size)
{
    size_t length, said;
    const char *word;
    for (uint64_t i = 0; (word = word_at(option->value, i, &length)) != NULL; i++) {
        if (strlen(text) == length && strncasecmp(text, word, length) == 0) {
            *field = i;
            return true;
        }
    }
    said = (size_t)snprintf(reason, size, "'%.64s' is not one of", text);
    for (uint64_t i = 0; said < size && (word = word_at(option->value, i, &length)) != NULL; i++)
        said += (size_t)snprintf(reason + said, size - said, "%s %.*s", i == 0 ? "" : ",",
                                 (int)length, word);
    return false;
}

static const struct {
    const char *word;
    bool value;
} switch_words[] = {{"no", false},    {"yes", true},  {"off", false}, {"on", true},
                    {"false", false}, {"true", true}, {"0", false},   {"1", true}};

static bool set_switch(bool *field, const char *text, char *reason, size_t size)
{
    for (size_t i = 0; i < sizeof switch_words / sizeof switch_words[0]; i++) {
        if (strcasecmp(text, switch_words[i].word) == 0) {
            *field = switch_words[i].value;
            return true;
        }
    }
    snprintf(reason, size,
             "'%.64s' is neither yes nor no (on and off, true and false, 1 and 0 are accepted too)",
             text);
    return false;
}

static bool set_text(const struct option *option, char *field, const char *text, char *reason,
                     size_t size)
{
    size_t length = strlen(text);
    if (length >= OPTION_TEXT_MAX) {
        snprintf(reason, size, "the value has %zu bytes, but can have at most %d", length,
                 OPTION_TEXT_MAX - 1);
        return false;
    }
    if (length < option->min) {
        snprintf(reason, size, "must not be empty");
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || text[i] == 127) {
            snprintf(reason, size, "must not contain control bytes such as line ends");
            return false;
        }
    }
    memcpy(field, text, length + 1);
    return true;
}

/* Splits HOST:PORT or [HOST]:PORT; a bare IPv6 address is ambiguous and not taken. */
static bool split_address(const char *text, size_t *host_at, size_t *host_length, const char **port)
{
    const char *end;
    *host_at = text[0] == '[';
    if (*host_at) {
        end = strchr(text, ']');
        if (end == NULL || end[1] != ':')
            return false;
        *port = end + 2;
    } else {
        end = strchr(text, ':');
        if (end == NULL || strchr(end + 1, ':') != NULL)
            return false;
        *port = end + 1;
    }
    *host_length = (size_t)(end - text) - *host_at;
    size_t plain = strspn(text + *host_at, "0123456789abcdefghijklmnopqrstuvwxyz"
                                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ.-_:%");
    return *host_length > 0 && plain >= *host_length;
}

static bool set_address(const struct option *option, struct address *field, const char *text,
                        char *reason, size_t size)
{
    size_t at, length;
    const char *port_text;
    uint64_t port;
    if (option->min == 0 && strcasecmp(text, "none") == 0) {
        *field = (struct address){.port = 0};
        return true;
    }
    if (!split_address(text, &at, &length, &port_text) || length >= sizeof field->host ||
        !parse_count(port_text, &port) || port > UINT16_MAX) {
        snprintf(reason, size,
                 "'%.64s' is not HOST:PORT, as in 127.0.0.1:5283 or [::1]:5283 (port 0: any)",
                 text);
        return false;
    }
    memcpy(field->host, text + at, length);
    field->host[length] = '\0';
    field->port = (uint16_t)port;
    return true;
}

/* RATE or RATE/BURST. Without a burst, the burst is what the rate allows in one second. */
static bool set_rate(const struct option *option, struct rate *field, const char *text,
                     char *reason, size_t size)
{
    char first[32];
    size_t length = strcspn(text, "/");
    uint64_t per_s = 0, burst = 0;
    bool good = length < sizeof first;
    if (good) {
        memcpy(first, text, length);
        first[length] = '\0';
        good = parse_count(first, &per_s) && per_s >= option->min && per_s <= option->max;
        burst = per_s;
    }
    if (good && text[length] == '/')
        good =
            parse_count(text + length + 1, &burst) && burst >= (per_s > 0) && burst <= option->max;
    if (good)
        *field = (struct rate){per_s, per_s > 0 ? burst : 0};
    else
        snprintf(reason, size,
                 "'%.64s' is not RATE or RATE/BURST, as in 100 or 100/500, each up to %" PRIu64
                 " (0: no limit)",
                 text, option->max);
    return good;
}

bool option_parse(const struct option *option, struct options *options, const char *text,
                  char *reason, size_t size)
{
    void *field = (char *)options + option->offset;
    switch (option->type) {
    case OPTION_TEXT:
        return set_text(option, field, text, reason, size);
    case OPTION_ADDRESS:
        return set_address(option, field, text, reason, size);
    case OPTION_WORD:
        return set_word(option, field, text, reason, size);
    case OPTION_SWITCH:
        return set_switch(field, text, reason, size);
    case OPTION_RATE:
        return set_rate(option, field, text, reason, size);
    case OPTION_COUNT:
    case OPTION_BYTES:
    case OPTION_MS:
        break;
    }
    return set_number(option, field, text, reason, size);
}

static void format_address(const struct address *address, char *out, size_t size)
{
    bool brackets = strchr(address->host, ':') != NULL;
    if (address->host[0] == '\0')
        snprintf(out, size, "none");
    else
        snprintf(out, size, "%s%s%s:%u", brackets ? "[" : "", address->host, brackets ? "]" : "",
                 address->port);
}

static void format_word(const struct option *option, uint64_t place, char *out, size_t size)
{
    size_t length;
    const char *word = word_at(option->value, place, &length);
    ASSERT(word != NULL);
    snprintf(out, size, "%.*s", (int)length, word);
}

static void format_rate(const struct rate *rate, char *out, size_t size)
{
    if (rate->per_s == 0)
        snprintf(out, size, "0");
    else
        snprintf(out, size, "%" PRIu64 "/%" PRIu64, rate->per_s, rate->burst);
}

void option_format(const struct option *option, const struct options *options,
                   char out[OPTION_TEXT_MAX])
{
    const void *field = (const char *)options + option->offset;
    uint64_t number;
    switch (option->type) {
    case OPTION_TEXT:
        snprintf(out, OPTION_TEXT_MAX, "%s", (const char *)field);
        return;
    case OPTION_ADDRESS:
        format_address(field, out, OPTION_TEXT_MAX);
        return;
    case OPTION_WORD:
        memcpy(&number, field, sizeof number);
        format_word(option, number, out, OPTION_TEXT_MAX);
        return;
    case OPTION_SWITCH:
        snprintf(out, OPTION_TEXT_MAX, "%s", *(const bool *)field ? "yes" : "no");
        return;
    case OPTION_RATE:
        format_rate(field, out, OPTION_TEXT_MAX);
        return;
    case OPTION_COUNT:
    case OPTION_BYTES:
    case OPTION_MS:
        break;
    }
    memcpy(&number, field, sizeof number);
    quantity_format(quantity_of(option), number, out, OPTION_TEXT_MAX);
}
