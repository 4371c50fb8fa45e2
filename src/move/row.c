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

bool row_parse_time(struct text text, uint32_t *out)
{
    uint64_t value;
    if (text.length > DECIMAL_MAX || !decimal_read(text, UINT32_MAX, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

bool row_parse_value(struct text text, int64_t *out)
{
    bool negative = text.length > 0 && text.bytes[0] == '-';
    return text.length - negative <= DECIMAL_MAX && decimal_read_signed(text, out);
}

enum status row_refuse(char *problem, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(problem, size, format, arguments);
    va_end(arguments);
    return STATUS_BAD_ARGUMENT;
}
