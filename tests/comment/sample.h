/* Random comments, subjects and contents, valid in every respect, for tests of their bytes. */
#ifndef LAUD_COMMENT_SAMPLE_H
#define LAUD_COMMENT_SAMPLE_H

#include <string.h>

#include "chance.h"
#include "comment/comment.h"

static inline bool sample_bool(struct chance *chance)
{
    return chance_below(chance, 2) != 0;
}

static inline struct id sample_id(struct chance *chance)
{
    return (struct id){.hi = sample_bool(chance) ? 0 : chance_next(chance) | 1,
                       .lo = chance_next(chance)};
}

static inline struct item sample_item(struct chance *chance)
{
    return (struct item){.id = sample_id(chance), .type = (uint16_t)chance_next(chance)};
}

static inline uint64_t sample_comment_id(struct chance *chance)
{
    return chance_next(chance) >> 1 | 1;
}

static inline struct comment sample_comment(struct chance *chance)
{
    bool root = sample_bool(chance);
    struct comment comment = {
        .id = sample_comment_id(chance),
        .subject = sample_item(chance),
        .root = root ? COMMENT_NONE : sample_comment_id(chance),
        .reply_to = root ? COMMENT_NONE : sample_comment_id(chance),
        .floor = (uint32_t)chance_next(chance) | 1,
        .time_s = (uint32_t)chance_next(chance),
        .edited_s = (uint32_t)chance_next(chance),
        .open_replies = (uint32_t)chance_next(chance),
        .next_floor = (uint32_t)chance_next(chance),
        .versions = (uint32_t)chance_next(chance),
        .reviewed = (uint32_t)chance_next(chance),
        .moderation = (uint8_t)chance_below(chance, COMMENT_SHADOW + 1),
        .deleted = sample_bool(chance),
        .anonymous = sample_bool(chance),
        .was_open = sample_bool(chance),
    };
    if (!comment.anonymous)
        comment.author = sample_id(chance);
    if (!root)
        comment.reply_to_user = sample_id(chance);
    return comment;
}

static inline struct subject sample_subject(struct chance *chance)
{
    struct subject subject = {
        .item = sample_item(chance),
        .has_owner = sample_bool(chance),
        .mode = (uint8_t)chance_below(chance, SUBJECT_CLOSED + 1),
        .pin_count = (uint8_t)chance_below(chance, SUBJECT_PINS + 1),
        .next_floor = (uint32_t)chance_next(chance) | 1,
        .dropped_floor = (uint32_t)chance_next(chance),
        .roots = chance_next(chance),
    };
    if (subject.has_owner)
        subject.owner = sample_id(chance);
    for (unsigned i = 0; i < subject.pin_count; i++)
        subject.pins[i] = sample_comment_id(chance);
    return subject;
}

static inline void expect_comment(const struct comment *a, const struct comment *b)
{
    assert_int_equal(a->id, b->id);
    assert_true(item_equal(a->subject, b->subject));
    assert_int_equal(a->root, b->root);
    assert_int_equal(a->reply_to, b->reply_to);
    assert_true(id_equal(a->author, b->author));
    assert_true(id_equal(a->reply_to_user, b->reply_to_user));
    assert_int_equal(a->floor, b->floor);
    assert_int_equal(a->time_s, b->time_s);
    assert_int_equal(a->edited_s, b->edited_s);
    assert_int_equal(a->open_replies, b->open_replies);
    assert_int_equal(a->next_floor, b->next_floor);
    assert_int_equal(a->versions, b->versions);
    assert_int_equal(a->reviewed, b->reviewed);
    assert_int_equal(a->moderation, b->moderation);
    assert_int_equal(a->deleted, b->deleted);
    assert_int_equal(a->anonymous, b->anonymous);
    assert_int_equal(a->was_open, b->was_open);
}

static inline void expect_subject(const struct subject *a, const struct subject *b)
{
    assert_true(item_equal(a->item, b->item));
    assert_int_equal(a->has_owner, b->has_owner);
    assert_true(id_equal(a->owner, b->owner));
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->pin_count, b->pin_count);
    assert_int_equal(a->next_floor, b->next_floor);
    assert_int_equal(a->dropped_floor, b->dropped_floor);
    assert_int_equal(a->roots, b->roots);
    for (unsigned i = 0; i < SUBJECT_PINS; i++)
        assert_int_equal(a->pins[i], b->pins[i]);
}

/*
 * Bytes in a block of their own size, so that the address sanitizer sees a read past their end. The caller
 * frees it.
 */
static inline uint8_t *sample_block(const uint8_t *bytes, size_t length)
{
    uint8_t *block = malloc(length ? length : 1);
    assert_non_null(block);
    memcpy(block, bytes, length);
    return block;
}

/*
 * `again` decodes bytes and encodes what it finds to `out` (0: they are damaged). Whatever single bit is
 * flipped and wherever the bytes are cut, that must fail, or give the same bytes again.
 */
typedef size_t sample_again_fn(const uint8_t *bytes, size_t length, uint8_t *out);

static inline void expect_one_form(sample_again_fn *again, const uint8_t *bytes, size_t length,
                                   uint8_t *out)
{
    assert_int_equal(again(bytes, length, out), length);
    assert_memory_equal(out, bytes, length);
    uint8_t *block = sample_block(bytes, length);
    for (size_t bit = 0; bit < length * 8; bit++) {
        block[bit / 8] ^= (uint8_t)(1 << bit % 8);
        size_t got = again(block, length, out);
        assert_true(got == 0 || (got == length && memcmp(out, block, length) == 0));
        block[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free(block);
    for (size_t cut = 0; cut < length; cut++) {
        block = sample_block(bytes, cut);
        assert_int_equal(again(block, cut, out), 0);
        free(block);
    }
    block = malloc(length + 1);
    assert_non_null(block);
    memcpy(block, bytes, length);
    block[length] = 0;
    assert_int_equal(again(block, length + 1, out), 0);
    free(block);
}

#endif
