#include "move/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/array.h"
#include "base/assert.h"
#include "move/threads_private.h"

#define ENTRIES_LEAST 1024
#define ENTRIES_MOST  (UINT32_MAX / 4)
/* What an entry costs, with its slots of the hash table and its place in the order. */
#define ENTRY_COST (sizeof(struct thread_entry) + 5 * sizeof(uint32_t))

struct threads *threads_new(const struct threads_options *options, char *problem, size_t size)
{
    struct threads *threads = calloc(1, sizeof *threads);
    snprintf(problem, size, "there is no memory for reading comments");
    if (threads == NULL)
        return NULL;
    threads->options = *options;
    threads->spool.fd = -1;
    threads->reading = malloc(SPOOL_COMMENT_BYTES);
    int result = threads->reading == NULL ? 0 : spool_open(&threads->spool, options->directory);
    if (threads->reading != NULL && result == 0)
        return threads;
    if (result != 0)
        snprintf(problem, size, "cannot write a temporary file in %s: %s", options->directory,
                 strerror(-result));
    threads_free(threads);
    return NULL;
}

void threads_free(struct threads *threads)
{
    if (threads == NULL)
        return;
    spool_close(&threads->spool);
    free(threads->reading);
    free(threads->entries);
    free(threads->slots);
    free(threads->sorted);
    free(threads);
}

const struct threads_report *threads_report(const struct threads *threads)
{
    return &threads->report;
}

uint64_t threads_left(const struct threads_report *report)
{
    uint64_t left = 0;
    for (unsigned i = 0; i < FOREIGN_REASONS; i++)
        left += report->left[i].count;
    return left;
}

void threads_leave(struct threads *threads, const struct thread_entry *entry, struct text id,
                   enum foreign_reason reason, const char *sentence)
{
    struct threads_left *left = &threads->report.left[reason];
    if (left->count++ > 0)
        return;
    left->line = entry->line;
    text_show(id, left->id);
    snprintf(left->sentence, sizeof left->sentence, "%s", sentence);
}

/* Reading */

static uint64_t hash_of(struct text id)
{
    return id.length == 0 ? 0 : XXH3_64bits(id.bytes, id.length) | 1;
}

static enum status make_room(struct threads *threads)
{
    if (threads->count < threads->room)
        return STATUS_OK;
    if (threads->count >= ENTRIES_MOST ||
        (threads->count * 2 + ENTRIES_LEAST) * ENTRY_COST > threads->options.memory_most) {
        snprintf(threads->problem, threads->size,
                 "there is no memory for more than %zu comments; --max-memory gives more, or "
                 "import the file in parts",
                 threads->count);
        return STATUS_NO_MEMORY;
    }
    struct thread_entry *grown = array_grow(threads->entries, &threads->room, threads->count + 1,
                                            ENTRIES_LEAST, sizeof *grown);
    if (grown == NULL) {
        snprintf(threads->problem, threads->size, "there is no memory for so many comments");
        return STATUS_NO_MEMORY;
    }
    threads->entries = grown;
    return STATUS_OK;
}

static enum status take(void *context, const struct foreign_comment *comment)
{
    struct threads *threads = context;
    enum status status = make_room(threads);
    if (status != STATUS_OK)
        return status;
    struct thread_entry *entry = &threads->entries[threads->count];
    *entry = (struct thread_entry){
        .id = hash_of(comment->id),
        .parent = hash_of(comment->parent),
        .page = comment->page_id,
        .line = comment->line < UINT32_MAX ? (uint32_t)comment->line : UINT32_MAX,
        .time_s = comment->time_s,
        .reason = (uint8_t)comment->reason,
        .pending = comment->pending,
        .pinned = comment->pinned,
        .closed = comment->page_closed,
    };
    threads->report.read++;
    threads->report.voted += comment->votes > 0;
    threads->report.votes += comment->votes;
    if (comment->reason == FOREIGN_NO_ID || comment->reason == FOREIGN_NO_PAGE) {
        threads_leave(threads, entry, comment->id, comment->reason, "");
        return STATUS_OK;
    }
    int result = spool_add(&threads->spool, comment, &entry->offset);
    if (result != 0) {
        snprintf(threads->problem, threads->size, "cannot write a temporary file in %s: %s",
                 threads->options.directory, strerror(-result));
        return STATUS_IO_FAILED;
    }
    threads->count++;
    return STATUS_OK;
}

static void progress(void *context, uint64_t bytes)
{
    const struct threads *threads = context;
    if (threads->options.progress != NULL)
        threads->options.progress(threads->options.context, false, bytes);
}

enum status threads_read(struct threads *threads, int fd, const char *site, char *problem,
                         size_t size)
{
    const struct foreign_sink sink = {.comment = take, .progress = progress, .context = threads};
    threads->problem = problem;
    threads->size = size;
    enum status status = foreign_read(threads->options.format, fd, site, &sink, problem, size);
    if (status != STATUS_OK)
        return status;
    int result = spool_flush(&threads->spool);
    if (result != 0) {
        snprintf(problem, size, "cannot write a temporary file in %s: %s",
                 threads->options.directory, strerror(-result));
        return STATUS_IO_FAILED;
    }
    status = threads_sort(threads);
    if (status != STATUS_OK)
        snprintf(problem, size, "there is no memory for so many comments");
    return status;
}

/* Finding roots */

/* The entry with this id, or THREADS_NONE; *slot is where it is or could be. */
static uint32_t find(const struct threads *threads, uint64_t id, size_t *slot)
{
    size_t mask = threads->slot_count - 1;
    for (*slot = id >> 8 & mask; threads->slots[*slot] != 0; *slot = (*slot + 1) & mask)
        if (threads->entries[threads->slots[*slot] - 1].id == id)
            return threads->slots[*slot] - 1;
    return THREADS_NONE;
}

static bool index_all(struct threads *threads)
{
    threads->slot_count = 64;
    while (threads->slot_count < threads->count * 2)
        threads->slot_count *= 2;
    threads->slots = calloc(threads->slot_count, sizeof *threads->slots);
    if (threads->slots == NULL)
        return false;
    for (uint32_t i = 0; i < threads->count; i++) {
        size_t slot;
        if (find(threads, threads->entries[i].id, &slot) == THREADS_NONE)
            threads->slots[slot] = i + 1;
        else
            threads->entries[i].reason = FOREIGN_TWICE;
    }
    return true;
}

static void find_parents(struct threads *threads)
{
    for (uint32_t i = 0; i < threads->count; i++) {
        struct thread_entry *entry = &threads->entries[i];
        size_t slot;
        entry->root = THREADS_NONE;
        entry->up = entry->parent == 0 ? THREADS_NONE : find(threads, entry->parent, &slot);
        if (entry->up != THREADS_NONE &&
            (entry->up == i || !id_equal(threads->entries[entry->up].page, entry->page)))
            entry->up = THREADS_NONE;
    }
}

/* The entry above was done before. */
static void settle(struct thread_entry *entries, uint32_t index)
{
    struct thread_entry *entry = &entries[index];
    const struct thread_entry *above = entry->up == THREADS_NONE ? NULL : &entries[entry->up];
    entry->root = above == NULL ? index : above->root;
    entry->depth = above == NULL ? 0 : above->depth + 1;
    entry->order_s = entry->time_s;
    if (above != NULL && above->order_s > entry->order_s)
        entry->order_s = above->order_s;
}

/*
 * Goes up from each entry to one that is done, and then down again. Each entry is on the path once, so the time
 * does not depend on how deep threads are. Comments that answer each other in a circle have no root: the circle
 * is opened where it is noticed.
 */
static void find_roots(struct threads *threads, uint32_t *path)
{
    struct thread_entry *entries = threads->entries;
    for (uint32_t i = 0; i < threads->count; i++) {
        uint32_t length = 0;
        for (uint32_t at = i; at != THREADS_NONE && entries[at].root == THREADS_NONE;
             at = entries[at].up) {
            if (entries[at].needed) {
                ASSERT(length > 0); /* only entries of this path are marked */
                entries[path[length - 1]].up = THREADS_NONE;
                break;
            }
            entries[at].needed = true; /* meanwhile: it is on the path */
            path[length++] = at;
        }
        while (length > 0) {
            settle(entries, path[--length]);
            entries[path[length]].needed = false;
        }
    }
}

/* Those that are taken, and everything that they answer. */
static void find_needed(struct threads *threads)
{
    struct thread_entry *entries = threads->entries;
    for (uint32_t i = 0; i < threads->count; i++) {
        if (entries[i].reason != FOREIGN_GOOD)
            continue;
        for (uint32_t at = i; at != THREADS_NONE && !entries[at].needed; at = entries[at].up) {
            entries[at].needed = true;
            if (entries[at].time_s == 0)
                entries[at].time_s = entries[i].time_s;
        }
    }
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_pages(const struct thread_entry *a, const struct thread_entry *b)
{
    int order = compare_numbers(a->page.hi, b->page.hi);
    return order != 0 ? order : compare_numbers(a->page.lo, b->page.lo);
}

/* By page, then by root, then by time; whatever a comment answers is before it. */
static int compare_entries(const void *a, const void *b, void *context)
{
    const struct thread_entry *entries = context;
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
    const struct thread_entry *x = &entries[first], *y = &entries[second];
    int order = compare_pages(x, y);
    if (order == 0 && x->root != y->root)
        order = compare_numbers(entries[x->root].order_s, entries[y->root].order_s);
    if (order == 0)
        order = compare_numbers(x->root, y->root);
    if (order == 0)
        order = compare_numbers(x->order_s, y->order_s);
    if (order == 0)
        order = compare_numbers(x->depth, y->depth);
    return order != 0 ? order : compare_numbers(first, second);
}

enum status threads_sort(struct threads *threads)
{
    if (threads->count == 0)
        return STATUS_OK;
    threads->sorted = malloc(threads->count * sizeof *threads->sorted);
    if (threads->sorted == NULL || !index_all(threads))
        return STATUS_NO_MEMORY;
    find_parents(threads);
    find_roots(threads, threads->sorted);
    find_needed(threads);
    for (uint32_t i = 0; i < threads->count; i++)
        if (threads->entries[i].needed)
            threads->sorted[threads->sorted_count++] = i;
    qsort_r(threads->sorted, threads->sorted_count, sizeof *threads->sorted, compare_entries,
            threads->entries);
    return STATUS_OK;
}
