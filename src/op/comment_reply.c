#include "op/comment_reply.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/decimal.h"
#include "op/comment_cursor.h"
#include "op/op.h"

/* The arguments of comment_reply_write. */
struct source {
    struct reply_writer *writer;
    const struct hot_request *request;
    const struct hot_scratch *scratch;
    const struct names *names;
};

#define KEY(writer, name) ((writer)->functions->key(writer, (struct text){name, sizeof(name) - 1}))

static void put_text(struct reply_writer *w, const char *text)
{
    w->functions->text(w, text_from(text));
}

static void put_user(struct reply_writer *w, struct id user)
{
    char text[LIMIT_ID_TEXT];
    w->functions->text(w, (struct text){text, id_format(user, text)});
}

/* "comment:7" */
static void put_comment(struct reply_writer *w, uint64_t id)
{
    char text[sizeof COMMENT_TYPE_NAME + DECIMAL_MAX] = COMMENT_TYPE_NAME ":";
    char *end = decimal_write(text + sizeof COMMENT_TYPE_NAME, id);
    w->functions->text(w, (struct text){text, (size_t)(end - text)});
}

static void put_name(struct reply_writer *w, const struct names *names, uint8_t index)
{
    const struct name *name = names_get(names, index);
    w->functions->text(w, (struct text){name->text, name->length});
}

static void put_cursor(const struct source *s, const struct hot_mark *mark)
{
    struct reply_writer *w = s->writer;
    char cursor[COMMENT_CURSOR_TEXT];
    if (!mark->is_set && w->functions->null_cursor) {
        w->functions->null(w);
        return;
    }
    if (mark->is_set)
        comment_cursor_write(s->request, mark, cursor);
    w->functions->text(w, (struct text){cursor, mark->is_set ? COMMENT_CURSOR_TEXT : 0});
}

/* A user who was forgotten is null. */
static void put_user_unless(struct reply_writer *w, bool forgotten, struct id user)
{
    if (forgotten)
        w->functions->null(w);
    else
        put_user(w, user);
}

/* {"comment":"comment:7","user":"5"}: what a reply answers; null for a root */
static void put_reply_to(struct reply_writer *w, const struct hot_card *card)
{
    const struct comment *comment = &card->comment;
    if (comment->reply_to == COMMENT_NONE) {
        w->functions->null(w);
        return;
    }
    w->functions->begin_map(w, 2);
    KEY(w, "comment");
    put_comment(w, comment->reply_to);
    KEY(w, "user");
    put_user_unless(w, card->reply_to_forgotten, comment->reply_to_user);
    w->functions->end_map(w);
}

static void put_counts(struct reply_writer *w, const struct hot_counter *counters, uint32_t count,
                       const struct names *names)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < count; i++)
        shown += counters[i].value != 0;
    w->functions->begin_map(w, shown);
    for (uint32_t i = 0; i < count; i++) {
        if (counters[i].value == 0)
            continue;
        const struct name *name = names_get(names, counters[i].name);
        w->functions->key(w, (struct text){name->text, name->length});
        w->functions->number(w, counters[i].value);
    }
    w->functions->end_map(w);
}

static void put_kinds(struct reply_writer *w, const struct kind_set *kinds,
                      const struct names *names)
{
    uint32_t count = 0;
    for (int word = 0; word < 4; word++)
        count += (uint32_t)__builtin_popcountll(kinds->bits[word]);
    w->functions->begin_list(w, count);
    for (int word = 0; word < 4; word++)
        for (uint64_t bits = kinds->bits[word]; bits; bits &= bits - 1)
            put_name(w, names, (uint8_t)(64 * word + __builtin_ctzll(bits)));
    w->functions->end_list(w);
}

static const char *state_of(const struct comment *comment)
{
    return comment->deleted ? "deleted"
                            : comment_moderation_text((enum comment_moderation)comment->moderation);
}

/* A placeholder says where a comment was, and nothing of what it was. */
static void put_author(struct reply_writer *w, const struct hot_card *card)
{
    put_user_unless(w, !card->is_shown || card->comment.anonymous, card->comment.author);
}

static void put_content(struct reply_writer *w, const struct hot_card *card)
{
    KEY(w, "text");
    if (card->is_shown)
        w->functions->text(w, card->text);
    else
        w->functions->null(w);
    KEY(w, "extra");
    if (card->is_shown && card->extra.length > 0)
        w->functions->json(w, card->extra);
    else
        w->functions->null(w);
}

static void put_replies(struct reply_writer *w, const struct hot_card *card,
                        const struct hot_scratch *scratch, const struct names *names, bool threads)
{
    uint32_t count = threads ? card->reply_count : 0;
    KEY(w, "replies");
    w->functions->begin_list(w, count);
    for (uint32_t i = 0; i < count; i++)
        comment_reply_card(w, &scratch->cards[card->reply_first + i], scratch, names, false);
    w->functions->end_list(w);
    KEY(w, "more");
    w->functions->number(w, threads ? (int64_t)card->more : comment_root_count(&card->comment));
}

void comment_reply_card(struct reply_writer *w, const struct hot_card *card,
                        const struct hot_scratch *scratch, const struct names *names, bool threads)
{
    const struct comment *comment = &card->comment;
    if (!card->exists) {
        w->functions->null(w);
        return;
    }
    w->functions->begin_map(w, comment_is_root(comment) ? 15 : 13);
    KEY(w, "comment");
    put_comment(w, comment->id);
    KEY(w, "user");
    put_author(w, card);
    KEY(w, "reply_to");
    put_reply_to(w, card);
    KEY(w, "floor");
    w->functions->number(w, comment->floor);
    KEY(w, "time");
    w->functions->number(w, hot_shown_s(scratch, comment->time_s));
    KEY(w, "edited");
    if (comment->edited_s != 0 && card->is_shown)
        w->functions->number(w, hot_shown_s(scratch, comment->edited_s));
    else
        w->functions->null(w);
    KEY(w, "state");
    put_text(w, state_of(comment));
    put_content(w, card);
    KEY(w, "counts");
    put_counts(w, scratch->counters + card->counter_first, card->counter_count, names);
    KEY(w, "mine");
    put_kinds(w, &card->mine, names);
    KEY(w, "pinned");
    w->functions->flag(w, card->pinned);
    KEY(w, "owner_liked");
    w->functions->flag(w, card->owner_liked);
    if (comment_is_root(comment))
        put_replies(w, card, scratch, names, threads);
    w->functions->end_map(w);
}

/* The cards from `first` on, as the value of a key or as the whole reply. */
static void put_cards(const struct source *s, uint32_t first, uint32_t count, bool threads)
{
    for (uint32_t i = 0; i < count; i++)
        comment_reply_card(s->writer, &s->scratch->cards[first + i], s->scratch, s->names, threads);
}

static void put_card_list(const struct source *s, uint32_t first, uint32_t count, bool threads)
{
    s->writer->functions->begin_list(s->writer, count);
    put_cards(s, first, count, threads);
    s->writer->functions->end_list(s->writer);
}

static void put_subject(const struct source *s, const struct hot_cards_page *page)
{
    struct reply_writer *w = s->writer;
    w->functions->begin_map(w, 5);
    KEY(w, "owner");
    if (page->subject.has_owner)
        put_user(w, page->subject.owner);
    else
        w->functions->null(w);
    KEY(w, "mode");
    put_text(w, subject_mode_text((enum subject_mode)page->subject.mode));
    KEY(w, "pinned");
    put_card_list(s, page->pinned_first, page->pinned_count, false);
    KEY(w, "roots");
    w->functions->number(w, (int64_t)page->subject.roots);
    KEY(w, "comments");
    w->functions->number(w, page->comments);
    w->functions->end_map(w);
}

static void put_page(const struct source *s, const struct hot_cards_page *page)
{
    struct reply_writer *w = s->writer;
    w->functions->begin_map(w, 4);
    KEY(w, "cursor");
    put_cursor(s, &page->next);
    KEY(w, "back");
    put_cursor(s, &page->back);
    KEY(w, "subject");
    put_subject(s, page);
    KEY(w, "comments");
    put_card_list(s, page->first, page->count, true);
    w->functions->end_map(w);
}

static void put_listed_cards(const struct source *s, const struct hot_cards_page *page)
{
    struct reply_writer *w = s->writer;
    w->functions->begin_map(w, 2);
    KEY(w, "cursor");
    put_cursor(s, &page->next);
    KEY(w, "cards");
    put_card_list(s, page->first, page->count, false);
    w->functions->end_map(w);
}

/* The cursor of an entry is what SEEN takes. */
static void put_inbox_entry(const struct source *s, const struct hot_inbox_entry *entry)
{
    struct reply_writer *w = s->writer;
    struct hot_mark mark = {.is_set = true, .id = entry->number};
    w->functions->begin_map(w, 5);
    KEY(w, "kind");
    put_text(w, entry->entry.mention ? "mention" : "reply");
    KEY(w, "comment");
    put_comment(w, entry->entry.comment);
    KEY(w, "by");
    put_user_unless(w, entry->forgotten, entry->entry.by);
    KEY(w, "time");
    w->functions->number(w, hot_shown_s(s->scratch, entry->entry.time_s));
    KEY(w, "cursor");
    put_cursor(s, &mark);
    w->functions->end_map(w);
}

static void put_inbox(const struct source *s, const struct hot_cards_page *page)
{
    struct reply_writer *w = s->writer;
    w->functions->begin_map(w, 3);
    KEY(w, "cursor");
    put_cursor(s, &page->next);
    KEY(w, "unread");
    w->functions->number(w, page->unread);
    KEY(w, "entries");
    w->functions->begin_list(w, page->entry_count);
    for (uint32_t i = 0; i < page->entry_count; i++)
        put_inbox_entry(s, &s->scratch->inbox[page->entry_first + i]);
    w->functions->end_list(w);
    w->functions->end_map(w);
}

static void put_versions(const struct source *s, const struct hot_cards_page *page)
{
    struct reply_writer *w = s->writer;
    w->functions->begin_whole(w, text_from("versions"), page->entry_count);
    for (uint32_t i = 0; i < page->entry_count; i++) {
        const struct hot_version *version = &s->scratch->versions[page->entry_first + i];
        w->functions->begin_map(w, 2);
        KEY(w, "time");
        w->functions->number(w, hot_shown_s(s->scratch, version->time_s));
        KEY(w, "text");
        w->functions->text(w, version->text);
        w->functions->end_map(w);
    }
    w->functions->end_whole(w);
}

static void put_posted(const struct source *s)
{
    struct reply_writer *w = s->writer;
    w->functions->begin_map(w, 3);
    KEY(w, "comment");
    put_comment(w, s->request->comment.id);
    KEY(w, "floor");
    w->functions->number(w, s->request->comment.floor);
    KEY(w, "state");
    struct comment shown = {.moderation = s->request->comment.state,
                            .deleted = s->request->comment.deleted};
    put_text(w, state_of(&shown));
    w->functions->end_map(w);
}

bool comment_reply_write(struct reply_writer *w, const struct hot_request *request,
                         const struct hot_scratch *scratch, const struct names *names)
{
    struct source s = {.writer = w, .request = request, .scratch = scratch, .names = names};
    enum op_shape shape = op_shape(request);
    if (shape == SHAPE_POSTED) {
        put_posted(&s);
        return !w->failed;
    }
    const struct hot_cards_page *page = &scratch->pages[request->cards.page];
    switch (shape) {
    case SHAPE_COMMENTS:
        put_page(&s, page);
        break;
    case SHAPE_CARDS:
        w->functions->begin_whole(w, text_from("cards"), page->count);
        put_cards(&s, page->first, page->count, false);
        w->functions->end_whole(w);
        break;
    case SHAPE_CARD_LIST:
        put_listed_cards(&s, page);
        break;
    case SHAPE_INBOX:
        put_inbox(&s, page);
        break;
    case SHAPE_VERSIONS:
        put_versions(&s, page);
        break;
    default:
        ASSERT(shape == SHAPE_SUBJECT);
        put_subject(&s, page);
        break;
    }
    return !w->failed;
}

const char *comment_reply_sentence(const struct hot_request *request, const char *usual,
                                   char room[COMMENT_SENTENCE])
{
    if (request->status != STATUS_COMMENT_REPEATED || request->action != HOT_COMMENT)
        return usual;
    snprintf(room, COMMENT_SENTENCE, "%s: " COMMENT_TYPE_NAME ":%llu", usual,
             (unsigned long long)request->comment.id);
    return room;
}
