/*
 * A comment, 96 bytes:
 *
 *     subject        type 2, id 16 (upper half first, as all ids)
 *     root           8     0: it is a root
 *     reply_to       8     0 for a root
 *     author         16    0 if it is anonymous
 *     reply_to_user  16    0 for a root
 *     floor, time_s, edited_s, open_replies, next_floor, versions, reviewed   4 each
 *     moderation     1
 *     flags          1     1 deleted, 2 anonymous, 4 was_open
 *
 * A subject, 58 bytes:
 *
 *     owner          16    0 if there is none
 *     next_floor, dropped_floor   4 each
 *     roots          8
 *     pins           3 × 8, unused ones 0
 *     mode           1
 *     flags          1     1 has an owner, 2 and 4 the number of pins
 */
#include "comment/codec.h"

enum { COMMENT_DELETED = 1, COMMENT_ANONYMOUS = 2, COMMENT_WAS_OPEN = 4 };
enum { SUBJECT_HAS_OWNER = 1, SUBJECT_PINS_SHIFT = 1, SUBJECT_FLAGS = 7 };

_Static_assert(SUBJECT_PINS == 3, "a subject has room for so many, and two bits for their number");

static bool id_is_zero(struct id id)
{
    return id.hi == 0 && id.lo == 0;
}

uint8_t *put_comment(uint8_t *out, const struct comment *comment)
{
    static const struct id nobody;
    bool root = comment_is_root(comment);
    out = put_item(out, comment->subject);
    out = put_64(out, comment->root);
    out = put_64(out, root ? COMMENT_NONE : comment->reply_to);
    out = put_id(out, comment->anonymous ? nobody : comment->author);
    out = put_id(out, root ? nobody : comment->reply_to_user);
    out = put_32(out, comment->floor);
    out = put_32(out, comment->time_s);
    out = put_32(out, comment->edited_s);
    out = put_32(out, comment->open_replies);
    out = put_32(out, comment->next_floor);
    out = put_32(out, comment->versions);
    out = put_32(out, comment->reviewed);
    out = put_8(out, comment->moderation);
    return put_8(out, (uint8_t)((comment->deleted ? COMMENT_DELETED : 0) |
                                (comment->anonymous ? COMMENT_ANONYMOUS : 0) |
                                (comment->was_open ? COMMENT_WAS_OPEN : 0)));
}

static bool comment_is_plausible(const struct comment *comment)
{
    if (comment->moderation > COMMENT_SHADOW || comment->floor == 0)
        return false;
    if (comment->anonymous && !id_is_zero(comment->author))
        return false;
    return !comment_is_root(comment) ||
           (comment->reply_to == COMMENT_NONE && id_is_zero(comment->reply_to_user));
}

void get_comment(struct decoder *decoder, struct comment *comment)
{
    comment->subject = get_item(decoder);
    comment->root = get_64(decoder);
    comment->reply_to = get_64(decoder);
    comment->author = get_id(decoder);
    comment->reply_to_user = get_id(decoder);
    comment->floor = get_32(decoder);
    comment->time_s = get_32(decoder);
    comment->edited_s = get_32(decoder);
    comment->open_replies = get_32(decoder);
    comment->next_floor = get_32(decoder);
    comment->versions = get_32(decoder);
    comment->reviewed = get_32(decoder);
    comment->moderation = get_8(decoder);
    uint8_t flags = get_flags(decoder, COMMENT_DELETED | COMMENT_ANONYMOUS | COMMENT_WAS_OPEN);
    comment->deleted = flags & COMMENT_DELETED;
    comment->anonymous = flags & COMMENT_ANONYMOUS;
    comment->was_open = flags & COMMENT_WAS_OPEN;
    decoder->bad = decoder->bad || !comment_is_plausible(comment);
}

uint8_t *put_subject(uint8_t *out, const struct subject *subject)
{
    static const struct id nobody;
    out = put_id(out, subject->has_owner ? subject->owner : nobody);
    out = put_32(out, subject->next_floor);
    out = put_32(out, subject->dropped_floor);
    out = put_64(out, subject->roots);
    for (unsigned i = 0; i < SUBJECT_PINS; i++)
        out = put_64(out, i < subject->pin_count ? subject->pins[i] : COMMENT_NONE);
    out = put_8(out, subject->mode);
    return put_8(out, (uint8_t)((subject->has_owner ? SUBJECT_HAS_OWNER : 0) |
                                subject->pin_count << SUBJECT_PINS_SHIFT));
}

static bool subject_is_plausible(const struct subject *subject)
{
    if (subject->mode > SUBJECT_CLOSED || subject->next_floor == 0)
        return false;
    for (unsigned i = 0; i < SUBJECT_PINS; i++)
        if ((subject->pins[i] == COMMENT_NONE) != (i >= subject->pin_count))
            return false;
    return subject->has_owner || id_is_zero(subject->owner);
}

void get_subject(struct decoder *decoder, struct subject *subject)
{
    subject->owner = get_id(decoder);
    subject->next_floor = get_32(decoder);
    subject->dropped_floor = get_32(decoder);
    subject->roots = get_64(decoder);
    for (unsigned i = 0; i < SUBJECT_PINS; i++)
        subject->pins[i] = get_64(decoder);
    subject->mode = get_8(decoder);
    uint8_t flags = get_flags(decoder, SUBJECT_FLAGS);
    subject->has_owner = flags & SUBJECT_HAS_OWNER;
    subject->pin_count = flags >> SUBJECT_PINS_SHIFT;
    decoder->bad = decoder->bad || !subject_is_plausible(subject);
}
