/* `laud check` on a directory with a store: what it takes for damage, and what for a remark. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/names.h"
#include "cli/check.h"
#include "journal/file/journal_file.h"
#include "journal/file/source_file.h"
#include "project/catch_up.h"
#include "store/rocksdb/store_rocksdb.h"

enum { LIKES = 360, TEXT = 8192 }; /* LIKES: each of 40 users and 90 items in turn, no pair twice */

static char data[64];
static char journal_path[80];
static char store_path[80];
static char filter_path[80];
static char output[TEXT];
static char errors[TEXT];
static struct memory_budget budget = {.limit = UINT64_MAX};
static struct store *store;
static struct filters *filters;
static uint64_t middle; /* a position between two events */
static uint64_t end;    /* of the journal */

/* Sends what is written to `fd` to a file for a while. */
struct redirection {
    int fd;
    int before;
    FILE *file;
};

static struct redirection redirect(int fd)
{
    struct redirection to = {.fd = fd, .before = dup(fd), .file = tmpfile()};
    assert_true(to.before >= 0 && to.file != NULL);
    assert_int_equal(dup2(fileno(to.file), fd), fd);
    return to;
}

static void read_back(struct redirection *from, char text[TEXT])
{
    dup2(from->before, from->fd);
    close(from->before);
    rewind(from->file);
    text[fread(text, 1, TEXT - 1, from->file)] = '\0';
    fclose(from->file);
}

static int check(void)
{
    char *argv[] = {"check", data, NULL};
    fflush(NULL);
    struct redirection out = redirect(1);
    struct redirection err = redirect(2);
    int result = check_main(2, argv);
    fflush(NULL);
    read_back(&out, output);
    read_back(&err, errors);
    return result;
}

static void assert_says(const char *text, const char *words)
{
    if (strstr(text, words) == NULL)
        fail_msg("no '%s' in: %s", words, text);
}

static struct event like_of(uint64_t number)
{
    struct event event = {.type = EVENT_SET, .time_s = 1700000000, .user = {0, number % 40}};
    event.item.id.lo = number % 90;
    return event;
}

static void make_journal(void)
{
    struct journal_file_options options = {
        .directory = journal_path, .durability = DURABILITY_COMMIT, .segment_bytes = MIB(4)};
    struct journal_report report;
    struct journal *journal;
    struct event type = {.type = EVENT_DEFINE, .name = NAME_TYPE, .text_length = 5};
    memcpy(type.text, "video", 5);
    assert_int_equal(journal_file_open(&options, NULL, &report, &journal), STATUS_OK);
    assert_int_equal(journal_admit(journal, LIMIT_EVENT_BYTES), STATUS_OK);
    journal_append(journal, &type);
    for (uint64_t i = 0; i < LIKES; i++) {
        struct event event = like_of(i);
        assert_int_equal(journal_admit(journal, LIMIT_EVENT_BYTES), STATUS_OK);
        end = journal_append(journal, &event);
        if (i == 100)
            middle = end;
    }
    journal_kick(journal);
    journal_close(journal);
}

static void carry(uint64_t to)
{
    char problem[256];
    struct source *source = source_file_open_directory(journal_path, end);
    assert_non_null(source);
    struct catch_up how = {.window = {.source = source, .budget = &budget, .events_max = 64}};
    enum status status =
        catch_up_store(&how, &store->applier, filters, to, problem, sizeof problem);
    assert_int_equal(status, STATUS_OK);
    source_close(source);
}

static void save_filters(uint64_t position)
{
    assert_int_equal(filters_save(filters, filter_path, position), 0);
}

/* The store goes to disk, and nobody has it open any more. */
static void close_store(void)
{
    if (store == NULL)
        return;
    assert_int_equal(store_flush(&store->applier), STATUS_OK);
    store_close(store);
    store = NULL;
}

static int setup(void **state)
{
    (void)state;
    char problem[256];
    snprintf(data, sizeof data, "/tmp/laud-check-XXXXXX");
    assert_non_null(mkdtemp(data));
    snprintf(journal_path, sizeof journal_path, "%s/journal", data);
    snprintf(store_path, sizeof store_path, "%s/store", data);
    snprintf(filter_path, sizeof filter_path, "%s/filters", data);
    make_journal();
    struct store_rocksdb_options options = {.directory = store_path};
    store = store_rocksdb_open(&options, problem, sizeof problem);
    filters = filters_new(&budget, 7);
    assert_true(store != NULL && filters != NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    close_store();
    filters_free(filters);
    snprintf(command, sizeof command, "rm -r %s", data);
    return system(command);
}

static void test_all_of_it_fits(void **state)
{
    (void)state;
    char position[64];
    carry(end);
    save_filters(end);
    close_store();
    assert_int_equal(check(), 0);
    assert_string_equal(errors, "");
    snprintf(position, sizeof position, "position    %llu", (unsigned long long)end);
    assert_says(output, position);
    assert_says(output, "reactions   360");
    assert_says(output, "counters    90");
    assert_says(output, "result      clean");
    assert_null(strstr(output, "remark"));
}

static void test_a_store_that_has_everything_to_come(void **state)
{
    (void)state;
    close_store();
    assert_int_equal(check(), 0);
    assert_says(output, "position    0");
    assert_says(output, "reactions   0");
}

static void test_no_store(void **state)
{
    (void)state;
    char command[128];
    close_store();
    snprintf(command, sizeof command, "rm -r %s/*", store_path);
    assert_int_equal(system(command), 0);
    assert_int_equal(check(), 0);
    assert_says(output, "store       none");
    assert_int_equal(rmdir(store_path), 0);
    assert_int_equal(check(), 0);
}

static void test_a_count_that_is_wrong(void **state)
{
    (void)state;
    struct store_count one_more = {.item.id.lo = 42, .name = NAME_INDEX_LIKE, .value = 1};
    struct store_changes changes = {
        .item.counts = &one_more, .item.count_count = 1, .position = end};
    carry(middle);
    assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
    close_store();
    assert_int_equal(check(), 1);
    assert_says(errors, "damaged: the store: video:42: the counter like is 2, but there are 1");
    assert_says(output, "result      damaged");
}

static void test_a_store_beyond_the_journal(void **state)
{
    (void)state;
    struct store_changes nothing = {.position = end + 32};
    carry(end);
    assert_int_equal(store_apply(&store->applier, &nothing), STATUS_OK);
    close_store();
    assert_int_equal(check(), 1);
    assert_says(errors, "but the journal ends at");
    assert_says(output, "reactions   360"); /* the store is looked at all the same */
}

static void test_a_store_that_does_not_open(void **state)
{
    (void)state;
    char path[128];
    carry(end);
    close_store();
    snprintf(path, sizeof path, "%s/CURRENT", store_path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(check(), 1);
    assert_says(errors, "its file CURRENT is missing");
    assert_says(output, "events      361");
}

static void test_filters_that_a_start_makes_anew(void **state)
{
    (void)state;
    carry(end);
    close_store();
    assert_int_equal(check(), 0);
    assert_says(output, "is not there; the next start builds them again");
    save_filters(end + 32);
    assert_int_equal(check(), 0);
    assert_says(
        output,
        "they were not written at the same time as the store; the next start builds them again");
    save_filters(end);
    assert_int_equal(truncate(filter_path, 2000), 0);
    assert_int_equal(check(), 0);
    assert_says(output, "it has the wrong length; the next start builds them again");
    assert_string_equal(errors, "");
}

static void test_filters_that_are_behind(void **state)
{
    (void)state;
    carry(middle);
    save_filters(middle);
    carry(end);
    close_store();
    assert_int_equal(check(), 0);
    assert_null(strstr(output, "remark"));
}

static void test_filters_that_deny(void **state)
{
    (void)state;
    carry(middle);
    save_filters(end);
    carry(end);
    close_store();
    assert_int_equal(check(), 1);
    assert_says(errors, "the filters say that there is no ");
    assert_says(errors, "remove the file filters");
}

/* They cannot be made anew, but a start does without. */
static void test_windowed_boards(void **state)
{
    (void)state;
    char path[80];
    const struct trend_options options = {.budget = &budget, .memory = MIB(1)};
    struct trends *trends = trends_new(&options);
    snprintf(path, sizeof path, "%s/trends", data);
    carry(end);
    save_filters(end);
    close_store();
    trends_begin(trends, middle, 0);
    assert_int_equal(trends_save(trends, path), 0);
    assert_int_equal(check(), 0);
    assert_says(output, "trends, of position 3");
    assert_null(strstr(output, "remark"));
    trends_begin(trends, end + 32, 0);
    assert_int_equal(trends_save(trends, path), 0);
    assert_int_equal(check(), 0);
    assert_says(output, "remark      trends: they are newer than the store");
    assert_int_equal(truncate(path, 70), 0);
    assert_int_equal(check(), 0);
    assert_says(output,
                "it has the wrong length; the next start begins with empty windowed boards");
    assert_string_equal(errors, "");
    trends_free(trends);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
#ifdef __SANITIZE_THREAD__
    puts("RocksDB is not built for the thread sanitizer, which would call its locks races");
    return 77; /* skipped */
#endif
    const struct CMUnitTest tests[] = {
        CASE(test_all_of_it_fits),
        CASE(test_a_store_that_has_everything_to_come),
        CASE(test_no_store),
        CASE(test_a_count_that_is_wrong),
        CASE(test_a_store_beyond_the_journal),
        CASE(test_a_store_that_does_not_open),
        CASE(test_filters_that_a_start_makes_anew),
        CASE(test_filters_that_are_behind),
        CASE(test_filters_that_deny),
        CASE(test_windowed_boards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
