/*
 * A page of a list takes one seek and one step for each row, because the keys of a list are
 * adjacent and in the order of the list. Both ends of the list are given to RocksDB as bounds, so
 * that it does not read deleted rows of other lists.
 */
#include "base/log.h"
#include "store/rocksdb/private.h"

struct bounds {
    uint8_t from[KEY_BOUND_MAX];
    uint8_t to[KEY_BOUND_MAX];
    size_t from_length;
    size_t to_length;
};

/* The page that is being filled: of one list, or of all reactions of a user. */
struct page {
    size_t head_length; /* length of the common beginning of the list's keys */
    struct store_listed *listed;
    struct store_reaction *reactions; /* NULL: the page is of one list */
    size_t limit;
    size_t count;
};

static bool take_row(struct page *page, const uint8_t *key, size_t length)
{
    ASSERT(page->count < page->limit);
    /* Exactly one of the two is set. */
    ASSERT((page->listed == NULL) != (page->reactions == NULL));
    if (page->reactions != NULL) {
        page->reactions[page->count] = (struct store_reaction){0};
        return key_read_by_user(key, length, &page->reactions[page->count]);
    }
    return list_read(key, length, page->head_length, &page->listed[page->count]);
}

static enum status take_rows(rocksdb_iterator_t *iterator, struct page *page)
{
    rocksdb_iter_seek_to_first(iterator);
    while (rocksdb_iter_valid(iterator)) {
        size_t length;
        const uint8_t *key = (const uint8_t *)rocksdb_iter_key(iterator, &length);
        if (!take_row(page, key, length)) {
            log_error("store: a row with the tag %c cannot be decoded", key[0]);
            return STATUS_DAMAGED;
        }
        if (++page->count == page->limit)
            return STATUS_OK;
        rocksdb_iter_next(iterator);
    }
    char *problem = NULL;
    rocksdb_iter_get_error(iterator, &problem);
    return problem_status(problem, "reading");
}

static enum status read_between(struct store_reader *reader, const struct bounds *bounds,
                                struct page *page, size_t *count)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_reader(reader));
    *count = 0;
    if (page->limit == 0)
        return STATUS_OK;
    rocksdb_readoptions_t *read = tune_read(NULL, 0);
    rocksdb_readoptions_set_iterate_lower_bound(read, (const char *)bounds->from,
                                                bounds->from_length);
    rocksdb_readoptions_set_iterate_upper_bound(read, (const char *)bounds->to, bounds->to_length);
    rocksdb_iterator_t *iterator = rocksdb_create_iterator(rocks->database, read);
    enum status status = take_rows(iterator, page);
    rocksdb_iter_destroy(iterator);
    rocksdb_readoptions_destroy(read);
    ASSERT(page->count <= page->limit);
    *count = page->count;
    return status;
}

static enum status read_page(struct store_reader *reader, const uint8_t *head, size_t head_length,
                             struct store_listed after, struct store_listed *out, size_t limit,
                             size_t *count)
{
    struct bounds bounds;
    struct page page = {.head_length = head_length, .listed = out, .limit = limit};
    bounds.from_length = list_write_after(bounds.from, head, head_length, after);
    bounds.to_length = list_write_end(bounds.to, head, head_length);
    return read_between(reader, &bounds, &page, count);
}

enum status rocksdb_list_reactions(struct store_reader *reader, struct id user, uint8_t kind,
                                   uint16_t type, struct store_listed after,
                                   struct store_listed *out, size_t limit, size_t *count)
{
    uint8_t head[KEY_MAX];
    size_t length = list_write_reactions(head, user, kind, type);
    return read_page(reader, head, length, after, out, limit, count);
}

enum status rocksdb_list_reactors(struct store_reader *reader, struct item item, uint8_t kind,
                                  struct store_listed after, struct store_listed *out, size_t limit,
                                  size_t *count)
{
    uint8_t head[KEY_MAX];
    size_t length = list_write_reactors(head, item, kind);
    return read_page(reader, head, length, after, out, limit, count);
}

enum status rocksdb_list_user(struct store_reader *reader, struct id user,
                              const struct store_reaction *after, struct store_reaction *out,
                              size_t limit, size_t *count)
{
    struct bounds bounds;
    struct page page = {.reactions = out, .limit = limit};
    bounds.from_length = list_write_user(bounds.from, user, after);
    bounds.to_length = list_write_user_end(bounds.to, user);
    return read_between(reader, &bounds, &page, count);
}
