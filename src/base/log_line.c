/*
 * Composes a line. A message may contain any bytes: what a client sent, the name of a file, an
 * error text of a library. Therefore everything that is not plain text is escaped: control bytes,
 * DEL, bytes that are not well-formed UTF-8, and the control characters U+0080 to U+009F, some of
 * which terminals obey.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/log.h"

#define TAIL_ROOM 16 /* for "...", a quote, a brace, a line end */

static const char *const level_names[] = {"info", "warn", "error"};

/* The length of the well-formed character that begins here; 0: there is none. */
static size_t utf8_length(const unsigned char *at)
{
    if (at[0] < 0x80)
        return 1;
    size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    if (at[0] < 0xc2 || at[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0; /* also the terminator */
    bool overlong = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xf0 && at[1] < 0x90);
    bool beyond = at[0] == 0xf4 && at[1] >= 0x90;
    bool surrogate = at[0] == 0xed && at[1] >= 0xa0;
    return overlong || beyond || surrogate ? 0 : length;
}

static bool is_plain(const unsigned char *at, size_t length, bool quoted)
{
    if (length == 1)
        return at[0] >= 0x20 && at[0] != 0x7f && at[0] != '\\' && !(quoted && at[0] == '"');
    return length > 1 && !(at[0] == 0xc2 && at[1] < 0xa0);
}

/* Writes one character that has to be escaped, as the format requires. */
static int escape(char *out, size_t room, enum log_format format, const unsigned char *at,
                  size_t length)
{
    bool short_form = at[0] == '\\' || (format != LOG_TEXT && at[0] == '"');
    if (short_form)
        return snprintf(out, room, "\\%c", at[0]);
    if (at[0] == '\n' || at[0] == '\r' || at[0] == '\t')
        return snprintf(out, room, "\\%c", at[0] == '\n' ? 'n' : at[0] == '\r' ? 'r' : 't');
    if (format != LOG_JSON)
        return snprintf(out, room, "\\x%02x", at[0]);
    if (length == 0)
        return snprintf(out, room, "\\ufffd");
    return snprintf(out, room, "\\u%04x", length == 1 ? at[0] : at[1]);
}

static size_t put_message(char *out, size_t room, enum log_format format, const char *message)
{
    const unsigned char *at = (const unsigned char *)message;
    size_t used = 0;
    while (*at != '\0') {
        char piece[8];
        size_t length = utf8_length(at), size;
        size_t taken = length == 0 ? 1 : length;
        if (is_plain(at, length, format != LOG_TEXT)) {
            memcpy(piece, at, length);
            size = length;
        } else {
            size = (size_t)escape(piece, sizeof piece, format, at, length);
            taken = format == LOG_JSON ? taken : 1;
        }
        if (used + size > room) {
            memcpy(out + used, "...", 3);
            return used + 3;
        }
        memcpy(out + used, piece, size);
        used += size;
        at += taken;
    }
    return used;
}

size_t log_line(char out[LOG_LINE_MAX], enum log_format format, enum log_level level,
                uint64_t now_ms, const char *message)
{
    static const char *const heads[] = {"%s.%03uZ %-5s ", "time=%s.%03uZ level=%s msg=\"",
                                        "{\"time\":\"%s.%03uZ\",\"level\":\"%s\",\"msg\":\""};
    static const char *const tails[] = {"\n", "\"\n", "\"}\n"};
    ASSERT(format <= LOG_JSON && level <= LOG_ERROR);
    time_t now_s = (time_t)(now_ms / 1000);
    struct tm utc;
    char time_text[32];
    gmtime_r(&now_s, &utc);
    strftime(time_text, sizeof time_text, "%Y-%m-%dT%H:%M:%S", &utc);
    size_t length = (size_t)snprintf(out, LOG_LINE_MAX, heads[format], time_text,
                                     (unsigned)(now_ms % 1000), level_names[level]);
    length += put_message(out + length, LOG_LINE_MAX - length - TAIL_ROOM, format, message);
    memcpy(out + length, tails[format], strlen(tails[format]));
    return length + strlen(tails[format]);
}
