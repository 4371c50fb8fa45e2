/*
 * Artrans, what Artalk exports: an array of flat objects, one for each comment, whose values are all strings;
 * other converters write numbers and booleans. The file is cut into these objects, and jansson parses them one by
 * one, so memory does not depend on the size of the file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/decimal.h"
#include "base/limits.h"
#include "comment/screen.h"
#include "move/dates.h"
#include "move/foreign.h"

#define PIECE_BYTES  KIB(64)
#define OBJECT_BYTES KIB(512) /* of one comment */
#define SITE_BYTES   256

enum place { BEFORE, BETWEEN, INSIDE, AFTER };

struct artrans {
    const struct foreign_sink *sink;
    const char *only_site; /* NULL: the file may have one site */
    char site[SITE_BYTES]; /* of the first comment, if there is no only_site */
    bool has_site;
    enum place place;
    unsigned depth; /* of arrays and objects, inside of an object */
    bool in_string, escaped;
    uint64_t line, object_line, bytes;
    char *object;
    size_t length;
    char *problem;
    size_t size;
};

static enum status refuse(const struct artrans *artrans, const char *sentence)
{
    snprintf(artrans->problem, artrans->size, "line %llu: %s",
             (unsigned long long)artrans->line + 1, sentence);
    return STATUS_BAD_ARGUMENT;
}

/* A value as text: strings, numbers and booleans. `room` is for numbers. */
static struct text value_of(const json_t *object, const char *key, char room[DECIMAL_MAX + 1])
{
    const json_t *value = json_object_get(object, key);
    if (json_is_string(value))
        return (struct text){json_string_value(value), json_string_length(value)};
    if (json_is_integer(value))
        return (struct text){
            room, (size_t)(decimal_write_signed(room, json_integer_value(value)) - room)};
    if (json_is_boolean(value))
        return text_from(json_is_true(value) ? "true" : "false");
    return (struct text){"", 0};
}

/* At most FOREIGN_FIELD_BYTES of it, which end with a whole character. */
static struct text field_of(const json_t *object, const char *key, char room[DECIMAL_MAX + 1])
{
    struct text text = foreign_trim(value_of(object, key, room));
    if (text.length > FOREIGN_FIELD_BYTES) {
        text.length = FOREIGN_FIELD_BYTES;
        text.length = utf8_valid(text);
    }
    return text;
}

static bool is_true(const json_t *object, const char *key)
{
    char room[DECIMAL_MAX + 1];
    struct text text = foreign_trim(value_of(object, key, room));
    return text_is(text, "true") || text_is(text, "1");
}

static uint64_t votes_of(const json_t *object, const char *key)
{
    char room[DECIMAL_MAX + 1];
    uint64_t votes = 0;
    struct text text = foreign_trim(value_of(object, key, room));
    if (text.length <= DECIMAL_MAX)
        (void)decimal_read(text, INT32_MAX, &votes); /* or it stays 0 */
    return votes;
}

/* Is the comment on the site that is taken? */
static enum status site_check(struct artrans *artrans, const json_t *object, bool *taken)
{
    char room[DECIMAL_MAX + 1];
    struct text site = field_of(object, "site_name", room);
    *taken = true;
    if (artrans->only_site != NULL) {
        *taken = site.length == strlen(artrans->only_site) &&
                 memcmp(site.bytes, artrans->only_site, site.length) == 0;
        return STATUS_OK;
    }
    if (site.length >= SITE_BYTES)
        site.length = SITE_BYTES - 1;
    if (!artrans->has_site) {
        memcpy(artrans->site, site.bytes, site.length);
        artrans->has_site = true;
    } else if (strlen(artrans->site) != site.length ||
               memcmp(artrans->site, site.bytes, site.length) != 0) {
        char first[TEXT_SHOWN], second[TEXT_SHOWN], sentence[256];
        snprintf(sentence, sizeof sentence,
                 "the file has comments of several sites, such as '%.60s' and '%.60s'; --site NAME "
                 "takes those of one",
                 text_show(text_from(artrans->site), first), text_show(site, second));
        return refuse(artrans, sentence);
    }
    return STATUS_OK;
}

static enum status comment_take(struct artrans *artrans, const json_t *object)
{
    char rooms[8][DECIMAL_MAX + 1];
    struct text parent = field_of(object, "rid", rooms[0]);
    struct text email = field_of(object, "email", rooms[1]);
    struct foreign_comment comment = {
        .id = field_of(object, "id", rooms[2]),
        .parent = text_is(parent, "0") ? (struct text){"", 0} : parent,
        .page = field_of(object, "page_key", rooms[3]),
        .name = field_of(object, "nick", rooms[4]),
        .link = field_of(object, "link", rooms[5]),
        .text = foreign_trim(value_of(object, "content", rooms[6])),
        .pending = is_true(object, "is_pending"),
        .pinned = is_true(object, "is_pinned"),
        .page_closed = is_true(object, "page_admin_only"),
        .votes = votes_of(object, "vote_up") + votes_of(object, "vote_down"),
        .line = artrans->object_line + 1,
    };
    (void)date_parse(value_of(object, "created_at", rooms[7]), &comment.time_s); /* or it stays 0 */
    comment.page_id = foreign_page_id(comment.page);
    comment.user = foreign_user((struct text){"", 0}, email, (struct text){"", 0}, comment.name);
    foreign_judge(&comment, false);
    return artrans->sink->comment(artrans->sink->context, &comment);
}

static enum status object_end(struct artrans *artrans)
{
    json_error_t error;
    bool taken = false;
    json_t *object = json_loadb(artrans->object, artrans->length, JSON_ALLOW_NUL, &error);
    if (object == NULL) {
        char sentence[JSON_ERROR_TEXT_LENGTH + 64];
        snprintf(sentence, sizeof sentence, "a comment is not a JSON object: %s", error.text);
        return refuse(artrans, sentence);
    }
    enum status status = site_check(artrans, object, &taken);
    if (status == STATUS_OK && taken)
        status = comment_take(artrans, object);
    json_decref(object);
    return status;
}

/* A byte inside of an object. */
static enum status take_inside(struct artrans *artrans, char byte)
{
    if (artrans->length == OBJECT_BYTES)
        return refuse(artrans, "a comment is longer than 512 KiB");
    artrans->object[artrans->length++] = byte;
    if (artrans->in_string) {
        artrans->in_string = artrans->escaped || byte != '"';
        artrans->escaped = !artrans->escaped && byte == '\\';
        return STATUS_OK;
    }
    artrans->in_string = byte == '"';
    if (byte == '{' || byte == '[')
        artrans->depth++;
    if (artrans->depth > LIMIT_JSON_DEPTH)
        return refuse(artrans, "a comment is nested too deep");
    if ((byte == '}' || byte == ']') && --artrans->depth == 0) {
        artrans->place = BETWEEN;
        return object_end(artrans);
    }
    return STATUS_OK;
}

static enum status take_byte(struct artrans *artrans, char byte)
{
    enum status status = STATUS_OK;
    if (artrans->place == INSIDE) {
        status = take_inside(artrans, byte);
    } else if (byte == '{' && artrans->place == BETWEEN) {
        artrans->place = INSIDE;
        artrans->object_line = artrans->line;
        artrans->length = artrans->depth = 0;
        status = take_inside(artrans, byte);
    } else if (byte == '[' && artrans->place == BEFORE) {
        artrans->place = BETWEEN;
    } else if (byte == ']' && artrans->place == BETWEEN) {
        artrans->place = AFTER;
    } else if (strchr(" \t\r\n", byte) == NULL || byte == '\0') {
        if (byte != ',' || artrans->place != BETWEEN)
            return refuse(artrans, artrans->place == BEFORE
                                       ? "this is not an Artrans file: it should begin with '['"
                                       : "expected a JSON object, ',' or ']'");
    }
    artrans->line += byte == '\n';
    return status;
}

/* A Unicode signature before the first byte is skipped. */
static size_t skip_signature(const struct artrans *artrans, const char *piece, size_t length)
{
    return artrans->bytes == 0 && length >= 3 && memcmp(piece, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static enum status read_all(struct artrans *artrans, int fd, char *piece)
{
    for (;;) {
        ssize_t got;
        do
            got = read(fd, piece, PIECE_BYTES);
        while (got < 0 && errno == EINTR);
        if (got < 0) {
            snprintf(artrans->problem, artrans->size, "the file cannot be read: %s",
                     strerror(errno));
            return STATUS_IO_FAILED;
        }
        if (got == 0)
            return artrans->place == AFTER ? STATUS_OK : refuse(artrans, "the file ends too early");
        enum status status = STATUS_OK;
        for (size_t i = skip_signature(artrans, piece, (size_t)got); i < (size_t)got; i++) {
            status = take_byte(artrans, piece[i]);
            if (status != STATUS_OK)
                return status;
        }
        artrans->bytes += (uint64_t)got;
        if (artrans->sink->progress != NULL)
            artrans->sink->progress(artrans->sink->context, artrans->bytes);
    }
}

enum status artrans_read(int fd, const char *site, const struct foreign_sink *sink, char *problem,
                         size_t size)
{
    struct artrans artrans = {.sink = sink,
                              .only_site = site,
                              .object = malloc(OBJECT_BYTES),
                              .problem = problem,
                              .size = size};
    char *piece = malloc(PIECE_BYTES);
    enum status status = STATUS_NO_MEMORY;
    snprintf(problem, size, "there is no memory for reading the file");
    if (artrans.object != NULL && piece != NULL)
        status = read_all(&artrans, fd, piece);
    free(piece);
    free(artrans.object);
    return status;
}
