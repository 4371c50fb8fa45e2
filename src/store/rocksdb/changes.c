/*
 * Reads what a user changed since a time: for each (kind, type), the by-user rows from the newest
 * down to that time, then a seek to the next list; and then the same for cleared reactions. The
 * number of rows that are read for one page is bounded, so a page may end before it is full.
 *
 * Cleared reactions that are set again are left out; the relation rows say which, and many are read
 * at a time. The iterators and this lookup may see different moments; a reaction that changes in
 * between is reported in the next round in any case.
 */
#include <stdlib.h>

#include "base/log.h"
#include "store/rocksdb/private.h"

struct walk {
    struct store_rocksdb *rocks;
    struct id user;
    uint32_t since_s;
    struct store_listed after;
    struct store_listed *out;
    size_t limit;
    size_t looks;
    struct store_changed *changed;
};

/*
 * All rows of one tag that the user has. RocksDB keeps a pointer to `end`, so this struct must not
 * be copied.
 */
struct span {
    uint8_t head[KEY_BOUND_MAX];
    uint8_t end[KEY_BOUND_MAX];
    size_t head_length;
    rocksdb_readoptions_t *read;
    rocksdb_iterator_t *iterator; /* NULL: these rows are not read */
};

static void span_open(struct span *span, struct store_rocksdb *rocks, uint8_t tag, struct id user)
{
    span->head_length = changed_write_head(span->head, tag, user);
    size_t end_length = changed_write_end(span->end, span->head, span->head_length);
    span->read = tune_read(NULL, 0);
    rocksdb_readoptions_set_iterate_upper_bound(span->read, (const char *)span->end, end_length);
    span->iterator = rocksdb_create_iterator(rocks->database, span->read);
}

static void span_close(struct span *span)
{
    if (span->iterator == NULL)
        return;
    rocksdb_iter_destroy(span->iterator);
    rocksdb_readoptions_destroy(span->read);
}

static void seek(const struct span *span, const uint8_t *key, size_t length)
{
    rocksdb_iter_seek(span->iterator, (const char *)key, length);
}

/* Seeks the first row, or the row after `after`. */
static void span_begin(const struct span *span, const struct walk *walk)
{
    uint8_t head[KEY_MAX], key[KEY_BOUND_MAX];
    const struct store_listed *after = &walk->after;
    if (after->time_s == 0 || after->cleared != (span->head[0] == TAG_CLEARED)) {
        seek(span, span->head, span->head_length);
        return;
    }
    size_t length = list_write_reactions(head, walk->user, after->kind, after->type);
    head[0] = span->head[0];
    seek(span, key, list_write_after(key, head, length, *after));
}

/* Seeks the first row of the list after the list of this key. */
static void span_skip_list(const struct span *span, const uint8_t *key)
{
    uint8_t end[KEY_BOUND_MAX];
    size_t length = relation_head(key);
    seek(span, end, list_write_end(end, key, length));
}

static enum status walk_span(struct walk *walk, const struct span *span)
{
    struct store_changed *changed = walk->changed;
    changed->more = false;
    for (span_begin(span, walk); rocksdb_iter_valid(span->iterator); walk->looks++) {
        changed->more = changed->count == walk->limit || walk->looks == LIMIT_CHANGES_LOOKS;
        if (changed->more)
            return STATUS_OK;
        size_t length;
        struct store_reaction row;
        const uint8_t *key = (const uint8_t *)rocksdb_iter_key(span->iterator, &length);
        if (!key_read_changed(key, length, &row)) {
            log_error("store: a row with the tag %c cannot be decoded", span->head[0]);
            return STATUS_DAMAGED;
        }
        changed->last = (struct store_listed){.time_s = row.time_s,
                                              .type = row.item.type,
                                              .kind = row.kind,
                                              .cleared = key[0] == TAG_CLEARED,
                                              .id = row.item.id};
        if (row.time_s < walk->since_s) {
            span_skip_list(span, key);
        } else {
            ASSERT(changed->count < walk->limit);
            walk->out[changed->count++] = changed->last;
            rocksdb_iter_next(span->iterator);
        }
    }
    char *problem = NULL;
    rocksdb_iter_get_error(span->iterator, &problem);
    return problem_status(problem, "reading");
}

/* The cleared reactions are the last ones, from `first` on. */
static enum status drop_live(struct walk *walk, size_t first)
{
    struct store_changed *changed = walk->changed;
    ASSERT(first <= changed->count);
    size_t count = changed->count - first;
    if (count == 0)
        return STATUS_OK;
    struct store_reaction *keys = malloc(count * sizeof(*keys));
    if (keys == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const struct store_listed *row = &walk->out[first + i];
        keys[i] = (struct store_reaction){
            .user = walk->user, .kind = row->kind, .item = {.id = row->id, .type = row->type}};
    }
    enum status status = rocksdb_read_reactions(&walk->rocks->store.reader, keys, count);
    changed->count = first;
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        if (keys[i].time_s == 0)
            walk->out[changed->count++] = walk->out[first + i];
    free(keys);
    return status;
}

static enum status walk_both(struct walk *walk, const struct span *set, const struct span *cleared)
{
    enum status status = set->iterator == NULL ? STATUS_OK : walk_span(walk, set);
    if (status != STATUS_OK || cleared->iterator == NULL || walk->changed->more)
        return status;
    size_t first = walk->changed->count;
    status = walk_span(walk, cleared);
    return status == STATUS_OK ? drop_live(walk, first) : status;
}

/*
 * Is the answer complete? The client must not ask for changes before the horizon. No compaction had
 * removed later rows when the iterator was made, because the horizon is always ahead of compactions
 * and never decreases. A cursor with a time after the newest event is from a later state than this
 * store has, which is then an older copy.
 */
static bool is_remembered(const struct store_rocksdb *rocks, uint32_t since_s, uint32_t newest_s)
{
    return since_s == 0 || (since_s >= atomic_load(&rocks->cleared_horizon_s) &&
                            since_s <= (newest_s == 0 ? 1 : newest_s));
}

enum status rocksdb_list_changes(struct store_reader *reader, struct id user, uint32_t since_s,
                                 struct store_listed after, struct store_listed *out, size_t limit,
                                 struct store_changed *changed)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_reader(reader));
    struct walk walk = {.rocks = rocks,
                        .user = user,
                        .since_s = since_s,
                        .after = after,
                        .out = out,
                        .limit = limit,
                        .changed = changed};
    struct span set = {0}, cleared = {0};
    *changed = (struct store_changed){.last = after, .newest_s = atomic_load(&rocks->newest_s)};
    if (!after.cleared)
        span_open(&set, rocks, TAG_BY_USER, user);
    if (since_s != 0)
        span_open(&cleared, rocks, TAG_CLEARED, user);
    enum status status = is_remembered(rocks, since_s, changed->newest_s)
                             ? walk_both(&walk, &set, &cleared)
                             : STATUS_START_OVER;
    span_close(&set);
    span_close(&cleared);
    return status;
}
