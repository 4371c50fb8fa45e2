/*
 * The log of the server: lines on standard error, each with time, level and message, as text,
 * logfmt or JSON. A message may contain any bytes: it always becomes exactly one line, and control
 * characters that a terminal would obey are escaped.
 *
 * Each log statement in the code is limited to LOG_BURST lines per second. Further lines of that
 * second are suppressed, and after it one line reports how many there were. Any thread may log.
 */
#ifndef LAUD_BASE_LOG_H
#define LAUD_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_BURST     10   /* lines of one statement per second */
#define LOG_LINE_MAX  4096 /* bytes of a line, including its end */
#define LOG_MESSAGE   1024 /* bytes of a message before escaping */
#define LOG_SECOND_MS 1000

enum log_level { LOG_INFO, LOG_WARN, LOG_ERROR };

enum log_format { LOG_TEXT, LOG_LOGFMT, LOG_JSON }; /* in the order of the words of --log-format */

/* A log statement in the code. It is a static variable, all zero at first. */
struct log_site {
    _Atomic uint64_t second_ms;  /* when the current second of this statement began */
    _Atomic uint32_t said;       /* lines in that second */
    _Atomic uint32_t suppressed; /* lines suppressed in that second */
    atomic_bool listed;
    /* The following members are written once, under a lock, when the statement is first listed. */
    const char *file;
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

void log_set_format(enum log_format format); /* call it before other threads start */

/*
 * Logs how many lines each statement suppressed, for every statement whose second is over. The
 * server calls it periodically; log_say does the same.
 */
void log_settle(uint64_t now_ms);

/* Lines suppressed since the start. */
uint64_t log_suppressed(void);

/* May this statement log one more line now? */
bool log_admit(struct log_site *site, uint64_t now_ms);

/*
 * Writes a whole line including its end and returns its length. A message that does not fit is cut
 * off, but the line stays well-formed.
 */
size_t log_line(char out[LOG_LINE_MAX], enum log_format format, enum log_level level,
                uint64_t now_ms, const char *message);

#endif
