/*
 * Parses the arguments of a subcommand that has flags of its own, takes words such as a directory and
 * a file, and also accepts the options of the server. Flags and words are removed here; the rest is
 * for options_read.
 */
#ifndef LAUD_CLI_FLAGS_H
#define LAUD_CLI_FLAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/options.h"

struct flag_row {
    const char *name;  /* without dashes */
    const char *value; /* the placeholder for its value in --help; NULL: it takes no value */
    const char *help;
    const char **text; /* is set to the value, which points into argv */
    bool *given;       /* is set to true; may be NULL */
};

/*
 * Removes from argv[0 … *argc) the flags that are in the table, and up to `most` words that are no
 * flags. Entries of `words` for which there is no word are not changed. False: `problem` is a
 * sentence. "--help" is not removed.
 */
bool flags_take(const struct flag_row *rows, size_t count, int *argc, char **argv,
                const char **words, size_t most, char *problem, size_t size);

/*
 * Interprets the two words of `laud export DIR FILE` and similar commands. The first word is the data
 * directory, unless --data names it. Without both, it comes from the environment or from the file of
 * options; the default is only for servers. *file is NULL if there is no file or if it is "-". If
 * --data is given and the first word is a directory, the two must be the same. False: `problem` is a
 * sentence.
 */
bool flags_take_directory(struct options *options, const char *const words[2], const char **file,
                          char *problem, size_t size);

/* Removes a flag that may be given up to `most` times, and sets `texts` to its values. False: as above. */
bool flags_take_each(const struct flag_row *row, int *argc, char **argv, const char **texts,
                     size_t most, size_t *count, char *problem, size_t size);

void flags_help(const struct flag_row *rows, size_t count, FILE *out);

#endif
