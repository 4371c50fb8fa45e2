/*
 * The table of operations and the reading of their arguments. Reading is driven by each operation's
 * pattern, so a new operation is a new line in op.def, and every operation refuses a bad id with
 * the same words.
 */
#include "op/op.h"

#include <stdio.h>

#include <xxhash.h>

#include "base/assert.h"
#include "op/cursor.h"
#include "trend/trends.h"

#define LETTERS(pattern) (sizeof(pattern) - 1)
#define LAST(pattern)    ((" " pattern)[sizeof(pattern) - 1]) /* a space, if there is none */

/* Letters that may stand for no word at all, and how many more than one they may stand for. */
#define IS_PAIRS(letter) ((letter) == 'p' || (letter) == 's' || (letter) == 'w')
#define IS_OPTION(letter)                                                                          \
    ((letter) == 't' || (letter) == 'o' || (letter) == 'l' || IS_PAIRS(letter))
#define OPTION_WORDS(letter) ((letter) == 't' || (letter) == 'l' ? 1 : IS_PAIRS(letter) ? 3 : 0)

static const struct op_spec specs[] = {
#define OP(code, op_name, op_action, op_pattern, args, items, text)                                \
    {.name = op_name,                                                                              \
     .pattern = op_pattern,                                                                        \
     .arguments = args,                                                                            \
     .summary = text,                                                                              \
     .action = op_action,                                                                          \
     .items_max = items,                                                                           \
     .args_min = LETTERS(op_pattern) - IS_OPTION(LAST(op_pattern)),                                \
     .args_max = LAST(op_pattern) == 'I' || LAST(op_pattern) == 'o'                                \
                     ? UINT16_MAX                                                                  \
                     : LETTERS(op_pattern) + OPTION_WORDS(LAST(op_pattern))},
#define ROUTE(code, method, path, words)
#include "op/op.def"
#undef ROUTE
#undef OP
};

size_t op_count(void)
{
    return sizeof specs / sizeof specs[0];
}

const struct op_spec *op_get(size_t index)
{
    ASSERT(index < op_count());
    return &specs[index];
}

/* What the decoding of one command carries from word to word. */
struct decoding {
    const struct op_spec *spec;
    struct names *names;
    struct op_scratch *scratch;
    struct hot_request *request;
    bool making;  /* names that are not known are made */
    bool unknown; /* there was one */
    struct {
        enum status status; /* OK: none was */
        enum name_role role;
        struct text word;
    } refused; /* the first name that may not be used in a write */
};

/* A word as it can be shown in a one-line error: printable, and not too long. */
static const char *show(struct text word, char out[48])
{
    size_t length = word.length < 40 ? word.length : 40;
    for (size_t i = 0; i < length; i++) {
        char c = word.bytes[i];
        out[i] = c >= 0x20 && c < 0x7f ? c : '?';
    }
    memcpy(out + length, word.length > 40 ? "..." : "", word.length > 40 ? 4 : 1);
    return out;
}

/* `expected` names the word and says what it must be: "a user must be …". */
static enum status refuse(struct decoding *d, enum status status, const char *expected,
                          struct text word)
{
    char shown[48];
    const char *must = strstr(expected, " must ");
    d->scratch->wrong = word;
    d->scratch->subject = must != NULL ? (size_t)(must - expected) : 0;
    snprintf(d->scratch->sentence, sizeof d->scratch->sentence, "%s, got '%s'", expected,
             show(word, shown));
    return status;
}

static enum status refuse_arity(const struct op_spec *spec, struct op_scratch *scratch)
{
    snprintf(scratch->sentence, sizeof scratch->sentence,
             "wrong number of arguments, expected %s%s%s", spec->name,
             spec->arguments[0] != '\0' ? " " : "", spec->arguments);
    return STATUS_BAD_ARITY;
}

/* What names_intern said, as a sentence. */
static enum status refuse_name(struct decoding *d, enum status status, enum name_role role,
                               struct text word)
{
    if (status == STATUS_BAD_ARGUMENT)
        return refuse(d, status,
                      "a name must be a letter a-z, then up to 31 of a-z, 0-9, '_' and '-'", word);
    names_refusal(d->names, status, role, word.bytes, word.length, d->scratch->sentence,
                  sizeof d->scratch->sentence);
    return status;
}

/* Whether that matters is known when all words are read: only writes are refused. */
static void note_refused(struct decoding *d, enum status status, enum name_role role,
                         struct text word)
{
    if (status == STATUS_OK || d->refused.status != STATUS_OK)
        return;
    d->refused.status = status;
    d->refused.role = role;
    d->refused.word = word;
}

/* Of UUIDs, those that look like a decimal inside are no ids. */
#define AN_ID "an unsigned 64-bit decimal number, or a UUID that does not begin with 16 zeros"

static enum status decode_user(struct decoding *d, struct text word)
{
    const struct op_user *read = &d->scratch->user;
    if (word.length > 0 && word.bytes == read->word.bytes && word.length == read->word.length)
        d->request->user = read->id;
    else if (!id_parse(word.bytes, word.length, &d->request->user))
        return refuse(d, STATUS_BAD_ARGUMENT, "a user must be " AN_ID, word);
    return STATUS_OK;
}

static void note_type(struct decoding *d, struct text word, uint16_t index)
{
    struct op_type *type = &d->scratch->type;
    type->names = d->names;
    type->index = index;
    type->allowed = names_type(d->names, index)->allowed;
    type->length = (uint8_t)(word.length + 1);
    memcpy(type->text, word.bytes, word.length);
    type->text[word.length] = ':';
}

/* Is the item of the type that was last found? */
static bool is_noted_type(const struct decoding *d, struct text word)
{
    const struct op_type *type = &d->scratch->type;
    return type->names == d->names && word.length > type->length &&
           memcmp(word.bytes, type->text, type->length) == 0;
}

/* A name that is not there; `index` is left as one that is never given out, unless it is made. */
static enum status decode_unknown(struct decoding *d, struct text word, enum name_role role,
                                  uint16_t *index)
{
    *index = role == NAME_TYPE ? TYPE_UNKNOWN : NAME_UNKNOWN;
    d->unknown = true;
    enum status status = STATUS_OK;
    if (d->making)
        status = names_intern(d->names, role, word.bytes, word.length, index);
    else if (!name_is_valid(word.bytes, word.length))
        status = STATUS_BAD_ARGUMENT;
    else if (op_writes(d->spec))
        note_refused(d, names_test(d->names, role, word.bytes, word.length), role, word);
    return status == STATUS_OK ? status : refuse_name(d, status, role, word);
}

static enum status decode_type(struct decoding *d, struct text word, uint16_t *type)
{
    int known = names_find_type(d->names, word.bytes, word.length);
    if (known >= 0) {
        *type = (uint16_t)known;
        note_type(d, word, *type);
        if (!d->scratch->type.allowed)
            note_refused(d, STATUS_NAME_NOT_LISTED, NAME_TYPE, word);
        return STATUS_OK;
    }
    return decode_unknown(d, word, NAME_TYPE, type);
}

static enum status decode_item(struct decoding *d, struct text word, struct item *item)
{
    bool noted = is_noted_type(d, word);
    const char *colon =
        noted ? word.bytes + d->scratch->type.length - 1 : memchr(word.bytes, ':', word.length);
    if (colon == NULL)
        return refuse(d, STATUS_BAD_ARGUMENT, "an item must be type:id, as in video:42", word);
    size_t length = (size_t)(colon - word.bytes);
    if (!id_parse(colon + 1, word.length - length - 1, &item->id))
        return refuse(d, STATUS_BAD_ARGUMENT, "an item must be type:id, the id " AN_ID, word);
    item->type = d->scratch->type.index;
    struct text type = {word.bytes, length};
    if (!noted)
        return decode_type(d, type, &item->type);
    if (!d->scratch->type.allowed)
        note_refused(d, STATUS_NAME_NOT_LISTED, NAME_TYPE, type);
    return STATUS_OK;
}

/* The rest of the words, all items. */
static enum status decode_items(struct decoding *d, const struct text *words, uint32_t count)
{
    if (count > d->spec->items_max) {
        snprintf(d->scratch->sentence, sizeof d->scratch->sentence,
                 "at most %u items are allowed in one %s, got %u", d->spec->items_max,
                 d->spec->name, count);
        return STATUS_TOO_MANY_ITEMS;
    }
    if (count > LIMIT_BATCH_ITEMS - d->scratch->used)
        return STATUS_MORE;
    struct item *items = d->scratch->items + d->scratch->used;
    for (uint32_t i = 0; i < count; i++) {
        enum status status = decode_item(d, words[i], &items[i]);
        if (status != STATUS_OK)
            return status;
    }
    d->request->items = items;
    hot_request_set_answers(d->request, d->scratch->answers + d->scratch->used);
    d->request->item_count = count;
    d->scratch->used += count;
    return STATUS_OK;
}

/* A counter of any role, which must be there already to be asked for. */
static enum status decode_counter(struct decoding *d, struct text word)
{
    int known = names_find(d->names, word.bytes, word.length);
    d->request->name = known >= 0 ? (uint8_t)known : NAME_UNKNOWN;
    return known >= 0 || name_is_valid(word.bytes, word.length)
               ? STATUS_OK
               : refuse_name(d, STATUS_BAD_ARGUMENT, NAME_COUNTER, word);
}

/* A kind or a counter; `role` is what it must be. */
static enum status decode_name(struct decoding *d, struct text word, enum name_role role)
{
    uint16_t index = NAME_UNKNOWN;
    int known = names_find(d->names, word.bytes, word.length);
    if (known < 0) {
        enum status status = decode_unknown(d, word, role, &index);
        d->request->name = (uint8_t)index;
        return status;
    }
    const struct name *name = names_get(d->names, (uint8_t)known);
    d->request->name = (uint8_t)known;
    if (name->role != role)
        return refuse_name(d, role == NAME_KIND ? STATUS_NOT_A_KIND : STATUS_NOT_A_COUNTER, role,
                           word);
    if (!name->allowed)
        note_refused(d, STATUS_NAME_NOT_LISTED, role, word);
    return STATUS_OK;
}

static enum status decode_delta(struct decoding *d, struct text word)
{
    const char *at = word.bytes, *end = word.bytes + word.length;
    bool negative = at < end && *at == '-';
    at += negative || (at < end && *at == '+');
    uint64_t limit = (uint64_t)INT64_MAX + negative, value = 0;
    bool good = at < end && end - at <= 19;
    for (; good && at < end; at++) {
        unsigned digit = (unsigned char)*at - (unsigned)'0';
        good = digit <= 9 && value <= (limit - digit) / 10;
        value = value * 10 + digit;
    }
    if (!good)
        return refuse(d, STATUS_BAD_ARGUMENT, "a delta must be a signed 64-bit decimal", word);
    d->request->change.delta = (int64_t)(negative ? 0 - value : value);
    return STATUS_OK;
}

/* A token counts for its item and counter only: the three are hashed together. */
static enum status decode_token(struct decoding *d, const struct text *words)
{
    if (!text_is(words[0], "TOKEN"))
        return refuse(d, STATUS_BAD_ARGUMENT, "expected TOKEN and a token", words[0]);
    if (words[1].length == 0 || words[1].length > LIMIT_TOKEN_LENGTH)
        return refuse(d, STATUS_BAD_ARGUMENT, "a token must be 1 to 64 bytes", words[1]);
    const struct item *item = d->request->items;
    XXH128_hash_t token = XXH3_128bits_withSeed(words[1].bytes, words[1].length, d->request->name);
    d->request->change.has_token = true;
    d->request->change.token[0] = hash_3(token.high64, item->id.lo, item->type);
    d->request->change.token[1] = hash_3(token.low64, item->id.hi, item->id.lo);
    return STATUS_OK;
}

/*
 * COLD and its word at the end of the items, if they are there; *items is left with what stands
 * before them. No item is called COLD: an item has a colon.
 */
static enum status decode_cold(struct decoding *d, const struct text *words, uint32_t *items)
{
    struct text last = words[*items - 1];
    if (text_is(last, "COLD"))
        return refuse(d, STATUS_BAD_ARGUMENT, "COLD must be skip or ask", last);
    if (*items < 2 || !text_is(words[*items - 2], "COLD"))
        return STATUS_OK;
    d->request->read.memory_only = text_is(last, "skip");
    if (!d->request->read.memory_only && !text_is(last, "ask"))
        return refuse(d, STATUS_BAD_ARGUMENT, "COLD must be skip or ask", last);
    *items -= 2;
    return *items > 0 ? STATUS_OK : refuse_arity(d->spec, d->scratch);
}

/* All words from here on: items, and what the pattern has behind them. */
static enum status decode_rest(struct decoding *d, const struct text *words, uint32_t count,
                               bool may_be_cold)
{
    enum status status = may_be_cold ? decode_cold(d, words, &count) : STATUS_OK;
    return status == STATUS_OK ? decode_items(d, words, count) : status;
}

/* What a request asks for at most, wherever its action has that. */
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
    uint32_t value = 0;
    bool good = word.length > 0 && word.length <= 9;
    for (size_t i = 0; good && i < word.length; i++) {
        unsigned digit = (unsigned char)word.bytes[i] - (unsigned)'0';
        good = digit <= 9;
        value = value * 10 + digit;
    }
    if (!good || value == 0 || value > most) {
        char expected[64];
        snprintf(expected, sizeof expected, "a LIMIT must be a number from 1 to %u", most);
        return refuse(d, STATUS_BAD_ARGUMENT, expected, word);
    }
    *limit_of(d->request) = value;
    return STATUS_OK;
}

/* How a page is asked for, by the pattern's letter. */
struct paging {
    const char *place; /* the word before a cursor; NULL: there is none */
    bool (*read)(struct hot_request *request, struct text text);
    uint32_t usual;
    uint32_t most;
    const char *cursor; /* what one must be */
    const char *words;  /* what is expected */
};

static bool read_list_place(struct hot_request *request, struct text text)
{
    return cursor_read(request, text, &request->list.after);
}

static const struct paging paging_short = {.usual = LIMIT_LIST_USUAL,
                                           .most = LIMIT_LIST,
                                           .words = "expected LIMIT and a number, at most once"};
static const struct paging paging_sweep = {.usual = LIMIT_SWEEP_USUAL,
                                           .most = LIMIT_SWEEP,
                                           .words = "expected LIMIT and a number, at most once"};
static const struct paging paging_list = {
    .place = "CURSOR",
    .read = read_list_place,
    .usual = LIMIT_LIST_USUAL,
    .most = LIMIT_LIST,
    .cursor = "a CURSOR must be the cursor of an earlier page of the same list",
    .words = "expected LIMIT and a number, or CURSOR and a cursor, each at most once",
};
static const struct paging paging_changes = {
    .place = "SINCE",
    .read = cursor_read_round,
    .usual = LIMIT_CHANGES_USUAL,
    .most = LIMIT_CHANGES,
    .cursor = "a SINCE must be the cursor of an earlier answer for the same user",
    .words = "expected LIMIT and a number, or SINCE and a cursor, each at most once",
};

static const struct paging *paging_of(const struct op_spec *spec, char letter)
{
    if (letter == 'p')
        return &paging_list;
    if (letter == 's')
        return &paging_changes;
    return op_writes(spec) ? &paging_sweep : &paging_short;
}

uint32_t op_limit_max(const struct op_spec *spec)
{
    size_t length = strlen(spec->pattern);
    char last = length > 0 ? spec->pattern[length - 1] : ' ';
    if (last == 'w')
        return LIMIT_TOP;
    return last == 'l' || last == 'p' || last == 's' ? paging_of(spec, last)->most : 0;
}

/* What it is a page of has been read by now. */
static enum status decode_page(struct decoding *d, const struct text *words, uint32_t count,
                               const struct paging *paging)
{
    bool limited = false, placed = false;
    enum status status = STATUS_OK;
    *limit_of(d->request) = paging->usual;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i += 2) {
        if (!limited && text_is(words[i], "LIMIT")) {
            limited = true;
            status = decode_limit(d, words[i + 1], op_limit_max(d->spec));
        } else if (paging->place != NULL && !placed && text_is(words[i], paging->place)) {
            placed = true;
            if (words[i + 1].length != 0 && !paging->read(d->request, words[i + 1]))
                status = refuse(d, STATUS_BAD_ARGUMENT, paging->cursor, words[i + 1]);
        } else {
            status = refuse(d, STATUS_BAD_ARGUMENT, paging->words, words[i]);
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
    return refuse(d, STATUS_BAD_ARGUMENT, "a WINDOW must be hour, day or week", word);
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
            status = refuse(
                d, STATUS_BAD_ARGUMENT,
                "expected LIMIT and a number, or WINDOW and hour, day or week, each at most once",
                words[i]);
        }
    }
    return status;
}

/* Following is a reaction like any other, on an item that stands for the user. */
static void find_follow(struct decoding *d)
{
    int type = names_find_type(d->names, OP_FOLLOWED_TYPE, strlen(OP_FOLLOWED_TYPE));
    int kind = names_find(d->names, "follow", 6);
    bool known = kind >= 0 && names_get(d->names, (uint8_t)kind)->role == NAME_KIND;
    d->request->list.type = type >= 0 ? (uint16_t)type : TYPE_UNKNOWN;
    d->request->list.follow = known ? (uint8_t)kind : NAME_UNKNOWN;
}

static enum status decode_words(struct decoding *d, const struct text *args, uint32_t count)
{
    enum status status = STATUS_OK;
    const struct text *word = args, *end = args + count;
    for (const char *what = d->spec->pattern; *what && status == STATUS_OK; what++) {
        switch (*what) {
        case 'u':
            status = decode_user(d, *word++);
            break;
        case 'k':
            status = decode_name(d, *word++, NAME_KIND);
            break;
        case 'c':
            status = decode_name(d, *word++, NAME_COUNTER);
            break;
        case 'd':
            status = decode_delta(d, *word++);
            break;
        case 'i':
            status = decode_items(d, word++, 1);
            break;
        case 'I':
            status = decode_rest(d, word, (uint32_t)(end - word), what[1] == 'o');
            word = end;
            break;
        case 'o':
            break;
        case 'y':
            status = decode_type(d, *word++,
                                 d->spec->action == HOT_TOP ? &d->request->top.type
                                                            : &d->request->list.type);
            break;
        case 'l':
        case 'p':
        case 's':
            status = decode_page(d, word, (uint32_t)(end - word), paging_of(d->spec, *what));
            word = end;
            break;
        case 'n':
            status = decode_counter(d, *word++);
            break;
        case 'w':
            status = decode_top(d, word, (uint32_t)(end - word));
            word = end;
            break;
        case 't':
            if (word < end)
                status = decode_token(d, word);
            word = end;
            break;
        default:
            ASSERT(!"a pattern has only these letters");
        }
    }
    ASSERT(status != STATUS_OK || word == end);
    return status;
}

/* What changes nothing, as adding 0, is not worth a name: those are few, and for ever. */
static bool creates_names(const struct hot_request *request)
{
    return request->action == HOT_SET || (request->action == HOT_ADD && request->change.delta != 0);
}

/* All words are good: may its names be used? Only then, and seldom, the new ones are made. */
static enum status decode_write(struct decoding *d, const struct text *args, uint32_t count,
                                uint32_t used)
{
    enum status status = STATUS_OK;
    if (d->refused.status != STATUS_OK)
        return refuse_name(d, d->refused.status, d->refused.role, d->refused.word);
    if (d->unknown) {
        d->scratch->used = used;
        d->making = true;
        status = decode_words(d, args, count);
    }
    if (status == STATUS_OK)
        names_note_use(d->names, d->request->items[0].type, d->request->name);
    return status;
}

enum status op_decode(const struct op_spec *spec, const struct text *args, uint32_t count,
                      struct names *names, uint32_t time_s, struct op_scratch *scratch,
                      struct hot_request *request)
{
    bool half_option = spec->args_max != UINT16_MAX && (count - spec->args_min) % 2 != 0;
    if (count < spec->args_min || count > spec->args_max || half_option)
        return refuse_arity(spec, scratch);
    *request = (struct hot_request){.action = spec->action,
                                    .name = NAME_INDEX_LIKE,
                                    .op = (uint8_t)(spec - specs),
                                    .time_s = time_s};
    struct decoding d = {.spec = spec, .names = names, .scratch = scratch, .request = request};
    uint32_t used = scratch->used;
    if (spec->action == HOT_FRIENDS)
        find_follow(&d);
    enum status status = decode_words(&d, args, count);
    if (status == STATUS_OK && creates_names(request))
        status = decode_write(&d, args, count, used);
    if (status != STATUS_OK)
        scratch->used = used; /* items that stood before the word that is wrong */
    return status;
}
