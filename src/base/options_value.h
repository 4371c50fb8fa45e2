/*
 * The table of options as data, and the values of each type as text: how a value is read, checked
 * and written. Private to options*.c. The functions have no state, and any thread may call them.
 */
#ifndef LAUD_BASE_OPTIONS_VALUE_H
#define LAUD_BASE_OPTIONS_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/options.h"

enum option_type {
    OPTION_TEXT,
    OPTION_ADDRESS,
    OPTION_COUNT,
    OPTION_BYTES,
    OPTION_MS,
    OPTION_WORD,
    OPTION_SWITCH,
    OPTION_RATE,
};

struct option {
    const char *name;
    enum option_type type;
    const char *initial;
    uint64_t min;
    uint64_t max;
    const char *value; /* name of the value in --help; for a WORD, its words */
    const char *group;
    const char *help;
    size_t offset; /* of the field in struct options */
};

extern const struct option option_table[OPTIONS_TOTAL];

/*
 * Reads `text` into the field. False: the field is unchanged, and `reason` says what was expected,
 * for example "'9000' is out of range: give a number from 0 to 64".
 */
bool option_parse(const struct option *option, struct options *options, const char *text,
                  char *reason, size_t size);

/* Writes the value of the field in the form that option_parse reads. */
void option_format(const struct option *option, const struct options *options,
                   char out[OPTION_TEXT_MAX]);

#endif
