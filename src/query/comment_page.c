/*
 * A page of COMMENTS: the roots of a subject with their first replies, or the replies of one root. The
 * entries of the page are found first (comment_entries.c), then the replies of each root, and then all
 * comments are loaded together with their contents. Whether a reader may see a comment is decided by its
 * state at that time, so a text that was hidden meanwhile is not shown.
 */
#include "base/assert.h"
#include "base/names.h"
#include "comment/policy.h"
#include "query/comment_cards.h"
#include "query/comments.h"

#define CARDS_MOST (LIMIT_CARDS - SUBJECT_PINS) /* without the pinned comments */

/* The comments of a page before they are loaded: the entries, and the replies of each of them. */
struct page {
    struct comment_view *view;
    struct hot_request *request;
    enum comment_order order;
    struct item parent;
    struct subject subject;
    struct comment thread; /* the root, if the parent is a comment */
    bool is_thread;
    struct hot_mark after;
    bool inclusive;
    uint64_t reply_at;       /* AT a reply: the root of this page that begins with ... */
    uint32_t reply_at_floor; /* ... the reply with this floor */
    struct entries before;   /* shown before the first entry */
    struct entries entries;
    struct query_comment *roots; /* `before`, then `entries` */
    size_t root_count;
    uint32_t first; /* scratch->cards[first …) are the cards of this page */
};

static struct hot_cards_page *answer_of(const struct page *page)
{
    return &page->view->scratch->pages[page->request->cards.page];
}

static enum status load_one(struct comment_view *view, uint64_t id, struct query_comment *out)
{
    *out = (struct query_comment){.id = id};
    return view->tier->functions->comments(view->tier, out, 1, false, view->scratch);
}

/* Finds out whether the item is a subject or a root, and what the reader may see of it. */
static enum status find_parent(struct page *page)
{
    struct comment_view *view = page->view;
    struct item subject = page->parent;
    if (page->parent.type == view->tier->comment_type && page->parent.type != UINT16_MAX) {
        struct query_comment root;
        enum status status = load_one(view, page->parent.id.lo, &root);
        if (status != STATUS_OK)
            return status;
        if (id_is_wide(page->parent.id) || !root.found ||
            comment_sight(view, &root.comment, &root.comment) == SIGHT_NONE)
            return STATUS_NO_COMMENT;
        if (!comment_is_root(&root.comment))
            return STATUS_NOT_A_ROOT;
        page->is_thread = true;
        page->thread = root.comment;
        subject = root.comment.subject;
    }
    enum status status = view->tier->functions->subject(view->tier, subject, &page->subject);
    if (status == STATUS_OK && page->subject.mode == SUBJECT_CLOSED && !view->all)
        status = STATUS_SUBJECT_CLOSED;
    return status;
}

static enum status choose_order(struct page *page)
{
    uint8_t order = page->request->cards.order;
    if (order == ORDER_TOTAL)
        order = page->is_thread ? ORDER_OLD : ORDER_TOP;
    page->order = (enum comment_order)order;
    if (page->is_thread && comment_order_has_key(page->order))
        return STATUS_NO_THREAD_ORDER;
    const struct comment_policy *policy = page->view->tier->policy;
    return policy == NULL || comment_policy_has_order(policy, page->subject.item.type, page->order)
               ? STATUS_OK
               : STATUS_ORDER_OFF;
}

/* AT: the page begins with this comment, or with its root, whose replies then begin with it. */
static enum status find_at(struct page *page)
{
    struct comment_view *view = page->view;
    struct query_comment at, root;
    enum status status = load_one(view, page->request->cards.detail->at, &at);
    if (status != STATUS_OK)
        return status;
    root = at;
    if (at.found && !comment_is_root(&at.comment))
        status = load_one(view, at.comment.root, &root);
    if (status != STATUS_OK)
        return status;
    if (!at.found || !root.found || !item_equal(at.comment.subject, page->subject.item) ||
        comment_sight(view, &at.comment, &root.comment) == SIGHT_NONE)
        return STATUS_NO_COMMENT;
    const struct comment *first = &root.comment;
    if (page->is_thread)
        first = &at.comment;
    else if (!comment_is_root(&at.comment)) {
        page->reply_at = root.id;
        page->reply_at_floor = at.comment.floor;
    }
    if (page->is_thread && at.comment.root != page->thread.id)
        return STATUS_NO_COMMENT;
    page->after = (struct hot_mark){.is_set = true, .id = first->id, .floor = first->floor};
    page->inclusive = true;
    return comment_present_keys(view, first, 1, page->order, &page->after.key);
}

/* Nobody but moderators sees the replies of this root, except that its author sees own ones. */
static bool is_thread_unseen(const struct comment_view *view, const struct comment *root)
{
    return !comment_has_thread(root) && !view->all;
}

static enum status find_entries(struct page *page)
{
    struct comment_view *view = page->view;
    struct entries_query query = {.parent = page->parent,
                                  .subject = page->subject.item,
                                  .order = page->order,
                                  .limit = page->request->cards.limit,
                                  .after = page->after,
                                  .inclusive = page->inclusive,
                                  .own_only =
                                      page->is_thread && is_thread_unseen(view, &page->thread)};
    if (!page->is_thread)
        query.dropped_floor = page->subject.dropped_floor;
    enum status status = comment_entries(view, &query, &page->entries);
    if (status == STATUS_OK && !page->after.is_set && comment_order_has_key(page->order))
        status = comment_entries_before(view, &page->subject, &page->before);
    if (status != STATUS_OK)
        return status;
    page->root_count = page->before.count + page->entries.count;
    page->roots = view_take(view, page->root_count, sizeof *page->roots);
    if (page->roots == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < page->before.count; i++)
        page->roots[i] = (struct query_comment){.id = page->before.entries[i].id};
    for (size_t i = 0; i < page->entries.count; i++)
        page->roots[page->before.count + i] =
            (struct query_comment){.id = page->entries.entries[i].id};
    return cards_load(view, page->roots, page->root_count);
}

static size_t content_bytes(const struct query_comment *comment)
{
    return comment->has_content ? comment->content.text.length + comment->content.extra.length : 0;
}

/* The replies of one root that are shown with it: at most `room`. */
static enum status load_replies(struct page *page, const struct comment *root, uint32_t room,
                                struct query_comment **out, size_t *count)
{
    struct comment_view *view = page->view;
    uint32_t limit = page->request->cards.replies;
    struct entries entries;
    struct entries_query query = {
        .parent = comment_item(root->id, view->tier->comment_type),
        .subject = page->subject.item,
        .order = ORDER_OLD,
        .limit = limit < room ? limit : room,
        .own_only = is_thread_unseen(view, root),
    };
    *count = 0;
    bool any = root->open_replies > 0 || view->all || view->has_reader;
    if (query.limit == 0 || !any)
        return STATUS_OK;
    if (page->reply_at == root->id) {
        query.after = (struct hot_mark){.is_set = true, .floor = page->reply_at_floor};
        query.inclusive = true;
    }
    enum status status = comment_entries(view, &query, &entries);
    if (status != STATUS_OK || entries.count == 0)
        return status;
    *out = view_take(view, entries.count, sizeof **out);
    if (*out == NULL)
        return STATUS_NO_MEMORY;
    for (size_t i = 0; i < entries.count; i++)
        (*out)[i] = (struct query_comment){.id = entries.entries[i].id};
    *count = entries.count;
    return cards_load(view, *out, entries.count);
}

/*
 * Appends the replies of the card at `index`. Replies follow all roots in the scratch, so a root names
 * its first one. `more` counts listed replies only: own pending ones are not part of a public number.
 */
static enum status add_replies(struct page *page, uint32_t index, const struct comment *root,
                               size_t *bytes)
{
    struct comment_view *view = page->view;
    struct query_comment *replies = NULL;
    size_t count = 0;
    uint32_t listed = 0;
    uint32_t used = view->scratch->cards_used - page->first;
    uint32_t room = used < CARDS_MOST ? CARDS_MOST - used : 0;
    enum status status = load_replies(page, root, room, &replies, &count);
    if (status != STATUS_OK)
        return status;
    uint32_t first = view->scratch->cards_used;
    for (size_t i = 0; i < count; i++) {
        enum comment_sight sight =
            replies[i].found ? comment_sight(view, &replies[i].comment, root) : SIGHT_NONE;
        bool shown = sight == SIGHT_FULL || (sight == SIGHT_PLACEHOLDER && view->all);
        if (!shown || *bytes > LIMIT_PAGE_CONTENT)
            continue;
        *bytes += content_bytes(&replies[i]);
        listed += comment_is_open(&replies[i].comment);
        if (!cards_add(view, &replies[i], sight, NULL))
            return STATUS_NO_MEMORY;
    }
    struct hot_card *card = &view->scratch->cards[index];
    uint32_t n = comment_has_thread(root) || view->all ? root->open_replies : 0;
    card->reply_first = first;
    card->reply_count = view->scratch->cards_used - first;
    card->more = n > listed ? n - listed : 0;
    return STATUS_OK;
}

/* Is there no room for one more root beside so many cards with so many bytes of content? */
static bool is_full(const struct page *page, size_t cards, size_t bytes)
{
    size_t per_root = page->is_thread ? 1 : 1 + (size_t)page->request->cards.replies;
    return bytes >= LIMIT_PAGE_CONTENT || (cards + 1) * per_root > CARDS_MOST;
}

/* A page that goes back ends at its point. If it is cut, it begins later: with this root. */
static size_t first_root(const struct page *page)
{
    size_t first = page->root_count, bytes = 0;
    if (!page->after.is_set || !page->after.back)
        return 0;
    while (first > 0 && (bytes == 0 || !is_full(page, page->root_count - first, bytes)))
        bytes += content_bytes(&page->roots[--first]) + 1;
    return first;
}

/*
 * Appends the cards of the roots from *taken on, and sets *taken to how many entries are on the page or
 * before it. The page may end early.
 */
static enum status add_roots(struct page *page, size_t *taken, size_t *bytes)
{
    struct comment_view *view = page->view;
    size_t begin = *taken;
    for (; *taken < page->root_count; ++*taken) {
        const struct query_comment *root = &page->roots[*taken];
        uint32_t cards = view->scratch->cards_used - page->first;
        if (*taken > page->before.count && *taken > begin && is_full(page, cards, *bytes))
            break;
        const struct comment *thread = page->is_thread ? &page->thread : &root->comment;
        enum comment_sight sight =
            root->found ? comment_sight(view, &root->comment, thread) : SIGHT_NONE;
        bool listed = root->found && comment_is_listed(&root->comment);
        if (sight == SIGHT_NONE || (sight == SIGHT_PLACEHOLDER && !listed && !view->all))
            continue;
        *bytes += content_bytes(root);
        if (!cards_add(view, root, sight, &page->subject))
            return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

static const struct query_comment *loaded(const struct page *page, uint64_t id)
{
    for (size_t i = 0; i < page->root_count; i++)
        if (page->roots[i].id == id)
            return &page->roots[i];
    return NULL;
}

static enum status add_all_replies(struct page *page, uint32_t first, uint32_t count, size_t *bytes)
{
    enum status status = STATUS_OK;
    for (uint32_t i = first; i < first + count && status == STATUS_OK; i++) {
        uint64_t id = page->view->scratch->cards[i].comment.id;
        status = add_replies(page, i, &loaded(page, id)->comment, bytes);
    }
    return status;
}

static enum status add_pins(struct comment_view *view, const struct subject *subject,
                            struct hot_cards_page *answer)
{
    struct query_comment pins[SUBJECT_PINS];
    for (unsigned i = 0; i < subject->pin_count; i++)
        pins[i] = (struct query_comment){.id = subject->pins[i]};
    enum status status = cards_load(view, pins, subject->pin_count);
    uint32_t first = view->scratch->cards_used;
    for (unsigned i = 0; i < subject->pin_count && status == STATUS_OK; i++)
        if (pins[i].found && comment_is_open(&pins[i].comment) &&
            !cards_add(view, &pins[i], SIGHT_FULL, subject))
            status = STATUS_NO_MEMORY;
    answer->pinned_first = first;
    answer->pinned_count = view->scratch->cards_used - first;
    return status;
}

static struct hot_mark mark_at(const struct comment_entry *entry, bool back)
{
    return (struct hot_mark){
        .is_set = true, .back = back, .key = entry->key, .id = entry->id, .floor = entry->floor};
}

/*
 * Cursors are made from entries, not from cards, so a page whose comments are all gone goes on. The page has the
 * entries from `begin` to `taken`.
 */
static void set_cursors(const struct page *page, size_t begin, size_t taken)
{
    struct hot_cards_page *answer = answer_of(page);
    const struct entries *entries = &page->entries;
    size_t end = taken - page->before.count;
    bool back = page->after.is_set && page->after.back;
    bool more_after = back || entries->more || end < entries->count;
    bool more_before = back ? entries->more || begin > 0 : page->after.is_set;
    if (end == begin)
        return;
    if (more_after)
        answer->next = mark_at(&entries->entries[end - 1], false);
    if (more_before)
        answer->back = mark_at(&entries->entries[begin], true);
}

/* The subject's counter `comment`, and the cards' counters and reactions. */
static enum status complete(struct comment_view *view, struct hot_request *request,
                            const struct subject *subject, uint32_t first)
{
    struct hot_answer counts = {0};
    struct item item = subject->item;
    struct hot_request count = {.action = HOT_COUNTS,
                                .items = &item,
                                .item_count = 1,
                                .time_s = request->time_s,
                                .read.answers = &counts};
    enum status status = cards_complete(view, first, request->time_s);
    if (status == STATUS_OK)
        status = view_run(view, &count, 1);
    if (status != STATUS_OK)
        return status;
    struct hot_cards_page *answer = &view->scratch->pages[request->cards.page];
    answer->subject = *subject;
    for (uint32_t i = 0; i < counts.count; i++)
        if (view->scratch->counters[counts.first + i].name == NAME_INDEX_COMMENT)
            answer->comments = view->scratch->counters[counts.first + i].value;
    return STATUS_OK;
}

static enum status fill_page(struct page *page)
{
    size_t begin = first_root(page), taken = begin, bytes = 0;
    enum status status = add_roots(page, &taken, &bytes);
    if (status != STATUS_OK)
        return status;
    struct hot_cards_page *answer = answer_of(page);
    answer->first = page->first;
    answer->count = page->view->scratch->cards_used - page->first;
    if (!page->is_thread)
        status = add_all_replies(page, answer->first, answer->count, &bytes);
    if (status == STATUS_OK && !page->is_thread && !page->after.is_set)
        status = add_pins(page->view, &page->subject, answer);
    if (status == STATUS_OK)
        status = complete(page->view, page->request, &page->subject, page->first);
    if (status == STATUS_OK)
        set_cursors(page, begin, taken);
    return status;
}

enum status comments_read_page(struct comment_view *view, struct hot_request *request)
{
    struct page page = {.view = view,
                        .request = request,
                        .parent = request->items[0],
                        .after = request->cards.detail->after,
                        .first = view->scratch->cards_used};
    enum status status = find_parent(&page);
    if (status == STATUS_OK)
        status = choose_order(&page);
    if (status == STATUS_OK && request->cards.detail->at != COMMENT_NONE)
        status = find_at(&page);
    if (status == STATUS_OK)
        status = find_entries(&page);
    return status == STATUS_OK ? fill_page(&page) : status;
}

enum status comments_read_subject(struct comment_view *view, struct hot_request *request)
{
    struct subject subject;
    uint32_t first = view->scratch->cards_used;
    struct hot_cards_page *answer = &view->scratch->pages[request->cards.page];
    enum status status = view->tier->functions->subject(view->tier, request->items[0], &subject);
    if (status == STATUS_OK)
        status = add_pins(view, &subject, answer);
    return status == STATUS_OK ? complete(view, request, &subject, first) : status;
}
