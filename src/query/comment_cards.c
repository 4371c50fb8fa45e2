#include "query/comment_cards.h"

#include "base/array.h"
#include "base/assert.h"
#include "base/names.h"

#define CARDS_MIN 64

static struct hot_card *new_card(struct hot_scratch *scratch)
{
    if (scratch->cards_used == scratch->cards_capacity) {
        size_t room = scratch->cards_capacity;
        void *cards = array_grow(scratch->cards, &room, scratch->cards_used + 1, CARDS_MIN,
                                 sizeof *scratch->cards);
        if (cards == NULL)
            return NULL;
        scratch->cards = cards;
        scratch->cards_capacity = (uint32_t)room;
    }
    struct hot_card *card = &scratch->cards[scratch->cards_used++];
    *card = (struct hot_card){0};
    return card;
}

uint32_t cards_page(struct hot_scratch *scratch)
{
    if (scratch->pages_used == scratch->pages_capacity) {
        size_t room = scratch->pages_capacity;
        void *pages =
            array_grow(scratch->pages, &room, scratch->pages_used + 1, 4, sizeof *scratch->pages);
        if (pages == NULL)
            return UINT32_MAX;
        scratch->pages = pages;
        scratch->pages_capacity = (uint32_t)room;
    }
    scratch->pages[scratch->pages_used] = (struct hot_cards_page){0};
    return scratch->pages_used++;
}

/* A reader cannot tell an own shadow comment from a visible one; a moderator can. */
static uint8_t shown_moderation(const struct comment_view *view, const struct comment *comment)
{
    return !view->all && comment->moderation == COMMENT_SHADOW ? COMMENT_VISIBLE
                                                               : comment->moderation;
}

bool cards_add(struct comment_view *view, const struct query_comment *comment,
               enum comment_sight sight, const struct subject *subject)
{
    ASSERT(sight != SIGHT_NONE && comment->found);
    struct hot_card *card = new_card(view->scratch);
    if (card == NULL)
        return false;
    card->exists = true;
    card->comment = comment->comment;
    card->comment.moderation = shown_moderation(view, &comment->comment);
    card->pinned = subject != NULL && subject_has_pin(subject, comment->id);
    card->is_shown = sight == SIGHT_FULL;
    if (card->is_shown && comment->has_content) {
        card->text = comment->content.text;
        card->extra = comment->content.extra;
    }
    return true;
}

bool cards_add_absent(struct comment_view *view, uint64_t id)
{
    struct hot_card *card = new_card(view->scratch);
    if (card == NULL)
        return false;
    card->comment.id = id;
    return true;
}

enum status cards_load(struct comment_view *view, struct query_comment *comments, size_t count)
{
    struct query_tier *tier = view->tier;
    return count == 0 ? STATUS_OK
                      : tier->functions->comments(tier, comments, count, true, view->scratch);
}

enum status cards_load_roots(struct comment_view *view, const struct query_comment *comments,
                             size_t count, struct query_comment **out)
{
    struct query_comment *roots = view_take(view, count, sizeof *roots);
    *out = roots;
    if (roots == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        bool is_reply = comments[i].found && !comment_is_root(&comments[i].comment);
        roots[i] =
            (struct query_comment){.id = is_reply ? comments[i].comment.root : comments[i].id};
    }
    return view->tier->functions->comments(view->tier, roots, count, false, view->scratch);
}

/* Counters of all cards and, if there is a reader, the kinds of the reader's reactions. */
static enum status read_votes(struct comment_view *view, struct item *items, uint32_t first,
                              uint32_t count, uint32_t time_s)
{
    struct hot_answer *answers = view_take(view, count, sizeof *answers);
    if (answers == NULL)
        return STATUS_NO_MEMORY;
    struct hot_request request = {.action = view->has_reader ? HOT_FEED : HOT_COUNTS,
                                  .user = view->reader,
                                  .items = items,
                                  .item_count = count,
                                  .time_s = time_s,
                                  .read.answers = answers};
    enum status status = view_run(view, &request, 1);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        struct hot_card *card = &view->scratch->cards[first + i];
        card->counter_first = answers[i].first;
        card->counter_count = answers[i].count;
        if (view->has_reader)
            card->mine = answers[i].kinds;
    }
    return status;
}

/* Which cards of one subject its owner likes. `subject_items` is room for as many items. */
static enum status read_owner(struct comment_view *view, const struct subject *subject,
                              const uint32_t *indices, uint32_t count, struct item *subject_items,
                              uint32_t time_s)
{
    struct hot_answer *answers = view_take(view, count, sizeof *answers);
    if (answers == NULL)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        subject_items[i] =
            comment_item(view->scratch->cards[indices[i]].comment.id, view->tier->comment_type);
    struct hot_request request = {.action = HOT_ASK,
                                  .user = subject->owner,
                                  .name = NAME_INDEX_LIKE,
                                  .items = subject_items,
                                  .item_count = count,
                                  .time_s = time_s,
                                  .read.answers = answers};
    enum status status = view_run(view, &request, 1);
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
        view->scratch->cards[indices[i]].owner_liked =
            kind_set_has(&answers[i].kinds, NAME_INDEX_LIKE);
    return status;
}

/* Cards of one subject are asked for together. Most answers have only one subject. */
static enum status read_owners(struct comment_view *view, struct item *items, uint32_t first,
                               uint32_t count, uint32_t time_s)
{
    uint32_t indices[LIMIT_CARDS];
    bool done[LIMIT_CARDS] = {false};
    for (uint32_t i = 0; i < count; i++) {
        struct item subject_item = view->scratch->cards[first + i].comment.subject;
        struct subject subject;
        uint32_t same = 0;
        if (done[i] || !view->scratch->cards[first + i].exists)
            continue;
        for (uint32_t j = i; j < count; j++) {
            const struct hot_card *card = &view->scratch->cards[first + j];
            if (card->exists && item_equal(card->comment.subject, subject_item)) {
                done[j] = true;
                indices[same++] = first + j;
            }
        }
        enum status status = view->tier->functions->subject(view->tier, subject_item, &subject);
        if (status == STATUS_OK && subject.has_owner)
            status = read_owner(view, &subject, indices, same, items, time_s);
        if (status != STATUS_OK)
            return status;
        for (uint32_t j = 0; j < same; j++)
            view->scratch->cards[indices[j]].pinned =
                subject_has_pin(&subject, view->scratch->cards[indices[j]].comment.id);
    }
    return STATUS_OK;
}

/* The card of this comment among those from `first` on; NULL: there is none. */
static const struct hot_card *find_card(const struct comment_view *view, uint32_t first,
                                        uint64_t id)
{
    for (uint32_t i = first; i < view->scratch->cards_used; i++)
        if (view->scratch->cards[i].comment.id == id)
            return &view->scratch->cards[i];
    return NULL;
}

/*
 * A reply has the author of the comment that it answers. If that user was forgotten since, no answer may
 * name the user any more. Most replies answer a comment that is on the same page.
 */
static enum status find_forgotten(struct comment_view *view, uint32_t first, uint32_t count)
{
    struct query_comment *answered = view_take(view, count, sizeof *answered);
    uint32_t indices[LIMIT_CARDS], asked = 0;
    if (answered == NULL)
        return STATUS_NO_MEMORY;
    for (uint32_t i = first; i < first + count; i++) {
        struct hot_card *card = &view->scratch->cards[i];
        if (!card->exists || card->comment.reply_to == COMMENT_NONE)
            continue;
        const struct hot_card *other = find_card(view, first, card->comment.reply_to);
        if (other != NULL && other->exists) {
            card->reply_to_forgotten = other->comment.anonymous;
            continue;
        }
        answered[asked] = (struct query_comment){.id = card->comment.reply_to};
        indices[asked++] = i;
    }
    struct query_tier *tier = view->tier;
    enum status status =
        asked == 0 ? STATUS_OK
                   : tier->functions->comments(tier, answered, asked, false, view->scratch);
    for (uint32_t i = 0; i < asked && status == STATUS_OK; i++)
        view->scratch->cards[indices[i]].reply_to_forgotten =
            answered[i].found && answered[i].comment.anonymous;
    return status;
}

enum status cards_complete(struct comment_view *view, uint32_t first, uint32_t time_s)
{
    uint32_t count = view->scratch->cards_used - first;
    if (count == 0)
        return STATUS_OK;
    ASSERT(count <= LIMIT_CARDS);
    struct item *items = view_take(view, count, sizeof *items);
    struct item *room = view_take(view, count, sizeof *room);
    if (items == NULL || room == NULL)
        return STATUS_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        items[i] =
            comment_item(view->scratch->cards[first + i].comment.id, view->tier->comment_type);
    enum status status = read_votes(view, items, first, count, time_s);
    if (status == STATUS_OK)
        status = read_owners(view, room, first, count, time_s);
    return status == STATUS_OK ? find_forgotten(view, first, count) : status;
}
