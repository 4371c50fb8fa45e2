/*
 * A cursor is hexadecimal in lower case: the checksum (8 bytes), the order with the direction (1), the key
 * (8), the floor (4) and the id (8). There is exactly one text for each position, so any change of the text
 * makes it invalid. Lists other than COMMENTS have neither order nor direction nor floor: these are 0.
 */
#include "op/comment_cursor.h"

#include <xxhash.h>

#include "base/assert.h"
#include "op/cursor_text.h"

#define SEED 0x636d746375720a01ULL

/*
 * The number of a list in the checksum of its cursors. Clients keep cursors across upgrades, so these
 * numbers never change, and a number is never used for another list (see cursor.c for more of them).
 */
enum cursor_list {
    CURSOR_COMMENTS = 20,
    CURSOR_WRITTEN = 21,
    CURSOR_INBOX = 22,
    CURSOR_QUEUE = 23,
};

#define BACK 0x80 /* in the byte of the order: the page ends before the entry */

static enum cursor_list list_of(enum hot_action action)
{
    switch (action) {
    case HOT_COMMENTS:
        return CURSOR_COMMENTS;
    case HOT_WRITTEN:
        return CURSOR_WRITTEN;
    case HOT_QUEUE:
        return CURSOR_QUEUE;
    default:
        ASSERT(action == HOT_INBOX || action == HOT_SEEN);
        return CURSOR_INBOX;
    }
}

static uint64_t checksum(const struct hot_request *request, const struct hot_mark *mark,
                         uint8_t order)
{
    enum cursor_list list = list_of(request->action);
    struct item of = {.id = request->user};
    if (list == CURSOR_COMMENTS)
        of = request->items[0];
    else if (list == CURSOR_QUEUE)
        of = (struct item){.id.lo = request->cards.queue, .type = request->cards.type};
    uint64_t words[] = {mark->key, mark->id, (uint64_t)mark->floor << 8 | order,
                        of.id.hi,  of.id.lo, (uint64_t)list << 32 | of.type};
    return XXH3_64bits_withSeed(words, sizeof words, SEED);
}

void comment_cursor_write(const struct hot_request *request, const struct hot_mark *mark,
                          char out[COMMENT_CURSOR_TEXT])
{
    uint8_t order = request->action == HOT_COMMENTS ? request->cards.order : 0;
    order |= mark->back ? BACK : 0;
    size_t at = cursor_put(out, 0, checksum(request, mark, order), 16);
    at = cursor_put(out, at, order, 2);
    at = cursor_put(out, at, mark->key, 16);
    at = cursor_put(out, at, mark->floor, 8);
    at = cursor_put(out, at, mark->id, 16);
    ASSERT(at == COMMENT_CURSOR_TEXT);
}

static bool read_any(const struct hot_request *request, struct text text, struct hot_mark *out,
                     uint8_t *order)
{
    uint64_t sum, flags, floor;
    const char *at = text.bytes;
    struct hot_mark mark = {.is_set = true};
    if (text.length != COMMENT_CURSOR_TEXT || !cursor_take(&at, 16, &sum) ||
        !cursor_take(&at, 2, &flags) || !cursor_take(&at, 16, &mark.key) ||
        !cursor_take(&at, 8, &floor) || !cursor_take(&at, 16, &mark.id))
        return false;
    mark.floor = (uint32_t)floor;
    mark.back = (flags & BACK) != 0;
    if (sum != checksum(request, &mark, (uint8_t)flags))
        return false;
    *order = (uint8_t)flags & (BACK - 1);
    *out = mark;
    return true;
}

bool comment_cursor_read(const struct hot_request *request, struct text text, struct hot_mark *out)
{
    struct hot_mark mark;
    uint8_t order;
    if (!read_any(request, text, &mark, &order) || order != 0 || mark.back || mark.floor != 0)
        return false;
    *out = mark;
    return true;
}

bool comment_cursor_read_page(const struct hot_request *request, struct text text,
                              struct hot_mark *out, uint8_t *order)
{
    struct hot_mark mark;
    if (!read_any(request, text, &mark, order) || *order >= ORDER_TOTAL ||
        (mark.key != 0 && !comment_order_has_key((enum comment_order) * order)))
        return false;
    *out = mark;
    return true;
}
