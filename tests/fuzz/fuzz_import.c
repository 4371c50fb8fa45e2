/*
 * Any bytes as a file that is taken over: it is cut into lines to its last byte, neither parser reads
 * past a line (each is a heap block of its own size), and what they find lies in it.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "move/comment_line.h"
#include "move/lines.h"
#include "move/row.h"

static bool is_within(struct text part, struct text line)
{
    return part.length == 0 ||
           (part.bytes >= line.bytes && part.bytes + part.length <= line.bytes + line.length);
}

static void check(enum status status, const struct row *row, struct text line, const char *problem)
{
    ASSERT(status == STATUS_OK || status == STATUS_BAD_ARGUMENT);
    ASSERT(status == STATUS_OK || strlen(problem) > 0);
    if (status == STATUS_OK)
        ASSERT(is_within(row->user, line) && is_within(row->item, line) &&
               is_within(row->name, line) && is_within(row->line, line));
}

/* A line about comments is parsed again by another parser. */
static void parse_comment(struct text line)
{
    char problem[256] = "";
    struct comment_line parsed;
    enum status status = comment_line_parse(line, &parsed, problem, sizeof problem);
    ASSERT(status == STATUS_OK || status == STATUS_BAD_ARGUMENT);
    ASSERT(status == STATUS_OK || strlen(problem) > 0);
    if (status == STATUS_OK) {
        ASSERT(parsed.comment.history_count <= LIMIT_VERSIONS);
        ASSERT(parsed.comment.content.mention_count <= LIMIT_MENTIONS);
        ASSERT(parsed.comment.has_content ==
               (parsed.shape == COMMENT_LINE_COMMENT && !parsed.comment.comment.deleted));
    }
    comment_line_free(&parsed);
}

static void parse(struct text given, bool first)
{
    char problem[256];
    struct row row;
    char *block = malloc(given.length ? given.length : 1);
    memcpy(block, given.bytes, given.length);
    struct text line = {block, given.length};
    problem[0] = '\0';
    enum status status = row_parse_json(line, &row, problem, sizeof problem);
    check(status, &row, line, problem);
    if (status == STATUS_OK && row.shape == ROW_COMMENT)
        parse_comment(row.line);
    problem[0] = '\0';
    status = row_parse_csv(line, first, &row, problem, sizeof problem);
    check(status, &row, line, problem);
    free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int ends[2];
    struct lines lines;
    struct text line;
    if (size > 16384 || pipe(ends) != 0)
        return 0;
    ssize_t written = write(ends[1], data, size);
    ASSERT(written == (ssize_t)size); /* a pipe takes that much at once */
    close(ends[1]);
    ASSERT(lines_start(&lines, ends[0], 0, 0));
    enum status status;
    while ((status = lines_next(&lines, &line)) != STATUS_MORE) {
        ASSERT(status == STATUS_OK || status == STATUS_BAD_ARGUMENT);
        if (status == STATUS_OK)
            parse(line, lines.number == 1);
    }
    ASSERT(lines.offset == size);
    lines_end(&lines);
    close(ends[0]);
    return 0;
}
