#include "rocksdb_support.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/names.h"
#include "conform/directory.h"
#include "spans.h"

enum { LIKES = 10 };

char test_directory[] = "/tmp/laud-rocksdb-XXXXXX";

int test_directory_setup(void **state)
{
    (void)state;
    directory_make(test_directory);
    return 0;
}

int test_directory_teardown(void **state)
{
    (void)state;
    directory_remove(test_directory);
    return 0;
}

char *test_path(const char *name)
{
    static char path[320];
    snprintf(path, sizeof(path), "%s/%s", test_directory, name);
    return path;
}

struct store *test_open(uint32_t bulk_min, bool read_only, char problem[256])
{
    const struct store_rocksdb_options options = {.directory = test_directory,
                                                  .cache_bytes = MIB(1),
                                                  .write_buffer_bytes = MIB(2),
                                                  .bulk_min = bulk_min,
                                                  .read_only = read_only};
    problem[0] = '\0';
    struct store *store = store_rocksdb_open(&options, problem, 256);
    if (store == NULL)
        assert_string_not_equal(problem, "");
    return store;
}

struct store *test_must_open(uint32_t bulk_min)
{
    char problem[256];
    struct store *store = test_open(bulk_min, false, problem);
    assert_string_equal(problem, "");
    assert_non_null(store);
    return store;
}

static struct store_reaction like(uint64_t position, uint64_t item)
{
    return (struct store_reaction){
        .user = {.hi = position % 2 ? position : 0, .lo = position * 1000 + item},
        .item.id.lo = item,
        .time_s = (uint32_t)position + 100};
}

enum status test_apply(struct store *store, uint64_t position)
{
    struct store_reaction reactions[LIKES + 1];
    struct store_count counts[LIKES];
    size_t used = 0;
    for (uint64_t item = 0; item < LIKES; item++) {
        reactions[item] = like(position, item);
        if (item > 0 || position == 1)
            counts[used++] = (struct store_count){.item.id.lo = item, .value = 1};
    }
    reactions[LIKES] = like(position - 1, 0);
    reactions[LIKES].time_s = 0;
    reactions[LIKES].was_live = true;
    struct store_name name = {
        .role = NAME_TYPE, .index = 0, .length = 5, .text = {'v', 'i', 'd', 'e', 'o'}};
    return store_apply(&store->applier, &(struct store_changes){
                                            BOTH_SPANS(reactions, LIKES + (position > 1)),
                                            .item.counts = counts, .item.count_count = used,
                                            .names = &name, .name_count = 1, .position = position});
}

void test_fill(struct store *store, uint64_t last)
{
    for (uint64_t position = store_position(&store->applier) + 1; position <= last; position++)
        assert_int_equal(test_apply(store, position), STATUS_OK);
}

static enum status answers_reactions(struct store *store, uint64_t position)
{
    for (uint64_t of = 1; of <= position + 1; of++) {
        struct store_reaction keys[LIKES];
        for (uint64_t item = 0; item < LIKES; item++)
            keys[item] = like(of, item);
        enum status status = store_read_reactions(&store->reader, keys, LIKES);
        if (status != STATUS_OK)
            return status;
        for (uint64_t item = 0; item < LIKES; item++) {
            bool live = item > 0 ? of <= position : of == position;
            assert_int_equal(keys[item].time_s, live ? of + 100 : 0);
        }
    }
    return STATUS_OK;
}

static enum status answers_items(struct store *store, uint64_t position)
{
    struct store_item items[LIKES];
    struct store_values values = {0};
    for (uint64_t item = 0; item < LIKES; item++)
        items[item] = (struct store_item){.item.id.lo = item};
    enum status status = store_read_items(&store->reader, NULL, items, LIKES, &values);
    for (uint64_t item = 0; status == STATUS_OK && item < LIKES; item++) {
        assert_int_equal(items[item].count, position > 0);
        if (position > 0)
            assert_int_equal(values.values[items[item].first].value, item > 0 ? position : 1);
    }
    free(values.values);
    return status;
}

/* The likers of an item are those of every batch, but for the first item; each likes one item. */
static enum status answers_lists(struct store *store, uint64_t position)
{
    enum { PAGE = 16 };
    for (uint64_t item = 0; item < LIKES; item++) {
        struct store_listed page[PAGE], after = {0};
        uint64_t of = position;
        size_t count = PAGE;
        while (count == PAGE) {
            enum status status = store_list_reactors(&store->reader, (struct item){.id.lo = item},
                                                     0, after, page, PAGE, &count);
            if (status != STATUS_OK)
                return status;
            for (size_t i = 0; i < count; i++, of = item == 0 ? 0 : of - 1) {
                assert_int_equal(page[i].time_s, of + 100);
                assert_true(id_equal(page[i].id, like(of, item).user));
                after = page[i];
            }
        }
        assert_int_equal(of, 0);
        enum status status = store_list_reactions(&store->reader, like(position, item).user, 0, 0,
                                                  (struct store_listed){0}, page, PAGE, &count);
        if (status != STATUS_OK)
            return status;
        assert_int_equal(count, position > 0);
        if (position > 0)
            assert_true(page[0].time_s == position + 100 && page[0].id.lo == item);
    }
    return STATUS_OK;
}

static enum status count_one(void *context, const struct store_reaction *reaction)
{
    assert_in_range(reaction->item.id.lo, 0, LIKES - 1);
    ++*(uint64_t *)context;
    return STATUS_OK;
}

enum status test_answers(struct store *store)
{
    uint64_t position = store_position(&store->applier), visited = 0;
    uint64_t expected = position == 0 ? 0 : position * (LIKES - 1) + 1;
    struct store_report report;
    const struct store_visitor visitor = {.reaction = count_one, .context = &visited};
    enum status status = answers_reactions(store, position);
    if (status == STATUS_OK)
        status = answers_items(store, position);
    if (status == STATUS_OK)
        status = answers_lists(store, position);
    if (status == STATUS_OK)
        status = store_visit(&store->admin, &visitor);
    if (status != STATUS_OK)
        return status;
    assert_int_equal(visited, expected);
    status = store_verify(&store->admin, NULL, NULL, &report);
    if (status == STATUS_OK)
        assert_int_equal(report.reactions, expected);
    else
        assert_string_not_equal(report.problem, "");
    return status;
}

void test_write_row(const uint8_t *key, size_t key_length, const void *value, size_t length)
{
    test_write_runs(key, key_length, value, length, 1);
}

void test_write_runs(const uint8_t *key, size_t key_length, const void *value, size_t length,
                     unsigned runs)
{
    const struct store_rocksdb_options options = {.directory = test_directory,
                                                  .write_buffer_bytes = MIB(2)};
    rocksdb_cache_t *cache = rocksdb_cache_create_lru(MIB(1));
    rocksdb_options_t *tuned = tune_options(&options, false, cache);
    rocksdb_options_set_disable_auto_compactions(tuned, runs > 1);
    char *problem = NULL;
    rocksdb_t *database = rocksdb_open(tuned, test_directory, &problem);
    assert_null(problem);
    rocksdb_writeoptions_t *write = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(write, 1);
    rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
    for (unsigned i = 0; i < runs; i++) {
        if (value != NULL)
            rocksdb_put(database, write, (const char *)key, key_length, value, length, &problem);
        else
            rocksdb_delete(database, write, (const char *)key, key_length, &problem);
        assert_null(problem);
        rocksdb_flush(database, flush, &problem);
        assert_null(problem);
    }
    rocksdb_flushoptions_destroy(flush);
    rocksdb_writeoptions_destroy(write);
    rocksdb_close(database);
    rocksdb_options_destroy(tuned);
    rocksdb_cache_destroy(cache);
}
