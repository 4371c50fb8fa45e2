/*
 * Arbitrary bytes as everything that comments keep. The first byte says as what: a content, the body of an
 * event, a value or a key of a row, a text that is screened, or a list of words. Nothing may crash or read
 * past the end, and whatever is accepted must encode to the same bytes again. (Only a content may have other
 * forms; it is compared with protobuf-c.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "comment/body.h"
#include "comment/content.h"
#include "comment/content.pb-c.h"
#include "comment/rows.h"
#include "comment/screen.h"
#include "comment/words.h"

enum { INPUT_MAX = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const uint8_t *made, size_t length, const uint8_t *data, size_t size)
{
    ASSERT(length == size && memcmp(made, data, size) == 0);
}

static void try_content(const uint8_t *data, size_t size)
{
    struct comment_content content;
    if (comment_content_decode(data, size, &content) != STATUS_OK)
        return;
    Laud__Content *message = laud__content__unpack(NULL, size, data);
    ASSERT(message != NULL && message->time_s == content.time_s);
    ASSERT(message->text.len == content.text.length && message->extra.len == content.extra.length);
    ASSERT(memcmp(content.text.bytes, message->text.len ? message->text.data : (uint8_t *)"",
                  content.text.length) == 0);
    ASSERT(message->n_mentions == content.mention_count);
    for (size_t i = 0; i < message->n_mentions; i++)
        ASSERT(message->mentions[i]->lo == content.mentions[i].lo &&
               message->mentions[i]->hi == content.mentions[i].hi);
    laud__content__free_unpacked(message, NULL);
    static uint8_t out[COMMENT_CONTENT_BYTES];
    struct comment_content back;
    size_t length = comment_content_encode(&content, out);
    ASSERT(comment_content_decode(out, length, &back) == STATUS_OK);
    ASSERT(back.text.length == content.text.length && back.mention_count == content.mention_count);
}

static void try_body(uint8_t kind, const uint8_t *data, size_t size)
{
    static uint8_t out[COMMENT_BODY_BYTES];
    struct comment_body body;
    if (comment_body_decode(kind, data, size, &body) == STATUS_OK)
        same(out, comment_body_encode(kind, &body, out), data, size);
}

static void try_values(const uint8_t *data, size_t size)
{
    const struct store_bytes value = {data, (uint32_t)size};
    uint8_t out[ROW_COMMENT_MAX];
    struct subject subject;
    struct comment comment;
    struct comment_index index;
    struct inbox_entry entry;
    struct inbox_state inbox;
    struct user_ban ban;
    uint64_t number;
    if (row_read_subject(value, (struct item){0}, &subject) == STATUS_OK)
        same(out, row_write_subject(&subject, out), data, size);
    if (row_read_comment(value, 1, &comment, &index) == STATUS_OK)
        same(out, row_write_comment(&comment, &index, out), data, size);
    if (row_read_inbox_entry(value, &entry) == STATUS_OK)
        same(out, row_write_inbox(&entry, out), data, size);
    if (row_read_inbox_state(value, &inbox) == STATUS_OK)
        same(out, row_write_inbox_state(&inbox, out), data, size);
    if (row_read_ban(value, &ban) == STATUS_OK)
        same(out, row_write_ban(&ban, out), data, size);
    if (row_read_number(value, &number) == STATUS_OK)
        same(out, row_write_number(number, out), data, size);
}

static void try_keys(const uint8_t *data, size_t size)
{
    const struct store_bytes key = {data, (uint32_t)size};
    uint8_t out[ROW_KEY_MAX];
    struct item item;
    struct id user;
    uint64_t id;
    uint32_t number;
    uint16_t type;
    uint8_t byte;
    enum queue_state queue;
    if (row_read_item(key, &item))
        same(out, row_key_item(item, out), data, size);
    if (row_read_history(key, &id, &number))
        same(out, row_key_history(id, number, out), data, size);
    if (row_read_floor(key, &item, &number))
        same(out, row_key_floor(item, number, out), data, size);
    if (row_read_order(key, &item, &byte, &id, &number))
        same(out,
             byte == ROWS_UNLISTED ? row_key_unlisted(item, number, out)
                                   : row_key_order(item, byte, id, number, out),
             data, size);
    if (row_read_held(key, &item, &user, &id))
        same(out, row_key_held(item, user, id, out), data, size);
    if (row_read_written(key, &user, &byte, &id))
        same(out, row_key_written(user, byte, id, out), data, size);
    if (row_read_inbox(key, &user, &number))
        same(out, row_key_inbox(user, number, out), data, size);
    if (row_read_queue(key, &type, &queue, &number, &id))
        same(out, row_key_queue(type, queue, number, id, out), data, size);
    if (row_read_user(key, &user, &byte))
        same(out, row_key_user(user, byte, out), data, size);
}

/* The text up to a zero byte is searched for the words after it, and for links. */
static void try_screen(const uint8_t *data, size_t size)
{
    char problem[128] = "";
    struct text text = {(const char *)data, size};
    size_t valid = utf8_valid(text);
    ASSERT(valid <= size && utf8_valid((struct text){text.bytes, valid}) == valid);
    struct screen *screen = screen_new(2);
    ASSERT(screen != NULL);
    (void)screen_holds(screen, text);
    screen_free(screen);
    const uint8_t *zero = memchr(data, 0, size);
    size_t cut = zero != NULL ? (size_t)(zero - data) : size;
    struct text lines = {text.bytes + cut, size - cut};
    if (lines.length > 0)
        lines = (struct text){lines.bytes + 1, lines.length - 1};
    struct words *words = words_new(lines, problem, sizeof problem);
    ASSERT((words == NULL) == (problem[0] != '\0'));
    if (words != NULL)
        (void)words_find(words, (struct text){text.bytes, cut});
    words_free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > INPUT_MAX)
        return 0;
    uint8_t what = data[0];
    uint8_t *block = malloc(
        size - 1 ? size - 1 : 1); /* exactly as long, so that a read past the end is noticed */
    memcpy(block, data + 1, size - 1);
    if (what == 'c')
        try_content(block, size - 1);
    else if (what == 'v')
        try_values(block, size - 1);
    else if (what == 'k')
        try_keys(block, size - 1);
    else if (what == 's')
        try_screen(block, size - 1);
    else
        try_body(what, block, size - 1);
    free(block);
    return 0;
}
