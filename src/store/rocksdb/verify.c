/*
 * Verifies everything in one pass over all rows. Counters and by-item rows have the same order, so
 * a parallel walk over both counts each item's reactions and compares them with its counters.
 * Relation rows and by-user rows have other orders. That all three have the same reactions is shown
 * by their number and by a sum of hashes over all of them, which does not depend on the order. Only
 * if these differ, each reaction is looked up in the other rows to find one to name.
 *
 * Counters whose name is not a kind (views, comments) have no other rows to be compared with. Of table
 * rows only the format is verified: the store does not know what they mean.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/names.h"
#include "store/rocksdb/merge.h"
#include "store/rocksdb/private.h"
#include "store/rocksdb/scan.h"

enum { PROGRESS_ROWS = 100000, KINDS = 256 };

struct tally {
    uint64_t rows;
    uint64_t sum;
};

struct verify {
    struct store_rocksdb *rocks;
    struct store_snapshot *snapshot;
    store_progress_fn *progress;
    void *context;
    struct store_report *report;
    struct tally relations;
    struct tally by_item;
    struct tally by_user;
    uint64_t per_kind[KINDS]; /* by-item rows of the current item */
    bool is_kind[KINDS];
    char types[LIMIT_TYPES][LIMIT_NAME_LENGTH + 1];
    char names[KINDS][LIMIT_NAME_LENGTH + 1];
};

__attribute__((format(printf, 3, 4))) static enum status
disagree(struct verify *verify, const struct item *item, const char *format, ...)
{
    char what[160], id[LIMIT_ID_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    size_t length = id_format(item->id, id);
    const char *type = item->type < LIMIT_TYPES ? verify->types[item->type] : "";
    if (*type != '\0')
        snprintf(verify->report->problem, sizeof(verify->report->problem), "%s:%.*s: %s", type,
                 (int)length, id, what);
    else
        snprintf(verify->report->problem, sizeof(verify->report->problem), "type %u:%.*s: %s",
                 item->type, (int)length, id, what);
    return STATUS_DAMAGED;
}

static enum status unreadable(struct verify *verify, const struct scan *row)
{
    snprintf(verify->report->problem, sizeof(verify->report->problem),
             "a row with the tag %c, a key of %zu bytes and a value of %zu cannot be decoded",
             row->key[0], row->key_length, row->value_length);
    return STATUS_DAMAGED;
}

static void count_row(struct verify *verify)
{
    struct store_report *report = verify->report;
    report->rows++;
    if (report->rows % PROGRESS_ROWS == 0 && verify->progress != NULL) {
        if (report->rows_total < report->rows)
            report->rows_total = report->rows;
        verify->progress(verify->context, report);
    }
}

static void tally_add(struct tally *tally, const struct store_reaction *reaction)
{
    uint64_t hash = hash_mix(id_hash(reaction->user, 1), item_hash(reaction->item, 2));
    tally->rows++;
    tally->sum += hash_mix(hash, (uint64_t)reaction->kind << 32 | reaction->time_s);
}

/* A scan with a read error ended too early: any other difference is a consequence of that. */
static enum status end_scan(struct verify *verify, struct scan *scan, enum status status)
{
    enum status ended = scan_end(scan);
    if (ended == STATUS_OK)
        return status;
    snprintf(verify->report->problem, sizeof(verify->report->problem),
             "rows with the tag %c cannot be read: %s", scan->from[0], status_sentence(ended));
    return ended;
}

static enum status read_names(struct verify *verify)
{
    struct scan scan;
    verify->is_kind[NAME_INDEX_LIKE] = true;
    memcpy(verify->names[NAME_INDEX_LIKE], "like", 4);
    enum status status = STATUS_OK;
    scan_start(&scan, verify->rocks, verify->snapshot->moment, TAG_NAME);
    for (; status == STATUS_OK && !scan_is_done(&scan); scan_next(&scan)) {
        struct store_name name;
        count_row(verify);
        if (!name_read(scan.key, scan.key_length, scan.value, scan.value_length, &name)) {
            status = unreadable(verify, &scan);
        } else if (name.role == NAME_TYPE) {
            memcpy(verify->types[name.index], name.text, name.length);
        } else {
            verify->is_kind[name.index] = name.role == NAME_KIND;
            memcpy(verify->names[name.index], name.text, name.length);
        }
    }
    return end_scan(verify, &scan, status);
}

static enum status read_tokens(struct verify *verify)
{
    struct scan scan;
    enum status status = STATUS_OK;
    scan_start(&scan, verify->rocks, verify->snapshot->moment, TAG_TOKEN);
    for (; status == STATUS_OK && !scan_is_done(&scan); scan_next(&scan)) {
        struct store_token token;
        count_row(verify);
        if (!token_read(scan.key, scan.key_length, scan.value, scan.value_length, &token))
            status = unreadable(verify, &scan);
    }
    return end_scan(verify, &scan, status);
}

/* Counts the by-item rows that begin with `part` by kind. */
static enum status count_item_rows(struct verify *verify, struct scan *scan, const uint8_t *part,
                                   size_t length)
{
    ASSERT(length > 1);
    memset(verify->per_kind, 0, sizeof(verify->per_kind));
    for (; !scan_is_done(scan); scan_next(scan)) {
        struct store_reaction reaction;
        if (scan->key_length < length || memcmp(scan->key + 1, part + 1, length - 1) != 0)
            break;
        count_row(verify);
        if (scan->value_length != 0 || !key_read_by_item(scan->key, scan->key_length, &reaction))
            return unreadable(verify, scan);
        tally_add(&verify->by_item, &reaction);
        verify->per_kind[reaction.kind]++;
    }
    return STATUS_OK;
}

static enum status kind_disagrees(struct verify *verify, const struct item *item, unsigned name,
                                  int64_t value)
{
    char unnamed[16];
    ASSERT(name < KINDS);
    snprintf(unnamed, sizeof(unnamed), "kind %u", name);
    return disagree(verify, item, "the counter %s is %lld, but there are %llu reactions",
                    *verify->names[name] != '\0' ? verify->names[name] : unnamed, (long long)value,
                    (unsigned long long)verify->per_kind[name]);
}

/* Each correct counter sets the number of its kind back to 0. */
static enum status compare_counters(struct verify *verify, const struct item *item,
                                    const uint8_t *value, size_t length)
{
    const uint8_t *end = value + length;
    int before = -1;
    while (value != end) {
        uint8_t name;
        int64_t number;
        if (!counter_read(&value, end, &name, &number) || number == 0 || name <= before)
            return disagree(verify, item, "its counters cannot be decoded");
        before = name;
        verify->report->counts++;
        if (!verify->is_kind[name] && verify->per_kind[name] == 0)
            continue;
        if (number < 0 || (uint64_t)number != verify->per_kind[name])
            return kind_disagrees(verify, item, name, number);
        verify->per_kind[name] = 0;
    }
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (verify->per_kind[kind] != 0)
            return kind_disagrees(verify, item, kind, 0);
    return STATUS_OK;
}

/*
 * Which of the two scans is at the earlier item: less than 0: the counters, greater than 0: the
 * by-item rows.
 */
static int earlier(const struct scan *counters, const struct scan *by_item)
{
    if (scan_is_done(counters) || scan_is_done(by_item))
        return scan_is_done(counters) ? 1 : -1;
    size_t shorter =
        counters->key_length < by_item->key_length ? counters->key_length : by_item->key_length;
    return memcmp(counters->key + 1, by_item->key + 1, shorter - 1);
}

static enum status verify_item(struct verify *verify, struct scan *counters, struct scan *by_item)
{
    uint8_t part[KEY_MAX], value[256 * COUNTER_BYTES_MAX];
    size_t value_length = 0;
    struct item item;
    int order = earlier(counters, by_item);
    const struct scan *first = order <= 0 ? counters : by_item;
    size_t length = key_item_part(first->key, first->key_length);
    if (length == 0 || length > sizeof(part))
        return unreadable(verify, first);
    memcpy(part, first->key, length);
    part[0] = TAG_COUNTERS;
    if (!key_read_counters(part, length, &item))
        return unreadable(verify, first);
    if (order <= 0) {
        if (counters->key_length != length || counters->value_length > sizeof(value))
            return unreadable(verify, counters);
        value_length = counters->value_length;
        memcpy(value, counters->value, value_length);
        count_row(verify);
        scan_next(counters);
    }
    enum status status = count_item_rows(verify, by_item, part, length);
    return status != STATUS_OK ? status : compare_counters(verify, &item, value, value_length);
}

static enum status verify_items(struct verify *verify)
{
    struct scan counters, by_item;
    enum status status = STATUS_OK;
    scan_start(&counters, verify->rocks, verify->snapshot->moment, TAG_COUNTERS);
    scan_start(&by_item, verify->rocks, verify->snapshot->moment, TAG_BY_ITEM);
    while (status == STATUS_OK && !(scan_is_done(&counters) && scan_is_done(&by_item)))
        status = verify_item(verify, &counters, &by_item);
    status = end_scan(verify, &counters, status);
    return end_scan(verify, &by_item, status);
}

static enum status verify_relations(struct verify *verify)
{
    struct scan scan;
    enum status status = STATUS_OK;
    scan_start(&scan, verify->rocks, verify->snapshot->moment, TAG_REACTION);
    for (; status == STATUS_OK && !scan_is_done(&scan); scan_next(&scan)) {
        struct store_reaction reaction;
        count_row(verify);
        if (scan.value_length != 4 || !key_read_reaction(scan.key, scan.key_length, &reaction)) {
            status = unreadable(verify, &scan);
        } else {
            reaction.time_s = get_u32(scan.value);
            tally_add(&verify->relations, &reaction);
        }
    }
    verify->report->reactions = verify->relations.rows;
    return end_scan(verify, &scan, status);
}

static enum status verify_by_user(struct verify *verify)
{
    struct scan scan;
    enum status status = STATUS_OK;
    scan_start(&scan, verify->rocks, verify->snapshot->moment, TAG_BY_USER);
    for (; status == STATUS_OK && !scan_is_done(&scan); scan_next(&scan)) {
        struct store_reaction reaction;
        count_row(verify);
        if (scan.value_length != 0 || !key_read_by_user(scan.key, scan.key_length, &reaction))
            status = unreadable(verify, &scan);
        else
            tally_add(&verify->by_user, &reaction);
    }
    return end_scan(verify, &scan, status);
}

/*
 * Only the format of these rows is verified: the relation rows decide whether a row still has a
 * meaning.
 */
static enum status read_cleared(struct verify *verify)
{
    struct scan scan;
    enum status status = STATUS_OK;
    scan_start(&scan, verify->rocks, verify->snapshot->moment, TAG_CLEARED);
    for (; status == STATUS_OK && !scan_is_done(&scan); scan_next(&scan)) {
        struct store_reaction reaction;
        count_row(verify);
        if (scan.value_length != 0 || !key_read_changed(scan.key, scan.key_length, &reaction) ||
            reaction.time_s == 0)
            status = unreadable(verify, &scan);
    }
    return end_scan(verify, &scan, status);
}

static enum status read_tables(struct verify *verify)
{
    struct scan scan;
    enum status status = STATUS_OK;
    scan_start(&scan, verify->rocks, verify->snapshot->moment, TAG_ROW);
    for (; status == STATUS_OK && !scan_is_done(&scan); scan_next(&scan)) {
        struct store_row row;
        count_row(verify);
        const char *wrong =
            table_read(scan.key, scan.key_length, scan.value, scan.value_length, &row);
        if (wrong == NULL)
            continue;
        snprintf(verify->report->problem, sizeof(verify->report->problem),
                 "a row of table %u, with a key of %zu bytes and a value of %zu, is damaged: %s",
                 scan.key_length > 1 ? (unsigned)scan.key[1] : 0U, scan.key_length,
                 scan.value_length, wrong);
        status = STATUS_DAMAGED;
    }
    return end_scan(verify, &scan, status);
}

/* The two lists in which a relation must be. */
struct listing {
    uint8_t tag;
    const char *whose;
    bool (*read)(const uint8_t *key, size_t length, struct store_reaction *out);
    size_t (*write)(uint8_t out[KEY_MAX], const struct store_reaction *reaction, uint32_t time_s);
};

static const struct listing listing_item = {
    .tag = TAG_BY_ITEM, .whose = "item", .read = key_read_by_item, .write = key_write_by_item};
static const struct listing listing_user = {
    .tag = TAG_BY_USER, .whose = "user", .read = key_read_by_user, .write = key_write_by_user};

static enum status name_listing(struct verify *verify, const struct store_reaction *reaction,
                                const struct listing *listing, const char *what)
{
    char user[LIMIT_ID_TEXT];
    size_t length = id_format(reaction->user, user);
    return disagree(verify, &reaction->item, "a reaction %s its %s's list (user %.*s, kind %u)",
                    what, listing->whose, (int)length, user, reaction->kind);
}

/* The relation exists; is it on both lists? */
static enum status find_listed(struct verify *verify, const struct listing *listing,
                               const struct scan *row)
{
    struct store_reaction reaction;
    uint8_t key[KEY_MAX];
    size_t length;
    bool found;
    if (!key_read_reaction(row->key, row->key_length, &reaction))
        return unreadable(verify, row);
    size_t key_length = listing->write(key, &reaction, get_u32(row->value));
    enum status status = rocksdb_read_row(verify->rocks, verify->snapshot->read, key, key_length,
                                          NULL, 0, &length, &found);
    if (status != STATUS_OK || found)
        return status;
    return name_listing(verify, &reaction, listing, "is missing in");
}

/* The reverse: a listed reaction must have a relation with the same time. */
static enum status find_relation(struct verify *verify, const struct listing *listing,
                                 const struct scan *row)
{
    struct store_reaction reaction;
    uint8_t key[KEY_MAX], time_s[4];
    size_t length;
    bool found;
    if (!listing->read(row->key, row->key_length, &reaction))
        return unreadable(verify, row);
    size_t key_length = key_write_reaction(key, &reaction);
    enum status status = rocksdb_read_row(verify->rocks, verify->snapshot->read, key, key_length,
                                          time_s, sizeof(time_s), &length, &found);
    if (status != STATUS_OK || (found && length == 4 && get_u32(time_s) == reaction.time_s))
        return status;
    return name_listing(verify, &reaction, listing, found ? "has another time in" : "is only in");
}

static enum status find_each(struct verify *verify, const struct listing *listing, uint8_t tag,
                             enum status (*find)(struct verify *, const struct listing *,
                                                 const struct scan *))
{
    struct scan scan;
    enum status status = STATUS_OK;
    scan_start(&scan, verify->rocks, verify->snapshot->moment, tag);
    for (; status == STATUS_OK && !scan_is_done(&scan); scan_next(&scan))
        status = find(verify, listing, &scan);
    return end_scan(verify, &scan, status);
}

static enum status compare_listing(struct verify *verify, const struct listing *listing,
                                   const struct tally *listed)
{
    if (verify->relations.rows == listed->rows && verify->relations.sum == listed->sum)
        return STATUS_OK;
    enum status status = find_each(verify, listing, listing->tag, find_relation);
    if (status == STATUS_OK)
        status = find_each(verify, listing, TAG_REACTION, find_listed);
    ASSERT(status != STATUS_OK);
    return status;
}

static enum status compare_place(struct verify *verify)
{
    struct store_place place;
    bool found;
    enum status status = rocksdb_read_place(verify->rocks, verify->snapshot->read, &place, &found);
    if (status == STATUS_OK && place.reactions != verify->relations.rows) {
        snprintf(verify->report->problem, sizeof(verify->report->problem),
                 "the store says it has %llu reactions, but there are %llu",
                 (unsigned long long)place.reactions, (unsigned long long)verify->relations.rows);
        return STATUS_DAMAGED;
    }
    return status;
}

static enum status verify_all(struct verify *verify)
{
    enum status status = read_names(verify);
    if (status == STATUS_OK)
        status = read_tokens(verify);
    if (status == STATUS_OK)
        status = verify_items(verify);
    if (status == STATUS_OK)
        status = verify_relations(verify);
    if (status == STATUS_OK)
        status = verify_by_user(verify);
    if (status == STATUS_OK)
        status = read_cleared(verify);
    if (status == STATUS_OK)
        status = read_tables(verify);
    if (status == STATUS_OK)
        status = compare_listing(verify, &listing_item, &verify->by_item);
    if (status == STATUS_OK)
        status = compare_listing(verify, &listing_user, &verify->by_user);
    if (status == STATUS_OK)
        status = compare_place(verify);
    if (status != STATUS_OK && verify->report->problem[0] == '\0')
        snprintf(verify->report->problem, sizeof(verify->report->problem),
                 "a row cannot be read: %s", status_sentence(status));
    return status;
}

enum status rocksdb_verify(struct store_admin *admin, store_progress_fn *progress, void *context,
                           struct store_report *report)
{
    *report = (struct store_report){0};
    struct verify *verify = calloc(1, sizeof(*verify));
    if (verify == NULL)
        return STATUS_NO_MEMORY;
    verify->rocks = rocksdb_of(store_of_admin(admin));
    verify->progress = progress;
    verify->context = context;
    verify->report = report;
    verify->snapshot = rocksdb_take_snapshot(&verify->rocks->store.reader);
    if (verify->snapshot == NULL) {
        free(verify);
        return STATUS_NO_MEMORY;
    }
    rocksdb_property_int(verify->rocks->database, "rocksdb.estimate-num-keys", &report->rows_total);
    enum status status = verify_all(verify);
    if (status == STATUS_OK)
        report->rows_total = report->rows;
    if (progress != NULL)
        progress(context, report);
    rocksdb_drop_snapshot(&verify->rocks->store.reader, verify->snapshot);
    free(verify);
    return status;
}
