/*
 * If an import is killed, the data on disk is right all the same: rows become ordinary events, which are
 * first in the journal, and the projector writes them to the store as it does for a server. A second
 * attempt skips rows that it finds there, so it could begin anywhere. To save time it begins at the
 * position in the progress record (mark.h), which is never after what the store has.
 */
#include "move/import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "move/private.h"

#define REACH_MS    1000       /* between two checks whether the projector still runs */
#define FUTURE_MOST 86400      /* seconds that another clock may be ahead */
#define ROWS_LIMIT  (1U << 28) /* in a batch */

/* Refusals */

enum status import_fail(struct import *import, enum status status, const char *format, ...)
{
    va_list arguments;
    ASSERT(status != STATUS_OK && status != STATUS_BAD_ARGUMENT);
    va_start(arguments, format);
    vsnprintf(import->problem, sizeof import->problem, format, arguments);
    va_end(arguments);
    import->failed = status;
    return status;
}

enum status import_fail_journal(struct import *import, enum status status)
{
    struct journal_stats stats = {.reason = ""};
    journal_stats(import->record.journal, &stats);
    return import_fail(import, status, "%s",
                       stats.reason[0] != '\0' ? stats.reason : status_sentence(status));
}

const char *import_problem(const struct import *import)
{
    return import->problem;
}

static enum status refuse_text(struct import *import, const char *what, struct text text,
                               const char *expected)
{
    char shown[TEXT_SHOWN];
    snprintf(import->problem, sizeof import->problem, "%s '%s' %s", what, text_show(text, shown),
             expected);
    return STATUS_BAD_ARGUMENT;
}

/* Names */

static enum status record_name(void *context, enum name_role role, uint16_t index, const char *text,
                               size_t length)
{
    struct import *import = context;
    CHECK_MAGIC(import, IMPORT_MAGIC);
    struct event event =
        event_define((uint8_t)role, index, text, length, import->options.recorded_s);
    return record_event(&import->record, &event);
}

/* Refuses a name for the status of names_intern or names_test. */
static enum status name_judge(struct import *import, enum status status, enum name_role role,
                              struct text text)
{
    static const char *const what[] = {"", "the type", "the kind", "the counter", "the counter"};
    switch (status) {
    case STATUS_OK:
        return status;
    case STATUS_BAD_ARGUMENT:
        return refuse_text(
            import, what[role], text,
            "is not a name: a letter a-z, then letters, digits, '_' and '-', at most 32 in all");
    case STATUS_NOT_A_KIND:
    case STATUS_NOT_A_COUNTER:
    case STATUS_TABLE_FULL:
    case STATUS_NAME_NOT_LISTED:
        names_refusal(import->options.names, status, role, text.bytes, text.length, import->problem,
                      sizeof import->problem);
        return STATUS_BAD_ARGUMENT;
    default:
        return import_fail_journal(import, status);
    }
}

static enum status name_take(struct import *import, enum name_role role, struct text text,
                             uint16_t *index)
{
    if (import->failed != STATUS_OK)
        return import->failed;
    enum status status = names_intern(import->options.names, role, text.bytes, text.length, index);
    return name_judge(import, status, role, text);
}

enum status import_define(struct import *import, enum name_role role, struct text name)
{
    uint16_t index;
    ASSERT(role == NAME_TYPE || role == NAME_KIND || role == NAME_COUNTER);
    return name_take(import, role, name, &index);
}

/* `colon` is the end of the type. */
static enum status item_parse(struct import *import, struct text text, struct item *item,
                              size_t *colon)
{
    static const char expected[] =
        "is not an item: a type, ':', then a 64-bit decimal or a UUID, as in video:42";
    const char *found = memchr(text.bytes, ':', text.length);
    *colon = found == NULL ? 0 : (size_t)(found - text.bytes);
    if (*colon == 0 || !name_is_valid(text.bytes, *colon) ||
        !id_parse(found + 1, text.length - *colon - 1, &item->id))
        return refuse_text(import, "the item", text, expected);
    return STATUS_OK;
}

/* The names of a row: a kind or counter, and the type. If one is refused, the other is not made. */
static enum status names_take(struct import *import, enum name_role role, struct text name,
                              uint16_t *index, struct text type, uint16_t *type_index)
{
    enum status status = names_test(import->options.names, NAME_TYPE, type.bytes, type.length);
    status = name_judge(import, status, NAME_TYPE, type);
    if (status == STATUS_OK)
        status = name_take(import, role, name, index);
    return status == STATUS_OK ? name_take(import, NAME_TYPE, type, type_index) : status;
}

enum status import_type(struct import *import, struct text text, uint16_t *index)
{
    return name_take(import, NAME_TYPE, text, index);
}

enum status import_item(struct import *import, struct text text, struct item *item)
{
    size_t colon;
    enum status status = item_parse(import, text, item, &colon);
    if (status != STATUS_OK)
        return status;
    return name_take(import, NAME_TYPE, (struct text){text.bytes, colon}, &item->type);
}

/* Batches */

static struct batch *batch_of(struct import *import, uint32_t which)
{
    return &import->batches[(import->current + which) % 2];
}

/* True: everything before the position is in the store. */
static enum status wait_for_store(struct import *import, uint64_t position)
{
    struct projector_stats stats;
    while (!projector_reach(import->projector, position, REACH_MS)) {
        enum status state = journal_state(import->record.journal);
        if (state != STATUS_OK)
            return import_fail_journal(import, state);
        projector_stats(import->projector, &stats);
        if (stats.state != PROJECTOR_OK)
            return import_fail(import, STATUS_IO_FAILED, "%s", stats.sentence);
    }
    return STATUS_OK;
}

static enum status mark_write(struct import *import, const struct move_mark *mark)
{
    int result = move_mark_write(import->options.directory, mark);
    if (result != 0)
        return import_fail(import, STATUS_IO_FAILED, "cannot write %s/%s: %s",
                           import->options.directory, MOVE_MARK_NAME, strerror(-result));
    import->mark = *mark;
    return STATUS_OK;
}

/* The store has the batch, so another attempt may begin after it. */
static enum status mark_advance(struct import *import, const struct batch *batch)
{
    struct move_mark mark = import->mark;
    if (import->options.source.bytes == 0 || batch->offset <= mark.offset)
        return STATUS_OK;
    mark.offset = batch->offset;
    mark.line = batch->line;
    return mark_write(import, &mark);
}

/* Decides the rows that were added, and makes room for others. */
static enum status batch_end(struct import *import)
{
    struct batch *batch = batch_of(import, 0);
    struct batch *last = batch_of(import, 1);
    uint64_t arrived =
        batch->end; /* of the batch before the previous one, which used the same memory */
    enum status status = wait_for_store(import, arrived);
    if (status == STATUS_OK && arrived > 0)
        status = mark_advance(import, batch);
    batch->offset = import->offset;
    batch->line = import->line;
    if (status == STATUS_OK)
        status = batch_decide(import, batch, &last->known);
    if (status != STATUS_OK)
        return status;
    import->current = (import->current + 1) % 2;
    known_clear(&last->known);
    last->row_count = 0;
    return STATUS_OK;
}

/* A row adds at most one entry for each kind of a group. */
static enum status batch_reserve(struct import *import)
{
    const struct batch *batch = batch_of(import, 0);
    if (import->failed != STATUS_OK)
        return import->failed;
    ASSERT(!import->finished);
    if (batch->row_count < import->options.batch_rows &&
        batch->known.capacity - batch->known.used >= LIMIT_EXCLUSIVE)
        return STATUS_OK;
    return batch_end(import);
}

static void batch_add(struct import *import, struct batch_row row)
{
    struct batch *batch = batch_of(import, 0);
    batch->rows[batch->row_count++] = row;
    import->summary.rows++;
}

/* Rows */

/* Called at the first row, because the source's own definitions come first. */
static enum status exclusive_read(struct import *import)
{
    char sentence[256];
    import->exclusive_known = true;
    enum status status = exclusive_parse(&import->exclusive, import->options.exclusive,
                                         import->options.names, sentence, sizeof sentence);
    if (status == STATUS_OK)
        return status;
    if (status == STATUS_READONLY || status == STATUS_DISK_FULL || status == STATUS_NO_FILES)
        return import_fail_journal(import, status);
    return import_fail(import, STATUS_NOT_A_KIND, "exclusive = %s: %s", import->options.exclusive,
                       sentence);
}

static enum status row_begin(struct import *import)
{
    enum status status = batch_reserve(import);
    return status != STATUS_OK || import->exclusive_known ? status : exclusive_read(import);
}

enum status import_time(struct import *import, uint32_t *time_s)
{
    const struct import_options *options = &import->options;
    bool future = *time_s > (uint64_t)options->now_s + FUTURE_MOST;
    if (*time_s == 0 || (future && !options->future_as_now)) {
        snprintf(import->problem, sizeof import->problem,
                 "the time %u is not a time in the past, in seconds since 1970%s", *time_s,
                 future ? ": it is ahead of this machine's clock; --future-as-now imports such "
                          "rows with the present time"
                        : "");
        return STATUS_BAD_ARGUMENT;
    }
    if (*time_s > options->now_s)
        *time_s = options->now_s;
    if (options->timeline != NULL)
        *time_s = timeline_recorded(options->timeline, *time_s);
    return STATUS_OK;
}

static enum status reaction_take(struct import *import, struct text user, struct text kind,
                                 struct text item, uint32_t time_s, bool timed)
{
    struct known_entry key = {.is_counter = false};
    size_t colon;
    uint16_t index;
    enum status status = row_begin(import);
    if (status == STATUS_OK && !id_parse(user.bytes, user.length, &key.user))
        status = refuse_text(import, "the user", user, "is not an id: a 64-bit decimal or a UUID");
    if (status == STATUS_OK)
        status = item_parse(import, item, &key.item, &colon);
    if (status == STATUS_OK)
        status = import_time(import, &time_s);
    if (status == STATUS_OK)
        status = names_take(import, NAME_KIND, kind, &index, (struct text){item.bytes, colon},
                            &key.item.type);
    if (status != STATUS_OK)
        return status;

    struct known *known = &batch_of(import, 0)->known;
    key.name = (uint8_t)index;
    batch_add(import, (struct batch_row){
                          .entry = known_take(known, &key), .time_s = time_s, .value = !timed});
    const struct exclusive_group *group = import_group(import, (uint8_t)index);
    for (uint32_t i = 0; group != NULL && i < group->count; i++) {
        key.name = group->kinds[i];
        known_take(known, &key);
    }
    return STATUS_OK;
}

enum status import_reaction(struct import *import, struct text user, struct text kind,
                            struct text item, uint32_t time_s)
{
    return reaction_take(import, user, kind, item, time_s, true);
}

enum status import_untimed(struct import *import, struct text user, struct text kind,
                           struct text item, uint32_t time_s)
{
    return reaction_take(import, user, kind, item, time_s, false);
}

enum status import_counter(struct import *import, struct text item, struct text counter,
                           int64_t value)
{
    struct known_entry key = {.is_counter = true};
    size_t colon;
    uint16_t index;
    enum status status = row_begin(import);
    if (status == STATUS_OK)
        status = item_parse(import, item, &key.item, &colon);
    if (status == STATUS_OK)
        status = names_take(import, NAME_COUNTER, counter, &index, (struct text){item.bytes, colon},
                            &key.item.type);
    if (status != STATUS_OK)
        return status;
    key.name = (uint8_t)index;
    uint32_t entry = known_take(&batch_of(import, 0)->known, &key);
    batch_add(import, (struct batch_row){.entry = entry, .value = value});
    return STATUS_OK;
}

void import_place(struct import *import, uint64_t offset, uint64_t line)
{
    import->offset = offset;
    import->line = line;
}

void import_resume_place(const struct import *import, uint64_t *offset, uint64_t *line)
{
    *offset = import->mark.offset;
    *line = import->mark.line;
}

void import_summary(const struct import *import, struct import_summary *out)
{
    *out = import->summary;
}

/* Life */

static bool batches_new(struct import *import)
{
    struct import_options *options = &import->options;
    struct memory_budget *budget = options->carry.budget;
    if (options->batch_rows > ROWS_LIMIT)
        options->batch_rows = ROWS_LIMIT;
    uint32_t capacity = options->batch_rows + LIMIT_EXCLUSIVE;
    size_t bytes = 2 * (known_bytes(capacity) + options->batch_rows * sizeof(struct batch_row));
    if (!memory_charge(budget, bytes))
        return false;
    import->charged_bytes = bytes;
    for (int i = 0; i < 2; i++) {
        struct batch *batch = &import->batches[i];
        batch->rows = malloc(options->batch_rows * sizeof(*batch->rows));
        if (batch->rows == NULL || !known_init(&batch->known, capacity, options->carry.seed))
            return false;
    }
    return true;
}

/* Frees everything except the journal and the projector. */
static void import_free(struct import *import)
{
    for (int i = 0; i < 2; i++) {
        known_free(&import->batches[i].known);
        free(import->batches[i].rows);
    }
    import_comments_free(import);
    memory_release(import->options.carry.budget, import->charged_bytes);
    free(import);
}

static enum status mark_begin(struct import *import)
{
    struct move_mark mark;
    (void)move_mark_read(import->options.directory,
                         &mark); /* if it cannot be read, the import begins with the first row */
    mark.until = UINT64_MAX;
    if (import->options.from_start ||
        memcmp(&mark.source, &import->options.source, sizeof mark.source) != 0)
        mark.offset = mark.line = 0;
    mark.source = import->options.source;
    if (mark.newest_s < import->options.recorded_s)
        mark.newest_s = import->options.recorded_s;
    return mark_write(import, &mark);
}

struct import *import_open(const struct import_options *options, char *problem, size_t size)
{
    ASSERT(options->batch_rows > 0);
    struct import *import = calloc(1, sizeof(*import));
    snprintf(problem, size, "there is no memory for a batch of rows");
    if (import == NULL)
        return NULL;
    import->magic = IMPORT_MAGIC;
    import->options = *options;
    if (options->recorded_s == 0)
        import->options.recorded_s = options->now_s;
    if (!batches_new(import) || mark_begin(import) != STATUS_OK) {
        if (import->failed != STATUS_OK)
            snprintf(problem, size, "%s", import->problem);
        import_free(import);
        return NULL;
    }
    struct store_stats stats = {0};
    store_stats(options->carry.admin, &stats);
    uint32_t recorded_s = import->options.recorded_s;
    import->change_s = stats.newest_s < recorded_s ? recorded_s : stats.newest_s + 1;
    import->projector = projector_start(&import->options.carry, problem, size);
    if (import->projector == NULL) {
        import_free(import);
        return NULL;
    }
    record_start(&import->record, options->journal);
    names_set_recorder(options->names, record_name, import);
    return import;
}

enum status import_flush(struct import *import)
{
    if (import->failed != STATUS_OK)
        return import->failed;
    ASSERT(!import->finished);
    enum status status = batch_end(import);
    if (status == STATUS_OK)
        status = wait_for_store(import, batch_of(import, 1)->end);
    return status == STATUS_OK ? mark_advance(import, batch_of(import, 1)) : status;
}

enum status import_finish(struct import *import)
{
    struct store_stats stats;
    enum status status = import_flush(import);
    if (status != STATUS_OK)
        return status;
    import->finished = true;
    projector_stop(import->projector); /* with a checkpoint */
    import->projector = NULL;
    store_stats(import->options.carry.admin, &stats);
    uint64_t end = journal_appended(import->record.journal);
    if (stats.durable < end)
        return import_fail(import, STATUS_IO_FAILED, "the store could not be flushed");
    return mark_write(import, &(struct move_mark){.until = end, .newest_s = import->mark.newest_s});
}

void import_close(struct import *import)
{
    CHECK_MAGIC(import, IMPORT_MAGIC);
    if (import->projector != NULL)
        projector_stop(import->projector);
    names_set_recorder(import->options.names, NULL, NULL);
    record_end(&import->record);
    import_free(import);
}
