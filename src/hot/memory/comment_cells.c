/*
 * The words of a comment, each with 8 bytes; a word with two numbers has the first one in its lower half:
 *
 *     id, subject's id, author, floor and time_s
 *     a root:  open_replies and next_floor
 *     a reply: root, reply_to, reply_to_user
 *     edited_s and versions, reviewed         if any of them is not 0 (HAS_EDITS)
 *     upper halves of subject, author and reply_to_user, each if it is not 0
 *     the content, or the first of the cells that have it (IS_LONG)
 *
 * The words of a subject are: its id (both halves), owner (both halves), next_floor and dropped_floor, roots, and
 * three pins.
 */
#include "hot/memory/comment_cells.h"

#include <string.h>

#include "base/assert.h"
#include "comment/content.h"

enum {
    CONTENT_MASK = 3, /* enum kept_content */
    IS_REPLY = 4,
    HAS_EDITS = 8,
    WIDE_SUBJECT = 16,
    WIDE_AUTHOR = 32,
    WIDE_REPLY_TO = 64,
    IS_LONG = 128,
};

enum { MODERATION_MASK = 3, DELETED = 4, ANONYMOUS = 8, WAS_OPEN = 16 };
enum { MODE_MASK = 3, PINS_SHIFT = 2, PINS_MASK = 3, HAS_OWNER = 16 };

#define WORDS_MAX     12 /* of a comment without its content */
#define SUBJECT_WORDS (6 + SUBJECT_PINS)
#define SUBJECT_BYTES (sizeof(struct kept_cell) + SUBJECT_WORDS * sizeof(uint64_t))
#define CHUNK_BYTES   (SLAB_CELL_MAX - sizeof(struct chunk))

/* A part of a long content. */
struct chunk {
    uint32_t next;
    uint32_t length;
    uint8_t bytes[];
};

_Static_assert(sizeof(struct kept_cell) == 24, "a cell begins with three words");
_Static_assert(COMMENT_CONTENT_BYTES < 1 << 14, "the length of a content fits its bits");
_Static_assert(SLAB_CELL_MAX / SLAB_UNIT < 1 << 10, "the size of a cell fits its bits");

static uint64_t two(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

static size_t rounded(size_t bytes)
{
    return (bytes + SLAB_UNIT - 1) / SLAB_UNIT * SLAB_UNIT;
}

/* Writes the words of a comment without its content; returns how many. */
static size_t pack(const struct comment *comment, uint64_t *out, uint8_t *form)
{
    uint64_t *at = out;
    *at++ = comment->id;
    *at++ = comment->subject.id.lo;
    *at++ = comment->author.lo;
    *at++ = two(comment->floor, comment->time_s);
    if (comment_is_root(comment)) {
        *at++ = two(comment->open_replies, comment->next_floor);
    } else {
        *form |= IS_REPLY;
        *at++ = comment->root;
        *at++ = comment->reply_to;
        *at++ = comment->reply_to_user.lo;
    }
    if (comment->edited_s != 0 || comment->versions != 0 || comment->reviewed != 0) {
        *form |= HAS_EDITS;
        *at++ = two(comment->edited_s, comment->versions);
        *at++ = comment->reviewed;
    }
    const uint64_t upper[] = {comment->subject.id.hi, comment->author.hi,
                              comment->reply_to_user.hi};
    for (unsigned i = 0; i < 3; i++) {
        if (upper[i] == 0)
            continue;
        *form |= (uint8_t)(WIDE_SUBJECT << i);
        *at++ = upper[i];
    }
    return (size_t)(at - out);
}

static uint8_t pack_state(const struct comment *comment)
{
    return (uint8_t)(comment->moderation | (comment->deleted ? DELETED : 0) |
                     (comment->anonymous ? ANONYMOUS : 0) | (comment->was_open ? WAS_OPEN : 0));
}

static void unpack(const struct kept_cell *cell, struct comment *out)
{
    const uint64_t *at = cell->words;
    *out = (struct comment){.id = at[0],
                            .subject = {.id = {.lo = at[1]}, .type = cell->type},
                            .author = {.lo = at[2]},
                            .floor = (uint32_t)at[3],
                            .time_s = (uint32_t)(at[3] >> 32),
                            .moderation = cell->state & MODERATION_MASK,
                            .deleted = cell->state & DELETED,
                            .anonymous = cell->state & ANONYMOUS,
                            .was_open = cell->state & WAS_OPEN};
    at += 4;
    if (cell->form & IS_REPLY) {
        out->root = *at++;
        out->reply_to = *at++;
        out->reply_to_user.lo = *at++;
    } else {
        out->open_replies = (uint32_t)*at;
        out->next_floor = (uint32_t)(*at++ >> 32);
    }
    if (cell->form & HAS_EDITS) {
        out->edited_s = (uint32_t)*at;
        out->versions = (uint32_t)(*at++ >> 32);
        out->reviewed = (uint32_t)*at++;
    }
    if (cell->form & WIDE_SUBJECT)
        out->subject.id.hi = *at++;
    if (cell->form & WIDE_AUTHOR)
        out->author.hi = *at++;
    if (cell->form & WIDE_REPLY_TO)
        out->reply_to_user.hi = *at;
}

static void free_chunks(struct slab *slab, uint32_t chunk)
{
    while (chunk != 0) {
        const struct chunk *at = slab_at(slab, chunk);
        uint32_t next = at->next;
        slab_free(slab, chunk, rounded(sizeof *at + at->length));
        chunk = next;
    }
}

/* Puts a long content into cells; the first one, or 0: no memory. */
static uint32_t make_chunks(struct slab *slab, const uint8_t *bytes, uint32_t length)
{
    uint32_t first = 0;
    while (length > 0) { /* from the end to the beginning, so that each one knows the next */
        uint32_t some = length % CHUNK_BYTES != 0 ? length % CHUNK_BYTES : CHUNK_BYTES;
        uint32_t cell = slab_alloc(slab, rounded(sizeof(struct chunk) + some));
        if (cell == 0) {
            free_chunks(slab, first);
            return 0;
        }
        struct chunk *chunk = slab_at(slab, cell);
        *chunk = (struct chunk){.next = first, .length = some};
        memcpy(chunk->bytes, bytes + length - some, some);
        first = cell;
        length -= some;
    }
    return first;
}

/* Makes a cell of these words with the content behind them. */
static uint32_t make(struct slab *slab, const struct kept_cell *head, const uint64_t *words,
                     size_t count, const uint8_t *bytes)
{
    size_t size = sizeof *head + count * sizeof *words;
    uint32_t length = head->content_length, chunks = 0;
    bool is_long = size + length > SLAB_CELL_MAX;
    ASSERT(length == 0 || bytes != NULL);
    if (is_long) {
        chunks = make_chunks(slab, bytes, length);
        if (chunks == 0)
            return 0;
    }
    size = rounded(size + (is_long ? sizeof(uint64_t) : length));
    uint32_t made = slab_alloc(slab, size);
    if (made == 0) {
        free_chunks(slab, chunks);
        return 0;
    }
    struct kept_cell *cell = slab_at(slab, made);
    *cell = *head;
    cell->units = size / SLAB_UNIT;
    memcpy(cell->words, words, count * sizeof *words);
    if (is_long) {
        cell->form |= IS_LONG;
        cell->words[count] = chunks;
    } else if (length > 0) {
        memcpy(cell->words + count, bytes, length);
    }
    return made;
}

uint32_t kept_make_comment(struct slab *slab, const struct comment *comment, uint8_t flags,
                           struct kept_bytes content)
{
    uint64_t words[WORDS_MAX];
    uint8_t copied[COMMENT_CONTENT_BYTES];
    struct kept_cell head = {.flags = flags & ~(unsigned)KEPT_SUBJECT,
                             .type = comment->subject.type,
                             .form = (uint8_t)content.where,
                             .state = pack_state(comment)};
    if (content.where == KEPT_HERE) {
        ASSERT(content.length <= COMMENT_CONTENT_BYTES);
        head.content_length = content.length & ((1U << 14) - 1);
    }
    if (content.where == KEPT_HERE && content.bytes == NULL) {
        const struct kept_cell *from = slab_at(slab, content.from);
        ASSERT(from->content_length == content.length);
        kept_copy_content(slab, from, copied);
        content.bytes = copied;
    }
    size_t count = pack(comment, words, &head.form);
    return make(slab, &head, words, count, content.bytes);
}

static uint8_t subject_state(const struct subject *subject)
{
    return (uint8_t)(subject->mode | subject->pin_count << PINS_SHIFT |
                     (subject->has_owner ? HAS_OWNER : 0));
}

static void pack_subject(const struct subject *subject, uint64_t *out)
{
    *out++ = subject->item.id.lo;
    *out++ = subject->item.id.hi;
    *out++ = subject->owner.lo;
    *out++ = subject->owner.hi;
    *out++ = two(subject->next_floor, subject->dropped_floor);
    *out++ = subject->roots;
    for (unsigned i = 0; i < SUBJECT_PINS; i++)
        *out++ = i < subject->pin_count ? subject->pins[i] : COMMENT_NONE;
}

uint32_t kept_make_subject(struct slab *slab, const struct subject *subject, uint8_t flags)
{
    uint64_t words[SUBJECT_WORDS];
    struct kept_cell head = {.flags = flags | (unsigned)KEPT_SUBJECT,
                             .type = subject->item.type,
                             .state = subject_state(subject)};
    pack_subject(subject, words);
    return make(slab, &head, words, SUBJECT_WORDS, NULL);
}

void kept_write_subject(struct kept_cell *cell, const struct subject *subject)
{
    ASSERT(cell->flags & KEPT_SUBJECT);
    cell->state = subject_state(subject);
    pack_subject(subject, cell->words);
}

void kept_read_subject(const struct kept_cell *cell, struct subject *out)
{
    const uint64_t *at = cell->words;
    ASSERT(cell->flags & KEPT_SUBJECT);
    *out = (struct subject){.item = kept_item(cell),
                            .owner = {.lo = at[2], .hi = at[3]},
                            .has_owner = cell->state & HAS_OWNER,
                            .mode = cell->state & MODE_MASK,
                            .pin_count = cell->state >> PINS_SHIFT & PINS_MASK,
                            .next_floor = (uint32_t)at[4],
                            .dropped_floor = (uint32_t)(at[4] >> 32),
                            .roots = at[5]};
    memcpy(out->pins, at + 6, sizeof out->pins);
}

uint64_t kept_id(const struct kept_cell *cell)
{
    return cell->words[0];
}

struct item kept_item(const struct kept_cell *cell)
{
    return (struct item){.id = {.lo = cell->words[0], .hi = cell->words[1]}, .type = cell->type};
}

void kept_read(const struct kept_cell *cell, struct kept *out)
{
    ASSERT(!(cell->flags & KEPT_SUBJECT));
    unpack(cell, &out->comment);
    out->position = cell->position;
    out->content_length = cell->content_length;
    out->content = cell->form & CONTENT_MASK;
    out->gone = cell->flags & KEPT_GONE;
}

/* The first word after those of the comment: its content, or the first cell of a long one. */
static const uint64_t *content_of(const struct kept_cell *cell)
{
    unsigned wide = (unsigned)(cell->form & (WIDE_SUBJECT | WIDE_AUTHOR | WIDE_REPLY_TO));
    return cell->words + 4 + (cell->form & IS_REPLY ? 3 : 1) + (cell->form & HAS_EDITS ? 2 : 0) +
           __builtin_popcount(wide);
}

static uint32_t chunks_of(const struct kept_cell *cell)
{
    return cell->form & IS_LONG ? (uint32_t)*content_of(cell) : 0;
}

void kept_copy_content(const struct slab *slab, const struct kept_cell *cell, uint8_t *out)
{
    ASSERT((cell->form & CONTENT_MASK) == KEPT_HERE);
    if (!(cell->form & IS_LONG)) {
        memcpy(out, content_of(cell), cell->content_length);
        return;
    }
    for (uint32_t at = chunks_of(cell); at != 0;) {
        const struct chunk *chunk = slab_at(slab, at);
        memcpy(out, chunk->bytes, chunk->length);
        out += chunk->length;
        at = chunk->next;
    }
}

size_t kept_size(const struct slab *slab, const struct kept_cell *cell)
{
    size_t size = (size_t)cell->units * SLAB_UNIT;
    for (uint32_t at = chunks_of(cell); at != 0;) {
        const struct chunk *chunk = slab_at(slab, at);
        size += rounded(sizeof *chunk + chunk->length);
        at = chunk->next;
    }
    return size;
}

void kept_free(struct slab *slab, uint32_t cell)
{
    const struct kept_cell *at = kept_at(slab, cell);
    free_chunks(slab, chunks_of(at));
    slab_free(slab, cell, (size_t)at->units * SLAB_UNIT);
}

bool kept_is_retiring(const struct slab *slab, uint32_t cell)
{
    if (slab_is_retiring(slab, cell))
        return true;
    for (uint32_t at = chunks_of(kept_at(slab, cell)); at != 0;) {
        if (slab_is_retiring(slab, at))
            return true;
        at = ((const struct chunk *)slab_at(slab, at))->next;
    }
    return false;
}

uint32_t kept_copy(struct slab *slab, uint32_t cell)
{
    const struct kept_cell *from = kept_at(slab, cell);
    struct kept_cell head = *from;
    uint8_t copied[COMMENT_CONTENT_BYTES];
    head.form &= (uint8_t)~IS_LONG;
    if (from->flags & KEPT_SUBJECT)
        return make(slab, &head, from->words, SUBJECT_WORDS, NULL);
    if (head.content_length > 0)
        kept_copy_content(slab, from, copied);
    return make(slab, &head, from->words, (size_t)(content_of(from) - from->words), copied);
}
