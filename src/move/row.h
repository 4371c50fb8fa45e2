/*
 * A row of an import as text: the content of a line of JSON or CSV, before ids and names are checked. Its
 * texts point into the line.
 */
#ifndef LAUD_MOVE_ROW_H
#define LAUD_MOVE_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "move/import.h"

enum row_shape {
    ROW_NONE, /* an empty line, or a header */
    ROW_REACTION,
    ROW_COUNTER,
    ROW_DEFINE,
    ROW_COMMENT, /* a line of comment_line.h, which still has to be parsed */
};

struct row {
    enum row_shape shape;
    struct text user; /* REACTION */
    struct text item; /* REACTION, COUNTER */
    struct text name; /* the kind, the counter, or what is defined */
    uint32_t time_s;  /* REACTION */
    bool timeless;    /* REACTION: the line has no time, and the caller has to set time_s */
    int64_t value;    /* COUNTER */
    uint8_t role;     /* DEFINE: enum name_role */
    struct text line; /* COMMENT: the whole line */
};

/*
 * Parses a line, given without its line end. OK, or BAD_ARGUMENT with a sentence in `problem` that says
 * what was expected.
 */
enum status row_parse_json(struct text line, struct row *row, char *problem, size_t size);
/* The same for CSV. `first`: the line is the first one and may be a header. */
enum status row_parse_csv(struct text line, bool first, struct row *row, char *problem,
                          size_t size);

/* Adds the row to an import. */
enum status row_import(const struct row *row, struct import *import);

/* Parse numbers as both formats write them; false: it is not a number, or out of range. */
bool row_parse_time(struct text text, uint32_t *out);
bool row_parse_value(struct text text, int64_t *out);

enum status row_refuse(char *problem, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
