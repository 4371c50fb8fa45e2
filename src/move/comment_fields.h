/*
 * Reads the fields of a JSON object that is a line about comments (comment_line.h). Each function reads the
 * value of one key; after the first one that is missing or wrong the reader is bad, has a sentence, and reads
 * nothing more. A key that no function has asked for is refused at the end.
 *
 * One thread uses it. Texts belong to the JSON value.
 */
#ifndef LAUD_MOVE_COMMENT_FIELDS_H
#define LAUD_MOVE_COMMENT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "base/id.h"
#include "base/status.h"
#include "base/text.h"
#include "comment/content.h"

#define FIELDS_MOST 24

struct fields {
    json_t *object;
    const char *asked[FIELDS_MOST];
    unsigned asked_count;
    bool bad;
    char *problem;
    size_t size;
};

/* The value of the key; NULL: there is none. */
json_t *fields_get(struct fields *fields, const char *key);
/* Refuses the line, unless it is bad already. */
void fields_refuse(struct fields *fields, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A missing key gives 0, false or an empty text, unless it is needed. */
uint32_t fields_number(struct fields *fields, const char *key, bool needed);
bool fields_flag(struct fields *fields, const char *key);
struct text fields_text(struct fields *fields, const char *key, bool needed);
/* One of these words, the last of which is NULL; returns its index. A missing key is the first one. */
uint8_t fields_word(struct fields *fields, const char *key, const char *const *words);
/* An id of a user. False: the key is missing or null. */
bool fields_id(struct fields *fields, const char *key, bool needed, struct id *id);
/* "comment:ID"; COMMENT_NONE: the key is missing. */
uint64_t fields_comment(struct fields *fields, const char *key, bool needed);
/* text, extra, mentions and text_time */
struct comment_content fields_content(struct fields *fields);

/* OK: everything was right, and no further key is there. */
enum status fields_end(struct fields *fields);

#endif
