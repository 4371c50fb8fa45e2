/*
 * A source has a cursor (cursor.h), the events of the last run and their bodies. The cursor decodes one
 * event at a time and stays before the first event that does not fit into the run. Bodies are copied,
 * because the cursor's own are valid only until it reads on.
 */
#include "journal/file/source_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "journal/file/cursor.h"
#include "journal/file/private.h"

#define SOURCE_FILE_MAGIC 0x736f7572u
#define RUN_EVENTS        256      /* most events of one run */
#define RUN_BODIES        KIB(128) /* most bytes of their bodies */

_Static_assert(RUN_BODIES >= LIMIT_EVENT_BODY, "an empty run takes any event");

struct source_file {
    struct source port; /* must be the first member: the port uses a pointer to it */
    uint32_t magic;
    struct journal_file *journal; /* NULL: nobody writes this journal */
    char directory[JOURNAL_DIRECTORY_MAX + 1];
    struct await *await; /* that of the journal, or our own */
    struct await own;
    bool woken; /* under the lock of `await` */

    /* Used only by the reading thread */
    struct journal_cursor *cursor; /* NULL: must be opened at `position` */
    uint64_t position;             /* position after the last event pulled */
    size_t most;                   /* most events of the run that is being pulled */
    size_t count;
    struct event events[RUN_EVENTS];
    uint64_t ends[RUN_EVENTS];
    size_t bodies_used;
    uint8_t bodies[RUN_BODIES];
};

static struct source_file *source_of(struct source *port)
{
    struct source_file *source = (struct source_file *)port;
    CHECK_MAGIC(source, SOURCE_FILE_MAGIC);
    return source;
}

static enum status file_seek(struct source *port, uint64_t position, char *problem, size_t size)
{
    struct source_file *source = source_of(port);
    journal_cursor_close(source->cursor);
    source->cursor = NULL;
    source->position = position;
    return journal_cursor_open(source->directory, position, &source->cursor, problem, size);
}

static enum status take_event(void *context, const struct event *event, uint64_t position,
                              size_t size)
{
    struct source_file *source = context;
    if (source->count == source->most || event->body_length > RUN_BODIES - source->bodies_used)
        return STATUS_MORE;
    source->events[source->count] = *event;
    if (event_is_long(event)) {
        uint8_t *body = source->bodies + source->bodies_used;
        memcpy(body, event->body, event->body_length);
        source->events[source->count].body = body;
        source->bodies_used += event->body_length;
    }
    source->ends[source->count++] = position + size;
    return STATUS_OK;
}

/*
 * After a failure nothing was pulled: the next pull begins with a new cursor at the old position.
 */
static enum status file_pull(struct source *port, size_t most, struct source_run *run,
                             char *problem, size_t size)
{
    struct source_file *source = source_of(port);
    enum status status = STATUS_OK;
    ASSERT(most > 0);
    *run = (struct source_run){0};
    source->most = most < RUN_EVENTS ? most : RUN_EVENTS;
    source->count = 0;
    source->bodies_used = 0;
    if (source->cursor == NULL)
        status = file_seek(port, source->position, problem, size);
    if (status == STATUS_OK)
        status = journal_cursor_read(source->cursor, await_durable(source->await), take_event,
                                     source, problem, size);
    if (status != STATUS_OK) {
        journal_cursor_close(source->cursor);
        source->cursor = NULL;
        return status;
    }
    source->position = journal_cursor_position(source->cursor);
    *run = (struct source_run){source->events, source->ends, source->count};
    return STATUS_OK;
}

static uint64_t file_position(struct source *port)
{
    return source_of(port)->position;
}

static enum status file_acknowledge(struct source *port, uint64_t position)
{
    struct journal_file *journal = source_of(port)->journal;
    return journal != NULL ? journal_file_forget(&journal->port, position) : STATUS_OK;
}

/* They are read in this order, so that each position is at least as high as the one before. */
static void file_view(struct source *port, struct source_view *out)
{
    struct source_file *source = source_of(port);
    struct journal_file *journal = source->journal;
    uint64_t available = await_durable(source->await);
    *out = (struct source_view){available, available, available, true};
    if (journal == NULL)
        return;
    out->written = atomic_load_explicit(&journal->stats.written, memory_order_acquire);
    out->appended = journal_appended(&journal->port);
    out->advancing = journal_state(&journal->port) == STATUS_OK;
}

static void file_hurry(struct source *port)
{
    struct source_file *source = source_of(port);
    if (source->journal != NULL)
        journal_sync(&source->journal->port);
}

static void file_wait(struct source *port, uint64_t beyond, uint64_t until_ns)
{
    struct source_file *source = source_of(port);
    await_wait(source->await, &source->woken, beyond, until_ns);
}

static void file_wake(struct source *port)
{
    struct source_file *source = source_of(port);
    await_wake(source->await, &source->woken);
}

static void file_close(struct source *port)
{
    struct source_file *source = source_of(port);
    journal_cursor_close(source->cursor);
    await_free(&source->own);
    source->magic = 0;
    free(source);
}

static const struct source_ops file_ops = {
    .name = "file",
    .seek = file_seek,
    .pull = file_pull,
    .position = file_position,
    .acknowledge = file_acknowledge,
    .view = file_view,
    .hurry = file_hurry,
    .wait = file_wait,
    .wake = file_wake,
    .close = file_close,
};

struct source *source_file_open_directory(const char *directory, uint64_t end)
{
    if (strlen(directory) > JOURNAL_DIRECTORY_MAX)
        return NULL;
    struct source_file *source = calloc(1, sizeof *source);
    if (source == NULL)
        return NULL;
    source->port.ops = &file_ops;
    source->magic = SOURCE_FILE_MAGIC;
    snprintf(source->directory, sizeof source->directory, "%s", directory);
    await_make(&source->own, end);
    source->await = &source->own;
    return &source->port;
}

struct source *source_file_open(struct journal *port)
{
    struct journal_file *journal = journal_file_of(port);
    struct source *source = source_file_open_directory(journal->directory, 0);
    if (source == NULL)
        return NULL;
    source_of(source)->journal = journal;
    source_of(source)->await = &journal->await;
    return source;
}
