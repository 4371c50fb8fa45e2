/*
 * Boards while everything moves: threads change counters, one projects, one evicts, the filler fills
 * small parts again and again, and boards are read and saved meanwhile. Each thread has an item that
 * it alone changes and that stands on top: it must be there with the value it was just given.
 */
#include "support.h"

#include <errno.h>
#include <unistd.h>

enum { WRITERS = 2, ITEMS = 3000, TYPE = 4, NAME = 9, LIMIT = 8 };

static struct bed bed;
static _Atomic bool ended;
static uint64_t seed;

static struct item numbered(uint32_t number)
{
    return (struct item){id_number(number), TYPE};
}

static void run(struct hot_request *request, unsigned worker, struct hot_scratch *scratch)
{
    scratch->ranked_used = 0;
    if (hot_try(bed.hot, request, 1, scratch) == 0)
        hot_memory_run_blocking(bed.hot, worker, request, 1, scratch);
}

static int64_t add(uint32_t number, int64_t delta, unsigned worker, struct hot_scratch *scratch)
{
    struct item item = numbered(number);
    struct hot_request request = {.action = HOT_ADD,
                                  .name = NAME,
                                  .items = &item,
                                  .item_count = 1,
                                  .change.delta = delta,
                                  .time_s = 1};
    run(&request, worker, scratch);
    if (request.status != STATUS_OK)
        abort();
    return request.change.value;
}

/* In order, and this one with its value among them. */
static void look(struct id id, int64_t value, unsigned worker, struct hot_scratch *scratch)
{
    struct hot_request request = {
        .action = HOT_TOP, .top.type = TYPE, .name = NAME, .top.limit = LIMIT};
    run(&request, worker, scratch);
    if (request.status == STATUS_BOARD_COUNTING)
        return;
    bool found = false;
    const struct ranked *ranked = scratch->ranked + request.top.first;
    for (uint32_t i = 0; i < request.top.count; i++) {
        if (i > 0 && ranked_order(ranked[i - 1], ranked[i]) >= 0)
            abort();
        found = found || (id_equal(ranked[i].id, id) && ranked[i].value == value);
    }
    if (request.status != STATUS_OK || !found)
        abort();
}

static void *writer(void *argument)
{
    uint32_t worker = *(const uint32_t *)argument;
    struct chance chance = {seed + worker};
    struct hot_scratch scratch = {0};
    uint32_t own = ITEMS + worker;
    add(own, 1 << 30, worker, &scratch);
    for (uint64_t i = test_operations(150000); i > 0; i--) {
        uint32_t other = chance_below(&chance, ITEMS);
        int64_t by = chance_below(&chance, 20);
        add(other, i / 5000 % 2 ? by : -by, worker, &scratch);
        if (chance_below(&chance, 16) == 0) {
            int64_t value = add(own, (int64_t)chance_below(&chance, 7) - 3, worker, &scratch);
            look(id_number(own), value, worker, &scratch);
        }
    }
    free(scratch.ranked);
    return NULL;
}

static void *projecting(void *argument)
{
    struct hot_memory *hot = hot_memory_of(bed.hot);
    (void)argument;
    while (!atomic_load(&ended)) {
        bed_project_all(&bed);
        keeper_round(hot, 1000);
    }
    return NULL;
}

static void *saving(void *argument)
{
    struct hot_memory *hot = hot_memory_of(bed.hot);
    while (!atomic_load(&ended)) {
        uint32_t count = atomic_load(&hot->boards.count);
        for (uint32_t i = 0; i < count; i++)
            atomic_store(&hot->boards.list[i]->thin, true);
        int result = hot_memory_save_boards(bed.hot, argument, 0);
        if (result != 0 && result != -EAGAIN)
            abort();
        usleep(1000);
    }
    return NULL;
}

static void expect_exact(void)
{
    struct ranked best[LIMIT + 1];
    uint32_t count = 0;
    for (uint32_t i = 0; i < ITEMS + WRITERS; i++) {
        struct ranked entry = {id_number(i), bed_count(&bed, numbered(i), NAME)};
        uint32_t at = count;
        for (; entry.value != 0 && at > 0 && ranked_order(entry, best[at - 1]) < 0; at--)
            best[at] = best[at - 1];
        if (entry.value != 0 && at < LIMIT)
            best[at] = entry;
        count += entry.value != 0 && count < LIMIT;
    }
    struct hot_request request = {
        .action = HOT_TOP, .top.type = TYPE, .name = NAME, .top.limit = LIMIT};
    while (bed_run(&bed, &request) == STATUS_BOARD_COUNTING) /* the filler may rest for longer */
        continue;
    assert_int_equal(request.status, STATUS_OK);
    assert_int_equal(request.top.count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(ranked_order(best[i], bed.scratch.ranked[request.top.first + i]), 0);
}

static void test_boards_while_all_moves(void **state)
{
    (void)state;
    char path[] = "/tmp/laud-boards-XXXXXX";
    int fd = mkstemp(path);
    seed = test_seed();
    struct hot_memory_options options = bed_options();
    options.board_entries = 8;
    bed_open_stored(&bed, MIB(64), options);
    bed_keep(&bed, 1);
    hot_memory_of(bed.hot)->boards.enough = UINT32_MAX;
    assert_true(boards_filler_start(hot_memory_of(bed.hot)));
    pthread_t threads[WRITERS + 2];
    uint32_t numbers[WRITERS];
    assert_int_equal(pthread_create(&threads[WRITERS], NULL, projecting, NULL), 0);
    assert_int_equal(pthread_create(&threads[WRITERS + 1], NULL, saving, path), 0);
    for (uint32_t i = 0; i < WRITERS; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, writer, &numbers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    while (bed_stats(&bed).board_fills == 0) /* thin boards are filled, also after fast writers */
        usleep(1000);
    atomic_store(&ended, true);
    for (int i = WRITERS; i < WRITERS + 2; i++)
        pthread_join(threads[i], NULL);
    bed_project_all(&bed);
    expect_exact();
    bed_close(&bed);
    close(fd);
    unlink(path);
}

static uint64_t asked_too_late(struct journal *journal)
{
    (void)journal;
    abort();
}

/* The journal is closed before the hot tier: boards that want to be filled by then are not. */
static void test_stopped_before_the_journal(void **state)
{
    (void)state;
    static const struct journal_ops closed = {.appended = asked_too_late};
    bed_open_stored(&bed, MIB(64), bed_options());
    bed_keep(&bed, 1);
    struct hot_memory *hot = hot_memory_of(bed.hot);
    assert_true(keeper_start(hot) && boards_filler_start(hot));
    hot_stop(bed.hot);
    bed.recorder.journal.ops = &closed;
    boards_recount(hot);
    assert_false(hot->boards.filler.running || hot->keeper.running);
    hot_stop(bed.hot);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boards_while_all_moves),
        cmocka_unit_test(test_stopped_before_the_journal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
