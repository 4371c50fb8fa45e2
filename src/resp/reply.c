/*
 * A feed page has twenty items with a few counters each. So memory is reserved once for each item, and the
 * functions that write its fields need no further check.
 */
#include "resp/reply.h"

#include "base/decimal.h"
#include "op/cursor.h"
#include "op/op.h"
#include "resp/reply_comments.h"
#include "resp/write.h"

/* Upper bounds of the bytes of one line, and of one name with its header. */
#define LINE_ROOM    ((size_t)24)
#define NAME_ROOM    ((size_t)LIMIT_NAME_LENGTH + 8)
#define COUNTER_ROOM (NAME_ROOM + LINE_ROOM)
#define LISTED_ROOM  (2 * LINE_ROOM + LIMIT_ITEM_TEXT + 2)
#define CHANGE_ROOM  (NAME_ROOM + LINE_ROOM + LISTED_ROOM)

static char *put_line(char *at, char marker, uint64_t value)
{
    *at++ = marker;
    at = decimal_write(at, value);
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

static char *put_name(char *at, const struct names *names, uint8_t index)
{
    const struct name *name = names_get(names, index);
    memcpy(at, name->bulk, sizeof name->bulk);
    return at + name->bulk_length;
}

/* Writes the reply to a request. There is one function for each shape. */
typedef bool write_fn(struct buffer *out, const struct hot_request *request,
                      const struct hot_scratch *scratch, const struct names *names, bool resp3);

static bool write_value(struct buffer *out, const struct hot_request *request,
                        const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    (void)scratch, (void)names, (void)resp3;
    return resp_integer(out, request->change.value);
}

static bool write_done(struct buffer *out, const struct hot_request *request,
                       const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    (void)scratch, (void)names, (void)resp3;
    return resp_integer(out, request->comment.value);
}

static bool write_removal(struct buffer *out, const struct hot_request *request,
                          const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    (void)scratch, (void)names, (void)resp3;
    return resp_array(out, 2) && resp_integer(out, request->remove.removed) &&
           resp_integer(out, request->remove.more);
}

static bool write_flags(struct buffer *out, const struct hot_request *request,
                        const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    (void)scratch, (void)names, (void)resp3;
    if (!resp_array(out, request->item_count) || !buffer_reserve(out, 4 * request->item_count))
        return false;
    char *at = out->bytes + out->length;
    for (uint32_t i = 0; i < request->item_count; i++) {
        bool live = request->name < LIMIT_NAMES &&
                    kind_set_has(&request->read.answers[i].kinds, request->name);
        memcpy(at, live ? ":1\r\n" : ":0\r\n", 4);
        at += 4;
    }
    out->length += 4 * (size_t)request->item_count;
    return true;
}

/* Writes the counters. The caller has reserved the memory. */
static char *put_counters(char *at, const struct hot_answer *answer,
                          const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    const struct hot_counter *counter = scratch->counters + answer->first;
    at = put_line(at, resp3 ? '%' : '*', resp3 ? answer->count : 2 * (uint64_t)answer->count);
    for (const struct hot_counter *end = counter + answer->count; counter < end; counter++) {
        at = put_name(at, names, counter->name);
        *at++ = ':';
        at = decimal_write_signed(at, counter->value);
        *at++ = '\r';
        *at++ = '\n';
    }
    return at;
}

/* Writes the kinds. The caller has reserved the memory. Most items of a feed have none. */
static inline char *put_kinds(char *at, const struct kind_set *kinds, size_t count,
                              const struct names *names)
{
    if (count == 0) {
        memcpy(at, "*0\r\n", 4);
        return at + 4;
    }
    at = put_line(at, '*', count);
    for (int word = 0; word < 4; word++) {
        for (uint64_t bits = kinds->bits[word]; bits; bits &= bits - 1)
            at = put_name(at, names, (uint8_t)(64 * word + __builtin_ctzll(bits)));
    }
    return at;
}

static size_t count_kinds(const struct kind_set *kinds)
{
    size_t count = 0;
    if ((kinds->bits[0] | kinds->bits[1] | kinds->bits[2] | kinds->bits[3]) == 0)
        return 0;
    for (int word = 0; word < 4; word++) {
        for (uint64_t bits = kinds->bits[word]; bits; bits &= bits - 1)
            count++;
    }
    return count;
}

static bool write_counts(struct buffer *out, const struct hot_request *request,
                         const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    bool written = resp_array(out, request->item_count);
    for (uint32_t i = 0; written && i < request->item_count; i++) {
        const struct hot_answer *answer = &request->read.answers[i];
        written = buffer_reserve(out, LINE_ROOM + answer->count * COUNTER_ROOM);
        if (written)
            buffer_end(out, put_counters(out->bytes + out->length, answer, scratch, names, resp3));
    }
    return written;
}

static char *put_bulk(char *at, const char *bytes, size_t length)
{
    at = put_line(at, '$', length);
    memcpy(at, bytes, length);
    at += length;
    *at++ = '\r';
    *at++ = '\n';
    return at;
}

/* Writes an item of the listed type, or a user. */
static char *put_id(char *at, struct id id, const struct name *type)
{
    char text[LIMIT_ITEM_TEXT];
    size_t length = 0;
    if (type != NULL) {
        memcpy(text, type->text, type->length);
        length = type->length;
        text[length++] = ':';
    }
    length += id_format(id, text + length);
    return put_bulk(at, text, length);
}

/* Writes the friends of an item: how many were found, then the newest of them. */
static char *put_friends(char *at, struct hot_feed_friends friends)
{
    at = put_line(at, '*', 1 + (uint64_t)friends.named);
    at = put_line(at, ':', friends.found);
    for (uint32_t i = 0; i < friends.named; i++)
        at = put_id(at, friends.users[i].id, NULL);
    return at;
}

/*
 * A feed without friends is the most frequent answer of all. `with_friends` is a constant in each of the
 * two calls, so the compiler makes a loop for it that does not ask about friends.
 */
static inline __attribute__((always_inline)) bool
write_feed_items(struct buffer *out, const struct hot_request *request,
                 const struct hot_scratch *scratch, const struct names *names, bool resp3,
                 bool with_friends)
{
    bool written = resp_array(out, request->item_count);
    size_t room =
        with_friends ? 5 * LINE_ROOM + request->read.friends * LISTED_ROOM : 3 * LINE_ROOM;
    for (uint32_t i = 0; written && i < request->item_count; i++) {
        const struct hot_answer *answer = &request->read.answers[i];
        size_t kinds = count_kinds(&answer->kinds);
        written = buffer_reserve(out, room + kinds * NAME_ROOM + answer->count * COUNTER_ROOM);
        if (written) {
            char *at = put_line(out->bytes + out->length, '*', with_friends ? 3 : 2);
            at = put_kinds(at, &answer->kinds, kinds, names);
            at = put_counters(at, answer, scratch, names, resp3);
            if (with_friends)
                at = put_friends(at, hot_feed_friends(request, scratch, i));
            buffer_end(out, at);
        }
    }
    return written;
}

static bool write_feed(struct buffer *out, const struct hot_request *request,
                       const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    return request->read.friends > 0 ? write_feed_items(out, request, scratch, names, resp3, true)
                                     : write_feed_items(out, request, scratch, names, resp3, false);
}

/*
 * Writes user, time, and the followee through whom the user is reached; empty if directly. So there are
 * three lines for each user.
 */
static bool write_second(struct buffer *out, const struct hot_request *request,
                         const struct hot_scratch *scratch)
{
    if (!buffer_reserve(out, LINE_ROOM + request->list.count * 2 * LISTED_ROOM))
        return false;
    const struct store_listed *listed = scratch->listed + request->list.first;
    char *at = put_line(out->bytes + out->length, '*', 3 * (uint64_t)request->list.count);
    for (uint32_t i = 0; i < request->list.count; i++, listed += 2) {
        at = put_line(put_id(at, listed[0].id, NULL), ':', hot_shown_s(scratch, listed[0].time_s));
        at = listed[1].time_s != 0 ? put_id(at, listed[1].id, NULL) : put_bulk(at, "", 0);
    }
    buffer_end(out, at);
    return true;
}

/* An answer that is never divided into pages has no cursor. */
static bool write_list(struct buffer *out, const struct hot_request *request,
                       const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    (void)resp3;
    enum op_shape shape = op_shape(request);
    bool paged = shape != SHAPE_FRIENDS;
    if (!buffer_reserve(out, 2 * LINE_ROOM + CURSOR_TEXT + request->list.count * LISTED_ROOM))
        return false;
    const struct store_listed *listed = scratch->listed + request->list.first;
    const struct name *type = shape == SHAPE_ITEMS && request->list.count > 0
                                  ? names_type(names, request->list.type)
                                  : NULL;
    char *at = put_line(out->bytes + out->length, '*', paged + 2 * (uint64_t)request->list.count);
    if (paged) {
        char cursor[CURSOR_TEXT];
        size_t length =
            request->list.more ? cursor_write(request, listed[request->list.count - 1], cursor) : 0;
        at = put_bulk(at, cursor, length);
    }
    for (uint32_t i = 0; i < request->list.count; i++)
        at = put_line(put_id(at, listed[i].id, type), ':', hot_shown_s(scratch, listed[i].time_s));
    buffer_end(out, at);
    return true;
}

static bool write_changes(struct buffer *out, const struct hot_request *request,
                          const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    (void)resp3;
    char cursor[CURSOR_ROUND_TEXT];
    if (!buffer_reserve(out,
                        3 * LINE_ROOM + CURSOR_ROUND_TEXT + request->changes.count * CHANGE_ROOM))
        return false;
    char *at = put_line(out->bytes + out->length, '*', 2 + 4 * (uint64_t)request->changes.count);
    size_t length = cursor_write_round(request, cursor);
    at = put_bulk(at, cursor, length);
    at = put_line(at, ':', request->changes.more);
    for (uint32_t i = 0; i < request->changes.count; i++) {
        const struct store_listed *change = &scratch->listed[request->changes.first + i];
        at = put_name(at, names, change->kind);
        at = put_id(at, change->id, names_type(names, change->type));
        at = put_line(at, ':', !change->cleared);
        at = put_line(at, ':', hot_shown_s(scratch, change->time_s));
    }
    buffer_end(out, at);
    return true;
}

static bool write_friends(struct buffer *out, const struct hot_request *request,
                          const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    return request->list.second ? write_second(out, request, scratch)
                                : write_list(out, request, scratch, names, resp3);
}

/* All ids have the same type before them, so its bytes are made once and then copied. */
static bool write_top(struct buffer *out, const struct hot_request *request,
                      const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    (void)resp3;
    char text[LIMIT_ITEM_TEXT];
    if (!buffer_reserve(out, LINE_ROOM + request->top.count * LISTED_ROOM))
        return false;
    size_t before = 0;
    if (request->top.count > 0) {
        const struct name *type = names_type(names, request->top.type);
        memcpy(text, type->text, type->length);
        before = type->length;
        text[before++] = ':';
    }
    const struct ranked *ranked = scratch->ranked + request->top.first;
    char *at = put_line(out->bytes + out->length, '*', 2 * (uint64_t)request->top.count);
    for (uint32_t i = 0; i < request->top.count; i++) {
        at = put_bulk(at, text, before + id_format(ranked[i].id, text + before));
        *at++ = ':';
        at = decimal_write_signed(at, ranked[i].value);
        *at++ = '\r';
        *at++ = '\n';
    }
    buffer_end(out, at);
    return true;
}

/* The tables only grow. A name that is created meanwhile is not listed this time. */
static bool write_names(struct buffer *out, const struct hot_request *request,
                        const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    (void)request, (void)scratch, (void)resp3;
    size_t types = names_type_count(names), others = names_count(names);
    if (!resp_array(out, 4 + 5 * (types + others)) || !resp_integer(out, (int64_t)types) ||
        !resp_integer(out, LIMIT_TYPES) || !resp_integer(out, (int64_t)others) ||
        !resp_integer(out, LIMIT_NAMES))
        return false;
    for (size_t i = 0; i < types + others; i++) {
        struct name_entry entry = names_entry(names, i, types);
        if (!resp_bulk(out, entry.name->text, entry.name->length) ||
            !resp_text(out, name_role_text(entry.name->role)) ||
            !resp_integer(out, entry.allowed) || !resp_integer(out, entry.used) ||
            !resp_integer(out, entry.name->group))
            return false;
    }
    return true;
}

static write_fn *const writers[SHAPE_TOTAL] = {
    [SHAPE_CHANGE] = write_value,
    [SHAPE_VALUE] = write_value,
    [SHAPE_REMOVAL] = write_removal,
    [SHAPE_FLAGS] = write_flags,
    [SHAPE_COUNTS] = write_counts,
    [SHAPE_FEED] = write_feed,
    [SHAPE_ITEMS] = write_list,
    [SHAPE_USERS] = write_list,
    [SHAPE_FRIENDS] = write_friends,
    [SHAPE_CHANGES] = write_changes,
    [SHAPE_RANKED] = write_top,
    [SHAPE_NAMES] = write_names,
    [SHAPE_DONE] = write_done,
    [SHAPE_POSTED] = reply_write_comments,
    [SHAPE_COMMENTS] = reply_write_comments,
    [SHAPE_CARDS] = reply_write_comments,
    [SHAPE_CARD_LIST] = reply_write_comments,
    [SHAPE_INBOX] = reply_write_comments,
    [SHAPE_VERSIONS] = reply_write_comments,
    [SHAPE_SUBJECT] = reply_write_comments,
};

bool reply_write(struct buffer *out, const struct hot_request *request,
                 const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    return writers[op_shape(request)](out, request, scratch, names, resp3);
}
