/*
 * The replies of operations about comments, for all faces: which fields there are, in which order, and
 * where they come from. A face gives a struct reply_writer, which knows how its protocol writes a map, a
 * list or a number. So the fields are the same in RESP2, RESP3 and JSON.
 *
 * Times are shown times (hot_shown_s). Any thread may call these functions.
 */
#ifndef LAUD_OP_COMMENT_REPLY_H
#define LAUD_OP_COMMENT_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/names.h"
#include "base/text.h"
#include "hot/comments.h"

struct reply_writer;

/* Each appends to writer->out, or sets writer->failed if there is no memory. */
struct reply_functions {
    void (*begin_map)(struct reply_writer *writer, uint32_t pairs);
    void (*end_map)(struct reply_writer *writer);
    void (*begin_list)(struct reply_writer *writer, uint32_t entries);
    void (*end_list)(struct reply_writer *writer);
    void (*key)(struct reply_writer *writer, struct text name);  /* of the next value of a map */
    void (*text)(struct reply_writer *writer, struct text text); /* UTF-8 */
    void (*json)(struct reply_writer *writer, struct text json); /* a JSON value */
    void (*number)(struct reply_writer *writer, int64_t value);
    void (*flag)(struct reply_writer *writer, bool value);
    void (*null)(struct reply_writer *writer);
    /* A list that is the whole reply. Some protocols have no such reply, but a map with one list. */
    void (*begin_whole)(struct reply_writer *writer, struct text name, uint32_t entries);
    void (*end_whole)(struct reply_writer *writer);
    bool null_cursor; /* the cursor at the end of a list is null, and not an empty text */
};

struct reply_writer {
    const struct reply_functions *functions;
    struct buffer *out;
    bool resp3;
    bool failed;
};

/* Writes the reply to a request whose shape is one of comments. False: there is no memory. */
bool comment_reply_write(struct reply_writer *writer, const struct hot_request *request,
                         const struct hot_scratch *scratch, const struct names *names);

/* Writes one card. With `threads`, a root has its replies, and says how many more there are. */
void comment_reply_card(struct reply_writer *writer, const struct hot_card *card,
                        const struct hot_scratch *scratch, const struct names *names, bool threads);

/*
 * Why the hot tier has refused a request: the sentence of the status, or a more precise one, which is in
 * `room`.
 */
#define COMMENT_SENTENCE 160
const char *comment_reply_sentence(const struct hot_request *request, const char *usual,
                                   char room[COMMENT_SENTENCE]);

#endif
