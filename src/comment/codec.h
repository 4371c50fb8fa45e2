/*
 * Bytes of values in bodies and rows, for body.c and rows.c only: fields one after the other, without
 * gaps, numbers little endian. A value has exactly one form: whatever is decoded encodes to the same bytes
 * again. The version is that of the body or row around it.
 *
 * Writing goes to room that the caller has made and returns the end of what was written. A `decoder` reads
 * fields in the same order; after the first thing that is wrong it is bad, and everything that it reads
 * is 0. Any thread may call.
 */
#ifndef LAUD_COMMENT_CODEC_H
#define LAUD_COMMENT_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "base/little.h"
#include "comment/comment.h"

struct decoder {
    const uint8_t *at;
    size_t left;
    bool bad;
};

/* The next bytes; NULL: there are not so many. */
static inline const uint8_t *get_bytes(struct decoder *decoder, size_t length)
{
    const uint8_t *at = decoder->at;
    if (decoder->bad || decoder->left < length) {
        decoder->bad = true;
        return NULL;
    }
    decoder->at += length;
    decoder->left -= length;
    return at;
}

static inline uint8_t get_8(struct decoder *decoder)
{
    const uint8_t *at = get_bytes(decoder, 1);
    return at != NULL ? *at : 0;
}

static inline uint16_t get_16(struct decoder *decoder)
{
    const uint8_t *at = get_bytes(decoder, 2);
    return at != NULL ? little_get16(at) : 0;
}

static inline uint32_t get_32(struct decoder *decoder)
{
    const uint8_t *at = get_bytes(decoder, 4);
    return at != NULL ? little_get32(at) : 0;
}

static inline uint64_t get_64(struct decoder *decoder)
{
    const uint8_t *at = get_bytes(decoder, 8);
    return at != NULL ? little_get64(at) : 0;
}

/* A byte of flags, of which only those in `allowed` may be set. */
static inline uint8_t get_flags(struct decoder *decoder, uint8_t allowed)
{
    uint8_t flags = get_8(decoder);
    decoder->bad = decoder->bad || (flags & ~allowed) != 0;
    return decoder->bad ? 0 : flags;
}

static inline struct id get_id(struct decoder *decoder)
{
    uint64_t hi = get_64(decoder);
    return (struct id){.hi = hi, .lo = get_64(decoder)};
}

static inline struct item get_item(struct decoder *decoder)
{
    uint16_t type = get_16(decoder);
    return (struct item){.id = get_id(decoder), .type = type};
}

/* Was everything right, and is nothing left? */
static inline bool get_end(const struct decoder *decoder)
{
    return !decoder->bad && decoder->left == 0;
}

static inline uint8_t *put_8(uint8_t *out, uint8_t value)
{
    *out = value;
    return out + 1;
}

static inline uint8_t *put_16(uint8_t *out, uint16_t value)
{
    little_put16(out, value);
    return out + 2;
}

static inline uint8_t *put_32(uint8_t *out, uint32_t value)
{
    little_put32(out, value);
    return out + 4;
}

static inline uint8_t *put_64(uint8_t *out, uint64_t value)
{
    little_put64(out, value);
    return out + 8;
}

static inline uint8_t *put_id(uint8_t *out, struct id id)
{
    return put_64(put_64(out, id.hi), id.lo);
}

static inline uint8_t *put_item(uint8_t *out, struct item item)
{
    return put_id(put_16(out, item.type), item.id);
}

/* Bytes of a comment without its id, and of a subject without its item. */
#define CODEC_COMMENT_BYTES 96
#define CODEC_SUBJECT_BYTES 58

/* Everything but the id, which a row has in its key. Reading does not change comment->id. */
uint8_t *put_comment(uint8_t *out, const struct comment *comment);
void get_comment(struct decoder *decoder, struct comment *comment);

/* Everything but the item. Reading does not change subject->item. */
uint8_t *put_subject(uint8_t *out, const struct subject *subject);
void get_subject(struct decoder *decoder, struct subject *subject);

#endif
