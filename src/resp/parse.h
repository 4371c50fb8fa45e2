/*
 * Reading RESP requests: arrays of bulk strings, or inline commands (a line of words). The parser
 * keeps only how far it got in an unfinished command, so that a command that trickles in byte by
 * byte is not read over and over; the bytes themselves stay with the caller.
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
    size_t at;     /* bytes known to be good */
    uint32_t args; /* announced; 0: not yet known */
    uint32_t done; /* of them seen whole */
};

struct resp_command {
    struct text *args; /* room for limits->args_max, the caller's */
    uint32_t count;    /* 0: an empty line or array, to be passed over */
    size_t used;       /* bytes the command took */
};

/*
 * Reads one command from the start of bytes. OK: it is in *command, and the parser is ready for the
 * next. MORE: call again with the same bytes and some more behind them. BAD_PROTOCOL: *problem says
 * why; nothing can be read from this connection any more.
 */
enum status resp_parse(struct resp_parser *parser, const struct resp_limits *limits,
                       const char *bytes, size_t length, struct resp_command *command,
                       const char **problem);

#endif
