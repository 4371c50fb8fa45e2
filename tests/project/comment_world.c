#include "comment_world.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "comment/comment_id.h"
#include "comment/content.h"

#define PLAIN_ID 77 /* comment:77 is no comment */

struct id cw_user(unsigned user)
{
    return (struct id){.hi = user == 0 ? 0x1234567890abcdef : 0, .lo = user + 1};
}

static uint32_t below(struct comment_world *world, uint32_t end)
{
    return chance_below(&world->chance, end);
}

static struct event *new_event(struct comment_world *world, struct event event)
{
    assert_true(world->event_count < CW_EVENTS);
    event.time_s = world->now_s;
    world->events[world->event_count] = event;
    return &world->events[world->event_count++];
}

static void define(struct comment_world *world, uint8_t role, uint16_t index, const char *text)
{
    new_event(world, event_define(role, index, text, strlen(text), world->now_s));
}

struct comment_world *comment_world_new(uint64_t seed)
{
    struct comment_world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    world->chance.state = seed;
    world->now_s = COMMENT_EPOCH_S + 1000000;
    define(world, NAME_TYPE, CW_TYPE_VIDEO, "video");
    define(world, NAME_TYPE, CW_TYPE_COMMENT, "comment");
    define(world, NAME_KIND, CW_DISLIKE, "dislike");
    define(world, NAME_KIND, CW_REPORT, "report");
    for (unsigned i = 0; i < CW_SUBJECTS; i++)
        world->subjects[i] = subject_new((struct item){.id = {.lo = i + 1}, .type = CW_TYPE_VIDEO});
    return world;
}

void comment_world_free(struct comment_world *world)
{
    for (size_t i = 0; i < world->event_count; i++)
        free((void *)(uintptr_t)world->events[i].body);
    free(world);
}

static void emit(struct comment_world *world, enum comment_event kind,
                 const struct comment_body *body, struct id user, struct item item)
{
    uint8_t *bytes = malloc(COMMENT_BODY_BYTES);
    assert_non_null(bytes);
    size_t length = comment_body_encode(kind, body, bytes);
    uint8_t *body_bytes = realloc(bytes, length);
    assert_non_null(body_bytes);
    new_event(world, (struct event){.type = EVENT_COMMENT,
                                    .name = (uint8_t)kind,
                                    .user = user,
                                    .item = item,
                                    .body = body_bytes,
                                    .body_length = (uint32_t)length});
}

static unsigned subject_index(const struct comment *comment)
{
    return (unsigned)comment->subject.id.lo - 1;
}

static struct cw_comment *find(struct comment_world *world, uint64_t id)
{
    for (size_t i = 0; i < world->comment_count; i++)
        if (world->comments[i].comment.id == id)
            return &world->comments[i];
    fail_msg("there is no such comment");
    return NULL;
}

static struct cw_comment *root_of(struct comment_world *world, struct cw_comment *comment)
{
    return comment_is_root(&comment->comment) ? comment : find(world, comment->comment.root);
}

static bool is_dropped(struct comment_world *world, struct cw_comment *comment)
{
    return comment->removed ||
           comment_is_dropped(&root_of(world, comment)->comment,
                              &world->subjects[subject_index(&comment->comment)]);
}

/* Counts everything again: the subject's counter, roots and pins, and the root's open replies. */
static void recount(struct comment_world *world, unsigned subject_at)
{
    struct subject *subject = &world->subjects[subject_at];
    world->counts[subject_at] = 0;
    subject->roots = 0;
    for (size_t i = 0; i < world->comment_count; i++) {
        struct cw_comment *at = &world->comments[i];
        if (subject_index(&at->comment) != subject_at || is_dropped(world, at))
            continue;
        if (comment_is_root(&at->comment)) {
            at->comment.open_replies = 0;
            for (size_t k = 0; k < world->comment_count; k++)
                at->comment.open_replies += world->comments[k].comment.root == at->comment.id &&
                                            comment_is_open(&world->comments[k].comment);
            world->root_counts[i] = comment_root_count(&at->comment);
            subject->roots += comment_is_listed(&at->comment);
        }
        world->counts[subject_at] += comment_is_counted(&at->comment, &root_of(world, at)->comment);
    }
    uint8_t kept = 0;
    for (uint8_t i = 0; i < subject->pin_count; i++)
        if (comment_is_open(&find(world, subject->pins[i])->comment) &&
            !is_dropped(world, find(world, subject->pins[i])))
            subject->pins[kept++] = subject->pins[i];
    for (uint8_t i = kept; i < SUBJECT_PINS; i++)
        subject->pins[i] = COMMENT_NONE;
    subject->pin_count = kept;
}

/* Makes the event of what a test has just done to a comment; `before` is the world before that. */
static void emit_change(struct comment_world *world, enum comment_event kind,
                        struct cw_comment *comment, bool with_content, bool with_token)
{
    unsigned at = subject_index(&comment->comment);
    struct cw_comment *root = root_of(world, comment);
    struct subject subject = world->subjects[at];
    struct comment old_root = root->comment;
    int64_t count = world->counts[at], root_count = world->root_counts[root - world->comments];
    recount(world, at);
    struct comment_body body = {.has_comment = true,
                                .comment = comment->comment,
                                .has_content = with_content,
                                .content = comment->content.bytes,
                                .content_length = comment->content.length,
                                .has_token = with_token,
                                .token = {7, ++world->token_count},
                                .subject = world->subjects[at],
                                .root = root->comment};
    body.subject_delta = world->counts[at] - count;
    body.root_delta = world->root_counts[root - world->comments] - root_count;
    body.has_subject =
        kind == COMMENT_EVENT_ADD || memcmp(&subject, &world->subjects[at], sizeof subject) != 0;
    body.has_root = root != comment && (kind == COMMENT_EVENT_ADD ||
                                        memcmp(&old_root, &root->comment, sizeof old_root) != 0);
    world->has_row[at] = world->has_row[at] || body.has_subject;
    emit(world, kind, &body, comment->comment.author, subject.item);
}

static void notice(struct comment_world *world, const struct comment *comment, struct id user,
                   bool mention)
{
    unsigned at = user.hi != 0 ? 0 : (unsigned)user.lo - 1;
    struct cw_user *reader = &world->users[at];
    if (id_equal(user, comment->author))
        return;
    assert_true(reader->state.newest + 1 < CW_NOTICES);
    reader->entries[++reader->state.newest] = (struct inbox_entry){
        .comment = comment->id, .by = comment->author, .time_s = world->now_s, .mention = mention};
}

/* Notices, once a comment is open for the first time. */
static void open_comment(struct comment_world *world, struct cw_comment *at)
{
    struct comment_content content;
    struct comment *comment = &at->comment;
    if (!comment_is_open(comment) || comment->was_open)
        return;
    comment->was_open = true;
    assert_int_equal(comment_content_decode(at->content.bytes, at->content.length, &content),
                     STATUS_OK);
    if (!comment_is_root(comment))
        notice(world, comment, comment->reply_to_user, false);
    for (uint32_t i = 0; i < content.mention_count; i++) {
        bool known =
            !comment_is_root(comment) && id_equal(content.mentions[i], comment->reply_to_user);
        for (uint32_t k = 0; k < i; k++)
            known = known || id_equal(content.mentions[i], content.mentions[k]);
        if (!known)
            notice(world, comment, content.mentions[i], true);
    }
}

static void write_content(struct comment_world *world, struct cw_comment *comment)
{
    uint8_t bytes[COMMENT_CONTENT_BYTES];
    char text[40];
    int length = snprintf(text, sizeof text, "text %zu", world->event_count);
    struct comment_content content = {.text = {text, (size_t)length},
                                      .extra = {"{}", below(world, 2) * 2},
                                      .time_s = world->now_s,
                                      .mention_count = below(world, 4)};
    for (uint32_t i = 0; i < content.mention_count; i++)
        content.mentions[i] = cw_user(below(world, CW_USERS));
    size_t used = comment_content_encode(&content, bytes);
    assert_true(used <= CW_CONTENT);
    memcpy(comment->content.bytes, bytes, used);
    comment->content.length = (uint32_t)used;
}

static uint8_t any_moderation(struct comment_world *world)
{
    uint32_t chance = below(world, 8);
    return chance < 4 ? COMMENT_VISIBLE : (uint8_t)(chance - 4);
}

/* A new root, or a reply to `to`. */
static void add(struct comment_world *world, struct cw_comment *to)
{
    if (world->comment_count == CW_COMMENTS)
        return;
    struct cw_comment *at = &world->comments[world->comment_count];
    struct cw_comment *root = to != NULL ? root_of(world, to) : NULL;
    unsigned subject = to != NULL ? subject_index(&to->comment) : below(world, CW_SUBJECTS);
    uint64_t ms = (world->now_s - COMMENT_EPOCH_S) * 1000ULL + world->comment_count;
    *at = (struct cw_comment){.comment = {.id = (ms << GENE_BITS | 17) << COMMENT_SEQUENCE_BITS,
                                          .subject = world->subjects[subject].item,
                                          .author = cw_user(below(world, CW_USERS)),
                                          .time_s = world->now_s,
                                          .moderation = any_moderation(world),
                                          .next_floor = to == NULL}};
    at->comment.floor =
        to != NULL ? root->comment.next_floor++ : world->subjects[subject].next_floor++;
    if (to != NULL) {
        at->comment.root = root->comment.id;
        at->comment.reply_to = to->comment.id;
        at->comment.reply_to_user = to->comment.author;
    }
    world->root_counts[world->comment_count++] = 0;
    write_content(world, at);
    open_comment(world, at);
    emit_change(world, COMMENT_EVENT_ADD, at, true, below(world, 2) == 0);
}

static void edit(struct comment_world *world, struct cw_comment *at)
{
    if (at->comment.versions + 1 == CW_VERSIONS)
        return;
    at->versions[++at->comment.versions] = at->content;
    at->comment.edited_s = world->now_s;
    if (at->comment.moderation == COMMENT_VISIBLE && below(world, 4) == 0)
        at->comment.moderation = COMMENT_PENDING;
    write_content(world, at);
    open_comment(world, at);
    emit_change(world, COMMENT_EVENT_EDIT, at, true, false);
}

static void moderate(struct comment_world *world, struct cw_comment *at)
{
    at->comment.moderation = any_moderation(world);
    if (at->comment.moderation == COMMENT_VISIBLE)
        at->comment.reviewed = (uint32_t)cw_votes(at).reports;
    open_comment(world, at);
    emit_change(world, COMMENT_EVENT_STATE, at, !at->comment.deleted && below(world, 2) == 0,
                false);
}

static void delete (struct comment_world *world, struct cw_comment *at, enum comment_event kind)
{
    if (kind == COMMENT_EVENT_FORGET) {
        at->comment.anonymous = true;
        at->comment.author = (struct id){0};
    }
    at->comment.deleted = true;
    at->content.length = 0;
    emit_change(world, kind, at, false, false);
}

static void pin(struct comment_world *world, struct cw_comment *at)
{
    struct subject *subject = &world->subjects[subject_index(&at->comment)];
    struct comment_body body = {.has_subject = true};
    if (!comment_is_root(&at->comment) || !comment_is_open(&at->comment))
        return;
    if (subject_has_pin(subject, at->comment.id) || subject->pin_count == SUBJECT_PINS)
        subject->pins[--subject->pin_count] = COMMENT_NONE;
    else
        subject->pins[subject->pin_count++] = at->comment.id;
    body.subject = *subject;
    body.has_comment = below(world, 2) == 0;
    body.comment = at->comment;
    emit(world, COMMENT_EVENT_PIN, &body, cw_user(0), subject->item);
}

static void set_subject(struct comment_world *world)
{
    unsigned at = below(world, CW_SUBJECTS);
    struct subject *subject = &world->subjects[at];
    subject->mode = (uint8_t)below(world, 4);
    subject->has_owner = true;
    subject->owner = cw_user(below(world, CW_USERS));
    world->has_row[at] = true;
    const struct comment_body body = {.has_subject = true, .subject = *subject};
    emit(world, COMMENT_EVENT_SUBJECT, &body, cw_user(0), subject->item);
}

static void ban(struct comment_world *world)
{
    unsigned at = below(world, CW_USERS);
    struct user_ban *user = &world->users[at].ban;
    *user = (struct user_ban){.until_s = below(world, 3) == 0 ? 0 : world->now_s + 100};
    user->shadow = user->until_s != 0 && below(world, 2) == 0;
    const struct comment_body body = {.ban = *user};
    emit(world, COMMENT_EVENT_BAN, &body, cw_user(at), (struct item){0});
}

static void change_inbox(struct comment_world *world)
{
    unsigned at = below(world, CW_USERS);
    struct inbox_state *state = &world->users[at].state;
    bool empties = below(world, 10) == 0;
    const struct comment_body body = {.seen = empties ? 0 : below(world, state->newest + 5)};
    uint32_t seen = body.seen < state->newest ? body.seen : state->newest;
    if (empties)
        *state = (struct inbox_state){0};
    else if (seen > state->seen)
        state->seen = seen;
    emit(world, empties ? COMMENT_EVENT_INBOX : COMMENT_EVENT_SEEN, &body, cw_user(at),
         (struct item){0});
}

/* DROP begins: everything that the subject has is gone, but its rows are still there. */
static void drop(struct comment_world *world)
{
    unsigned at = below(world, CW_SUBJECTS);
    struct subject *subject = &world->subjects[at];
    struct comment_body body = {.has_subject = true, .subject_delta = -world->counts[at]};
    subject->dropped_floor = subject->next_floor - 1;
    recount(world, at);
    body.subject = *subject;
    world->has_row[at] = true;
    assert_int_equal(world->counts[at], 0);
    emit(world, COMMENT_EVENT_DROP, &body, cw_user(0), subject->item);
}

static void remove_rows(struct comment_world *world, struct cw_comment *at)
{
    int64_t *root_count = &world->root_counts[at - world->comments];
    struct comment_body body = {.has_comment = true, .comment = at->comment};
    body.root_delta = comment_is_root(&at->comment) ? -*root_count : 0;
    if (comment_is_root(&at->comment))
        *root_count = 0;
    at->removed = true;
    emit(world, COMMENT_EVENT_ROWS, &body, cw_user(0), at->comment.subject);
}

static void vote(struct comment_world *world, uint64_t id, unsigned user, unsigned kind, bool *set)
{
    static const uint8_t kinds[CW_KINDS] = {CW_LIKE, CW_DISLIKE, CW_REPORT};
    *set = !*set;
    new_event(world, (struct event){.type = *set ? EVENT_SET : EVENT_CLEAR,
                                    .name = kinds[kind],
                                    .user = cw_user(user),
                                    .item = comment_item(id, CW_TYPE_COMMENT)});
}

static void vote_any(struct comment_world *world, struct cw_comment *at)
{
    unsigned user = below(world, CW_USERS), kind = below(world, CW_KINDS);
    if (below(world, 20) == 0)
        vote(world, PLAIN_ID, user, 0, &world->plain_votes[user]);
    else
        vote(world, at->comment.id, user, kind, &at->votes[user][kind]);
}

/* Something that needs a comment which was not dropped. */
static void change_comment(struct comment_world *world, struct cw_comment *at)
{
    static const enum comment_event ends[] = {COMMENT_EVENT_STATE, COMMENT_EVENT_PURGE,
                                              COMMENT_EVENT_FORGET};
    uint32_t what = below(world, 20);
    bool again = at->comment.deleted && (what != 19 || at->comment.anonymous);
    if (what < 5 && comment_is_open(&at->comment))
        add(world, at);
    else if (what < 9 && !at->comment.deleted)
        edit(world, at);
    else if (what < 14)
        moderate(world, at);
    else if (what < 17)
        pin(world, at);
    else if (!again)
        delete (world, at, ends[what - 17]);
}

void comment_world_next(struct comment_world *world)
{
    struct cw_comment *at = world->comment_count > 0
                                ? &world->comments[below(world, (uint32_t)world->comment_count)]
                                : NULL;
    uint32_t what = below(world, 200);
    world->now_s += below(world, 3);
    if (at == NULL || what < 25)
        add(world, NULL);
    else if (what < 30)
        set_subject(world);
    else if (what < 36)
        ban(world);
    else if (what < 46)
        change_inbox(world);
    else if (what == 46)
        drop(world);
    else if (at->removed)
        return;
    else if (what < 120)
        vote_any(world, at);
    else if (is_dropped(world, at))
        remove_rows(world, at);
    else
        change_comment(world, at);
}
