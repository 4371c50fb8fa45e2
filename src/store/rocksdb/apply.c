/*
 * Applies a batch. All of it, including the position row, is written in one step (sink.c). Rows are
 * written in key order, tag by tag; the rows of each tag are collected separately, so that less
 * memory is needed at a time.
 *
 * By-item and by-user rows have the time in their keys. If the store already has a reaction, its
 * time is read first (replaced.h). If the store lacks a reaction that it should have, store and
 * journal disagree, and nothing is applied.
 *
 * RocksDB must never run into a full disk: below a minimum of free space nothing is applied, and
 * this minimum is enough to flush the memtables.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include "base/log.h"
#include "store/rocksdb/by_user.h"
#include "store/rocksdb/merge.h"
#include "store/rocksdb/private.h"
#include "store/rocksdb/replaced.h"
#include "store/rocksdb/sink.h"
#include "store/rocksdb/table_write.h"

enum { TOKEN_SWEEP_S = 64 }; /* token rows are deleted in ranges of so many seconds */

struct apply {
    struct store_rocksdb *rocks;
    const struct store_changes *changes;
    struct rows *rows;
    struct sink sink;
    struct store_place place; /* the new value */
    struct replaced user;     /* the reactions of the two spans, and the times they replace */
    struct replaced item;
    bool apart_written; /* the second half, if another thread writes it */
    uint32_t format;    /* the version row that it writes; 0: none */
};

/* The value of the row, in the form that by_user.h expects: new time and old time, 0 for none. */
static bool pile_relations(struct apply *apply)
{
    const struct replaced *user = &apply->user;
    if (!rows_start(apply->rows, user->count + user->lived))
        return false;
    for (size_t i = 0; i < user->count; i++) {
        const struct store_reaction *change = &user->reactions[i];
        if (!change->was_live && change->time_s == 0)
            continue;
        uint8_t *key = rows_room(apply->rows);
        size_t length = key_write_reaction(key, change);
        put_u32(key + length, change->time_s);
        put_u32(key + length + 4, replaced_time(user, i));
        ASSERT(length <= KEY_MAX && (replaced_time(user, i) != 0) == change->was_live);
        rows_add(apply->rows, length, 8);
    }
    rows_sort(apply->rows);
    return true;
}

static void write_relations(struct apply *apply)
{
    const struct rows *rows = apply->rows;
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        const uint8_t *value = row_value(rows, row);
        rows_prefetch(rows, i);
        if (get_u32(value) != 0)
            sink_put(&apply->sink, row_key(rows, row), row->key_length, value, 4);
        else
            sink_delete(&apply->sink, row_key(rows, row), row->key_length);
    }
}

/* The value of the row is one byte: does the row stay? */
static void pile_one_by_item(struct apply *apply, const struct store_reaction *change,
                             uint32_t time_s, bool stays)
{
    ASSERT(time_s != 0); /* no reaction has this time */
    uint8_t *key = rows_room(apply->rows);
    size_t length = key_write_by_item(key, change, time_s);
    key[length] = stays;
    rows_add(apply->rows, length, 1);
}

static bool pile_by_item(struct apply *apply)
{
    const struct replaced *item = &apply->item;
    if (!rows_start(apply->rows, item->count + item->lived))
        return false;
    for (size_t i = 0; i < item->count; i++) {
        const struct store_reaction *change = &item->reactions[i];
        uint32_t old = replaced_time(item, i);
        if (old == change->time_s)
            continue;
        if (old != 0)
            pile_one_by_item(apply, change, old, false);
        if (change->time_s != 0)
            pile_one_by_item(apply, change, change->time_s, true);
    }
    rows_sort(apply->rows);
    return true;
}

static void write_by_item(struct apply *apply)
{
    const struct rows *rows = apply->rows;
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        rows_prefetch(rows, i);
        if (*row_value(rows, row) != 0)
            sink_put(&apply->sink, row_key(rows, row), row->key_length, (const uint8_t *)"", 0);
        else
            sink_delete(&apply->sink, row_key(rows, row), row->key_length);
    }
}

/*
 * For the ordering, the key ends with the name of the counter, and the operand begins there, too.
 * So the counters of one item are adjacent and in order.
 */
static bool pile_counts(struct apply *apply)
{
    const struct store_changes *changes = apply->changes;
    if (!rows_start(apply->rows, changes->item.count_count))
        return false;
    for (size_t i = 0; i < changes->item.count_count; i++) {
        const struct store_count *count = &changes->item.counts[i];
        uint8_t *key = rows_room(apply->rows);
        size_t length = key_write_counters(key, count->item);
        size_t operand = counter_write(key + length, count->name, count->value);
        rows_add(apply->rows, length + 1, operand - 1);
    }
    rows_sort(apply->rows);
    return true;
}

static void write_counts(struct apply *apply)
{
    const struct rows *rows = apply->rows;
    uint8_t operand[256 * COUNTER_BYTES_MAX];
    for (size_t i = 0, next; i < rows->count; i = next) {
        const uint8_t *key = row_key(rows, &rows->row[i]);
        ASSERT(rows->row[i].key_length > 1);
        size_t key_length = rows->row[i].key_length - 1U;
        size_t length = 0;
        for (next = i; next < rows->count; next++) {
            const struct row *row = &rows->row[next];
            rows_prefetch(rows, next);
            if (row->key_length != key_length + 1 ||
                memcmp(row_key(rows, row), key, key_length) != 0)
                break;
            ASSERT(length + COUNTER_BYTES_MAX <= sizeof(operand));
            memcpy(operand + length, row_key(rows, row) + key_length, row->value_length + 1U);
            length += row->value_length + 1U;
        }
        ASSERT(next > i && length > 0);
        sink_merge(&apply->sink, key, key_length, operand, length);
    }
}

/*
 * Puts the rows in order and writes them. Of several rows with the same key, which have the same
 * contents, one is written.
 */
static void write_rows(struct apply *apply)
{
    const struct rows *rows = apply->rows;
    rows_sort(apply->rows);
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i], *next = row + 1;
        if (i + 1 < rows->count && next->key_length == row->key_length &&
            memcmp(row_key(rows, row), row_key(rows, next), row->key_length) == 0)
            continue;
        sink_put(&apply->sink, row_key(rows, row), row->key_length, row_value(rows, row),
                 row->value_length);
    }
}

static bool write_names(struct apply *apply)
{
    const struct store_changes *changes = apply->changes;
    if (!rows_start(apply->rows, changes->name_count))
        return false;
    for (size_t i = 0; i < changes->name_count; i++) {
        const struct store_name *name = &changes->names[i];
        ASSERT(name->length <= LIMIT_NAME_LENGTH);
        uint8_t *key = rows_room(apply->rows);
        size_t length = key_write_name(key, name->role, name->index);
        memcpy(key + length, name->text, name->length);
        rows_add(apply->rows, length, name->length);
    }
    write_rows(apply);
    return true;
}

/*
 * A deleted range makes every later read a little slower until it is compacted, so ranges are
 * deleted only from time to time.
 */
static void sweep_tokens(struct apply *apply)
{
    struct store_place *place = &apply->place;
    if (apply->changes->item.token_horizon_s > place->token_horizon_s)
        place->token_horizon_s = apply->changes->item.token_horizon_s;
    if (place->token_horizon_s - place->token_swept_s < TOKEN_SWEEP_S)
        return;
    uint8_t from[KEY_MAX], to[KEY_MAX];
    const uint64_t zero[2] = {0, 0};
    size_t from_length = key_write_token(from, place->token_swept_s, zero);
    size_t to_length = key_write_token(to, place->token_horizon_s, zero);
    sink_delete_range(&apply->sink, from, from_length, to, to_length);
    place->token_swept_s = place->token_horizon_s;
}

static bool write_tokens(struct apply *apply)
{
    const struct store_changes *changes = apply->changes;
    sweep_tokens(apply);
    if (!rows_start(apply->rows, changes->item.token_count))
        return false;
    for (size_t i = 0; i < changes->item.token_count; i++) {
        const struct store_token *token = &changes->item.tokens[i];
        if (token->time_s < apply->place.token_horizon_s)
            continue;
        uint8_t *key = rows_room(apply->rows);
        size_t key_length = key_write_token(key, token->time_s, token->token);
        rows_add(apply->rows, key_length, token_write_value(key + key_length, token));
    }
    write_rows(apply);
    return true;
}

/* Rows before the horizon (when a journal is read again) need not be written. */
static inline bool is_remembered(const struct apply *apply, const struct store_reaction *change)
{
    return change->time_s == 0 && change->cleared_s != 0 &&
           change->cleared_s >= apply->place.cleared_horizon_s;
}

static void pile_cleared(struct apply *apply, const struct store_reaction *changes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_remembered(apply, &changes[i]))
            rows_add(apply->rows, key_write_cleared(rows_room(apply->rows), &changes[i]), 0);
}

static bool write_cleared(struct apply *apply)
{
    const struct store_changes *changes = apply->changes;
    size_t most = changes->user.transient_count;
    for (size_t i = 0; i < changes->user.reaction_count; i++)
        most += changes->user.reactions[i].time_s == 0;
    if (!rows_start(apply->rows, most))
        return false;
    pile_cleared(apply, changes->user.reactions, changes->user.reaction_count);
    pile_cleared(apply, changes->user.transient, changes->user.transient_count);
    write_rows(apply);
    return true;
}

static void write_place(struct apply *apply)
{
    uint8_t key = TAG_POSITION, value[POSITION_BYTES];
    place_write(value, &apply->place);
    sink_put(&apply->sink, &key, 1, value, sizeof(value));
}

static void write_format(struct apply *apply)
{
    uint8_t key = TAG_VERSION, value[4];
    if (apply->format == 0)
        return;
    put_u32(value, apply->format);
    sink_put(&apply->sink, &key, 1, value, sizeof(value));
}

static bool write_up_to_place(struct apply *apply)
{
    _Static_assert(TAG_COUNTERS < TAG_BY_ITEM && TAG_BY_ITEM < TAG_TOKEN && TAG_TOKEN < TAG_NAME &&
                       TAG_NAME < TAG_POSITION && TAG_POSITION < TAG_REACTION &&
                       TAG_REACTION < TAG_ROW && TAG_ROW < TAG_BY_USER &&
                       TAG_BY_USER < TAG_VERSION && TAG_VERSION < TAG_CLEARED,
                   "this is the order of keys");
    if (!pile_counts(apply))
        return false;
    write_counts(apply);
    if (!pile_by_item(apply))
        return false;
    write_by_item(apply);
    if (!write_tokens(apply) || !write_names(apply))
        return false;
    write_place(apply);
    return true;
}

static bool write_beyond_place(struct apply *apply)
{
    if (!pile_relations(apply))
        return false;
    write_relations(apply);
    if (!table_write_rows(&apply->sink, apply->changes->rows, apply->changes->row_count))
        return false;
    by_user_write(&apply->sink, apply->rows);
    write_format(apply);
    return write_cleared(apply);
}

static void *apart_run(void *argument)
{
    struct apply *apart = argument;
    apart->apart_written = write_beyond_place(apart);
    return NULL;
}

/* Writes the second half in another thread, with separate rows and a separate file. */
static enum status write_apart(struct apply *apply)
{
    ASSERT(apply->sink.file != NULL);
    struct apply apart = *apply;
    pthread_t thread;
    apart.rows = &apply->rocks->rows_apart;
    sink_start_second(&apart.sink, apply->rocks);
    bool begun = pthread_create(&thread, NULL, apart_run, &apart) == 0;
    bool written = write_up_to_place(apply);
    if (begun)
        pthread_join(thread, NULL);
    else
        apart_run(&apart);
    return sink_finish(&apply->sink, &apart.sink, apply->rocks,
                       written && apart.apart_written ? STATUS_OK : STATUS_NO_MEMORY);
}

/* Does the change have anything that programs of an earlier version cannot read? */
static bool needs_format(const struct store_changes *changes)
{
    bool needs = changes->row_count > 0;
    for (size_t i = 0; !needs && i < changes->item.token_count; i++)
        needs = changes->item.tokens[i].value != 0;
    return needs;
}

static enum status write_all(struct apply *apply)
{
    if (apply->sink.file != NULL && apply->rocks->bulk_apart &&
        apply->changes->user.reaction_count > 0)
        return write_apart(apply);
    bool written = write_up_to_place(apply) && write_beyond_place(apply);
    return sink_finish(&apply->sink, NULL, apply->rocks, written ? STATUS_OK : STATUS_NO_MEMORY);
}

/* The new contents of the position row. The number of reactions is taken from the user's span. */
static void count_changes(struct apply *apply)
{
    const struct store_changes *changes = apply->changes;
    for (size_t i = 0; i < changes->user.reaction_count; i++)
        apply->place.reactions += changes->user.reactions[i].time_s != 0;
    apply->place.reactions -= apply->user.lived;
    ASSERT(changes->position > apply->place.position);
    apply->place.position = changes->position;
    if (changes->newest_s > apply->place.newest_s)
        apply->place.newest_s = changes->newest_s;
    if (changes->user.cleared_horizon_s > apply->place.cleared_horizon_s)
        apply->place.cleared_horizon_s = changes->user.cleared_horizon_s;
}

enum status rocksdb_free_space(const struct store_rocksdb *rocks, uint64_t *bytes)
{
    struct statvfs space;
    if (statvfs(rocks->directory, &space) != 0) {
        log_error("store: %s: %s", rocks->directory, strerror(errno));
        return STATUS_IO_FAILED;
    }
    *bytes = (uint64_t)space.f_bavail * space.f_frsize;
    return STATUS_OK;
}

enum status rocksdb_check_space(const struct store_rocksdb *rocks)
{
    uint64_t bytes;
    enum status status = rocksdb_free_space(rocks, &bytes);
    return status == STATUS_OK && bytes < rocks->space_floor ? STATUS_DISK_FULL : status;
}

static uint64_t background_errors(struct store_rocksdb *rocks)
{
    uint64_t errors = 0;
    rocksdb_property_int(rocks->database, "rocksdb.background-errors", &errors);
    return errors;
}

/* The batch was written. */
static void note_applied(struct store_rocksdb *rocks, const struct apply *apply)
{
    const struct store_place *place = &apply->place;
    ASSERT(place->position == apply->changes->position);
    ASSERT(place->newest_s >= rocks->place.newest_s &&
           place->cleared_horizon_s >= rocks->place.cleared_horizon_s);
    rocks->place = *place;
    if (apply->format != 0)
        rocks->format = apply->format;
    atomic_store(&rocks->reactions, place->reactions);
    atomic_store(&rocks->position, place->position);
    atomic_store(&rocks->newest_s, place->newest_s);
    atomic_store(&rocks->cleared_horizon_s, place->cleared_horizon_s);
}

static enum status write_batch(struct apply *apply)
{
    const struct store_changes *changes = apply->changes;
    struct store_rocksdb *rocks = apply->rocks;
    enum status status =
        sink_start(&apply->sink, rocks,
                   2 * changes->user.reaction_count + changes->item.reaction_count +
                       changes->user.transient_count + changes->item.count_count +
                       changes->item.token_count + changes->row_count);
    if (status != STATUS_OK)
        return status;
    bool renewed;
    status = crowded_renew(rocks, &apply->sink, &renewed);
    if (status != STATUS_OK)
        return sink_finish(&apply->sink, NULL, rocks, status);
    status = write_all(apply);
    if (status == STATUS_OK && renewed)
        crowded_finish(rocks);
    return status;
}

static enum status apply_beyond(struct store_rocksdb *rocks, const struct store_changes *changes)
{
    struct apply apply = {
        .rocks = rocks,
        .changes = changes,
        .rows = &rocks->rows,
        .place = rocks->place,
        .user = replaced_of(changes->user.reactions, changes->user.reaction_count),
        .item = replaced_of(changes->item.reactions, changes->item.reaction_count)};
    enum status status = rocksdb_check_space(rocks);
    if (status != STATUS_OK)
        return status;
    count_changes(&apply);
    status = replaced_find(rocks, &apply.user, &apply.item);
    if (status != STATUS_OK)
        return status;
    if (rocks->format < STORE_FORMAT_VERSION && needs_format(changes))
        apply.format = STORE_FORMAT_VERSION;
    uint64_t errors = background_errors(rocks);
    status = write_batch(&apply);
    if (status != STATUS_OK)
        return status;
    note_applied(rocks, &apply);
    atomic_store(&rocks->background_errors, errors);
    return STATUS_OK;
}

enum status rocksdb_apply(struct store_applier *applier, const struct store_changes *changes)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_applier(applier));
    if (rocks->read_only)
        return STATUS_READONLY;
    if (changes->position <= rocks->place.position)
        return STATUS_OK;
    enum status status = apply_beyond(rocks, changes);
    atomic_store(&rocks->failed, (int)status);
    return status;
}

static enum status flush_and_mark(struct store_rocksdb *rocks)
{
    rocksdb_flushoptions_t *options = rocksdb_flushoptions_create();
    rocksdb_flushoptions_set_wait(options, 1);
    char *problem = NULL;
    rocksdb_flush(rocks->database, options, &problem);
    rocksdb_flushoptions_destroy(options);
    if (problem != NULL)
        return problem_status(problem, "flushing");
    int result = store_mark_write(rocks->directory, rocks->place.position);
    if (result == 0)
        return STATUS_OK;
    log_error("store: the file " MARK_NAME " cannot be written: %s", strerror(-result));
    return result == -ENOSPC || result == -EDQUOT ? STATUS_DISK_FULL : STATUS_IO_FAILED;
}

enum status rocksdb_flush_all(struct store_applier *applier)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_applier(applier));
    if (rocks->read_only)
        return STATUS_READONLY;
    enum status status = flush_and_mark(rocks);
    atomic_store(&rocks->failed, (int)status);
    if (status == STATUS_OK) {
        ASSERT(atomic_load(&rocks->durable) <= rocks->place.position);
        atomic_store(&rocks->durable, rocks->place.position);
        atomic_store(&rocks->expired_s, rocks->place.cleared_horizon_s);
    }
    return status;
}
