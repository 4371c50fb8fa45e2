/*
 * A page of a list is one seek and as many steps as it has rows: the keys of a list lie together in
 * the list's own order. Both ends are given to RocksDB as bounds, so that it does not look at what
 * others' removals left behind beyond them.
 */
#include "base/log.h"
#include "store/rocksdb/private.h"

struct bounds {
    uint8_t from[KEY_BOUND_MAX];
    uint8_t to[KEY_BOUND_MAX];
};

static rocksdb_readoptions_t *read_between(struct bounds *bounds, const uint8_t *head,
                                           size_t head_length, struct store_listed after)
{
    rocksdb_readoptions_t *read = tune_read(NULL, false);
    size_t from_length = list_write_after(bounds->from, head, head_length, after);
    size_t to_length = list_write_end(bounds->to, head, head_length);
    rocksdb_readoptions_set_iterate_lower_bound(read, (const char *)bounds->from, from_length);
    rocksdb_readoptions_set_iterate_upper_bound(read, (const char *)bounds->to, to_length);
    return read;
}

static enum status take_rows(rocksdb_iterator_t *iterator, size_t head_length,
                             struct store_listed *out, size_t limit, size_t *count)
{
    rocksdb_iter_seek_to_first(iterator);
    while (rocksdb_iter_valid(iterator)) {
        size_t length;
        const uint8_t *key = (const uint8_t *)rocksdb_iter_key(iterator, &length);
        if (!list_read(key, length, head_length, &out[*count])) {
            log_error("store: a row of sort %c does not read", key[0]);
            return STATUS_DAMAGED;
        }
        if (++*count == limit)
            return STATUS_OK;
        rocksdb_iter_next(iterator);
    }
    char *problem = NULL;
    rocksdb_iter_get_error(iterator, &problem);
    return problem_status(problem, "reading");
}

static enum status read_page(struct store *store, const uint8_t *head, size_t head_length,
                             struct store_listed after, struct store_listed *out, size_t limit,
                             size_t *count)
{
    struct store_rocksdb *rocks = rocksdb_of(store);
    struct bounds bounds;
    *count = 0;
    if (limit == 0)
        return STATUS_OK;
    rocksdb_readoptions_t *read = read_between(&bounds, head, head_length, after);
    rocksdb_iterator_t *iterator = rocksdb_create_iterator(rocks->database, read);
    enum status status = take_rows(iterator, head_length, out, limit, count);
    rocksdb_iter_destroy(iterator);
    rocksdb_readoptions_destroy(read);
    return status;
}

enum status rocksdb_list_reactions(struct store *store, struct id user, uint8_t kind, uint16_t type,
                                   struct store_listed after, struct store_listed *out,
                                   size_t limit, size_t *count)
{
    uint8_t head[KEY_MAX];
    size_t length = list_write_reactions(head, user, kind, type);
    return read_page(store, head, length, after, out, limit, count);
}

enum status rocksdb_list_reactors(struct store *store, struct item item, uint8_t kind,
                                  struct store_listed after, struct store_listed *out, size_t limit,
                                  size_t *count)
{
    uint8_t head[KEY_MAX];
    size_t length = list_write_reactors(head, item, kind);
    return read_page(store, head, length, after, out, limit, count);
}
