/*
 * What may follow the words of an operation: TOKEN, COLD, FRIENDS, LIMIT, DEPTH, CURSOR, SINCE and
 * WINDOW, each with its value. What only comments have is in comment_extra.c.
 */
#include "op/decode.h"

#include <stdio.h>

#include <string.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/decimal.h"
#include "op/comment_cursor.h"
#include "op/cursor.h"
#include "trend/trends.h"

/* A token is only valid for its item and counter, so the three are hashed together. */
static enum status decode_token(struct decoding *d, const struct text *words)
{
    if (!text_is(words[0], "TOKEN"))
        return op_refuse(d, STATUS_BAD_ARGUMENT, "expected TOKEN and a token", words[0]);
    if (words[1].length == 0 || words[1].length > LIMIT_TOKEN_LENGTH)
        return op_refuse(d, STATUS_BAD_ARGUMENT, "a token must be 1 to 64 bytes", words[1]);
    const struct item *item = d->request->items;
    XXH128_hash_t token = XXH3_128bits_withSeed(words[1].bytes, words[1].length, d->request->name);
    d->request->change.has_token = true;
    d->request->change.token[0] = hash_3(token.high64, item->id.lo, item->type);
    d->request->change.token[1] = hash_3(token.low64, item->id.hi, item->id.lo);
    return STATUS_OK;
}

#define LIMIT_DIGITS 9 /* the most digits of a number after a keyword, including leading zeros */

bool op_read_number(struct text word, uint32_t least, uint32_t most, uint32_t *number)
{
    uint64_t value = 0;
    if (word.length > LIMIT_DIGITS || !decimal_read(word, most, &value) || value < least)
        return false;
    *number = (uint32_t)value;
    return true;
}

static enum status decode_cold(struct decoding *d, struct text word)
{
    d->request->read.memory_only = text_is(word, "skip");
    return d->request->read.memory_only || text_is(word, "ask")
               ? STATUS_OK
               : op_refuse(d, STATUS_BAD_ARGUMENT, "COLD must be skip or ask", word);
}

#define TEXT(number)  TEXT_OF(number)
#define TEXT_OF(what) #what

static enum status decode_feed_friends(struct decoding *d, struct text word)
{
    uint32_t count = 0;
    if (!op_read_number(word, 1, LIMIT_NAMED, &count))
        return op_refuse(d, STATUS_BAD_ARGUMENT,
                         "FRIENDS must be a number from 1 to " TEXT(LIMIT_NAMED), word);
    d->request->read.friends = (uint8_t)count;
    return op_find_follow(d, &d->request->read.follow_type, &d->request->read.follow);
}

/* The options are read from the last one to the first. */
enum status op_decode_feed(struct decoding *d, const struct text *words, uint32_t *items)
{
    bool cold = false, friends = false;
    enum status status = STATUS_OK;
    struct text last = words[*items - 1];
    if (text_is(last, "COLD"))
        return decode_cold(d, last); /* its value is missing */
    if (text_is(last, "FRIENDS"))
        return decode_feed_friends(d, last);
    while (status == STATUS_OK && *items >= 2) {
        struct text keyword = words[*items - 2], value = words[*items - 1];
        if (!cold && text_is(keyword, "COLD")) {
            cold = true;
            status = decode_cold(d, value);
        } else if (!friends && text_is(keyword, "FRIENDS")) {
            friends = true;
            status = decode_feed_friends(d, value);
        } else {
            return STATUS_OK;
        }
        *items -= 2;
    }
    return status != STATUS_OK || *items > 0 ? status : op_refuse_arity(d->spec, d->scratch);
}

/* The limit of a request, if its action has one. */
static uint32_t *limit_of(struct hot_request *request)
{
    switch (request->action) {
    case HOT_FORGET:
    case HOT_DROP:
        return &request->remove.limit;
    case HOT_CHANGES:
        return &request->changes.limit;
    case HOT_TOP:
        return &request->top.limit;
    default:
        ASSERT((hot_flags(request->action) & HOT_IS_QUERY) != 0);
        return hot_is_comments(request->action) ? &request->cards.limit : &request->list.limit;
    }
}

enum status op_decode_limit(struct decoding *d, struct text word)
{
    uint32_t most = op_limit_max(d->spec);
    if (!op_read_number(word, 1, most, limit_of(d->request))) {
        char expected[64];
        snprintf(expected, sizeof expected, "a LIMIT must be a number from 1 to %u", most);
        return op_refuse(d, STATUS_BAD_ARGUMENT, expected, word);
    }
    return STATUS_OK;
}

/* How the extra words of a list are decoded; all zero: the operation has no list. */
struct paging {
    const char *keyword; /* the keyword of the other option; NULL: there is none */
    bool (*read)(struct decoding *d, struct text text); /* reads its value */
    uint32_t usual;
    uint32_t most;
    const char *value; /* what that value must be */
    const char *words; /* which words are expected */
};

/* An empty cursor starts with the newest entry. */
static bool read_list_cursor(struct decoding *d, struct text text)
{
    return text.length == 0 || cursor_read(d->request, text, &d->request->list.after);
}

static bool read_round_cursor(struct decoding *d, struct text text)
{
    return text.length == 0 || cursor_read_round(d->request, text);
}

static bool read_mark(struct decoding *d, struct text text)
{
    return text.length == 0 || comment_cursor_read(d->request, text, &d->detail->after);
}

static bool read_depth(struct decoding *d, struct text text)
{
    d->request->list.second = text_is(text, "2");
    return d->request->list.second || text_is(text, "1");
}

static const struct paging pagings[EXTRA_TOTAL] = {
    [EXTRA_DEPTH] = {.keyword = "DEPTH",
                     .read = read_depth,
                     .usual = LIMIT_LIST_USUAL,
                     .most = LIMIT_LIST,
                     .value = "DEPTH must be 1 or 2",
                     .words =
                         "expected LIMIT and a number, or DEPTH and 1 or 2, each at most once"},
    [EXTRA_PIECE] = {.usual = LIMIT_REMOVAL_USUAL,
                     .most = LIMIT_REMOVAL,
                     .words = "expected LIMIT and a number, at most once"},
    [EXTRA_PAGE] = {.keyword = "CURSOR",
                    .read = read_list_cursor,
                    .usual = LIMIT_LIST_USUAL,
                    .most = LIMIT_LIST,
                    .value = "a CURSOR must be the cursor of an earlier page of the same list",
                    .words =
                        "expected LIMIT and a number, or CURSOR and a cursor, each at most once"},
    [EXTRA_SINCE] = {.keyword = "SINCE",
                     .read = read_round_cursor,
                     .usual = LIMIT_CHANGES_USUAL,
                     .most = LIMIT_CHANGES,
                     .value = "a SINCE must be the cursor of an earlier answer for the same user",
                     .words =
                         "expected LIMIT and a number, or SINCE and a cursor, each at most once"},
    [EXTRA_WINDOW] = {.usual = LIMIT_TOP_USUAL, .most = LIMIT_TOP},
    [EXTRA_CARDS] = {.keyword = "CURSOR",
                     .read = read_mark,
                     .usual = LIMIT_COMMENTS_USUAL,
                     .most = LIMIT_COMMENTS,
                     .value = "a CURSOR must be the cursor of an earlier page of the same list",
                     .words =
                         "expected LIMIT and a number, or CURSOR and a cursor, each at most once"},
    [EXTRA_COMMENTS] = {.usual = LIMIT_COMMENTS_USUAL, .most = LIMIT_COMMENTS},
};

uint32_t op_limit_max(const struct op_spec *spec)
{
    return pagings[spec->extra].most;
}

/* Decodes LIMIT and cursor or depth. The words that say which list it is were decoded before. */
static enum status decode_page(struct decoding *d, const struct text *words, uint32_t count)
{
    const struct paging *paging = &pagings[d->spec->extra];
    bool limited = false, seen = false;
    enum status status = STATUS_OK;
    ASSERT(count % 2 == 0); /* op_decode refuses a keyword without a value */
    *limit_of(d->request) = paging->usual;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i += 2) {
        if (!limited && text_is(words[i], "LIMIT")) {
            limited = true;
            status = op_decode_limit(d, words[i + 1]);
        } else if (paging->keyword != NULL && !seen && text_is(words[i], paging->keyword)) {
            seen = true;
            if (!paging->read(d, words[i + 1]))
                status = op_refuse(d, STATUS_BAD_ARGUMENT, paging->value, words[i + 1]);
        } else {
            status = op_refuse(d, STATUS_BAD_ARGUMENT, paging->words, words[i]);
        }
    }
    return status;
}

static enum status decode_window(struct decoding *d, struct text word)
{
    static const struct {
        const char *word;
        enum trend_window window;
    } windows[] = {{"hour", TREND_HOUR}, {"day", TREND_DAY}, {"week", TREND_WEEK}};
    for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
        if (text_is(word, windows[i].word)) {
            d->request->top.window = (uint8_t)windows[i].window;
            return STATUS_OK;
        }
    }
    return op_refuse(d, STATUS_BAD_ARGUMENT, "a WINDOW must be hour, day or week", word);
}

static enum status decode_top(struct decoding *d, const struct text *words, uint32_t count)
{
    bool limited = false, windowed = false;
    enum status status = STATUS_OK;
    d->request->top.limit = LIMIT_TOP_USUAL;
    d->request->top.window = TREND_NONE;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i += 2) {
        if (!limited && text_is(words[i], "LIMIT")) {
            limited = true;
            status = op_decode_limit(d, words[i + 1]);
        } else if (!windowed && text_is(words[i], "WINDOW")) {
            windowed = true;
            status = decode_window(d, words[i + 1]);
        } else {
            status = op_refuse(
                d, STATUS_BAD_ARGUMENT,
                "expected LIMIT and a number, or WINDOW and hour, day or week, each at most once",
                words[i]);
        }
    }
    return status;
}

enum status op_decode_extra(struct decoding *d, const struct text *words, uint32_t count)
{
    switch (d->spec->extra) {
    case EXTRA_TOKEN:
        return count > 0 ? decode_token(d, words) : STATUS_OK;
    case EXTRA_DEPTH:
    case EXTRA_PIECE:
    case EXTRA_PAGE:
    case EXTRA_SINCE:
    case EXTRA_CARDS:
        return decode_page(d, words, count);
    case EXTRA_WINDOW:
        return decode_top(d, words, count);
    case EXTRA_POST:
    case EXTRA_COMMENTS:
    case EXTRA_ALL:
    case EXTRA_REASON:
    case EXTRA_SUBJECT:
    case EXTRA_BAN:
        return op_decode_comment_extra(d, words, count);
    case EXTRA_NONE:
    case EXTRA_FEED:
    case EXTRA_READER:
    case EXTRA_TOTAL:
        break;
    }
    ASSERT(!"nothing else follows the words");
    return STATUS_BAD_ARGUMENT;
}
