/*
 * THE FORMAT OF A RECORD
 *
 * A record is a multiple of 8 bytes, little-endian:
 *
 *      0  u32 check     low half of XXH3-64 of bytes 4 to the end, seeded with the record's position
 *      4  u16 units     length of the record in 8-byte units, never 0
 *      6  u8  type      enum event_type
 *      7  u8  flags     1 user is wide, 2 item is wide, 4 has a token
 *      8  u32 time_s    seconds since 1970
 *     12  …             by type:
 *
 *   SET, CLEAR  12 u16 item type, 14 u8 kind, 15 u8 how many kinds were cleared with it,
 *               16 user (8 or 16 bytes), item (8 or 16), cleared kinds (8 bytes, if any)
 *   ADD         12 u16 item type, 14 u8 counter, 15 u8 0, 16 item (8 or 16), s64 delta,
 *               token (16, if any)
 *   DEFINE      12 u16 index, 14 u8 role, 15 u8 length, 16 text padded with zeros
 *   COMMENT     12 u16 item type, 14 u8 sub-type, never 0, 15 u8 length of the padding, 0 to 7,
 *               16 user (8 or 16 bytes), item (8 or 16), body (1 to LIMIT_EVENT_BODY bytes),
 *               padding: zeros to a multiple of 8 bytes; from version 2 of segments on (segment.c)
 *
 * A wide id is its upper half, then its lower. A like with narrow ids takes 32 bytes. The length of a
 * body is that of the record without everything before the body and without the padding.
 *
 * The *position* of a record is the number of record bytes before it since the journal began. It is
 * not stored in the record but mixed into its check, so a record at a wrong position does not
 * verify.
 *
 * The format is strict on purpose: each event has exactly one encoding, and unused bytes are zero.
 * So the decoder can refuse everything that no writer writes, and two journals with the same events
 * have the same bytes.
 *
 * A short record is built on the stack and copied from byte 8 on, because the reader of the ring must
 * not see the first word before the rest is written, but the check covers half of that word. A long
 * one is built in place, and its check is computed in two pieces.
 */
#include "journal/file/record.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/assert.h"
#include "base/little.h"
#include "base/names.h"

enum { FLAG_USER_WIDE = 1, FLAG_ITEM_WIDE = 2, FLAG_TOKEN = 4 };

#define HEAD_BYTES 16 /* bytes before the fields of variable length */

_Static_assert(HEAD_BYTES + 16 + 16 + 8 <= LIMIT_EVENT_BYTES, "a SET fits");
_Static_assert(HEAD_BYTES + 16 + 8 + 16 <= LIMIT_EVENT_BYTES, "an ADD fits");
_Static_assert(HEAD_BYTES + LIMIT_NAME_LENGTH <= LIMIT_EVENT_BYTES, "a DEFINE fits");
_Static_assert(HEAD_BYTES + 8 == LIMIT_EVENT_BYTES_MIN, "a DEFINE of a short name is the least");
_Static_assert(LIMIT_EVENT_BYTES == 64 && LIMIT_EVENT_BYTES_MIN == 24, "copy_words");
_Static_assert(HEAD_BYTES + 16 + 16 == LIMIT_EVENT_HEAD, "a COMMENT before its body");
_Static_assert(LIMIT_EVENT_LONG / 8 <= UINT16_MAX, "the length of a COMMENT fits its field");
_Static_assert(LIMIT_EXCLUSIVE == 8, "the cleared kinds are 8 bytes of the record");

static size_t id_size(struct id id)
{
    return id_is_wide(id) ? 16 : 8;
}

size_t record_size(const struct event *event)
{
    switch (event->type) {
    case EVENT_SET:
    case EVENT_CLEAR:
        return HEAD_BYTES + id_size(event->user) + id_size(event->item.id) +
               (event->cleared_count > 0 ? 8 : 0);
    case EVENT_ADD:
        return HEAD_BYTES + id_size(event->item.id) + 8 + (event->has_token ? 16 : 0);
    case EVENT_COMMENT:
        return HEAD_BYTES + id_size(event->user) + id_size(event->item.id) +
               ((size_t)event->body_length + 7) / 8 * 8;
    default:
        ASSERT(event->type == EVENT_DEFINE);
        return HEAD_BYTES + ((size_t)event->text_length + 7) / 8 * 8;
    }
}

static uint8_t *put_id(uint8_t *out, struct id id)
{
    if (id_is_wide(id)) {
        little_put64(out, id.hi);
        out += 8;
    }
    little_put64(out, id.lo);
    return out + 8;
}

static void encode_reaction(const struct event *event, uint8_t *record)
{
    ASSERT(event->cleared_count <= event_cleared_max(event->type));
    little_put16(record + 12, event->item.type);
    record[14] = event->name;
    record[15] = event->cleared_count;
    uint8_t *at = put_id(put_id(record + HEAD_BYTES, event->user), event->item.id);
    memcpy(at, event->cleared, event->cleared_count);
}

static void encode_add(const struct event *event, uint8_t *record)
{
    little_put16(record + 12, event->item.type);
    record[14] = event->name;
    uint8_t *at = put_id(record + HEAD_BYTES, event->item.id);
    little_put64(at, (uint64_t)event->delta);
    if (event->has_token) {
        little_put64(at + 8, event->token[0]);
        little_put64(at + 16, event->token[1]);
    }
}

static void encode_define(const struct event *event, uint8_t *record)
{
    ASSERT(event->text_length > 0 && event->text_length <= LIMIT_NAME_LENGTH);
    little_put16(record + 12, event->index);
    record[14] = event->name;
    record[15] = event->text_length;
    memcpy(record + HEAD_BYTES, event->text, event->text_length);
}

static uint8_t record_flags(const struct event *event)
{
    uint8_t flags = 0;
    if (event->type == EVENT_DEFINE)
        return flags;
    if (event->type != EVENT_ADD && id_is_wide(event->user))
        flags |= FLAG_USER_WIDE;
    if (id_is_wide(event->item.id))
        flags |= FLAG_ITEM_WIDE;
    if (event->type == EVENT_ADD && event->has_token)
        flags |= FLAG_TOKEN;
    return flags;
}

/*
 * Copies words 1 to count - 1. A memcpy with a length that the compiler does not know costs more
 * than everything else here.
 */
static void copy_words(uint8_t *out, const uint8_t *record, size_t count)
{
    memcpy(out + 8, record + 8, LIMIT_EVENT_BYTES_MIN - 8);
    switch (count) {
    case 8:
        memcpy(out + 56, record + 56, 8);
        __attribute__((fallthrough));
    case 7:
        memcpy(out + 48, record + 48, 8);
        __attribute__((fallthrough));
    case 6:
        memcpy(out + 40, record + 40, 8);
        __attribute__((fallthrough));
    case 5:
        memcpy(out + 32, record + 32, 8);
        __attribute__((fallthrough));
    case 4:
        memcpy(out + 24, record + 24, 8);
        break;
    default:
        break;
    }
}

/* The record of a long event, as record_encode. */
static uint64_t encode_long(const struct event *event, uint64_t position, uint8_t *out, size_t size)
{
    uint8_t record[LIMIT_EVENT_HEAD] = {0};
    size_t padding = (8 - event->body_length % 8) % 8;
    ASSERT(event->name != 0 && event->body_length > 0 && event->body_length <= LIMIT_EVENT_BODY);
    ASSERT(size == record_size(event) && size <= LIMIT_EVENT_LONG);
    little_put16(record + 4, (uint16_t)(size / 8));
    record[6] = event->type;
    record[7] = record_flags(event);
    little_put32(record + 8, event->time_s);
    little_put16(record + 12, event->item.type);
    record[14] = event->name;
    record[15] = (uint8_t)padding;
    const uint8_t *end = put_id(put_id(record + HEAD_BYTES, event->user), event->item.id);
    size_t head = (size_t)(end - record);
    memcpy(out + 8, record + 8, head - 8);
    memcpy(out + head, event->body, event->body_length);
    memset(out + head + event->body_length, 0, padding);

    XXH3_state_t state;
    XXH3_64bits_reset_withSeed(&state, position);
    XXH3_64bits_update(&state, record + 4, 4);
    XXH3_64bits_update(&state, out + 8, size - 8);
    little_put32(record, (uint32_t)XXH3_64bits_digest(&state));
    uint64_t first;
    memcpy(&first, record, sizeof first);
    return first;
}

uint64_t record_encode(const struct event *event, uint64_t position, uint8_t *out, size_t size)
{
    if (__builtin_expect(event_is_long(event), 0))
        return encode_long(event, position, out, size);
    uint8_t record[LIMIT_EVENT_BYTES] = {0};
    ASSERT(size % 8 == 0 && size >= LIMIT_EVENT_BYTES_MIN && size <= sizeof record);
    little_put16(record + 4, (uint16_t)(size / 8));
    record[6] = event->type;
    record[7] = record_flags(event);
    little_put32(record + 8, event->time_s);
    if (event->type == EVENT_ADD)
        encode_add(event, record);
    else if (event->type == EVENT_DEFINE)
        encode_define(event, record);
    else
        encode_reaction(event, record);

    little_put32(record, (uint32_t)XXH3_64bits_withSeed(record + 4, size - 4, position));
    copy_words(out, record, size / 8);
    uint64_t first;
    memcpy(&first, record, sizeof first);
    return first;
}

/* False: the upper half of a wide id is 0; the id would have to be narrow. */
static bool get_id(const uint8_t **at, bool wide, struct id *id)
{
    id->hi = 0;
    if (wide) {
        id->hi = little_get64(*at);
        *at += 8;
    }
    id->lo = little_get64(*at);
    *at += 8;
    return !wide || id->hi != 0;
}

static bool decode_reaction(const uint8_t *record, uint8_t flags, struct event *event)
{
    event->item.type = little_get16(record + 12);
    event->name = record[14];
    event->cleared_count = record[15];
    if ((flags & FLAG_TOKEN) || event->name >= LIMIT_NAMES || event->item.type >= LIMIT_TYPES ||
        event->cleared_count > event_cleared_max(event->type))
        return false;
    const uint8_t *at = record + HEAD_BYTES;
    if (!get_id(&at, flags & FLAG_USER_WIDE, &event->user) ||
        !get_id(&at, flags & FLAG_ITEM_WIDE, &event->item.id))
        return false;
    if (event->cleared_count > 0)
        memcpy(event->cleared, at, LIMIT_EXCLUSIVE);
    for (size_t i = 0; i < LIMIT_EXCLUSIVE; i++)
        if (i < event->cleared_count ? event->cleared[i] >= LIMIT_NAMES : event->cleared[i] != 0)
            return false;
    return true;
}

static bool decode_add(const uint8_t *record, uint8_t flags, struct event *event)
{
    event->item.type = little_get16(record + 12);
    event->name = record[14];
    event->has_token = flags & FLAG_TOKEN;
    if ((flags & FLAG_USER_WIDE) || event->name >= LIMIT_NAMES || event->item.type >= LIMIT_TYPES ||
        record[15] != 0)
        return false;
    const uint8_t *at = record + HEAD_BYTES;
    if (!get_id(&at, flags & FLAG_ITEM_WIDE, &event->item.id))
        return false;
    event->delta = (int64_t)little_get64(at);
    if (event->has_token) {
        event->token[0] = little_get64(at + 8);
        event->token[1] = little_get64(at + 16);
    }
    return true;
}

static bool decode_define(const uint8_t *record, uint8_t flags, struct event *event, size_t size)
{
    event->index = little_get16(record + 12);
    event->name = record[14];
    event->text_length = record[15];
    if (flags != 0 || event->name < NAME_TYPE || event->name > NAME_KEPT ||
        event->text_length == 0 || event->text_length > size - HEAD_BYTES)
        return false;
    if (event->index >= (event->name == NAME_TYPE ? LIMIT_TYPES : LIMIT_NAMES))
        return false;
    memcpy(event->text, record + HEAD_BYTES, event->text_length);
    for (size_t i = HEAD_BYTES + event->text_length; i < size; i++)
        if (record[i] != 0)
            return false;
    return true;
}

static bool decode_comment(const uint8_t *record, uint8_t flags, struct event *event, size_t size)
{
    size_t padding = record[15];
    event->item.type = little_get16(record + 12);
    event->name = record[14];
    if ((flags & FLAG_TOKEN) || event->name == 0 || event->item.type >= LIMIT_TYPES)
        return false;
    const uint8_t *at = record + HEAD_BYTES;
    if (!get_id(&at, flags & FLAG_USER_WIDE, &event->user) ||
        !get_id(&at, flags & FLAG_ITEM_WIDE, &event->item.id))
        return false;
    event->body = at;
    event->body_length = (uint32_t)(size - (size_t)(at - record) - padding);
    for (size_t i = size - padding; i < size; i++)
        if (record[i] != 0)
            return false;
    return true;
}

/* Is this a possible length of a COMMENT with a body and a padding of this length? */
static bool comment_size_is_sound(size_t total, size_t before, uint8_t padding)
{
    return total >= before + 8 && total - before <= LIMIT_EVENT_BODY && padding < 8;
}

/*
 * The length of a record with this type and these flags; 0: there is no such record. That of a
 * COMMENT depends on its body: it is `total`, if that is possible.
 */
static size_t expected_size(const uint8_t *record, size_t total)
{
    uint8_t type = record[6];
    uint8_t flags = record[7];
    size_t item = flags & FLAG_ITEM_WIDE ? 16 : 8;
    size_t ids = (flags & FLAG_USER_WIDE ? 16 : 8) + item;
    if (flags > (FLAG_USER_WIDE | FLAG_ITEM_WIDE | FLAG_TOKEN))
        return 0;
    if (type == EVENT_SET || type == EVENT_CLEAR)
        return HEAD_BYTES + ids + (record[15] > 0 ? 8 : 0);
    if (type == EVENT_ADD)
        return HEAD_BYTES + item + 8 + (flags & FLAG_TOKEN ? 16 : 0);
    if (type == EVENT_DEFINE && record[15] <= LIMIT_NAME_LENGTH)
        return HEAD_BYTES + ((size_t)record[15] + 7) / 8 * 8;
    if (type == EVENT_COMMENT && comment_size_is_sound(total, HEAD_BYTES + ids, record[15]))
        return total;
    return 0;
}

/*
 * Cleared in pieces: for the whole struct the compiler would use a string instruction, which is
 * slow to start.
 */
static void clear_event(struct event *event)
{
    _Static_assert(sizeof *event == 4 * 32, "four pieces");
    memset((uint8_t *)event, 0, 32);
    memset((uint8_t *)event + 32, 0, 32);
    memset((uint8_t *)event + 64, 0, 32);
    memset((uint8_t *)event + 96, 0, 32);
}

enum status record_decode(const uint8_t *bytes, size_t length, uint64_t position,
                          struct event *event, size_t *size)
{
    if (length < 8)
        return STATUS_MORE;
    size_t total = (size_t)little_get16(bytes + 4) * 8;
    if (total < LIMIT_EVENT_BYTES_MIN ||
        total > (bytes[6] == EVENT_COMMENT ? LIMIT_EVENT_LONG : LIMIT_EVENT_BYTES))
        return STATUS_DAMAGED;
    if (length < total)
        return STATUS_MORE;
    uint32_t check = (uint32_t)XXH3_64bits_withSeed(bytes + 4, total - 4, position);
    if (check != little_get32(bytes) || total != expected_size(bytes, total))
        return STATUS_DAMAGED;

    clear_event(event);
    event->type = bytes[6];
    event->time_s = little_get32(bytes + 8);
    uint8_t flags = bytes[7];
    bool sound = event->type == EVENT_ADD       ? decode_add(bytes, flags, event)
                 : event->type == EVENT_DEFINE  ? decode_define(bytes, flags, event, total)
                 : event->type == EVENT_COMMENT ? decode_comment(bytes, flags, event, total)
                                                : decode_reaction(bytes, flags, event);
    *size = total;
    return sound ? STATUS_OK : STATUS_DAMAGED;
}
