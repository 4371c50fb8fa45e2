#include "fake.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "hot/comments.h"
#include "http/face.h"
#include "journal/file/journal_file.h"
#include "journal/helper.h"
#include "live/live.h"
#include "query/comment_cards.h"
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

/* Removes as much as it is admitted for, piece by piece. */
static void answer_removal(struct fake *fake, struct hot_request *request, unsigned worker)
{
    enum status status = STATUS_OK;
    struct admission_pieces pieces =
        admission_pieces_begin(&fake->admission, &fake->pacers[worker]);
    while (request->remove.removed < request->remove.limit &&
           (status = admission_piece(&pieces, LIMIT_BATCH)) == STATUS_OK)
        for (uint32_t i = 0; i < LIMIT_BATCH; i++, request->remove.removed++)
            journal_append(fake->journal,
                           &(struct event){.type = EVENT_CLEAR, .item = request->items[0]});
    request->remove.more = status != STATUS_OK;
    request->status = request->remove.removed > 0 || status == STATUS_BLOCKED ? STATUS_OK : status;
}

/* A comment has the id of its item, and its floor is made from the bytes that a worker must still have. */
static void answer_comment(struct hot_request *request)
{
    const struct hot_detail *detail = hot_detail_of(request);
    if ((hot_flags(request->action) & HOT_WRITES) == 0) {
        request->status = STATUS_NO_COMMENT;
        return;
    }
    request->comment.value = 1;
    if (request->action == HOT_COMMENT) {
        request->comment.id = request->items[0].id.lo;
        for (size_t i = 0; i < detail->text.length; i++)
            request->comment.floor += (uint8_t)detail->text.bytes[i];
        request->comment.repeated = detail->has_token;
        if (detail->text.bytes[0] == '=')
            request->status = STATUS_COMMENT_REPEATED;
    } else if (request->action == HOT_EDIT && !hot_detail_allows(detail, 0)) {
        request->status = STATUS_NO_COMMENT; /* all its comments are on items of the first type */
    }
}

/*
 * The comments of an item change whenever its counter does: then the comment whose id is the counter's value
 * was removed. Changes are remembered since value 1.
 */
static void answer_news(struct fake *fake, struct hot_request *request, struct hot_scratch *scratch)
{
    struct comment_view view = {.scratch = scratch};
    uint64_t id = request->items[0].id.lo, value = id == MOVING ? (uint64_t)fake->moving : id;
    request->status = fake->closed ? STATUS_SUBJECT_CLOSED : STATUS_OK;
    request->cards.page = cards_page(scratch);
    assert_int_not_equal(request->cards.page, UINT32_MAX);
    struct hot_cards_page *page = &scratch->pages[request->cards.page];
    page->first = scratch->cards_used;
    page->news = (struct hot_news){.since = 2, .until = value + 1, .now = value + 1};
    uint64_t after = request->cards.after != HOT_NEWS_BEGIN ? request->cards.after : value + 1;
    for (uint64_t change = after < 2 ? 2 : after; change <= value; change++) {
        assert_true(cards_add_absent(&view, change));
        scratch->cards[scratch->cards_used - 1].changed = change + 1;
    }
    page->count = scratch->cards_used - page->first;
}

static void answer(struct fake *fake, struct hot_request *request, struct hot_scratch *scratch,
                   unsigned worker)
{
    const struct item *items = request->items;
    bool writes = hot_request_writes(request);
    if (request->action == HOT_DROP) {
        answer_removal(fake, request, worker);
        return;
    }
    if (request->action == HOT_COMMENT_NEWS) {
        answer_news(fake, request, scratch);
        return;
    }
    request->status = STATUS_OK;
    if (hot_is_comments(request->action)) {
        answer_comment(request);
        return;
    }
    if (writes) {
        request->change.value = request->action == HOT_ADD ? (int64_t)items[0].id.lo : 1;
        journal_append(fake->journal,
                       &(struct event){.type = EVENT_SET, .user = request->user, .item = items[0]});
    }
    bool answers = (hot_flags(request->action) & HOT_HAS_ANSWERS) != 0;
    for (uint32_t i = 0; answers && i < request->item_count; i++) {
        struct hot_answer *out = &request->read.answers[i];
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
    uint64_t id = request->item_count > 0 ? request->items[0].id.lo : 0;
    bool memory_only = request->action == HOT_FEED && request->read.memory_only;
    return (id >= COLD || (id == MOVING && fake->early)) && !memory_only;
}

static size_t fake_try(struct hot *hot, struct hot_request *requests, size_t count,
                       struct hot_scratch *scratch)
{
    for (size_t i = 0; i < count; i++) {
        if (is_cold(fake_of(hot), &requests[i]))
            return i;
        answer(fake_of(hot), &requests[i], scratch, 0);
    }
    return count;
}

static void run_blocking(void *context, unsigned worker, struct hot_request *requests, size_t count,
                         struct hot_scratch *scratch)
{
    struct fake *fake = context;
    bool early = fake->early;
    assert_true(worker < LIMIT_WORKERS);
    for (size_t i = 0; early && i < count; i++)
        answer(fake, &requests[i], scratch, worker);
    pthread_mutex_lock(&fake->lock);
    fake->inside++;
    pthread_cond_broadcast(&fake->moved);
    while (!fake->open)
        pthread_cond_wait(&fake->moved, &fake->lock);
    fake->inside--;
    fake->ran += count;
    pthread_mutex_unlock(&fake->lock);
    for (size_t i = 0; !early && i < count; i++)
        answer(fake, &requests[i], scratch, worker);
}

static void run_submission(void *context, struct pool_worker *worker,
                           struct hot_submission *submission)
{
    struct fake *fake = context;
    if (fake->retry_ns > 0) {
        submission_refuse(submission);
        submission->retry_ns = fake->retry_ns;
        return;
    }
    admission_run(&fake->admission, &fake->pacers[worker->number], worker->number, submission,
                  &worker->scratch, run_blocking, fake);
}

static bool fake_submit(struct hot *hot, struct hot_submission *submission)
{
    return pool_submit(&fake_of(hot)->pool, submission);
}

static enum status fake_admit(struct hot *hot, const struct hot_pacer *pacer, uint64_t now_ns)
{
    return admission_admit(&fake_of(hot)->admission, pacer, now_ns);
}

static uint64_t fake_wait_ns(struct hot *hot, const struct hot_pacer *pacer, uint64_t now_ns)
{
    return admission_wait_ns(&fake_of(hot)->admission, pacer, now_ns);
}

static void fake_spend(struct hot *hot, struct hot_pacer *pacer, uint32_t writes, uint64_t now_ns)
{
    admission_spend(&fake_of(hot)->admission, pacer, writes, now_ns);
}

static enum status fake_room(struct hot *hot)
{
    return (enum status)atomic_load(&fake_of(hot)->admits);
}

static uint64_t fake_point(struct hot *hot)
{
    return journal_appended(fake_of(hot)->journal);
}

static uint64_t fake_released(struct hot *hot)
{
    return journal_released(fake_of(hot)->journal);
}

static enum status fake_state(struct hot *hot)
{
    return journal_state(fake_of(hot)->journal);
}

static void fake_kick(struct hot *hot)
{
    journal_kick(fake_of(hot)->journal);
}

static void fake_listen(struct hot *hot, hot_listen_fn *fn, void *context)
{
    admission_listen(&fake_of(hot)->admission, fn, context);
}

static const char *fake_sentence(struct hot *hot, enum status status)
{
    return admission_sentence(&fake_of(hot)->admission, status);
}

static void fake_stats(struct hot *hot, struct hot_stats *out)
{
    struct fake *fake = fake_of(hot);
    *out = (struct hot_stats){.waiting = pool_waiting(&fake->pool),
                              .lag_slow = fake->admission.lag_slow,
                              .lag_max = fake->admission.lag_max};
}

static void fake_refuse_writes(struct hot *hot)
{
    atomic_store(&fake_of(hot)->admission.stopping, true);
}

static void fake_stop_threads(struct hot *hot)
{
    pool_stop(&fake_of(hot)->pool);
}

static void fake_close(struct hot *hot)
{
    (void)hot;
}

static const struct hot_ops ops = {.name = "fake",
                                   .try = fake_try,
                                   .submit = fake_submit,
                                   .admit = fake_admit,
                                   .wait_ns = fake_wait_ns,
                                   .spend = fake_spend,
                                   .room = fake_room,
                                   .point = fake_point,
                                   .released = fake_released,
                                   .state = fake_state,
                                   .kick = fake_kick,
                                   .listen = fake_listen,
                                   .sentence = fake_sentence,
                                   .collect = fake_stats,
                                   .refuse_writes = fake_refuse_writes,
                                   .stop = fake_stop_threads,
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
    admission_init(&fake->admission, NULL);
    fake->admission.journal = fake->journal;
    fake->parts = (struct server_parts){.options = &fake->options,
                                        .resp = &resp_face,
                                        .http = &http_face,
                                        .streams = &live_streams,
                                        .names = fake->names,
                                        .hot = &fake->hot,
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
    embedded_metrics_add(&fake->metrics, &fake->parts.sources);
    live_metrics_add(&fake->server, &fake->parts.sources);
    assert_int_equal(
        pool_start(&fake->pool, (unsigned)fake->options.workers, NULL, run_submission, fake), 0);
    if (!server_start(&fake->server, &fake->parts, 1, problem, sizeof problem))
        fail_msg("%s", problem);
}

void fake_stop(struct fake *fake)
{
    fake_gate(fake, true);
    if (!atomic_load(&fake->admission.stopping))
        server_stop(&fake->server);
    hot_stop(&fake->hot);
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
