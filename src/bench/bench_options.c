#include "bench/bench_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/quantity.h"

enum option_type { TYPE_TEXT, TYPE_COUNT, TYPE_SECONDS, TYPE_FLAG, TYPE_MIX };

struct option_row {
    const char *name;
    enum option_type type;
    size_t offset;
    const char *initial;
    double min;
    double max;
    const char *value;
    const char *help;
};

static const struct option_row rows[] = {
#define BENCH_OPTION(field, name, type, initial, min, max, value, help)                            \
    {name,    TYPE_##type,   offsetof(struct bench_options, field),                                \
     initial, (double)(min), (double)(max),                                                        \
     value,   help},
#include "bench/bench_options.def"
#undef BENCH_OPTION
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const char usage_text[] =
    "Usage: laud bench [options] [--] COMMAND\n"
    "       laud bench [options] --mix WEIGHT:COMMAND [--mix WEIGHT:COMMAND ...]\n"
    "\n"
    "Puts load on a server that speaks RESP (Laud, Redis) or HTTP, and reports requests per\n"
    "second and latency.\n"
    "\n"
    "COMMAND is a command with placeholders, which get new values for each request:\n"
    "  {user} {item}   a random id, see --users --items --distribution --id-base; each\n"
    "                  placeholder gets one of its own\n"
    "  {user.1}        a random id that is the same wherever {user.1} stands in this\n"
    "                  request; any number will do, also {item.7}\n"
    "  {rand:LO-HI}    a random number from LO to HI, both included\n"
    "  {seq}           the number of the request: with --requests N each of 0 ... N-1\n"
    "                  exactly once, over all connections and threads\n"
    "  {seq%100+5}     any of these may be followed by + - * / % and a number,\n"
    "                  calculated from left to right\n"
    "  {20*WORDS}      the words 20 times; in them {item.n} is {item.1}, {item.2}, ...\n"
    "  {line}          a random line of the file that --lines names\n"
    "  {sha}           the digest of the script that --load-script loaded\n"
    "A ';' between spaces separates commands that are sent and counted as one request, which\n"
    "ends with its last reply. With --http a '{' before a '\"' belongs to JSON.\n"
    "\n"
    "  laud bench 'LIKE {user} video:{item}'\n"
    "  laud bench --mix '90:FEED {user} {20*video:{item}}' --mix '10:LIKE {user} video:{item}'\n"
    "  laud bench --requests 1000000 'ADD video:{seq} view 1 ; ADD video:{seq} share 1'\n"
    "  laud bench '{20*HMGET n:{item.n} like view ;} ZMSCORE u:{user} {20*{item.n}}'\n"
    "  laud bench --http 'GET /v1/items/video:{item}/counts'\n"
    "  laud bench --http 'POST /v1/counts {\"items\":[{19*\"video:{item}\",} \"video:{item}\"]}'\n"
    "\n"
    "Without --rate a connection sends as many requests as --pipeline says in one write, and the\n"
    "next ones when all are answered. With --rate each request has its time on a schedule, and\n"
    "its latency counts from that time, also while it waits for a free connection.\n"
    "\n"
    "A duration (TIME) is a number of seconds, or has a unit: 500ms, 30s, 2m, 1h.\n"
    "\n"
    "Exit status: 0 done; 1 a reply was an error (HTTP: 400 and above); 2 bad arguments, or a\n"
    "connection broke.\n"
    "\n"
    "Options:\n";

void bench_options_help(FILE *out)
{
    fputs(usage_text, out);
    for (size_t i = 0; i < ROWS; i++) {
        char left[64];
        snprintf(left, sizeof(left), "--%s %s", rows[i].name, rows[i].value);
        fprintf(out, "  %-27s %s", left, rows[i].help);
        if (rows[i].type != TYPE_FLAG && rows[i].initial[0] != '\0')
            fprintf(out, " (%s)", rows[i].initial);
        fputc('\n', out);
    }
}

static bool mix_add(struct bench_mix *mix, const char *text, char *problem, size_t size)
{
    uint64_t weight = 0;
    const char *end = text + strcspn(text, ":");
    if (!decimal_read((struct text){text, (size_t)(end - text)}, 1000000000, &weight) ||
        weight == 0 || *end != ':') {
        snprintf(problem, size,
                 "--mix expects WEIGHT:COMMAND, as in '10:LIKE {user} video:{item}'");
        return false;
    }
    if (mix->count == BENCH_MIX_MAX) {
        snprintf(problem, size, "a mix can have at most %d commands", BENCH_MIX_MAX);
        return false;
    }
    mix->entries[mix->count++] = (struct bench_mix_entry){weight, end + 1};
    return true;
}

static bool count_read(const struct option_row *row, const char *text, uint64_t *out, char *problem,
                       size_t size)
{
    uint64_t value;
    if (!decimal_read(text_from(text), UINT64_MAX, &value) || (double)value < row->min ||
        (double)value > row->max) {
        snprintf(problem, size, "--%s expects a whole number from %.0f to %.0f, not '%s'",
                 row->name, row->min, row->max, text);
        return false;
    }
    *out = value;
    return true;
}

static bool seconds_read(const struct option_row *row, const char *text, double *out, char *problem,
                         size_t size)
{
    uint64_t ms = 0;
    enum quantity_result result = quantity_parse(QUANTITY_SECONDS, text, &ms);
    double value = (double)ms / 1000;
    if (result == QUANTITY_GOOD && value >= row->min && value <= row->max) {
        *out = value;
        return true;
    }
    if (result == QUANTITY_MALFORMED)
        snprintf(problem, size, "--%s: '%s' is not a duration: give %s", row->name, text,
                 quantity_form(QUANTITY_SECONDS));
    else
        snprintf(problem, size,
                 "--%s: '%s' is out of range: give a duration from %g to %.0f seconds", row->name,
                 text, row->min, row->max);
    return false;
}

static bool option_set(struct bench_options *options, const struct option_row *row,
                       const char *text, char *problem, size_t size)
{
    void *field = (char *)options + row->offset;
    switch (row->type) {
    case TYPE_TEXT:
        *(const char **)field = text;
        return true;
    case TYPE_COUNT:
        return count_read(row, text, field, problem, size);
    case TYPE_SECONDS:
        return seconds_read(row, text, field, problem, size);
    case TYPE_FLAG:
        *(bool *)field = strcmp(text, "off") != 0;
        return true;
    case TYPE_MIX:
        return text[0] == '\0' || mix_add(field, text, problem, size);
    }
    return false;
}

static const struct option_row *option_find(const char *name, size_t length)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strlen(rows[i].name) == length && memcmp(rows[i].name, name, length) == 0)
            return &rows[i];
    return NULL;
}

/* Reads "--name value", "--name=value" or "--flag"; returns how many arguments it used, 0 if bad. */
static int flag_read(struct bench_options *options, int argc, char **argv, char *problem,
                     size_t size)
{
    const char *name = argv[0] + 2;
    size_t length = strcspn(name, "=");
    const struct option_row *row = option_find(name, length);
    if (row == NULL) {
        snprintf(problem, size, "unknown option %s", argv[0]);
        return 0;
    }
    if (row->type == TYPE_FLAG) {
        if (name[length] == '=') {
            snprintf(problem, size, "--%s takes no value", row->name);
            return 0;
        }
        return option_set(options, row, "on", problem, size) ? 1 : 0;
    }
    if (name[length] == '=')
        return option_set(options, row, name + length + 1, problem, size) ? 1 : 0;
    if (argc < 2) {
        snprintf(problem, size, "--%s needs a value: %s", row->name, row->value);
        return 0;
    }
    return option_set(options, row, argv[1], problem, size) ? 2 : 0;
}

/* The words after the options, joined: quoted as one argument or not, they are one command. */
static bool positional_read(struct bench_options *options, int argc, char **argv, char *problem,
                            size_t size)
{
    size_t used = 0;
    for (int i = 0; i < argc; i++) {
        size_t length = strlen(argv[i]);
        if (used + length + 2 > sizeof(options->positional)) {
            snprintf(problem, size, "the command is longer than %d bytes", BENCH_COMMAND_MAX);
            return false;
        }
        if (used > 0)
            options->positional[used++] = ' ';
        memcpy(options->positional + used, argv[i], length);
        used += length;
    }
    options->positional[used] = '\0';
    if (used == 0)
        return true;
    if (options->mix.count == BENCH_MIX_MAX) {
        snprintf(problem, size, "a mix can have at most %d commands", BENCH_MIX_MAX);
        return false;
    }
    options->mix.entries[options->mix.count++] = (struct bench_mix_entry){1, options->positional};
    return true;
}

static bool address_split(struct bench_options *options, char *problem, size_t size)
{
    const char *address = options->address;
    if (address[0] == '\0')
        address = options->http ? "127.0.0.1:5284" : "127.0.0.1:5283";
    if (!connect_split(address, options->server_host, options->server_port)) {
        snprintf(problem, size, "--address expects HOST:PORT, not '%s'", options->address);
        return false;
    }
    if (options->port != 0)
        snprintf(options->server_port, sizeof(options->server_port), "%u",
                 (unsigned)(options->port & 0xffff));
    if (options->host[0] == '\0')
        return true;
    if (strlen(options->host) >= sizeof(options->server_host)) {
        snprintf(problem, size, "--host is too long");
        return false;
    }
    snprintf(options->server_host, sizeof(options->server_host), "%s", options->host);
    return true;
}

static bool distribution_read(struct bench_options *options, char *problem, size_t size)
{
    const char *text = options->distribution;
    options->theta = 0;
    if (strcmp(text, "uniform") == 0)
        return true;
    char *end = NULL;
    if (strncmp(text, "zipf:", 5) == 0)
        options->theta = strtod(text + 5, &end);
    if (end != NULL && end != text + 5 && *end == '\0' && options->theta > 0 &&
        options->theta <= 10)
        return true;
    snprintf(problem, size,
             "--distribution expects uniform or zipf:THETA, THETA above 0 and at "
             "most 10, not '%s'",
             text);
    return false;
}

/* A sentence about options that the chosen protocol does not have; NULL: there are none. */
static const char *protocol_problem(const struct bench_options *options)
{
    if (!options->http)
        return options->header[0] != '\0' ? "--header needs --http" : NULL;
    if (options->load_script[0] != '\0' || options->protocol != 2)
        return "--load-script and --protocol are for RESP, not for --http";
    bool field = options->header[0] == '\0' ||
                 (strchr(options->header, ':') != NULL && strpbrk(options->header, "\r\n") == NULL);
    if (strlen(options->header) > BENCH_HEADER_MAX)
        return "--header is too long";
    return field ? NULL : "--header expects one header field, as in 'X-Device-Id: 7'";
}

static bool options_fit(const struct bench_options *options, char *problem, size_t size)
{
    const char *what = protocol_problem(options);
    if (options->mix.count == 0)
        what = "no command given; see laud bench --help";
    else if (options->requests == 0 && options->seconds <= 0)
        what = "either --requests or --seconds must be above 0";
    else if (options->batch > 1 && options->rate == 0)
        what = "--batch is for a schedule: it needs --rate";
    else if (options->connections < options->threads)
        what = "each thread needs a connection: --connections is below --threads";
    else if (options->users > UINT64_MAX - options->id_base ||
             options->items > UINT64_MAX - options->id_base)
        what = "--id-base plus --users or --items does not fit in 64 bits";
    if (what != NULL)
        snprintf(problem, size, "%s", what);
    return what == NULL;
}

bool bench_options_read(struct bench_options *options, int argc, char **argv, char *problem,
                        size_t size)
{
    memset(options, 0, sizeof(*options));
    for (size_t i = 0; i < ROWS; i++)
        if (!option_set(options, &rows[i], rows[i].initial, problem, size))
            return false;
    int at = 0;
    while (at < argc && strncmp(argv[at], "--", 2) == 0) {
        if (argv[at][2] == '\0') {
            at++;
            break;
        }
        int taken = flag_read(options, argc - at, argv + at, problem, size);
        if (taken == 0)
            return false;
        if (options->help)
            return true;
        at += taken;
    }
    return positional_read(options, argc - at, argv + at, problem, size) &&
           address_split(options, problem, size) && distribution_read(options, problem, size) &&
           options_fit(options, problem, size);
}
