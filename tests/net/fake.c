#include "fake.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "http/face.h"
#include "journal/file/journal_file.h"
#include "journal/helper.h"
#include "live/live.h"
#include "resp/face.h"

#define PATIENCE_S 60

static struct fake *fake_of(struct hot *hot)
{
    return (struct fake *)hot; /* its first member */
}

static void add_counter(struct hot_scratch *scratch, struct hot_answer *answer, int64_t value)
{
    if (scratch->used == scratch->capacity) {
        scratch->capacity = scratch->capacity ? 2 * scratch->capacity : 4;
        scratch->counters =
            realloc(scratch->counters, scratch->capacity * sizeof *scratch->counters);
        assert_non_null(scratch->counters);
    }
    answer->first = scratch->used;
    answer->count = 1;
    scratch->counters[scratch->used++] = (struct hot_counter){value, NAME_INDEX_COMMENT};
}

/* Removes as much as it gets leave for. */
static void answer_sweep(struct fake *fake, struct hot_request *request)
{
    enum status status = STATUS_OK;
    request->value = 0;
    while (request->value < request->limit &&
           (status = request->leave->take(request->leave, LIMIT_BATCH)) == STATUS_OK)
        for (uint32_t i = 0; i < LIMIT_BATCH; i++, request->value++)
            journal_append(fake->journal,
                           &(struct event){.type = EVENT_CLEAR, .item = request->items[0]});
    request->more = status != STATUS_OK;
    request->status = request->value > 0 || status == STATUS_BLOCKED ? STATUS_OK : status;
}

static void answer(struct fake *fake, struct hot_request *request, struct hot_scratch *scratch)
{
    const struct item *items = request->items;
    bool writes = request->action <= HOT_ADD;
    if (request->action == HOT_DROP) {
        answer_sweep(fake, request);
        return;
    }
    request->status = STATUS_OK;
    request->value = request->action == HOT_ADD ? (int64_t)items[0].id.lo : 1;
    if (writes)
        journal_append(fake->journal,
                       &(struct event){.type = EVENT_SET, .user = request->user, .item = items[0]});
    for (uint32_t i = 0; !writes && i < request->item_count; i++) {
        struct hot_answer *out = &request->answers[i];
        *out = (struct hot_answer){.count = 0};
        if (request->action == HOT_ASK && items[i].id.lo % 2 == 1)
            kind_set_add(&out->kinds, request->name);
        else if (request->action != HOT_ASK)
            add_counter(scratch, out,
                        items[i].id.lo == MOVING ? fake->moving : (int64_t)items[i].id.lo);
    }
}

static bool is_cold(const struct fake *fake, const struct hot_request *request)
{
    uint64_t id = request->items[0].id.lo;
    return (id >= COLD || (id == MOVING && fake->early)) && !request->memory_only;
}

static size_t fake_run(struct hot *hot, struct hot_request *requests, size_t count,
                       struct hot_scratch *scratch)
{
    for (size_t i = 0; i < count; i++) {
        if (is_cold(fake_of(hot), &requests[i]))
            return i;
        answer(fake_of(hot), &requests[i], scratch);
    }
    return count;
}

static void fake_run_blocking(struct hot *hot, unsigned worker, struct hot_request *requests,
                              size_t count, struct hot_scratch *scratch)
{
    struct fake *fake = fake_of(hot);
    bool early = fake->early;
    assert_true(worker < LIMIT_WORKERS);
    for (size_t i = 0; early && i < count; i++)
        answer(fake, &requests[i], scratch);
    pthread_mutex_lock(&fake->lock);
    fake->inside++;
    pthread_cond_broadcast(&fake->moved);
    while (!fake->open)
        pthread_cond_wait(&fake->moved, &fake->lock);
    fake->inside--;
    fake->ran += count;
    pthread_mutex_unlock(&fake->lock);
    for (size_t i = 0; !early && i < count; i++)
        answer(fake, &requests[i], scratch);
}

static enum status fake_admit(struct hot *hot)
{
    return (enum status)atomic_load(&fake_of(hot)->admits);
}

static void fake_stats(struct hot *hot, struct hot_stats *out)
{
    (void)hot;
    *out = (struct hot_stats){0};
}

static void fake_close(struct hot *hot)
{
    (void)hot;
}

static const struct hot_ops ops = {.name = "fake",
                                   .run = fake_run,
                                   .run_blocking = fake_run_blocking,
                                   .admit = fake_admit,
                                   .stats = fake_stats,
                                   .close = fake_close};

void fake_init(struct fake *fake)
{
    char problem[256];
    bool help;
    struct journal_report report;
    memset(fake, 0, sizeof *fake);
    fake->hot.ops = &ops;
    pthread_mutex_init(&fake->lock, NULL);
    pthread_cond_init(&fake->moved, NULL);
    assert_true(options_read(&fake->options, 0, NULL, &help, problem, sizeof problem));
    fake->options.resp.port = 0;
    fake->options.http.port = 0;
    fake->budget.limit = MIB(64);
    fake->names = names_new();
    uint16_t type;
    assert_int_equal(names_intern(fake->names, NAME_TYPE, "video", 5, &type), STATUS_OK);
    directory_make(fake->directory);
    struct journal_file_options options = {.directory = fake->directory,
                                           .segment_bytes = LIMIT_SEGMENT_MIN};
    struct journal_reading reading = {.visit = NULL};
    assert_int_equal(journal_file_open(&options, &reading, &report, &fake->journal), STATUS_OK);
    fake->parts = (struct server_parts){.options = &fake->options,
                                        .resp = &resp_face,
                                        .http = &http_face,
                                        .streams = &live_streams,
                                        .names = fake->names,
                                        .hot = &fake->hot,
                                        .journal = fake->journal,
                                        .budget = &fake->budget};
    fake->metrics = (struct embedded_metrics){.options = &fake->options,
                                              .names = fake->names,
                                              .hot = &fake->hot,
                                              .journal = fake->journal};
}

void fake_start(struct fake *fake)
{
    char problem[512];
    fake->used = memory_used(&fake->budget);
    fake->metrics.lag_slow_bytes = fake->parts.lag_slow_bytes;
    fake->metrics.lag_max_bytes = fake->parts.lag_max_bytes;
    embedded_metrics_add(&fake->metrics, &fake->parts.sources);
    live_metrics_add(&fake->server, &fake->parts.sources);
    if (!server_start(&fake->server, &fake->parts, 1, problem, sizeof problem))
        fail_msg("%s", problem);
}

void fake_stop(struct fake *fake)
{
    fake_gate(fake, true);
    if (!atomic_load(&fake->server.guard.stopping))
        server_stop(&fake->server);
    journal_close(fake->journal);
    server_free(&fake->server);
    assert_int_equal(memory_used(&fake->budget), fake->used);
    assert_int_equal(fake->server.connections, 0);
    names_free(fake->names);
    directory_remove(fake->directory);
    pthread_cond_destroy(&fake->moved);
    pthread_mutex_destroy(&fake->lock);
}

void fake_gate(struct fake *fake, bool open)
{
    pthread_mutex_lock(&fake->lock);
    fake->open = open;
    pthread_cond_broadcast(&fake->moved);
    pthread_mutex_unlock(&fake->lock);
}

void fake_await_inside(struct fake *fake, int count)
{
    pthread_mutex_lock(&fake->lock);
    while (fake->inside != count)
        pthread_cond_wait(&fake->moved, &fake->lock);
    pthread_mutex_unlock(&fake->lock);
}

uint64_t fake_ran(struct fake *fake)
{
    pthread_mutex_lock(&fake->lock);
    uint64_t ran = fake->ran;
    pthread_mutex_unlock(&fake->lock);
    return ran;
}

int client_open(struct fake *fake)
{
    return client_open_port(fake->server.resp_port);
}

int client_open_port(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = PATIENCE_S};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
    return fd;
}

void client_send(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

void client_expect(int fd, const char *text)
{
    char got[4096];
    size_t length = strlen(text);
    assert_true(length < sizeof got);
    ssize_t count = recv(fd, got, length, MSG_WAITALL);
    assert_true(count >= 0);
    got[count] = '\0';
    assert_string_equal(got, text);
}

void client_expect_none(int fd)
{
    char byte;
    assert_int_equal(recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK), -1);
}

void client_expect_end(int fd)
{
    char byte;
    assert_int_equal(recv(fd, &byte, 1, 0), 0);
}

void client_read_line(int fd, char *line, size_t size)
{
    size_t length = 0;
    do {
        assert_true(length + 1 < size);
        assert_int_equal(recv(fd, line + length, 1, 0), 1);
        length++;
    } while (length < 2 || line[length - 1] != '\n');
    line[length - 2] = '\0';
}

int fake_begin(void **state)
{
    fake_init(*state);
    fake_start(*state);
    return 0;
}

int fake_end(void **state)
{
    fake_stop(*state);
    return 0;
}
