/*
 * The text is an operator's, so every way it can be wrong gets its own sentence.
 *
 * A kind is made for ever, so a text that is refused must not have made any: it is read into a copy
 * of the names first, by the same code.
 */
#include "hot/exclusive.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"

static const char *skip_spaces(const char *text)
{
    return text + strspn(text, " \t");
}

/* One kind at *text; *text is left after it and the spaces that follow. */
static enum status read_kind(struct exclusive *exclusive, const char **text, struct names *names,
                             uint8_t *kind, char *sentence, size_t size)
{
    const char *start = skip_spaces(*text);
    size_t length = strcspn(start, ",; \t");
    uint16_t index;
    enum status status = names_intern(names, NAME_KIND, start, length, &index);
    if (status == STATUS_BAD_ARGUMENT) {
        snprintf(sentence, size,
                 "'%.*s' is not the name of a kind: a letter, then letters, "
                 "digits, '_' and '-', at most %d in all",
                 length < 40 ? (int)length : 40, start, LIMIT_NAME_LENGTH);
        return status;
    }
    if (status != STATUS_OK) {
        snprintf(sentence, size, "'%.*s': %s", (int)length, start, status_sentence(status));
        return status;
    }
    if (exclusive->group_of[index] != 0) {
        snprintf(sentence, size, "'%.*s' is named twice; a kind can be in one group only",
                 (int)length, start);
        return STATUS_BAD_ARGUMENT;
    }
    *kind = (uint8_t)index;
    *text = skip_spaces(start + length);
    return STATUS_OK;
}

/* One group at *text, up to ';' or the end. */
static enum status read_group(struct exclusive *exclusive, const char **text, struct names *names,
                              char *sentence, size_t size)
{
    if (exclusive->group_count == LIMIT_EXCLUSIVE_GROUPS) {
        snprintf(sentence, size, "there can be at most %d groups", LIMIT_EXCLUSIVE_GROUPS);
        return STATUS_BAD_ARGUMENT;
    }
    struct exclusive_group *group = &exclusive->groups[exclusive->group_count++];
    for (;;) {
        uint8_t kind;
        enum status status = read_kind(exclusive, text, names, &kind, sentence, size);
        if (status != STATUS_OK)
            return status;
        if (group->count == LIMIT_EXCLUSIVE) {
            snprintf(sentence, size, "a group can have at most %d kinds", LIMIT_EXCLUSIVE);
            return STATUS_BAD_ARGUMENT;
        }
        group->kinds[group->count++] = kind;
        exclusive->group_of[kind] = exclusive->group_count;
        if (**text != ',')
            break;
        ++*text;
    }
    if (**text != ';' && **text != '\0') {
        snprintf(sentence, size, "expected ',' or ';' before '%.20s'", *text);
        return STATUS_BAD_ARGUMENT;
    }
    if (group->count < 2) {
        snprintf(sentence, size, "a group needs at least two kinds, as in 'like,dislike'");
        return STATUS_BAD_ARGUMENT;
    }
    return STATUS_OK;
}

static enum status read_groups(struct exclusive *exclusive, const char *text, struct names *names,
                               char *sentence, size_t size)
{
    memset(exclusive, 0, sizeof(*exclusive));
    text = skip_spaces(text);
    while (*text != '\0') {
        enum status status = read_group(exclusive, &text, names, sentence, size);
        if (status != STATUS_OK)
            return status;
        if (*text == ';')
            text = skip_spaces(text + 1);
    }
    return STATUS_OK;
}

/* NULL: no memory. Kinds and counters only, and what is made in it is not recorded. */
static struct names *copy_names(const struct names *names)
{
    struct names *copy = names_new();
    for (size_t i = 0; copy != NULL && names != NULL && i < names_count(names); i++) {
        const struct name *name = names_get(names, (uint8_t)i);
        enum status status = names_restore(copy, name->role, (uint16_t)i, name->text, name->length);
        ASSERT(status == STATUS_OK);
    }
    return copy;
}

/* Is it good beside these names? NULL: beside those that are always there. */
static enum status rehearse(const char *text, const struct names *names, char *sentence,
                            size_t size)
{
    struct exclusive exclusive;
    struct names *copy = copy_names(names);
    if (copy == NULL) {
        snprintf(sentence, size, "%s", "there is no memory to read it");
        return STATUS_NO_MEMORY;
    }
    enum status status = read_groups(&exclusive, text, copy, sentence, size);
    names_free(copy);
    return status;
}

enum status exclusive_check(const char *text, char *sentence, size_t size)
{
    return rehearse(text, NULL, sentence, size);
}

enum status exclusive_parse(struct exclusive *exclusive, const char *text, struct names *names,
                            char *sentence, size_t size)
{
    memset(exclusive, 0, sizeof(*exclusive));
    enum status status = rehearse(text, names, sentence, size);
    return status == STATUS_OK ? read_groups(exclusive, text, names, sentence, size) : status;
}
