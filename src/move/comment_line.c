#include "move/comment_line.h"

#include <stdio.h>

#include "base/assert.h"
#include "move/comment_fields.h"

static const char *const modes[] = {"open", "held", "readonly", "closed", NULL};
static const char *const moderations[] = {"visible", "pending", "hidden", "shadow", NULL};

static void parse_subject(struct fields *fields, struct comment_line *line)
{
    line->item = fields_text(fields, "subject", true);
    line->subject.has_owner = fields_id(fields, "owner", false, &line->subject.owner);
    line->subject.mode = fields_word(fields, "mode", modes);
    line->subject.next_floor = fields_number(fields, "next_floor", false);
    if (line->subject.next_floor == UINT32_MAX)
        fields_refuse(fields, "a floor is less than %u", UINT32_MAX);
}

static void parse_history(struct fields *fields, struct comment_line *line)
{
    json_t *history = fields_get(fields, "history");
    if (history == NULL)
        return;
    if (!json_is_array(history) || json_array_size(history) > LIMIT_VERSIONS) {
        fields_refuse(fields, "the value of 'history' should be an array of at most %d texts",
                      LIMIT_VERSIONS);
        return;
    }
    line->comment.history_count = (uint32_t)json_array_size(history);
    line->comment.history = line->history;
    for (uint32_t i = 0; i < line->comment.history_count && !fields->bad; i++) {
        struct fields one = {
            .object = json_array_get(history, i), .problem = fields->problem, .size = fields->size};
        if (!json_is_object(one.object)) {
            fields_refuse(fields, "an entry of 'history' should be an object");
            return;
        }
        line->history[i] = fields_content(&one);
        fields->bad = fields_end(&one) != STATUS_OK;
    }
}

static void parse_comment(struct fields *fields, struct comment_line *line)
{
    struct moved_comment *moved = &line->comment;
    struct comment *comment = &moved->comment;
    comment->id = fields_comment(fields, "comment", true);
    line->item = fields_text(fields, "subject", true);
    comment->root = fields_comment(fields, "root", false);
    comment->reply_to = fields_comment(fields, "reply_to", comment->root != COMMENT_NONE);
    fields_id(fields, "reply_to_user", false, &comment->reply_to_user);
    comment->anonymous = !fields_id(fields, "author", true, &comment->author);
    comment->floor = fields_number(fields, "floor", true);
    comment->time_s = fields_number(fields, "time", true);
    comment->edited_s = fields_number(fields, "edited", false);
    comment->next_floor = fields_number(fields, "next_floor", false);
    comment->versions = fields_number(fields, "versions", false);
    comment->reviewed = fields_number(fields, "reviewed", false);
    comment->moderation = fields_word(fields, "state", moderations);
    comment->deleted = fields_flag(fields, "deleted");
    comment->was_open = fields_flag(fields, "was_open");
    moved->has_content = !comment->deleted;
    if (moved->has_content)
        moved->content = fields_content(fields);
    parse_history(fields, line);
    if (comment->floor == 0)
        fields_refuse(fields, "the value of 'floor' should be at least 1");
}

static void parse_pin(struct fields *fields, struct comment_line *line)
{
    line->comment.comment.id = fields_comment(fields, "pin", true);
    line->item = fields_text(fields, "subject", true);
}

static void parse_ban(struct fields *fields, struct comment_line *line)
{
    fields_id(fields, "ban", true, &line->user);
    line->ban.shadow = fields_flag(fields, "shadow");
    if (json_is_null(json_object_get(fields->object, "until"))) {
        fields_get(fields, "until");
        line->ban.until_s = UINT32_MAX;
        return;
    }
    line->ban.until_s = fields_number(fields, "until", true);
}

static void parse_inbox(struct fields *fields, struct comment_line *line)
{
    fields_id(fields, "inbox", true, &line->user);
    if (json_object_get(fields->object, "newest") != NULL) {
        line->shape = COMMENT_LINE_INBOX;
        line->inbox.newest = fields_number(fields, "newest", true);
        line->inbox.seen = fields_number(fields, "seen", true);
        return;
    }
    struct inbox_entry *entry = &line->notice.entry;
    line->notice.number = fields_number(fields, "number", true);
    entry->comment = fields_comment(fields, "comment", true);
    fields_id(fields, "by", true, &entry->by);
    entry->time_s = fields_number(fields, "time", true);
    entry->mention = fields_flag(fields, "mention");
}

static const struct {
    const char *key;
    enum comment_line_shape shape;
    void (*parse)(struct fields *fields, struct comment_line *line);
} shapes[] = {
    {"subject", COMMENT_LINE_SUBJECT, parse_subject},
    {"comment", COMMENT_LINE_COMMENT, parse_comment},
    {"pin", COMMENT_LINE_PIN, parse_pin},
    {"ban", COMMENT_LINE_BAN, parse_ban},
    {"inbox", COMMENT_LINE_NOTICE, parse_inbox},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\t';
}

/* The index in `shapes` of the first key; SHAPES: it is another one. */
static unsigned first_key(struct text line)
{
    size_t at = 0;
    while (at < line.length && is_space(line.bytes[at]))
        at++;
    if (at == line.length || line.bytes[at++] != '{')
        return SHAPES;
    while (at < line.length && is_space(line.bytes[at]))
        at++;
    if (at == line.length || line.bytes[at++] != '"')
        return SHAPES;
    for (unsigned i = 0; i < SHAPES; i++) {
        size_t length = strlen(shapes[i].key);
        if (line.length - at > length && line.bytes[at + length] == '"' &&
            memcmp(line.bytes + at, shapes[i].key, length) == 0)
            return i;
    }
    return SHAPES;
}

bool comment_line_is(struct text line)
{
    return first_key(line) != SHAPES;
}

enum status comment_line_parse(struct text line, struct comment_line *out, char *problem,
                               size_t size)
{
    json_error_t error;
    unsigned which = first_key(line);
    *out = (struct comment_line){0};
    ASSERT(which < SHAPES);
    out->json =
        json_loadb(line.bytes, line.length, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (out->json == NULL) {
        snprintf(problem, size, "the line is not a JSON object: %s", error.text);
        return STATUS_BAD_ARGUMENT;
    }
    struct fields fields = {.object = out->json, .problem = problem, .size = size};
    out->shape = shapes[which].shape;
    shapes[which].parse(&fields, out);
    return fields_end(&fields);
}

void comment_line_free(struct comment_line *line)
{
    json_decref(line->json);
    line->json = NULL;
}

enum status comment_line_import(const struct comment_line *line, struct import *import)
{
    switch (line->shape) {
    case COMMENT_LINE_SUBJECT:
        return import_subject(import, line->item, &line->subject);
    case COMMENT_LINE_COMMENT:
        return import_comment(import, line->item, &line->comment, NULL);
    case COMMENT_LINE_PIN:
        return import_pin(import, line->item, line->comment.comment.id);
    case COMMENT_LINE_BAN:
        return import_ban(import, line->user, &line->ban);
    case COMMENT_LINE_NOTICE:
        return import_notice(import, line->user, &line->notice);
    default:
        ASSERT(line->shape == COMMENT_LINE_INBOX);
        return import_inbox(import, line->user, &line->inbox);
    }
}
