/*
 * The file of the boards has the state at a position B. If the store has advanced from there to D, the
 * journal usually still has the events between B and D, and only the items of those events are read
 * again. No failure here keeps a server from starting: the boards are then counted again while it
 * serves.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "cli/recover.h"
#include "hot/memory/hot_memory.h"
#include "journal/file/cursor.h"

#define ASK_EVENTS 65536 /* after so many events it is checked whether the start must stop */

struct following {
    struct recovered *r;
    uint64_t events;
};

static enum status touch(void *context, const struct event *event, uint64_t position, size_t size)
{
    struct following *following = context;
    (void)position;
    (void)size;
    if (following->events++ % ASK_EVENTS == 0 && recover_is_stopping(following->r))
        return STATUS_STOPPING;
    return hot_memory_touch_boards(following->r->hot, event) ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Applies the events between the file and the store. */
static enum status follow(struct recovered *r, uint64_t from, uint64_t to, char *problem,
                          size_t size)
{
    struct journal_cursor *cursor = NULL;
    struct following following = {.r = r};
    enum status status = journal_cursor_open(r->journal_directory, from, &cursor, problem, size);
    if (status == STATUS_OK)
        status = journal_cursor_read(cursor, to, touch, &following, problem, size);
    if (status == STATUS_NO_MEMORY)
        snprintf(problem, size, "too much has changed since the boards were saved");
    if (status == STATUS_OK && journal_cursor_position(cursor) != to) {
        snprintf(problem, size, "the journal ends before the store");
        status = STATUS_DAMAGED;
    }
    if (cursor != NULL)
        journal_cursor_close(cursor);
    return status;
}

void recover_boards(struct recovered *r)
{
    char problem[512] = "";
    uint64_t position = 0;
    uint64_t reached = r->store == NULL ? 0 : store_position(&r->store->applier);
    if (reached == 0 || r->hot == NULL || !r->options->boards)
        return;
    enum status status =
        hot_memory_load_boards(r->hot, r->boards_path, &position, problem, sizeof problem);
    if (status == STATUS_OK && position > reached) {
        snprintf(problem, sizeof problem, "the saved boards are newer than the store");
        status = STATUS_DAMAGED;
    }
    if (status == STATUS_OK && position < reached)
        status = follow(r, position, reached, problem, sizeof problem);
    if (status == STATUS_OK || status == STATUS_STOPPING)
        return;
    log_warn("%s; counting the boards again from the store, in the background", problem);
    hot_memory_recount_boards(r->hot);
}
