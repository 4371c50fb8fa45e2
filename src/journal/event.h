/*
 * Events. An event records what a decision changed. It is complete, so it can be applied again
 * without deciding again. This is its form in memory, which has no bytes: how events are written is
 * defined by each implementation of the journal (journal/file/record.h).
 *
 * An event is a plain value and may be copied freely. Its only pointer is `body`, which only a *long*
 * event has: one of a type with a body of bytes that the journal does not interpret. The body belongs
 * to whoever made the event. When an event is appended, that is the caller, and the journal has copied
 * the body when journal_append returns. When an event is read, it is the reader's source, and the body
 * is valid as long as the event itself: until the end of the visit, or as long as the run.
 */
#ifndef LAUD_JOURNAL_EVENT_H
#define LAUD_JOURNAL_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"

enum event_type {
    EVENT_DEFINE = 1,  /* a type, kind or counter got its index */
    EVENT_SET = 2,     /* a reaction was not set and is set now */
    EVENT_CLEAR = 3,   /* a reaction was set and is not set now */
    EVENT_ADD = 4,     /* a number was added to a counter */
    EVENT_COMMENT = 5, /* something about comments changed; the body says what */
};

struct event {
    uint8_t type;
    /*
     * SET, CLEAR: the kind; ADD: the counter; DEFINE: the enum name_role; COMMENT: a sub-type, 1 to
     * 255, which the journal does not interpret.
     */
    uint8_t name;
    uint8_t cleared_count;
    uint8_t text_length;
    /* Kinds of the same group that were cleared in the same step. */
    uint8_t cleared[LIMIT_EXCLUSIVE];
    uint32_t time_s;
    uint16_t index; /* DEFINE */
    bool has_token;
    uint32_t body_length;         /* COMMENT: 1 to LIMIT_EVENT_BODY; otherwise 0 */
    struct id user;               /* SET, CLEAR, COMMENT */
    struct item item;             /* SET, CLEAR, ADD, COMMENT (the subject) */
    int64_t delta;                /* ADD */
    uint64_t token[2];            /* ADD, if has_token: hash of item, counter and token */
    char text[LIMIT_NAME_LENGTH]; /* DEFINE */
    const uint8_t *body;          /* COMMENT: body_length bytes */
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

/* Does the event have a body? Then journal_append needs a reservation (journal_reserve). */
static inline bool event_is_long(const struct event *event)
{
    return event->type == EVENT_COMMENT;
}

/* The same as event_bytes_max, for a long event with a body of this length. */
static inline size_t event_bytes_long(size_t body_length)
{
    return LIMIT_EVENT_HEAD + (body_length + 7) / 8 * 8;
}

/*
 * The largest number of bytes that a journal needs for the record of this event, whatever its
 * format and the widths of its ids. Those who append a short event subtract it from what
 * journal_admit has allowed, and those who append a long one from what journal_reserve has reserved.
 */
static inline size_t event_bytes_max(const struct event *event)
{
    return event_is_long(event) ? event_bytes_long(event->body_length) : LIMIT_EVENT_BYTES;
}

#endif
