/* Words that only operations about comments take. */
#include <stdio.h>

#include "base/assert.h"
#include "comment/screen.h"
#include "op/comment_cursor.h"
#include "op/decode.h"

/* A text is kept exactly as it was sent, so that nothing about it needs to be changed or escaped. */
static enum status decode_text(struct decoding *d, struct text word)
{
    char sentence[128];
    if (word.length == 0)
        return op_refuse_saying(d, STATUS_BAD_ARGUMENT, "a text must not be empty", word);
    if (word.length > LIMIT_COMMENT_TEXT) {
        snprintf(sentence, sizeof sentence, "a text must have at most %d bytes, got %zu",
                 LIMIT_COMMENT_TEXT, word.length);
        return op_refuse_saying(d, STATUS_TEXT_TOO_LONG, sentence, word);
    }
    size_t valid = utf8_valid(word);
    if (valid < word.length) {
        snprintf(sentence, sizeof sentence,
                 "a text must be UTF-8, but the byte at offset %zu is not", valid);
        return op_refuse_saying(d, STATUS_BAD_ARGUMENT, sentence, word);
    }
    d->detail->text = word;
    return STATUS_OK;
}

static enum status decode_state(struct decoding *d, struct text word)
{
    for (unsigned state = COMMENT_VISIBLE; state <= COMMENT_SHADOW; state++) {
        if (text_is(word, comment_moderation_text((enum comment_moderation)state))) {
            d->request->comment.state = (uint8_t)state;
            return STATUS_OK;
        }
    }
    return op_refuse(d, STATUS_BAD_ARGUMENT, "a state must be visible, pending, hidden or shadow",
                     word);
}

static enum status decode_queue(struct decoding *d, struct text word)
{
    static const char *const queues[] = {
        [QUEUE_PENDING] = "pending", [QUEUE_HIDDEN] = "hidden", [QUEUE_REPORTED] = "reported"};
    for (unsigned queue = QUEUE_PENDING; queue <= QUEUE_REPORTED; queue++) {
        if (text_is(word, queues[queue])) {
            d->request->cards.queue = (uint8_t)queue;
            return STATUS_OK;
        }
    }
    return op_refuse(d, STATUS_BAD_ARGUMENT, "a queue must be pending, hidden or reported", word);
}

enum status op_decode_comment_word(struct decoding *d, enum op_word word, struct text text)
{
    switch (word) {
    case WORD_TEXT:
        return decode_text(d, text);
    case WORD_STATE:
        return decode_state(d, text);
    case WORD_QUEUE:
        return decode_queue(d, text);
    default:
        ASSERT(word == WORD_CURSOR);
        return comment_cursor_read(d->request, text, &d->detail->after)
                   ? STATUS_OK
                   : op_refuse(d, STATUS_BAD_ARGUMENT,
                               "a cursor must be that of an entry of the same user's inbox", text);
    }
}

/*
 * Ids of comments are made by the server and are never wide. An item comment:… that was made by somebody else
 * is no comment, and neither is any as long as there is no such type.
 */
enum status op_check_comment(struct decoding *d, struct text word)
{
    const struct item *item = d->request->items;
    bool settings = d->request->action == HOT_SUBJECT || d->request->action == HOT_SUBJECT_SET;
    if (!op_is_comment(word) || d->request->action == HOT_CARDS)
        return STATUS_OK;
    if (settings)
        return op_refuse(d, STATUS_BAD_ARGUMENT,
                         "an item must not be a comment, because comments have no settings", word);
    bool known = item->type != TYPE_UNKNOWN && !id_is_wide(item->id) && item->id.lo != COMMENT_NONE;
    return known ? STATUS_OK
                 : op_refuse_saying(d, STATUS_NO_COMMENT, status_sentence(STATUS_NO_COMMENT), word);
}
