#include "hot/memory/comment_feed.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/id.h"

#define HEADS         128 /* of the hash table of a shard; a power of two */
#define CHANGES_FIRST 16
#define APPEARED      (1ULL << 63) /* ids of comments have 63 bits */

struct change {
    uint64_t point;
    uint64_t id; /* with APPEARED */
};

struct comment_feed {
    struct comment_feed *next;
    struct item subject;
    uint64_t since;     /* every later change is in the ring */
    uint32_t watched_s; /* when it was last read */
    uint32_t first;
    uint32_t count;
    uint32_t capacity;
    struct change *changes;
};

static void *take_memory(struct memory_budget *budget, size_t bytes)
{
    if (!memory_charge(budget, bytes))
        return NULL;
    void *memory = calloc(1, bytes);
    if (memory == NULL)
        memory_release(budget, bytes);
    return memory;
}

static void give_memory(struct memory_budget *budget, void *memory, size_t bytes)
{
    free(memory);
    memory_release(budget, bytes);
}

/* The link that refers to the feed of a subject, or the NULL at which its chain ends. */
static struct comment_feed **find(struct comment_feeds *feeds, struct item subject, uint64_t hash)
{
    struct comment_feed **at = &feeds->heads[hash & (HEADS - 1)].first;
    while (*at != NULL && !item_equal((*at)->subject, subject))
        at = &(*at)->next;
    return at;
}

static void remove_at(struct comment_feeds *feeds, struct memory_budget *budget,
                      struct comment_feed **at)
{
    struct comment_feed *feed = *at;
    *at = feed->next;
    feeds->count--;
    give_memory(budget, feed->changes, feed->capacity * sizeof *feed->changes);
    give_memory(budget, feed, sizeof *feed);
}

static bool is_over(const struct comment_feed *feed, uint32_t now_s)
{
    return now_s > feed->watched_s && now_s - feed->watched_s > LIMIT_NEWS_S;
}

/* Removes what nobody watches any more; UINT32_MAX: everything. */
static void remove_old(struct comment_feeds *feeds, struct memory_budget *budget, uint32_t now_s)
{
    for (unsigned i = 0; i < HEADS; i++) {
        struct comment_feed **at = &feeds->heads[i].first;
        while (*at != NULL) {
            if (is_over(*at, now_s) || now_s == UINT32_MAX)
                remove_at(feeds, budget, at);
            else
                at = &(*at)->next;
        }
    }
}

void comment_feeds_destroy(struct comment_feeds *feeds, struct memory_budget *budget)
{
    if (feeds->heads == NULL)
        return;
    remove_old(feeds, budget, UINT32_MAX);
    ASSERT(feeds->count == 0);
    give_memory(budget, feeds->heads, HEADS * sizeof *feeds->heads);
    feeds->heads = NULL;
}

static struct comment_feed *add(struct comment_feeds *feeds, struct memory_budget *budget,
                                struct item subject, uint64_t hash, uint64_t position,
                                uint32_t now_s)
{
    if (feeds->heads == NULL)
        feeds->heads = take_memory(budget, HEADS * sizeof *feeds->heads);
    if (feeds->heads == NULL)
        return NULL;
    remove_old(feeds, budget, now_s);
    struct comment_feed *feed =
        feeds->count < LIMIT_NEWS_SUBJECTS ? take_memory(budget, sizeof *feed) : NULL;
    if (feed == NULL)
        return NULL;
    feed->subject = subject;
    feed->since = position + 1;
    struct comment_feed_head *head = &feeds->heads[hash & (HEADS - 1)];
    feed->next = head->first;
    head->first = feed;
    feeds->count++;
    return feed;
}

static const struct change *change_at(const struct comment_feed *feed, uint32_t index)
{
    return &feed->changes[(feed->first + index) & (feed->capacity - 1)];
}

enum status comment_feeds_read(struct comment_feeds *feeds, struct memory_budget *budget,
                               struct item subject, uint64_t hash, uint64_t position,
                               uint64_t after, uint32_t now_s, struct query_news *out)
{
    struct comment_feed *feed = feeds->heads != NULL ? *find(feeds, subject, hash) : NULL;
    if (feed == NULL)
        feed = add(feeds, budget, subject, hash, position, now_s);
    if (feed == NULL)
        return STATUS_TOO_MANY_STREAMS;
    feed->watched_s = now_s;
    out->since = feed->since;
    out->now = position + 1;
    out->count = 0;
    for (uint32_t i = 0; i < feed->count && after != HOT_NEWS_BEGIN; i++) {
        const struct change *change = change_at(feed, i);
        if (change->point > after)
            out->changes[out->count++] =
                (struct query_change){.point = change->point,
                                      .id = change->id & ~APPEARED,
                                      .appeared = (change->id & APPEARED) != 0};
    }
    return STATUS_OK;
}

/* If there is no memory for a larger ring, the oldest changes are forgotten earlier. */
static void grow(struct comment_feed *feed, struct memory_budget *budget)
{
    uint32_t capacity = feed->capacity == 0 ? CHANGES_FIRST : 2 * feed->capacity;
    if (feed->count < feed->capacity || capacity > LIMIT_NEWS)
        return;
    struct change *changes = take_memory(budget, capacity * sizeof *changes);
    if (changes == NULL)
        return;
    for (uint32_t i = 0; i < feed->count; i++)
        changes[i] = *change_at(feed, i);
    give_memory(budget, feed->changes, feed->capacity * sizeof *changes);
    feed->changes = changes;
    feed->capacity = capacity;
    feed->first = 0;
}

static void put(struct comment_feed *feed, struct memory_budget *budget, uint64_t id, bool appeared,
                uint64_t point)
{
    grow(feed, budget);
    if (feed->capacity == 0) {
        feed->since = point;
        return;
    }
    if (feed->count == feed->capacity) {
        feed->since = change_at(feed, 0)->point;
        feed->first = (feed->first + 1) & (feed->capacity - 1);
        feed->count--;
    }
    uint32_t at = (feed->first + feed->count++) & (feed->capacity - 1);
    feed->changes[at] = (struct change){.point = point, .id = appeared ? id | APPEARED : id};
}

/*
 * Notes the comment if it is listed now, or was listed before: then it was counted, and is not any more. The
 * id of any other comment must not be shown to anybody.
 */
static void put_comment(struct comment_feed *feed, struct memory_budget *budget,
                        const struct comment_body *body, uint64_t point)
{
    if (body->has_comment && (comment_is_listed(&body->comment) || body->subject_delta < 0))
        put(feed, budget, body->comment.id, body->subject_delta > 0, point);
    /* A deleted root is listed as long as it has open replies: is this the last, or the first one? */
    bool last = body->root_delta < 0 && body->root.open_replies == 0;
    bool first = body->root_delta > 0 && body->root.open_replies == 1;
    if (body->has_root && body->root.deleted && comment_has_thread(&body->root) && (last || first))
        put(feed, budget, body->root.id, first, point);
}

static struct item subject_of(const struct comment_body *body)
{
    return body->has_subject ? body->subject.item : body->comment.subject;
}

void comment_feeds_note_change(struct comment_feeds *feeds, struct memory_budget *budget,
                               enum comment_event kind, const struct comment_body *body,
                               uint64_t pinned, uint64_t hash, uint64_t position, uint32_t now_s)
{
    if (!body->has_subject && !body->has_comment)
        return;
    struct comment_feed **at = find(feeds, subject_of(body), hash);
    if (*at == NULL)
        return;
    if (is_over(*at, now_s)) {
        remove_at(feeds, budget, at);
        return;
    }
    switch (kind) {
    case COMMENT_EVENT_DROP:
        (*at)->since = position + 1;
        (*at)->count = 0;
        break;
    case COMMENT_EVENT_PIN:
        put(*at, budget, pinned, false, position + 1);
        break;
    case COMMENT_EVENT_SUBJECT:
        put(*at, budget, COMMENT_NONE, false, position + 1);
        break;
    case COMMENT_EVENT_ADD:
    case COMMENT_EVENT_EDIT:
    case COMMENT_EVENT_STATE:
    case COMMENT_EVENT_PURGE:
    case COMMENT_EVENT_FORGET:
        put_comment(*at, budget, body, position + 1);
        break;
    default: /* the other kinds change no subject that can be seen */
        break;
    }
}
