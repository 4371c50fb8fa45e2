#include "base/quantity.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/decimal.h"
#include "base/limits.h"

#define FRACTION_DIGITS 9

struct unit {
    const char *suffix;
    uint64_t factor;
    bool shown; /* used by quantity_format; at most one of several names of the same factor is */
};

/* Smallest first. */
static const struct unit byte_units[] = {
    {"", 1, true},
    {"B", 1, false},
    {"K", KIB(1), true},
    {"KB", KIB(1), false},
    {"Ki", KIB(1), false},
    {"KiB", KIB(1), false},
    {"M", MIB(1), true},
    {"MB", MIB(1), false},
    {"Mi", MIB(1), false},
    {"MiB", MIB(1), false},
    {"G", GIB(1), true},
    {"GB", GIB(1), false},
    {"Gi", GIB(1), false},
    {"GiB", GIB(1), false},
    {"T", GIB(1024), true},
    {"TB", GIB(1024), false},
    {"Ti", GIB(1024), false},
    {"TiB", GIB(1024), false},
    {NULL, 0, false},
};
static const struct unit time_units[] = {
    {"ms", 1, true},       {"s", 1000, true},       {"sec", 1000, false},
    {"m", 60000, true},    {"min", 60000, false},   {"h", 3600000, true},
    {"d", 86400000, true}, {"w", 604800000, false}, {NULL, 0, false},
};
static const struct unit no_units[] = {{"", 1, true}, {NULL, 0, false}};

static const struct {
    const struct unit *units;
    uint64_t bare; /* factor of a number without a unit */
    const char *noun;
    const char *form;
} quantities[] = {
    [QUANTITY_COUNT] = {no_units, 1, "a number", "a whole number in digits"},
    [QUANTITY_BYTES] = {byte_units, 1, "a size",
                        "a number of bytes, or a number with a unit, as in 512K, 64MB or 1.5GiB"},
    [QUANTITY_SECONDS] = {time_units, 1000, "a duration",
                          "a number of seconds, or a number with a unit, as in 100ms, 30s, 10m, "
                          "12h, 7d or 1w"},
    [QUANTITY_MS] = {time_units, 1, "a duration",
                     "a number of milliseconds, or a number with a unit, as in 100ms, 30s or 10m"},
};

static bool take_unit(enum quantity quantity, const char *text, uint64_t *factor)
{
    const char *suffix = text + strspn(text, " ");
    *factor = quantities[quantity].bare;
    if (*text == '\0')
        return true;
    for (const struct unit *unit = quantities[quantity].units; unit->suffix != NULL; unit++) {
        if (unit->suffix[0] != '\0' && strcasecmp(suffix, unit->suffix) == 0) {
            *factor = unit->factor;
            return true;
        }
    }
    return false;
}

/* The factor times 0.digits; there may be no digits. */
static uint64_t fraction_of(struct text digits, uint64_t factor)
{
    uint64_t value = 0, scale = 1;
    ASSERT(digits.length <= FRACTION_DIGITS);
    decimal_read(digits, UINT64_MAX, &value);
    for (size_t i = 0; i < digits.length; i++)
        scale *= 10;
    ASSERT(value < scale); /* the fraction is less than 1 */
    return (uint64_t)((unsigned __int128)value * factor / scale);
}

enum quantity_result quantity_parse(enum quantity quantity, const char *text, uint64_t *out)
{
    ASSERT(quantity <= QUANTITY_MS);
    struct text whole_digits = {text, decimal_digits(text_from(text))};
    struct text fraction = {"", 0};
    const char *at = text + whole_digits.length;
    uint64_t whole = 0, factor, value;
    if (whole_digits.length == 0)
        return QUANTITY_MALFORMED;
    if (*at == '.') {
        at++;
        fraction = (struct text){at, decimal_digits(text_from(at))};
        at += fraction.length;
        if (fraction.length == 0 || fraction.length > FRACTION_DIGITS)
            return QUANTITY_MALFORMED;
    }
    if (!take_unit(quantity, at, &factor) || (fraction.length > 0 && factor == 1))
        return QUANTITY_MALFORMED;
    if (!decimal_read(whole_digits, UINT64_MAX, &whole) ||
        __builtin_mul_overflow(whole, factor, &value) ||
        __builtin_add_overflow(value, fraction_of(fraction, factor), &value))
        return QUANTITY_TOO_LARGE;
    if (value == 0 && strspn(fraction.bytes, "0") < fraction.length)
        return QUANTITY_MALFORMED;
    *out = value;
    return QUANTITY_GOOD;
}

void quantity_format(enum quantity quantity, uint64_t value, char *out, size_t size)
{
    ASSERT(quantity <= QUANTITY_MS && size > 0);
    const struct unit *best = quantities[quantity].units;
    for (const struct unit *unit = best; unit->suffix != NULL; unit++) {
        if (unit->shown && value != 0 && value % unit->factor == 0)
            best = unit;
    }
    ASSERT(value % best->factor == 0);
    snprintf(out, size, "%" PRIu64 "%s", value / best->factor, value == 0 ? "" : best->suffix);
}

const char *quantity_noun(enum quantity quantity)
{
    return quantities[quantity].noun;
}

const char *quantity_form(enum quantity quantity)
{
    return quantities[quantity].form;
}
