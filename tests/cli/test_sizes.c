/* How memory is shared out, and how much there is to share: less in a cgroup than in its machine. */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cgroup.h"
#include "cli/sizes.h"
#include "conform/directory.h"

static struct options usual_options(void)
{
    struct options options;
    char problem[256];
    bool help;
    assert_true(options_read(&options, 0, NULL, &help, problem, sizeof problem));
    return options;
}

/* Shares of memory never come to more than there is of it. */
static void shares_fit(void **state)
{
    (void)state;
    struct options options = usual_options();
    for (uint64_t memory = SIZES_STORE_MIN; memory < 1ULL << 50; memory *= 3) {
        options.max_memory = memory;
        struct sizes sizes = sizes_of(&options);
        assert_int_equal(sizes.memory, memory);
        assert_true(sizes.window_events > 0);
        assert_true(sizes.checkpoint_bytes > 0 && sizes.lag_max_bytes > sizes.lag_slow_bytes);
        assert_int_equal(sizes.missing, 0);
        assert_true(sizes.filters >= SIZES_FILTERS_MIN);
        assert_true(sizes.connections + sizes.block_cache + sizes.write_buffer + sizes.trends +
                        sizes.hot + sizes.filters <=
                    sizes.budget);
    }
}

/* Without a store, too, something is left for what nobody counts, and less than that is refused. */
static void alone_some_is_left(void **state)
{
    (void)state;
    struct options options = usual_options();
    char problem[256] = "";
    options.store = OPTION_STORE_NONE;
    for (uint64_t memory = SIZES_ALONE_MIN; memory < 1ULL << 50; memory *= 3) {
        options.max_memory = memory;
        struct sizes sizes = sizes_of(&options);
        assert_true(sizes.budget >= MIB(12) && sizes.budget <= memory - MIB(26));
        assert_true(sizes_suffice(&options, true, problem, sizeof problem));
    }
    options.max_memory = SIZES_ALONE_MIN - 1;
    assert_false(sizes_suffice(&options, true, problem, sizeof problem));
    assert_non_null(strstr(problem, "--max-memory is too little"));
}

/* What filters, which come first, could take, and what else an option gives away, is not the hot tier's. */
static void the_hot_tier_has_its_share(void **state)
{
    (void)state;
    struct options options = usual_options();
    options.max_memory = SIZES_STORE_MIN;
    struct sizes without = sizes_of(&options);
    assert_true(without.hot > MIB(8));
    options.limit_user_read.per_s = 1;
    struct sizes with = sizes_of(&options);
    assert_int_equal(with.missing, 0);
    assert_int_equal(with.hot, without.hot);
    assert_int_equal(with.filters, without.filters - options.limit_memory);

    options.limit_user_read.per_s = 0;
    options.block_cache_bytes = without.block_cache + without.filters - SIZES_FILTERS_MIN;
    assert_int_equal(sizes_of(&options).missing, 0);
    options.block_cache_bytes++;
    assert_int_equal(sizes_of(&options).missing, 1);
    assert_int_equal(sizes_of(&options).filters, SIZES_FILTERS_MIN);
}

static void what_is_given_is_taken(void **state)
{
    (void)state;
    struct options options = usual_options();
    options.max_memory = GIB(1);
    options.block_cache_bytes = MIB(5);
    options.checkpoint_bytes = 1;
    options.lag_max_bytes = 1;
    struct sizes sizes = sizes_of(&options);
    assert_int_equal(sizes.block_cache, MIB(5));
    assert_int_equal(sizes.checkpoint_bytes, 1);
    assert_int_equal(sizes.lag_max_bytes, 1);
}

/* Those who add to them do not come out below where they began. */
static void the_largest_that_can_be_given_adds_up(void **state)
{
    (void)state;
    struct options options = usual_options();
    options.max_memory = UINT64_MAX;
    options.block_cache_bytes = UINT64_MAX;
    options.checkpoint_bytes = UINT64_MAX;
    options.lag_max_bytes = UINT64_MAX;
    options.ready_memory = UINT64_MAX;
    struct sizes sizes = sizes_of(&options);
    uint64_t position = 1ULL << 56, sum;
    assert_false(__builtin_add_overflow(position, sizes.checkpoint_bytes, &sum));
    assert_false(__builtin_add_overflow(position, sizes.lag_max_bytes, &sum));
    assert_false(__builtin_add_overflow(sizes.block_cache, sizes.write_buffer, &sum));
    assert_false(__builtin_add_overflow(sum, sizes.budget, &sum));

    options.max_memory = MIB(256);
    sizes = sizes_of(&options);
    assert_true(sizes.missing > 0); /* so that it is refused */
    assert_true(sizes.block_cache > sizes.budget);
}

/* A list of cgroups, and files beneath a mount. */
struct cgroups {
    char root[64], list[96], mount[96];
};

static void make_file(const char *root, const char *path, const char *text)
{
    char full[512];
    int length = snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        assert_true(mkdir(full, 0700) == 0 || errno == EEXIST);
        *slash = '/';
    }
    assert_true(length > 0 && (size_t)length < sizeof full);
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct cgroups make_cgroups(const char *list)
{
    struct cgroups cgroups = {.root = "/tmp/laud-sizes-XXXXXX"};
    directory_make(cgroups.root);
    snprintf(cgroups.list, sizeof cgroups.list, "%s/list", cgroups.root);
    snprintf(cgroups.mount, sizeof cgroups.mount, "%s/mount", cgroups.root);
    make_file(cgroups.root, "list", list);
    make_file(cgroups.root, "mount/here", "");
    return cgroups;
}

/* Removes them once it is seen what the usual bound is. */
static void expect_limit(struct cgroups *cgroups, uint64_t wanted)
{
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(cgroup_memory(cgroups->list, cgroups->mount), wanted);
    assert_int_equal(sizes_usual_memory(cgroups->list, cgroups->mount),
                     (wanted < machine ? wanted : machine) / 2);
    directory_remove(cgroups->root);
}

static void a_cgroup_of_version_2_bounds_memory(void **state)
{
    (void)state;
    struct cgroups own = make_cgroups("0::/a/b\n");
    make_file(own.mount, "a/b/memory.max", "104857600\n");
    make_file(own.mount, "a/memory.max", "max\n");
    expect_limit(&own, MIB(100));

    struct cgroups above = make_cgroups("0::/a/b\n");
    make_file(above.mount, "a/b/memory.max", "104857600\n");
    make_file(above.mount, "a/memory.max", "4096\n");
    make_file(above.mount, "memory.max", "8192\n");
    expect_limit(&above, 4096);

    struct cgroups container = make_cgroups("0::/system.slice/docker-5f.scope\n");
    make_file(container.mount, "memory.max", "52428800");
    expect_limit(&container, MIB(50));

    struct cgroups outside = make_cgroups("0::/../other\n");
    make_file(outside.root, "other/memory.max", "4096\n");
    make_file(outside.mount, "memory.max", "8192\n");
    expect_limit(&outside, 8192);
}

static void a_cgroup_of_version_1_bounds_memory(void **state)
{
    (void)state;
    struct cgroups own = make_cgroups("9:name=systemd:/\n4:cpu,memory:/a/b:c\n1:cpuset:/a\n0::/\n");
    make_file(own.mount, "memory/a/b:c/memory.limit_in_bytes", "9223372036854771712\n");
    make_file(own.mount, "memory/a/memory.limit_in_bytes", "104857600\n");
    make_file(own.mount, "memory/memory.limit_in_bytes", "9223372036854771712\n");
    expect_limit(&own, MIB(100));

    struct cgroups other = make_cgroups("4:memoryx,xmemory:/a\n");
    make_file(other.mount, "memory/a/memory.limit_in_bytes", "4096\n");
    expect_limit(&other, CGROUP_NO_LIMIT);
}

static void what_is_no_limit_bounds_nothing(void **state)
{
    (void)state;
    static const char *const limits[] = {"max\n",
                                         "",
                                         "\n",
                                         "0\n",
                                         "-4096\n",
                                         "4096k",
                                         " 1",
                                         "4096 1",
                                         "0x1000\n",
                                         "18446744073709551616\n",
                                         "99999999999999999999999999999999999999999\n"};
    static const char *const lists[] = {
        "", "\n", ":", "0:", "0::", "0::a\n", "0:memory\n", "::::\n"};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct cgroups cgroups = make_cgroups("0::/a\n");
        make_file(cgroups.mount, "a/memory.max", limits[i]);
        expect_limit(&cgroups, CGROUP_NO_LIMIT);
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        struct cgroups cgroups = make_cgroups(lists[i]);
        make_file(cgroups.mount, "memory.max", "4096\n");
        expect_limit(&cgroups, CGROUP_NO_LIMIT);
    }
    struct cgroups bare = make_cgroups("0::/a\n4:memory:/a\n");
    expect_limit(&bare, CGROUP_NO_LIMIT);
    assert_int_equal(cgroup_memory("/nonexistent/list", "/nonexistent"), CGROUP_NO_LIMIT);
}

static void a_path_that_is_too_long_is_that_of_the_mount(void **state)
{
    (void)state;
    static char list[3 * PATH_MAX] = "0::";
    memset(list + 3, '/', sizeof list - 4);
    struct cgroups cgroups = make_cgroups(list);
    make_file(cgroups.mount, "memory.max", "4096\n");
    expect_limit(&cgroups, 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_fit),
        cmocka_unit_test(alone_some_is_left),
        cmocka_unit_test(the_hot_tier_has_its_share),
        cmocka_unit_test(what_is_given_is_taken),
        cmocka_unit_test(the_largest_that_can_be_given_adds_up),
        cmocka_unit_test(a_cgroup_of_version_2_bounds_memory),
        cmocka_unit_test(a_cgroup_of_version_1_bounds_memory),
        cmocka_unit_test(what_is_no_limit_bounds_nothing),
        cmocka_unit_test(a_path_that_is_too_long_is_that_of_the_mount),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
