/*
 * There is one pass for each source of values, in rising order of precedence, so that a later value
 * simply overwrites an earlier one: defaults, file, environment, flags. The flags are read twice,
 * first only --config and --help, because the file has to be read before the other flags override
 * it.
 *
 * inih reads the file line by line through reading_next. This function counts lines for error
 * messages and prevents what inih would do silently: split long lines, treat an indented line as a
 * continuation, and drop the text after " ;" although ';' separates groups of kinds.
 */
#include "base/options.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/options_value.h"

#define SENTENCE_MAX 512

static const struct option *option_find(const char *name)
{
    for (size_t i = 0; i < OPTIONS_TOTAL; i++) {
        if (strcmp(option_table[i].name, name) == 0)
            return &option_table[i];
    }
    return NULL;
}

/* Edits (insert, drop, replace one character) from one name to another. */
static size_t name_distance(const char *from, const char *to)
{
    size_t row[64];
    size_t width = strlen(to);
    if (width >= sizeof row / sizeof row[0])
        return SIZE_MAX;
    for (size_t i = 0; i <= width; i++)
        row[i] = i;
    for (size_t line = 1; *from != '\0'; from++, line++) {
        size_t diagonal = row[0];
        row[0] = line;
        for (size_t i = 1; i <= width; i++) {
            size_t best = diagonal + (*from != to[i - 1]);
            diagonal = row[i];
            if (best > row[i] + 1)
                best = row[i] + 1;
            if (best > row[i - 1] + 1)
                best = row[i - 1] + 1;
            row[i] = best;
        }
    }
    return row[width];
}

/* The name most like this one; NULL if none is close. */
static const char *name_nearest(const char *name)
{
    const char *nearest = NULL;
    size_t least = strlen(name) / 2 + 1;
    for (size_t i = 0; i <= OPTIONS_TOTAL; i++) {
        const char *known = i < OPTIONS_TOTAL ? option_table[i].name : "config";
        size_t distance = name_distance(name, known);
        if (distance < least) {
            least = distance;
            nearest = known;
        }
    }
    return nearest;
}

static void say_unknown(const char *place, const char *name, const char *dashes, char *problem,
                        size_t size)
{
    const char *nearest = name_nearest(name);
    if (nearest != NULL && strcmp(nearest, name) != 0) /* a file must not contain config */
        snprintf(problem, size, "%sunknown option '%s%.64s', did you mean '%s%s'?", place, dashes,
                 name, dashes, nearest);
    else
        snprintf(problem, size, "%sunknown option '%s%.64s'", place, dashes, name);
}

static bool set(struct options *options, const struct option *option, const char *text,
                enum option_origin origin, const char *place, char *problem, size_t size)
{
    ASSERT((size_t)(option - option_table) < OPTIONS_TOTAL);
    char reason[256];
    if (!option_parse(option, options, text, reason, sizeof reason)) {
        snprintf(problem, size, "%s: %s", place, reason);
        return false;
    }
    options->origin[option - option_table] = (uint8_t)origin;
    return true;
}

bool options_set(struct options *options, const char *name, const char *text, char *problem,
                 size_t size)
{
    const struct option *option = option_find(name);
    if (option == NULL) {
        say_unknown("", name, "", problem, size);
        return false;
    }
    return set(options, option, text, OPTION_FROM_FLAG, name, problem, size);
}

static void set_defaults(struct options *options)
{
    char problem[SENTENCE_MAX];
    memset(options, 0, sizeof *options);
    for (size_t i = 0; i < OPTIONS_TOTAL; i++) {
        const struct option *option = &option_table[i];
        bool good = set(options, option, option->initial, OPTION_FROM_DEFAULT, option->name,
                        problem, sizeof problem);
        ASSERT(good);
    }
}

/* The file */

struct reading {
    struct options *options;
    FILE *file;
    const char *path;
    unsigned line;
    char *problem;
    size_t size;
    bool failed;
};

static void reading_fail(struct reading *reading, const char *what)
{
    if (!reading->failed)
        snprintf(reading->problem, reading->size, "%s:%u: %s", reading->path, reading->line, what);
    reading->failed = true;
}

/* Prepares a line from fgets for inih. Returns what is wrong with the line, or NULL. */
static const char *line_clean(char *line, int size)
{
    ASSERT(size > 1);
    size_t length = strlen(line);
    if (length + 1 == (size_t)size && line[length - 1] != '\n')
        return "the line is too long";
    const char *start = line;
    if (strncmp(line, "\xef\xbb\xbf", 3) == 0) /* a byte order mark (BOM) */
        start += 3;
    start += strspn(start, " \t\r\n");
    memmove(line, start, strlen(start) + 1);
    if (line[0] == '[')
        return "sections are not supported: write only lines of the form name = value";
    if (line[0] == '\0' || line[0] == '#' || line[0] == ';')
        return NULL;
    for (char *at = line; *at != '\0'; at++) {
        if (!isspace((unsigned char)at[0]))
            continue;
        if (at[1] == ';')
            return "a ';' after a space is ambiguous: begin a comment with '#', and write groups "
                   "as in like,dislike; up,down";
        if (at[1] == '#')
            at[0] = at[1] = '\0';
    }
    return strpbrk(line, "=:") == NULL ? "expected name = value" : NULL;
}

static char *reading_next(char *line, int size, void *context)
{
    struct reading *reading = context;
    if (reading->failed || fgets(line, size, reading->file) == NULL)
        return NULL;
    reading->line++;
    const char *wrong = line_clean(line, size);
    if (wrong == NULL)
        return line;
    reading_fail(reading, wrong);
    return NULL;
}

static int reading_take(void *context, const char *section, const char *name, const char *text)
{
    struct reading *reading = context;
    char problem[SENTENCE_MAX];
    ASSERT(section[0] == '\0');
    const struct option *option = option_find(name);
    if (option == NULL)
        say_unknown("", name, "", problem, sizeof problem);
    else if (set(reading->options, option, text, OPTION_FROM_FILE, name, problem, sizeof problem))
        return 1;
    reading_fail(reading, problem);
    return 0;
}

static bool read_file(struct options *options, char *problem, size_t size)
{
    ASSERT(options->config[0] != '\0');
    struct reading reading = {
        .options = options, .path = options->config, .problem = problem, .size = size};
    reading.file = fopen(options->config, "re");
    if (reading.file == NULL) {
        snprintf(problem, size, "cannot read the configuration file '%s': %s", options->config,
                 strerror(errno));
        return false;
    }
    int result = ini_parse_stream(reading_next, &reading, reading_take, &reading);
    if (result != 0)
        reading_fail(&reading, "the file could not be read to its end");
    if (ferror(reading.file))
        reading_fail(&reading, "reading stopped with an error");
    fclose(reading.file);
    return !reading.failed;
}

/* The environment */

void options_environment_name(const char *name, char out[OPTION_NAME_MAX])
{
    size_t length = (size_t)snprintf(out, OPTION_NAME_MAX, "LAUD_%s", name);
    ASSERT(length < OPTION_NAME_MAX);
    for (char *at = out; *at != '\0'; at++)
        *at = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
}

static bool read_environment(struct options *options, char *problem, size_t size)
{
    char variable[OPTION_NAME_MAX];
    for (size_t i = 0; i < OPTIONS_TOTAL; i++) {
        options_environment_name(option_table[i].name, variable);
        const char *text = getenv(variable);
        if (text != NULL &&
            !set(options, &option_table[i], text, OPTION_FROM_ENVIRONMENT, variable, problem, size))
            return false;
    }
    return true;
}

/* The flags */

struct flag {
    char name[OPTION_NAME_MAX]; /* without dashes */
    const char *value;
    const struct option *option; /* NULL: config */
};

/* Reads the flag at argv[*at] and advances *at past it. */
static bool flag_next(struct flag *flag, int argc, char **argv, int *at, char *problem, size_t size)
{
    ASSERT(*at < argc);
    const char *text = argv[*at];
    if (strncmp(text, "--", 2) != 0 || text[2] == '\0') {
        snprintf(problem, size, "unexpected argument '%.64s', options begin with --", text);
        return false;
    }
    size_t length = strcspn(text + 2, "=");
    if (length < sizeof flag->name) {
        memcpy(flag->name, text + 2, length);
        flag->name[length] = '\0';
        flag->option = option_find(flag->name);
    }
    if (length >= sizeof flag->name ||
        (flag->option == NULL && strcmp(flag->name, "config") != 0)) {
        say_unknown("", length < sizeof flag->name ? flag->name : text + 2, "--", problem, size);
        return false;
    }
    if (text[2 + length] == '=') {
        flag->value = text + 2 + length + 1;
    } else if (*at + 1 < argc) {
        flag->value = argv[++*at];
    } else {
        snprintf(problem, size, "--%s needs a value", flag->name);
        return false;
    }
    ++*at;
    return true;
}

/* First pass: --help, and the name of the file. */
static bool find_config(struct options *options, int argc, char **argv, bool *help, char *problem,
                        size_t size)
{
    const char *config = getenv("LAUD_CONFIG");
    struct flag flag = {.value = NULL};
    for (int at = 0; at < argc;) {
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
            *help = true;
            return true;
        }
        if (!flag_next(&flag, argc, argv, &at, problem, size))
            return false;
        if (flag.option == NULL)
            config = flag.value;
    }
    if (config == NULL)
        return true;
    if (strlen(config) >= sizeof options->config) {
        snprintf(problem, size, "the path of the configuration file is too long");
        return false;
    }
    snprintf(options->config, sizeof options->config, "%s", config);
    return true;
}

static bool read_flags(struct options *options, int argc, char **argv, char *problem, size_t size)
{
    struct flag flag = {.value = NULL};
    char place[OPTION_NAME_MAX + 2];
    for (int at = 0; at < argc;) {
        if (!flag_next(&flag, argc, argv, &at, problem, size))
            return false;
        snprintf(place, sizeof place, "--%s", flag.name);
        if (flag.option != NULL &&
            !set(options, flag.option, flag.value, OPTION_FROM_FLAG, place, problem, size))
            return false;
    }
    return true;
}

bool options_read(struct options *options, int argc, char **argv, bool *help, char *problem,
                  size_t size)
{
    *help = false;
    set_defaults(options);
    if (!find_config(options, argc, argv, help, problem, size))
        return false;
    if (*help)
        return true;
    if (options->config[0] != '\0' && !read_file(options, problem, size))
        return false;
    return read_environment(options, problem, size) &&
           read_flags(options, argc, argv, problem, size);
}
