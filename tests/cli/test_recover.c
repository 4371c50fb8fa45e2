/* Recovery that does not come to its end: what it says, and that nothing is lost by it. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/data_directory.h"
#include "cli/seed.h"
#include "comment/comment_id.h"
#include "comment/content.h"
#include "hot/memory/hot_memory_priv.h"
#include "journal/file/journal_file.h"

enum { COMMENT_TIME_S = 1800000000 };
enum { LIKES = 70000, TEXT = 8192 }; /* LIKES: more than between two questions of a rebuild */

static char data[64];
static char journal_path[80];
static char said[TEXT];
static uint64_t wrong; /* position of an event that contradicts those before it */
static uint64_t asked; /* whether to stop */
static uint64_t stop_at;

/* What a server holds of it. */
struct started {
    struct options options;
    struct sizes sizes;
    struct memory_budget budget;
    struct exclusive exclusive;
    struct recovered parts;
};

static struct started started;

static bool is_stopping(void)
{
    return ++asked == stop_at;
}

static void append(struct journal *journal, const struct event *event)
{
    while ((event_is_long(event) ? journal_reserve(journal, event_bytes_max(event))
                                 : journal_admit(journal, LIMIT_EVENT_BYTES)) == STATUS_BLOCKED) {
        journal_kick(journal);
        sched_yield();
    }
    journal_append(journal, event);
}

static struct journal *begin_journal(void)
{
    struct journal_file_options options = {
        .directory = journal_path, .durability = DURABILITY_COMMIT, .segment_bytes = MIB(4)};
    struct journal_report report;
    struct journal *journal;
    struct event type = {.type = EVENT_DEFINE, .name = NAME_TYPE, .text_length = 5};
    memcpy(type.text, "video", 5);
    assert_int_equal(journal_file_open(&options, NULL, &report, &journal), STATUS_OK);
    append(journal, &type);
    return journal;
}

static void add_likes(struct journal *journal, uint64_t from, uint64_t count)
{
    for (uint64_t i = from; i < from + count; i++) {
        struct event like = {.type = EVENT_SET, .time_s = 1700000000, .user = {0, i}};
        like.item.id.lo = i % 90;
        append(journal, &like);
    }
}

static void end_journal(struct journal *journal)
{
    journal_kick(journal);
    journal_close(journal);
}

/* Recovers, as a server would, and takes what it says. */
static bool start(const char *store, const char *memory)
{
    char *argv[] = {"--data",          data,
                    "--store",         (char *)(uintptr_t)store,
                    "--max-memory",    (char *)(uintptr_t)memory,
                    "--window-events", "1000",
                    "--lag-max",       "1"};
    char problem[512];
    bool help;
    memset(&started, 0, sizeof started);
    assert_true(options_read(&started.options, 10, argv, &help, problem, sizeof problem));
    started.parts.exclusive = &started.exclusive;
    started.parts.is_stopping = is_stopping;
    asked = 0;
    fflush(NULL);
    FILE *file = tmpfile();
    int before = dup(2);
    assert_true(file != NULL && before >= 0 && dup2(fileno(file), 2) == 2);
    bool recovered =
        data_directory_recover(&started.parts, &started.options, &started.sizes, &started.budget);
    fflush(NULL);
    dup2(before, 2);
    close(before);
    rewind(file);
    said[fread(said, 1, TEXT - 1, file)] = '\0';
    fclose(file);
    return recovered;
}

static void stop(void)
{
    if (started.parts.hot != NULL)
        hot_stop(started.parts.hot);
    if (started.parts.journal != NULL)
        journal_close(started.parts.journal);
    recover_close(&started.parts);
}

static uint64_t reactions_in_store(void)
{
    struct store_stats stats;
    store_stats(&started.parts.store->admin, &stats);
    return stats.reactions;
}

static void assert_says(const char *words)
{
    if (strstr(said, words) == NULL)
        fail_msg("no '%s' in: %s", words, said);
}

static int setup(void **state)
{
    (void)state;
    snprintf(data, sizeof data, "/tmp/laud-recover-XXXXXX");
    assert_non_null(mkdtemp(data));
    snprintf(journal_path, sizeof journal_path, "%s/journal", data);
    stop_at = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", data);
    return system(command);
}

static enum status refuse_wrong(void *context, const struct event *event, uint64_t position,
                                size_t size)
{
    (void)context;
    (void)event;
    (void)size;
    return position == wrong ? STATUS_DAMAGED : STATUS_OK;
}

/* A clearing of what is not there, behind so many likes and before others. */
static void expect_wrong_is_named(uint64_t before, uint64_t after)
{
    struct journal_report report;
    struct journal_reading reading = {.visit = refuse_wrong};
    struct journal *journal = begin_journal();
    add_likes(journal, 0, before);
    wrong = journal_appended(journal);
    struct event clear = {.type = EVENT_CLEAR, .time_s = 1700000000, .user = {0, 1u << 30}};
    append(journal, &clear);
    add_likes(journal, before, after);
    end_journal(journal);
    assert_int_equal(journal_file_verify(journal_path, &reading, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, ".seg, offset "));
    assert_false(start("none", "64M"));
    stop();
    assert_says(report.problem);
}

static void test_a_wrong_event_is_named_itself(void **state)
{
    (void)state;
    expect_wrong_is_named(70, 1000);
}

static void test_a_wrong_event_at_the_end_is_named_too(void **state)
{
    (void)state;
    expect_wrong_is_named(70, 5);
}

static void test_too_much_for_memory_is_no_damage(void **state)
{
    (void)state;
    struct journal *journal = begin_journal();
    add_likes(journal, 0, 400000);
    end_journal(journal);
    assert_false(start("none", "48M"));
    stop();
    assert_says(
        "cannot start: the data does not fit in memory: raise --max-memory, which is 48 MiB");
    assert_null(strstr(said, "offset"));
    assert_true(start("none", "256M"));
    stop();
}

/* Without a store the tables keep their seed; a file that is not good is told, and made anew. */
static void test_alone_the_seed_stays(void **state)
{
    (void)state;
    char path[RECOVER_PATH_BYTES];
    end_journal(begin_journal());
    assert_true(start("none", "64M"));
    uint64_t seed = started.parts.seed;
    assert_int_equal(started.budget.reserve, started.sizes.connections + started.sizes.replay);
    stop();
    assert_true(start("none", "64M"));
    assert_true(started.parts.seed == seed);
    stop();
    snprintf(path, sizeof path, "%s/" SEED_NAME, data);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("laud-seed 1 0123456789abcdeg\n", file);
    fclose(file);
    assert_true(start("none", "64M"));
    assert_says("seed cannot be read");
    seed = started.parts.seed;
    stop();
    assert_true(start("none", "64M"));
    assert_true(started.parts.seed == seed);
    stop();
}

/* Stops at its n-th question, for all n up to where there is no other; how many there were. */
static uint64_t stop_everywhere(const char *store)
{
    for (uint64_t n = 1;; n = n < 4 ? n + 1 : n * 2) {
        stop_at = n;
        bool done = start(store, "128M");
        if (done && !started.parts.stopped)
            return asked;
        assert_true(started.parts.stopped);
        assert_null(strstr(said, "error"));
        stop();
    }
}

static void test_it_can_be_stopped_anywhere(void **state)
{
    (void)state;
    struct journal *journal = begin_journal();
    add_likes(journal, 0, LIKES);
    end_journal(journal);
    struct hot_stats stats;
    assert_true(stop_everywhere("none") >= 2);
    hot_collect(started.parts.hot, &stats);
    assert_int_equal(stats.reactions, LIKES);
    stop();

    assert_true(stop_everywhere("rocksdb") >= LIKES / 1000); /* it carries the journal there */
    assert_int_equal(reactions_in_store(), LIKES);
    assert_int_equal(store_flush(&started.parts.store->applier), STATUS_OK);
    stop();

    stop_at = 1; /* there is no file of filters: they are made from the store */
    assert_false(start("rocksdb", "128M"));
    assert_true(started.parts.stopped);
    assert_says("building the filters again");
    assert_null(strstr(said, "built the filters"));
    stop();
    stop_at = 0;
    assert_true(start("rocksdb", "128M"));
    assert_int_equal(reactions_in_store(), LIKES);
    stop();
}

/* Likes, and before each a comment with a text, of all sizes. */
static void add_comments(struct journal *journal, uint64_t count)
{
    static const uint32_t lengths[] = {1, 900, 10000, LIMIT_COMMENT_TEXT};
    static uint8_t body[COMMENT_BODY_BYTES], bytes[COMMENT_CONTENT_BYTES];
    static char text[LIMIT_COMMENT_TEXT];
    struct event type = event_define(NAME_TYPE, 1, "comment", 7, COMMENT_TIME_S);
    struct item subject = {.id = {.lo = 5}};
    struct comment_clock clock = {0};
    append(journal, &type);
    for (uint32_t i = 0; i < count; i++) {
        memset(text, 'a' + (int)(i % 26), sizeof text);
        const struct comment_content content = {.text = {text, lengths[i % 4]}};
        struct comment_body post = {
            .has_subject = true,
            .has_comment = true,
            .has_content = true,
            .subject = {.item = subject, .next_floor = i + 2, .roots = i + 1},
            .comment = {.subject = subject,
                        .author = {.lo = i},
                        .floor = i + 1,
                        .next_floor = 1,
                        .time_s = COMMENT_TIME_S + i,
                        .was_open = true},
            .content = bytes,
            .content_length = (uint32_t)comment_content_encode(&content, bytes),
            .subject_delta = 1};
        assert_true(comment_id_next(&clock, COMMENT_TIME_S + i, gene(subject), &post.comment.id));
        struct event comment = {.type = EVENT_COMMENT,
                                .name = COMMENT_EVENT_ADD,
                                .time_s = COMMENT_TIME_S + i,
                                .user = {0, i},
                                .item = subject,
                                .body = body};
        comment.body_length = (uint32_t)comment_body_encode(COMMENT_EVENT_ADD, &post, body);
        append(journal, &comment);
        add_likes(journal, i, 1);
    }
}

static uint64_t comments_in_store(void)
{
    struct store_item item = {.item = {.id = {.lo = 5}}};
    struct store_values values = {0};
    uint64_t count = 0;
    struct store_reader *reader = &started.parts.store->reader;
    assert_int_equal(store_read_items(reader, NULL, &item, 1, &values), STATUS_OK);
    for (uint32_t i = 0; i < item.count; i++)
        if (values.values[i].name == NAME_INDEX_COMMENT)
            count = (uint64_t)values.values[i].value;
    free(values.values);
    return count;
}

static void test_long_events_are_replayed_and_projected(void **state)
{
    (void)state;
    enum { COUNT = 800 };
    struct hot_stats stats;
    struct journal *journal = begin_journal();
    add_comments(journal, COUNT);
    uint64_t end = journal_appended(journal);
    end_journal(journal);
    assert_true(end > MIB(4)); /* more than a window of the projector takes */
    assert_true(start("none", "64M"));
    hot_collect(started.parts.hot, &stats);
    assert_int_equal(stats.reactions, COUNT);
    assert_int_equal(atomic_load(&hot_memory_of(started.parts.hot)->floor_s),
                     COMMENT_TIME_S + COUNT - 1);
    stop();
    assert_true(start("rocksdb", "64M"));
    assert_says("writing them to the store first");
    assert_int_equal(reactions_in_store(), COUNT);
    assert_int_equal(comments_in_store(), COUNT);
    assert_int_equal(store_position(&started.parts.store->applier), end);
    stop();
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
#ifdef __SANITIZE_THREAD__
    puts("RocksDB is not built for the thread sanitizer, which would call its locks races");
    return 77; /* skipped */
#endif
    const struct CMUnitTest tests[] = {
        CASE(test_a_wrong_event_is_named_itself),
        CASE(test_a_wrong_event_at_the_end_is_named_too),
        CASE(test_too_much_for_memory_is_no_damage),
        CASE(test_alone_the_seed_stays),
        CASE(test_it_can_be_stopped_anywhere),
        CASE(test_long_events_are_replayed_and_projected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
