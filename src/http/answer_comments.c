/*
 * Each value ends with a comma. The end of a map or list replaces the comma after its last entry, and the
 * comma after the whole answer is removed.
 */
#include "http/answer_comments.h"

#include "base/assert.h"
#include "base/decimal.h"
#include "http/answer.h"
#include "op/comment_reply.h"

static void note(struct reply_writer *writer, bool written)
{
    writer->failed = writer->failed || !written;
}

static void put(struct reply_writer *writer, const char *bytes, size_t length)
{
    note(writer, buffer_append(writer->out, bytes, length));
}

#define PUT(writer, literal) put(writer, literal, sizeof(literal) - 1)

static void begin_map(struct reply_writer *writer, uint32_t pairs)
{
    (void)pairs;
    PUT(writer, "{");
}

static void begin_list(struct reply_writer *writer, uint32_t entries)
{
    (void)entries;
    PUT(writer, "[");
}

/* If something before could not be written, there may be nothing whose comma could be removed. */
static void end(struct reply_writer *writer, const char *sign)
{
    if (!writer->failed)
        note(writer, answer_close_list(writer->out, sign));
}

static void end_map(struct reply_writer *writer)
{
    end(writer, "},");
}

static void end_list(struct reply_writer *writer)
{
    end(writer, "],");
}

/* Names of fields, kinds and counters need no escaping. */
static void write_key(struct reply_writer *writer, struct text name)
{
    PUT(writer, "\"");
    put(writer, name.bytes, name.length);
    PUT(writer, "\":");
}

static void begin_whole(struct reply_writer *writer, struct text name, uint32_t entries)
{
    begin_map(writer, 1);
    write_key(writer, name);
    begin_list(writer, entries);
}

static void end_whole(struct reply_writer *writer)
{
    end_list(writer);
    end_map(writer);
}

/* Writes the escape sequence of a control character, a quote or a backslash. */
static char *put_escaped(char *at, unsigned char c)
{
    static const char letters[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                   ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};
    *at++ = '\\';
    if (letters[c] != 0) {
        *at++ = letters[c];
        return at;
    }
    memcpy(at, "u00", 3);
    at[3] = "0123456789abcdef"[c >> 4];
    at[4] = "0123456789abcdef"[c & 15];
    return at + 5;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\';
}

bool answer_write_utf8(struct buffer *out, struct text text)
{
    size_t escaped = 0;
    for (size_t i = 0; i < text.length; i++)
        escaped += !is_plain((unsigned char)text.bytes[i]);
    if (!buffer_reserve(out, text.length + 5 * escaped + 2))
        return false;
    char *at = out->bytes + out->length;
    *at++ = '"';
    if (escaped == 0 && text.length > 0) {
        memcpy(at, text.bytes, text.length);
        at += text.length;
    }
    for (size_t i = 0; escaped > 0 && i < text.length; i++) {
        unsigned char c = (unsigned char)text.bytes[i];
        if (is_plain(c))
            *at++ = (char)c;
        else
            at = put_escaped(at, c);
    }
    *at++ = '"';
    buffer_end(out, at);
    return true;
}

static void write_text(struct reply_writer *writer, struct text text)
{
    note(writer, answer_write_utf8(writer->out, text));
    PUT(writer, ",");
}

static void write_json(struct reply_writer *writer, struct text json)
{
    put(writer, json.bytes, json.length);
    PUT(writer, ",");
}

static void write_number(struct reply_writer *writer, int64_t value)
{
    bool room = buffer_reserve(writer->out, DECIMAL_MAX + 1);
    note(writer, room);
    if (!room)
        return;
    char *at = decimal_write_signed(writer->out->bytes + writer->out->length, value);
    *at++ = ',';
    buffer_end(writer->out, at);
}

static void write_flag(struct reply_writer *writer, bool value)
{
    if (value)
        PUT(writer, "true,");
    else
        PUT(writer, "false,");
}

static void write_null(struct reply_writer *writer)
{
    PUT(writer, "null,");
}

static const struct reply_functions functions = {.begin_map = begin_map,
                                                 .end_map = end_map,
                                                 .begin_list = begin_list,
                                                 .end_list = end_list,
                                                 .key = write_key,
                                                 .text = write_text,
                                                 .json = write_json,
                                                 .number = write_number,
                                                 .flag = write_flag,
                                                 .null = write_null,
                                                 .begin_whole = begin_whole,
                                                 .end_whole = end_whole,
                                                 .null_cursor = true};

/* Removes the comma after the whole answer. */
static bool finish(const struct reply_writer *writer)
{
    if (writer->failed)
        return false;
    ASSERT(writer->out->length > 0 && writer->out->bytes[writer->out->length - 1] == ',');
    writer->out->length--;
    return true;
}

bool answer_write_comments(struct buffer *out, const struct hot_request *request,
                           const struct hot_scratch *scratch, const struct names *names)
{
    struct reply_writer writer = {.functions = &functions, .out = out};
    comment_reply_write(&writer, request, scratch, names);
    return finish(&writer);
}

bool answer_write_card(struct buffer *out, const struct hot_card *card,
                       const struct hot_scratch *scratch, const struct names *names)
{
    struct reply_writer writer = {.functions = &functions, .out = out};
    comment_reply_card(&writer, card, scratch, names, false);
    return finish(&writer);
}
