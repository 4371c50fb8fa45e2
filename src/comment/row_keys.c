/* The keys of rows.h: numbers are big endian, and inverted where the order has to be descending. */
#include <endian.h>
#include <string.h>

#include "base/assert.h"
#include "comment/rows.h"

enum {
    ITEM_BYTES = 18,
    USER_BYTES = 16,
    ID_BYTES = 8,
    FLOOR_BYTES = 4,
    ORDER_BYTES = ITEM_BYTES + 1 + 8 + FLOOR_BYTES,
    UNLISTED_BYTES = ITEM_BYTES + 1 + FLOOR_BYTES,
    HELD_BYTES = ITEM_BYTES + 1 + USER_BYTES + ID_BYTES,
    WRITTEN_BYTES = USER_BYTES + 1 + ID_BYTES,
    QUEUE_BYTES = 2 + 1 + 4 + ID_BYTES,
};

_Static_assert(HELD_BYTES <= ROW_KEY_MAX, "the longest key fits");
_Static_assert(HELD_BYTES - STORE_GROUP_MAX <= STORE_REST_MAX, "a store takes the longest key");

static uint8_t *put_8(uint8_t *out, uint8_t value)
{
    *out = value;
    return out + 1;
}

static uint8_t *put_16(uint8_t *out, uint16_t value)
{
    value = htobe16(value);
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

static uint8_t *put_32(uint8_t *out, uint32_t value)
{
    value = htobe32(value);
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

static uint8_t *put_64(uint8_t *out, uint64_t value)
{
    value = htobe64(value);
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

static uint8_t *put_id(uint8_t *out, struct id id)
{
    return put_64(put_64(out, id.hi), id.lo);
}

static uint8_t *put_item(uint8_t *out, struct item item)
{
    return put_id(put_16(out, item.type), item.id);
}

size_t row_key_item(struct item item, uint8_t *out)
{
    return (size_t)(put_item(out, item) - out);
}

size_t row_key_id(uint64_t id, uint8_t *out)
{
    return (size_t)(put_64(out, id) - out);
}

size_t row_key_history(uint64_t id, uint32_t version, uint8_t *out)
{
    return (size_t)(put_32(put_64(out, id), ~version) - out);
}

size_t row_key_floor(struct item parent, uint32_t floor, uint8_t *out)
{
    return (size_t)(put_32(put_item(out, parent), floor) - out);
}

size_t row_key_order(struct item parent, enum comment_order order, uint64_t key, uint32_t floor,
                     uint8_t *out)
{
    ASSERT(comment_order_has_key(order) && order < ORDER_TOTAL);
    uint8_t *end = put_8(put_item(out, parent), (uint8_t)order);
    return (size_t)(put_32(put_64(end, ~key), floor) - out);
}

size_t row_key_unlisted(struct item parent, uint32_t floor, uint8_t *out)
{
    return (size_t)(put_32(put_8(put_item(out, parent), ROWS_UNLISTED), floor) - out);
}

size_t row_key_held(struct item subject, struct id author, uint64_t id, uint8_t *out)
{
    uint8_t *end = put_id(put_8(put_item(out, subject), ROWS_HELD), author);
    return (size_t)(put_64(end, ~id) - out);
}

size_t row_key_written(struct id user, uint8_t class, uint64_t id, uint8_t *out)
{
    return (size_t)(put_64(put_8(put_id(out, user), class), ~id) - out);
}

size_t row_key_inbox(struct id user, uint32_t number, uint8_t *out)
{
    return (size_t)(put_32(put_id(out, user), ~number) - out);
}

size_t row_key_queue(uint16_t type, enum queue_state state, uint32_t rank, uint64_t id,
                     uint8_t *out)
{
    uint8_t *end = put_8(put_16(out, type), (uint8_t)state);
    return (size_t)(put_64(put_32(end, ~rank), ~id) - out);
}

size_t row_key_user(struct id user, uint8_t what, uint8_t *out)
{
    return (size_t)(put_8(put_id(out, user), what) - out);
}

size_t row_key_state(uint8_t what, uint8_t *out)
{
    return (size_t)(put_8(out, what) - out);
}

static uint16_t get_16(const uint8_t *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return be16toh(value);
}

static uint32_t get_32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return be32toh(value);
}

static uint64_t get_64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return be64toh(value);
}

static void read_id(const uint8_t *bytes, struct id *id)
{
    if (id != NULL)
        *id = (struct id){.hi = get_64(bytes), .lo = get_64(bytes + 8)};
}

static void read_item(const uint8_t *bytes, struct item *item)
{
    if (item != NULL)
        item->type = get_16(bytes);
    read_id(bytes + 2, item != NULL ? &item->id : NULL);
}

static void read_32(uint32_t value, uint32_t *out)
{
    if (out != NULL)
        *out = value;
}

static void read_64(uint64_t value, uint64_t *out)
{
    if (out != NULL)
        *out = value;
}

bool row_read_item(struct store_bytes key, struct item *item)
{
    if (key.length != ITEM_BYTES)
        return false;
    read_item(key.data, item);
    return true;
}

bool row_read_id(struct store_bytes key, uint64_t *id)
{
    if (key.length != ID_BYTES && key.length != ID_BYTES + 4)
        return false;
    read_64(get_64(key.data), id);
    return true;
}

bool row_read_history(struct store_bytes key, uint64_t *id, uint32_t *version)
{
    if (key.length != ID_BYTES + 4)
        return false;
    read_64(get_64(key.data), id);
    read_32(~get_32(key.data + ID_BYTES), version);
    return true;
}

bool row_read_floor(struct store_bytes key, struct item *parent, uint32_t *floor)
{
    if (key.length != ITEM_BYTES + FLOOR_BYTES)
        return false;
    read_item(key.data, parent);
    read_32(get_32(key.data + ITEM_BYTES), floor);
    return true;
}

bool row_read_order(struct store_bytes key, struct item *parent, uint8_t *order, uint64_t *rank,
                    uint32_t *floor)
{
    if (key.length != ORDER_BYTES && key.length != UNLISTED_BYTES)
        return false;
    uint8_t found = key.data[ITEM_BYTES];
    bool unlisted = key.length == UNLISTED_BYTES;
    if (unlisted ? found != ROWS_UNLISTED : found >= ORDER_TOTAL || !comment_order_has_key(found))
        return false;
    read_item(key.data, parent);
    if (order != NULL)
        *order = found;
    read_64(unlisted ? 0 : ~get_64(key.data + ITEM_BYTES + 1), rank);
    read_32(get_32(key.data + key.length - FLOOR_BYTES), floor);
    return true;
}

bool row_read_held(struct store_bytes key, struct item *subject, struct id *author, uint64_t *id)
{
    if (key.length != HELD_BYTES || key.data[ITEM_BYTES] != ROWS_HELD)
        return false;
    read_item(key.data, subject);
    read_id(key.data + ITEM_BYTES + 1, author);
    read_64(~get_64(key.data + HELD_BYTES - ID_BYTES), id);
    return true;
}

bool row_read_written(struct store_bytes key, struct id *user, uint8_t *class, uint64_t *id)
{
    if (key.length != WRITTEN_BYTES || key.data[USER_BYTES] > 1)
        return false;
    read_id(key.data, user);
    if (class != NULL)
        *class = key.data[USER_BYTES];
    read_64(~get_64(key.data + USER_BYTES + 1), id);
    return true;
}

bool row_read_inbox(struct store_bytes key, struct id *user, uint32_t *number)
{
    if (key.length != USER_BYTES + 4)
        return false;
    read_id(key.data, user);
    read_32(~get_32(key.data + USER_BYTES), number);
    return true;
}

bool row_read_queue(struct store_bytes key, uint16_t *type, enum queue_state *state, uint32_t *rank,
                    uint64_t *id)
{
    if (key.length != QUEUE_BYTES || key.data[2] > QUEUE_REPORTED)
        return false;
    if (type != NULL)
        *type = get_16(key.data);
    if (state != NULL)
        *state = key.data[2];
    read_32(~get_32(key.data + 3), rank);
    read_64(~get_64(key.data + 7), id);
    return true;
}

bool row_read_user(struct store_bytes key, struct id *user, uint8_t *what)
{
    if (key.length != USER_BYTES + 1 ||
        (key.data[USER_BYTES] != 'b' && key.data[USER_BYTES] != 'i'))
        return false;
    read_id(key.data, user);
    if (what != NULL)
        *what = key.data[USER_BYTES];
    return true;
}
