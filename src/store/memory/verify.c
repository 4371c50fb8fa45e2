/*
 * Three passes over the rows. The first one compares the two rows of each reaction, counts the rows that
 * are kept with items, and finds out which names are kinds. The second one compares these counts with the
 * counters. The last one finds counts that have no counter.
 */
#include "store/memory/verify.h"

#include <stdio.h>

#include "base/names.h"

struct recount {
    const struct memory_rows *rows;
    struct memory_rows expected; /* a counter for each item and kind with reactions */
    bool is_kind[256];
    struct store_report *report;
};

typedef enum status recount_fn(struct recount *recount, const struct memory_row *row);

static enum status for_each(const struct memory_rows *rows, recount_fn *function,
                            struct recount *recount)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < rows->head_count; i++)
        for (const struct memory_row *row = rows->heads[i]; status == STATUS_OK && row != NULL;
             row = row->next)
            status = function(recount, row);
    return status;
}

/* A reaction has two rows, one with its user and one with its item, and both say the same. */
static enum status check_other(const struct recount *recount, const struct memory_row *row)
{
    struct memory_key key = row->key;
    char id[LIMIT_ID_TEXT];
    key.row_type = key.row_type == ROW_REACTION ? ROW_BY_ITEM : ROW_REACTION;
    const struct memory_row *other = memory_rows_find(recount->rows, &key);
    if (other != NULL && other->value == row->value)
        return STATUS_OK;
    size_t length = id_format(key.item, id);
    snprintf(recount->report->problem, sizeof(recount->report->problem),
             "type %u:%.*s: the rows of a reaction of kind %u differ", key.type, (int)length, id,
             key.name);
    return STATUS_DAMAGED;
}

static enum status recount_row(struct recount *recount, const struct memory_row *row)
{
    struct item item = {.id = row->key.item, .type = row->key.type};
    if (row->key.row_type == ROW_NAME && row->key.name == NAME_KIND)
        recount->is_kind[row->key.type] = true;
    if (row->key.row_type == ROW_REACTION)
        recount->report->reactions++;
    if (row->key.row_type == ROW_REACTION || row->key.row_type == ROW_BY_ITEM) {
        enum status status = check_other(recount, row);
        recount->report->rows++;
        if (status != STATUS_OK)
            return status;
    }
    if (row->key.row_type != ROW_BY_ITEM)
        return STATUS_OK;
    struct memory_key key = memory_key_item(ROW_COUNT, item, (uint8_t)row->key.name);
    struct memory_row *counter = memory_rows_make(&recount->expected, &key);
    if (counter == NULL)
        return STATUS_NO_MEMORY;
    counter->value++;
    return STATUS_OK;
}

static enum status disagree(const struct recount *recount, const struct memory_key *key,
                            int64_t counter, int64_t reactions)
{
    char id[LIMIT_ID_TEXT];
    size_t length = id_format(key->item, id);
    snprintf(recount->report->problem, sizeof(recount->report->problem),
             "type %u:%.*s: the counter %u is %lld, but there are %lld reactions", key->type,
             (int)length, id, key->name, (long long)counter, (long long)reactions);
    return STATUS_DAMAGED;
}

/* A count that has the right counter becomes 0, so that the last pass finds the others. */
static enum status compare_count(struct recount *recount, const struct memory_row *row)
{
    if (row->key.row_type != ROW_COUNT)
        return STATUS_OK;
    struct memory_row *expected = memory_rows_find(&recount->expected, &row->key);
    recount->report->counts++;
    recount->report->rows++;
    if (expected == NULL && !recount->is_kind[row->key.name])
        return STATUS_OK;
    if (expected == NULL || expected->value != row->value)
        return disagree(recount, &row->key, row->value, expected == NULL ? 0 : expected->value);
    expected->value = 0;
    return STATUS_OK;
}

static enum status find_missing(struct recount *recount, const struct memory_row *row)
{
    return row->value == 0 ? STATUS_OK : disagree(recount, &row->key, 0, row->value);
}

enum status memory_verify(const struct memory_rows *rows, struct store_report *report)
{
    struct recount recount = {.rows = rows, .report = report, .is_kind[NAME_INDEX_LIKE] = true};
    enum status status = for_each(rows, recount_row, &recount);
    if (status == STATUS_OK)
        status = for_each(rows, compare_count, &recount);
    if (status == STATUS_OK)
        status = for_each(&recount.expected, find_missing, &recount);
    memory_rows_destroy(&recount.expected);
    report->rows_total = report->rows;
    return status;
}
