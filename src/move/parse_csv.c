/*
 * A line is user,kind,item,time or item,counter,value; the number of fields says which. The time may be
 * missing or empty. Then the position of the item, the only field with a colon, distinguishes a reaction
 * from a counter. A field may be in quotes, although no field needs them: ids and names have no commas and
 * no quotes. The first line may be one of these two as a header.
 */
#include <string.h>

#include "move/row.h"

enum { FIELDS_MAX = 4 };

/* Reads the field that begins here and returns its end; NULL: the field does not end properly. */
static const char *read_field(const char *at, const char *end, struct text *out)
{
    bool quoted = at < end && *at == '"';
    at += quoted;
    const char *stop = memchr(at, quoted ? '"' : ',', (size_t)(end - at));
    if (stop == NULL && quoted)
        return NULL;
    if (stop == NULL)
        stop = end;
    *out = (struct text){at, (size_t)(stop - at)};
    stop += quoted;
    return stop == end || *stop == ',' ? stop : NULL;
}

static bool fields_are(const struct text *fields, size_t count, const char *const *words)
{
    for (size_t i = 0; i < count; i++)
        if (!text_is(fields[i], words[i]))
            return false;
    return true;
}

static bool is_header(const struct text *fields, size_t count)
{
    static const char *const reaction[] = {"user", "kind", "item", "time"};
    static const char *const counter[] = {"item", "counter", "value"};
    return ((count == 4 || count == 3) && fields_are(fields, count, reaction)) ||
           (count == 3 && fields_are(fields, count, counter));
}

static enum status read_fields(struct text line, struct text *fields, size_t *count, char *problem,
                               size_t size)
{
    const char *at = line.bytes, *end = line.bytes + line.length;
    for (*count = 0; *count < FIELDS_MAX;) {
        at = read_field(at, end, &fields[*count]);
        if (at == NULL)
            return row_refuse(problem, size,
                              "field %zu has a '\"' and does not end with one and ','", *count + 1);
        ++*count;
        if (at == end)
            return STATUS_OK;
        at++;
    }
    return row_refuse(problem, size, "the line has more than %d fields", FIELDS_MAX);
}

static bool has_colon(struct text text)
{
    return memchr(text.bytes, ':', text.length) != NULL;
}

static enum status fill(const struct text *fields, size_t count, struct row *row, char *problem,
                        size_t size)
{
    struct text number = fields[count - 1];
    char shown[TEXT_SHOWN];
    if (count == 4 || (has_colon(fields[2]) && !has_colon(fields[0]))) {
        *row = (struct row){
            .shape = ROW_REACTION, .user = fields[0], .name = fields[1], .item = fields[2]};
        row->timeless = count == 3 || number.length == 0;
        if (!row->timeless && !row_parse_time(number, &row->time_s))
            return row_refuse(problem, size, "expected a time in seconds since 1970, not '%s'",
                              text_show(number, shown));
        return STATUS_OK;
    }
    *row = (struct row){.shape = ROW_COUNTER, .item = fields[0], .name = fields[1]};
    if (!row_parse_value(number, &row->value))
        return row_refuse(problem, size, "expected a signed 64-bit integer, not '%s'",
                          text_show(number, shown));
    return STATUS_OK;
}

enum status row_parse_csv(struct text line, bool first, struct row *row, char *problem, size_t size)
{
    struct text fields[FIELDS_MAX];
    size_t count;
    *row = (struct row){.shape = ROW_NONE};
    if (line.length == 0)
        return STATUS_OK;
    enum status status = read_fields(line, fields, &count, problem, size);
    if (status != STATUS_OK)
        return status;
    if (first && is_header(fields, count))
        return STATUS_OK;
    if (count < 3)
        return row_refuse(problem, size, "expected user,kind,item,time or item,counter,value");
    return fill(fields, count, row, problem, size);
}
