/*
 * What may follow the words of operations about comments. Each operation has a table of keywords. A keyword
 * is given at most once; it has a value, several values, or none.
 */
#include <stdio.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/decimal.h"
#include "comment/json_text.h"
#include "comment/screen.h"
#include "op/comment_cursor.h"
#include "op/decode.h"

#define TOKEN_SEED 0x636f6d6d656e740aULL /* so that no token of ADD is the same */

#define TEXT(number)  TEXT_OF(number)
#define TEXT_OF(what) #what

enum values { NO_VALUE, ONE_VALUE, MANY_VALUES };

struct keyword {
    const char *name; /* NULL: the end of the table */
    enum values values;
    enum status (*read)(struct decoding *d, struct text value);
};

/* A token is only valid for its user and its item, so all three are hashed together. */
static enum status read_token(struct decoding *d, struct text value)
{
    if (value.length == 0 || value.length > LIMIT_TOKEN_LENGTH)
        return op_refuse(d, STATUS_BAD_ARGUMENT,
                         "a token must be 1 to " TEXT(LIMIT_TOKEN_LENGTH) " bytes", value);
    const struct hot_request *request = d->request;
    const struct item *item = request->items;
    XXH128_hash_t token = XXH3_128bits_withSeed(value.bytes, value.length, TOKEN_SEED);
    uint64_t words[] = {token.high64, token.low64, request->user.hi, request->user.lo,
                        item->id.hi,  item->id.lo, item->type};
    XXH128_hash_t all = XXH3_128bits_withSeed(words, sizeof words, TOKEN_SEED);
    d->detail->has_token = true;
    d->detail->token[0] = all.high64;
    d->detail->token[1] = all.low64;
    return STATUS_OK;
}

/* Whoever is mentioned twice is mentioned once. */
static enum status read_mention(struct decoding *d, struct text value)
{
    struct id user;
    struct hot_detail *detail = d->detail;
    enum status status = op_decode_id(d, value, &user);
    if (status != STATUS_OK)
        return status;
    for (uint32_t i = 0; i < detail->mention_count; i++)
        if (id_equal(detail->mentions[i], user))
            return STATUS_OK;
    if (detail->mention_count == LIMIT_MENTIONS)
        return op_refuse_saying(d, STATUS_TOO_MANY_ITEMS,
                                "a comment must mention at most " TEXT(LIMIT_MENTIONS) " users",
                                value);
    detail->mentions[detail->mention_count++] = user;
    return STATUS_OK;
}

static enum status read_extra(struct decoding *d, struct text value)
{
    char sentence[128];
    size_t at = 0;
    if (value.length > LIMIT_COMMENT_EXTRA) {
        snprintf(sentence, sizeof sentence, "an EXTRA must have at most %llu bytes, got %zu",
                 LIMIT_COMMENT_EXTRA, value.length);
        return op_refuse_saying(d, STATUS_TEXT_TOO_LONG, sentence, value);
    }
    if (!json_text_is_valid(value, &at)) {
        if (at == value.length)
            snprintf(sentence, sizeof sentence, "an EXTRA must be JSON, but it ends too early");
        else
            snprintf(sentence, sizeof sentence,
                     "an EXTRA must be JSON, but the byte at offset %zu does not fit", at);
        return op_refuse_saying(d, STATUS_BAD_ARGUMENT, sentence, value);
    }
    d->detail->extra = value;
    return STATUS_OK;
}

static enum status read_order(struct decoding *d, struct text value)
{
    for (unsigned order = 0; order < ORDER_TOTAL; order++) {
        if (text_is(value, comment_order_text((enum comment_order)order))) {
            d->has_order = true;
            d->request->cards.order = (uint8_t)order;
            return STATUS_OK;
        }
    }
    return op_refuse(d, STATUS_BAD_ARGUMENT,
                     "a BY must be top, new, old, best, hot or controversial", value);
}

static enum status read_reader(struct decoding *d, struct text value)
{
    d->detail->has_reader = true;
    return op_decode_id(d, value, &d->detail->reader);
}

static enum status read_replies(struct decoding *d, struct text value)
{
    uint32_t count = 0;
    if (!op_read_number(value, 0, LIMIT_REPLIES, &count))
        return op_refuse(d, STATUS_BAD_ARGUMENT,
                         "a REPLIES must be a number from 0 to " TEXT(LIMIT_REPLIES), value);
    d->request->cards.replies = (uint8_t)count;
    return STATUS_OK;
}

static enum status read_cursor(struct decoding *d, struct text value)
{
    d->cursor = value;
    return STATUS_OK;
}

static enum status read_at(struct decoding *d, struct text value)
{
    const size_t before = sizeof COMMENT_TYPE_NAME;
    struct id id;
    if (!op_is_comment(value) || !id_parse(value.bytes + before, value.length - before, &id))
        return op_refuse(d, STATUS_BAD_ARGUMENT, "an AT must be a comment, as in comment:7", value);
    d->detail->at = id.lo;
    return !id_is_wide(id) && id.lo != COMMENT_NONE
               ? STATUS_OK
               : op_refuse_saying(d, STATUS_NO_COMMENT, status_sentence(STATUS_NO_COMMENT), value);
}

static enum status read_all(struct decoding *d, struct text value)
{
    (void)value;
    d->request->cards.all = true;
    return STATUS_OK;
}

static enum status read_reason(struct decoding *d, struct text value)
{
    if (value.length > LIMIT_REASON || utf8_valid(value) < value.length)
        return op_refuse(d, STATUS_BAD_ARGUMENT,
                         "a REASON must be UTF-8 of at most " TEXT(LIMIT_REASON) " bytes", value);
    d->detail->reason = value;
    return STATUS_OK;
}

static enum status read_owner(struct decoding *d, struct text value)
{
    d->request->comment.set_owner = true;
    return op_decode_id(d, value, &d->request->user);
}

static enum status read_mode(struct decoding *d, struct text value)
{
    for (unsigned mode = SUBJECT_OPEN; mode <= SUBJECT_CLOSED; mode++) {
        if (text_is(value, subject_mode_text((enum subject_mode)mode))) {
            d->request->comment.set_mode = true;
            d->request->comment.mode = (uint8_t)mode;
            return STATUS_OK;
        }
    }
    return op_refuse(d, STATUS_BAD_ARGUMENT, "a MODE must be open, held, readonly or closed",
                     value);
}

/* The time is as the client gave it; whoever knows the clock makes it a recorded one (net/batch.h). */
static enum status read_until(struct decoding *d, struct text value)
{
    uint64_t until = 0;
    if (!decimal_read(value, UINT32_MAX - 1, &until) || until == 0)
        return op_refuse(d, STATUS_BAD_ARGUMENT,
                         "an UNTIL must be a time in seconds since 1970, before 2106", value);
    d->request->comment.until_s = (uint32_t)until;
    return STATUS_OK;
}

static enum status read_shadow(struct decoding *d, struct text value)
{
    (void)value;
    d->request->comment.shadow = true;
    return STATUS_OK;
}

static const struct keyword post_keywords[] = {{"TOKEN", ONE_VALUE, read_token},
                                               {"MENTION", MANY_VALUES, read_mention},
                                               {"EXTRA", ONE_VALUE, read_extra},
                                               {0}};
static const struct keyword page_keywords[] = {
    {"BY", ONE_VALUE, read_order},        {"FOR", ONE_VALUE, read_reader},
    {"REPLIES", ONE_VALUE, read_replies}, {"LIMIT", ONE_VALUE, op_decode_limit},
    {"CURSOR", ONE_VALUE, read_cursor},   {"AT", ONE_VALUE, read_at},
    {"ALL", NO_VALUE, read_all},          {0}};
static const struct keyword all_keywords[] = {{"ALL", NO_VALUE, read_all}, {0}};
static const struct keyword reason_keywords[] = {{"REASON", ONE_VALUE, read_reason}, {0}};
static const struct keyword subject_keywords[] = {
    {"OWNER", ONE_VALUE, read_owner}, {"MODE", ONE_VALUE, read_mode}, {0}};
static const struct keyword ban_keywords[] = {
    {"UNTIL", ONE_VALUE, read_until}, {"SHADOW", NO_VALUE, read_shadow}, {0}};

static const struct keyword *keywords_of(enum op_extra extra)
{
    switch (extra) {
    case EXTRA_POST:
        return post_keywords;
    case EXTRA_COMMENTS:
        return page_keywords;
    case EXTRA_ALL:
        return all_keywords;
    case EXTRA_REASON:
        return reason_keywords;
    case EXTRA_SUBJECT:
        return subject_keywords;
    default:
        ASSERT(extra == EXTRA_BAN);
        return ban_keywords;
    }
}

/* The keyword that the word is, or NULL. */
static const struct keyword *find(const struct keyword *keywords, struct text word)
{
    for (; keywords->name != NULL; keywords++)
        if (text_is(word, keywords->name))
            return keywords;
    return NULL;
}

static enum status refuse_keyword(struct decoding *d, const struct keyword *keywords,
                                  struct text word)
{
    char expected[128];
    size_t used = (size_t)snprintf(expected, sizeof expected, "expected");
    for (const struct keyword *at = keywords; at->name != NULL; at++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s %s",
                                 at == keywords       ? ""
                                 : at[1].name == NULL ? " or"
                                                      : ",",
                                 at->name);
    snprintf(expected + used, sizeof expected - used, ", each at most once");
    return op_refuse(d, STATUS_BAD_ARGUMENT, expected, word);
}

static enum status read_keywords(struct decoding *d, const struct text *words, uint32_t count)
{
    const struct keyword *keywords = keywords_of(d->spec->extra);
    unsigned seen = 0;
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < count && status == STATUS_OK;) {
        const struct keyword *keyword = find(keywords, words[i]);
        unsigned bit = keyword != NULL ? 1U << (keyword - keywords) : 0;
        if (keyword == NULL || (seen & bit) != 0)
            return refuse_keyword(d, keywords, words[i]);
        seen |= bit;
        i++;
        if (keyword->values != NO_VALUE && i == count)
            return op_refuse_arity(d->spec, d->scratch);
        if (keyword->values == NO_VALUE)
            status = keyword->read(d, (struct text){NULL, 0});
        else
            status = keyword->read(d, words[i++]);
        while (keyword->values == MANY_VALUES && status == STATUS_OK && i < count &&
               find(keywords, words[i]) == NULL)
            status = keyword->read(d, words[i++]);
    }
    return status;
}

/* The order is that of BY, or that of the cursor, or the usual one. */
static enum status finish_page(struct decoding *d)
{
    struct hot_request *request = d->request;
    struct text type = {COMMENT_TYPE_NAME, sizeof COMMENT_TYPE_NAME - 1};
    if (d->cursor.length > 0 && d->detail->at != COMMENT_NONE)
        return op_refuse_saying(d, STATUS_BAD_ARGUMENT, "AT and CURSOR cannot be given together",
                                d->cursor);
    if (!d->has_order) {
        int known = names_find_type(d->names, type.bytes, type.length);
        request->cards.order = known == request->items[0].type ? ORDER_OLD : ORDER_TOP;
    }
    if (d->cursor.length == 0)
        return STATUS_OK;
    uint8_t order;
    bool read = comment_cursor_read_page(request, d->cursor, &d->detail->after, &order);
    if (!read || (d->has_order && order != request->cards.order))
        return op_refuse(d, STATUS_BAD_ARGUMENT,
                         "a CURSOR must be the cursor of another page of the same list", d->cursor);
    request->cards.order = order;
    return STATUS_OK;
}

enum status op_decode_comment_extra(struct decoding *d, const struct text *words, uint32_t count)
{
    enum op_extra extra = d->spec->extra;
    struct hot_request *request = d->request;
    if (extra == EXTRA_BAN)
        request->comment.until_s = UINT32_MAX;
    if (extra == EXTRA_COMMENTS) {
        request->cards.limit = LIMIT_COMMENTS_USUAL;
        request->cards.replies = LIMIT_REPLIES_USUAL;
    }
    if (extra == EXTRA_SUBJECT && count == 0)
        return op_refuse_arity(d->spec, d->scratch);
    enum status status = read_keywords(d, words, count);
    return status == STATUS_OK && extra == EXTRA_COMMENTS ? finish_page(d) : status;
}

enum status op_decode_reader(struct decoding *d, const struct text *words, uint32_t *items)
{
    if (text_is(words[*items - 1], "FOR"))
        return op_refuse_arity(d->spec, d->scratch); /* its value is missing */
    if (*items < 2 || !text_is(words[*items - 2], "FOR"))
        return STATUS_OK;
    *items -= 2;
    return *items > 0 ? read_reader(d, words[*items + 1]) : op_refuse_arity(d->spec, d->scratch);
}
