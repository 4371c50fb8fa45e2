#include "cli/check_dump.h"

#include <inttypes.h>
#include <stdbool.h>

#include "comment/body.h"

/* Prints text of a record with a valid checksum, which may still not be a valid name. */
static void put_text(FILE *out, const char *text, size_t length)
{
    putc('"', out);
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x20 || byte >= 0x7f || byte == '"' || byte == '\\')
            fprintf(out, "\\u%04x", byte);
        else
            putc(byte, out);
    }
    putc('"', out);
}

static void put_id(FILE *out, struct id id)
{
    char text[LIMIT_ID_TEXT];
    size_t length = id_format(id, text);
    fprintf(out, "%.*s", (int)length, text);
}

static void put_name(FILE *out, const struct names *names, uint8_t index)
{
    if (index < names_count(names))
        fprintf(out, "\"%s\"", names_get(names, index)->text);
    else
        fprintf(out, "\"#%u\"", index);
}

static void put_item(FILE *out, const struct names *names, const struct item *item)
{
    fprintf(out, ",\"item\":\"");
    if (item->type < names_type_count(names))
        fprintf(out, "%s:", names_type(names, item->type)->text);
    else
        fprintf(out, "#%u:", item->type);
    put_id(out, item->id);
    putc('"', out);
}

static void dump_reaction(FILE *out, const struct names *names, const struct event *event)
{
    fprintf(out, ",\"user\":\"");
    put_id(out, event->user);
    fprintf(out, "\",\"kind\":");
    put_name(out, names, event->name);
    put_item(out, names, &event->item);
    for (size_t i = 0; i < event->cleared_count; i++) {
        fprintf(out, i == 0 ? ",\"cleared\":[" : ",");
        put_name(out, names, event->cleared[i]);
    }
    if (event->cleared_count > 0)
        putc(']', out);
}

static void dump_add(FILE *out, const struct names *names, const struct event *event)
{
    fprintf(out, ",\"counter\":");
    put_name(out, names, event->name);
    put_item(out, names, &event->item);
    fprintf(out, ",\"delta\":%" PRId64, event->delta);
    if (event->has_token)
        fprintf(out, ",\"token\":\"%016" PRIx64 "%016" PRIx64 "\"", event->token[0],
                event->token[1]);
}

static const char *const changes[] = {
    [COMMENT_EVENT_ADD] = "add",       [COMMENT_EVENT_EDIT] = "edit",
    [COMMENT_EVENT_STATE] = "state",   [COMMENT_EVENT_PURGE] = "purge",
    [COMMENT_EVENT_PIN] = "pin",       [COMMENT_EVENT_SUBJECT] = "subject",
    [COMMENT_EVENT_DROP] = "drop",     [COMMENT_EVENT_ROWS] = "rows",
    [COMMENT_EVENT_BAN] = "ban",       [COMMENT_EVENT_SEEN] = "seen",
    [COMMENT_EVENT_FORGET] = "forget", [COMMENT_EVENT_INBOX] = "inbox",
    [COMMENT_EVENT_IMPORT] = "import", [COMMENT_EVENT_NOTICE] = "notice",
};

/* Is the event about a user alone? Then its item means nothing. */
static bool is_about_user(const struct event *event)
{
    return event->name == COMMENT_EVENT_BAN || event->name == COMMENT_EVENT_SEEN ||
           event->name == COMMENT_EVENT_INBOX || event->name == COMMENT_EVENT_NOTICE;
}

static void dump_body(FILE *out, const struct comment_body *body)
{
    const struct comment *comment = &body->comment;
    if (body->has_comment) {
        fprintf(out, ",\"comment\":\"%" PRIu64 "\"", comment->id);
        if (!comment_is_root(comment))
            fprintf(out, ",\"root\":\"%" PRIu64 "\"", comment->root);
        fprintf(out, ",\"floor\":%" PRIu32 ",\"state\":\"%s\"", comment->floor,
                comment_moderation_text(comment->moderation));
        if (comment->deleted)
            fprintf(out, ",\"deleted\":true");
    }
    if (body->subject_delta != 0)
        fprintf(out, ",\"delta\":%" PRId64, body->subject_delta);
    if (body->root_delta != 0)
        fprintf(out, ",\"root_delta\":%" PRId64, body->root_delta);
}

/* Never a text or a reason: they are what persons have written. */
static void dump_comment(FILE *out, const struct names *names, const struct event *event)
{
    struct comment_body body;
    bool known =
        comment_body_decode(event->name, event->body, event->body_length, &body) == STATUS_OK;
    fprintf(out, ",\"user\":\"");
    put_id(out, event->user);
    if (known)
        fprintf(out, "\",\"change\":\"%s\"", changes[event->name]);
    else
        fprintf(out, "\",\"subtype\":%u", event->name);
    if (!known || !is_about_user(event))
        put_item(out, names, &event->item);
    if (known)
        dump_body(out, &body);
    fprintf(out, ",\"bytes\":%" PRIu32, event->body_length);
}

static void dump_define(FILE *out, const struct event *event)
{
    static const char *const roles[] = {
        [NAME_TYPE] = "type",
        [NAME_KIND] = "kind",
        [NAME_COUNTER] = "counter",
        [NAME_KEPT] = "kept counter",
    };
    fprintf(out, ",\"role\":\"%s\",\"index\":%u,\"name\":", roles[event->name], event->index);
    put_text(out, event->text, event->text_length);
}

void check_dump(FILE *out, const struct names *names, const struct event *event, uint64_t position)
{
    static const char *const types[] = {
        [EVENT_DEFINE] = "define", [EVENT_SET] = "set",         [EVENT_CLEAR] = "clear",
        [EVENT_ADD] = "add",       [EVENT_COMMENT] = "comment",
    };
    fprintf(out, "{\"position\":%" PRIu64 ",\"type\":\"%s\",\"time\":%" PRIu32, position,
            types[event->type], event->time_s);
    if (event->type == EVENT_DEFINE)
        dump_define(out, event);
    else if (event->type == EVENT_ADD)
        dump_add(out, names, event);
    else if (event->type == EVENT_COMMENT)
        dump_comment(out, names, event);
    else
        dump_reaction(out, names, event);
    fprintf(out, "}\n");
}

static enum status check_comment(const struct names *names, const struct event *event)
{
    struct comment_body body;
    enum status status = comment_body_decode(event->name, event->body, event->body_length, &body);
    bool known = is_about_user(event) || event->item.type < names_type_count(names);
    return status == STATUS_OK && known ? STATUS_OK : STATUS_DAMAGED;
}

enum status check_names(struct names *names, const struct event *event)
{
    if (event->type == EVENT_DEFINE)
        return names_restore(names, event->name, event->index, event->text, event->text_length);
    if (event->type == EVENT_COMMENT)
        return check_comment(names, event);
    bool known = event->name < names_count(names) && event->item.type < names_type_count(names);
    for (size_t i = 0; i < event->cleared_count; i++)
        known = known && event->cleared[i] < names_count(names);
    return known ? STATUS_OK : STATUS_DAMAGED;
}
