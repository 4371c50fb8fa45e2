#include "move/row.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/decimal.h"

enum status row_import(const struct row *row, struct import *import)
{
    switch (row->shape) {
    case ROW_REACTION:
        return import_reaction(import, row->user, row->name, row->item, row->time_s);
    case ROW_COUNTER:
        return import_counter(import, row->item, row->name, row->value);
    case ROW_DEFINE:
        return import_define(import, (enum name_role)row->role, row->name);
    default:
        ASSERT(row->shape == ROW_NONE);
        return STATUS_OK;
    }
}

static bool parse_digits(struct text text, uint64_t most, uint64_t *out)
{
    uint64_t value = 0;
    if (text.length == 0 || text.length > DECIMAL_MAX)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        unsigned digit = (unsigned char)text.bytes[i] - (unsigned)'0';
        if (digit > 9 || value > (most - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

bool row_parse_time(struct text text, uint32_t *out)
{
    uint64_t value;
    if (!parse_digits(text, UINT32_MAX, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

bool row_parse_value(struct text text, int64_t *out)
{
    uint64_t value;
    bool negative = text.length > 0 && text.bytes[0] == '-';
    if (!negative) {
        if (!parse_digits(text, INT64_MAX, &value))
            return false;
        *out = (int64_t)value;
        return true;
    }
    if (!parse_digits((struct text){text.bytes + 1, text.length - 1}, (uint64_t)INT64_MAX + 1,
                      &value))
        return false;
    *out = (int64_t)(0 - value);
    return true;
}

enum status row_refuse(char *problem, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem, size, format, arguments);
    va_end(arguments);
    return STATUS_BAD_ARGUMENT;
}
