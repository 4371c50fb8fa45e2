/*
 * What may follow the words of an operation: TOKEN, COLD, LIMIT, CURSOR, SINCE and WINDOW, each with
 * its value.
 */
#include "op/decode.h"

#include <stdio.h>

#include <string.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/decimal.h"
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

enum status op_decode_cold(struct decoding *d, const struct text *words, uint32_t *items)
{
    struct text last = words[*items - 1];
    if (text_is(last, "COLD"))
        return op_refuse(d, STATUS_BAD_ARGUMENT, "COLD must be skip or ask", last);
    if (*items < 2 || !text_is(words[*items - 2], "COLD"))
        return STATUS_OK;
    d->request->read.memory_only = text_is(last, "skip");
    if (!d->request->read.memory_only && !text_is(last, "ask"))
        return op_refuse(d, STATUS_BAD_ARGUMENT, "COLD must be skip or ask", last);
    *items -= 2;
    return *items > 0 ? STATUS_OK : op_refuse_arity(d->spec, d->scratch);
}

#define LIMIT_DIGITS 9 /* the most digits of the number after LIMIT, including leading zeros */

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
        return &request->list.limit;
    }
}

static enum status decode_limit(struct decoding *d, struct text word, uint32_t most)
{
    uint64_t value = 0;
    if (word.length > LIMIT_DIGITS || !decimal_read(word, most, &value) || value == 0) {
        char expected[64];
        snprintf(expected, sizeof expected, "a LIMIT must be a number from 1 to %u", most);
        return op_refuse(d, STATUS_BAD_ARGUMENT, expected, word);
    }
    *limit_of(d->request) = (uint32_t)value;
    return STATUS_OK;
}

/* How the extra words of a list are decoded; all zero: the operation has no list. */
struct paging {
    const char *keyword; /* the keyword before a cursor; NULL: there is none */
    bool (*read)(struct hot_request *request, struct text text);
    uint32_t usual;
    uint32_t most;
    const char *cursor; /* what a cursor must be */
    const char *words;  /* which words are expected */
};

static bool read_list_cursor(struct hot_request *request, struct text text)
{
    return cursor_read(request, text, &request->list.after);
}

static const struct paging pagings[EXTRA_TOTAL] = {
    [EXTRA_LIMIT] = {.usual = LIMIT_LIST_USUAL,
                     .most = LIMIT_LIST,
                     .words = "expected LIMIT and a number, at most once"},
    [EXTRA_PIECE] = {.usual = LIMIT_REMOVAL_USUAL,
                     .most = LIMIT_REMOVAL,
                     .words = "expected LIMIT and a number, at most once"},
    [EXTRA_PAGE] = {.keyword = "CURSOR",
                    .read = read_list_cursor,
                    .usual = LIMIT_LIST_USUAL,
                    .most = LIMIT_LIST,
                    .cursor = "a CURSOR must be the cursor of an earlier page of the same list",
                    .words =
                        "expected LIMIT and a number, or CURSOR and a cursor, each at most once"},
    [EXTRA_SINCE] = {.keyword = "SINCE",
                     .read = cursor_read_round,
                     .usual = LIMIT_CHANGES_USUAL,
                     .most = LIMIT_CHANGES,
                     .cursor = "a SINCE must be the cursor of an earlier answer for the same user",
                     .words =
                         "expected LIMIT and a number, or SINCE and a cursor, each at most once"},
    [EXTRA_WINDOW] = {.usual = LIMIT_TOP_USUAL, .most = LIMIT_TOP},
};

uint32_t op_limit_max(const struct op_spec *spec)
{
    return pagings[spec->extra].most;
}

/* Decodes LIMIT and cursor. The words that say which list it is were decoded before. */
static enum status decode_page(struct decoding *d, const struct text *words, uint32_t count)
{
    const struct paging *paging = &pagings[d->spec->extra];
    bool limited = false, seen = false;
    enum status status = STATUS_OK;
    *limit_of(d->request) = paging->usual;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i += 2) {
        if (!limited && text_is(words[i], "LIMIT")) {
            limited = true;
            status = decode_limit(d, words[i + 1], paging->most);
        } else if (paging->keyword != NULL && !seen && text_is(words[i], paging->keyword)) {
            seen = true;
            if (words[i + 1].length != 0 && !paging->read(d->request, words[i + 1]))
                status = op_refuse(d, STATUS_BAD_ARGUMENT, paging->cursor, words[i + 1]);
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
            status = decode_limit(d, words[i + 1], op_limit_max(d->spec));
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
    ASSERT(count % 2 == 0); /* op_decode refuses a keyword without a value */
    switch (d->spec->extra) {
    case EXTRA_TOKEN:
        return count > 0 ? decode_token(d, words) : STATUS_OK;
    case EXTRA_LIMIT:
    case EXTRA_PIECE:
    case EXTRA_PAGE:
    case EXTRA_SINCE:
        return decode_page(d, words, count);
    case EXTRA_WINDOW:
        return decode_top(d, words, count);
    case EXTRA_NONE:
    case EXTRA_COLD:
    case EXTRA_TOTAL:
        break;
    }
    ASSERT(!"nothing else follows the words");
    return STATUS_BAD_ARGUMENT;
}
