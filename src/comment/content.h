/*
 * The content of a comment: text, extra and mentions. It is kept apart from everything else about a
 * comment, so that orders and counts never read texts. Its bytes are a protobuf message
 * (comment/content.proto), the same in rows, events and caches.
 *
 * Texts are UTF-8 and are kept exactly as they were sent.
 */
#ifndef LAUD_COMMENT_CONTENT_H
#define LAUD_COMMENT_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/text.h"

struct comment_content {
    struct text text;
    struct text extra; /* a JSON value; length 0: none */
    uint32_t time_s;   /* recorded time since which the comment has this text */
    uint32_t mention_count;
    struct id mentions[LIMIT_MENTIONS];
};

/* The largest number of bytes of an encoded content. */
#define COMMENT_CONTENT_BYTES (LIMIT_COMMENT_TEXT + LIMIT_COMMENT_EXTRA + 20 * LIMIT_MENTIONS + 64)

/* Writes the message to `out`, which has room for COMMENT_CONTENT_BYTES, and returns its length. */
size_t comment_content_encode(const struct comment_content *content, uint8_t *out);

/* Reads a message. Texts point into `bytes`. DAMAGED: it is not such a message. */
enum status comment_content_decode(const uint8_t *bytes, size_t length,
                                   struct comment_content *out);

#endif
