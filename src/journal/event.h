/*
 * Events. An event is what a decision changed, complete enough to be applied again without deciding
 * again. This is its form in memory; it has no bytes. How a journal writes events is its own matter
 * (journal/file/record.h).
 *
 * An event is a plain value: whoever has one may copy it, and it points to nothing.
 */
#ifndef LAUD_JOURNAL_EVENT_H
#define LAUD_JOURNAL_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"

enum event_type {
    EVENT_DEFINE = 1, /* a type, kind or counter got its index */
    EVENT_SET = 2,    /* a reaction was absent and is now live */
    EVENT_CLEAR = 3,  /* it was live and is now absent */
    EVENT_ADD = 4,    /* a counter was added to */
};

struct event {
    uint8_t type;
    uint8_t name; /* SET, CLEAR: the kind; ADD: the counter; DEFINE: the enum name_role */
    uint8_t cleared_count;
    uint8_t text_length;
    uint8_t cleared[LIMIT_EXCLUSIVE]; /* live kinds cleared in the same step */
    uint32_t time_s;
    uint16_t index; /* DEFINE */
    bool has_token;
    struct id user;               /* SET, CLEAR */
    struct item item;             /* SET, CLEAR, ADD */
    int64_t delta;                /* ADD */
    uint64_t token[2];            /* ADD, if has_token: hash of item, counter and token */
    char text[LIMIT_NAME_LENGTH]; /* DEFINE */
};

/* A name got its index: `role` is an enum name_role. */
struct event event_define(uint8_t role, uint16_t index, const char *text, size_t length,
                          uint32_t time_s);

/*
 * Reactions of earlier times than this one may follow, so whoever goes by times has to start over. It is
 * a definition of `like`, which is always there and so has no other.
 */
struct event event_import(uint32_t time_s);
bool event_is_import(const struct event *event);

/*
 * How many kinds one may clear beside its own: a SET the others of a group; a CLEAR those that were
 * live beside one that stays, less the one it names.
 */
static inline uint8_t event_cleared_max(uint8_t type)
{
    return type == EVENT_SET ? LIMIT_EXCLUSIVE : type == EVENT_CLEAR ? LIMIT_EXCLUSIVE - 2 : 0;
}

/*
 * A journal needs at most so many bytes for the record of this event, whatever its format is.
 * Whoever appends counts with it what journal_admit allowed.
 */
static inline size_t event_bytes_max(const struct event *event)
{
    (void)event; /* today all events are short */
    return LIMIT_EVENT_BYTES;
}

#endif
