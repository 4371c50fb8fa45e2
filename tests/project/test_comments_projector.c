/*
 * The projector with comments: what its callback is told and when, that it continues after a failure of the store,
 * and that catching up at start makes the same rows.
 */
#include <sched.h>
#include <string.h>

#include "comment_world.h"
#include "conform/directory.h"
#include "journal/file/journal_file.h"
#include "journal/file/source_file.h"
#include "project/catch_up.h"
#include "project/private.h"
#include "store/memory/store_memory.h"

enum { EVENTS = 600 };

static struct memory_budget budget;

/* A journal with a world of comments, and what a projector needs besides it. */
struct scene {
    char directory[40];
    char filter_path[64];
    struct comment_world *world;
    struct journal *journal;
    struct source *source;
    struct store *store;
    struct filters *filters;
    struct names *names;
    struct projector *projector;
    uint64_t told;  /* calls of `parents` */
    uint64_t moved; /* calls of `moved` */
};

static enum status make_room(struct scene *scene, const struct event *event)
{
    return event_is_long(event) ? journal_reserve(scene->journal, event_bytes_max(event))
                                : journal_admit(scene->journal, LIMIT_EVENT_BYTES);
}

/* Appends all events and returns the end of the journal, which is closed. */
static uint64_t append_all(struct scene *scene)
{
    for (size_t i = 0; i < scene->world->event_count; i++) {
        while (make_room(scene, &scene->world->events[i]) == STATUS_BLOCKED) {
            journal_kick(scene->journal);
            sched_yield();
        }
        journal_append(scene->journal, &scene->world->events[i]);
    }
    uint64_t end = journal_appended(scene->journal);
    journal_kick(scene->journal);
    journal_close(scene->journal);
    return end;
}

static void scene_open(struct scene *scene)
{
    char journal[64];
    struct journal_report report;
    budget = (struct memory_budget){.limit = GIB(1)};
    *scene = (struct scene){.directory = "/tmp/laud-comments-XXXXXX"};
    directory_make(scene->directory);
    snprintf(journal, sizeof journal, "%s/journal", scene->directory);
    snprintf(scene->filter_path, sizeof scene->filter_path, "%s/filters", scene->directory);
    const struct journal_file_options options = {
        .directory = journal, .durability = DURABILITY_COMMIT, .segment_bytes = MIB(4)};
    assert_int_equal(journal_file_open(&options, NULL, &report, &scene->journal), STATUS_OK);
    scene->world = comment_world_new(test_seed());
    while (scene->world->event_count < EVENTS)
        comment_world_next(scene->world);
    scene->source = source_file_open_directory(journal, append_all(scene));
    scene->store = store_memory_open(&budget);
    scene->filters = filters_new(&budget, 3);
    scene->names = names_new();
    assert_true(scene->source != NULL && scene->store != NULL && scene->filters != NULL);
}

static void scene_close(struct scene *scene)
{
    names_free(scene->names);
    filters_free(scene->filters);
    store_close(scene->store);
    source_close(scene->source);
    comment_world_free(scene->world);
    assert_int_equal(memory_used(&budget), 0);
    directory_remove(scene->directory);
}

static enum status collect(void *context, const struct store_row *row)
{
    cw_rows_add(context, row->table, row->key.data, row->key.length, row->value.data,
                row->value.length);
    return STATUS_OK;
}

static void assert_rows(struct scene *scene)
{
    struct cw_rows have = {0}, want;
    const struct store_visitor visitor = {.row = collect, .context = &have};
    assert_int_equal(store_visit(&scene->store->admin, &visitor), STATUS_OK);
    cw_rows_sort(&have);
    comment_world_rows(scene->world, &want);
    assert_int_equal(have.count, want.count);
    assert_memory_equal(have.at, want.at, have.count * sizeof have.at[0]);
    cw_rows_free(&have);
    cw_rows_free(&want);
}

static struct comments_options comments_of(struct scene *scene)
{
    return (struct comments_options){.names = scene->names,
                                     .dislike = "dislike",
                                     .report = "report",
                                     .reader = &scene->store->reader};
}

/* The store has the window already, and nobody can know its position yet. */
static void parents(void *context, const struct item *items, size_t count)
{
    struct scene *scene = context;
    struct projector_stats stats;
    projector_stats(scene->projector, &stats);
    assert_true(count > 0);
    assert_true(store_position(&scene->store->applier) > stats.position);
    for (size_t i = 0; i < count; i++)
        assert_true(items[i].type == CW_TYPE_VIDEO || items[i].type == CW_TYPE_COMMENT);
    scene->told++;
}

static void moved(void *context, uint64_t position)
{
    struct scene *scene = context;
    assert_int_equal(store_position(&scene->store->applier), position);
    scene->moved++;
}

static void test_parents_come_before_the_position(void **state)
{
    (void)state;
    struct scene scene;
    char problem[256] = "";
    scene_open(&scene);
    const struct projector_options options = {.filter_path = scene.filter_path,
                                              .source = scene.source,
                                              .applier = &scene.store->applier,
                                              .admin = &scene.store->admin,
                                              .filters = scene.filters,
                                              .budget = &budget,
                                              .window_ms = 1,
                                              .window_events = 20,
                                              .checkpoint_bytes = GIB(1),
                                              .comments = comments_of(&scene),
                                              .parents = parents,
                                              .moved = moved,
                                              .keep_journal = true,
                                              .context = &scene};
    scene.projector = projector_new(&options, problem, sizeof problem);
    if (scene.projector == NULL)
        fail_msg("%s", problem);
    enum projector_step step;
    do
        step = projector_step(scene.projector);
    while (step == STEP_MOVED);
    assert_int_equal(step, STEP_IDLE);
    assert_rows(&scene);
    assert_true(scene.told > 0 && scene.told <= scene.moved && scene.moved >= EVENTS / 20);
    projector_free(scene.projector);
    scene_close(&scene);
}

static void test_catching_up_makes_the_same_rows(void **state)
{
    (void)state;
    struct scene scene;
    char problem[256] = "";
    struct source_view view;
    scene_open(&scene);
    source_view(scene.source, &view);
    const struct catch_up how = {.window = {.source = scene.source,
                                            .budget = &budget,
                                            .events_max = 33,
                                            .comments = comments_of(&scene)}};
    enum status status = catch_up_store(&how, &scene.store->applier, scene.filters, view.available,
                                        problem, sizeof problem);
    if (status != STATUS_OK)
        fail_msg("%s", problem);
    assert_rows(&scene);
    scene_close(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parents_come_before_the_position),
        cmocka_unit_test(test_catching_up_makes_the_same_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
