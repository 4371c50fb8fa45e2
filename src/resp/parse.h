/*
 * Parses RESP requests: arrays of bulk strings, or inline commands (a line of words). The parser keeps
 * only how much of an unfinished command it has checked, so that a command that arrives byte by byte
 * is not parsed again and again. The caller owns the bytes.
 */
#ifndef LAUD_RESP_PARSE_H
#define LAUD_RESP_PARSE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"

struct resp_limits {
    uint32_t args_max;
    uint32_t bulk_max;
};

/* All zero at the start of each command. */
struct resp_parser {
    size_t at;     /* how many bytes were checked and are valid */
    uint32_t args; /* how many arguments were announced; 0: this was not read yet */
    uint32_t done; /* how many of them were read completely */
};

struct resp_command {
    struct text *args; /* room for limits->args_max words; the caller owns it */
    uint32_t count;    /* 0: an empty line or array, which the caller skips */
    size_t used;       /* the length of the command in bytes */
};

/*
 * Parses one command at the start of `bytes`. OK: it is in *command, its words point into `bytes`, and
 * the parser is ready for the next. MORE: call again with the same bytes and more bytes after them.
 * BAD_PROTOCOL: *problem says why, and no further command of this connection can be parsed.
 */
enum status resp_parse(struct resp_parser *parser, const struct resp_limits *limits,
                       const char *bytes, size_t length, struct resp_command *command,
                       const char **problem);

#endif
