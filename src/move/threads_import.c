/* Imports the comments that threads.c has sorted, page by page. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>
#include <xxhash.h>

#include "base/assert.h"
#include "move/comments.h"
#include "move/threads_private.h"

#define TELL_COMMENTS 256 /* between two calls of progress */

struct placing {
    struct threads *threads;
    struct import *import;
    char item[LIMIT_ITEM_TEXT + 1];
    char extra[LIMIT_COMMENT_EXTRA];
};

static struct text item_of(struct placing *placing, struct id page)
{
    int length = snprintf(placing->item, sizeof placing->item, "%.*s:", LIMIT_NAME_LENGTH,
                          placing->threads->options.type);
    return (struct text){placing->item, (size_t)length + id_format(page, placing->item + length)};
}

static void set(json_t *object, const char *key, struct text text)
{
    if (text.length > 0)
        (void)json_object_set_new(object, key, json_stringn(text.bytes, text.length));
}

/* What does not fit is left out, the link first. */
static struct text extra_of(struct placing *placing, const struct spooled *spooled)
{
    static const char *const less[] = {"link", "page", "name", "id"};
    json_t *object = json_object();
    size_t length = 0;
    set(object, "from", text_from(foreign_format_text(placing->threads->options.format)));
    set(object, "id", spooled->id);
    set(object, "name", spooled->name);
    set(object, "link", spooled->link);
    set(object, "page", spooled->page);
    for (unsigned i = 0; object != NULL && i <= sizeof less / sizeof less[0]; i++) {
        length = json_dumpb(object, placing->extra, sizeof placing->extra, JSON_COMPACT);
        if (length <= sizeof placing->extra || i == sizeof less / sizeof less[0])
            break;
        (void)json_object_del(object, less[i]);
    }
    json_decref(object);
    return (struct text){placing->extra, length <= sizeof placing->extra ? length : 0};
}

static struct moved_comment moved_of(const struct threads *threads,
                                     const struct thread_entry *entry,
                                     const struct spooled *spooled)
{
    bool good = entry->reason == FOREIGN_GOOD;
    uint64_t format = (uint64_t)threads->options.format + 1;
    return (struct moved_comment){
        .comment = {.author = spooled->user,
                    .time_s = entry->time_s,
                    .moderation = good && entry->pending ? COMMENT_PENDING : COMMENT_VISIBLE,
                    .deleted = !good,
                    .was_open = !good || !entry->pending},
        .has_content = good,
        .content = {.text = spooled->text, .time_s = entry->time_s},
        .source = XXH3_64bits_withSeed(spooled->id.bytes, spooled->id.length, format),
    };
}

/* Who wrote the comment that is answered. */
static enum status set_parent(struct placing *placing, const struct thread_entry *entry,
                              struct comment *comment)
{
    struct threads *threads = placing->threads;
    const struct thread_entry *entries = threads->entries;
    struct spooled above;
    const struct thread_entry *up = &entries[entry->up];
    if (up->made == COMMENT_NONE)
        up = &entries[entry->root];
    comment->root = entries[entry->root].made;
    comment->reply_to = up->made;
    int result = spool_read(&threads->spool, up->offset, threads->reading, &above);
    comment->reply_to_user = above.user;
    return result == 0 ? STATUS_OK : STATUS_IO_FAILED;
}

static enum status leave(struct placing *placing, const struct thread_entry *entry, struct text id,
                         enum foreign_reason reason, const char *sentence)
{
    bool placeholder = entry->reason != FOREIGN_GOOD;
    threads_leave(placing->threads, entry, id,
                  placeholder ? (enum foreign_reason)entry->reason : reason, sentence);
    return STATUS_OK;
}

/* Imports one comment. */
static enum status place(struct placing *placing, struct thread_entry *entry, struct text item,
                         bool *same)
{
    struct threads *threads = placing->threads;
    struct id nobody = {0};
    struct comment parent = {.reply_to_user = nobody};
    struct spooled spooled;
    struct import_summary before, after;
    if (entry->up != THREADS_NONE && threads->entries[entry->root].made != COMMENT_NONE &&
        set_parent(placing, entry, &parent) != STATUS_OK)
        return STATUS_IO_FAILED;
    if (spool_read(&threads->spool, entry->offset, threads->reading, &spooled) != 0)
        return STATUS_IO_FAILED;
    if (entry->up != THREADS_NONE && parent.root == COMMENT_NONE)
        return leave(placing, entry, spooled.id, FOREIGN_NO_ROOT, "");
    struct moved_comment moved = moved_of(threads, entry, &spooled);
    moved.comment.root = parent.root;
    moved.comment.reply_to = parent.reply_to;
    moved.comment.reply_to_user = parent.reply_to_user;
    if (moved.has_content)
        moved.content.extra = extra_of(placing, &spooled);
    import_summary(placing->import, &before);
    enum status status = import_comment(placing->import, item, &moved, &entry->made);
    import_summary(placing->import, &after);
    *same = after.same > before.same;
    if (status == STATUS_BAD_ARGUMENT)
        return leave(placing, entry, spooled.id, FOREIGN_REFUSED, import_problem(placing->import));
    return status;
}

static void count(struct threads *threads, const struct thread_entry *entry, bool same)
{
    struct threads_report *report = &threads->report;
    *(same ? &report->same : &report->taken) += 1;
    report->placeholders += entry->reason != FOREIGN_GOOD;
    report->deep += entry->depth > 1;
    report->orphans += entry->parent != 0 && entry->up == THREADS_NONE;
}

static enum status place_one(struct placing *placing, struct thread_entry *entry, struct text item)
{
    bool same = false;
    if (placing->import != NULL) {
        enum status status = place(placing, entry, item, &same);
        if (status != STATUS_OK || entry->made == COMMENT_NONE)
            return status;
    }
    count(placing->threads, entry, same);
    return STATUS_OK;
}

static enum status close_page(struct placing *placing, struct text item)
{
    const struct subject closed = {.mode = SUBJECT_READONLY};
    enum status status = import_subject(placing->import, item, &closed);
    placing->threads->report.modes_left += status == STATUS_BAD_ARGUMENT;
    return status == STATUS_BAD_ARGUMENT ? STATUS_OK : status;
}

static enum status pin_page(struct placing *placing, struct text item, size_t first, size_t end)
{
    const struct threads *threads = placing->threads;
    enum status status = STATUS_OK;
    for (size_t i = first; i < end && (status == STATUS_OK || status == STATUS_BAD_ARGUMENT); i++) {
        const struct thread_entry *entry = &threads->entries[threads->sorted[i]];
        if (!entry->pinned || entry->made == COMMENT_NONE)
            continue;
        status = import_pin(placing->import, item, entry->made);
        placing->threads->report.pins_left += status == STATUS_BAD_ARGUMENT;
    }
    return status == STATUS_BAD_ARGUMENT ? STATUS_OK : status;
}

/* All comments of the page from this index of `sorted` on; *next is the begin of the next page. */
static enum status place_page(struct placing *placing, size_t first, size_t *next)
{
    struct threads *threads = placing->threads;
    struct id page = threads->entries[threads->sorted[first]].page;
    struct text item = item_of(placing, page);
    enum status status = STATUS_OK;
    size_t at = first;
    if (placing->import != NULL && threads->entries[threads->sorted[first]].closed)
        status = close_page(placing, item);
    for (; status == STATUS_OK && at < threads->sorted_count; at++) {
        struct thread_entry *entry = &threads->entries[threads->sorted[at]];
        if (!id_equal(entry->page, page))
            break;
        status = place_one(placing, entry, item);
        if (at % TELL_COMMENTS == 0 && threads->options.progress != NULL)
            threads->options.progress(threads->options.context, true, at);
    }
    threads->report.pages++;
    *next = at;
    return status == STATUS_OK && placing->import != NULL ? pin_page(placing, item, first, at)
                                                          : status;
}

/* Those that are not even needed to hold others together. */
static enum status leave_others(struct placing *placing)
{
    struct threads *threads = placing->threads;
    struct spooled spooled;
    for (size_t i = 0; i < threads->count; i++) {
        const struct thread_entry *entry = &threads->entries[i];
        if (entry->needed)
            continue;
        struct text id = {"", 0};
        if (threads->report.left[entry->reason].count == 0) {
            if (spool_read(&threads->spool, entry->offset, threads->reading, &spooled) != 0)
                return STATUS_IO_FAILED;
            id = spooled.id;
        }
        threads_leave(threads, entry, id, (enum foreign_reason)entry->reason, "");
    }
    return STATUS_OK;
}

enum status threads_import(struct threads *threads, struct import *import, char *problem,
                           size_t size)
{
    struct placing placing = {.threads = threads, .import = import};
    enum status status = leave_others(&placing);
    for (size_t at = 0; status == STATUS_OK && at < threads->sorted_count;)
        status = place_page(&placing, at, &at);
    if (status == STATUS_IO_FAILED)
        snprintf(problem, size, "the temporary file in %s cannot be read",
                 threads->options.directory);
    if (status != STATUS_OK && import != NULL && import_problem(import)[0] != '\0')
        snprintf(problem, size, "%s", import_problem(import));
    return status;
}
