/* The sentences of refusals: what was expected, and which word was there instead. */
#include "op/decode.h"

#include <stdio.h>
#include <string.h>

/* A word in a form that fits into an error of one line: printable, and not too long. */
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

enum status op_refuse(struct decoding *d, enum status status, const char *expected,
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

enum status op_refuse_saying(struct decoding *d, enum status status, const char *sentence,
                             struct text word)
{
    const char *must = strstr(sentence, " must ");
    d->scratch->wrong = word;
    d->scratch->subject = must != NULL ? (size_t)(must - sentence) : 0;
    snprintf(d->scratch->sentence, sizeof d->scratch->sentence, "%s", sentence);
    return status;
}

enum status op_refuse_arity(const struct op_spec *spec, struct op_scratch *scratch)
{
    snprintf(scratch->sentence, sizeof scratch->sentence,
             "wrong number of arguments, expected %s%s%s", spec->name,
             spec->arguments[0] != '\0' ? " " : "", spec->arguments);
    return STATUS_BAD_ARITY;
}

enum status op_refuse_name(struct decoding *d, enum status status, enum name_role role,
                           struct text word)
{
    if (status == STATUS_BAD_ARGUMENT)
        return op_refuse(
            d, status, "a name must be a letter a-z, then up to 31 of a-z, 0-9, '_' and '-'", word);
    names_refusal(d->names, status, role, word.bytes, word.length, d->scratch->sentence,
                  sizeof d->scratch->sentence);
    return status;
}

enum status op_refuse_many(struct decoding *d, uint32_t count)
{
    snprintf(d->scratch->sentence, sizeof d->scratch->sentence,
             "at most %u items are allowed in one %s, got %u", d->spec->items_max, d->spec->name,
             count);
    return STATUS_TOO_MANY_ITEMS;
}
