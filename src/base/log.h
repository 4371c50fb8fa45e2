/*
 * What the server says about itself, one line each on standard error: time, level, message; as
 * text, logfmt or JSON. Whatever the message has in it, a line stays one line, and no byte of it
 * can steer a terminal.
 *
 * A place in the code that has said LOG_BURST things within a second says no more until that second
 * is over; then it is told how many were left out. Any thread may log.
 */
#ifndef LAUD_BASE_LOG_H
#define LAUD_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_BURST     10   /* lines of one place in a second */
#define LOG_LINE_MAX  4096 /* bytes, with the line end */
#define LOG_MESSAGE   1024 /* bytes of a message, before anything is escaped */
#define LOG_SECOND_MS 1000

enum log_level { LOG_INFO, LOG_WARN, LOG_ERROR };

enum log_format { LOG_TEXT, LOG_LOGFMT, LOG_JSON }; /* as the words of --log-format */

/* A place in the code that logs. All zero at first; it is there for ever. */
struct log_site {
    _Atomic uint64_t second_ms;  /* when its second began */
    _Atomic uint32_t said;       /* in it */
    _Atomic uint32_t suppressed; /* in it */
    atomic_bool listed;
    const char *file; /* from here on: written when it is first listed, under a lock */
    int line;
    struct log_site *next;
};

#define log_info(...)  LOG_HERE(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  LOG_HERE(LOG_WARN, __VA_ARGS__)
#define log_error(...) LOG_HERE(LOG_ERROR, __VA_ARGS__)

#define LOG_HERE(level, ...)                                                                       \
    do {                                                                                           \
        static struct log_site log_site_here;                                                      \
        log_say(&log_site_here, __FILE__, __LINE__, level, __VA_ARGS__);                           \
    } while (0)

void log_say(struct log_site *site, const char *file, int line, enum log_level level,
             const char *format, ...) __attribute__((format(printf, 5, 6)));

void log_set_format(enum log_format format); /* before there are threads */

/* Tells what was left out, where a second is over. Called now and then; log_say does it as well. */
void log_settle(uint64_t now_ms);

/* Lines left out since the start. */
uint64_t log_suppressed(void);

/* May this place say one more thing now? */
bool log_admit(struct log_site *site, uint64_t now_ms);

/* The line with its end; returns its length. What does not fit is cut off, the line stays whole. */
size_t log_line(char out[LOG_LINE_MAX], enum log_format format, enum log_level level,
                uint64_t now_ms, const char *message);

#endif
