/* Decides imported subjects and their pins. */
#include <inttypes.h>

#include "move/comments_private.h"

enum status import_subject_item(struct import *import, struct text text, struct item *item)
{
    enum status status = import_begin_comment(import);
    if (status == STATUS_OK)
        status = import_item(import, text, item);
    if (status == STATUS_OK && item->type == import->comments->type)
        return import_refuse(import, "the subject is a comment: comments have replies, which "
                                     "are on the same subject as their root");
    return status;
}

static enum status subject_refuse(struct import *import, struct text item, const char *what)
{
    char shown[TEXT_SHOWN];
    return import_refuse(import, "the subject %s has another %s already, which it keeps",
                         text_show(item, shown), what);
}

enum status import_subject(struct import *import, struct text item, const struct subject *given)
{
    struct subject before;
    struct item parsed;
    enum status status = import_subject_item(import, item, &parsed);
    if (status == STATUS_OK)
        status = import_read_subject(import, parsed, &before);
    if (status != STATUS_OK)
        return status;
    struct subject after = before;
    if (given->has_owner && before.has_owner && !id_equal(given->owner, before.owner))
        return subject_refuse(import, item, "owner");
    if (given->mode != SUBJECT_OPEN && before.mode != SUBJECT_OPEN && given->mode != before.mode)
        return subject_refuse(import, item, "mode");
    if (given->has_owner) {
        after.has_owner = true;
        after.owner = given->owner;
    }
    if (given->mode != SUBJECT_OPEN)
        after.mode = given->mode;
    if (given->next_floor > after.next_floor)
        after.next_floor = given->next_floor;
    import->summary.rows++;
    if (after.has_owner == before.has_owner && after.mode == before.mode &&
        after.next_floor == before.next_floor) {
        import->summary.same++;
        return STATUS_OK;
    }
    const struct comment_body body = {.has_subject = true, .subject = after};
    import_set_subject(import, &after);
    import->summary.changed++;
    return import_record(import, COMMENT_EVENT_SUBJECT, after.owner, parsed, &body);
}

enum status import_pin(struct import *import, struct text item, uint64_t id)
{
    struct subject subject;
    struct comment comment;
    struct item parsed;
    bool found;
    enum status status = import_subject_item(import, item, &parsed);
    if (status == STATUS_OK)
        status = import_read_subject(import, parsed, &subject);
    if (status == STATUS_OK)
        status = import_read_comment(import, id, &comment, &found, NULL);
    if (status != STATUS_OK)
        return status;
    if (!found || !item_equal(comment.subject, parsed) || !comment_is_root(&comment) ||
        !comment_is_open(&comment))
        return import_refuse(import,
                             "comment:%" PRIu64 " cannot be pinned: it is not an open "
                             "root of this subject",
                             id);
    if (subject_has_pin(&subject, id)) {
        import->summary.rows++;
        import->summary.same++;
        return STATUS_OK;
    }
    if (subject.pin_count == SUBJECT_PINS)
        return import_refuse(import,
                             "comment:%" PRIu64 " cannot be pinned: the subject has %d "
                             "pins already",
                             id, SUBJECT_PINS);
    subject.pins[subject.pin_count++] = id;
    const struct comment_body body = {.has_subject = true, .subject = subject};
    import_set_subject(import, &subject);
    import->summary.rows++;
    import->summary.changed++;
    return import_record(import, COMMENT_EVENT_PIN, comment.author, parsed, &body);
}
