/*
 * Killed at any point, the projector goes on exactly. The test starts itself again as an *actor*,
 * which recovers what is in a directory, appends events and projects them into RocksDB until it is
 * killed: at a named point between two steps, at any call on a file, or at any moment. Then as a
 * *checker*, which recovers in the same way and holds everything to the world. One directory goes
 * through many lives, and the checker often leaves without closing, so that a crash follows on a
 * crash.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "journal/helper.h"
#include "project/catch_up.h"
#include "stage.h"
#include "store/rocksdb/store_rocksdb.h"

/* Without named faults a kill comes at any moment only, which is not worth as much. */
#ifdef LAUD_FAULTS
#define KILLS 220
#else
#define KILLS 60
#endif

enum { TRIALS_MAX = 2000, LIVES = 40, ACTOR_ROUNDS = 25, ROUND_EVENTS = 160 };

/* Shared by test and actor: what the actor was told is safe. */
static _Atomic uint64_t *acknowledged;

static struct stage stage;
static uint64_t filter_position;
static uint64_t trend_position;

static void map_acknowledged(const char *directory)
{
    char path[96];
    snprintf(path, sizeof path, "%s/acknowledged", directory);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, sizeof *acknowledged), 0);
    acknowledged = mmap(NULL, sizeof *acknowledged, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(acknowledged != MAP_FAILED);
    close(fd);
}

static struct world world_at(uint64_t seed, uint64_t position)
{
    struct world world;
    world_start(&world, seed);
    while (world.position < position)
        world_next(&world);
    assert_int_equal(world.position, position); /* between two events */
    return world;
}

/* Every so often a batch is bulk to it, and in every other life that is two files. */
static struct store *open_store(const char *directory, uint32_t bulk_min)
{
    char path[96];
    char problem[256] = "";
    snprintf(path, sizeof path, "%s/store", directory);
    const struct store_rocksdb_options options = {.directory = path,
                                                  .cache_bytes = MIB(1),
                                                  .write_buffer_bytes = MIB(2),
                                                  .batch_max = 1024,
                                                  .bulk_min = bulk_min,
                                                  .bulk_apart = bulk_min % 2 == 1};
    struct store *store = store_rocksdb_open(&options, problem, sizeof problem);
    if (store == NULL)
        fail_msg("%s", problem);
    return store;
}

static struct catch_up how(void)
{
    return (struct catch_up){.window = {.source = stage.source,
                                        .budget = &stage.budget,
                                        .events_max = 64,
                                        .token_ttl_s = 60,
                                        .changes_ttl_s = WORLD_CHANGES_TTL_S},
                             .trends = stage.trends,
                             .now_s = (uint32_t)(clock_wall_ms() / 1000)};
}

/* Without a file the journal is still whole: it goes after the files are there. */
static void load_trends(uint64_t position)
{
    char problem[256] = "";
    enum status status = trends_load(stage.trends, stage.trend_path, problem, sizeof problem);
    if (status != STATUS_OK && status != STATUS_MORE)
        fail_msg("%s", problem);
    trend_position = trends_position(stage.trends);
    assert_true(trend_position <= position);
}

static void follow_trends(uint64_t position)
{
    char problem[256] = "";
    const struct catch_up all = how();
    if (catch_up_trends(&all, position, problem, sizeof problem) != STATUS_OK)
        fail_msg("%s", problem);
    assert_int_equal(trends_position(stage.trends), position);
}

/* As a server starts: journal, store at D, boards at T <= D, filters at F <= D, then all at D. */
static void recover(const char *directory, uint64_t seed, uint32_t bulk_min)
{
    char problem[256] = "";
    stage_open(&stage, directory, seed, DURABILITY_COMMIT, open_store(directory, bulk_min));
    uint64_t position = store_position(&stage.store->applier);
    assert_true(position <= stage.report.end);
    load_trends(position);
    enum status status = filters_load(stage.filters, stage.filter_path, &filter_position, NULL,
                                      NULL, problem, sizeof problem);
    const struct catch_up all = how();
    if (status == STATUS_MORE) {
        filter_position = 0;
        status = filters_rebuild(stage.filters, &stage.store->admin, NULL, NULL);
    } else if (status == STATUS_OK) {
        assert_true(filter_position <= position);
        status = catch_up_filters(&all, stage.filters, filter_position, position, problem,
                                  sizeof problem);
    }
    if (status != STATUS_OK)
        fail_msg("%s: %s", status_name(status), problem);
    follow_trends(position);
}

static int act(const char *directory, uint64_t seed, uint64_t choice, const char *plan)
{
    struct chance chance = {choice};
    map_acknowledged(directory);
#ifdef LAUD_FAULTS
    assert_int_equal(io_faults_plan(plan), 0);
#else
    assert_string_equal(plan, "");
#endif
    recover(directory, seed, 20 + chance_below(&chance, 300));
    stage.world = world_at(seed, stage.report.end);
    struct projector_options options = stage_options(&stage);
    options.window_events = 1 + chance_below(&chance, 300);
    options.checkpoint_bytes = KIB(2) + chance_below(&chance, KIB(20));
    options.filter_position = filter_position;
    options.trend_position = trend_position;
    struct projector *projector = stage_start(&options);
    for (int i = 0; i < ACTOR_ROUNDS; i++) {
        stage_append(&stage, 1 + chance_below(&chance, ROUND_EVENTS));
        stage_wait_durable(&stage);
        atomic_store(acknowledged, stage.world.position);
        if (chance_below(&chance, 3) == 0)
            stage_wait_moved(&stage, stage.world.position);
    }
    projector_stop(projector);
    stage_close(&stage);
    return 0;
}

/* The filters hold what is live, each once: nothing was added or removed twice. */
static void expect_state(const struct world *world, uint64_t seed)
{
    world_expect_trends(seed, world->position, stage.trends);
    world_expect_store(world, stage.store);
    world_expect_filters(world, stage.filters);
    uint64_t reactions = 0;
    const uint32_t *cells = &world->time_s[0][0][0];
    for (size_t i = 0; i < sizeof world->time_s / sizeof *cells; i++)
        reactions += cells[i] != 0;
    struct filter_stats live;
    struct filter_stats known;
    filters_stats(stage.filters, &live, &known);
    assert_int_equal(live.keys, reactions);
    assert_false(live.open);
}

static int check(const char *directory, uint64_t seed, uint64_t choice)
{
    map_acknowledged(directory);
    recover(directory, seed, 60);
    uint64_t end = stage.report.end;
    assert_true(end >= atomic_load(acknowledged));
    struct world world = world_at(seed, store_position(&stage.store->applier));
    expect_state(&world, seed);
    char problem[256] = "";
    const struct catch_up all = how();
    if (catch_up_store(&all, &stage.store->applier, stage.filters, end, problem, sizeof problem) !=
        STATUS_OK)
        fail_msg("%s", problem);
    world = world_at(seed, end);
    expect_state(&world, seed);
    if (choice % 4 != 0)
        _exit(0); /* the store is back at its last flush */
    stage_close(&stage);
    return 0;
}

/* What a child is asked to do, and how it ended (waitpid's status). */
static int run_self(const char *role, const char *directory, uint64_t seed, uint64_t choice,
                    const char *plan, useconds_t kill_after_us)
{
    char seed_text[24];
    char choice_text[24];
    snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)seed);
    snprintf(choice_text, sizeof choice_text, "%llu", (unsigned long long)choice);
    const char *arguments[] = {"test_kill", role, directory, seed_text, choice_text, plan, NULL};
    pid_t child;
    int status;
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL,
                                 (char *const *)(uintptr_t)arguments, environ),
                     0);
    if (kill_after_us > 0) {
        usleep(kill_after_us); /* any moment will do */
        assert_int_equal(kill(child, SIGKILL), 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static const char *const points[] = {
    "project.read",         "project.folded", "project.before",    "project.applied",
    "project.after",        "project.flush",  "project.flushed",   "project.save",
    "project.saved",        "project.forget", "project.forgotten", "project.trends",
    "project.trends_saved",
};
enum { POINTS = sizeof points / sizeof *points };

struct tally {
    uint32_t trials;
    uint32_t kills;
    uint32_t at_point[POINTS];
    uint32_t at_call;
    uint32_t at_any_time;
};

static bool was_killed(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void expect_end(int status)
{
    if (!was_killed(status) && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
        fail_msg("a child ended with %#x", (unsigned)status);
}

static void trial(const char *directory, uint64_t seed, struct chance *chance, struct tally *tally)
{
    char plan[64] = "";
    useconds_t after_us = 0;
    uint32_t *count = &tally->at_any_time;
#ifdef LAUD_FAULTS
    uint32_t way = tally->trials % (POINTS + 4);
#else
    uint32_t way = POINTS;
#endif
    tally->trials++;
    if (way < POINTS) {
        snprintf(plan, sizeof plan, "%s:%u:KILL", points[way], 1 + chance_below(chance, 10));
        count = &tally->at_point[way];
    } else if (way < POINTS + 2) {
        after_us = 1000 + chance_below(chance, 120000);
    } else {
        snprintf(plan, sizeof plan, "*:%u:KILL", 1 + chance_below(chance, 400));
        count = &tally->at_call;
    }
    int status = run_self("actor", directory, seed, chance_next(chance), plan, after_us);
    expect_end(status);
    tally->kills += was_killed(status);
    *count += was_killed(status);
    status = run_self("checker", directory, seed, chance_next(chance), "", 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("after a kill at \"%s\" (or after %u us) the checker ended with %#x", plan,
                 (unsigned)after_us, (unsigned)status);
}

static uint32_t kills_wanted(void)
{
    const char *text = getenv("LAUD_KILLS");
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : KILLS;
}

/* As many as wanted, and some at each point: how often one is passed depends on the machine. */
static bool is_enough(const struct tally *tally)
{
    bool enough = tally->kills >= kills_wanted();
#ifdef LAUD_FAULTS
    for (size_t i = 0; kills_wanted() >= KILLS && i < POINTS; i++)
        enough = enough && tally->at_point[i] > 0;
#endif
    return enough || tally->trials == TRIALS_MAX;
}

static void test_kills(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    print_message(
        "RocksDB is not built for the thread sanitizer, which would call its locks races\n");
    skip();
#endif
    struct chance chance = {test_seed()};
    struct tally tally = {0};
    while (!is_enough(&tally)) {
        char directory[64];
        uint64_t seed = chance_next(&chance);
        directory_make(directory);
        for (int i = 0; i < LIVES && !is_enough(&tally); i++)
            trial(directory, seed, &chance, &tally);
        directory_remove(directory);
    }
    print_message("%u kills in %u lives: %u at a call, %u at any moment\n", tally.kills,
                  tally.trials, tally.at_call, tally.at_any_time);
    assert_true(tally.kills >= kills_wanted());
#ifdef LAUD_FAULTS
    for (size_t i = 0; i < POINTS; i++) {
        print_message("%u at %s\n", tally.at_point[i], points[i]);
        if (kills_wanted() >= KILLS)
            assert_true(tally.at_point[i] > 0);
    }
#endif
}

int main(int argc, char **argv)
{
    if (argc == 6) {
        uint64_t seed = strtoull(argv[3], NULL, 10);
        uint64_t choice = strtoull(argv[4], NULL, 10);
        return strcmp(argv[1], "actor") == 0 ? act(argv[2], seed, choice, argv[5])
                                             : check(argv[2], seed, choice);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_kills)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
