/* Visits all rows of the requested types and partitions, as of one moment. */
#include "base/log.h"
#include "store/rocksdb/merge.h"
#include "store/rocksdb/private.h"
#include "store/rocksdb/scan.h"

struct visit {
    struct store_rocksdb *rocks;
    const rocksdb_snapshot_t *moment;
    const struct store_visitor *visitor;
    uint32_t token_horizon_s;
};

typedef enum status visit_row_fn(struct visit *visit, const struct scan *row);

static enum status bad_row(const struct scan *row)
{
    ASSERT(row->key != NULL && row->key_length > 0);
    log_error("store: a row with the tag %c cannot be decoded", row->key[0]);
    return STATUS_DAMAGED;
}

static enum status visit_reaction(struct visit *visit, const struct scan *row)
{
    struct store_reaction reaction = {0};
    if (row->value_length != 4 || !key_read_reaction(row->key, row->key_length, &reaction))
        return bad_row(row);
    reaction.time_s = get_u32(row->value);
    return visit->visitor->reaction(visit->visitor->context, &reaction);
}

static enum status visit_counters(struct visit *visit, const struct scan *row)
{
    struct store_count count = {0};
    if (!key_read_counters(row->key, row->key_length, &count.item))
        return bad_row(row);
    const uint8_t *at = row->value, *end = row->value + row->value_length;
    while (at != end) {
        if (!counter_read(&at, end, &count.name, &count.value) || count.value == 0)
            return bad_row(row);
        enum status status = visit->visitor->count(visit->visitor->context, &count);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status visit_name(struct visit *visit, const struct scan *row)
{
    struct store_name name;
    if (!name_read(row->key, row->key_length, row->value, row->value_length, &name))
        return bad_row(row);
    return visit->visitor->name(visit->visitor->context, &name);
}

static enum status visit_token(struct visit *visit, const struct scan *row)
{
    struct store_token token = {0};
    if (!token_read(row->key, row->key_length, row->value, row->value_length, &token))
        return bad_row(row);
    if (token.time_s < visit->token_horizon_s)
        return STATUS_OK;
    return visit->visitor->token(visit->visitor->context, &token);
}

static enum status visit_tag(struct visit *visit, uint8_t tag, visit_row_fn *each)
{
    const struct store_visitor *visitor = visit->visitor;
    bool has_parts = tag == TAG_REACTION || tag == TAG_COUNTERS;
    struct scan scan;
    if (has_parts && visitor->partition_end != 0)
        scan_start_partitions(&scan, visit->rocks, visit->moment, tag, visitor->partition_first,
                              visitor->partition_end);
    else
        scan_start(&scan, visit->rocks, visit->moment, tag);
    enum status status = STATUS_OK;
    for (; status == STATUS_OK && !scan_is_done(&scan); scan_next(&scan))
        status = each(visit, &scan);
    enum status ended = scan_end(&scan);
    return status != STATUS_OK ? status : ended;
}

static enum status visit_table(struct visit *visit, enum store_table table)
{
    const struct store_visitor *visitor = visit->visitor;
    struct scan scan;
    scan_start_table(&scan, visit->rocks, visit->moment, table, visitor->partition_first,
                     visitor->partition_end);
    enum status status = STATUS_OK;
    for (; status == STATUS_OK && !scan_is_done(&scan); scan_next(&scan)) {
        struct store_row row;
        if (table_read(scan.key, scan.key_length, scan.value, scan.value_length, &row) != NULL)
            status = bad_row(&scan);
        else
            status = visitor->row(visitor->context, &row);
    }
    enum status ended = scan_end(&scan);
    return status != STATUS_OK ? status : ended;
}

static enum status visit_tables(struct visit *visit)
{
    enum status status = STATUS_OK;
    for (unsigned table = 1; status == STATUS_OK && table < STORE_TABLES; table++)
        if (store_group_length(table) != 0 && store_visits_table(visit->visitor, table))
            status = visit_table(visit, table);
    return status;
}

static enum status visit_all(struct visit *visit)
{
    const struct store_visitor *visitor = visit->visitor;
    enum status status = STATUS_OK;
    if (visitor->name != NULL)
        status = visit_tag(visit, TAG_NAME, visit_name);
    if (status == STATUS_OK && visitor->count != NULL)
        status = visit_tag(visit, TAG_COUNTERS, visit_counters);
    if (status == STATUS_OK && visitor->reaction != NULL)
        status = visit_tag(visit, TAG_REACTION, visit_reaction);
    if (status == STATUS_OK && visitor->token != NULL)
        status = visit_tag(visit, TAG_TOKEN, visit_token);
    if (status == STATUS_OK && visitor->row != NULL)
        status = visit_tables(visit);
    return status;
}

enum status rocksdb_visit(struct store_admin *admin, const struct store_visitor *visitor)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_admin(admin));
    struct store_snapshot *snapshot = rocksdb_take_snapshot(&rocks->store.reader);
    if (snapshot == NULL)
        return STATUS_NO_MEMORY;
    struct store_place place;
    bool found;
    enum status status = rocksdb_read_place(rocks, snapshot->read, &place, &found);
    if (status == STATUS_OK) {
        struct visit visit = {.rocks = rocks,
                              .moment = snapshot->moment,
                              .visitor = visitor,
                              .token_horizon_s = place.token_horizon_s};
        status = visit_all(&visit);
    }
    rocksdb_drop_snapshot(&rocks->store.reader, snapshot);
    return status;
}
