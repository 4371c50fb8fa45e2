#include "cli/flags.h"

#include <string.h>
#include <sys/stat.h>

static const struct flag_row *row_find(const struct flag_row *rows, size_t count, const char *name,
                                       size_t length)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0)
            return &rows[i];
    return NULL;
}

/* Returns how many words the flag took; 0: `problem` is a sentence. */
static int row_take(const struct flag_row *row, int argc, char **argv, char *problem, size_t size)
{
    const char *equals = strchr(argv[0], '=');
    bool needs = row->value != NULL;
    if (!needs && equals != NULL) {
        snprintf(problem, size, "--%s takes no value", row->name);
        return 0;
    }
    if (needs && equals == NULL && argc < 2) {
        snprintf(problem, size, "--%s needs a value: %s", row->name, row->value);
        return 0;
    }
    if (row->given != NULL)
        *row->given = true;
    if (needs)
        *row->text = equals != NULL ? equals + 1 : argv[1];
    return needs && equals == NULL ? 2 : 1;
}

/* The number of words of an option of the server. Most have their value in the next word. */
static int option_words(int argc, char **argv)
{
    bool alone = strchr(argv[0], '=') != NULL || strcmp(argv[0], "--help") == 0;
    return alone || argc < 2 ? 1 : 2;
}

static bool word_take(const char *word, const char **words, size_t most, size_t *taken,
                      char *problem, size_t size)
{
    if (*taken < most && (word[0] != '-' || word[1] == '\0')) {
        words[(*taken)++] = word;
        return true;
    }
    snprintf(problem, size, "unexpected argument '%.64s'", word);
    return false;
}

bool flags_take(const struct flag_row *rows, size_t count, int *argc, char **argv,
                const char **words, size_t most, char *problem, size_t size)
{
    int kept = 0;
    size_t word_count = 0;
    for (int at = 0, taken; at < *argc; at += taken) {
        char *word = argv[at];
        taken = 1;
        if (strcmp(word, "-h") == 0) {
            argv[kept++] = word;
            continue;
        }
        if (strncmp(word, "--", 2) != 0) {
            if (!word_take(word, words, most, &word_count, problem, size))
                return false;
            continue;
        }
        const struct flag_row *row = row_find(rows, count, word + 2, strcspn(word + 2, "="));
        if (row != NULL) {
            taken = row_take(row, *argc - at, argv + at, problem, size);
            if (taken == 0)
                return false;
            continue;
        }
        taken = option_words(*argc - at, argv + at);
        for (int i = 0; i < taken; i++)
            argv[kept++] = argv[at + i];
    }
    *argc = kept;
    return true;
}

static bool is_directory(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

static bool is_same(const char *path, const char *other)
{
    struct stat one, two;
    return strcmp(path, other) == 0 || (stat(path, &one) == 0 && stat(other, &two) == 0 &&
                                        one.st_dev == two.st_dev && one.st_ino == two.st_ino);
}

bool flags_take_directory(struct options *options, const char *const words[2], const char **file,
                          char *problem, size_t size)
{
    bool named = options->origin[OPTIONS_INDEX_data] == OPTION_FROM_FLAG;
    bool first = words[0] != NULL && strcmp(words[0], "-") != 0 &&
                 (!named || is_same(words[0], options->data) || is_directory(words[0]));
    if (first && named && !is_same(words[0], options->data)) {
        snprintf(problem, size,
                 "unexpected argument '%.64s': it is a directory, but --data names another one",
                 words[0]);
        return false;
    }
    if (first && !named && !options_set(options, "data", words[0], problem, size))
        return false;
    if (!first && words[1] != NULL) {
        snprintf(problem, size,
                 "unexpected argument '%.64s': the data directory comes first, or is "
                 "given with --data",
                 words[1]);
        return false;
    }
    if (options->origin[OPTIONS_INDEX_data] == OPTION_FROM_DEFAULT) {
        snprintf(problem, size, "name a data directory");
        return false;
    }
    *file = first ? words[1] : words[0];
    if (*file != NULL && strcmp(*file, "-") == 0)
        *file = NULL;
    return true;
}

bool flags_take_each(const struct flag_row *row, int *argc, char **argv, const char **texts,
                     size_t most, size_t *count, char *problem, size_t size)
{
    int kept = 0;
    for (int at = 0, taken; at < *argc; at += taken) {
        char *word = argv[at];
        taken = 1;
        if (strncmp(word, "--", 2) != 0 ||
            row_find(row, 1, word + 2, strcspn(word + 2, "=")) == NULL) {
            argv[kept++] = word;
            continue;
        }
        taken = row_take(row, *argc - at, argv + at, problem, size);
        if (taken == 0)
            return false;
        if (*count == most) {
            snprintf(problem, size, "--%s can be given %zu times", row->name, most);
            return false;
        }
        texts[(*count)++] = *row->text;
    }
    *argc = kept;
    return true;
}

void flags_help(const struct flag_row *rows, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        char left[64];
        bool needs = rows[i].value != NULL;
        snprintf(left, sizeof left, "--%s%s%s", rows[i].name, needs ? " " : "",
                 needs ? rows[i].value : "");
        fprintf(out, "  %-20s%s\n", left, rows[i].help);
    }
}
