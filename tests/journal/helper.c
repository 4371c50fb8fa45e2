#include "helper.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/names.h"

char test_directory[64];

void directory_make(char path[64])
{
    bool memory = access("/dev/shm", W_OK) == 0;
    snprintf(path, 64, "%s/laud-test.XXXXXX", memory ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(path));
}

void directory_remove(const char *path)
{
    DIR *open = opendir(path);
    struct dirent *entry;
    assert_non_null(open);
    while ((entry = readdir(open)) != NULL) {
        char name[512];
        struct stat facts;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        assert_int_equal(lstat(name, &facts), 0);
        if (S_ISDIR(facts.st_mode))
            directory_remove(name);
        else
            assert_int_equal(unlink(name), 0);
    }
    closedir(open);
    assert_int_equal(rmdir(path), 0);
}

int directory_setup(void **state)
{
    (void)state;
    directory_make(test_directory);
    return 0;
}

int directory_teardown(void **state)
{
    (void)state;
    directory_remove(test_directory);
    return 0;
}

static const uint32_t short_bodies[] = {1, 7, 8, 9, 100};
static const uint32_t *body_lengths = short_bodies;
static size_t body_count = sizeof short_bodies / sizeof *short_bodies;
static uint8_t body_bytes[LIMIT_EVENT_BODY + 256];

__attribute__((constructor)) static void make_bodies(void)
{
    struct chance chance = {7};
    for (size_t i = 0; i < sizeof body_bytes; i++)
        body_bytes[i] = (uint8_t)chance_next(&chance);
}

void sample_set_bodies(const uint32_t *lengths, size_t count)
{
    body_lengths = lengths;
    body_count = count;
}

const uint8_t *sample_body(uint64_t number, uint32_t length)
{
    assert_true(length <= LIMIT_EVENT_BODY);
    return body_bytes + number % 256;
}

struct event sample_event(uint64_t number)
{
    struct chance chance = {number};
    uint64_t bits = chance_next(&chance);
    struct event event = {.time_s = (uint32_t)chance_next(&chance)};
    struct id user = {bits & 1 ? chance_next(&chance) | 1 : 0, chance_next(&chance)};
    struct id item = {bits & 2 ? chance_next(&chance) | 1 : 0, chance_next(&chance)};
    event.type = (uint8_t)(number % 16 == 0   ? EVENT_DEFINE
                           : number % 16 == 7 ? EVENT_COMMENT
                                              : EVENT_SET + (bits >> 2) % 3);
    if (event.type == EVENT_DEFINE) {
        event.name = (uint8_t)(NAME_TYPE + (bits >> 4) % 4);
        event.index = (uint16_t)((bits >> 8) % LIMIT_NAMES);
        event.text_length = (uint8_t)(1 + (bits >> 16) % LIMIT_NAME_LENGTH);
        for (size_t i = 0; i < event.text_length; i++)
            event.text[i] = (char)('a' + chance_next(&chance) % 26);
        return event;
    }
    event.item = (struct item){.id = item, .type = (uint16_t)((bits >> 8) % LIMIT_TYPES)};
    event.name = (uint8_t)((bits >> 24) % LIMIT_NAMES);
    if (event.type == EVENT_COMMENT) {
        event.user = user;
        event.name = (uint8_t)(1 + (bits >> 24) % 255);
        event.body_length = body_lengths[number / 16 % body_count];
        event.body = sample_body(number, event.body_length);
        return event;
    }
    if (event.type == EVENT_ADD) {
        event.delta = (int64_t)chance_next(&chance);
        event.has_token = bits >> 32 & 1;
        event.token[0] = event.has_token ? chance_next(&chance) : 0;
        event.token[1] = event.has_token ? chance_next(&chance) : 0;
        return event;
    }
    event.user = user;
    event.cleared_count = (uint8_t)((bits >> 40) % (event_cleared_max(event.type) + 1U));
    for (size_t i = 0; i < event.cleared_count; i++)
        event.cleared[i] = (uint8_t)(chance_next(&chance) % LIMIT_NAMES);
    return event;
}

uint64_t sample_position(uint64_t number)
{
    uint64_t position = 0;
    for (uint64_t i = 0; i < number; i++) {
        struct event event = sample_event(i);
        position += record_size(&event);
    }
    return position;
}

struct sample_check sample_check_from(uint64_t number)
{
    return (struct sample_check){.count = number, .bytes = sample_position(number)};
}

bool event_equal(const struct event *a, const struct event *b)
{
    return a->type == b->type && a->name == b->name && a->cleared_count == b->cleared_count &&
           a->text_length == b->text_length && memcmp(a->cleared, b->cleared, 8) == 0 &&
           a->time_s == b->time_s && a->index == b->index && a->has_token == b->has_token &&
           id_equal(a->user, b->user) && item_equal(a->item, b->item) && a->delta == b->delta &&
           a->token[0] == b->token[0] && a->token[1] == b->token[1] &&
           memcmp(a->text, b->text, sizeof a->text) == 0 && a->body_length == b->body_length &&
           (a->body_length == 0 || memcmp(a->body, b->body, a->body_length) == 0);
}

enum status sample_visit(void *context, const struct event *event, uint64_t position, size_t size)
{
    struct sample_check *check = context;
    struct event expected = sample_event(check->count);
    if (!event_equal(event, &expected) || position != check->bytes)
        check->wrong = true;
    check->count++;
    check->bytes += size;
    return STATUS_OK;
}

struct journal_tuning small_tuning(void)
{
    return (struct journal_tuning){
        .ring_bytes = KIB(8),
        .others_bytes = KIB(2),
        .long_bytes = 640,
        .long_max = 152,
        .reserve_bytes = KIB(4),
        .retry_ms = 5,
    };
}

struct journal_tuning large_tuning(void)
{
    struct journal_tuning tuning = small_tuning();
    tuning.ring_bytes = KIB(64);
    tuning.long_bytes = 2 * LIMIT_EVENT_LONG;
    tuning.long_max = LIMIT_EVENT_LONG;
    return tuning;
}

uint64_t user_segment_bytes = SMALL_SEGMENT;

static void user_heard(void *context)
{
    struct user *user = context;
    pthread_mutex_lock(&user->lock);
    user->calls++;
    pthread_cond_broadcast(&user->heard);
    pthread_mutex_unlock(&user->lock);
}

static enum status open_at(struct user *user, const char *directory, enum durability durability,
                           const struct journal_tuning *tuning, uint64_t number)
{
    struct journal_tuning small = small_tuning();
    struct journal_file_options options = {
        .directory = directory,
        .durability = durability,
        .interval_ms = 100,
        .segment_bytes = user_segment_bytes,
    };
    *user = (struct user){.found = sample_check_from(number)};
    struct journal_reading reading = {
        .visit = sample_visit, .context = &user->found, .from = user->found.bytes};
    enum status status = journal_file_open_tuned(&options, tuning != NULL ? tuning : &small,
                                                 &reading, &user->report, &user->journal);
    if (status != STATUS_OK) {
        user->journal = NULL;
        return status;
    }
    pthread_mutex_init(&user->lock, NULL);
    pthread_cond_init(&user->heard, NULL);
    user->appended = user->found.count;
    user->end = user->found.bytes;
    journal_listen(user->journal, user_heard, user);
    return status;
}

enum status user_open(struct user *user, const char *directory, enum durability durability,
                      const struct journal_tuning *tuning)
{
    return open_at(user, directory, durability, tuning, 0);
}

enum status user_open_from(struct user *user, const char *directory, enum durability durability,
                           uint64_t number)
{
    return open_at(user, directory, durability, NULL, number);
}

void user_close(struct user *user)
{
    if (user->journal == NULL)
        return;
    journal_close(user->journal);
    user->journal = NULL;
    pthread_cond_destroy(&user->heard);
    pthread_mutex_destroy(&user->lock);
}

uint64_t user_calls(struct user *user)
{
    pthread_mutex_lock(&user->lock);
    uint64_t calls = user->calls;
    pthread_mutex_unlock(&user->lock);
    return calls;
}

void user_await_call(struct user *user, uint64_t before)
{
    pthread_mutex_lock(&user->lock);
    while (user->calls == before)
        pthread_cond_wait(&user->heard, &user->lock);
    pthread_mutex_unlock(&user->lock);
}

enum status user_reserve_long(struct user *user, size_t bytes)
{
    for (;;) {
        uint64_t before = user_calls(user);
        enum status status = journal_reserve(user->journal, bytes);
        if (status != STATUS_BLOCKED)
            return status;
        journal_kick(user->journal);
        user_await_call(user, before);
    }
}

/* Appends the next event under the present admission. False: the journal does not take it. */
static bool user_append_next(struct user *user)
{
    struct event event = sample_event(user->appended);
    if (event_is_long(&event) && user_reserve_long(user, event_bytes_max(&event)) != STATUS_OK)
        return false;
    user->end = journal_append(user->journal, &event);
    user->appended++;
    return true;
}

uint64_t user_append(struct user *user, uint64_t count)
{
    uint64_t done = 0;
    while (done < count) {
        uint64_t before = user_calls(user);
        enum status status = journal_admit(user->journal, LIMIT_BATCH * LIMIT_EVENT_BYTES);
        if (status == STATUS_BLOCKED) {
            user_await_call(user, before);
            continue;
        }
        if (status != STATUS_OK)
            break;
        bool taken = true;
        for (int i = 0; taken && i < LIMIT_BATCH && done < count; i++) {
            taken = user_append_next(user);
            done += taken;
        }
        journal_kick(user->journal);
        if (!taken)
            break;
    }
    return done;
}

enum status user_wait(struct user *user)
{
    for (;;) {
        uint64_t before = user_calls(user);
        if (journal_released(user->journal) >= user->end)
            return STATUS_OK;
        if (journal_state(user->journal) == STATUS_READONLY)
            return STATUS_READONLY;
        user_await_call(user, before);
    }
}

void user_await_state(struct user *user, enum status state)
{
    for (;;) {
        uint64_t before = user_calls(user);
        if (journal_state(user->journal) == state)
            return;
        user_await_call(user, before);
    }
}

uint64_t count_samples_from(const char *directory, uint64_t number)
{
    struct sample_check check = sample_check_from(number);
    struct journal_report report;
    struct journal_reading reading = {
        .visit = sample_visit, .context = &check, .from = check.bytes};
    enum status status = journal_file_verify(directory, &reading, &report);
    if (status != STATUS_OK)
        fail_msg("%s: %s", status_name(status), report.problem);
    assert_false(check.wrong);
    assert_int_equal(report.first, sample_position(number));
    assert_int_equal(check.count, number + report.events);
    return check.count;
}

uint64_t count_samples(const char *directory)
{
    return count_samples_from(directory, 0);
}
