/*
 * The options of the server, from flags, environment and one INI file, in that order of precedence.
 * All of them are defined in the one table options.def. Each value is checked when it is read; a
 * bad value is refused with a sentence that says where it was given and what was expected.
 */
#ifndef LAUD_BASE_OPTIONS_H
#define LAUD_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OPTION_TEXT_MAX 512
#define OPTION_NAME_MAX 64

struct address {
    char host[256];
    uint16_t port;
};

/* A rate per second, and how many are allowed at once after a pause. per_s 0: no limit. */
struct rate {
    uint64_t per_s;
    uint64_t burst;
};

/* The C type of each TYPE in the table. */
#define OPTION_FIELD_TEXT(field)    char field[OPTION_TEXT_MAX];
#define OPTION_FIELD_ADDRESS(field) struct address field;
#define OPTION_FIELD_COUNT(field)   uint64_t field;
#define OPTION_FIELD_BYTES(field)   uint64_t field;
#define OPTION_FIELD_MS(field)      uint64_t field;
#define OPTION_FIELD_WORD(field)    uint64_t field;
#define OPTION_FIELD_SWITCH(field)  bool field;
#define OPTION_FIELD_RATE(field)    struct rate field;

/* The indices of the words of --store; those of --durability are in enum durability. */
enum { OPTION_STORE_ROCKSDB, OPTION_STORE_NONE };

enum {
#define OPTION(field, name, type, initial, min, max, value, group, help) OPTIONS_INDEX_##field,
#include "base/options.def"
#undef OPTION
    OPTIONS_TOTAL
};

/* Where a value was given, in rising order of precedence. */
enum option_origin {
    OPTION_FROM_DEFAULT,
    OPTION_FROM_FILE,
    OPTION_FROM_ENVIRONMENT,
    OPTION_FROM_FLAG,
    OPTION_FROM_CHOICE, /* the server chose it at its start */
};

struct options {
#define OPTION(field, name, type, initial, min, max, value, group, help) OPTION_FIELD_##type(field)
#include "base/options.def"
#undef OPTION
    char config[OPTION_TEXT_MAX];  /* the file that was read; "" if there was none */
    uint8_t origin[OPTIONS_TOTAL]; /* enum option_origin of each option of the table */
};

/*
 * Reads argv[0 … argc) (without program and subcommand), the environment, and the file that
 * --config or LAUD_CONFIG names. False: `problem` has one sentence. *help is true if there was a
 * flag --help.
 */
bool options_read(struct options *options, int argc, char **argv, bool *help, char *problem,
                  size_t size);

/*
 * Sets one option from text, like a flag. False: the value is not valid, and `problem` has one
 * sentence.
 */
bool options_set(struct options *options, const char *name, const char *text, char *problem,
                 size_t size);

void options_help(FILE *out); /* prints every option with its default */
void options_print(const struct options *options, FILE *out); /* prints the effective ones as INI */

/* Converts "max-memory" to "LAUD_MAX_MEMORY". */
void options_environment_name(const char *name, char out[OPTION_NAME_MAX]);

/* The name and the effective value of option number `index`; false if there are not so many. */
bool options_get(const struct options *options, size_t index, const char **name,
                 char value[OPTION_TEXT_MAX]);

#endif
