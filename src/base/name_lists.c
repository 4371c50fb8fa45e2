/*
 * A list is searched as text. It is short, and it is asked only for names that no write has used
 * yet; for all others the table of names remembers the answer (names.c).
 */
#include "base/name_lists.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

#define MORE_ROOM 24 /* bytes of " and N more" */

static struct text list_of(const struct name_lists *lists, enum name_role role)
{
    const char *text = role <= NAME_COUNTER ? lists->texts[role] : NULL;
    return text_trim((struct text){text != NULL ? text : "", text != NULL ? strlen(text) : 0});
}

/* A position in a list. `bytes` is NULL when there are no more names. */
static struct text list_begin(const struct name_lists *lists, enum name_role role)
{
    struct text list = list_of(lists, role);
    return list.length > 0 ? list : (struct text){NULL, 0};
}

/* The next name; it is empty if there is nothing between two commas. */
static struct text list_next(struct text *left)
{
    ASSERT(left->bytes != NULL); /* there is one more, see list_begin */
    const char *comma = memchr(left->bytes, ',', left->length);
    size_t length = comma != NULL ? (size_t)(comma - left->bytes) : left->length;
    struct text name = text_trim((struct text){left->bytes, length});
    *left = comma != NULL ? (struct text){comma + 1, left->length - length - 1}
                          : (struct text){NULL, 0};
    return name;
}

static bool is_name(struct text name, const char *text, size_t length)
{
    return name.length == length && memcmp(name.bytes, text, length) == 0;
}

static bool list_has(const struct name_lists *lists, enum name_role role, const char *text,
                     size_t length)
{
    for (struct text left = list_begin(lists, role); left.bytes != NULL;)
        if (is_name(list_next(&left), text, length))
            return true;
    return false;
}

struct text name_lists_example(const struct name_lists *lists, enum name_role role,
                               const char *usual)
{
    struct text left = list_begin(lists, role);
    if (left.bytes == NULL || list_has(lists, role, usual, strlen(usual)))
        return text_from(usual);
    return list_next(&left);
}

const char *name_lists_option(enum name_role role)
{
    static const char *const options[] = {
        [NAME_TYPE] = "--types", [NAME_KIND] = "--kinds", [NAME_COUNTER] = "--counters"};
    ASSERT(role >= NAME_TYPE && role <= NAME_COUNTER);
    return options[role];
}

/* What is wrong with one name of a list; NULL: nothing. */
static const char *find_fault(const struct name_lists *lists, enum name_role role, struct text name)
{
    if (!name_is_valid(name.bytes, name.length))
        return "is not a name: a letter a-z, then letters, digits, '_' and '-', at most 32 in all";
    if (role != NAME_TYPE && is_name(name, "comment", 7))
        return "is reserved and can be neither a kind nor a counter";
    if (role == NAME_COUNTER && is_name(name, "like", 4))
        return "is always a kind and cannot be a counter";
    if (role == NAME_COUNTER && list_has(lists, NAME_KIND, name.bytes, name.length))
        return "is in --kinds too, and a name is either a kind or a counter";
    return NULL;
}

enum status name_lists_check(const struct name_lists *lists, char *sentence, size_t size)
{
    for (enum name_role role = NAME_TYPE; role <= NAME_COUNTER; role++) {
        for (struct text left = list_begin(lists, role); left.bytes != NULL;) {
            char shown[TEXT_SHOWN];
            struct text name = list_next(&left);
            const char *fault = find_fault(lists, role, name);
            if (fault == NULL)
                continue;
            snprintf(sentence, size, "%s: '%s' %s", name_lists_option(role), text_show(name, shown),
                     fault);
            return STATUS_BAD_ARGUMENT;
        }
    }
    return STATUS_OK;
}

enum status name_lists_allow(const struct name_lists *lists, enum name_role role, const char *text,
                             size_t length)
{
    if (role == NAME_KEPT || (role == NAME_KIND && length == 4 && memcmp(text, "like", 4) == 0))
        return STATUS_OK;
    if (role == NAME_KIND && list_has(lists, NAME_COUNTER, text, length))
        return STATUS_NOT_A_KIND;
    if (role == NAME_COUNTER && list_has(lists, NAME_KIND, text, length))
        return STATUS_NOT_A_COUNTER;
    return list_of(lists, role).length == 0 || list_has(lists, role, text, length)
               ? STATUS_OK
               : STATUS_NAME_NOT_LISTED;
}

void name_lists_show(const struct name_lists *lists, enum name_role role, char *out, size_t size)
{
    size_t used = 0, more = 0;
    ASSERT(size > MORE_ROOM);
    out[0] = '\0';
    if (role == NAME_KIND && !list_has(lists, NAME_KIND, "like", 4))
        used = (size_t)snprintf(out, size, "like");
    for (struct text left = list_begin(lists, role); left.bytes != NULL;) {
        struct text name = list_next(&left);
        ASSERT(used < size);
        more += more > 0 || used + name.length + 2 >= size - MORE_ROOM;
        if (more == 0)
            used += (size_t)snprintf(out + used, size - used, "%s%.*s", used > 0 ? ", " : "",
                                     (int)name.length, name.bytes);
    }
    if (more > 0)
        snprintf(out + used, size - used, " and %zu more", more);
}
