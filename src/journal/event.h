/*
 * Events, and their form as journal records. An event is what a decision changed, complete enough
 * to be applied again without deciding again. It is encoded the same way in the ring in memory
 * and on disk.
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
 *
 * A wide id is its upper half, then its lower. A like with narrow ids takes 32 bytes.
 *
 * The *position* of a record is the number of record bytes before it since the journal began; it
 * is the record's sequence number: never stored in the record, but mixed into its check, so a
 * record that stands in the wrong place does not verify.
 */
#ifndef LAUD_JOURNAL_EVENT_H
#define LAUD_JOURNAL_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"
#include "base/status.h"

enum event_type {
    EVENT_DEFINE = 1, /* a type, kind or counter got its index */
    EVENT_SET = 2,    /* a reaction was absent and is now live */
    EVENT_CLEAR = 3,  /* it was live and is now absent */
    EVENT_ADD = 4,    /* a counter was added to */
};

struct event {
    uint8_t type;
    uint8_t name; /* SET, CLEAR: the kind; ADD: the counter; DEFINE: the enum name_role */
    uint8_t cleared_count;
    uint8_t text_length;
    uint8_t cleared[LIMIT_EXCLUSIVE]; /* live kinds cleared in the same step */
    uint32_t time_s;
    uint16_t index; /* DEFINE */
    bool has_token;
    struct id user;               /* SET, CLEAR */
    struct item item;             /* SET, CLEAR, ADD */
    int64_t delta;                /* ADD */
    uint64_t token[2];            /* ADD, if has_token: hash of item, counter and token */
    char text[LIMIT_NAME_LENGTH]; /* DEFINE */
};

/* A name got its index: `role` is an enum name_role. */
struct event event_define(uint8_t role, uint16_t index, const char *text, size_t length,
                          uint32_t time_s);

/*
 * Reactions of earlier times than this one may follow, so whoever goes by times has to start over. It is
 * a definition of `like`, which is always there and so has no other.
 */
struct event event_import(uint32_t time_s);
bool event_is_import(const struct event *event);

/*
 * How many kinds one may clear beside its own: a SET the others of a group; a CLEAR those that were
 * live beside one that stays, less the one it names.
 */
static inline uint8_t event_cleared_max(uint8_t type)
{
    return type == EVENT_SET ? LIMIT_EXCLUSIVE : type == EVENT_CLEAR ? LIMIT_EXCLUSIVE - 2 : 0;
}

/* Length of the record, a multiple of 8, at most LIMIT_EVENT_BYTES. */
size_t event_size(const struct event *event);

/*
 * Fills bytes 8 to size of the record and returns its first 8 bytes as a little-endian word. The
 * caller stores that word last: in the ring, its arrival is what publishes the record.
 */
uint64_t event_encode(const struct event *event, uint64_t position, uint8_t *out, size_t size);

/*
 * Reads one record. OK: *size is its length. MORE: the bytes end before it does. DAMAGED: it does
 * not verify, or says something no writer says.
 */
enum status event_decode(const uint8_t *bytes, size_t length, uint64_t position,
                         struct event *event, size_t *size);

#endif
