/*
 * A command that is complete is parsed in one pass, and its arguments point into the caller's bytes.
 * If the bytes end before the command does, the parser remembers how far it got. The next call
 * continues there without collecting arguments, because the caller may have copied the bytes
 * elsewhere. Once the command is complete, it is parsed again from its start. So each byte is read at
 * most twice, however many reads the command took.
 */
#include "resp/parse.h"

#include "base/assert.h"
#include "base/limits.h"

static inline bool is_line_end(const char *at)
{
    return memcmp(at, "\r\n", 2) == 0;
}

static enum status read_any_length(const char *bytes, size_t length, size_t *at, uint32_t max,
                                   uint32_t *out)
{
    uint64_t value = 0;
    size_t i = *at;
    for (; i < length && bytes[i] != '\r'; i++) {
        unsigned digit = (unsigned char)bytes[i] - (unsigned)'0';
        if (digit > 9 || i - *at >= 10)
            return STATUS_BAD_PROTOCOL;
        value = value * 10 + digit;
    }
    if (value > max || (i < length && i == *at))
        return STATUS_BAD_PROTOCOL;
    if (i + 1 >= length)
        return STATUS_MORE;
    if (bytes[i + 1] != '\n')
        return STATUS_BAD_PROTOCOL;
    *at = i + 2;
    *out = (uint32_t)value;
    return STATUS_OK;
}

/*
 * Reads a length after its type byte: digits and CRLF. OK: *at is the offset after them. Nearly all
 * lengths have one or two digits and are complete. All others, and all errors, take the slow path,
 * which works on copies, so that *at and *out can stay in registers on the fast path.
 */
static inline enum status read_length(const char *bytes, size_t length, size_t *at, uint32_t max,
                                      uint32_t *out)
{
    const char *from = bytes + *at;
    if (length - *at >= 4) {
        uint32_t value = (unsigned char)from[0] - (uint32_t)'0';
        uint32_t second = (unsigned char)from[1] - (uint32_t)'0';
        bool two = second <= 9;
        bool good = value <= 9 && is_line_end(from + 1 + two);
        value = two ? value * 10 + second : value;
        if (good && value <= max) {
            *at += 3 + two;
            *out = value;
            return STATUS_OK;
        }
    }
    size_t behind = *at;
    uint32_t value = 0;
    enum status status = read_any_length(bytes, length, &behind, max, &value);
    *at = behind;
    *out = value;
    return status;
}

/* Reads one bulk string at *at and sets *at to the offset after it. */
static inline enum status read_bulk(const struct resp_limits *limits, const char *bytes,
                                    size_t length, size_t *at, struct text *out,
                                    const char **problem)
{
    size_t from = *at;
    uint32_t size;
    if (from == length)
        return STATUS_MORE;
    if (bytes[from++] != '$') {
        *problem = "Protocol error: expected '$' and the length of an argument";
        return STATUS_BAD_PROTOCOL;
    }
    enum status status = read_length(bytes, length, &from, limits->bulk_max, &size);
    if (status == STATUS_BAD_PROTOCOL)
        *problem = "Protocol error: bad or too large length of an argument";
    if (status != STATUS_OK)
        return status;
    if (length - from < (size_t)size + 2)
        return STATUS_MORE;
    if (!is_line_end(bytes + from + size)) {
        *problem = "Protocol error: an argument does not end where its length says";
        return STATUS_BAD_PROTOCOL;
    }
    *out = (struct text){bytes + from, size};
    *at = from + size + 2;
    return STATUS_OK;
}

/* Reads the bulk strings from parser->at on, and collects them if args is not NULL. */
static enum status read_bulks(struct resp_parser *parser, const struct resp_limits *limits,
                              const char *bytes, size_t length, struct text *args,
                              const char **problem)
{
    enum status status = STATUS_OK;
    struct text passed;
    uint32_t done = parser->done;
    size_t at = parser->at;
    while (done < parser->args) {
        status = read_bulk(limits, bytes, length, &at, args ? &args[done] : &passed, problem);
        if (status != STATUS_OK)
            break;
        done++;
    }
    parser->done = done;
    parser->at = at;
    return status;
}

static enum status read_array(struct resp_parser *parser, const struct resp_limits *limits,
                              const char *bytes, size_t length, struct resp_command *command,
                              const char **problem)
{
    bool resumed = parser->done > 0;
    if (parser->args == 0) {
        size_t at = 1;
        uint32_t args;
        enum status status = read_length(bytes, length, &at, limits->args_max, &args);
        if (status == STATUS_BAD_PROTOCOL)
            *problem = "Protocol error: bad or too large number of arguments";
        if (status != STATUS_OK)
            return status;
        parser->at = at;
        parser->args = args;
    }
    enum status status =
        read_bulks(parser, limits, bytes, length, resumed ? NULL : command->args, problem);
    if (status != STATUS_OK)
        return status;
    size_t end = parser->at;
    if (resumed) {
        size_t start = (size_t)((const char *)memchr(bytes, '\n', end) - bytes) + 1;
        *parser = (struct resp_parser){.at = start, .args = parser->args};
        status = read_bulks(parser, limits, bytes, length, command->args, problem);
        ASSERT(status == STATUS_OK && parser->at == end);
    }
    command->count = parser->args;
    command->used = end;
    *parser = (struct resp_parser){0};
    return STATUS_OK;
}

/* Web pages can make a browser post to any port, so input that looks like HTTP is not run as commands. */
static bool looks_like_http(const struct resp_command *line)
{
    static const char version[] = "HTTP/";
    const struct text *words = line->args;
    if (line->count == 0)
        return false;
    return text_is(words[0], "POST") || text_is(words[0], "Host:") ||
           (line->count == 3 && words[2].length > sizeof version &&
            memcmp(words[2].bytes, version, sizeof version - 1) == 0);
}

/* The first bytes of a TLS handshake are its record type and the first byte of a version. */
static bool looks_like_tls(const char *bytes, size_t length)
{
    return length >= 2 && bytes[0] == 0x16 && bytes[1] == 0x03;
}

static enum status split_line(const struct resp_limits *limits, const char *line, size_t length,
                              struct resp_command *command, const char **problem)
{
    command->count = 0;
    for (size_t i = 0; i < length;) {
        if (line[i] == ' ' || line[i] == '\t') {
            i++;
            continue;
        }
        size_t start = i;
        while (i < length && line[i] != ' ' && line[i] != '\t')
            i++;
        if (command->count == limits->args_max || i - start > limits->bulk_max) {
            *problem = "Protocol error: too many or too long words in an inline command";
            return STATUS_BAD_PROTOCOL;
        }
        command->args[command->count++] = (struct text){line + start, i - start};
    }
    if (looks_like_http(command)) {
        *problem = "Protocol error: this port speaks RESP, HTTP is on the port of --http";
        return STATUS_BAD_PROTOCOL;
    }
    return STATUS_OK;
}

static enum status read_inline(struct resp_parser *parser, const struct resp_limits *limits,
                               const char *bytes, size_t length, struct resp_command *command,
                               const char **problem)
{
    if (looks_like_tls(bytes, length)) {
        *problem = "Protocol error: this is a TLS handshake, and this port speaks RESP without TLS";
        return STATUS_BAD_PROTOCOL;
    }
    size_t limit = length < LIMIT_INLINE ? length : LIMIT_INLINE;
    ASSERT(parser->at <= limit); /* the caller passes the same bytes again, and more */
    const char *end = memchr(bytes + parser->at, '\n', limit - parser->at);
    if (end == NULL && length >= LIMIT_INLINE) {
        *problem = "Protocol error: too long inline command";
        return STATUS_BAD_PROTOCOL;
    }
    parser->at = limit;
    if (end == NULL)
        return STATUS_MORE;
    size_t line = (size_t)(end - bytes);
    command->used = line + 1;
    *parser = (struct resp_parser){0};
    if (line > 0 && bytes[line - 1] == '\r')
        line--;
    return split_line(limits, bytes, line, command, problem);
}

enum status resp_parse(struct resp_parser *parser, const struct resp_limits *limits,
                       const char *bytes, size_t length, struct resp_command *command,
                       const char **problem)
{
    if (length == 0)
        return STATUS_MORE;
    if (bytes[0] == '*')
        return read_array(parser, limits, bytes, length, command, problem);
    return read_inline(parser, limits, bytes, length, command, problem);
}
