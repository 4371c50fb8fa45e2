/*
 * The memory tier: over RocksDB, over the store in memory, and without a store. The argument says which
 * of the three. The tier, its store, filters and a projector that runs when it is told to are the
 * bed of tests/hot.
 */
#include "hot_suite.h"

#include "directory.h"
#include "hot/support.h"
#include "store/rocksdb/store_rocksdb.h"

static struct memory_budget rocksdb_budget = {.limit = MIB(256)};
static char directory[] = "/tmp/laud-hot-XXXXXX";
static bool made; /* the directory was */

static void remove_store(void)
{
    if (made)
        directory_remove(directory);
    made = false;
}

/* A new, empty store each time: after a crash the bed writes to it what was flushed before. */
static struct store *open_rocksdb(struct bed *bed)
{
    (void)bed;
    char problem[256] = "";
    remove_store();
    directory_make(directory);
    made = true;
    const struct store_rocksdb_options options = {.directory = directory,
                                                  .memory_budget = &rocksdb_budget,
                                                  .cache_bytes = MIB(4),
                                                  .write_buffer_bytes = MIB(6),
                                                  .batch_max = 1 << 20};
    struct store *store = store_rocksdb_open(&options, problem, sizeof(problem));
    assert_string_equal(problem, "");
    return store;
}

/* The names that tests of comments use, and what the options say of comments. */
static struct names *names;
static struct comment_policy *policy;

static void add_name(enum name_role role, const char *text, uint16_t wanted)
{
    uint16_t index;
    assert_int_equal(names_intern(names, role, text, strlen(text), &index), STATUS_OK);
    assert_int_equal(index, wanted);
    comment_policy_learn(policy, role, index, text, strlen(text));
}

static void open_names(void)
{
    char problem[256] = "";
    const struct comment_policy_options options = {.links = COMMENT_ANY_LINKS,
                                                   .words = "",
                                                   .dislike = "dislike",
                                                   .report = "report",
                                                   .report_at = 1,
                                                   .orders = "*"};
    policy = comment_policy_new(&options, problem, sizeof problem);
    assert_string_equal(problem, "");
    names = names_new();
    assert_true(policy != NULL && names != NULL);
    const char *const types[] = {"a", "b", "c", COMMENT_TYPE_NAME};
    for (unsigned i = 0; i <= SUITE_COMMENT_TYPE; i++)
        add_name(NAME_TYPE, types[i], (uint16_t)i);
    comment_policy_learn(policy, NAME_TYPE, suite_item(0).type, "z", 1);
    add_name(NAME_KIND, "dislike", SUITE_DISLIKE);
    add_name(NAME_KIND, "report", SUITE_REPORT);
}

static void discard_heads(struct bed *bed, const struct item *parents, size_t count)
{
    if (bed->hot != NULL) /* not while the store is being made anew */
        hot_memory_discard_heads(bed->hot, parents, count);
}

static void use_comments(struct bed *bed)
{
    bed_use_comments(bed, names);
    bed->parents = discard_heads;
}

static void *open_tier(const struct hot_suite_options *options, bool stored, bool rocksdb)
{
    struct bed *bed = malloc(sizeof(*bed));
    assert_non_null(bed);
    open_names();
    struct hot_memory_options memory = bed_options();
    memory.shelf_max = options->shelf_max;
    memory.board_entries = options->board_entries;
    memory.token_ttl_s = options->token_ttl_s;
    memory.exclusive = options->exclusive;
    memory.seed = options->seed;
    memory.comments = policy;
    memory.names = names;
    memory.head_bytes = MIB(1);
    if (stored)
        bed_open_over(bed, GIB(1), memory, rocksdb ? open_rocksdb : NULL);
    else
        bed_open(bed, GIB(1), memory);
    if (stored)
        use_comments(bed);
    bed->changes_ttl_s = options->changes_ttl_s;
    hot_memory_set_reach(bed->hot, bed_reach, bed);
    return bed;
}

static void *open_over_rocksdb(const struct hot_suite_options *options)
{
    return open_tier(options, true, true);
}

static void *open_over_memory(const struct hot_suite_options *options)
{
    return open_tier(options, true, false);
}

static void *open_alone(const struct hot_suite_options *options)
{
    return open_tier(options, false, false);
}

static struct hot *hot_of(void *tier)
{
    return ((struct bed *)tier)->hot;
}

static void run(void *tier, struct hot_request *request, struct hot_scratch *scratch)
{
    hot_memory_run_blocking(hot_of(tier), 0, request, 1, scratch);
}

static void settle(void *tier)
{
    struct bed *bed = tier;
    if (bed->store == NULL)
        return;
    bed_project_all(bed);
    bed_keep(bed, 1); /* twice: rows that were replayed are completed, and boards wait for that */
    bed_keep(bed, 1);
}

static void restart(void *tier, uint32_t now_s)
{
    struct bed *bed = tier;
    if (bed->store == NULL)
        bed_replay(bed, now_s);
    else
        bed_crash(bed, now_s);
    hot_memory_set_reach(bed->hot, bed_reach, bed);
}

static void disturb(void *tier, struct chance *chance, uint32_t odds, uint32_t now_s)
{
    struct bed *bed = tier;
    if (bed->store != NULL)
        bed_disturb(bed, chance, odds, now_s);
    else if (chance_below(chance, odds) == 0)
        restart(tier, now_s);
}

static void project_again(void *tier, struct chance *chance, uint32_t now_s)
{
    struct bed *bed = tier;
    bed_project_all(bed);
    bed_flush(bed);
    bed->windows = chance;
    restart(tier, now_s);
    bed->windows = NULL;
}

static struct store_admin *admin_of(void *tier)
{
    return &((struct bed *)tier)->store->admin;
}

static void close_tier(void *tier)
{
    bed_close(tier);
    free(tier);
    names_free(names);
    comment_policy_free(policy);
    assert_int_equal(memory_used(&rocksdb_budget), 0);
    remove_store();
}

#define MEMORY_TIER(label, stored, open_it)                                                        \
    {                                                                                              \
        .name = (label), .has_store = (stored), .open = (open_it), .hot = hot_of, .run = run,      \
        .settle = settle, .restart = restart, .disturb = disturb, .project_again = project_again,  \
        .admin = admin_of, .close = close_tier                                                     \
    }

static const struct hot_suite_tier tiers[] = {
    MEMORY_TIER("rocksdb", true, open_over_rocksdb),
    MEMORY_TIER("memory", true, open_over_memory),
    MEMORY_TIER("none", false, open_alone),
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++)
        if (argc > 1 && strcmp(argv[1], tiers[i].name) == 0)
            hot_suite_tier = &tiers[i];
    if (hot_suite_tier == NULL) {
        fprintf(stderr, "usage: %s rocksdb|memory|none [TEST]\n", argv[0]);
        return 2;
    }
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    else /* they take long, and run as tests of their own */
        cmocka_set_skip_filter("hot_suite_comments*");
    const struct CMUnitTest tests[] = {HOT_SUITE};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
