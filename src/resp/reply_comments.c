#include "resp/reply_comments.h"

#include "op/comment_reply.h"
#include "resp/write.h"

static void note(struct reply_writer *writer, bool written)
{
    writer->failed = writer->failed || !written;
}

static void begin_map(struct reply_writer *writer, uint32_t pairs)
{
    note(writer, resp_map(writer->out, pairs, writer->resp3));
}

static void begin_list(struct reply_writer *writer, uint32_t entries)
{
    note(writer, resp_array(writer->out, entries));
}

/* A length precedes every map and list, so that nothing follows them. */
static void end(struct reply_writer *writer)
{
    (void)writer;
}

static void begin_whole(struct reply_writer *writer, struct text name, uint32_t entries)
{
    (void)name;
    begin_list(writer, entries);
}

static void write_text(struct reply_writer *writer, struct text text)
{
    note(writer, resp_bulk(writer->out, text.bytes, text.length));
}

static void write_number(struct reply_writer *writer, int64_t value)
{
    note(writer, resp_integer(writer->out, value));
}

static void write_flag(struct reply_writer *writer, bool value)
{
    note(writer, resp_integer(writer->out, value));
}

static void write_null(struct reply_writer *writer)
{
    note(writer, resp_null(writer->out, writer->resp3));
}

static const struct reply_functions functions = {.begin_map = begin_map,
                                                 .end_map = end,
                                                 .begin_list = begin_list,
                                                 .end_list = end,
                                                 .key = write_text,
                                                 .text = write_text,
                                                 .json = write_text,
                                                 .number = write_number,
                                                 .flag = write_flag,
                                                 .null = write_null,
                                                 .begin_whole = begin_whole,
                                                 .end_whole = end};

bool reply_write_comments(struct buffer *out, const struct hot_request *request,
                          const struct hot_scratch *scratch, const struct names *names, bool resp3)
{
    struct reply_writer writer = {.functions = &functions, .out = out, .resp3 = resp3};
    return comment_reply_write(&writer, request, scratch, names);
}
