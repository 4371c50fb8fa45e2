/*
 * The file of the filters: what is saved comes back, what is damaged in any place is refused, and
 * a save that fails in any place leaves a good file behind.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/io.h"
#include "base/limits.h"
#include "base/little.h"
#include "damage.h"
#include "filter/filters_header.h"
#include "world.h"

static struct world world;
static struct memory_budget budget;
static char directory[64];
static char path[96];
static char problem[256];

static int setup(void **state)
{
    (void)state;
    directory_in_memory(directory, sizeof directory);
    snprintf(path, sizeof path, "%s/filters", directory);
    budget = (struct memory_budget){.limit = GIB(1)};
    problem[0] = '\0';
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(memory_used(&budget), 0);
    directory_with_file_remove(directory, path);
    return 0;
}

/* Filters with several segments that have followed the world for some steps. */
static struct filters *followed(uint64_t first_keys, int steps)
{
    struct filters *filters = filters_new_small(&budget, 99, first_keys);
    world_make(&world, test_seed());
    for (int i = 0; i < steps; i++)
        world_step(&world, filters, 60);
    return filters;
}

static enum status load(struct filters *filters, uint64_t *position)
{
    problem[0] = '\0';
    return filters_load(filters, path, position, NULL, NULL, problem, sizeof problem);
}

/* Loading gives this status and a sentence, and the filters are as they were: new. */
static void expect_refusal(enum status expected, const char *sentence)
{
    uint64_t used = memory_used(&budget);
    uint64_t position = 12345;
    struct filters *filters = filters_new_small(&budget, 3, 1);
    uint64_t before = memory_used(&budget);
    struct filter_stats live;
    struct filter_stats known;
    enum status status = load(filters, &position);
    if (status != expected || strstr(problem, sentence) == NULL)
        fail_msg("%s: %s", status_name(status), problem);
    filters_stats(filters, &live, &known);
    assert_int_equal(live.keys + known.keys, 0);
    assert_int_equal(live.segments, 1);
    assert_int_equal(filters->seed, 3);
    assert_int_equal(position, 12345);
    assert_int_equal(memory_used(&budget), before);
    filters_free(filters);
    assert_int_equal(memory_used(&budget), used);
}

static void expect_equal(const struct filters *a, const struct filters *b)
{
    const struct filter *pairs[2][2] = {{a->live, b->live}, {a->known, b->known}};
    assert_int_equal(a->seed, b->seed);
    for (int f = 0; f < 2; f++) {
        const struct filter *one = pairs[f][0];
        const struct filter *other = pairs[f][1];
        assert_int_equal(one->segment_count, other->segment_count);
        assert_int_equal(one->keys, other->keys);
        assert_int_equal(one->bytes, other->bytes);
        for (uint32_t i = 0; i < one->segment_count; i++) {
            assert_int_equal(one->used[i], other->used[i]);
            assert_int_equal(one->segments[i].mask, other->segments[i].mask);
            assert_int_equal(memcmp((const void *)one->segments[i].buckets,
                                    (const void *)other->segments[i].buckets,
                                    filter_segment_bytes(one->segments[i].mask + 1)),
                             0);
        }
    }
}

static void test_what_is_saved_comes_back(void **state)
{
    (void)state;
    struct filters *filters = followed(30, 60);
    struct filters *loaded = filters_new(&budget, 4);
    uint64_t position = 0;
    assert_true(filter_segments(filters->live) > 2);
    assert_int_equal(filters_save(filters, path, 4711), 0);
    assert_int_equal(load(loaded, &position), STATUS_OK);
    assert_int_equal(position, 4711);
    expect_equal(filters, loaded);
    world_check(&world, loaded);
    for (int i = 0; i < 60; i++) /* and it goes on */
        world_step(&world, loaded, 40);
    world_check(&world, loaded);
    assert_int_equal(loaded->live->keys, world_reactions(&world));
    assert_int_equal(filters_save(loaded, path, 4712), 0); /* over the one before */
    filters_free(filters);
    filters = filters_new(&budget, 4);
    assert_int_equal(load(filters, &position), STATUS_OK);
    assert_int_equal(position, 4712);
    expect_equal(filters, loaded);
    filters_free(filters);
    filters_free(loaded);
}

static void test_new_filters_can_be_saved(void **state)
{
    (void)state;
    struct filters *filters = filters_new(&budget, 8);
    struct filters *loaded = filters_new(&budget, 9);
    uint64_t position = 1;
    assert_int_equal(filters_save(filters, path, 0), 0);
    assert_int_equal(load(loaded, &position), STATUS_OK);
    assert_int_equal(position, 0);
    expect_equal(filters, loaded);
    filters_free(filters);
    filters_free(loaded);
}

static void test_there_may_be_no_file(void **state)
{
    (void)state;
    expect_refusal(STATUS_MORE, "is not there");
}

static void expect_damage(void)
{
    expect_refusal(STATUS_DAMAGED, path);
}

static void save_followed(void)
{
    struct filters *filters = followed(30, 1);
    assert_int_equal(filters_save(filters, path, 1), 0);
    filters_free(filters);
}

static void test_every_flipped_bit_is_found(void **state)
{
    (void)state;
    save_followed();
    file_flip_each_bit(path, expect_damage);
}

static void test_every_other_length_is_found(void **state)
{
    (void)state;
    uint64_t position;
    save_followed();
    file_cut_each_length(path, expect_damage);
    struct filters *loaded = filters_new(&budget, 0);
    assert_int_equal(load(loaded, &position), STATUS_OK);
    filters_free(loaded);
}

/* A header that says something else, with the checksum that goes with it. */
static void header_edit(const uint8_t *bytes, size_t length, size_t at, uint32_t value)
{
    uint8_t *edited = malloc(length);
    memcpy(edited, bytes, length);
    little_put32(edited + at, value);
    little_put64(edited + FILTERS_HEADER_BYTES - 8, XXH3_64bits(edited, FILTERS_HEADER_BYTES - 8));
    file_write(path, edited, length);
    free(edited);
}

static void test_headers_that_lie_are_refused(void **state)
{
    (void)state;
    struct filters *filters = followed(30, 1);
    size_t length;
    assert_int_equal(filters_save(filters, path, 1), 0);
    filters_free(filters);
    uint8_t *bytes = file_read(path, &length);
    header_edit(bytes, length, 8, 1); /* its keys were hashed in another way */
    expect_refusal(STATUS_DAMAGED, "version");
    header_edit(bytes, length, 8, 3);
    expect_refusal(STATUS_DAMAGED, "version");
    header_edit(bytes, length, 12, 1);
    expect_refusal(STATUS_DAMAGED, "invalid");
    header_edit(bytes, length, 32, (uint32_t)length + 8);
    expect_refusal(STATUS_DAMAGED, "length");
    header_edit(bytes, length, 40, 0);
    expect_refusal(STATUS_DAMAGED, "invalid");
    header_edit(bytes, length, 40, FILTER_SEGMENTS + 1);
    expect_refusal(STATUS_DAMAGED, "invalid");
    header_edit(bytes, length, 48, 63);
    expect_refusal(STATUS_DAMAGED, "invalid");
    header_edit(bytes, length, 56, 1000000); /* slots in use */
    expect_refusal(STATUS_DAMAGED, "invalid");
    header_edit(bytes, length, 24, 7); /* another position: these are not its buckets */
    expect_refusal(STATUS_DAMAGED, "checksum");
    free(bytes);
}

static void test_many_chunks(void **state)
{
    (void)state;
    const size_t chunk = FILTERS_CHUNK_BYTES;
    struct filters *filters = filters_new_small(&budget, 99, MIB(15)); /* 32 MiB each */
    struct filters *loaded = filters_new(&budget, 0);
    struct chance chance = {test_seed()};
    struct told told = {0};
    uint64_t position;
    size_t length;
    for (int i = 0; i < 100000; i++)
        filter_add(filters->live, chance_next(&chance));
    assert_int_equal(filters_save(filters, path, 5), 0);
    struct told stopped = {.stop_at = 2};
    assert_int_equal(filters_load(loaded, path, &position, tell, &stopped, problem, sizeof problem),
                     STATUS_STOPPING);
    assert_int_equal(stopped.calls, 2);
    assert_int_equal(filters_load(loaded, path, &position, tell, &told, problem, sizeof problem),
                     STATUS_OK);
    expect_equal(filters, loaded);
    assert_int_equal(told.calls, 3);
    assert_int_equal(told.total, MIB(64));
    assert_int_equal(told.done, told.total);
    filters_free(filters);
    filters_free(loaded);

    uint8_t *bytes = file_read(path, &length);
    uint8_t *kept = malloc(chunk);
    uint8_t *first = bytes + FILTERS_HEADER_BYTES;
    first[chunk * 3 + 5] ^= 1;
    file_write(path, bytes, length);
    expect_refusal(STATUS_DAMAGED, "at 3146752 do not match");
    first[chunk * 3 + 5] ^= 1;
    memcpy(kept, first, chunk); /* two chunks change places, with their checksums */
    memcpy(first, first + chunk, chunk);
    memcpy(first + chunk, kept, chunk);
    size_t table = length - (length - FILTERS_HEADER_BYTES) / (chunk + 8) * 8;
    memcpy(kept, bytes + table, 8);
    memcpy(bytes + table, bytes + table + 8, 8);
    memcpy(bytes + table + 8, kept, 8);
    file_write(path, bytes, length);
    expect_refusal(STATUS_DAMAGED, "at 1024 do not match");
    free(bytes);
    free(kept);
}

static void test_open_filters_are_not_saved_as_good(void **state)
{
    (void)state;
    struct filters *filters = filters_new_small(&budget, 99, 960);
    struct chance chance = {test_seed()};
    struct filter_stats live;
    struct filter_stats known;
    budget.limit = memory_used(&budget);
    do {
        filter_add(filters->live, chance_next(&chance));
        filters_stats(filters, &live, &known);
    } while (!live.open);
    assert_int_equal(filters_save(filters, path, 5), 0);
    budget.limit = GIB(1);
    filters_free(filters);
    expect_refusal(STATUS_DAMAGED, "no memory");
}

static void test_loading_keeps_to_the_budget(void **state)
{
    (void)state;
    struct filters *filters = followed(30, 60);
    assert_int_equal(filters_save(filters, path, 5), 0);
    filters_free(filters);
    for (uint64_t limit = KIB(32); limit <= KIB(48); limit += KIB(1)) {
        budget.limit = limit;
        expect_refusal(STATUS_NO_MEMORY, "memory");
    }
    budget.limit = GIB(1);
}

#ifdef LAUD_FAULTS

static struct filters *older;
static struct filters *newer;

/* Saves the newer over the older, every call failing in turn: one of the two is there after it. */
static void fail_each_call_of_saving(const char *what, bool harmless)
{
    uint64_t calls;
    uint64_t nth = 0;
    uint64_t failures = 0;
    do {
        char plan[64];
        uint64_t position;
        assert_int_equal(filters_save(older, path, 1), 0);
        snprintf(plan, sizeof plan, "*:%llu:%s", (unsigned long long)++nth, what);
        assert_int_equal(io_faults_plan(plan), 0);
        int result = filters_save(newer, path, 2);
        calls = io_faults_calls();
        assert_int_equal(io_faults_plan(NULL), 0);
        if ((result != 0) != (!harmless && nth <= calls))
            fail_msg("%s: %d", plan, result);
        failures += result != 0;
        struct filters *loaded = filters_new(&budget, 0);
        assert_int_equal(load(loaded, &position), STATUS_OK);
        assert_true(position == 2 || result != 0);
        expect_equal(loaded, position == 1 ? older : newer);
        filters_free(loaded);
    } while (calls >= nth);
    print_message("%s: %llu calls, %llu saves failed\n", what, (unsigned long long)calls,
                  (unsigned long long)failures);
    assert_true(calls > 8);
}

static void fail_each_call_of_loading(const char *what, bool harmless)
{
    uint64_t calls;
    uint64_t nth = 0;
    uint64_t failures = 0;
    assert_int_equal(filters_save(newer, path, 2), 0);
    do {
        char plan[64];
        uint64_t position;
        struct filters *loaded = filters_new_small(&budget, 3, 1);
        uint64_t before = memory_used(&budget);
        snprintf(plan, sizeof plan, "*:%llu:%s", (unsigned long long)++nth, what);
        assert_int_equal(io_faults_plan(plan), 0);
        enum status status = load(loaded, &position);
        calls = io_faults_calls();
        assert_int_equal(io_faults_plan(NULL), 0);
        if (status == STATUS_OK) {
            expect_equal(loaded, newer);
        } else {
            assert_int_equal(status, STATUS_IO_FAILED);
            assert_int_equal(memory_used(&budget), before);
            assert_non_null(strstr(problem, path));
            assert_false(harmless);
            failures++;
            assert_int_equal(load(loaded, &position), STATUS_OK);
        }
        filters_free(loaded);
    } while (calls >= nth);
    print_message("%s: %llu calls, %llu loads failed\n", what, (unsigned long long)calls,
                  (unsigned long long)failures);
    assert_int_equal(failures, harmless ? 0 : calls - 1); /* a failed close takes nothing away */
}

static void test_every_failing_call(void **state)
{
    (void)state;
    older = followed(30, 20);
    newer = followed(30, 40);
    fail_each_call_of_saving("EIO", false);
    fail_each_call_of_saving("ENOSPC", false);
    fail_each_call_of_saving("SHORT", true);
    fail_each_call_of_saving("EINTR", true);
    fail_each_call_of_loading("EIO", false);
    fail_each_call_of_loading("SHORT", true);
    fail_each_call_of_loading("EINTR", true);
    filters_free(older);
    filters_free(newer);
}

static void save_older(void)
{
    assert_int_equal(filters_save(older, path, 1), 0);
}

/* The checksums tell. */
static void test_a_write_that_was_left_out(void **state)
{
    (void)state;
    older = followed(30, 20);
    file_skip_each_write("filters.write", save_older, expect_damage);
    filters_free(older);
}

#endif

static void test_a_directory_that_is_not_there(void **state)
{
    (void)state;
    struct filters *filters = filters_new(&budget, 8);
    char elsewhere[128];
    snprintf(elsewhere, sizeof elsewhere, "%s/no/filters", directory);
    assert_int_equal(filters_save(filters, elsewhere, 0), -ENOENT);
    char *longest = malloc(5000);
    memset(longest, 'x', 4999);
    longest[4999] = '\0';
    assert_int_equal(filters_save(filters, longest, 0), -ENAMETOOLONG);
    free(longest);
    filters_free(filters);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_what_is_saved_comes_back),
        CASE(test_new_filters_can_be_saved),
        CASE(test_there_may_be_no_file),
        CASE(test_every_flipped_bit_is_found),
        CASE(test_every_other_length_is_found),
        CASE(test_headers_that_lie_are_refused),
        CASE(test_many_chunks),
        CASE(test_open_filters_are_not_saved_as_good),
        CASE(test_loading_keeps_to_the_budget),
#ifdef LAUD_FAULTS
        CASE(test_every_failing_call),
        CASE(test_a_write_that_was_left_out),
#endif
        CASE(test_a_directory_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
