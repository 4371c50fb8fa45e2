/*
 * Values begin with their version (1 byte, 1), except plain numbers and rows without a value. They are:
 *
 *     SUBJECT   as in codec.c
 *     COMMENT   as in codec.c, then of the index: flags 1 (1 listed, 2 unlisted, 4 held), written 1,
 *               queued 1, reported 4; and of a listed root its four keys, 8 each, in the order of
 *               enum comment_order
 *     INBOX     comment 8, by 16, time_s 4, mention 1
 *     USER      ban: until_s 4, shadow 1; inbox: newest 4, seen 4
 *     STATE     kinds: for each of both the length 1 and the name; the highest milliseconds: a number
 *     a number  8, without a version
 *
 * Everything is as long as it has to be, and has only one form, so that damage is noticed.
 */
#include "comment/rows.h"

#include <string.h>

#include "base/assert.h"
#include "base/names.h"
#include "comment/codec.h"

enum { VERSION = 1, NUMBER_BYTES = 8 };
enum { INDEX_LISTED = 1, INDEX_UNLISTED = 2, INDEX_HELD = 4 };
enum { WRITTEN_MAX = 2, QUEUED_MAX = QUEUE_HIDDEN + 1 };

_Static_assert(1 + CODEC_COMMENT_BYTES + 7 + 8 * ORDER_TOTAL <= ROW_COMMENT_MAX, "a comment fits");
_Static_assert(1 + CODEC_SUBJECT_BYTES <= ROW_COMMENT_MAX, "a subject fits");

/* A value that has a version, from its first byte after that on. */
static struct decoder value_decoder(struct store_bytes value)
{
    struct decoder decoder = {.at = value.data, .left = value.length};
    decoder.bad = get_8(&decoder) != VERSION;
    return decoder;
}

static enum status value_status(const struct decoder *decoder)
{
    return get_end(decoder) ? STATUS_OK : STATUS_DAMAGED;
}

size_t row_write_subject(const struct subject *subject, uint8_t *out)
{
    return (size_t)(put_subject(put_8(out, VERSION), subject) - out);
}

enum status row_read_subject(struct store_bytes value, struct item item, struct subject *out)
{
    struct decoder decoder = value_decoder(value);
    *out = (struct subject){.item = item};
    get_subject(&decoder, out);
    return value_status(&decoder);
}

static bool has_keys(const struct comment *comment, const struct comment_index *index)
{
    return index->listed && comment_is_root(comment);
}

size_t row_write_comment(const struct comment *comment, const struct comment_index *index,
                         uint8_t *out)
{
    uint8_t *end = put_comment(put_8(out, VERSION), comment);
    end = put_8(end,
                (uint8_t)((index->listed ? INDEX_LISTED : 0) |
                          (index->unlisted ? INDEX_UNLISTED : 0) | (index->held ? INDEX_HELD : 0)));
    end = put_8(end, index->written);
    end = put_8(end, index->queued);
    end = put_32(end, index->reported);
    for (unsigned order = 0; order < ORDER_TOTAL && has_keys(comment, index); order++)
        if (comment_order_has_key(order))
            end = put_64(end, index->keys[order]);
    return (size_t)(end - out);
}

static void get_index(struct decoder *decoder, const struct comment *comment,
                      struct comment_index *index)
{
    uint8_t flags = get_flags(decoder, INDEX_LISTED | INDEX_UNLISTED | INDEX_HELD);
    index->listed = flags & INDEX_LISTED;
    index->unlisted = flags & INDEX_UNLISTED;
    index->held = flags & INDEX_HELD;
    index->written = get_8(decoder);
    index->queued = get_8(decoder);
    index->reported = get_32(decoder);
    for (unsigned order = 0; order < ORDER_TOTAL && has_keys(comment, index); order++)
        if (comment_order_has_key(order))
            index->keys[order] = get_64(decoder);
    decoder->bad = decoder->bad || index->written > WRITTEN_MAX || index->queued > QUEUED_MAX;
}

enum status row_read_comment(struct store_bytes value, uint64_t id, struct comment *out,
                             struct comment_index *index)
{
    struct decoder decoder = value_decoder(value);
    struct comment_index unused = {0};
    *out = (struct comment){.id = id};
    get_comment(&decoder, out);
    if (index != NULL)
        *index = (struct comment_index){0};
    get_index(&decoder, out, index != NULL ? index : &unused);
    return value_status(&decoder);
}

size_t row_write_number(uint64_t number, uint8_t *out)
{
    return (size_t)(put_64(out, number) - out);
}

enum status row_read_number(struct store_bytes value, uint64_t *out)
{
    struct decoder decoder = {.at = value.data, .left = value.length};
    *out = get_64(&decoder);
    return value_status(&decoder);
}

size_t row_write_inbox(const struct inbox_entry *entry, uint8_t *out)
{
    uint8_t *end = put_64(put_8(out, VERSION), entry->comment);
    end = put_32(put_id(end, entry->by), entry->time_s);
    return (size_t)(put_8(end, entry->mention) - out);
}

enum status row_read_inbox_entry(struct store_bytes value, struct inbox_entry *out)
{
    struct decoder decoder = value_decoder(value);
    *out = (struct inbox_entry){0};
    out->comment = get_64(&decoder);
    out->by = get_id(&decoder);
    out->time_s = get_32(&decoder);
    out->mention = get_flags(&decoder, 1);
    return value_status(&decoder);
}

size_t row_write_inbox_state(const struct inbox_state *state, uint8_t *out)
{
    return (size_t)(put_32(put_32(put_8(out, VERSION), state->newest), state->seen) - out);
}

enum status row_read_inbox_state(struct store_bytes value, struct inbox_state *out)
{
    struct decoder decoder = value_decoder(value);
    out->newest = get_32(&decoder);
    out->seen = get_32(&decoder);
    return value_status(&decoder);
}

size_t row_write_ban(const struct user_ban *ban, uint8_t *out)
{
    return (size_t)(put_8(put_32(put_8(out, VERSION), ban->until_s), ban->shadow) - out);
}

enum status row_read_ban(struct store_bytes value, struct user_ban *out)
{
    struct decoder decoder = value_decoder(value);
    out->until_s = get_32(&decoder);
    out->shadow = get_flags(&decoder, 1);
    return value_status(&decoder);
}

static uint8_t *put_name(uint8_t *out, const char *name)
{
    size_t length = strlen(name);
    ASSERT(length <= LIMIT_NAME_LENGTH);
    out = put_8(out, (uint8_t)length);
    memcpy(out, name, length);
    return out + length;
}

size_t row_write_kinds(const struct comment_kinds *kinds, uint8_t *out)
{
    uint8_t *end = put_name(put_8(out, VERSION), kinds->dislike);
    return (size_t)(put_name(end, kinds->report) - out);
}

static void get_name(struct decoder *decoder, char *name)
{
    size_t length = get_8(decoder);
    const uint8_t *bytes = get_bytes(decoder, length);
    if (bytes == NULL || length > LIMIT_NAME_LENGTH ||
        (length > 0 && !name_is_valid((const char *)bytes, length))) {
        decoder->bad = true;
        return;
    }
    memcpy(name, bytes, length);
}

enum status row_read_kinds(struct store_bytes value, struct comment_kinds *out)
{
    struct decoder decoder = value_decoder(value);
    *out = (struct comment_kinds){0};
    get_name(&decoder, out->dislike);
    get_name(&decoder, out->report);
    return value_status(&decoder);
}
