/*
 * Boards against a model: an array of every counter there is, sorted when it is asked. Parts are kept
 * small in most tests, so that floors, filling and losses happen all the time.
 */
#include "boards_model.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hot/memory/boards_file.h"

/* The whole size, no store: everything is exact at every moment, whatever is asked. */
static void test_model(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct model *model = model_new();
    struct bed bed;
    bed_open(&bed, MIB(64), bed_options());
    uint64_t operations = test_operations(1000000);
    for (uint64_t i = 0; i < operations; i++) {
        change(&bed, model, &chance, i / 50000 % 2 == 0);
        if (chance_below(&chance, 2000) == 0)
            expect_top(&bed, model, chance_below(&chance, TYPES), chance_below(&chance, NAMES),
                       chance_below(&chance, LIMIT_TOP) + 1);
    }
    expect_all(&bed, model, LIMIT_TOP);
    expect_all(&bed, model, 1);
    bed_close(&bed);
    free(model);
}

/* Small parts: floors, and boards that run thin and are filled from memory. */
static void test_model_small_parts(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct model *model = model_new();
    struct bed bed;
    struct hot_memory_options options = bed_options();
    options.board_entries = SMALL;
    bed_open(&bed, MIB(64), options);
    uint64_t operations = test_operations(1000000);
    for (uint64_t i = 0; i < operations || bed_stats(&bed).board_fills == 0; i++) {
        change(&bed, model, &chance, i / 20000 % 2 == 0);
        if (chance_below(&chance, 20000) == 0)
            purge(&bed, model, &chance);
        if (chance_below(&chance, 1000) == 0)
            expect_top(&bed, model, chance_below(&chance, TYPES), chance_below(&chance, NAMES),
                       chance_below(&chance, SMALL) + 1);
    }
    expect_all(&bed, model, SMALL);
    expect_parts(&bed, model);
    assert_true(bed_stats(&bed).board_fills > 0);
    bed_close(&bed);
    free(model);
}

static void settle(struct bed *bed)
{
    bed_project_all(bed);
    bed_keep(bed, 1);
    bed_keep(bed, 1);
}

/* With a store, all that was replayed complete. */
static void open_stored(struct bed *bed, uint32_t entries)
{
    struct hot_memory_options options = bed_options();
    options.board_entries = entries;
    bed_open_stored(bed, MIB(64), options);
    settle(bed);
}

/* A store behind it: rows are evicted, and boards are filled from the store. */
static void test_model_stored(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct model *model = model_new();
    struct bed bed;
    open_stored(&bed, SMALL);
    uint64_t operations = test_operations(300000);
    for (uint64_t i = 0; i < operations || bed_stats(&bed).board_fills == 0; i++) {
        change(&bed, model, &chance, i / 10000 % 2 == 0);
        if (chance_below(&chance, 3000) == 0)
            purge(&bed, model, &chance);
        if (chance_below(&chance, 500) == 0)
            bed_project_all(&bed);
        if (i % 20000 == 10000)
            bed_evict(&bed);
        if (chance_below(&chance, 1000) == 0) {
            bed_project_all(&bed);
            expect_top(&bed, model, chance_below(&chance, TYPES), chance_below(&chance, NAMES),
                       SMALL);
        }
    }
    settle(&bed);
    expect_all(&bed, model, SMALL);
    expect_parts(&bed, model);
    assert_true(bed_stats(&bed).board_fills > 0);
    assert_true(bed_stats(&bed).evicted_items > 0);
    bed_close(&bed);
    free(model);
}

/* Between the beginning of a filling and its end anything may change. */
static void test_changes_while_filling(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct model *model = model_new();
    struct bed bed;
    open_stored(&bed, SMALL);
    struct hot_memory *hot = hot_memory_of(bed.hot);
    hot->boards.enough = UINT32_MAX;
    for (uint32_t i = 0; i < 60000; i++)
        change(&bed, model, &chance, true);
    for (uint32_t turn = 0; turn < 60; turn++) {
        for (uint32_t i = 0; i < 3000; i++)
            change(&bed, model, &chance, turn % 3 == 2);
        if (turn % 2 == 0)
            fall(&bed, model, &chance, turn % TYPES, turn / 2 % NAMES);
        uint32_t count = atomic_load(&hot->boards.count);
        for (uint32_t i = 0; i < count; i++)
            atomic_store(&hot->boards.list[i]->thin, true);
        hot->boards.filler.pause = 0;
        boards_round(hot); /* begins; the store is behind */
        for (uint32_t i = 0; i < 500; i++)
            change(&bed, model, &chance, turn % 2 == 0);
        bed_project_all(&bed);
        for (uint32_t i = 0; i < 500; i++)
            change(&bed, model, &chance, turn % 2 == 0);
        if (turn % 5 == 0)
            bed_evict(&bed);
        boards_round(hot); /* ends */
        expect_parts(&bed, model);
        bed_project_all(&bed);
        expect_all(&bed, model, SMALL);
    }
    assert_true(bed_stats(&bed).board_fills >= 60);
    bed_close(&bed);
    free(model);
}

/* Reactions move their own counters, and those of the kinds they exclude. */
static void test_reactions(void **state)
{
    (void)state;
    struct exclusive groups = {.group_of = {1, 0, 1}, .group_count = 1};
    groups.groups[0] = (struct exclusive_group){.count = 2, .kinds = {0, 2}};
    struct hot_memory_options options = bed_options();
    options.exclusive = &groups;
    struct model *model = model_new();
    struct bed bed;
    bed_open(&bed, MIB(64), options);
    for (uint32_t user = 0; user < 40; user++)
        for (uint32_t number = 0; number < 60; number++)
            if ((user * number) % 7 < 3) {
                bed_change(&bed, HOT_SET, id_number(user), 0, model_item(0, number), 5);
                model->values[0][0][number]++;
            }
    for (uint32_t user = 0; user < 40; user++)
        for (uint32_t number = 0; number < 60; number++) {
            if ((user + number) % 5 == 0 &&
                bed_change(&bed, HOT_CLEAR, id_number(user), 0, model_item(0, number), 6))
                model->values[0][0][number]--;
            if ((user + number) % 5 == 1 && (user * number) % 7 < 3) {
                bed_change(&bed, HOT_SET, id_number(user), 2, model_item(0, number), 6);
                model->values[0][1][number]++;
                model->values[0][0][number]--;
            }
        }
    expect_all(&bed, model, LIMIT_TOP);
    bed_close(&bed);
    free(model);
}

/* What nobody has ever counted is empty. */
static void test_unknown(void **state)
{
    (void)state;
    struct bed bed;
    struct hot_request request;
    bed_open(&bed, MIB(64), bed_options());
    assert_int_equal(top(&bed, 1, 1, 100, &request), STATUS_OK);
    assert_int_equal(request.top.count, 0);
    request = (struct hot_request){
        .action = HOT_TOP, .top.type = UINT16_MAX, .name = UINT8_MAX, .top.limit = LIMIT_TOP};
    assert_int_equal(bed_run(&bed, &request), STATUS_OK);
    assert_int_equal(request.top.count, 0);
    request.top.window = TREND_DAY;
    assert_int_equal(bed_run(&bed, &request), STATUS_NO_WINDOWS);
    bed_close(&bed);
}

/* What a floor that rises takes away is not noted any more: what was read before is outdated. */
static void test_a_floor_that_rises(void **state)
{
    (void)state;
    struct bed bed;
    struct hot_request request;
    bed_open(&bed, MIB(64), bed_options());
    bed_add(&bed, model_item(1, 1), names[1], 10);
    bed_add(&bed, model_item(1, 2), names[1], 5);
    assert_int_equal(top(&bed, 1, 1, 2, &request), STATUS_OK);
    struct hot_memory *hot = hot_memory_of(bed.hot);
    uint64_t hash = item_hash_of(hot, model_item(1, 2));
    struct board_shard *shard = &item_shard_of(hot, hash)->boards;
    struct board_section *section = board_find(shard, board_key(types[1], names[1]));
    board_raise(shard, section, (struct ranked){.value = 7});
    bed_add(&bed, model_item(1, 2), names[1], 1);
    assert_int_equal(top(&bed, 1, 1, 2, &request), STATUS_OK);
    assert_int_equal(request.top.count, 2);
    assert_int_equal(bed.scratch.ranked[request.top.first + 1].value, 6);
    bed_close(&bed);
}

/* Values at both ends of the range. */
static void test_extremes(void **state)
{
    (void)state;
    struct bed bed;
    struct hot_request request;
    struct hot_memory_options options = bed_options();
    options.board_entries = SMALL;
    bed_open(&bed, MIB(64), options);
    bed_add(&bed, model_item(0, 0), names[0], INT64_MAX);
    bed_add(&bed, model_item(0, 1), names[0], INT64_MIN);
    bed_add(&bed, model_item(0, 2), names[0], -1);
    bed_add(&bed, model_item(0, 3), names[0], 1);
    assert_int_equal(top(&bed, 0, 0, 10, &request), STATUS_OK);
    assert_int_equal(request.top.count, 4);
    const struct ranked *got = bed.scratch.ranked + request.top.first;
    assert_true(got[0].value == INT64_MAX && got[1].value == 1 && got[2].value == -1 &&
                got[3].value == INT64_MIN);
    bed_close(&bed);
}

/* More boards than there may be: some are off, and say so; none lies. */
static void test_bounds(void **state)
{
    (void)state;
    struct bed bed;
    bed_open(&bed, MIB(16), bed_options()); /* a share of 512 KiB */
    uint32_t off = 0, kept = 0;
    for (uint32_t round = 0; round < 3; round++)
        for (uint32_t type = 0; type < 200; type++)
            for (uint32_t i = 0; i < 20; i++)
                bed_add(&bed, (struct item){.id.lo = i, .type = (uint16_t)type}, 3, i + 1);
    for (uint32_t type = 0; type < 200; type++) {
        struct hot_request request = {
            .action = HOT_TOP, .top.type = (uint16_t)type, .name = 3, .top.limit = 20};
        enum status status = bed_run(&bed, &request);
        assert_true(status == STATUS_OK || status == STATUS_BOARD_OFF);
        off += status == STATUS_BOARD_OFF;
        kept += status == STATUS_OK;
        for (uint32_t i = 0; status == STATUS_OK && i < 20; i++)
            assert_int_equal(bed.scratch.ranked[request.top.first + i].value, 3 * (20 - i));
    }
    assert_true(off > 0 && kept > 0);
    struct hot_stats stats = bed_stats(&bed);
    assert_true(stats.board_bytes <= stats.board_bytes_max);
    assert_true(stats.boards_off + stats.boards_full > 0);
    bed_close(&bed);
}

/* Without memory for a moment a part is lost, and filled again when there is some. */
static void test_no_memory(void **state)
{
    (void)state;
    struct model *model = model_new();
    struct chance chance = {test_seed()};
    struct bed bed;
    bed_open(&bed, MIB(64), bed_options());
    for (uint32_t i = 0; i < 50000; i++)
        change(&bed, model, &chance, true);
    uint64_t left = bed.budget.limit - memory_used(&bed.budget);
    assert_true(memory_charge(&bed.budget, left));
    for (uint32_t i = 0; i < 300; i++) { /* rows that are there: no memory needed but for boards */
        uint32_t number = chance_below(&chance, ITEMS);
        int64_t *value = &model->values[0][0][number];
        struct item item = model_item(0, number);
        struct hot_request request = {.action = HOT_ADD,
                                      .name = names[0],
                                      .items = &item,
                                      .item_count = 1,
                                      .change.delta = 1000,
                                      .time_s = 1};
        if (bed_run(&bed, &request) == STATUS_OK)
            *value += 1000;
    }
    struct hot_memory *hot = hot_memory_of(bed.hot);
    struct board_shard *shard = &hot->items[3].boards;
    board_shard_destroy(shard); /* as if its table could not grow */
    atomic_store(&hot->boards.missed, true);
    memory_release(&bed.budget, left);
    expect_all(&bed, model, LIMIT_TOP);
    bed_close(&bed);
    free(model);
}

/* Restarts */

static char directory[64];
static char path[128];

static int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/laud-boards-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/boards", directory);
    return 0;
}

static int remove_directory(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(directory);
}

/* What recover_boards.c does; `loaded` tells whether the file was of use. */
static enum status loaded;
static size_t saved_at; /* events the store had when it was saved */

static void load_boards(struct bed *bed)
{
    char problem[512] = "";
    uint64_t position = 0;
    loaded = hot_memory_load_boards(bed->hot, path, &position, problem, sizeof problem);
    assert_true(loaded == STATUS_OK || problem[0] != '\0');
    if (loaded != STATUS_OK)
        return;
    assert_true(position == recorder_position(&bed->recorder, saved_at));
    for (size_t i = saved_at; i < bed->flushed; i++)
        if (!hot_memory_touch_boards(bed->hot, &bed->recorder.events[i])) {
            hot_memory_recount_boards(bed->hot);
            loaded = STATUS_NO_MEMORY;
            return;
        }
}

static void save_boards(struct bed *bed)
{
    uint64_t position = recorder_position(&bed->recorder, bed->flushed);
    assert_int_equal(hot_memory_save_boards(bed->hot, path, position), 0);
    saved_at = bed->flushed;
}

static void restart(struct bed *bed)
{
    bed->load_boards = load_boards;
    bed_crash(bed, 100);
    settle(bed);
}

static void some_changes(struct bed *bed, struct model *model, struct chance *chance, uint32_t most)
{
    bool rising = chance_below(chance, 2) == 0;
    for (uint32_t i = chance_below(chance, most); i > 0; i--)
        change(bed, model, chance, rising);
}

static void restarts(uint32_t entries, uint32_t limit, bool behind)
{
    struct chance chance = {test_seed()};
    struct model *model = model_new();
    struct bed bed;
    open_stored(&bed, entries);
    some_changes(&bed, model, &chance, 40000);
    for (uint32_t turn = 0; turn < 12; turn++) {
        some_changes(&bed, model, &chance, 4000);
        bed_project_all(&bed);
        bed_flush(&bed);
        some_changes(&bed, model, &chance, 4000); /* up to S */
        save_boards(&bed);
        some_changes(&bed, model, &chance, 4000);
        if (behind) { /* the store goes on by itself */
            bed_project(&bed, bed.projected +
                                  chance_below(&chance, (uint32_t)(recorder_count(&bed.recorder) -
                                                                   bed.projected) +
                                                            1));
            bed_flush(&bed);
        }
        some_changes(&bed, model, &chance, 4000);
        bed.options.seed = chance_next(&chance); /* other shards */
        restart(&bed);
        assert_int_equal(loaded, STATUS_OK);
        expect_all(&bed, model, limit);
        expect_parts(&bed, model);
    }
    bed_close(&bed);
    free(model);
}

static void test_restart(void **state)
{
    (void)state;
    restarts(0, LIMIT_TOP, false);
    restarts(SMALL, SMALL, false);
}

static void test_restart_from_older_file(void **state)
{
    (void)state;
    restarts(0, LIMIT_TOP, true);
    restarts(SMALL, SMALL, true);
}

/* A start from a good file does not look through the store. */
static void test_restart_counts_nothing(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct model *model = model_new();
    struct bed bed;
    open_stored(&bed, 0);
    for (uint32_t i = 0; i < 20000; i++)
        change(&bed, model, &chance, true);
    bed_project_all(&bed);
    bed_flush(&bed);
    save_boards(&bed);
    restart(&bed);
    assert_int_equal(bed_stats(&bed).boards_state, HOT_BOARDS_LOADING);
    expect_all(&bed, model, LIMIT_TOP);
    assert_int_equal(bed_stats(&bed).boards_state, HOT_BOARDS_OK);
    assert_int_equal(bed_stats(&bed).board_fills, 0);
    bed_close(&bed);
    free(model);
}

/* Until what was replayed is complete, no board is read. */
static void test_waits_for_partial_rows(void **state)
{
    (void)state;
    struct model *model = model_new();
    struct bed bed;
    struct hot_request request;
    open_stored(&bed, 0);
    bed_add(&bed, model_item(0, 0), names[0], 10);
    model->values[0][0][0] = 10;
    bed_project_all(&bed);
    bed_flush(&bed);
    save_boards(&bed);
    bed_add(&bed, model_item(0, 0), names[0], -4);
    model->values[0][0][0] = 6;
    bed.load_boards = load_boards;
    bed_crash(&bed, 100);
    assert_int_equal(top(&bed, 0, 0, 10, &request), STATUS_BOARD_COUNTING);
    assert_int_equal(hot_memory_save_boards(bed.hot, path, 1), -EAGAIN);
    bed_keep(&bed, 1);
    bed_keep(&bed, 1);
    expect_all(&bed, model, LIMIT_TOP);
    bed_close(&bed);
    free(model);
}

/* Without a file, or with one that is of no use, they are counted from the store. */
static void expect_counted(struct bed *bed, const struct model *model)
{
    restart(bed);
    assert_int_not_equal(loaded, STATUS_OK);
    expect_all(bed, model, LIMIT_TOP);
    assert_int_equal(bed_stats(bed).board_fills, 1);
}

static uint8_t *file_read(size_t *length)
{
    struct stat about;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &about), 0);
    *length = (size_t)about.st_size;
    uint8_t *bytes = malloc(*length);
    assert_non_null(bytes);
    assert_true(read(fd, bytes, *length) == (ssize_t)*length);
    close(fd);
    return bytes;
}

static void file_write(const uint8_t *bytes, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
    close(fd);
}

static void test_restart_without_file(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct model *model = model_new();
    struct bed bed;
    open_stored(&bed, 0);
    for (uint32_t turn = 0; turn < 3; turn++) {
        for (uint32_t i = 0; i < 20000; i++)
            change(&bed, model, &chance, turn % 2 == 0);
        bed_project_all(&bed);
        bed_flush(&bed);
        some_changes(&bed, model, &chance, 5000);
        unlink(path);
        expect_counted(&bed, model);
        save_boards(&bed);
        size_t length;
        uint8_t *bytes = file_read(&length);
        bytes[8]++; /* another version */
        file_write(bytes, length);
        expect_counted(&bed, model);
        save_boards(&bed);
        file_write(bytes, length / 2);
        expect_counted(&bed, model);
        free(bytes);
    }
    bed_close(&bed);
    free(model);
}

/* Any one bit, and any length: it is never taken. */
static void test_damaged_bit_by_bit(void **state)
{
    (void)state;
    struct bed bed;
    char problem[512];
    uint64_t position;
    uint32_t count;
    open_stored(&bed, 0);
    for (uint32_t i = 0; i < 6; i++)
        bed_add(&bed, model_item(0, i), names[i % 2], i + 1);
    bed_project_all(&bed);
    bed_flush(&bed);
    save_boards(&bed);
    size_t length;
    uint8_t *bytes = file_read(&length);
    assert_int_equal(boards_file_read(path, &position, &count, NULL, NULL, problem, sizeof problem),
                     STATUS_OK);
    assert_int_equal(count, 2);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
        file_write(bytes, length);
        assert_int_equal(
            boards_file_read(path, &position, &count, NULL, NULL, problem, sizeof problem),
            STATUS_DAMAGED);
        bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    for (size_t cut = 0; cut < length; cut++) {
        file_write(bytes, cut);
        assert_int_equal(
            boards_file_read(path, &position, &count, NULL, NULL, problem, sizeof problem),
            STATUS_DAMAGED);
    }
    free(bytes);
    bed_close(&bed);
}

/* More changed than is read one by one: all is counted. */
static void test_too_much_touched(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, MIB(64), bed_options());
    struct event event = {.type = EVENT_ADD, .name = 3};
    for (uint32_t i = 0; i < 2 * LIMIT_BOARD_TOUCHED; i++)
        assert_true(hot_memory_touch_boards(bed.hot, &event)); /* the same again costs nothing */
    uint32_t taken = 0;
    while (hot_memory_touch_boards(bed.hot, &event)) {
        event.item.id.lo++;
        taken++;
    }
    assert_true(taken >= LIMIT_BOARD_TOUCHED / 2 && taken <= LIMIT_BOARD_TOUCHED);
    hot_memory_recount_boards(bed.hot);
    event.type = EVENT_DEFINE;
    assert_true(hot_memory_touch_boards(bed.hot, &event));
    event.type = 200; /* of a later version: what it changes is not known */
    assert_false(hot_memory_touch_boards(bed.hot, &event));
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_model_small_parts),
        cmocka_unit_test(test_model_stored),
        cmocka_unit_test(test_changes_while_filling),
        cmocka_unit_test(test_reactions),
        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_a_floor_that_rises),
        cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_restart_from_older_file),
        cmocka_unit_test(test_restart_counts_nothing),
        cmocka_unit_test(test_waits_for_partial_rows),
        cmocka_unit_test(test_restart_without_file),
        cmocka_unit_test(test_damaged_bit_by_bit),
        cmocka_unit_test(test_too_much_touched),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
