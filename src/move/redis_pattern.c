/*
 * A line has words that are separated by spaces; '\ ' is not a separator. The words say where user, id and
 * type come from. What they do not say is filled in only if there is exactly one possibility. Otherwise
 * the pattern is refused, so that members are never imported as something else.
 */
#include "move/redis_pattern.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"

struct parsing {
    struct redis_pattern *out;
    struct text words[8];
    size_t count;
    char *problem;
    size_t size;
};

static const char *const layout_names[REDIS_LAYOUTS] = {"set", "zset", "hash", "string"};

static bool refuse(struct parsing *p, const char *sentence)
{
    snprintf(p->problem, p->size, "pattern '%s': %s", p->out->text, sentence);
    return false;
}

/* A word ends at a space without a backslash before it. */
static bool split(struct parsing *p, const char *text)
{
    const char *at = text + strspn(text, " ");
    while (*at != '\0') {
        if (p->count == sizeof p->words / sizeof p->words[0])
            return refuse(p, "it has too many words");
        const char *start = at;
        while (*at != '\0' && *at != ' ')
            at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
        p->words[p->count++] = (struct text){start, (size_t)(at - start)};
        at += strspn(at, " ");
    }
    return p->count > 0 || refuse(p, "it is empty");
}

static bool template_read(struct parsing *p, struct text word, struct redis_template *out)
{
    char why[256];
    return redis_template_parse(word, out, why, sizeof why) || refuse(p, why);
}

static bool layout_read(struct parsing *p)
{
    struct text word = p->words[0];
    for (int i = 0; i < REDIS_LAYOUTS; i++) {
        size_t length = strlen(layout_names[i]);
        if (word.length > length && word.bytes[length] == ':' &&
            memcmp(word.bytes, layout_names[i], length) == 0) {
            p->out->layout = (enum redis_layout)i;
            struct text key = {word.bytes + length + 1, word.length - length - 1};
            return template_read(p, key, &p->out->key);
        }
    }
    return refuse(p, "it must begin with set:, zset:, hash: or string:, and the key");
}

static bool name_read(struct parsing *p, struct text word, char out[LIMIT_NAME_LENGTH + 1])
{
    if (!name_is_valid(word.bytes, word.length))
        return refuse(p,
                      "a kind, counter or type must be a-z, then up to 31 of a-z, 0-9, '_', '-'");
    memcpy(out, word.bytes, word.length);
    out[word.length] = '\0';
    return true;
}

/* FIELD or FIELD=NAME */
static bool field_read(struct parsing *p, struct text word)
{
    struct redis_pattern *out = p->out;
    if (out->field_count == REDIS_FIELDS)
        return refuse(p, "it has more than 32 fields");
    struct redis_field *field = &out->fields[out->field_count++];
    const char *equals = memchr(word.bytes, '=', word.length);
    struct text from = {word.bytes, equals ? (size_t)(equals - word.bytes) : word.length};
    struct text to = equals ? (struct text){equals + 1, word.length - from.length - 1} : word;
    if (from.length == 0 || from.length >= sizeof field->from)
        return refuse(p, "a field must have 1 to 63 bytes");
    memcpy(field->from, from.bytes, from.length);
    field->from[from.length] = '\0';
    if (!name_read(p, to, field->to))
        return false;
    for (struct redis_field *other = out->fields; other < field; other++)
        if (strcmp(other->from, field->from) == 0 || strcmp(other->to, field->to) == 0)
            return refuse(p, "it has the same field or counter twice");
    return true;
}

static bool fields_read(struct parsing *p, struct text word)
{
    while (word.length > 0) {
        const char *comma = memchr(word.bytes, ',', word.length);
        struct text one = {word.bytes, comma ? (size_t)(comma - word.bytes) : word.length};
        if (!field_read(p, one))
            return false;
        size_t taken = one.length + (comma != NULL);
        word = (struct text){word.bytes + taken, word.length - taken};
    }
    return true;
}

/* Reads what follows '->': a name and a type. A hash of counters has no name: its fields are names. */
static bool target_read(struct parsing *p, size_t at)
{
    struct redis_pattern *out = p->out;
    bool named = out->layout != REDIS_HASH || !redis_template_has(&out->key, REDIS_ID);
    size_t left = p->count - at;
    if (left == 0 || left > (named ? 2U : 1U))
        return refuse(p, named ? "after '->' must come a kind or counter, and a type of items if "
                                 "neither key nor members give it"
                               : "after '->' must come only a type of items: the fields of the "
                                 "hash are the names of counters");
    if (named && !name_read(p, p->words[at++], out->name))
        return false;
    return at == p->count || name_read(p, p->words[at], out->type);
}

static bool rest_read(struct parsing *p)
{
    for (size_t i = 1; i < p->count; i += 2) {
        struct text word = p->words[i];
        if (word.length == 2 && memcmp(word.bytes, "->", 2) == 0)
            return target_read(p, i + 1);
        bool member = word.length == 6 && memcmp(word.bytes, "member", 6) == 0;
        bool fields = word.length == 6 && memcmp(word.bytes, "fields", 6) == 0;
        if ((!member && !fields) || i + 1 == p->count ||
            (member ? p->out->member.count > 0 : p->out->field_count > 0))
            return refuse(p, "after the key can come 'member' and the form of members, 'fields' "
                             "and a list, and '->' with names, each once");
        if (member ? !template_read(p, p->words[i + 1], &p->out->member)
                   : !fields_read(p, p->words[i + 1]))
            return false;
    }
    return true;
}

/* If the members are not described, they are what the key does not have. */
static bool member_fill(struct parsing *p)
{
    struct redis_pattern *out = p->out;
    const char *form = "{id}";
    if (redis_pattern_reacts(out) && redis_template_has(&out->key, REDIS_ID))
        form = "{user}";
    else if (redis_pattern_reacts(out) && !redis_template_has(&out->key, REDIS_USER))
        return refuse(p, "it does not say whose members they are: put {id} or {user} into the key, "
                         "or 'member {user}:{id}' after it");
    else if (out->type[0] == '\0' && !redis_template_has(&out->key, REDIS_TYPE))
        form = "{type}:{id}";
    return template_read(p, text_from(form), &out->member);
}

/* Checks that user, id and type each come from exactly one of key, member and end of the line. */
static bool sources_fit(struct parsing *p)
{
    const struct redis_pattern *out = p->out;
    bool reacts = redis_pattern_reacts(out);
    unsigned both = out->key.holes & out->member.holes;
    unsigned any = out->key.holes | out->member.holes;
    if (both != 0)
        return refuse(p, "key and members both have the same placeholder");
    if ((any >> REDIS_ID & 1) == 0)
        return refuse(p, "it does not say which item: {id} is missing in key and member");
    if ((any >> REDIS_USER & 1) != (reacts ? 1U : 0U))
        return refuse(p, reacts ? "it does not say who: {user} is missing in key and member"
                                : "counters belong to items: {user} has no meaning here");
    if ((any >> REDIS_TYPE & 1) != 0 && out->type[0] != '\0')
        return refuse(p, "it gives the type of items twice: by {type} and after '->'");
    if ((any >> REDIS_TYPE & 1) == 0 && out->type[0] == '\0')
        return refuse(p, "it does not say the type of items: put {type} into key or member, or the "
                         "type at the end, as in '-> like video'");
    return true;
}

static bool pattern_fits(struct parsing *p)
{
    struct redis_pattern *out = p->out;
    bool counters = out->layout == REDIS_HASH && redis_template_has(&out->key, REDIS_ID);
    bool members = !counters && out->layout != REDIS_STRING;
    if (out->member.count > 0 && !members)
        return refuse(p, "'member' has no meaning here: only sets, ZSETs and hashes whose fields "
                         "are items have members");
    if (out->field_count > 0 && !counters)
        return refuse(p, "'fields' is for a hash with {id} in its key, whose fields are counters");
    if (out->name[0] == '\0' && !counters)
        return refuse(p, "it does not name a kind or counter: add '->' and one, as in "
                         "'-> like video'");
    if (members && out->member.count == 0 && !member_fill(p))
        return false;
    return sources_fit(p);
}

bool redis_pattern_parse(const char *text, struct redis_pattern *out, char *problem, size_t size)
{
    memset(out, 0, sizeof *out);
    struct parsing parsing = {.out = out, .problem = problem, .size = size};
    if (strlen(text) >= sizeof out->text) {
        snprintf(problem, size, "a pattern is at most 1023 bytes long");
        return false;
    }
    memcpy(out->text, text, strlen(text) + 1);
    for (const char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            snprintf(problem, size, "a pattern is one line, without control characters");
            return false;
        }
    return split(&parsing, text) && layout_read(&parsing) && rest_read(&parsing) &&
           pattern_fits(&parsing);
}

static bool keys_equal(const struct redis_template *a, const struct redis_template *b)
{
    bool equal = a->count == b->count && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
    for (size_t i = 0; equal && i < a->count; i++)
        equal =
            a->pieces[i].hole == b->pieces[i].hole && a->pieces[i].length == b->pieces[i].length;
    return equal;
}

bool redis_patterns_fit(const struct redis_pattern *patterns, size_t count, char *problem,
                        size_t size)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (keys_equal(&patterns[i].key, &patterns[j].key)) {
                snprintf(problem, size, "two patterns are for the same keys: '%s' and '%s'",
                         patterns[j].text, patterns[i].text);
                return false;
            }
    return true;
}

struct text redis_pattern_counter(const struct redis_pattern *pattern, struct text field)
{
    if (pattern->field_count == 0)
        return field;
    for (size_t i = 0; i < pattern->field_count; i++) {
        const struct redis_field *one = &pattern->fields[i];
        if (strlen(one->from) == field.length && memcmp(one->from, field.bytes, field.length) == 0)
            return (struct text){one->to, strlen(one->to)};
    }
    return (struct text){NULL, 0};
}
