/*
 * Rows taken over against a model: twice and more, in batches of any size, upon what was there
 * before, with exclusive kinds, and in attempts that end before all is in the store.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/name_lists.h"
#include "chance.h"
#include "conform/directory.h"
#include "journal/file/private.h"
#include "journal/file/source_file.h"
#include "move/import.h"
#include "project/catch_up.h"
#include "store/memory/store_memory.h"

enum { USERS = 6, ITEMS = 8, KINDS = 4, COUNTERS = 2, NOW = 1000000, ROWS = 900 };

static const char *const kinds[KINDS] = {"like", "dislike", "love", "save"};
static const char *const counters[COUNTERS] = {"view", "share"};
static const bool grouped[KINDS] = {true, true, true, false};
#define EXCLUSIVE "like,dislike,love"

struct model {
    bool declared;                        /* that kinds are exclusive */
    uint32_t time_s[USERS][ITEMS][KINDS]; /* 0: not live */
    int64_t value[ITEMS][COUNTERS];
};

struct given {
    bool is_counter;
    uint32_t user, item, name, time_s;
    int64_t value;
};

struct stage {
    char directory[32];
    char journal_directory[64];
    char filter_path[64];
    struct memory_budget budget;
    struct store *store;
    struct filters *filters;
    struct names *names;
    struct journal *journal;
    struct source *source;
    struct import *import;
};

static void user_text(uint32_t user, char out[48])
{
    if (user % 3 == 2)
        snprintf(out, 48, "0190163d-8694-739b-aea5-%012x", user);
    else
        snprintf(out, 48, "%u", user + 1);
}

static void item_text(uint32_t item, char out[48])
{
    const char *type = item % 2 == 0 ? "video" : "post";
    if (item % 4 == 3)
        snprintf(out, 48, "%s:5190163d-8694-739b-aea5-%012x", type, item);
    else
        snprintf(out, 48, "%s:%u", type, item);
}

static struct text of(const char *text)
{
    return (struct text){text, strlen(text)};
}

static void stage_open(struct stage *stage)
{
    *stage = (struct stage){.directory = "/tmp/laud-import-XXXXXX", .budget.limit = MIB(256)};
    directory_make(stage->directory);
    snprintf(stage->journal_directory, sizeof stage->journal_directory, "%s/journal",
             stage->directory);
    snprintf(stage->filter_path, sizeof stage->filter_path, "%s/filters", stage->directory);
    stage->store = store_memory_open(&stage->budget);
    stage->filters = filters_new(&stage->budget, 5);
    stage->names = names_new();
    assert_true(stage->store != NULL && stage->filters != NULL && stage->names != NULL);
}

static void stage_close(struct stage *stage)
{
    filters_free(stage->filters);
    store_close(stage->store);
    names_free(stage->names);
    directory_remove(stage->directory);
}

static struct import_options stage_options(struct stage *stage, uint32_t batch_rows)
{
    return (struct import_options){
        .reader = &stage->store->reader,
        .carry = {.filter_path = stage->filter_path,
                  .applier = &stage->store->applier,
                  .admin = &stage->store->admin,
                  .filters = stage->filters,
                  .budget = &stage->budget,
                  .filter_position = 0,
                  .window_ms = 1,
                  .window_events = 50,
                  .checkpoint_bytes = GIB(1),
                  .token_ttl_s = 60,
                  .keep_journal = true},
        .names = stage->names,
        .directory = stage->directory,
        .exclusive = EXCLUSIVE,
        .batch_rows = batch_rows,
        .now_s = NOW,
    };
}

static void import_begin(struct stage *stage, const struct import_options *given)
{
    const struct journal_file_options file = {.directory = stage->journal_directory,
                                              .durability = DURABILITY_COMMIT,
                                              .segment_bytes = KIB(64)};
    const struct journal_tuning tuning = {.ring_bytes = KIB(8),
                                          .others_bytes = KIB(2),
                                          .long_bytes = 640,
                                          .long_max = 152,
                                          .reserve_bytes = KIB(4),
                                          .retry_ms = 5};
    struct journal_report report;
    char problem[256];
    assert_int_equal(journal_file_open_tuned(&file, &tuning, NULL, &report, &stage->journal),
                     STATUS_OK);
    struct import_options options = *given;
    stage->source = source_file_open(stage->journal);
    assert_non_null(stage->source);
    const struct catch_up how = {.window = {.source = stage->source,
                                            .budget = &stage->budget,
                                            .events_max = 64,
                                            .token_ttl_s = 60}};
    if (catch_up_store(&how, &stage->store->applier, stage->filters, report.end, problem,
                       sizeof problem) != STATUS_OK)
        fail_msg("%s", problem);
    options.carry.source = stage->source;
    options.journal = stage->journal;
    stage->import = import_open(&options, problem, sizeof problem);
    if (stage->import == NULL)
        fail_msg("%s", problem);
}

static void import_end(struct stage *stage, bool finish)
{
    if (finish)
        assert_int_equal(import_finish(stage->import), STATUS_OK);
    import_close(stage->import);
    source_close(stage->source);
}

static enum status hand_in(struct stage *stage, const struct given *row)
{
    char user[48], item[48];
    user_text(row->user, user);
    item_text(row->item, item);
    return row->is_counter
               ? import_counter(stage->import, of(item), of(counters[row->name]), row->value)
               : import_reaction(stage->import, of(user), of(kinds[row->name]), of(item),
                                 row->time_s);
}

static void model_take(struct model *model, const struct given *row, struct import_summary *summary)
{
    summary->rows++;
    if (row->is_counter) {
        int64_t *value = &model->value[row->item][row->name];
        *(*value == row->value ? &summary->same : &summary->changed) += 1;
        *value = row->value;
        return;
    }
    uint32_t *times = model->time_s[row->user][row->item];
    uint32_t time_s = row->time_s > NOW ? NOW : row->time_s;
    bool in_group = model->declared && grouped[row->name];
    if (!in_group) {
        *(times[row->name] != 0 ? &summary->same : &summary->changed) += 1;
        times[row->name] = times[row->name] != 0 ? times[row->name] : time_s;
        return;
    }
    uint32_t newest = row->name, live = 0;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        live += grouped[kind] && times[kind] != 0;
        if (grouped[kind] && times[kind] > times[newest])
            newest = kind;
    }
    bool wins = time_s > times[newest];
    uint32_t stays_s = wins ? time_s : times[newest];
    newest = wins ? row->name : newest;
    *(wins || live > 1      ? &summary->changed
      : newest == row->name ? &summary->same
                            : &summary->outdone) += 1;
    for (uint32_t kind = 0; kind < KINDS; kind++)
        if (grouped[kind])
            times[kind] = kind == newest ? stays_s : 0;
}

static struct given any_row(struct chance *chance)
{
    static const int64_t values[] = {0,        1, -1, 5, -700, INT64_MAX, INT64_MIN, INT64_MIN + 1,
                                     1LL << 40};
    struct given row = {.is_counter = chance_below(chance, 4) == 0,
                        .user = chance_below(chance, USERS),
                        .item = chance_below(chance, ITEMS)};
    row.name = chance_below(chance, row.is_counter ? COUNTERS : KINDS);
    row.time_s = 1 + chance_below(chance, chance_below(chance, 2) ? 12 : NOW + 80000);
    row.value = values[chance_below(chance, sizeof values / sizeof values[0])];
    return row;
}

static int index_of(const struct stage *stage, const char *name)
{
    return names_find(stage->names, name, strlen(name));
}

static int64_t stored_count(struct stage *stage, struct item item, int name)
{
    struct store_values values = {0};
    struct store_item key = {.item = item};
    int64_t value = 0;
    assert_int_equal(store_read_items(&stage->store->reader, NULL, &key, 1, &values), STATUS_OK);
    for (uint32_t i = key.first; i < key.first + key.count; i++)
        if (values.values[i].name == name)
            value = values.values[i].value;
    free(values.values);
    return value;
}

static struct item item_of(const struct stage *stage, uint32_t number)
{
    char text[48];
    struct item item = {0};
    item_text(number, text);
    const char *colon = strchr(text, ':');
    int type = names_find_type(stage->names, text, (size_t)(colon - text));
    item.type = type < 0 ? LIMIT_TYPES - 1 : (uint16_t)type;
    assert_true(id_parse(colon + 1, strlen(colon + 1), &item.id));
    return item;
}

static uint32_t stored_time(struct stage *stage, uint32_t user, struct item item, int kind)
{
    char text[48];
    struct store_reaction key = {.item = item, .kind = (uint8_t)kind};
    user_text(user, text);
    assert_true(id_parse(text, strlen(text), &key.user));
    assert_int_equal(store_read_reactions(&stage->store->reader, &key, 1), STATUS_OK);
    if (key.time_s != 0)
        assert_true(filters_may_have_reaction(stage->filters, key.user, key.kind, item));
    return key.time_s;
}

static void expect_state(struct stage *stage, const struct model *model)
{
    for (uint32_t i = 0; i < ITEMS; i++) {
        struct item item = item_of(stage, i);
        for (uint32_t k = 0; k < KINDS; k++) {
            int kind = index_of(stage, kinds[k]);
            int64_t live = 0;
            for (uint32_t u = 0; kind >= 0 && u < USERS; u++) {
                assert_int_equal(stored_time(stage, u, item, kind), model->time_s[u][i][k]);
                live += model->time_s[u][i][k] != 0;
            }
            if (kind >= 0)
                assert_true(stored_count(stage, item, kind) == live);
        }
        for (uint32_t c = 0; c < COUNTERS; c++) {
            int name = index_of(stage, counters[c]);
            assert_true((name < 0 ? 0 : stored_count(stage, item, name)) == model->value[i][c]);
        }
    }
    struct store_report report = {0};
    assert_int_equal(store_verify(&stage->store->admin, NULL, NULL, &report), STATUS_OK);
}

static void expect_summary(const struct import *import, const struct import_summary *wanted)
{
    struct import_summary got;
    import_summary(import, &got);
    assert_int_equal(got.rows, wanted->rows);
    assert_int_equal(got.changed, wanted->changed);
    assert_int_equal(got.same, wanted->same);
    assert_int_equal(got.outdone, wanted->outdone);
}

/* One attempt after the other at the same rows, each from the start, all but the last left. */
static void attempt_all(struct stage *stage, struct model *model, struct chance *chance)
{
    const char *exclusive = model->declared ? EXCLUSIVE : "";
    struct given rows[ROWS] = {0};
    struct import_summary summary = {0};
    uint32_t count = 1 + chance_below(chance, ROWS);
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = any_row(chance);
        model_take(model, &rows[i], &summary);
    }
    for (uint32_t tries = chance_below(chance, 3); tries > 0; tries--) {
        struct import_options options = stage_options(stage, 1 + chance_below(chance, 100));
        options.exclusive = exclusive;
        import_begin(stage, &options);
        uint32_t some = chance_below(chance, count + 1);
        for (uint32_t i = 0; i < some; i++)
            assert_int_equal(hand_in(stage, &rows[i]), STATUS_OK);
        import_end(stage, false);
    }
    struct import_options options = stage_options(stage, 1 + chance_below(chance, 300));
    options.exclusive = exclusive;
    import_begin(stage, &options);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(hand_in(stage, &rows[i]), STATUS_OK);
    import_end(stage, true);
}

static void test_attempts(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    for (int i = 0; i < 12; i++) {
        struct stage stage;
        struct model model = {0};
        stage_open(&stage);
        for (int round = 0; round < 3; round++) {
            model.declared = i % 2 == 0 || round > 0;
            attempt_all(&stage, &model, &chance);
            expect_state(&stage, &model);
        }
        stage_close(&stage);
    }
}

/* Once, and then again: every row is there already, but counters that came with several values. */
static void test_twice(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    struct stage stage;
    struct model model = {.declared = true};
    struct given rows[ROWS];
    stage_open(&stage);
    for (int i = 0; i < ROWS; i++) {
        rows[i] = any_row(&chance);
        if (rows[i].is_counter)
            rows[i].value = rows[i].item * 10 + rows[i].name + 1;
    }
    for (int round = 0; round < 2; round++) {
        struct import_summary summary = {0};
        struct import_options options = stage_options(&stage, 1 + chance_below(&chance, 200));
        import_begin(&stage, &options);
        uint64_t before = journal_appended(stage.journal);
        for (int i = 0; i < ROWS; i++) {
            model_take(&model, &rows[i], &summary);
            assert_int_equal(hand_in(&stage, &rows[i]), STATUS_OK);
        }
        assert_int_equal(import_finish(stage.import), STATUS_OK);
        expect_summary(stage.import, &summary);
        assert_true(round == 0 || summary.changed == 0);
        assert_true(round == 0 || journal_appended(stage.journal) == before);
        import_end(&stage, false);
        expect_state(&stage, &model);
    }
    stage_close(&stage);
}

static void expect_refused(struct stage *stage, enum status status, const char *word)
{
    assert_int_equal(status, STATUS_BAD_ARGUMENT);
    if (strstr(import_problem(stage->import), word) == NULL)
        fail_msg("expected '%s' in: %s", word, import_problem(stage->import));
}

/* Each is refused with a sentence, makes no name, and the next one is taken. */
static void test_bad_rows(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage);
    struct import_options options = stage_options(&stage, 10);
    import_begin(&stage, &options);
    struct import *import = stage.import;
    const struct text one = of("1"), like = of("like"), item = of("video:1"), view = of("view");
    assert_int_equal(import_define(import, NAME_COUNTER, view), STATUS_OK);
    expect_refused(&stage, import_reaction(import, of(""), like, item, 1), "the user ''");
    expect_refused(&stage, import_reaction(import, of("1\x1b[2J"), like, item, 1), "'1?[2J'");
    expect_refused(&stage, import_reaction(import, of("1x"), like, item, 1), "64-bit decimal");
    expect_refused(&stage, import_reaction(import, of("18446744073709551616"), like, item, 1),
                   "id");
    expect_refused(&stage, import_reaction(import, one, of("Like"), item, 1), "the kind 'Like'");
    expect_refused(&stage, import_reaction(import, one, of(""), item, 1), "is not a name");
    expect_refused(&stage, import_reaction(import, one, view, item, 1), "is a counter");
    expect_refused(&stage, import_reaction(import, one, like, of("video"), 1), "as in video:42");
    expect_refused(&stage, import_reaction(import, one, like, of(":1"), 1), "is not an item");
    expect_refused(&stage, import_reaction(import, one, like, of("clip:"), 1), "is not an item");
    expect_refused(&stage, import_reaction(import, one, like, of("clip:1 "), 1), "is not an item");
    expect_refused(&stage, import_reaction(import, one, of("new"), of("clip:1"), 0), "the past");
    expect_refused(&stage, import_reaction(import, one, of("new"), of("clip:1"), NOW + 86401),
                   "--future-as-now");
    expect_refused(&stage, import_reaction(import, of("x"), of("new"), of("clip:1"), 1), "user");
    expect_refused(&stage, import_counter(import, item, like, 5), "only counters can be added to");
    expect_refused(&stage, import_counter(import, item, of("comment"), 5),
                   "only counters can be added to");
    expect_refused(&stage, import_counter(import, of("1"), view, 5), "is not an item");
    expect_refused(&stage, import_define(import, NAME_KIND, view), "is a counter");
    expect_refused(&stage, import_define(import, NAME_TYPE, of("a b")), "is not a name");
    assert_true(index_of(&stage, "new") < 0);
    assert_true(names_find_type(stage.names, "clip", 4) < 0);
    assert_int_equal(import_reaction(import, one, like, item, NOW + 86400), STATUS_OK);
    import_end(&stage, true);
    struct item taken = {.id = {.lo = 1}, .type = 0};
    assert_int_equal(stored_time(&stage, 0, taken, NAME_INDEX_LIKE), NOW); /* as of now */
    stage_close(&stage);
}

/* The clock was an hour ahead once, and set back: rows go where they would have been recorded. */
static void test_recorded_times(void **state)
{
    (void)state;
    enum { OFFSET = 3601, BACK = NOW - 1000 };
    struct stage stage;
    struct spans spans = {0};
    struct timeline *timeline = timeline_new(NULL);
    stage_open(&stage);
    spans_add(&spans, BACK + OFFSET - 1, OFFSET);
    assert_int_equal(spans_write(stage.directory, &spans), 0);
    assert_int_equal(timeline_load(timeline, stage.directory), STATUS_OK);
    struct import_options options = stage_options(&stage, 10);
    options.timeline = timeline;
    options.recorded_s = NOW + OFFSET;
    options.future_as_now = true;
    import_begin(&stage, &options);
    static const struct {
        const char *item;
        uint32_t time_s;
        uint32_t recorded_s;
    } rows[] = {{"video:1", BACK - 1, BACK - 1},
                {"video:2", BACK, BACK + OFFSET},
                {"video:3", NOW, NOW + OFFSET},
                {"video:4", UINT32_MAX, NOW + OFFSET}};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(
            import_reaction(stage.import, of("1"), of("like"), of(rows[i].item), rows[i].time_s),
            STATUS_OK);
    import_end(&stage, true);
    for (size_t i = 0; i < 4; i++) {
        struct item item = {.id = {.lo = i + 1}, .type = 0};
        assert_int_equal(stored_time(&stage, 0, item, NAME_INDEX_LIKE), rows[i].recorded_s);
    }
    struct move_mark mark;
    assert_int_equal(move_mark_read(stage.directory, &mark), STATUS_OK);
    assert_int_equal(mark.newest_s, NOW + OFFSET);
    timeline_free(timeline);
    stage_close(&stage);
}

/* Names that are not listed are refused row by row, also where they are there from before. */
static void test_listed_names(void **state)
{
    (void)state;
    struct stage stage;
    struct name_lists lists = {
        .texts = {[NAME_TYPE] = "video", [NAME_KIND] = EXCLUSIVE, [NAME_COUNTER] = "view"}};
    char sentence[256];
    stage_open(&stage);
    struct import_options options = stage_options(&stage, 10);
    import_begin(&stage, &options);
    const struct text one = of("1"), like = of("like"), video = of("video:1");
    assert_int_equal(import_reaction(stage.import, one, of("save"), of("clip:1"), 5), STATUS_OK);
    import_end(&stage, true);
    assert_int_equal(names_set_lists(stage.names, &lists, sentence, sizeof sentence), STATUS_OK);
    import_begin(&stage, &options);
    struct import *import = stage.import;
    expect_refused(&stage, import_reaction(import, one, of("save"), video, 5),
                   "the kind 'save' is not one of --kinds: like, dislike, love");
    expect_refused(&stage, import_reaction(import, one, like, of("clip:1"), 5),
                   "the type 'clip' is not one of --types: video");
    expect_refused(&stage, import_counter(import, of("clip:1"), of("view"), 5), "'clip'");
    assert_true(index_of(&stage, "view") < 0);
    expect_refused(&stage, import_counter(import, video, of("share"), 5),
                   "not one of --counters: view");
    expect_refused(&stage, import_define(import, NAME_TYPE, of("post")), "one of --types");
    assert_int_equal(import_reaction(import, one, like, video, 5), STATUS_OK);
    assert_int_equal(import_counter(import, video, of("view"), 5), STATUS_OK);
    import_end(&stage, true);
    assert_true(index_of(&stage, "share") < 0);
    stage_close(&stage);
}

/* Indices follow the definitions, whatever the configuration's own kinds are. */
static void test_definitions_first(void **state)
{
    (void)state;
    struct stage stage;
    stage_open(&stage);
    struct import_options options = stage_options(&stage, 10);
    import_begin(&stage, &options);
    assert_int_equal(import_define(stage.import, NAME_KIND, of("save")), STATUS_OK);
    assert_int_equal(import_define(stage.import, NAME_COUNTER, of("view")), STATUS_OK);
    assert_int_equal(import_define(stage.import, NAME_KIND, of("dislike")), STATUS_OK);
    assert_int_equal(import_counter(stage.import, of("video:1"), of("view"), 1), STATUS_OK);
    import_end(&stage, true);
    assert_int_equal(index_of(&stage, "save"), 2);
    assert_int_equal(index_of(&stage, "view"), 3);
    assert_int_equal(index_of(&stage, "dislike"), 4);
    assert_int_equal(index_of(&stage, "love"), 5);
    stage_close(&stage);
}

static struct move_mark mark_of(const struct stage *stage)
{
    struct move_mark mark;
    assert_int_equal(move_mark_read(stage->directory, &mark), STATUS_OK);
    return mark;
}

/* Left and begun again, it goes on behind what has arrived; finished, there is nothing to go on. */
static void test_mark(void **state)
{
    (void)state;
    struct stage stage;
    uint64_t offset, line;
    char item[32];
    stage_open(&stage);
    assert_int_equal(mark_of(&stage).until, 0);
    struct import_options options = stage_options(&stage, 10);
    options.source = (struct move_source){.bytes = 10000, .changed_ns = 2, .check = 3};
    import_begin(&stage, &options);
    for (uint32_t i = 0; i < 95; i++) {
        snprintf(item, sizeof item, "video:%u", i);
        import_place(stage.import, i * 100, i);
        assert_int_equal(import_reaction(stage.import, of("1"), of("save"), of(item), 5),
                         STATUS_OK);
    }
    import_end(&stage, false);
    struct move_mark mark = mark_of(&stage);
    assert_true(mark.until == UINT64_MAX);
    assert_true(mark.line >= 60 && mark.line <= 90 && mark.line % 10 == 0);
    assert_int_equal(mark.offset, mark.line * 100);
    struct item last = {.id = {.lo = mark.line - 1}};
    assert_int_equal(stored_time(&stage, 0, last, index_of(&stage, "save")), 5);

    import_begin(&stage, &options);
    import_resume_place(stage.import, &offset, &line);
    assert_int_equal(line, mark.line);
    assert_int_equal(offset, mark.offset);
    import_place(stage.import, 9500, 95);
    assert_int_equal(import_flush(stage.import), STATUS_OK);
    import_end(&stage, false);
    assert_int_equal(mark_of(&stage).line, 95);

    options.source.check++;
    import_begin(&stage, &options);
    import_resume_place(stage.import, &offset, &line);
    assert_int_equal(line + offset, 0);
    import_place(stage.import, 300, 3);
    assert_int_equal(import_flush(stage.import), STATUS_OK);
    import_end(&stage, false);
    options.from_start = true;
    import_begin(&stage, &options);
    import_resume_place(stage.import, &offset, &line);
    assert_int_equal(line + offset, 0);
    import_end(&stage, true);
    mark = mark_of(&stage);
    assert_int_equal(mark.until, store_position(&stage.store->applier));
    assert_int_equal(mark.offset + mark.source.bytes, 0);
    assert_int_equal(mark.newest_s, NOW);
    stage_close(&stage);
}

static void hand_in_at(struct stage *stage, const char *kind, uint32_t time_s, bool timed)
{
    enum status status =
        timed ? import_reaction(stage->import, of("1"), of(kind), of("video:0"), time_s)
              : import_untimed(stage->import, of("1"), of(kind), of("video:0"), time_s);
    assert_int_equal(status, STATUS_OK);
}

/* A time that was made up neither moves one that is known nor decides between exclusive kinds. */
static void test_untimed(void **state)
{
    (void)state;
    struct stage stage;
    struct import_summary summary;
    stage_open(&stage);
    for (uint32_t round = 0; round < 3; round++) {
        struct import_options options = stage_options(&stage, 1 + round);
        import_begin(&stage, &options);
        hand_in_at(&stage, "like", 100, true);
        hand_in_at(&stage, "like", 1000 + round, false);
        hand_in_at(&stage, "dislike", 1000 + round, false);
        hand_in_at(&stage, "save", 1000 + round, false);
        assert_int_equal(import_finish(stage.import), STATUS_OK);
        import_summary(stage.import, &summary);
        assert_int_equal(summary.changed, round == 0 ? 2 : 0);
        assert_int_equal(summary.outdone, 1);
        import_end(&stage, false);
        struct item item = item_of(&stage, 0);
        assert_int_equal(stored_time(&stage, 0, item, index_of(&stage, "like")), 100);
        assert_int_equal(stored_time(&stage, 0, item, index_of(&stage, "dislike")), 0);
        assert_int_equal(stored_time(&stage, 0, item, index_of(&stage, "save")), 1000);
    }
    stage_close(&stage);
}

static enum status changes_since(struct stage *stage, uint32_t since_s, uint32_t *newest_s)
{
    struct store_listed listed[8];
    struct store_changed changed;
    enum status status = store_list_changes(&stage->store->reader, (struct id){.lo = 1}, since_s,
                                            (struct store_listed){0}, listed, 8, &changed);
    *newest_s = changed.newest_s;
    return status;
}

/* What is taken over is of long ago, where no cursor of CHANGES looks any more: they start over. */
static void test_cursors(void **state)
{
    (void)state;
    struct stage stage;
    uint32_t newest_s, cursor_s = 0;
    stage_open(&stage);
    struct import_options options = stage_options(&stage, 10);
    options.carry.changes_ttl_s = 500;
    for (uint32_t round = 0; round < 3; round++) {
        const struct given row = {.item = round, .time_s = 5};
        for (uint32_t again = 0; again < 2; again++) {
            import_begin(&stage, &options);
            assert_int_equal(hand_in(&stage, &row), STATUS_OK);
            assert_int_equal(import_flush(stage.import), STATUS_OK);
            import_end(&stage, again == 1);
            if (again == 0 && round > 0)
                assert_int_equal(changes_since(&stage, cursor_s, &newest_s), STATUS_START_OVER);
            if (again == 0)
                changes_since(&stage, 0, &cursor_s);
            assert_int_equal(cursor_s, NOW + round);
            assert_int_equal(changes_since(&stage, cursor_s, &newest_s), STATUS_OK);
            assert_int_equal(newest_s, cursor_s);
        }
    }
    const struct given counter = {.is_counter = true, .item = 1, .value = 7};
    import_begin(&stage, &options);
    assert_int_equal(hand_in(&stage, &counter), STATUS_OK);
    import_end(&stage, true);
    assert_int_equal(changes_since(&stage, cursor_s, &newest_s), STATUS_OK);
    stage_close(&stage);
}

#ifdef LAUD_FAULTS
/* The journal fails on the way: the import says why and takes nothing more. */
static void test_journal_fails(void **state)
{
    (void)state;
    struct stage stage;
    struct chance chance = {test_seed()};
    enum status status = STATUS_OK;
    stage_open(&stage);
    struct import_options options = stage_options(&stage, 50);
    import_begin(&stage, &options);
    assert_int_equal(io_faults_plan("segment.write:3:EIO"), 0);
    for (int i = 0; i < 100000 && status == STATUS_OK; i++) {
        struct given row = any_row(&chance);
        status = hand_in(&stage, &row);
    }
    assert_int_equal(io_faults_plan(NULL), 0);
    assert_int_equal(status, STATUS_READONLY);
    assert_non_null(strstr(import_problem(stage.import), "writing a batch failed"));
    struct given row = any_row(&chance);
    assert_int_equal(hand_in(&stage, &row), STATUS_READONLY);
    assert_int_equal(import_flush(stage.import), STATUS_READONLY);
    assert_int_equal(import_finish(stage.import), STATUS_READONLY);
    import_end(&stage, false);
    assert_true(mark_of(&stage).until == UINT64_MAX);
    stage_close(&stage);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attempts),      cmocka_unit_test(test_twice),
        cmocka_unit_test(test_bad_rows),      cmocka_unit_test(test_definitions_first),
        cmocka_unit_test(test_mark),          cmocka_unit_test(test_cursors),
        cmocka_unit_test(test_untimed),       cmocka_unit_test(test_recorded_times),
        cmocka_unit_test(test_listed_names),
#ifdef LAUD_FAULTS
        cmocka_unit_test(test_journal_fails),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
