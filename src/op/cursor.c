/*
 * A cursor is hexadecimal in lower case: the checksum (8 bytes), the time (4), the id (8, or 16 if it
 * is wide). There is exactly one text for each position, so any change of the text makes it invalid.
 *
 * A cursor of CHANGES: the checksum, since (4); within a round also until (4), the list (kind, type,
 * and 0 or 1 for cleared; 4 together), the time and the id.
 */
#include "op/cursor.h"

#include <string.h>

#include <xxhash.h>

#include "base/assert.h"
#include "op/cursor_text.h"

#define SEED         0x6c6973746375720aULL
#define NARROW_BYTES 20
#define WIDE_BYTES   28

#define BEGIN_BYTES 12 /* CHANGES: a cursor that begins a round */
#define ROUND_BYTES                                                                                \
    (BEGIN_BYTES + 8) /* CHANGES: what precedes the position in a cursor within a round */

_Static_assert(CURSOR_TEXT == 2 * WIDE_BYTES, "two digits a byte");
_Static_assert(CURSOR_ROUND_TEXT == 2 * (ROUND_BYTES + WIDE_BYTES - 8), "likewise");

/*
 * The number of a list in the checksum of its cursors. Clients keep cursors across upgrades, so these
 * numbers never change, and a number is never used for another list.
 */
enum cursor_list {
    CURSOR_REACTIONS = 6,
    CURSOR_REACTORS = 7,
    CURSOR_CHANGES = 11,
};

/*
 * The checksum of a position and its list: the list's number and kind, and the user and type, or the
 * item.
 */
static uint64_t checksum(const struct hot_request *request, struct store_listed listed)
{
    bool by_item = request->action == HOT_LIST_REACTORS;
    ASSERT(by_item || request->action == HOT_LIST_REACTIONS);
    uint64_t list = by_item ? CURSOR_REACTORS : CURSOR_REACTIONS;
    struct id owner = by_item ? request->items[0].id : request->user;
    uint16_t type = by_item ? request->items[0].type : request->list.type;
    uint64_t words[] = {
        listed.time_s, listed.id.hi, listed.id.lo,
        owner.hi,      owner.lo,     list << 32 | (uint64_t)request->name << 16 | type,
    };
    return XXH3_64bits_withSeed(words, sizeof words, SEED);
}

static size_t put_position(char *out, size_t at, struct store_listed listed)
{
    at = cursor_put(out, at, listed.time_s, 8);
    if (id_is_wide(listed.id))
        at = cursor_put(out, at, listed.id.hi, 16);
    return cursor_put(out, at, listed.id.lo, 16);
}

size_t cursor_write(const struct hot_request *request, struct store_listed listed,
                    char out[CURSOR_TEXT])
{
    return put_position(out, cursor_put(out, 0, checksum(request, listed), 16), listed);
}

/* Reads the rest of a cursor as a position. False: it is not one. */
static bool take_position(const char *at, size_t length, struct store_listed *out)
{
    uint64_t time_s, hi = 0, lo;
    bool wide = length == 2 * (WIDE_BYTES - 8);
    if (!wide && length != 2 * (NARROW_BYTES - 8))
        return false;
    if (!cursor_take(&at, 8, &time_s) || (wide && !cursor_take(&at, 16, &hi)) ||
        !cursor_take(&at, 16, &lo))
        return false;
    out->time_s = (uint32_t)time_s;
    out->id = (struct id){.hi = hi, .lo = lo};
    return time_s != 0 && id_is_wide(out->id) == wide;
}

bool cursor_read(const struct hot_request *request, struct text text, struct store_listed *out)
{
    uint64_t sum;
    const char *at = text.bytes;
    struct store_listed listed = {0};
    if (text.length < 16 || !cursor_take(&at, 16, &sum) ||
        !take_position(at, text.length - 16, &listed) || sum != checksum(request, listed))
        return false;
    *out = listed;
    return true;
}

/* The content of a cursor of CHANGES. */
struct round {
    uint32_t since_s;
    uint32_t until_s; /* 0: the round has not begun, so there is no position */
    struct store_listed after;
};

static uint32_t round_list(const struct round *round)
{
    return (uint32_t)round->after.kind << 24 | (uint32_t)round->after.type << 8 |
           round->after.cleared;
}

static uint64_t round_checksum(const struct hot_request *request, const struct round *round)
{
    uint64_t words[] = {
        (uint64_t)round->since_s << 32 | round->until_s,
        (uint64_t)round_list(round) << 32 | round->after.time_s,
        round->after.id.hi,
        round->after.id.lo,
        request->user.hi,
        request->user.lo,
        CURSOR_CHANGES,
    };
    return XXH3_64bits_withSeed(words, sizeof words, SEED);
}

size_t cursor_write_round(const struct hot_request *request, char out[CURSOR_ROUND_TEXT])
{
    struct round round = {.since_s = request->changes.until_s};
    if (request->changes.more)
        round = (struct round){request->changes.since_s, request->changes.until_s,
                               request->changes.after};
    size_t at = cursor_put(out, 0, round_checksum(request, &round), 16);
    at = cursor_put(out, at, round.since_s, 8);
    if (!request->changes.more)
        return at;
    at = cursor_put(out, at, round.until_s, 8);
    at = cursor_put(out, at, round_list(&round), 8);
    return put_position(out, at, round.after);
}

static bool take_round(const char *at, size_t length, struct round *out)
{
    uint64_t until_s, list;
    if (length < 16 || !cursor_take(&at, 8, &until_s) || !cursor_take(&at, 8, &list) ||
        until_s == 0 || (list & 0xff) > 1 || !take_position(at, length - 16, &out->after))
        return false;
    out->until_s = (uint32_t)until_s;
    out->after.kind = (uint8_t)(list >> 24);
    out->after.type = (uint16_t)(list >> 8);
    out->after.cleared = list & 1;
    return true;
}

bool cursor_read_round(struct hot_request *request, struct text text)
{
    uint64_t sum, since_s;
    const char *at = text.bytes;
    struct round round = {0};
    if (text.length < 2 * (size_t)BEGIN_BYTES || !cursor_take(&at, 16, &sum) ||
        !cursor_take(&at, 8, &since_s))
        return false;
    round.since_s = (uint32_t)since_s;
    bool begins = text.length == 2 * BEGIN_BYTES;
    if (begins ? since_s == 0 : !take_round(at, text.length - 2 * BEGIN_BYTES, &round))
        return false;
    if (sum != round_checksum(request, &round))
        return false;
    request->changes.since_s = round.since_s;
    request->changes.until_s = round.until_s;
    request->changes.after = round.after;
    return true;
}
