/*
 * A line is composed first and then written with one write call, so that lines of different threads
 * never mix. All lines go to standard error; the operator decides where that is stored.
 *
 * A log statement that suppresses lines is put on a list. So the number of suppressed lines is
 * logged when its second is over, even if that statement never runs again. Statements stay on the
 * list; there are only as many as the code has.
 */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static enum log_format line_format;
static _Atomic uint64_t suppressed_total;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct log_site *listed; /* under the lock */

void log_set_format(enum log_format format)
{
    line_format = format;
}

uint64_t log_suppressed(void)
{
    return atomic_load_explicit(&suppressed_total, memory_order_relaxed);
}

static void write_line(enum log_level level, uint64_t now_ms, const char *message)
{
    char line[LOG_LINE_MAX];
    size_t length = log_line(line, line_format, level, now_ms, message);
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written; /* a failure cannot be reported anywhere */
}

static void list(struct log_site *site, const char *file, int line)
{
    if (atomic_exchange(&site->listed, true))
        return;
    pthread_mutex_lock(&list_lock);
    site->file = file;
    site->line = line;
    site->next = listed;
    listed = site;
    pthread_mutex_unlock(&list_lock);
}

static bool is_over(const struct log_site *site, uint64_t now_ms)
{
    uint64_t began_ms = atomic_load_explicit(&site->second_ms, memory_order_relaxed);
    /* This is true also after the clock was set back. */
    return now_ms < began_ms || now_ms - began_ms >= LOG_SECOND_MS;
}

/*
 * Threads that log at the same time may together write a few lines too many, but every suppressed
 * line is counted.
 */
bool log_admit(struct log_site *site, uint64_t now_ms)
{
    if (is_over(site, now_ms)) {
        atomic_store_explicit(&site->second_ms, now_ms, memory_order_relaxed);
        atomic_store_explicit(&site->said, 0, memory_order_relaxed);
    }
    if (atomic_fetch_add_explicit(&site->said, 1, memory_order_relaxed) < LOG_BURST)
        return true;
    atomic_fetch_add_explicit(&site->suppressed, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&suppressed_total, 1, memory_order_relaxed);
    return false;
}

void log_settle(uint64_t now_ms)
{
    pthread_mutex_lock(&list_lock);
    for (struct log_site *site = listed; site != NULL; site = site->next) {
        if (atomic_load_explicit(&site->suppressed, memory_order_relaxed) == 0 ||
            !is_over(site, now_ms))
            continue;
        char message[LOG_MESSAGE];
        const char *file = strrchr(site->file, '/');
        snprintf(message, sizeof message, "%u more lines from %s:%d were suppressed",
                 (unsigned)atomic_exchange(&site->suppressed, 0),
                 file != NULL ? file + 1 : site->file, site->line);
        write_line(LOG_WARN, now_ms, message);
    }
    pthread_mutex_unlock(&list_lock);
}

void log_say(struct log_site *site, const char *file, int line, enum log_level level,
             const char *format, ...)
{
    uint64_t now_ms = clock_wall_ms();
    char message[LOG_MESSAGE];
    if (atomic_load_explicit(&site->listed, memory_order_relaxed))
        log_settle(now_ms);
    if (!log_admit(site, now_ms)) {
        list(site, file, line);
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    write_line(level, now_ms, message);
}
