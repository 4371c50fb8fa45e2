/*
 * The same events in any cut into windows, each window delivered one to five times and old ones
 * again in between, leave every store in the identical state, row for row. Only how often a clearing
 * is remembered depends on the cut (once a window), so of those the last one of each reaction that
 * is not live is compared: what a client is told.
 */
#include <string.h>
#include <unistd.h>

#include "journal/helper.h"
#include "project/fold.h"
#include "store/memory/store_memory.h"
#include "store/rocksdb/store_rocksdb.h"
#include "strict_store.h"
#include "world.h"

enum { EVENTS = 3000, DUMP_MAX = 4096, TTL_S = 50, CHANGES_TTL_S = 200, PAGE = 50 };

static struct memory_budget budget = {.limit = GIB(1)};
static struct event events[EVENTS];
static uint64_t positions[EVENTS + 1];

/* Every row as text of a fixed form, sorted. */
struct dump {
    char rows[DUMP_MAX][96];
    size_t count;
    uint32_t horizon_s;
};

static char *dump_row(struct dump *dump)
{
    assert_true(dump->count < DUMP_MAX);
    return dump->rows[dump->count++];
}

static enum status dump_reaction(void *context, const struct store_reaction *row)
{
    snprintf(dump_row(context), 96, "r %llx %llx %u %u %llx %llx %u",
             (unsigned long long)row->user.hi, (unsigned long long)row->user.lo, row->kind,
             row->item.type, (unsigned long long)row->item.id.hi,
             (unsigned long long)row->item.id.lo, row->time_s);
    return STATUS_OK;
}

static enum status dump_count(void *context, const struct store_count *row)
{
    snprintf(dump_row(context), 96, "c %u %llx %llx %u %lld", row->item.type,
             (unsigned long long)row->item.id.hi, (unsigned long long)row->item.id.lo, row->name,
             (long long)row->value);
    return STATUS_OK;
}

static enum status dump_name(void *context, const struct store_name *row)
{
    snprintf(dump_row(context), 96, "n %u %u %.*s", row->role, row->index, row->length, row->text);
    return STATUS_OK;
}

/* Those past the horizon need not be kept, so they may be there or not. */
static enum status dump_token(void *context, const struct store_token *row)
{
    struct dump *dump = context;
    if (row->time_s >= dump->horizon_s)
        snprintf(dump_row(dump), 96, "t %llx %llx %u %u %llx %llx",
                 (unsigned long long)row->token[0], (unsigned long long)row->token[1], row->time_s,
                 row->item.type, (unsigned long long)row->item.id.hi,
                 (unsigned long long)row->item.id.lo);
    return STATUS_OK;
}

/* The newest clearing of a reaction comes first. */
static void dump_changed(struct dump *dump, uint32_t user, const struct store_listed *row)
{
    char text[96];
    snprintf(text, sizeof text, "%c %u %u %u %llx %llx ", row->cleared ? 'x' : 's', user, row->kind,
             row->type, (unsigned long long)row->id.hi, (unsigned long long)row->id.lo);
    for (size_t i = 0; i < dump->count; i++)
        if (strncmp(dump->rows[i], text, strlen(text)) == 0)
            return;
    snprintf(dump_row(dump), 96, "%s%u", text, row->time_s);
}

static void dump_changes(struct dump *dump, struct store *store, uint32_t since_s)
{
    for (uint32_t user = 0; user < WORLD_USERS; user++) {
        struct store_listed rows[PAGE];
        struct store_changed page = {.more = true};
        while (page.more) {
            assert_int_equal(store_list_changes(&store->reader, world_user(user), since_s,
                                                page.last, rows, PAGE, &page),
                             STATUS_OK);
            for (size_t i = 0; i < page.count; i++)
                dump_changed(dump, user, &rows[i]);
        }
    }
}

static int compare_rows(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void dump_store(struct dump *dump, struct store *store, uint32_t now_s)
{
    memset(dump, 0, sizeof *dump);
    dump->horizon_s = now_s - TTL_S;
    const struct store_visitor visitor = {.reaction = dump_reaction,
                                          .count = dump_count,
                                          .name = dump_name,
                                          .token = dump_token,
                                          .context = dump};
    assert_int_equal(store_visit(&store->admin, &visitor), STATUS_OK);
    if (store->reader.functions->list_changes != NULL)
        dump_changes(dump, store, now_s - CHANGES_TTL_S);
    qsort(dump->rows, dump->count, sizeof *dump->rows, compare_rows);
}

static void deliver(struct fold *fold, struct store *store, size_t first, size_t past,
                    uint32_t times)
{
    struct store_changes changes;
    uint32_t newest_s = 0;
    for (size_t i = first; i < past; i++) {
        assert_int_equal(fold_add(fold, &events[i]), STATUS_OK);
        newest_s = events[i].time_s;
    }
    fold_take(fold, positions[past], &changes);
    changes.item.token_horizon_s = newest_s - TTL_S;
    changes.newest_s = newest_s;
    changes.user.cleared_horizon_s = newest_s - CHANGES_TTL_S;
    for (uint32_t i = 0; i < times; i++)
        assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
    fold_clear(fold);
}

/* `cut`: windows are shorter than this. */
static void deliver_all(struct chance *chance, struct store *store, uint32_t cut)
{
    struct fold *fold = fold_new(&budget, EVENTS, chance_next(chance));
    assert_non_null(fold);
    size_t earlier = 0;
    for (size_t begin = 0; begin < EVENTS;) {
        size_t end = begin + 1 + chance_below(chance, cut);
        end = end < EVENTS ? end : EVENTS;
        deliver(fold, store, begin, end, 1 + chance_below(chance, 5));
        if (chance_below(chance, 4) == 0)
            deliver(fold, store, earlier, begin, 1); /* as after going back: no new position */
        earlier = begin;
        begin = end;
    }
    fold_free(fold);
}

static void expect_same(const struct dump *expected, const struct dump *found)
{
    assert_int_equal(expected->count, found->count);
    for (size_t i = 0; i < expected->count; i++)
        assert_string_equal(expected->rows[i], found->rows[i]);
}

typedef struct store *open_fn(const char *directory);

static void any_cut(open_fn *open_plain, open_fn *open, int rounds)
{
    static struct dump expected;
    static struct dump found;
    struct chance chance = {test_seed()};
    for (int round = 0; round < rounds; round++) {
        struct world world;
        world_start(&world, chance_next(&chance));
        for (size_t i = 0; i < EVENTS; i++) {
            events[i] = world_next(&world);
            positions[i + 1] = world.position;
        }
        struct store *plain = open_plain(NULL);
        deliver_all(&chance, plain, 1);
        dump_store(&expected, plain, world.now_s);
        store_close(plain);
        assert_true(expected.count > 100);
        static const uint32_t cuts[] = {3, 20, 300, EVENTS * 2};
        for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
            char directory[64];
            directory_make(directory);
            struct store *store = open(directory);
            deliver_all(&chance, store, cuts[i]);
            dump_store(&found, store, world.now_s);
            expect_same(&expected, &found);
            world_expect_store(&world, store);
            store_close(store);
            directory_remove(directory);
        }
    }
    assert_int_equal(memory_used(&budget), 0);
}

static struct store *open_strict(const char *directory)
{
    (void)directory;
    return strict_store_open();
}

static struct store *open_memory(const char *directory)
{
    (void)directory;
    struct store *store = store_memory_open(&budget);
    assert_non_null(store);
    return store;
}

static struct store *open_rocksdb(const char *directory)
{
    const struct store_rocksdb_options options = {.directory = directory,
                                                  .memory_budget = &budget,
                                                  .cache_bytes = MIB(4),
                                                  .write_buffer_bytes = MIB(8),
                                                  .batch_max = EVENTS};
    char problem[256] = "";
    struct store *store = store_rocksdb_open(&options, problem, sizeof problem);
    if (store == NULL)
        fail_msg("%s", problem);
    return store;
}

static void test_strict(void **state)
{
    (void)state;
    any_cut(open_strict, open_strict, 10);
}

static void test_memory(void **state)
{
    (void)state;
    any_cut(open_memory, open_memory, 10);
}

static void test_rocksdb(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    print_message(
        "RocksDB is not built for the thread sanitizer, which would call its locks races\n");
    skip();
#endif
    any_cut(open_memory, open_rocksdb, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strict),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_rocksdb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
