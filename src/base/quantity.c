#include "base/quantity.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"

#define FRACTION_DIGITS 9

struct unit {
    const char *suffix;
    uint64_t factor;
    bool shown; /* by quantity_format; of several names of one factor at most one is */
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
    uint64_t bare; /* what a number without a unit counts */
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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits at *at, which moves past them; false: they do not fit 64 bits. */
static bool take_digits(const char **at, uint64_t *out)
{
    bool fits = true;
    *out = 0;
    for (; is_digit(**at); ++*at)
        fits = fits && !__builtin_mul_overflow(*out, 10, out) &&
               !__builtin_add_overflow(*out, (uint64_t)(**at - '0'), out);
    return fits;
}

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

/* What 0.digits of the factor comes to. */
static uint64_t part_of(const char *digits, size_t count, uint64_t factor)
{
    uint64_t value = 0, scale = 1;
    for (size_t i = 0; i < count; i++) {
        value = value * 10 + (uint64_t)(digits[i] - '0');
        scale *= 10;
    }
    return (uint64_t)((unsigned __int128)value * factor / scale);
}

enum quantity_result quantity_parse(enum quantity quantity, const char *text, uint64_t *out)
{
    const char *at = text, *fraction = "";
    uint64_t whole, factor, value;
    size_t digits = 0;
    bool fits = take_digits(&at, &whole);
    if (at == text)
        return QUANTITY_MALFORMED;
    if (*at == '.') {
        fraction = ++at;
        digits = strspn(fraction, "0123456789");
        at += digits;
        if (digits == 0 || digits > FRACTION_DIGITS)
            return QUANTITY_MALFORMED;
    }
    if (!take_unit(quantity, at, &factor) || (digits > 0 && factor == 1))
        return QUANTITY_MALFORMED;
    if (!fits || __builtin_mul_overflow(whole, factor, &value) ||
        __builtin_add_overflow(value, part_of(fraction, digits, factor), &value))
        return QUANTITY_TOO_LARGE;
    if (value == 0 && strspn(fraction, "0") < digits)
        return QUANTITY_MALFORMED;
    *out = value;
    return QUANTITY_GOOD;
}

void quantity_format(enum quantity quantity, uint64_t value, char *out, size_t size)
{
    const struct unit *best = quantities[quantity].units;
    for (const struct unit *unit = best; unit->suffix != NULL; unit++) {
        if (unit->shown && value != 0 && value % unit->factor == 0)
            best = unit;
    }
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
