/*
 * Shows the table of options: --help, `laud config` and CONFIG GET.
 */
#include <string.h>

#include "base/options.h"
#include "base/options_value.h"

#define HELP_COLUMN 26
#define HELP_WIDTH  80

/*
 * Prints the words of `text` from HELP_COLUMN on, where the output already is, and ends the line.
 */
static void print_wrapped(FILE *out, const char *text)
{
    size_t column = HELP_COLUMN;
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (column > HELP_COLUMN && column + 1 + length > HELP_WIDTH) {
            fprintf(out, "\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        } else if (column > HELP_COLUMN) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, length, out);
        column += length;
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

static void print_option(FILE *out, const struct option *option)
{
    char variable[OPTION_NAME_MAX], text[512];
    options_environment_name(option->name, variable);
    int width = fprintf(out, "  --%s %s", option->name, option->value);
    if (width + 1 > HELP_COLUMN)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    else
        fprintf(out, "%*s", HELP_COLUMN - width, "");
    snprintf(text, sizeof text, "%s [%s; %s]", option->help,
             option->initial[0] == '\0' ? "none" : option->initial, variable);
    print_wrapped(out, text);
}

/*
 * Is it the first option of its group in the table? The others of the group may be anywhere after
 * it.
 */
static bool begins_group(size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(option_table[i].group, option_table[index].group) == 0)
            return false;
    return true;
}

void options_help(FILE *out)
{
    fputs("Usage: laud serve [--option VALUE | --option=VALUE] ...\n"
          "\n"
          "Runs the server until SIGTERM or SIGINT (Ctrl-C) stops it.\n"
          "\n"
          "Options can be given as flags, in the environment, or in an INI file (lines of\n"
          "the form name = value, without the dashes; '#' begins a comment). A flag has\n"
          "precedence over the environment, and the environment over the file. Each option\n"
          "is shown with its [default; environment variable].\n"
          "\n"
          "A size is a number of bytes, or has a unit: 512K, 64MB, 1.5GiB, 1T (K is 1024).\n"
          "A duration is a number of seconds (of milliseconds if the option's name ends in\n"
          "-ms), or has a unit: 100ms, 30s, 10m, 12h, 7d, 1w. Instead of yes and no, you\n"
          "can write on and off, true and false, or 1 and 0.\n",
          out);
    for (size_t i = 0; i < OPTIONS_TOTAL; i++) {
        if (!begins_group(i))
            continue;
        fprintf(out, "\n%s\n", option_table[i].group);
        for (size_t j = i; j < OPTIONS_TOTAL; j++)
            if (strcmp(option_table[j].group, option_table[i].group) == 0)
                print_option(out, &option_table[j]);
    }
    fputs("\nOther\n"
          "  --config FILE           the INI file to read [none; LAUD_CONFIG]\n"
          "  --help                  print this text\n",
          out);
}

static const char *origin_name(const struct options *options, size_t index)
{
    static const char *const names[] = {
        [OPTION_FROM_DEFAULT] = "default",         [OPTION_FROM_FILE] = "file",
        [OPTION_FROM_ENVIRONMENT] = "environment", [OPTION_FROM_FLAG] = "flag",
        [OPTION_FROM_CHOICE] = "chosen",
    };
    return names[options->origin[index]];
}

static void print_value(const struct options *options, size_t index, FILE *out)
{
    char value[OPTION_TEXT_MAX];
    option_format(&option_table[index], options, value);
    fprintf(out, "%s = %s # %s\n", option_table[index].name, value, origin_name(options, index));
}

void options_print(const struct options *options, FILE *out)
{
    if (options->config[0] != '\0')
        fprintf(out, "# file: %s\n", options->config);
    for (size_t i = 0; i < OPTIONS_TOTAL; i++) {
        if (!begins_group(i))
            continue;
        fprintf(out, "%s# %s\n", i == 0 ? "" : "\n", option_table[i].group);
        for (size_t j = i; j < OPTIONS_TOTAL; j++)
            if (strcmp(option_table[j].group, option_table[i].group) == 0)
                print_value(options, j, out);
    }
}

bool options_get(const struct options *options, size_t index, const char **name,
                 char value[OPTION_TEXT_MAX])
{
    if (index >= OPTIONS_TOTAL)
        return false;
    *name = option_table[index].name;
    option_format(&option_table[index], options, value);
    return true;
}
