#include "comment_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

struct comment_model *comment_model_new(void)
{
    struct comment_model *model = calloc(1, sizeof *model);
    ASSERT(model != NULL);
    for (uint32_t i = 0; i < MODEL_SUBJECTS; i++)
        model->subjects[i].owner = MODEL_NOBODY;
    for (uint32_t i = 0; i < MODEL_TOKENS; i++)
        model->tokens[i].comment = MODEL_NONE;
    model->token_ttl_s = 600;
    model->report_at = 1;
    return model;
}

void comment_model_free(struct comment_model *model)
{
    free(model->comments);
    free(model);
}

size_t model_write_text(uint32_t number, char *out)
{
    size_t length = (size_t)sprintf(out, "text %u ", number);
    size_t whole = number % 17 == 0 ? MODEL_TEXT_MAX : length + number % 60;
    memset(out + length, 'a' + (int)(number % 26), whole - length);
    return whole;
}

bool model_is_root(const struct comment_model *model, uint32_t comment)
{
    return model->comments[comment].root == MODEL_NONE;
}

uint32_t model_root_of(const struct comment_model *model, uint32_t comment)
{
    return model_is_root(model, comment) ? comment : model->comments[comment].root;
}

uint32_t model_find(const struct comment_model *model, uint64_t id)
{
    for (uint32_t i = 0; i < model->count; i++)
        if (model->comments[i].id == id)
            return i;
    return MODEL_NONE;
}

bool model_is_open(const struct comment_model *model, uint32_t comment)
{
    const struct model_comment *it = &model->comments[comment];
    return it->moderation == COMMENT_VISIBLE && !it->deleted && !it->dropped;
}

bool model_has_thread(const struct comment_model *model, uint32_t root)
{
    const struct model_comment *it = &model->comments[root];
    return it->moderation == COMMENT_VISIBLE && !it->dropped;
}

uint32_t model_open_replies(const struct comment_model *model, uint32_t root)
{
    uint32_t open = 0;
    for (uint32_t i = root + 1; i < model->count; i++)
        open += model->comments[i].root == root && model_is_open(model, i);
    return open;
}

bool model_is_counted(const struct comment_model *model, uint32_t comment)
{
    return model_is_open(model, comment) && model_has_thread(model, model_root_of(model, comment));
}

bool model_is_listed(const struct comment_model *model, uint32_t comment)
{
    if (!model_is_root(model, comment))
        return model_is_counted(model, comment);
    return model_has_thread(model, comment) &&
           (model_is_open(model, comment) || model_open_replies(model, comment) > 0);
}

int64_t model_subject_count(const struct comment_model *model, uint32_t subject)
{
    int64_t counted = 0;
    for (uint32_t i = 0; i < model->count; i++)
        counted += model->comments[i].subject == subject && model_is_counted(model, i);
    return counted;
}

uint64_t model_subject_roots(const struct comment_model *model, uint32_t subject)
{
    uint64_t roots = 0;
    for (uint32_t i = 0; i < model->count; i++)
        roots += model->comments[i].subject == subject && model_is_root(model, i) &&
                 model_is_listed(model, i);
    return roots;
}

int64_t model_comment_count(const struct comment_model *model, uint32_t comment)
{
    return model_is_root(model, comment) && model_has_thread(model, comment)
               ? model_open_replies(model, comment)
               : 0;
}

int64_t model_votes(const struct comment_model *model, uint32_t comment, enum model_vote vote)
{
    int64_t votes = 0;
    for (uint32_t user = 0; user < MODEL_USERS; user++)
        votes += model->comments[comment].votes[vote][user];
    return votes;
}

bool model_is_pinned(const struct comment_model *model, uint32_t comment)
{
    const struct model_subject *subject = &model->subjects[model->comments[comment].subject];
    for (uint32_t i = 0; i < subject->pin_count; i++)
        if (subject->pins[i] == comment)
            return true;
    return false;
}

/* Pending and shadow comments are seen by their author, as long as they are not deleted. */
static bool is_own_held(const struct comment_model *model, uint32_t user, uint32_t comment)
{
    const struct model_comment *it = &model->comments[comment];
    return user != MODEL_NOBODY && it->author == user && !it->deleted && !it->dropped &&
           (it->moderation == COMMENT_PENDING || it->moderation == COMMENT_SHADOW);
}

enum model_sight model_sight(const struct comment_model *model, struct model_reader reader,
                             uint32_t comment)
{
    const struct model_comment *it = &model->comments[comment];
    uint32_t root = model_root_of(model, comment);
    if (it->dropped)
        return MODEL_NOTHING;
    if (reader.all)
        return it->deleted ? MODEL_PLACEHOLDER : MODEL_FULL;
    if (is_own_held(model, reader.user, comment))
        return root == comment || model_has_thread(model, root) ||
                       is_own_held(model, reader.user, root)
                   ? MODEL_FULL
                   : MODEL_NOTHING;
    if (it->moderation != COMMENT_VISIBLE || !model_has_thread(model, root))
        return MODEL_NOTHING;
    return it->deleted ? MODEL_PLACEHOLDER : MODEL_FULL;
}

enum comment_moderation model_shown_state(const struct comment_model *model,
                                          struct model_reader reader, uint32_t comment)
{
    enum comment_moderation state = model->comments[comment].moderation;
    return state == COMMENT_SHADOW && !reader.all ? COMMENT_VISIBLE : state;
}

/* Whatever ends openness unpins. */
static void unpin(struct comment_model *model, uint32_t comment)
{
    struct model_subject *subject = &model->subjects[model->comments[comment].subject];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < subject->pin_count; i++)
        if (subject->pins[i] != comment)
            subject->pins[kept++] = subject->pins[i];
    subject->pin_count = kept;
}

static void notify(struct comment_model *model, uint32_t user, uint32_t comment, bool mention)
{
    struct model_inbox *inbox = &model->inboxes[user];
    if (user == model->comments[comment].author)
        return;
    for (uint32_t i = 0; i < inbox->count; i++)
        if (inbox->entries[i].comment == comment)
            return; /* a reply wins over a mention, and two mentions are one */
    if (inbox->count == LIMIT_INBOX) {
        memmove(inbox->entries, inbox->entries + 1, (LIMIT_INBOX - 1) * sizeof inbox->entries[0]);
        inbox->count--;
    }
    inbox->entries[inbox->count++] =
        (struct model_entry){.comment = comment, .mention = mention, .number = ++inbox->given};
}

/* To be called after each change of a comment's state. */
static void settle(struct comment_model *model, uint32_t comment)
{
    struct model_comment *it = &model->comments[comment];
    if (!model_is_open(model, comment)) {
        unpin(model, comment);
        return;
    }
    if (it->was_open)
        return;
    it->was_open = true;
    if (it->reply_to != MODEL_NONE && it->reply_to_user != MODEL_NOBODY)
        notify(model, it->reply_to_user, comment, false);
    for (uint32_t i = 0; i < it->mention_count; i++)
        notify(model, it->mentions[i], comment, true);
}

static const struct model_ban *ban_of(const struct comment_model *model, uint32_t user,
                                      uint32_t now_s)
{
    const struct model_ban *ban = &model->bans[user];
    return ban->is_set && ban->until_s > now_s ? ban : NULL;
}

/* The checks that posting and editing share; *moderation is what a new text gets. */
static enum status check_writer(const struct comment_model *model, uint32_t user, uint32_t subject,
                                uint32_t now_s, enum comment_moderation *moderation)
{
    const struct model_ban *ban = ban_of(model, user, now_s);
    *moderation = COMMENT_VISIBLE;
    if (ban != NULL && !ban->shadow)
        return STATUS_BANNED;
    switch (model->subjects[subject].mode) {
    case SUBJECT_READONLY:
        return STATUS_SUBJECT_READONLY;
    case SUBJECT_CLOSED:
        return STATUS_SUBJECT_CLOSED;
    case SUBJECT_HELD:
        *moderation = COMMENT_PENDING;
        break;
    default:
        break;
    }
    if (ban != NULL)
        *moderation = COMMENT_SHADOW;
    return STATUS_OK;
}

/* May this user reply to the comment? *shadow: only as shadow. */
static enum status check_target(const struct comment_model *model, uint32_t user, uint32_t target,
                                bool *shadow)
{
    struct model_reader reader = {.user = user};
    *shadow = false;
    if (target >= model->count || model_sight(model, reader, target) == MODEL_NOTHING)
        return STATUS_NO_COMMENT;
    if (model->comments[target].deleted)
        return STATUS_COMMENT_DELETED;
    if (model_is_open(model, target))
        return STATUS_OK;
    *shadow = model->comments[target].moderation == COMMENT_SHADOW;
    return *shadow ? STATUS_OK : STATUS_COMMENT_NOT_OPEN;
}

static struct model_comment *new_comment(struct comment_model *model)
{
    if (model->count == model->capacity) {
        model->capacity = model->capacity * 2 + 64;
        model->comments = realloc(model->comments, model->capacity * sizeof model->comments[0]);
        ASSERT(model->comments != NULL);
    }
    struct model_comment *it = &model->comments[model->count++];
    *it = (struct model_comment){0};
    return it;
}

static bool token_is_used(const struct comment_model *model, const struct model_post *post)
{
    const struct model_token *token = &model->tokens[post->token % MODEL_TOKENS];
    return post->token < MODEL_TOKENS && token->comment != MODEL_NONE &&
           post->time_s - token->time_s <= model->token_ttl_s;
}

enum status model_add(struct comment_model *model, struct model_post *post)
{
    struct model_reader author = {.user = post->user};
    enum comment_moderation moderation;
    bool shadow = false;
    post->repeated = token_is_used(model, post);
    if (post->repeated) {
        post->comment = model->tokens[post->token].comment;
        post->state = model->comments[post->comment].dropped
                          ? COMMENT_HIDDEN
                          : model_shown_state(model, author, post->comment);
        return STATUS_OK;
    }
    if (post->reply_to != MODEL_NONE) {
        enum status status = check_target(model, post->user, post->reply_to, &shadow);
        if (status != STATUS_OK)
            return status;
        post->subject = model->comments[post->reply_to].subject;
    }
    enum status status = check_writer(model, post->user, post->subject, post->time_s, &moderation);
    if (status != STATUS_OK)
        return status;
    struct model_comment *it = new_comment(model);
    *it = (struct model_comment){.subject = post->subject,
                                 .root = MODEL_NONE,
                                 .reply_to = post->reply_to,
                                 .reply_to_user = MODEL_NOBODY,
                                 .author = post->user,
                                 .time_s = post->time_s,
                                 .mention_count = post->mention_count,
                                 .mentions = {post->mentions[0], post->mentions[1]},
                                 .has_extra = post->has_extra,
                                 .moderation = shadow ? COMMENT_SHADOW : moderation,
                                 .texts = {{post->text, post->time_s}},
                                 .text_count = 1};
    if (post->reply_to != MODEL_NONE) {
        it->root = model_root_of(model, post->reply_to);
        it->reply_to_user = model->comments[post->reply_to].author;
        it->floor = ++model->comments[it->root].replies;
    } else {
        it->floor = ++model->subjects[post->subject].floors;
    }
    post->comment = model->count - 1;
    post->state = model_shown_state(model, author, post->comment);
    if (post->token < MODEL_TOKENS)
        model->tokens[post->token] = (struct model_token){post->comment, post->time_s};
    settle(model, post->comment);
    return STATUS_OK;
}

/* Who may not see a comment gets no other answer than that there is none. */
static enum status check_author(const struct comment_model *model, uint32_t user, uint32_t comment)
{
    struct model_reader reader = {.user = user};
    if (comment >= model->count || model->comments[comment].dropped)
        return STATUS_NO_COMMENT;
    bool own = model->comments[comment].author == user;
    if (!own)
        return model_sight(model, reader, comment) == MODEL_NOTHING ? STATUS_NO_COMMENT
                                                                    : STATUS_NOT_AUTHOR;
    return STATUS_OK;
}

enum status model_edit(struct comment_model *model, uint32_t user, uint32_t comment, uint32_t text,
                       uint32_t time_s, int64_t *value)
{
    enum comment_moderation moderation;
    enum status status = check_author(model, user, comment);
    if (status != STATUS_OK)
        return status;
    struct model_comment *it = &model->comments[comment];
    if (it->deleted)
        return STATUS_COMMENT_DELETED;
    status = check_writer(model, user, it->subject, time_s, &moderation);
    if (status != STATUS_OK)
        return status;
    *value = it->texts[0].number != text;
    if (*value == 0)
        return STATUS_OK;
    if (it->text_count <= LIMIT_VERSIONS)
        it->text_count++;
    memmove(it->texts + 1, it->texts, (it->text_count - 1) * sizeof it->texts[0]);
    it->texts[0] = (struct model_text){text, time_s};
    it->edited_s = time_s;
    if (it->moderation == COMMENT_VISIBLE)
        it->moderation = moderation;
    settle(model, comment);
    return STATUS_OK;
}

static void erase(struct comment_model *model, uint32_t comment)
{
    struct model_comment *it = &model->comments[comment];
    it->deleted = true;
    it->text_count = 0;
    it->has_extra = false;
    it->mention_count = 0;
    settle(model, comment);
}

enum status model_uncomment(struct comment_model *model, uint32_t user, uint32_t comment,
                            int64_t *value)
{
    enum status status = check_author(model, user, comment);
    if (status != STATUS_OK)
        return status;
    *value = !model->comments[comment].deleted;
    erase(model, comment);
    return STATUS_OK;
}

enum status model_moderate(struct comment_model *model, uint32_t comment,
                           enum comment_moderation moderation, int64_t *value)
{
    if (comment >= model->count || model->comments[comment].dropped)
        return STATUS_NO_COMMENT;
    struct model_comment *it = &model->comments[comment];
    uint32_t reports = (uint32_t)model_votes(model, comment, MODEL_REPORT);
    bool reviews = moderation == COMMENT_VISIBLE && it->reviewed != reports;
    *value = it->moderation != moderation || reviews;
    it->moderation = moderation;
    if (reviews)
        it->reviewed = reports;
    settle(model, comment);
    return STATUS_OK;
}

enum status model_pin(struct comment_model *model, uint32_t comment, int64_t *value)
{
    if (comment >= model->count || model->comments[comment].dropped)
        return STATUS_NO_COMMENT;
    struct model_subject *subject = &model->subjects[model->comments[comment].subject];
    if (!model_is_root(model, comment) || !model_is_open(model, comment))
        return STATUS_COMMENT_NOT_OPEN;
    *value = !model_is_pinned(model, comment);
    if (*value == 0)
        return STATUS_OK;
    if (subject->pin_count == SUBJECT_PINS)
        return STATUS_PINS_FULL;
    subject->pins[subject->pin_count++] = comment;
    return STATUS_OK;
}

enum status model_unpin(struct comment_model *model, uint32_t comment, int64_t *value)
{
    if (comment >= model->count || model->comments[comment].dropped)
        return STATUS_NO_COMMENT;
    *value = model_is_pinned(model, comment);
    unpin(model, comment);
    return STATUS_OK;
}

enum status model_purge(struct comment_model *model, uint32_t comment, int64_t *value)
{
    if (comment >= model->count || model->comments[comment].dropped)
        return STATUS_NO_COMMENT;
    *value = !model->comments[comment].deleted;
    erase(model, comment);
    return STATUS_OK;
}

int64_t model_set_subject(struct comment_model *model, uint32_t subject, uint32_t owner,
                          bool set_mode, enum subject_mode mode)
{
    struct model_subject *it = &model->subjects[subject];
    bool changed = (owner != MODEL_NOBODY && it->owner != owner) || (set_mode && it->mode != mode);
    if (owner != MODEL_NOBODY)
        it->owner = owner;
    if (set_mode)
        it->mode = mode;
    return changed;
}

/* A ban whose time has come is none. */
enum status model_ban(struct comment_model *model, uint32_t user, uint32_t until_s, bool shadow,
                      uint32_t now_s, int64_t *value)
{
    static const struct model_ban none;
    struct model_ban ban = {.is_set = true, .shadow = shadow, .until_s = until_s};
    const struct model_ban *before = ban_of(model, user, now_s);
    if (until_s == 0)
        ban = none;
    else if (until_s <= now_s)
        return STATUS_BAN_PAST;
    if (before == NULL)
        before = &none;
    *value = before->is_set != ban.is_set || before->shadow != ban.shadow ||
             before->until_s != ban.until_s;
    model->bans[user] = ban;
    return STATUS_OK;
}

int64_t model_vote(struct comment_model *model, uint32_t user, uint32_t comment,
                   enum model_vote vote, bool set)
{
    bool *is_set = &model->comments[comment].votes[vote][user];
    bool changed = *is_set != set;
    *is_set = set;
    return changed;
}

int64_t model_see(struct comment_model *model, uint32_t user, uint32_t number)
{
    struct model_inbox *inbox = &model->inboxes[user];
    if (number > inbox->given)
        number = inbox->given;
    bool changed = number > inbox->seen;
    if (changed)
        inbox->seen = number;
    return changed;
}

void model_drop(struct comment_model *model, uint32_t subject)
{
    for (uint32_t i = 0; i < model->count; i++)
        if (model->comments[i].subject == subject)
            model->comments[i].dropped = true;
    model->subjects[subject].pin_count = 0;
}

void model_forget(struct comment_model *model, uint32_t user)
{
    for (uint32_t i = 0; i < model->count; i++) {
        for (int vote = 0; vote < MODEL_VOTES; vote++)
            model->comments[i].votes[vote][user] = false;
        if (model->comments[i].author != user)
            continue;
        erase(model, i);
        model->comments[i].author = MODEL_NOBODY;
    }
    model->inboxes[user] = (struct model_inbox){0};
    model->bans[user] = (struct model_ban){0};
}
