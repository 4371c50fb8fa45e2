/*
 * A body begins with its version (1 byte, 1). Bodies of events about a user:
 *
 *     BAN      until_s 4, shadow 1
 *     SEEN     seen 4
 *     INBOX    nothing more
 *     NOTICE   number 4, comment 8, by 16, time_s 4, mention 1
 *
 * Bodies of all other events:
 *
 *     flags           1    1 subject, 2 comment, 4 root, 8 content, 16 token
 *     reason length   2
 *     content length  4
 *     subject_delta   8
 *     root_delta      8
 *     subject         item 18, then as in codec.c     if it is there, like all that follow
 *     comment         id 8, then as in codec.c
 *     root            id 8, then as in codec.c
 *     token           16
 *     content         as in content.c
 *     reason
 */
#include "comment/body.h"

#include <string.h>

#include "base/assert.h"
#include "comment/codec.h"
#include "comment/content.h"

enum { VERSION = 1 };
enum { HAS_SUBJECT = 1, HAS_COMMENT = 2, HAS_ROOT = 4, HAS_CONTENT = 8, HAS_TOKEN = 16 };
enum { HEAD_BYTES = 1 + 1 + 2 + 4 + 8 + 8, ITEM_BYTES = 18, ID_BYTES = 8, TOKEN_BYTES = 16 };

_Static_assert(HEAD_BYTES + ITEM_BYTES + CODEC_SUBJECT_BYTES +
                       2 * (ID_BYTES + CODEC_COMMENT_BYTES) + TOKEN_BYTES + COMMENT_CONTENT_BYTES +
                       LIMIT_REASON <=
                   COMMENT_BODY_BYTES,
               "the body of the largest comment fits an event");

/* Which fields a kind of events must have, and which others it may have. */
static const struct {
    uint8_t must;
    uint8_t may;
} fields[] = {
    [COMMENT_EVENT_ADD] = {HAS_SUBJECT | HAS_COMMENT | HAS_CONTENT, HAS_ROOT | HAS_TOKEN},
    [COMMENT_EVENT_EDIT] = {HAS_COMMENT | HAS_CONTENT, HAS_SUBJECT | HAS_ROOT},
    [COMMENT_EVENT_STATE] = {HAS_COMMENT, HAS_SUBJECT | HAS_ROOT | HAS_CONTENT},
    [COMMENT_EVENT_PURGE] = {HAS_COMMENT, HAS_SUBJECT | HAS_ROOT},
    [COMMENT_EVENT_PIN] = {HAS_SUBJECT, HAS_COMMENT},
    [COMMENT_EVENT_SUBJECT] = {HAS_SUBJECT, 0},
    [COMMENT_EVENT_DROP] = {HAS_SUBJECT, 0},
    [COMMENT_EVENT_ROWS] = {HAS_COMMENT, HAS_SUBJECT | HAS_ROOT},
    [COMMENT_EVENT_FORGET] = {HAS_COMMENT, HAS_SUBJECT | HAS_ROOT},
    [COMMENT_EVENT_IMPORT] = {HAS_SUBJECT | HAS_COMMENT, HAS_ROOT | HAS_CONTENT},
};

static bool kind_has_fields(enum comment_event kind)
{
    return (size_t)kind < sizeof fields / sizeof fields[0] && fields[kind].must != 0;
}

static bool flags_fit(enum comment_event kind, uint8_t flags)
{
    return (flags & fields[kind].must) == fields[kind].must &&
           (flags & ~(fields[kind].must | fields[kind].may)) == 0;
}

static uint8_t body_flags(const struct comment_body *body)
{
    return (uint8_t)((body->has_subject ? HAS_SUBJECT : 0) | (body->has_comment ? HAS_COMMENT : 0) |
                     (body->has_root ? HAS_ROOT : 0) | (body->has_content ? HAS_CONTENT : 0) |
                     (body->has_token ? HAS_TOKEN : 0));
}

static uint8_t *put_text(uint8_t *out, const void *bytes, size_t length)
{
    if (length > 0)
        memcpy(out, bytes, length);
    return out + length;
}

static uint8_t *put_fields(uint8_t *out, const struct comment_body *body)
{
    uint32_t content_length = body->has_content ? body->content_length : 0;
    ASSERT(content_length <= COMMENT_CONTENT_BYTES && body->reason.length <= LIMIT_REASON);
    out = put_8(out, body_flags(body));
    out = put_16(out, (uint16_t)body->reason.length);
    out = put_32(out, content_length);
    out = put_64(out, (uint64_t)body->subject_delta);
    out = put_64(out, (uint64_t)body->root_delta);
    if (body->has_subject)
        out = put_subject(put_item(out, body->subject.item), &body->subject);
    if (body->has_comment)
        out = put_comment(put_64(out, body->comment.id), &body->comment);
    if (body->has_root)
        out = put_comment(put_64(out, body->root.id), &body->root);
    if (body->has_token)
        out = put_64(put_64(out, body->token[0]), body->token[1]);
    out = put_text(out, body->content, content_length);
    return put_text(out, body->reason.bytes, body->reason.length);
}

static uint8_t *put_notice(uint8_t *out, const struct inbox_notice *notice)
{
    out = put_64(put_32(out, notice->number), notice->entry.comment);
    out = put_32(put_id(out, notice->entry.by), notice->entry.time_s);
    return put_8(out, notice->entry.mention);
}

size_t comment_body_encode(enum comment_event kind, const struct comment_body *body, uint8_t *out)
{
    uint8_t *end = put_8(out, VERSION);
    switch (kind) {
    case COMMENT_EVENT_BAN:
        end = put_8(put_32(end, body->ban.until_s), body->ban.shadow);
        break;
    case COMMENT_EVENT_SEEN:
        end = put_32(end, body->seen);
        break;
    case COMMENT_EVENT_INBOX:
        break;
    case COMMENT_EVENT_NOTICE:
        end = put_notice(end, &body->notice);
        break;
    default:
        ASSERT(kind_has_fields(kind) && flags_fit(kind, body_flags(body)));
        end = put_fields(end, body);
    }
    ASSERT((size_t)(end - out) <= COMMENT_BODY_BYTES);
    return (size_t)(end - out);
}

static void get_one(struct decoder *decoder, struct comment *comment)
{
    comment->id = get_64(decoder);
    get_comment(decoder, comment);
    decoder->bad = decoder->bad || comment->id == COMMENT_NONE;
}

static void get_fields(struct decoder *decoder, enum comment_event kind, struct comment_body *out)
{
    uint8_t flags = get_8(decoder);
    size_t reason_length = get_16(decoder);
    out->content_length = get_32(decoder);
    out->subject_delta = (int64_t)get_64(decoder);
    out->root_delta = (int64_t)get_64(decoder);
    out->has_subject = flags & HAS_SUBJECT;
    out->has_comment = flags & HAS_COMMENT;
    out->has_root = flags & HAS_ROOT;
    out->has_content = flags & HAS_CONTENT;
    out->has_token = flags & HAS_TOKEN;
    if (!flags_fit(kind, flags) || reason_length > LIMIT_REASON ||
        out->content_length > (out->has_content ? COMMENT_CONTENT_BYTES : 0)) {
        decoder->bad = true;
        return;
    }
    if (out->has_subject) {
        out->subject.item = get_item(decoder);
        get_subject(decoder, &out->subject);
    }
    if (out->has_comment)
        get_one(decoder, &out->comment);
    if (out->has_root)
        get_one(decoder, &out->root);
    for (unsigned i = 0; out->has_token && i < 2; i++)
        out->token[i] = get_64(decoder);
    out->content = get_bytes(decoder, out->content_length);
    out->reason = (struct text){(const char *)get_bytes(decoder, reason_length), reason_length};
}

static void get_notice(struct decoder *decoder, struct inbox_notice *notice)
{
    notice->number = get_32(decoder);
    notice->entry.comment = get_64(decoder);
    notice->entry.by = get_id(decoder);
    notice->entry.time_s = get_32(decoder);
    notice->entry.mention = get_flags(decoder, 1);
}

enum status comment_body_decode(enum comment_event kind, const uint8_t *bytes, size_t length,
                                struct comment_body *out)
{
    struct decoder decoder = {.at = bytes, .left = length};
    *out = (struct comment_body){0};
    if (get_8(&decoder) != VERSION)
        return STATUS_DAMAGED;
    switch (kind) {
    case COMMENT_EVENT_BAN:
        out->ban.until_s = get_32(&decoder);
        out->ban.shadow = get_flags(&decoder, 1);
        break;
    case COMMENT_EVENT_SEEN:
        out->seen = get_32(&decoder);
        break;
    case COMMENT_EVENT_INBOX:
        break;
    case COMMENT_EVENT_NOTICE:
        get_notice(&decoder, &out->notice);
        break;
    default:
        if (!kind_has_fields(kind))
            return STATUS_DAMAGED;
        get_fields(&decoder, kind, out);
    }
    return get_end(&decoder) ? STATUS_OK : STATUS_DAMAGED;
}
