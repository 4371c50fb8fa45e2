/* Opening, and reading comments and subjects from the store. */
#include "hot/memory/comment_load.h"

#include <stdlib.h>

#include "base/log.h"
#include "comment/restore.h"
#include "comment/rows.h"
#include "hot/memory/hot_memory_priv.h"

#define KEPT_FRACTION 16 /* of the budget is for comments and subjects, unless an option says so */

bool comments_begin(struct hot_memory *hot, const struct hot_memory_options *options)
{
    struct comment_tier *comments = &hot->comments;
    comments->names = options->names;
    comments->kept.limit =
        options->comment_bytes != 0 ? options->comment_bytes : hot->budget->limit / KEPT_FRACTION;
    enum status status = comment_restore_ms(hot->store, &comments->first_ms);
    if (status != STATUS_OK) {
        log_error("cannot read from the store which ids of comments are in use: %s",
                  status_sentence(status));
        return false;
    }
    size_t bytes = GENE_COUNT * sizeof *comments->genes;
    if (!memory_charge(hot->budget, bytes))
        return false;
    comments->genes = calloc(1, bytes); /* a page of it is touched when one of its genes is used */
    if (comments->genes == NULL)
        memory_release(hot->budget, bytes);
    return comments->genes != NULL;
}

void comments_end(struct hot_memory *hot)
{
    if (hot->comments.genes == NULL)
        return;
    free(hot->comments.genes);
    memory_release(hot->budget, GENE_COUNT * sizeof *hot->comments.genes);
    hot->comments.genes = NULL;
}

/* Reads the rows of a table with these ids as keys. */
static enum status read_by_id(struct store_reader *store, enum store_table table,
                              const struct stored_comment *comments, size_t count,
                              struct store_bytes *values, struct store_arena *arena)
{
    uint8_t keys[LOAD_KEYS][ROW_KEY_MAX];
    struct store_bytes parts[LOAD_KEYS];
    ASSERT(count <= LOAD_KEYS);
    for (size_t i = 0; i < count; i++)
        parts[i] = row_bytes_id(comments[i].id, keys[i]);
    return store_read_rows(store, table, parts, count, values, arena);
}

/* A comment that is not deleted has a content; a row of one may not be removed yet if it is. */
static enum status take_comment(struct stored_comment *comment, struct store_bytes row,
                                struct store_bytes content)
{
    comment->found = row.data != NULL;
    comment->content = (struct kept_bytes){.where = KEPT_NONE};
    if (!comment->found)
        return STATUS_OK;
    enum status status = row_read_comment(row, comment->id, &comment->comment, NULL);
    if (status == STATUS_OK && content.data != NULL && !comment->comment.deleted)
        comment->content = (struct kept_bytes){
            .where = KEPT_HERE, .bytes = content.data, .length = content.length};
    return status == STATUS_OK && content.length > COMMENT_CONTENT_BYTES ? STATUS_DAMAGED : status;
}

enum status comment_read_stored(struct hot_memory *hot, struct stored_comment *comments,
                                size_t count, struct store_arena *arena)
{
    struct store_bytes rows[LOAD_KEYS], contents[LOAD_KEYS];
    enum status status = STATUS_OK;
    for (size_t at = 0; at < count && status == STATUS_OK; at += LOAD_KEYS) {
        size_t some = count - at < LOAD_KEYS ? count - at : LOAD_KEYS;
        status = read_by_id(hot->store, STORE_COMMENT, comments + at, some, rows, arena);
        if (status == STATUS_OK)
            status = read_by_id(hot->store, STORE_CONTENT, comments + at, some, contents, arena);
        for (size_t i = 0; i < some && status == STATUS_OK; i++)
            status = take_comment(&comments[at + i], rows[i], contents[i]);
    }
    return status;
}

enum status comment_read_subject(struct hot_memory *hot, struct item item, struct subject *out,
                                 bool *found)
{
    uint8_t key[ROW_KEY_MAX];
    struct store_bytes keys = {key, (uint32_t)row_key_item(item, key)}, value = {0};
    struct store_arena arena = {0};
    enum status status = store_read_rows(hot->store, STORE_SUBJECT, &keys, 1, &value, &arena);
    *found = status == STATUS_OK && value.data != NULL;
    *out = subject_new(item);
    if (*found)
        status = row_read_subject(value, item, out);
    store_arena_destroy(&arena);
    return status;
}

uint64_t comment_claim(const struct hot_memory *hot, struct item item)
{
    return hash_mix(item_hash_of(hot, item), 0x636f6d6d656e7473ULL);
}

static bool is_read(const struct comment_reads *reads, uint64_t id)
{
    for (uint32_t i = 0; i < reads->count; i++)
        if (reads->comments[i].id == id)
            return true;
    return false;
}

static void want(struct comment_reads *reads, uint64_t id)
{
    if (id != COMMENT_NONE && !is_read(reads, id)) {
        ASSERT(reads->count < READS_MAX);
        reads->comments[reads->count++] = (struct stored_comment){.id = id};
    }
}

/* Reads what a decision needs, and also the root of each comment and the subject. */
enum status comment_read_needed(struct hot_memory *hot, const struct comment_needed *needed,
                                struct comment_reads *reads)
{
    enum status status = STATUS_OK;
    reads->count = 0;
    reads->has_subject = needed->subject;
    struct item subject = needed->subject_item;
    for (uint32_t i = 0; i < needed->id_count; i++)
        want(reads, needed->ids[i]);
    for (uint32_t done = 0; done < reads->count && status == STATUS_OK;) {
        uint32_t some = reads->count - done;
        status = comment_read_stored(hot, reads->comments + done, some, &reads->arena);
        for (uint32_t i = done, end = done + some; i < end && status == STATUS_OK; i++) {
            const struct stored_comment *comment = &reads->comments[i];
            if (!comment->found)
                continue;
            want(reads, comment->comment.root);
            subject = comment->comment.subject;
            reads->has_subject = true;
        }
        done += some;
    }
    if (status == STATUS_OK && reads->has_subject)
        status = comment_read_subject(hot, subject, &reads->subject, &reads->subject_found);
    return status;
}

bool comment_cache_reads(struct hot_memory *hot, struct comment_shard *shard,
                         const struct comment_reads *reads)
{
    uint16_t type = comment_type_of(hot);
    for (uint32_t i = 0; i < reads->count; i++) {
        const struct stored_comment *comment = &reads->comments[i];
        if (comment->found &&
            !kept_cache_comment(shard, item_hash_of(hot, comment_item(comment->id, type)),
                                &comment->comment, comment->content))
            return false;
    }
    return !reads->has_subject || kept_cache_subject(shard, item_hash_of(hot, reads->subject.item),
                                                     &reads->subject, !reads->subject_found);
}

/*
 * Evicts a few of what was not used for the longest time, if comments use more than their share. The keeper does
 * the same for shards that nobody uses.
 */
void comment_trim(struct hot_memory *hot, struct comment_shard *shard)
{
    if (!kept_is_over(&hot->comments.kept))
        return;
    uint64_t clean = loads_clean_position(&hot->loads);
    for (unsigned i = 0; i < COMMENT_TRIM_MOST && kept_is_over(&hot->comments.kept); i++) {
        uint32_t cell = kept_oldest_clean(shard, clean);
        if (cell == 0)
            return;
        kept_evict(shard, comment_cell_hash(hot, kept_at(shard->comments.slab, cell)), cell);
    }
}

uint64_t comment_cell_hash(const struct hot_memory *hot, const struct kept_cell *cell)
{
    return item_hash_of(hot, cell->flags & KEPT_SUBJECT
                                 ? kept_item(cell)
                                 : comment_item(kept_id(cell), comment_type_of(hot)));
}
