/*
 * Events. An event records what a decision changed. It is complete, so it can be applied again
 * without deciding again. This is its form in memory, which has no bytes: how events are written is
 * defined by each implementation of the journal (journal/file/record.h).
 *
 * An event is a plain value without pointers and may be copied freely.
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
    EVENT_SET = 2,    /* a reaction was not set and is set now */
    EVENT_CLEAR = 3,  /* a reaction was set and is not set now */
    EVENT_ADD = 4,    /* a number was added to a counter */
};

struct event {
    uint8_t type;
    uint8_t name; /* SET, CLEAR: the kind; ADD: the counter; DEFINE: the enum name_role */
    uint8_t cleared_count;
    uint8_t text_length;
    /* Kinds of the same group that were cleared in the same step. */
    uint8_t cleared[LIMIT_EXCLUSIVE];
    uint32_t time_s;
    uint16_t index; /* DEFINE */
    bool has_token;
    struct id user;               /* SET, CLEAR */
    struct item item;             /* SET, CLEAR, ADD */
    int64_t delta;                /* ADD */
    uint64_t token[2];            /* ADD, if has_token: hash of item, counter and token */
    char text[LIMIT_NAME_LENGTH]; /* DEFINE */
};

/* The event that a name got its index; `role` is an enum name_role. */
struct event event_define(uint8_t role, uint16_t index, const char *text, size_t length,
                          uint32_t time_s);

/*
 * The event that reactions with earlier times may follow, so everything that relies on rising times
 * has to start over. It is written as a definition of `like`, a name that exists from the beginning
 * and is never defined otherwise.
 */
struct event event_import(uint32_t time_s);
bool event_is_import(const struct event *event);

/*
 * How many other kinds an event may clear: a SET clears the other kinds of a group. A CLEAR clears
 * those that were set beside one kind that stays set, without the kind that it names itself.
 */
static inline uint8_t event_cleared_max(uint8_t type)
{
    return type == EVENT_SET ? LIMIT_EXCLUSIVE : type == EVENT_CLEAR ? LIMIT_EXCLUSIVE - 2 : 0;
}

/*
 * The largest number of bytes that a journal needs for the record of this event, whatever its
 * format. Those who append subtract it from what journal_admit has allowed.
 */
static inline size_t event_bytes_max(const struct event *event)
{
    (void)event; /* today all events are short */
    return LIMIT_EVENT_BYTES;
}

#endif
