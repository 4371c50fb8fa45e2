/*
 * Keys and values of the rows in RocksDB. keys.c describes their format. Functions that write return the
 * number of bytes. Functions that read return false if the bytes are not valid.
 */
#ifndef LAUD_STORE_ROCKSDB_KEYS_H
#define LAUD_STORE_ROCKSDB_KEYS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "store/store.h"

enum {
    TAG_COUNTERS = 'C',
    TAG_BY_ITEM = 'I',
    TAG_TOKEN = 'K',
    TAG_NAME = 'N',
    TAG_POSITION = 'P',
    TAG_REACTION = 'R',
    TAG_ROW = 'T',
    TAG_BY_USER = 'U',
    TAG_VERSION = 'V',
    TAG_CLEARED = 'X',
};

enum {
    STORE_FORMAT_VERSION = 4, /* the newest version; a store gets it with its first table row */
    STORE_FORMAT_PLAIN = 3,   /* the version of a store without table rows */
    STORE_FORMAT_BEFORE = 2,  /* the oldest version that is upgraded when a store is opened */
    KEY_HASH_BYTES = 2,
    KEY_MAX = 1 + KEY_HASH_BYTES + 2 + 17 + 1 + 4 + 17,
    TABLE_HEAD_BYTES = 1 + 1 + KEY_HASH_BYTES,
    TABLE_KEY_MAX = TABLE_HEAD_BYTES + STORE_KEY_MAX,
    TABLE_BOUND_MAX = TABLE_KEY_MAX + 1,
    TOKEN_VALUE_MAX = 2 + 17 + 8,
    POSITION_BYTES = 32,
    POSITION_BYTES_BEFORE = 24,
};

/* The value of the position row. */
struct store_place {
    uint64_t position;
    uint64_t reactions;         /* number of reactions that are set */
    uint32_t token_horizon_s;   /* Tokens that are older are ignored. */
    uint32_t token_swept_s;     /* Rows of tokens that are older are deleted. */
    uint32_t newest_s;          /* time of the newest event */
    uint32_t cleared_horizon_s; /* Rows of what was cleared before this may be gone. */
};

size_t key_write_reaction(uint8_t out[KEY_MAX], const struct store_reaction *reaction);
size_t key_write_by_item(uint8_t out[KEY_MAX], const struct store_reaction *reaction,
                         uint32_t time_s);
size_t key_write_by_user(uint8_t out[KEY_MAX], const struct store_reaction *reaction,
                         uint32_t time_s);
size_t key_write_cleared(uint8_t out[KEY_MAX], const struct store_reaction *reaction);
size_t key_write_counters(uint8_t out[KEY_MAX], struct item item);
size_t key_write_name(uint8_t out[KEY_MAX], uint8_t role, uint16_t index);
size_t key_write_token(uint8_t out[KEY_MAX], uint32_t time_s, const uint64_t token[2]);
size_t token_write_value(uint8_t out[TOKEN_VALUE_MAX], const struct store_token *token);
void place_write(uint8_t out[POSITION_BYTES], const struct store_place *place);

/* A relation key has no time: time_s is in the value. Other keys have the time. */
bool key_read_reaction(const uint8_t *key, size_t length, struct store_reaction *out);
bool key_read_by_item(const uint8_t *key, size_t length, struct store_reaction *out);
bool key_read_by_user(const uint8_t *key, size_t length, struct store_reaction *out);
/* The key of a by-user row or of a cleared row. For the latter, time_s is when it was cleared. */
bool key_read_changed(const uint8_t *key, size_t length, struct store_reaction *out);
/* When the reaction of a cleared row was cleared. 0: it is another type of row. */
uint32_t key_cleared_time(const uint8_t *key, size_t length);
bool key_read_counters(const uint8_t *key, size_t length, struct item *out);
bool name_read(const uint8_t *key, size_t key_length, const uint8_t *value, size_t value_length,
               struct store_name *out);
bool token_read(const uint8_t *key, size_t key_length, const uint8_t *value, size_t value_length,
                struct store_token *out);
bool place_read(const uint8_t *value, size_t length, struct store_place *out);

/*
 * Table rows: tag, table, partition of the group, key. table_write_key writes the key of a row, and
 * table_write_rest that of a row of this group. table_write_end writes the first key after all keys that
 * begin with these bytes.
 */
size_t table_write_key(uint8_t out[TABLE_KEY_MAX], unsigned table, struct store_bytes key);
size_t table_write_rest(uint8_t out[TABLE_KEY_MAX], unsigned table, struct store_bytes group,
                        struct store_bytes rest);
size_t table_write_end(uint8_t out[TABLE_BOUND_MAX], const uint8_t *head, size_t length);
/* The bytes of the row point into `key` and `value`. NULL: OK. Otherwise it says what is wrong. */
const char *table_read(const uint8_t *key, size_t key_length, const uint8_t *value,
                       size_t value_length, struct store_row *out);

/* Length of tag, hash, type and id, with which counters keys and by-item keys begin. */
size_t key_item_part(const uint8_t *key, size_t length); /* 0: too short */

/*
 * Lists. All keys of one list begin with the same bytes, the `head`; time and id follow. Its keys are those
 * from the head to the end (exclusive). To continue after an entry, a scan starts at the key of that
 * entry followed by a zero byte.
 */
enum { KEY_BOUND_MAX = KEY_MAX + 1 };
size_t list_write_reactions(uint8_t head[KEY_MAX], struct id user, uint8_t kind, uint16_t type);
size_t list_write_reactors(uint8_t head[KEY_MAX], struct item item, uint8_t kind);
size_t list_write_after(uint8_t out[KEY_BOUND_MAX], const uint8_t *head, size_t head_length,
                        struct store_listed after);
size_t list_write_end(uint8_t out[KEY_BOUND_MAX], const uint8_t *head, size_t head_length);
/* The same for all reactions of a user. */
size_t list_write_user(uint8_t out[KEY_BOUND_MAX], struct id user,
                       const struct store_reaction *after);
size_t list_write_user_end(uint8_t out[KEY_BOUND_MAX], struct id user);
bool list_read(const uint8_t *key, size_t length, size_t head_length, struct store_listed *out);

/* All that a user set or cleared, depending on the tag: from the head to the end (exclusive). */
size_t changed_write_head(uint8_t head[KEY_MAX], uint8_t tag, struct id user);
size_t changed_write_end(uint8_t out[KEY_BOUND_MAX], const uint8_t *head, size_t head_length);

/* From a valid relation key: the length of the head of its user's list, and the by-user key. */
static inline size_t relation_head(const uint8_t *key)
{
    return 1 + KEY_HASH_BYTES + 1 + (size_t)key[1 + KEY_HASH_BYTES] + 1 + 2;
}
size_t relation_write_by_user(uint8_t out[KEY_MAX], const uint8_t *key, size_t length,
                              uint32_t time_s);

static inline void put_u16(uint8_t *out, uint16_t value)
{
    value = htobe16(value);
    memcpy(out, &value, sizeof(value));
}

static inline void put_u32(uint8_t *out, uint32_t value)
{
    value = htobe32(value);
    memcpy(out, &value, sizeof(value));
}

static inline void put_u64(uint8_t *out, uint64_t value)
{
    value = htobe64(value);
    memcpy(out, &value, sizeof(value));
}

static inline uint16_t get_u16(const uint8_t *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof(value));
    return be16toh(value);
}

static inline uint32_t get_u32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof(value));
    return be32toh(value);
}

static inline uint64_t get_u64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return be64toh(value);
}

#endif
