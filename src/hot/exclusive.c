/*
 * An operator writes the text, so there is a sentence of its own for every mistake.
 *
 * A kind that was created stays for ever, so a text that is refused must not create any. Therefore the
 * same code first reads the text into a copy of the names.
 */
#include "hot/exclusive.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/name_lists.h"
#include "base/text.h"

static const char *skip_spaces(const char *text)
{
    return text + strspn(text, " \t");
}

/* Reads one kind at *text, and advances *text past it and the spaces after it. */
static enum status read_kind(struct exclusive *exclusive, const char **text, struct names *names,
                             uint8_t *kind, char *sentence, size_t size)
{
    const char *start = skip_spaces(*text);
    size_t length = strcspn(start, ",; \t");
    uint16_t index;
    enum status status = names_intern(names, NAME_KIND, start, length, &index);
    if (status == STATUS_BAD_ARGUMENT) {
        char shown[TEXT_SHOWN];
        snprintf(sentence, size,
                 "'%s' is not the name of a kind: a letter, then letters, "
                 "digits, '_' and '-', at most %d in all",
                 text_show((struct text){start, length}, shown), LIMIT_NAME_LENGTH);
        return status;
    }
    if (status != STATUS_OK) {
        names_refusal(names, status, NAME_KIND, start, length, sentence, size);
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

/* Reads one group at *text, up to ';' or the end. */
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
        char shown[TEXT_SHOWN];
        snprintf(sentence, size, "expected ',' or ';' before '%s'",
                 text_show((struct text){*text, strlen(*text)}, shown));
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

/*
 * Copies the kinds and counters. Names that are created in the copy are not recorded. NULL: no memory.
 */
static struct names *copy_names(const struct names *names, const struct name_lists *lists)
{
    struct names *copy = names_new();
    if (copy != NULL && lists != NULL) {
        char sentence[64];
        enum status status = names_set_lists(copy, lists, sentence, sizeof sentence);
        ASSERT(
            status ==
            STATUS_OK); /* it has only the names that every table has, and no list can exclude those */
    }
    for (size_t i = 0; copy != NULL && names != NULL && i < names_count(names); i++) {
        const struct name *name = names_get(names, (uint8_t)i);
        enum status status = names_restore(copy, name->role, (uint16_t)i, name->text, name->length);
        ASSERT(status == STATUS_OK);
    }
    return copy;
}

/* Checks the text against a copy of these names. NULL: against the names that every table has. */
static enum status rehearse(const char *text, const struct names *names,
                            const struct name_lists *lists, char *sentence, size_t size)
{
    struct exclusive exclusive;
    struct names *copy = copy_names(names, lists);
    if (copy == NULL) {
        snprintf(sentence, size, "%s", "there is no memory to read it");
        return STATUS_NO_MEMORY;
    }
    enum status status = read_groups(&exclusive, text, copy, sentence, size);
    names_free(copy);
    return status;
}

enum status exclusive_check(const char *text, const struct name_lists *lists, char *sentence,
                            size_t size)
{
    return rehearse(text, NULL, lists, sentence, size);
}

enum status exclusive_parse(struct exclusive *exclusive, const char *text, struct names *names,
                            char *sentence, size_t size)
{
    memset(exclusive, 0, sizeof(*exclusive));
    enum status status = rehearse(text, names, names_lists(names), sentence, size);
    if (status == STATUS_OK)
        status = read_groups(exclusive, text, names, sentence, size);
    for (size_t i = 0; status == STATUS_OK && i < names_count(names); i++)
        names_set_group(names, (uint8_t)i, exclusive->group_of[i]);
    return status;
}
