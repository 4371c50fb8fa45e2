/*
 * The format of the store, version 4. All rows are in the default column family. Integers of more
 * than one byte are big-endian, so that the order of keys is the order of numbers.
 *
 *   id      a narrow id is the byte 8 and then 8 bytes; a wide id is the byte 16 and then 16 bytes,
 *           the upper half first. Because of the leading length no id is a prefix of another,
 *           and so no key is a prefix of another. It also gives the order of
 *           store_listed_order: narrow ids first, then by value.
 *   hash    the upper 2 bytes of a hash with a fixed seed: the number of the partition (row.h).
 *           It is at the beginning because ids are often assigned in rising order: without
 *           the hash all writes of a minute would be in one range.
 *
 *   key                                          value
 *   'R' hash(user) user kind type item           time_s u32          the relation
 *   'I' hash(item) type item kind ~time_s user   nothing             by item, newest first
 *   'U' hash(user) user kind type ~time_s item   nothing             by user, newest first
 *   'X' hash(user) user kind type ~time_s item   nothing             cleared at time_s
 *   'C' hash(item) type item                     counters (merge.c)  of an item
 *   'T' table hash(group) group rest             bytes               a row of a table (rows.h)
 *   'N' role index                               text                a name
 *   'K' time_s token                             type item [u64]     a token
 *   'P'                                          see below           the position row
 *   'V'                                          u32                 format version
 *
 * (user and item: id; kind, role and table: u8; type and index: u16; time_s: u32; token: 16 bytes;
 * group and rest: bytes that the store does not interpret, the group as long as rows.def says.)
 *
 * In a 'T' key the table is before the hash. So the rows of a table can be visited without reading
 * other tables, and tables with short values that are often read, such as orders, do not share
 * their blocks with texts. Such a key may be the beginning of another one of the same group.
 *
 * The value of a token ends with the u64 that the token stands for, unless that is 0.
 *
 * The value of the position row is u64 position, u64 number of 'R' rows, u32 token horizon, u32
 * time up to which tokens are deleted, u32 time of the newest event, u32 horizon of cleared
 * reactions. Each batch writes it, so data that a flush makes durable always includes its position.
 * Tokens before the token horizon are ignored; their rows are deleted later, a range at a time. 'X'
 * rows before the horizon of cleared reactions are removed when RocksDB compacts them (expire.c).
 * An 'X' row of a reaction that is set again has no meaning.
 *
 * Version 3 had no 'T' rows, and tokens stood for nothing. A store without them still has version 3,
 * so that earlier programs can open it; the first batch that has them writes version 4.
 *
 * Version 2 had no 'X' rows, and its position row had no newest time and no horizon of cleared
 * reactions, which are then 0.
 */
#include "store/rocksdb/keys.h"

#include "base/assert.h"
#include "base/names.h"

enum { NARROW = 8, WIDE = 16 };

static uint16_t user_prefix(struct id user)
{
    return (uint16_t)store_user_partition(user);
}

static uint16_t item_prefix(struct item item)
{
    return (uint16_t)store_item_partition(item);
}

static uint8_t *write_id(uint8_t *out, struct id id)
{
    if (!id_is_wide(id)) {
        *out = NARROW;
        put_u64(out + 1, id.lo);
        return out + 1 + NARROW;
    }
    *out = WIDE;
    put_u64(out + 1, id.hi);
    put_u64(out + 9, id.lo);
    return out + 1 + WIDE;
}

/* NULL: this is not an id, or it does not end before `end`. */
static const uint8_t *read_id(const uint8_t *at, const uint8_t *end, struct id *out)
{
    if (at == NULL || end - at < 1 + NARROW)
        return NULL;
    if (*at == NARROW) {
        *out = (struct id){.lo = get_u64(at + 1)};
        return at + 1 + NARROW;
    }
    if (*at != WIDE || end - at < 1 + WIDE)
        return NULL;
    *out = (struct id){.hi = get_u64(at + 1), .lo = get_u64(at + 9)};
    return id_is_wide(*out) ? at + 1 + WIDE : NULL;
}

static uint8_t *write_item(uint8_t *out, struct item item)
{
    put_u16(out, item.type);
    return write_id(out + 2, item.id);
}

static const uint8_t *read_item(const uint8_t *at, const uint8_t *end, struct item *out)
{
    if (at == NULL || end - at < 2)
        return NULL;
    out->type = get_u16(at);
    return read_id(at + 2, end, &out->id);
}

size_t key_write_reaction(uint8_t out[KEY_MAX], const struct store_reaction *reaction)
{
    out[0] = TAG_REACTION;
    put_u16(out + 1, user_prefix(reaction->user));
    uint8_t *at = write_id(out + 3, reaction->user);
    *at++ = reaction->kind;
    return (size_t)(write_item(at, reaction->item) - out);
}

size_t key_write_by_item(uint8_t out[KEY_MAX], const struct store_reaction *reaction,
                         uint32_t time_s)
{
    out[0] = TAG_BY_ITEM;
    put_u16(out + 1, item_prefix(reaction->item));
    uint8_t *at = write_item(out + 3, reaction->item);
    *at++ = reaction->kind;
    put_u32(at, ~time_s);
    return (size_t)(write_id(at + 4, reaction->user) - out);
}

size_t key_write_by_user(uint8_t out[KEY_MAX], const struct store_reaction *reaction,
                         uint32_t time_s)
{
    size_t head = list_write_reactions(out, reaction->user, reaction->kind, reaction->item.type);
    put_u32(out + head, ~time_s);
    return (size_t)(write_id(out + head + 4, reaction->item.id) - out);
}

size_t key_write_cleared(uint8_t out[KEY_MAX], const struct store_reaction *reaction)
{
    size_t length = key_write_by_user(out, reaction, reaction->cleared_s);
    out[0] = TAG_CLEARED;
    return length;
}

size_t key_write_counters(uint8_t out[KEY_MAX], struct item item)
{
    out[0] = TAG_COUNTERS;
    put_u16(out + 1, item_prefix(item));
    return (size_t)(write_item(out + 3, item) - out);
}

size_t key_write_name(uint8_t out[KEY_MAX], uint8_t role, uint16_t index)
{
    out[0] = TAG_NAME;
    out[1] = role;
    put_u16(out + 2, index);
    return 4;
}

size_t key_write_token(uint8_t out[KEY_MAX], uint32_t time_s, const uint64_t token[2])
{
    out[0] = TAG_TOKEN;
    put_u32(out + 1, time_s);
    put_u64(out + 5, token[0]);
    put_u64(out + 13, token[1]);
    return 21;
}

size_t token_write_value(uint8_t out[TOKEN_VALUE_MAX], const struct store_token *token)
{
    size_t length = (size_t)(write_item(out, token->item) - out);
    if (token->value == 0)
        return length;
    put_u64(out + length, token->value);
    return length + 8;
}

void place_write(uint8_t out[POSITION_BYTES], const struct store_place *place)
{
    put_u64(out, place->position);
    put_u64(out + 8, place->reactions);
    put_u32(out + 16, place->token_horizon_s);
    put_u32(out + 20, place->token_swept_s);
    put_u32(out + 24, place->newest_s);
    put_u32(out + 28, place->cleared_horizon_s);
}

bool key_read_reaction(const uint8_t *key, size_t length, struct store_reaction *out)
{
    const uint8_t *end = key + length;
    if (length < 4 || key[0] != TAG_REACTION)
        return false;
    const uint8_t *at = read_id(key + 3, end, &out->user);
    if (at == NULL || at == end || get_u16(key + 1) != user_prefix(out->user))
        return false;
    out->kind = *at;
    return read_item(at + 1, end, &out->item) == end;
}

bool key_read_by_item(const uint8_t *key, size_t length, struct store_reaction *out)
{
    const uint8_t *end = key + length;
    if (length < 4 || key[0] != TAG_BY_ITEM)
        return false;
    const uint8_t *at = read_item(key + 3, end, &out->item);
    if (at == NULL || end - at < 5 || get_u16(key + 1) != item_prefix(out->item))
        return false;
    out->kind = *at;
    out->time_s = ~get_u32(at + 1);
    return read_id(at + 5, end, &out->user) == end;
}

bool key_read_by_user(const uint8_t *key, size_t length, struct store_reaction *out)
{
    return length > 0 && key[0] == TAG_BY_USER && key_read_changed(key, length, out);
}

bool key_read_changed(const uint8_t *key, size_t length, struct store_reaction *out)
{
    const uint8_t *end = key + length;
    if (length < 4 || (key[0] != TAG_BY_USER && key[0] != TAG_CLEARED))
        return false;
    const uint8_t *at = read_id(key + 3, end, &out->user);
    if (at == NULL || end - at < 7 || get_u16(key + 1) != user_prefix(out->user))
        return false;
    out->kind = *at;
    out->item.type = get_u16(at + 1);
    out->time_s = ~get_u32(at + 3);
    return read_id(at + 7, end, &out->item.id) == end;
}

uint32_t key_cleared_time(const uint8_t *key, size_t length)
{
    if (length <= 1 + KEY_HASH_BYTES || key[0] != TAG_CLEARED || length < relation_head(key) + 4)
        return 0;
    return ~get_u32(key + relation_head(key));
}

bool key_read_counters(const uint8_t *key, size_t length, struct item *out)
{
    const uint8_t *end = key + length;
    return length >= 4 && key[0] == TAG_COUNTERS && read_item(key + 3, end, out) == end &&
           get_u16(key + 1) == item_prefix(*out);
}

bool name_read(const uint8_t *key, size_t key_length, const uint8_t *value, size_t value_length,
               struct store_name *out)
{
    if (key_length != 4 || key[0] != TAG_NAME || value_length == 0 ||
        value_length > LIMIT_NAME_LENGTH)
        return false;
    *out = (struct store_name){
        .role = key[1], .index = get_u16(key + 2), .length = (uint8_t)value_length};
    memcpy(out->text, value, value_length);
    uint16_t limit = out->role == NAME_TYPE ? LIMIT_TYPES : LIMIT_NAMES;
    return out->role >= NAME_TYPE && out->role <= NAME_KEPT && out->index < limit;
}

bool token_read(const uint8_t *key, size_t key_length, const uint8_t *value, size_t value_length,
                struct store_token *out)
{
    if (key_length != 21 || key[0] != TAG_TOKEN)
        return false;
    out->time_s = get_u32(key + 1);
    out->token[0] = get_u64(key + 5);
    out->token[1] = get_u64(key + 13);
    const uint8_t *end = value + value_length;
    const uint8_t *at = read_item(value, end, &out->item);
    out->value = at != NULL && end - at == 8 ? get_u64(at) : 0;
    return at == end || out->value != 0;
}

bool place_read(const uint8_t *value, size_t length, struct store_place *out)
{
    if (length != POSITION_BYTES && length != POSITION_BYTES_BEFORE)
        return false;
    *out = (struct store_place){.position = get_u64(value),
                                .reactions = get_u64(value + 8),
                                .token_horizon_s = get_u32(value + 16),
                                .token_swept_s = get_u32(value + 20)};
    if (length == POSITION_BYTES_BEFORE)
        return true;
    out->newest_s = get_u32(value + 24);
    out->cleared_horizon_s = get_u32(value + 28);
    return true;
}

size_t key_item_part(const uint8_t *key, size_t length)
{
    if (length < 6)
        return 0;
    size_t part = 6 + (size_t)key[5];
    return part <= length ? part : 0;
}

size_t changed_write_head(uint8_t head[KEY_MAX], uint8_t tag, struct id user)
{
    ASSERT(tag == TAG_BY_USER || tag == TAG_CLEARED);
    head[0] = tag;
    put_u16(head + 1, user_prefix(user));
    return (size_t)(write_id(head + 3, user) - head);
}

/* No kind has this index. */
size_t changed_write_end(uint8_t out[KEY_BOUND_MAX], const uint8_t *head, size_t head_length)
{
    _Static_assert(LIMIT_NAMES < UINT8_MAX, "this byte is greater than the index of any kind");
    ASSERT(head_length < KEY_BOUND_MAX);
    memcpy(out, head, head_length);
    out[head_length] = UINT8_MAX;
    return head_length + 1;
}

size_t list_write_reactions(uint8_t head[KEY_MAX], struct id user, uint8_t kind, uint16_t type)
{
    size_t length = changed_write_head(head, TAG_BY_USER, user);
    head[length] = kind;
    put_u16(head + length + 1, type);
    return length + 3;
}

size_t list_write_reactors(uint8_t head[KEY_MAX], struct item item, uint8_t kind)
{
    size_t length = key_write_counters(head, item);
    head[0] = TAG_BY_ITEM;
    head[length] = kind;
    return length + 1;
}

size_t list_write_after(uint8_t out[KEY_BOUND_MAX], const uint8_t *head, size_t head_length,
                        struct store_listed after)
{
    ASSERT(head_length > 0 && head_length <= KEY_MAX);
    memcpy(out, head, head_length);
    if (after.time_s == 0)
        return head_length;
    put_u32(out + head_length, ~after.time_s);
    uint8_t *at = write_id(out + head_length + 4, after.id);
    *at = 0;
    return (size_t)(at + 1 - out);
}

/* No reaction has a time of 0, so no key has this one or begins with it. */
size_t list_write_end(uint8_t out[KEY_BOUND_MAX], const uint8_t *head, size_t head_length)
{
    ASSERT(head_length > 0 && head_length + 4 <= KEY_BOUND_MAX);
    memcpy(out, head, head_length);
    put_u32(out + head_length, UINT32_MAX);
    return head_length + 4;
}

/* The end of a list of one kind and type: all of its keys are before this one. */
static size_t user_head(uint8_t out[KEY_MAX], struct id user)
{
    return list_write_reactions(out, user, 0, 0) - 3;
}

size_t list_write_user(uint8_t out[KEY_BOUND_MAX], struct id user,
                       const struct store_reaction *after)
{
    struct store_reaction place = *after;
    if (place.time_s == 0)
        return user_head(out, user);
    place.user = user;
    size_t length = key_write_by_user(out, &place, place.time_s);
    out[length] = 0;
    return length + 1;
}

/* No kind is 255. */
size_t list_write_user_end(uint8_t out[KEY_BOUND_MAX], struct id user)
{
    size_t length = user_head(out, user);
    out[length] = UINT8_MAX;
    return length + 1;
}

bool list_read(const uint8_t *key, size_t length, size_t head_length, struct store_listed *out)
{
    ASSERT(head_length > 0);
    if (length < head_length + 4)
        return false;
    *out = (struct store_listed){.time_s = ~get_u32(key + head_length)};
    return read_id(key + head_length + 4, key + length, &out->id) == key + length;
}

size_t relation_write_by_user(uint8_t out[KEY_MAX], const uint8_t *key, size_t length,
                              uint32_t time_s)
{
    size_t head = relation_head(key);
    ASSERT(key[0] == TAG_REACTION && head < length && length + 4 <= KEY_MAX);
    memcpy(out, key, head);
    out[0] = TAG_BY_USER;
    put_u32(out + head, ~time_s);
    memcpy(out + head + 4, key + head, length - head);
    return length + 4;
}

size_t table_write_key(uint8_t out[TABLE_KEY_MAX], unsigned table, struct store_bytes key)
{
    ASSERT(store_key_fits(table, key.length));
    size_t group = store_group_length(table);
    return table_write_rest(
        out, table, (struct store_bytes){.data = key.data, .length = (uint32_t)group},
        (struct store_bytes){.data = key.data + group, .length = key.length - (uint32_t)group});
}

size_t table_write_rest(uint8_t out[TABLE_KEY_MAX], unsigned table, struct store_bytes group,
                        struct store_bytes rest)
{
    ASSERT(group.length == store_group_length(table) && rest.length <= STORE_REST_MAX);
    out[0] = TAG_ROW;
    out[1] = (uint8_t)table;
    put_u16(out + 2, (uint16_t)store_group_partition(group.data, group.length));
    memcpy(out + TABLE_HEAD_BYTES, group.data, group.length);
    if (rest.length > 0)
        memcpy(out + TABLE_HEAD_BYTES + group.length, rest.data, rest.length);
    return TABLE_HEAD_BYTES + group.length + rest.length;
}

/* The tag is less than 255, so there is always a byte that can be increased. */
size_t table_write_end(uint8_t out[TABLE_BOUND_MAX], const uint8_t *head, size_t length)
{
    ASSERT(length > 0 && length <= TABLE_BOUND_MAX && head[0] == TAG_ROW);
    memcpy(out, head, length);
    while (out[length - 1] == UINT8_MAX)
        length--;
    out[length - 1]++;
    return length;
}

const char *table_read(const uint8_t *key, size_t key_length, const uint8_t *value,
                       size_t value_length, struct store_row *out)
{
    if (key_length < TABLE_HEAD_BYTES || key[0] != TAG_ROW)
        return "its key is too short";
    if (store_group_length(key[1]) == 0)
        return "there is no such table";
    if (!store_key_fits(key[1], key_length - TABLE_HEAD_BYTES))
        return "no key of this table has this length";
    if (value_length > STORE_VALUE_MAX)
        return "its value is too long";
    *out = (struct store_row){.table = key[1],
                              .key = {.data = key + TABLE_HEAD_BYTES,
                                      .length = (uint32_t)(key_length - TABLE_HEAD_BYTES)},
                              .value = {.data = value, .length = (uint32_t)value_length}};
    if (store_group_partition(out->key.data, store_group_length(out->table)) != get_u16(key + 2))
        return "it is not in the partition of its group";
    return NULL;
}
