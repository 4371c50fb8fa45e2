/*
 * There is one pass over the keys for each pattern: SCAN, with the pattern's text as a glob, returns keys
 * in pages. The first pages of members of many keys are requested together (most keys have no second one)
 * and read answer by answer, so that Redis is busy, but only one answer is in memory. Keys with more pages
 * are then read to their end, one after the other; the next page is requested before the rows of this one
 * are added.
 *
 * The types of keys are not requested: reading a key of another type returns an error, which the owner
 * should see. The type filter of SCAN would hide it.
 *
 * SCAN may return a key or a member twice, or miss one that is created or removed meanwhile. The first is
 * harmless; to prevent the second, the operator stops the old service before the import.
 */
#include "move/redis.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "move/redis_private.h"

#define KEYS_TOGETHER 64 /* keys whose first pages are requested together */
#define CURSOR_BYTES  24
#define SCAN_COUNT    1000 /* keys, and members of a first page */
#define SCAN_WORD     "1000"
#define NUMBER_END    "31" /* a string that is a number is shorter */

struct cursor {
    char text[CURSOR_BYTES];
};

/* Keys whose first pages are being read. */
struct batch {
    struct redis_key keys[KEYS_TOGETHER];
    struct cursor cursors[KEYS_TOGETHER]; /* of the second page; "0": there is none */
    size_t count;
};

#define WORD(literal) ((struct text){literal, sizeof(literal) - 1})

static struct text cursor_text(const struct cursor *cursor)
{
    return (struct text){cursor->text, strlen(cursor->text)};
}

static bool cursor_ends(const struct cursor *cursor)
{
    return strcmp(cursor->text, "0") == 0;
}

static enum status fail(struct redis_take *take, enum status status)
{
    snprintf(take->report->problem, sizeof take->report->problem, "%s", take->link.problem);
    return status;
}

static enum status fail_answer(struct redis_take *take)
{
    snprintf(take->report->problem, sizeof take->report->problem,
             "Redis at %s gave an answer that does not fit the command", take->link.name);
    return STATUS_BAD_PROTOCOL;
}

static enum status tell(struct redis_take *take)
{
    const struct redis_source *source = take->source;
    if (source->tell == NULL || source->tell(source->context, take->report))
        return STATUS_OK;
    snprintf(take->report->problem, sizeof take->report->problem, "stopped");
    return STATUS_STOPPING;
}

/* A page is a cursor and an array of strings; NULL if this is not one. */
static const redisReply *page_read(const redisReply *reply, struct cursor *next)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2)
        return NULL;
    const redisReply *cursor = reply->element[0];
    const redisReply *page = reply->element[1];
    if (cursor->type != REDIS_REPLY_STRING || cursor->len == 0 || cursor->len >= CURSOR_BYTES ||
        page->type != REDIS_REPLY_ARRAY)
        return NULL;
    for (size_t i = 0; i < page->elements; i++)
        if (page->element[i]->type != REDIS_REPLY_STRING)
            return NULL;
    memcpy(next->text, cursor->str, cursor->len + 1);
    return page;
}

static enum status members_ask(struct redis_take *take, const struct redis_key *key,
                               const struct cursor *cursor)
{
    static const char *const commands[] = {
        [REDIS_SET] = "SSCAN", [REDIS_ZSET] = "ZSCAN", [REDIS_HASH] = "HSCAN"};
    enum status status;
    if (take->pattern->layout == REDIS_STRING) {
        struct text words[] = {WORD("GETRANGE"), key->text, WORD("0"), WORD(NUMBER_END)};
        status = redis_link_send(&take->link, words, 4);
    } else {
        struct text words[] = {{commands[take->pattern->layout], 5},
                               key->text,
                               cursor_text(cursor),
                               WORD("COUNT"),
                               WORD(SCAN_WORD)};
        status = redis_link_send(&take->link, words, 5);
    }
    return status == STATUS_OK ? status : fail(take, status);
}

/* Adds the rows of an answer with members, and gets the cursor of the next page. */
static enum status members_take(struct redis_take *take, const struct redis_key *key,
                                const redisReply *reply, const redisReply *page)
{
    static const char *const wrong[] = {
        [REDIS_SET] = "it is not a set",
        [REDIS_ZSET] = "it is not a ZSET",
        [REDIS_HASH] = "it is not a hash",
        [REDIS_STRING] = "it is not a string",
    };
    if (reply->type == REDIS_REPLY_ERROR)
        return redis_key_bad(take, key->text, wrong[take->pattern->layout]);
    if (take->pattern->layout != REDIS_STRING)
        return page == NULL ? fail_answer(take) : redis_rows_take(take, key, page);
    if (reply->type != REDIS_REPLY_STRING)
        return fail_answer(take);
    if (reply->len == 0) /* it was removed after SCAN returned it */
        return STATUS_OK;
    return redis_number_take(take, key, (struct text){reply->str, reply->len});
}

/* Handles one answer. If wanted, it requests the next page first. */
static enum status page_take(struct redis_take *take, const struct redis_key *key, bool ask_next,
                             struct cursor *next)
{
    redisReply *reply;
    enum status status = redis_link_receive(&take->link, &reply);
    memcpy(next->text, "0", 2);
    if (status != STATUS_OK)
        return fail(take, status);
    const redisReply *page = page_read(reply, next);
    if (page != NULL && ask_next && !cursor_ends(next))
        status = members_ask(take, key, next);
    if (status == STATUS_OK)
        status = members_take(take, key, reply, page);
    freeReplyObject(reply);
    return status == STATUS_OK ? tell(take) : status;
}

/* Reads the further pages of a key. */
static enum status key_finish(struct redis_take *take, const struct redis_key *key,
                              struct cursor cursor)
{
    enum status status = members_ask(take, key, &cursor);
    while (status == STATUS_OK && !cursor_ends(&cursor))
        status = page_take(take, key, true, &cursor);
    return status;
}

static enum status batch_take(struct redis_take *take, struct batch *batch)
{
    enum status status = STATUS_OK;
    struct cursor first = {"0"};
    uint64_t bad_before = take->report->bad_keys;
    for (size_t i = 0; status == STATUS_OK && i < batch->count; i++)
        status = members_ask(take, &batch->keys[i], &first);
    for (size_t i = 0; status == STATUS_OK && i < batch->count; i++)
        status = page_take(take, &batch->keys[i], false, &batch->cursors[i]);
    for (size_t i = 0; status == STATUS_OK && i < batch->count; i++)
        if (!cursor_ends(&batch->cursors[i]))
            status = key_finish(take, &batch->keys[i], batch->cursors[i]);
    if (status == STATUS_OK)
        take->report->keys += batch->count - (take->report->bad_keys - bad_before);
    batch->count = 0;
    return status;
}

/* Adds a key to the batch if it matches the pattern. */
static enum status key_add(struct redis_take *take, struct batch *batch, struct text text)
{
    struct redis_report *report = take->report;
    struct redis_key *key = &batch->keys[batch->count];
    key->text = text;
    switch (redis_template_match(&take->pattern->key, text, &key->values)) {
    case REDIS_FITS:
        batch->count++;
        return STATUS_OK;
    case REDIS_OTHER:
        if (report->keys_other++ == 0)
            redis_show(text, report->first_other);
        return STATUS_OK;
    case REDIS_BAD_VALUE:
        return redis_key_bad(take, text, "it has something else where an id or a type must be");
    case REDIS_TWO_WAYS:
        return redis_key_bad(take, text, "it is ambiguous: it can be read in two ways");
    }
    return STATUS_OK;
}

static enum status keys_take(struct redis_take *take, const redisReply *page)
{
    struct batch batch = {.count = 0};
    struct redis_report *report = take->report;
    uint64_t before = report->keys_looked;
    uint64_t left = report->keys_total - before;
    uint64_t share = left < SCAN_COUNT ? left : SCAN_COUNT; /* even if SCAN returned fewer keys */
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < page->elements; i++) {
        const redisReply *key = page->element[i];
        report->keys_looked = before + share * i / page->elements;
        status = key_add(take, &batch, (struct text){key->str, key->len});
        if (status == STATUS_OK && batch.count == KEYS_TOGETHER)
            status = batch_take(take, &batch);
    }
    if (status == STATUS_OK)
        status = batch_take(take, &batch);
    report->keys_looked = before + share;
    return status;
}

static enum status scan_page(struct redis_take *take, struct text glob, struct cursor *cursor)
{
    struct text words[] = {WORD("SCAN"), cursor_text(cursor), WORD("MATCH"),
                           glob,         WORD("COUNT"),       WORD(SCAN_WORD)};
    redisReply *reply;
    enum status status = redis_link_call(&take->link, words, 6, &reply);
    if (status != STATUS_OK)
        return fail(take, status);
    const redisReply *page = page_read(reply, cursor);
    status = page == NULL ? fail_answer(take) : keys_take(take, page);
    freeReplyObject(reply);
    if (cursor_ends(cursor))
        take->report->keys_looked = take->report->keys_total;
    return status == STATUS_OK ? tell(take) : status;
}

static enum status scan(struct redis_take *take)
{
    char glob[REDIS_GLOB_BYTES];
    struct text match = {glob, redis_template_glob(&take->pattern->key, glob)};
    struct cursor cursor = {"0"};
    enum status status;
    do
        status = scan_page(take, match, &cursor);
    while (status == STATUS_OK && !cursor_ends(&cursor));
    return status;
}

/* Reads the key of a pattern that has no placeholders in its key. */
static enum status key_take(struct redis_take *take)
{
    const struct redis_template *key = &take->pattern->key;
    struct batch batch = {.count = 1};
    batch.keys[0].text = (struct text){key->bytes, key->pieces[0].length};
    struct text words[] = {WORD("EXISTS"), batch.keys[0].text};
    redisReply *reply;
    enum status status = redis_link_call(&take->link, words, 2, &reply);
    if (status != STATUS_OK)
        return fail(take, status);
    bool exists = reply->type == REDIS_REPLY_INTEGER && reply->integer == 1;
    freeReplyObject(reply);
    return exists ? batch_take(take, &batch) : STATUS_OK;
}

static enum status pattern_take(struct redis_take *take)
{
    struct redis_report *report = take->report;
    uint64_t before = report->keys + report->bad_keys;
    report->pass++;
    report->keys_looked = 0;
    enum status status = take->pattern->key.holes == 0 ? key_take(take) : scan(take);
    if (report->keys + report->bad_keys == before && report->unused[0] == '\0')
        memcpy(report->unused, take->pattern->text, sizeof report->unused);
    return status;
}

/* Makes a call whose answer is useful but not necessary: this user may not be allowed to make it. */
static enum status ask(struct redis_take *take, const struct text *words, size_t count,
                       redisReply **reply)
{
    enum status status = redis_link_call(&take->link, words, count, reply);
    if (status == STATUS_OK || status == STATUS_NO_AUTH)
        return STATUS_OK;
    return fail(take, status);
}

/* Finds out how many keys there are, and whether the Redis is a node of a cluster. */
static enum status look_around(struct redis_take *take)
{
    redisReply *reply;
    enum status status = ask(take, (struct text[]){WORD("DBSIZE")}, 1, &reply);
    if (reply != NULL) {
        if (reply->type == REDIS_REPLY_INTEGER && reply->integer > 0)
            take->report->keys_total = (uint64_t)reply->integer;
        freeReplyObject(reply);
    }
    if (status == STATUS_OK)
        status = ask(take, (struct text[]){WORD("INFO"), WORD("cluster")}, 2, &reply);
    if (status == STATUS_OK && reply != NULL) {
        take->report->cluster =
            reply->type == REDIS_REPLY_STRING && strstr(reply->str, "cluster_enabled:1") != NULL;
        freeReplyObject(reply);
    }
    return status;
}

/*
 * The first row of a reaction is kept, so patterns with times come before those without. Counters come
 * last, because they are compared with the imported reactions.
 */
static int stage_of(const struct redis_pattern *pattern)
{
    if (pattern->layout == REDIS_ZSET)
        return 0;
    return pattern->layout == REDIS_SET ? 1 : 2;
}

static enum status stage_take(struct redis_take *take, int stage)
{
    const struct redis_source *source = take->source;
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < source->pattern_count; i++) {
        take->pattern = &source->patterns[i];
        if (stage_of(take->pattern) == stage)
            status = pattern_take(take);
    }
    return status;
}

static enum status take_begin(struct redis_take *take, const struct redis_source *source,
                              struct redis_report *report)
{
    memset(report, 0, sizeof *report);
    report->passes = source->pattern_count;
    *take = (struct redis_take){.source = source, .report = report};
    enum status status = redis_link_open(&take->link, &source->address, source->timeout_ms);
    return status == STATUS_OK ? look_around(take) : fail(take, status);
}

enum status redis_reach(const struct redis_source *source, struct redis_report *report)
{
    struct redis_take take;
    enum status status = take_begin(&take, source, report);
    redis_link_close(&take.link);
    return status;
}

enum status redis_take_over(const struct redis_source *source, struct import *import,
                            struct redis_report *report)
{
    struct redis_take take;
    enum status status = take_begin(&take, source, report);
    take.import = import;
    for (int stage = 0; status == STATUS_OK && stage < 3; stage++)
        status = stage_take(&take, stage);
    redis_link_close(&take.link);
    return status;
}
