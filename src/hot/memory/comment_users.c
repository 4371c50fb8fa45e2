/*
 * Decisions about users in comments: bans, and how far an inbox was seen.
 *
 * A ban is decided and recorded under the lock of its section of the table of bans (bans.h). What was seen of an
 * inbox is only in the store, where the projector makes the inbox. So a worker waits until the store has
 * all changes of comments, compares, and records. Meanwhile it holds a lock for this user, so that of two
 * requests with the same number only one changes anything. No other thread waits for this lock while it
 * holds a shard.
 */
#include "base/assert.h"
#include "base/clock.h"
#include "comment/body.h"
#include "comment/rows.h"
#include "hot/comments.h"
#include "hot/memory/catch_up.h"
#include "hot/memory/hot_memory_priv.h"

#define USER_BODY_BYTES 64 /* more than the body of an event about a user needs */

struct user_event {
    struct event event;
    uint8_t body[COMMENT_BODY_BYTES];
};

/* The body belongs to `out`. The time is set when the decision is made. */
static void event_make(struct user_event *out, enum comment_event kind, struct id user,
                       const struct comment_body *body)
{
    out->event = (struct event){.type = EVENT_COMMENT, .name = kind, .user = user};
    out->event.body_length = (uint32_t)comment_body_encode(kind, body, out->body);
    out->event.body = out->body;
    ASSERT(out->event.body_length <= USER_BODY_BYTES);
}

/* Records an event for which room is reserved. */
static void event_record(struct hot_memory *hot, struct user_event *record, uint32_t time_s)
{
    record->event.time_s = time_s;
    hot_memory_note_comment(hot, journal_append(hot->journal, &record->event));
}

/*
 * Reserves room for the event: OK; BLOCKED if this is an I/O thread and there is none at the moment; or the
 * reason why not. A worker waits, but not for ever.
 */
static enum status event_reserve(struct hot_memory *hot, unsigned worker, size_t bytes)
{
    if (worker == LOAD_NOBODY)
        return admission_reserve(&hot->admission, bytes);
    uint64_t until_ns = clock_monotonic_ns() + LIMIT_REACH_MS * 1000000ULL;
    enum status status =
        admission_reserve_await(&hot->admission, &hot->pacers[worker], bytes, until_ns);
    return status == STATUS_BLOCKED ? STATUS_TOO_BUSY : status;
}

/* The end of a ban comes from a client, who knows the time of the clock and no recorded time. */
static struct user_ban ban_wanted(struct hot_memory *hot, const struct hot_request *request)
{
    uint32_t until_s = request->comment.until_s;
    if (until_s == 0)
        return (struct user_ban){0};
    if (until_s != BAN_FOR_EVER && hot->timeline != NULL)
        until_s = timeline_recorded(hot->timeline, until_s);
    return (struct user_ban){.until_s = until_s, .shadow = request->comment.shadow};
}

/* Decides with room reserved; true: the room was used. */
static bool ban_decide(struct hot_memory *hot, struct hot_request *request,
                       struct user_event *record, struct user_ban wanted)
{
    uint32_t time_s = hot_memory_time(hot, request->time_s);
    struct ban_change change = bans_begin(&hot->bans, request->user, time_s);
    bool changes = wanted.until_s != change.before.until_s || wanted.shadow != change.before.shadow;
    request->comment.value = changes;
    request->status = STATUS_OK;
    if (wanted.until_s != 0 && wanted.until_s <= time_s)
        request->status = STATUS_BAN_PAST;
    else if (changes && wanted.until_s != 0)
        request->status = bans_reserve(&change);
    changes = changes && request->status == STATUS_OK;
    if (changes) {
        event_record(hot, record, time_s);
        bans_put(&change, wanted);
    }
    bans_end(&change);
    return changes;
}

static void ban_once(struct hot_memory *hot, struct hot_request *request, unsigned worker)
{
    struct user_event record;
    struct comment_body body = {.ban = ban_wanted(hot, request)};
    event_make(&record, COMMENT_EVENT_BAN, request->user, &body);
    size_t bytes = event_bytes_max(&record.event);
    request->status = event_reserve(hot, worker, bytes);
    if (request->status == STATUS_OK && !ban_decide(hot, request, &record, body.ban))
        admission_unreserve(&hot->admission, bytes);
}

bool hot_memory_ban(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                    struct hot_scratch *scratch, unsigned worker)
{
    (void)trail, (void)scratch;
    bool swept = false;
    for (unsigned tries = 0;;) {
        ban_once(hot, request, worker);
        if (request->status == STATUS_BANS_FULL && !swept &&
            bans_sweep(&hot->bans, hot_memory_time(hot, request->time_s))) {
            swept = true;
            continue;
        }
        if (worker == LOAD_NOBODY)
            return request->status != STATUS_BLOCKED && request->status != STATUS_NO_MEMORY;
        if (request->status != STATUS_NO_MEMORY || !keeper_wait(hot, tries++))
            return true;
    }
}

static enum status inbox_read(struct hot_memory *hot, struct id user, struct inbox_state *state)
{
    uint8_t bytes[ROW_KEY_MAX];
    struct store_bytes key = {bytes, (uint32_t)row_key_user(user, 'i', bytes)}, value;
    struct store_arena arena = {0};
    *state = (struct inbox_state){0};
    enum status status = store_read_rows(hot->store, STORE_USER, &key, 1, &value, &arena);
    if (status == STATUS_OK && value.data != NULL)
        status = row_read_inbox_state(value, state);
    store_arena_destroy(&arena);
    return status;
}

/* Called with the lock of the user. A number after the newest entry stands for the newest entry. */
static enum status seen_decide(struct hot_memory *hot, struct hot_request *request, unsigned worker)
{
    struct inbox_state state;
    uint64_t number = request->comment.detail->after.id;
    enum status status = catch_up(hot, atomic_load(&hot->comments_end));
    if (status == STATUS_OK)
        status = inbox_read(hot, request->user, &state);
    if (status != STATUS_OK)
        return status;
    number = number < state.newest ? number : state.newest;
    request->comment.value = number > state.seen;
    if (number <= state.seen)
        return STATUS_OK;
    struct user_event record;
    struct comment_body body = {.seen = (uint32_t)number};
    event_make(&record, COMMENT_EVENT_SEEN, request->user, &body);
    status = event_reserve(hot, worker, event_bytes_max(&record.event));
    if (status == STATUS_OK)
        event_record(hot, &record, hot_memory_time(hot, request->time_s));
    return status;
}

bool hot_memory_seen(struct hot_memory *hot, struct hot_request *request, struct hot_trail trail,
                     struct hot_scratch *scratch, unsigned worker)
{
    (void)scratch;
    if (worker == LOAD_NOBODY)
        return false;
    pthread_mutex_t *lock = &hot->seen_locks[trail.user % SEEN_LOCKS];
    pthread_mutex_lock(lock);
    request->status = seen_decide(hot, request, worker);
    pthread_mutex_unlock(lock);
    return true;
}

/* Lifts a ban, also one that has ended and of which only the store has a row. */
static enum status lift_ban(struct hot_memory *hot, struct id user, unsigned worker,
                            uint32_t time_s)
{
    struct user_event record;
    const struct comment_body body = {0};
    event_make(&record, COMMENT_EVENT_BAN, user, &body);
    enum status status = event_reserve(hot, worker, event_bytes_max(&record.event));
    if (status != STATUS_OK)
        return status;
    time_s = hot_memory_time(hot, time_s);
    struct ban_change change = bans_begin(&hot->bans, user, time_s);
    event_record(hot, &record, time_s);
    bans_put(&change, body.ban);
    bans_end(&change);
    return STATUS_OK;
}

static enum status empty_inbox(struct hot_memory *hot, struct id user, unsigned worker,
                               uint32_t time_s)
{
    struct user_event record;
    const struct comment_body body = {0};
    event_make(&record, COMMENT_EVENT_INBOX, user, &body);
    enum status status = event_reserve(hot, worker, event_bytes_max(&record.event));
    if (status == STATUS_OK)
        event_record(hot, &record, hot_memory_time(hot, time_s));
    return status;
}

/* The caller has waited until the store has all changes of this user that were made before. */
enum status hot_memory_forget_user(struct hot_memory *hot, unsigned worker, struct id user,
                                   uint32_t time_s, int64_t *value)
{
    uint8_t bytes[2][ROW_KEY_MAX];
    struct store_bytes keys[2] = {{bytes[0], (uint32_t)row_key_user(user, 'b', bytes[0])},
                                  {bytes[1], (uint32_t)row_key_user(user, 'i', bytes[1])}};
    struct store_bytes values[2];
    struct store_arena arena = {0};
    *value = 0;
    enum status status = store_read_rows(hot->store, STORE_USER, keys, 2, values, &arena);
    store_arena_destroy(&arena);
    if (status != STATUS_OK)
        return status;
    bool banned = values[0].data != NULL || bans_find(&hot->bans, user, time_s).until_s != 0;
    bool has_inbox = values[1].data != NULL;
    if (banned)
        status = lift_ban(hot, user, worker, time_s);
    if (status == STATUS_OK && has_inbox)
        status = empty_inbox(hot, user, worker, time_s);
    *value = status == STATUS_OK && (banned || has_inbox);
    return status;
}

enum status hot_memory_restore_ban(struct hot *base, struct id user, struct user_ban ban,
                                   uint32_t now_s)
{
    return bans_restore(&hot_memory_of(base)->bans, user, ban, now_s);
}

/* Only bans are in memory; inboxes are in the store alone. */
enum status hot_memory_apply_user(struct hot_memory *hot, const struct event *event, uint32_t now_s)
{
    struct comment_body body;
    enum status status = comment_body_decode(event->name, event->body, event->body_length, &body);
    if (status == STATUS_OK && event->name == COMMENT_EVENT_BAN)
        status = bans_restore(&hot->bans, event->user, body.ban, now_s);
    return status;
}
