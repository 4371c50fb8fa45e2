/*
 * Decodes the words of a command by the description of its operation (op.def), so that every operation
 * refuses a bad id with the same sentence. This file has what almost every command needs; what may
 * follow the words is in extra.c.
 */
#include "op/decode.h"

#include "base/assert.h"

/* Keeps rare code apart from the code that almost every command runs. */
#define RARE __attribute__((noinline, cold))

/* Only writes are refused because of a name, which is decided when all words are decoded. */
static void note_refused(struct decoding *d, enum status status, enum name_role role,
                         struct text word)
{
    if (status == STATUS_OK || d->refused.status != STATUS_OK)
        return;
    d->refused.status = status;
    d->refused.role = role;
    d->refused.word = word;
}

/* A UUID that begins with 16 zeros would be the same as a decimal id, so it is refused. */
#define AN_ID "an unsigned 64-bit decimal number, or a UUID that does not begin with 16 zeros"

enum status op_decode_id(struct decoding *d, struct text word, struct id *id)
{
    return id_parse(word.bytes, word.length, id)
               ? STATUS_OK
               : op_refuse(d, STATUS_BAD_ARGUMENT, "a user must be " AN_ID, word);
}

static enum status decode_user(struct decoding *d, struct text word)
{
    const struct op_user *read = &d->scratch->user;
    if (word.length > 0 && word.bytes == read->word.bytes && word.length == read->word.length)
        d->request->user = read->id;
    else
        return op_decode_id(d, word, &d->request->user);
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
    uint8_t mask[8] = {0};
    size_t first = type->length < 8 ? type->length : 8;
    memset(mask, 0xff, first);
    memcpy(&type->first_mask, mask, 8);
    type->first = 0;
    memcpy(&type->first, type->text, first);
}

/*
 * Does the item have the type that was last found? This runs for every item, so the first 8 bytes are
 * compared as one number. Most types are not longer.
 */
static bool is_noted_type(const struct decoding *d, struct text word)
{
    const struct op_type *type = &d->scratch->type;
    if (type->names != d->names || word.length <= type->length)
        return false;
    if (word.length >= 8) {
        uint64_t first;
        memcpy(&first, word.bytes, 8);
        if (((first ^ type->first) & type->first_mask) != 0)
            return false;
        if (type->length <= 8)
            return true;
    }
    return memcmp(word.bytes, type->text, type->length) == 0;
}

/*
 * Asks the back end of the names, if there is one, for a name that is not in the table. *known stays
 * -1 if there is no such name. BLOCKED is only noted, and decoding goes on, so that all names of a
 * command are asked for at once.
 */
static RARE enum status ask_for(struct decoding *d, struct text word, enum name_role role,
                                int *known)
{
    if (d->making)
        return STATUS_OK; /* it was asked for before, for this command */
    enum status status = names_ask(d->names, role, word.bytes, word.length, known);
    if (status != STATUS_BLOCKED)
        return status == STATUS_OK ? status : op_refuse_name(d, status, role, word);
    d->blocked = d->unknown = true;
    return STATUS_OK;
}

/* Handles a name that is not in the table. Unless it is created, `index` stays one that is never used. */
static RARE enum status decode_unknown(struct decoding *d, struct text word, enum name_role role,
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
    if (status != STATUS_BLOCKED)
        return status == STATUS_OK ? status : op_refuse_name(d, status, role, word);
    d->blocked = true;
    return STATUS_OK;
}

static enum status take_type(struct decoding *d, struct text word, int known, uint16_t *type)
{
    *type = (uint16_t)known;
    note_type(d, word, *type);
    if (!d->scratch->type.allowed)
        note_refused(d, STATUS_NAME_NOT_LISTED, NAME_TYPE, word);
    return STATUS_OK;
}

static RARE enum status decode_missing_type(struct decoding *d, struct text word, uint16_t *type)
{
    int known = -1;
    enum status status = ask_for(d, word, NAME_TYPE, &known);
    if (status != STATUS_OK)
        return status;
    return known >= 0 ? take_type(d, word, known, type) : decode_unknown(d, word, NAME_TYPE, type);
}

static enum status decode_type(struct decoding *d, struct text word, uint16_t *type)
{
    int known = names_find_type(d->names, word.bytes, word.length);
    return known >= 0 ? take_type(d, word, known, type) : decode_missing_type(d, word, type);
}

static enum status decode_item(struct decoding *d, struct text word, struct item *item)
{
    bool noted = is_noted_type(d, word);
    const char *colon =
        noted ? word.bytes + d->scratch->type.length - 1 : memchr(word.bytes, ':', word.length);
    if (colon == NULL)
        return op_refuse(d, STATUS_BAD_ARGUMENT, "an item must be type:id, as in video:42", word);
    size_t length = (size_t)(colon - word.bytes);
    if (!id_parse(colon + 1, word.length - length - 1, &item->id))
        return op_refuse(d, STATUS_BAD_ARGUMENT, "an item must be type:id, the id " AN_ID, word);
    item->type = d->scratch->type.index;
    struct text type = {word.bytes, length};
    if (!noted)
        return decode_type(d, type, &item->type);
    if (!d->scratch->type.allowed)
        note_refused(d, STATUS_NAME_NOT_LISTED, NAME_TYPE, type);
    return STATUS_OK;
}

/* Decodes the rest of the words, all of which are items. */
static enum status decode_items(struct decoding *d, const struct text *words, uint32_t count)
{
    if (count > d->spec->items_max)
        return op_refuse_many(d, count);
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

/* Decodes a counter of any role. It must exist already. */
static enum status decode_counter(struct decoding *d, struct text word)
{
    int known = names_find(d->names, word.bytes, word.length);
    enum status status = known < 0 ? ask_for(d, word, NAME_COUNTER, &known) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    d->request->name = known >= 0 ? (uint8_t)known : NAME_UNKNOWN;
    return known >= 0 || name_is_valid(word.bytes, word.length)
               ? STATUS_OK
               : op_refuse_name(d, STATUS_BAD_ARGUMENT, NAME_COUNTER, word);
}

static enum status take_name(struct decoding *d, struct text word, int known, enum name_role role)
{
    const struct name *name = names_get(d->names, (uint8_t)known);
    d->request->name = (uint8_t)known;
    if (name->role == NAME_KEPT && role == NAME_COUNTER)
        return op_refuse(d, STATUS_NOT_A_COUNTER,
                         "a counter must be one that clients add to, and this one is kept by the "
                         "server",
                         word);
    if (name->role != role)
        return op_refuse_name(d, role == NAME_KIND ? STATUS_NOT_A_KIND : STATUS_NOT_A_COUNTER, role,
                              word);
    if (!name->allowed)
        note_refused(d, STATUS_NAME_NOT_LISTED, role, word);
    return STATUS_OK;
}

static RARE enum status decode_missing_name(struct decoding *d, struct text word,
                                            enum name_role role)
{
    uint16_t index = NAME_UNKNOWN;
    int known = -1;
    enum status status = ask_for(d, word, role, &known);
    if (status == STATUS_OK && known >= 0)
        return take_name(d, word, known, role);
    if (status == STATUS_OK)
        status = decode_unknown(d, word, role, &index);
    d->request->name = (uint8_t)index;
    return status;
}

/* Decodes a kind or a counter; `role` says which one it must be. */
static enum status decode_name(struct decoding *d, struct text word, enum name_role role)
{
    int known = names_find(d->names, word.bytes, word.length);
    return known >= 0 ? take_name(d, word, known, role) : decode_missing_name(d, word, role);
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
        return op_refuse(d, STATUS_BAD_ARGUMENT, "a delta must be a signed 64-bit decimal", word);
    d->request->change.delta = (int64_t)(negative ? 0 - value : value);
    return STATUS_OK;
}

/* Decodes all remaining words: items, and the options after them if the operation takes any. */
static enum status decode_rest(struct decoding *d, const struct text *words, uint32_t count)
{
    enum status status =
        d->spec->extra == EXTRA_FEED ? op_decode_feed(d, words, &count) : STATUS_OK;
    return status == STATUS_OK ? decode_items(d, words, count) : status;
}

static enum status decode_comments(struct decoding *d, const struct text *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!op_is_comment(words[i]))
            return op_refuse(d, STATUS_BAD_ARGUMENT,
                             "a comment must be comment:ID, as in comment:7", words[i]);
    return decode_items(d, words, count);
}

/* Decodes all remaining words: comments, and FOR after them. */
static enum status decode_rest_comments(struct decoding *d, const struct text *words,
                                        uint32_t count)
{
    enum status status = op_decode_reader(d, words, &count);
    return status == STATUS_OK ? decode_comments(d, words, count) : status;
}

/* The first comment creates the type of comments, as the first like creates the type of its item. */
static RARE enum status decode_comment_type(struct decoding *d)
{
    static const struct text name = {COMMENT_TYPE_NAME, sizeof COMMENT_TYPE_NAME - 1};
    uint16_t type;
    return decode_type(d, name, &type);
}

static uint16_t *type_place(struct hot_request *request)
{
    return request->action == HOT_TOP         ? &request->top.type
           : hot_is_comments(request->action) ? &request->cards.type
                                              : &request->list.type;
}

/* To follow or to block somebody is a reaction like any other, on an item that stands for the user. */
static enum status find_user_kind(struct decoding *d, struct text word, uint16_t *users,
                                  uint8_t *index)
{
    static const struct text followed = {OP_FOLLOWED_TYPE, sizeof OP_FOLLOWED_TYPE - 1};
    enum status status = STATUS_OK;
    int type = names_find_type(d->names, followed.bytes, followed.length);
    int kind = names_find(d->names, word.bytes, word.length);
    if (type < 0)
        status = ask_for(d, followed, NAME_TYPE, &type);
    if (kind < 0 && status == STATUS_OK)
        status = ask_for(d, word, NAME_KIND, &kind);
    bool known = kind >= 0 && names_get(d->names, (uint8_t)kind)->role == NAME_KIND;
    *users = type >= 0 ? (uint16_t)type : TYPE_UNKNOWN;
    *index = known ? (uint8_t)kind : NAME_UNKNOWN;
    return status;
}

RARE enum status op_find_follow(struct decoding *d, uint16_t *followed_type, uint8_t *follow_kind)
{
    return find_user_kind(d, (struct text){"follow", 6}, followed_type, follow_kind);
}

static enum status decode_words(struct decoding *d, const struct text *args, uint32_t count)
{
    enum status status = STATUS_OK;
    const struct text *word = args, *end = args + count;
    for (const uint8_t *what = d->spec->words; *what != WORD_END && status == STATUS_OK; what++) {
        switch ((enum op_word) * what) {
        case WORD_USER:
            status = decode_user(d, *word++);
            break;
        case WORD_KIND:
            status = decode_name(d, *word++, NAME_KIND);
            break;
        case WORD_COUNTER:
            status = decode_name(d, *word++, NAME_COUNTER);
            break;
        case WORD_ANY_COUNTER:
            status = decode_counter(d, *word++);
            break;
        case WORD_DELTA:
            status = decode_delta(d, *word++);
            break;
        case WORD_TYPE:
            status = decode_type(d, *word++, type_place(d->request));
            break;
        case WORD_ITEM:
            status = decode_items(d, word++, 1);
            break;
        case WORD_ITEMS:
            return decode_rest(d, word, (uint32_t)(end - word));
        case WORD_COMMENT:
            status = decode_comments(d, word++, 1);
            break;
        case WORD_COMMENTS:
            return decode_rest_comments(d, word, (uint32_t)(end - word));
        case WORD_TEXT:
        case WORD_STATE:
        case WORD_QUEUE:
        case WORD_CURSOR:
            status = op_decode_comment_word(d, (enum op_word) * what, *word);
            word++;
            break;
        case WORD_END:
        case WORD_TOTAL:
            ASSERT(!"an operation takes only words that are listed above");
        }
    }
    /*
     * These are decoded in any case, because a LIMIT that is absent has a default. A cursor can only
     * be checked when all names are there.
     */
    if (status == STATUS_OK && (word < end || d->spec->extra >= EXTRA_DEPTH) && !d->blocked)
        status = op_decode_extra(d, word, (uint32_t)(end - word));
    if (status == STATUS_OK && d->spec->action == HOT_COMMENT)
        status = decode_comment_type(d);
    return status;
}

/* Gives a request about comments a detail, in which nothing is given. */
static void begin_detail(struct decoding *d)
{
    d->detail = &d->scratch->details[d->scratch->details_used];
    memset(d->detail, 0, sizeof *d->detail);
    *hot_detail_place(d->request) = d->detail;
    d->request->name = NAME_INDEX_COMMENT;
}

void op_limit_types(struct op_scratch *scratch, const struct hot_request *request,
                    const struct names *names, const char *types)
{
    if (!hot_is_comments(request->action))
        return;
    ASSERT(scratch->details_used > 0);
    struct hot_detail *detail = &scratch->details[scratch->details_used - 1];
    ASSERT(hot_detail_of(request) == detail);
    detail->types = types;
    detail->names = names;
}

/* A write that changes nothing, such as adding 0, creates no names: they are limited and never removed. */
static bool creates_names(const struct hot_request *request)
{
    return request->action == HOT_SET || request->action == HOT_COMMENT ||
           request->action == HOT_SUBJECT_SET ||
           (request->action == HOT_ADD && request->change.delta != 0);
}

/* All words are valid. If all names may be used, new names are created now, which is rare. */
static enum status decode_write(struct decoding *d, const struct text *args, uint32_t count,
                                uint32_t used)
{
    enum status status = STATUS_OK;
    if (d->refused.status != STATUS_OK)
        return op_refuse_name(d, d->refused.status, d->refused.role, d->refused.word);
    if (d->unknown) {
        d->scratch->used = used;
        d->making = true;
        if (d->detail != NULL)
            begin_detail(d);
        status = decode_words(d, args, count);
        if (status == STATUS_OK && d->blocked)
            return STATUS_BLOCKED;
    }
    if (status == STATUS_OK)
        names_note_use(d->names, d->request->items[0].type, d->request->name);
    return status;
}

/* Sets what every request has, whatever its operation is. */
static void begin_request(struct hot_request *request, const struct op_spec *spec, uint32_t time_s)
{
    *request = (struct hot_request){.action = spec->action,
                                    .name = NAME_INDEX_LIKE,
                                    .op = (uint8_t)(spec - op_specs),
                                    .time_s = time_s};
}

void op_make_counts(const struct item *item, uint32_t time_s, struct op_scratch *scratch,
                    struct hot_request *request)
{
    ASSERT(scratch->used < LIMIT_BATCH_ITEMS);
    begin_request(request, &op_specs[OP_COUNTS], time_s);
    scratch->items[scratch->used] = *item;
    request->items = scratch->items + scratch->used;
    hot_request_set_answers(request, scratch->answers + scratch->used);
    request->item_count = 1;
    request->own = true;
    scratch->used++;
}

enum status op_decode(const struct op_spec *spec, const struct text *args, uint32_t count,
                      struct names *names, uint32_t time_s, struct op_scratch *scratch,
                      struct hot_request *request)
{
    bool in_pairs = spec->args_max != UINT16_MAX && spec->extra < EXTRA_POST;
    bool half_option = in_pairs && (count - spec->args_min) % 2 != 0;
    if (count < spec->args_min || count > spec->args_max || half_option)
        return op_refuse_arity(spec, scratch);
    begin_request(request, spec, time_s);
    struct decoding d = {.spec = spec, .names = names, .scratch = scratch, .request = request};
    uint32_t used = scratch->used;
    enum status status = STATUS_OK;
    if (hot_is_comments(spec->action)) {
        if (scratch->details_used == LIMIT_BATCH)
            return STATUS_MORE;
        begin_detail(&d);
    }
    if (spec->action == HOT_FRIENDS)
        status = op_find_follow(&d, &request->list.type, &request->list.follow);
    if (spec->action == HOT_INBOX)
        status =
            find_user_kind(&d, (struct text){"block", 5}, &request->cards.type, &request->name);
    if (status == STATUS_OK)
        status = decode_words(&d, args, count);
    if (status == STATUS_OK && d.blocked)
        status = STATUS_BLOCKED;
    if (status == STATUS_OK && d.detail != NULL && spec->items_max > 0)
        status = op_check_comment(&d, args[op_items_at(spec)]);
    if (status == STATUS_OK && creates_names(request))
        status = decode_write(&d, args, count, used);
    if (status != STATUS_OK)
        scratch->used = used; /* drops the items before the word that is wrong */
    else if (d.detail != NULL)
        scratch->details_used++;
    return status;
}
