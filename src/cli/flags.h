/*
 * Flags of a subcommand that also takes the server's options, and words that are no flags, such as a
 * directory and a file: those are sorted out here, and what is left is for options_read.
 */
#ifndef LAUD_CLI_FLAGS_H
#define LAUD_CLI_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/options.h"

struct flag_row {
    const char *name;  /* without dashes */
    const char *value; /* what stands for it in --help; NULL: it takes none */
    const char *help;
    const char **text; /* gets the value, which stays argv's */
    bool *given;       /* becomes true; may be NULL */
};

/*
 * Takes what is in the table, and up to `most` words that are no flags, out of argv[0 … *argc); words
 * that are not there stay as they are. False: `problem` has a sentence. "--help" is left.
 */
bool flags_take(const struct flag_row *rows, size_t count, int *argc, char **argv,
                const char **words, size_t most, char *problem, size_t size);

/*
 * Of the two words of `laud export DIR FILE` and the like: the first is the data directory, unless --data
 * names it. Without either it is that of the environment or the file of options; the default is for
 * servers alone. *file is NULL if there is none, or "-". With --data a first word that is a directory
 * must be the same one. False: `problem` has a sentence.
 */
bool flags_take_directory(struct options *options, const char *const words[2], const char **file,
                          char *problem, size_t size);

/* Takes every value of a flag that may be given up to `most` times. The same words apply. */
bool flags_take_each(const struct flag_row *row, int *argc, char **argv, const char **texts,
                     size_t most, size_t *count, char *problem, size_t size);

void flags_help(const struct flag_row *rows, size_t count, FILE *out);

#endif
