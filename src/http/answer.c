#include "http/answer.h"

#include "base/assert.h"
#include "base/decimal.h"
#include "http/answer_comments.h"
#include "op/cursor.h"
#include "op/op.h"

/* How many bytes may be written for each. */
#define NAME_ROOM    ((size_t)LIMIT_NAME_LENGTH + 4)
#define COUNTER_ROOM (NAME_ROOM + DECIMAL_MAX + 1)
#define LISTED_ROOM  ((size_t)LIMIT_ITEM_TEXT + DECIMAL_MAX + 24)
#define CHANGE_ROOM  64 /* the fixed text of a change */
#define ITEM_ROOM    ((size_t)128)

/* The arguments of answer_write. */
struct source {
    const struct hot_request *request;
    const struct hot_scratch *scratch;
    const struct names *names;
    const struct text *items;
    bool single;
};

/* Writes the answer to a request. There is one function for each shape. */
typedef bool write_fn(struct buffer *out, const struct source *source);

static char *put(char *at, const char *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

#define PUT(at, literal) put(at, literal, sizeof(literal) - 1)

static char *put_quoted(char *at, const char *bytes, size_t length)
{
    *at++ = '"';
    at = put(at, bytes, length);
    *at++ = '"';
    return at;
}

static char *put_name(char *at, const struct names *names, uint8_t index)
{
    const struct name *name = names_get(names, index);
    return put_quoted(at, name->text, name->length);
}

/* Replaces the comma after the last entry, if there is one, by the end of the list. */
static char *put_end(char *at, char end)
{
    at -= at[-1] == ',';
    *at++ = end;
    return at;
}

static char *put_counters(char *at, const struct hot_answer *answer,
                          const struct hot_scratch *scratch, const struct names *names)
{
    const struct hot_counter *counter = scratch->counters + answer->first;
    at = PUT(at, "\"counts\":{");
    for (const struct hot_counter *end = counter + answer->count; counter < end; counter++) {
        if (counter->value == 0)
            continue;
        at = put_name(at, names, counter->name);
        *at++ = ':';
        at = decimal_write_signed(at, counter->value);
        *at++ = ',';
    }
    return put_end(at, '}');
}

static char *put_kinds(char *at, const struct kind_set *kinds, const struct names *names)
{
    at = PUT(at, "\"reactions\":[");
    for (int word = 0; word < 4; word++) {
        for (uint64_t bits = kinds->bits[word]; bits; bits &= bits - 1) {
            at = put_name(at, names, (uint8_t)(64 * word + __builtin_ctzll(bits)));
            *at++ = ',';
        }
    }
    at = put_end(at, ']');
    *at++ = ',';
    return at;
}

static size_t kinds_room(const struct kind_set *kinds)
{
    size_t count = 0;
    for (int word = 0; word < 4; word++)
        count += (size_t)__builtin_popcountll(kinds->bits[word]);
    return count * NAME_ROOM;
}

/* ,"friends":{"count":4,"users":["7", … ]} */
static char *put_friends(char *at, struct hot_feed_friends friends)
{
    at = PUT(at, ",\"friends\":{\"count\":");
    at = decimal_write(at, friends.found);
    at = PUT(at, ",\"users\":[");
    for (uint32_t i = 0; i < friends.named; i++) {
        *at++ = '"';
        at += id_format(friends.users[i].id, at);
        at = PUT(at, "\",");
    }
    at = put_end(at, ']');
    *at++ = '}';
    return at;
}

/* {"item":"video:1", … "counts":{ … }} */
static bool write_item(struct buffer *out, const struct hot_request *request, uint32_t index,
                       const struct hot_scratch *scratch, const struct names *names,
                       struct text item)
{
    const struct hot_answer *answer = &request->read.answers[index];
    bool feed = op_shape(request) == SHAPE_FEED, befriended = feed && request->read.friends > 0;
    if (!buffer_reserve(out, ITEM_ROOM + item.length + answer->count * COUNTER_ROOM +
                                 (feed ? kinds_room(&answer->kinds) : 0) +
                                 (befriended ? request->read.friends * LISTED_ROOM : 0)))
        return false;
    char *at = PUT(out->bytes + out->length, "{\"item\":");
    at = put_quoted(at, item.bytes, item.length);
    *at++ = ',';
    if (feed)
        at = put_kinds(at, &answer->kinds, names);
    at = put_counters(at, answer, scratch, names);
    if (befriended)
        at = put_friends(at, hot_feed_friends(request, scratch, index));
    *at++ = '}';
    buffer_end(out, at);
    return true;
}

static bool write_items(struct buffer *out, const struct source *source)
{
    const struct hot_request *request = source->request;
    bool written = answer_write_text(out, "{\"items\":[");
    for (uint32_t i = 0; written && i < request->item_count; i++)
        written = (i == 0 || buffer_append(out, ",", 1)) &&
                  write_item(out, request, i, source->scratch, source->names, source->items[i]);
    return written && answer_write_text(out, "]}");
}

static bool write_counts(struct buffer *out, const struct source *source)
{
    return source->single ? write_item(out, source->request, 0, source->scratch, source->names,
                                       source->items[0])
                          : write_items(out, source);
}

static bool write_set(struct buffer *out, const struct source *source)
{
    const struct hot_request *request = source->request;
    bool single = source->single;
    if (!buffer_reserve(out, 16 + 6 * (size_t)request->item_count))
        return false;
    char *at = PUT(out->bytes + out->length, "{\"set\":[");
    at -= single;
    for (uint32_t i = 0; i < request->item_count; i++) {
        bool live = request->name < LIMIT_NAMES &&
                    kind_set_has(&request->read.answers[i].kinds, request->name);
        at = live ? PUT(at, "true,") : PUT(at, "false,");
    }
    if (single)
        at--;
    else
        at = put_end(at, ']');
    *at++ = '}';
    buffer_end(out, at);
    return true;
}

/* video:1 */
static char *put_item(char *at, struct id id, const struct name *type)
{
    at = put(at, type->text, type->length);
    *at++ = ':';
    return at + id_format(id, at);
}

/* {"item":"video:1","time":1701108219}, of an item of the listed type, or of a user */
static char *put_listed(char *at, struct id id, uint32_t shown_s, const struct name *type)
{
    if (type != NULL) {
        at = put_item(PUT(at, "{\"item\":\""), id, type);
    } else {
        at = PUT(at, "{\"user\":\"");
        at += id_format(id, at);
    }
    at = PUT(at, "\",\"time\":");
    at = decimal_write(at, shown_s);
    return PUT(at, "},");
}

static bool write_list(struct buffer *out, const struct source *source)
{
    const struct hot_request *request = source->request;
    const struct hot_scratch *scratch = source->scratch;
    const struct names *names = source->names;
    enum op_shape shape = op_shape(request);
    bool of_items = shape == SHAPE_ITEMS;
    if (!buffer_reserve(out, ITEM_ROOM + CURSOR_TEXT + request->list.count * LISTED_ROOM))
        return false;
    const struct store_listed *listed = scratch->listed + request->list.first;
    const struct name *type =
        of_items && request->list.count > 0 ? names_type(names, request->list.type) : NULL;
    char *at = out->bytes + out->length;
    at = of_items ? PUT(at, "{\"items\":[") : PUT(at, "{\"users\":[");
    for (uint32_t i = 0; i < request->list.count; i++)
        at = put_listed(at, listed[i].id, hot_shown_s(scratch, listed[i].time_s), type);
    at = put_end(at, ']');
    if (shape != SHAPE_FRIENDS && !request->list.more) {
        at = PUT(at, ",\"cursor\":null");
    } else if (shape != SHAPE_FRIENDS) {
        at = PUT(at, ",\"cursor\":\"");
        at += cursor_write(request, listed[request->list.count - 1], at);
        *at++ = '"';
    }
    *at++ = '}';
    buffer_end(out, at);
    return true;
}

/* {"users":[{"user":"7","time":1701108219,"via":"5"}, …]}, where "via" is null for a followee */
static bool write_second(struct buffer *out, const struct source *source)
{
    const struct hot_request *request = source->request;
    const struct store_listed *listed = source->scratch->listed + request->list.first;
    if (!buffer_reserve(out, ITEM_ROOM + request->list.count * 2 * LISTED_ROOM))
        return false;
    char *at = PUT(out->bytes + out->length, "{\"users\":[");
    for (uint32_t i = 0; i < request->list.count; i++, listed += 2) {
        at = put_listed(at, listed[0].id, hot_shown_s(source->scratch, listed[0].time_s), NULL);
        at -= 2; /* the end of the object, and the comma */
        if (listed[1].time_s == 0) {
            at = PUT(at, ",\"via\":null},");
            continue;
        }
        at = PUT(at, ",\"via\":\"");
        at += id_format(listed[1].id, at);
        at = PUT(at, "\"},");
    }
    at = put_end(at, ']');
    *at++ = '}';
    buffer_end(out, at);
    return true;
}

static bool write_friends(struct buffer *out, const struct source *source)
{
    return source->request->list.second ? write_second(out, source) : write_list(out, source);
}

/* {"items":[{"item":"video:1","value":103}, …]} */
static bool write_top(struct buffer *out, const struct source *source)
{
    const struct hot_request *request = source->request;
    const struct hot_scratch *scratch = source->scratch;
    const struct names *names = source->names;
    if (!buffer_reserve(out, ITEM_ROOM + request->top.count * LISTED_ROOM))
        return false;
    const struct ranked *ranked = scratch->ranked + request->top.first;
    char *at = PUT(out->bytes + out->length, "{\"items\":[");
    for (uint32_t i = 0; i < request->top.count; i++) {
        at = PUT(at, "{\"item\":\"");
        at = put_item(at, ranked[i].id, names_type(names, request->top.type));
        at = PUT(at, "\",\"value\":");
        at = decimal_write_signed(at, ranked[i].value);
        at = PUT(at, "},");
    }
    at = put_end(at, ']');
    *at++ = '}';
    buffer_end(out, at);
    return true;
}

/* {"changes":[{"kind":"like","item":"video:1","set":true,"time":1701108219}, …], … } */
static bool write_changes(struct buffer *out, const struct source *source)
{
    const struct hot_request *request = source->request;
    const struct hot_scratch *scratch = source->scratch;
    const struct names *names = source->names;
    if (!buffer_reserve(out, ITEM_ROOM + CURSOR_ROUND_TEXT +
                                 request->changes.count * (LISTED_ROOM + NAME_ROOM + CHANGE_ROOM)))
        return false;
    char *at = PUT(out->bytes + out->length, "{\"changes\":[");
    for (uint32_t i = 0; i < request->changes.count; i++) {
        const struct store_listed *change = &scratch->listed[request->changes.first + i];
        at = PUT(at, "{\"kind\":");
        at = put_name(at, names, change->kind);
        at = PUT(at, ",\"item\":\"");
        at = put_item(at, change->id, names_type(names, change->type));
        at = change->cleared ? PUT(at, "\",\"set\":false,\"time\":")
                             : PUT(at, "\",\"set\":true,\"time\":");
        at = decimal_write(at, hot_shown_s(scratch, change->time_s));
        at = PUT(at, "},");
    }
    at = put_end(at, ']');
    at = PUT(at, ",\"cursor\":\"");
    at += cursor_write_round(request, at);
    at = request->changes.more ? PUT(at, "\",\"more\":true}") : PUT(at, "\",\"more\":false}");
    buffer_end(out, at);
    return true;
}

/* {"name":"like","role":"kind","allowed":true,"used":true,"exclusive":1}, */
static char *put_entry(char *at, const struct name_entry *entry)
{
    const char *role = name_role_text(entry->name->role);
    at = put_quoted(PUT(at, "{\"name\":"), entry->name->text, entry->name->length);
    at = put_quoted(PUT(at, ",\"role\":"), role, strlen(role));
    at = entry->allowed ? PUT(at, ",\"allowed\":true") : PUT(at, ",\"allowed\":false");
    at = entry->used ? PUT(at, ",\"used\":true") : PUT(at, ",\"used\":false");
    if (entry->name->group != 0)
        at = decimal_write(PUT(at, ",\"exclusive\":"), entry->name->group);
    return PUT(at, "},");
}

/* {"names":[ … ],"types":{"count":1,"most":1024},"kinds_and_counters":{"count":3,"most":250}} */
static bool write_names(struct buffer *out, const struct source *source)
{
    const struct names *names = source->names;
    size_t types = names_type_count(names), others = names_count(names);
    if (!buffer_reserve(out, 2 * ITEM_ROOM + (types + others) * (NAME_ROOM + ITEM_ROOM)))
        return false;
    char *at = PUT(out->bytes + out->length, "{\"names\":[");
    for (size_t i = 0; i < types + others; i++) {
        struct name_entry entry = names_entry(names, i, types);
        at = put_entry(at, &entry);
    }
    at = put_end(at, ']');
    at = decimal_write(PUT(at, ",\"types\":{\"count\":"), types);
    at = decimal_write(PUT(at, ",\"most\":"), LIMIT_TYPES);
    at = decimal_write(PUT(at, "},\"kinds_and_counters\":{\"count\":"), others);
    at = decimal_write(PUT(at, ",\"most\":"), LIMIT_NAMES);
    buffer_end(out, PUT(at, "}}"));
    return true;
}

static bool write_number(struct buffer *out, int64_t value)
{
    if (!buffer_reserve(out, DECIMAL_MAX))
        return false;
    buffer_end(out, decimal_write_signed(out->bytes + out->length, value));
    return true;
}

static bool write_change(struct buffer *out, const struct source *source)
{
    return answer_write_text(out, source->request->change.value ? "{\"changed\":true"
                                                                : "{\"changed\":false") &&
           answer_write_text(out, source->single ? ",\"count\":" : "}");
}

static bool write_done(struct buffer *out, const struct source *source)
{
    return answer_write_text(out, source->request->comment.value ? "{\"changed\":true}"
                                                                 : "{\"changed\":false}");
}

static bool write_comments(struct buffer *out, const struct source *source)
{
    return answer_write_comments(out, source->request, source->scratch, source->names);
}

static bool write_value(struct buffer *out, const struct source *source)
{
    return answer_write_text(out, "{\"value\":") &&
           write_number(out, source->request->change.value) && answer_write_text(out, "}");
}

static bool write_removal(struct buffer *out, const struct source *source)
{
    return answer_write_text(out, "{\"removed\":") &&
           write_number(out, source->request->remove.removed) &&
           answer_write_text(out,
                             source->request->remove.more ? ",\"more\":true}" : ",\"more\":false}");
}

static write_fn *const writers[SHAPE_TOTAL] = {
    [SHAPE_CHANGE] = write_change,      [SHAPE_VALUE] = write_value,
    [SHAPE_REMOVAL] = write_removal,    [SHAPE_FLAGS] = write_set,
    [SHAPE_COUNTS] = write_counts,      [SHAPE_FEED] = write_items,
    [SHAPE_ITEMS] = write_list,         [SHAPE_USERS] = write_list,
    [SHAPE_FRIENDS] = write_friends,    [SHAPE_CHANGES] = write_changes,
    [SHAPE_RANKED] = write_top,         [SHAPE_NAMES] = write_names,
    [SHAPE_DONE] = write_done,          [SHAPE_POSTED] = write_comments,
    [SHAPE_COMMENTS] = write_comments,  [SHAPE_CARDS] = write_comments,
    [SHAPE_CARD_LIST] = write_comments, [SHAPE_INBOX] = write_comments,
    [SHAPE_VERSIONS] = write_comments,  [SHAPE_SUBJECT] = write_comments,
};

bool answer_write(struct buffer *out, const struct hot_request *request,
                  const struct hot_scratch *scratch, const struct names *names,
                  const struct text *items, bool single)
{
    struct source source = {
        .request = request, .scratch = scratch, .names = names, .items = items, .single = single};
    return writers[op_shape(request)](out, &source);
}

bool answer_write_count(struct buffer *out, const struct hot_request *request,
                        const struct hot_scratch *scratch, uint8_t name)
{
    int64_t value = 0;
    if (request->status != STATUS_OK)
        return answer_write_text(out, "null}");
    const struct hot_counter *counter = scratch->counters + request->read.answers[0].first;
    for (uint32_t i = 0; i < request->read.answers[0].count; i++) {
        if (counter[i].name == name)
            value = counter[i].value;
    }
    return write_number(out, value) && answer_write_text(out, "}");
}

bool answer_write_text(struct buffer *out, const char *text)
{
    return buffer_append(out, text, strlen(text));
}

bool answer_close_list(struct buffer *out, const char *end)
{
    ASSERT(out->length > 0); /* at least the beginning of the list is there */
    out->length -= out->bytes[out->length - 1] == ',';
    return answer_write_text(out, end);
}

bool answer_write_string(struct buffer *out, const char *text)
{
    size_t length = strlen(text);
    if (!buffer_reserve(out, 2 * length + 2))
        return false;
    char *at = out->bytes + out->length;
    *at++ = '"';
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            *at++ = '\\';
        *at++ = text[i] >= 0x20 && text[i] < 0x7f ? text[i] : '?';
    }
    *at++ = '"';
    buffer_end(out, at);
    return true;
}

bool answer_write_error(struct buffer *out, enum status status, const char *sentence)
{
    return answer_write_text(out, "{\"error\":{\"code\":") &&
           answer_write_string(out, status_name(status)) &&
           answer_write_text(out, ",\"message\":") && answer_write_string(out, sentence) &&
           answer_write_text(out, "}}");
}
