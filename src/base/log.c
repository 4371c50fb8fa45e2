/*
 * A line is put together first and leaves in one write, so that lines of different threads never
 * mix. Standard error is the only place: whoever runs the server decides where that goes.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define LINE_MAX_BYTES 1024

static size_t put_head(char *line, size_t size, const char *level)
{
    uint64_t now_ms = clock_wall_ms();
    time_t now_s = (time_t)(now_ms / 1000);
    struct tm utc;
    gmtime_r(&now_s, &utc);
    size_t length = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &utc);
    int more =
        snprintf(line + length, size - length, ".%03uZ %-5s ", (unsigned)(now_ms % 1000), level);
    return length + (size_t)more;
}

static void say(const char *level, const char *format, va_list arguments)
{
    char line[LINE_MAX_BYTES];
    size_t length = put_head(line, sizeof line, level);
    size_t room = sizeof line - length;
    int wanted = vsnprintf(line + length, room, format, arguments);
    if (wanted > 0)
        length += (size_t)wanted < room ? (size_t)wanted : room - 1;
    line[length++] = '\n'; /* in place of the terminator */
    ssize_t written = write(STDERR_FILENO, line, length);
    (void)written; /* there is nowhere else to say it */
}

void log_info(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("info", format, arguments);
    va_end(arguments);
}

void log_warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("warn", format, arguments);
    va_end(arguments);
}

void log_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say("error", format, arguments);
    va_end(arguments);
}
