#include "move/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/decimal.h"
#include "move/export_private.h"

#define BUFFER_BYTES  KIB(256)
#define LINE_BYTES    320       /* no line is longer */
#define PROGRESS_ROWS (1 << 14) /* between two calls of progress */

_Static_assert(LINE_BYTES > 64 + LIMIT_ID_TEXT + LIMIT_ITEM_TEXT + LIMIT_NAME_LENGTH + DECIMAL_MAX,
               "a line fits");

static enum status buffer_write(struct export *export)
{
    size_t done = 0;
    while (done < export->used) {
        ssize_t written = write(export->fd, export->buffer + done, export->used - done);
        if (written < 0 && errno != EINTR) {
            export->report->error = errno;
            export->failed = STATUS_IO_FAILED;
            return STATUS_IO_FAILED;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    export->used = 0;
    return STATUS_OK;
}

/* Memory for the next line; NULL: the buffer could not be written to the file. */
static char *line_begin(struct export *export)
{
    if (export->used + LINE_BYTES > BUFFER_BYTES && buffer_write(export) != STATUS_OK)
        return NULL;
    return export->buffer + export->used;
}

static void line_end(struct export *export, char *at)
{
    *at++ = '\n';
    export->used = (size_t)(at - export->buffer);
}

void export_put(struct export *export, const char *bytes, size_t length)
{
    while (length > 0 && export->failed == STATUS_OK) {
        size_t room = BUFFER_BYTES - export->used;
        size_t piece = length < room ? length : room;
        memcpy(export->buffer + export->used, bytes, piece);
        export->used += piece;
        bytes += piece;
        length -= piece;
        if (export->used == BUFFER_BYTES)
            (void)buffer_write(export); /* `failed` is set if it fails */
    }
}

#define PUT(at, literal) put((at), (literal), sizeof(literal) - 1)

static inline char *put(char *at, const char *bytes, size_t length)
{
    memcpy(at, bytes, length);
    return at + length;
}

static char *put_name(char *at, const struct name *name)
{
    return put(at, name->text, name->length);
}

static char *put_item(const struct export *export, char *at, struct item item)
{
    at = put_name(at, names_type(export->names, item.type));
    *at++ = ':';
    return at + id_format(item.id, at);
}

static enum status write_name(struct export *export, const struct name *name)
{
    static const char *const roles[] = {
        [NAME_TYPE] = "type", [NAME_KIND] = "kind", [NAME_COUNTER] = "counter"};
    if (name->role == NAME_KEPT)
        return STATUS_OK;
    char *at = line_begin(export);
    if (at == NULL)
        return STATUS_IO_FAILED;
    at = PUT(at, "{\"define\":\"");
    at = put(at, roles[name->role], strlen(roles[name->role]));
    at = PUT(at, "\",\"name\":\"");
    at = put_name(at, name);
    line_end(export, PUT(at, "\"}"));
    export->report->names++;
    return STATUS_OK;
}

static enum status write_names(struct export *export)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < names_type_count(export->names); i++)
        status = write_name(export, names_type(export->names, (uint16_t)i));
    for (size_t i = 0; status == STATUS_OK && i < names_count(export->names); i++)
        status = write_name(export, names_get(export->names, (uint8_t)i));
    return status;
}

/* The store may be damaged, so its values are checked. */
static bool is_known(const struct export *export, uint8_t name, uint16_t type)
{
    return name < names_count(export->names) && type < names_type_count(export->names);
}

void export_tell(struct export *export)
{
    const struct export_report *report = export->report;
    uint64_t rows = report->reactions + report->counters + report->comments;
    if (rows % PROGRESS_ROWS == 0 && export->progress != NULL)
        export->progress(export->context, rows, export->total);
}

uint32_t export_time(const struct export *export, uint32_t recorded_s)
{
    return timeline_past(export->times->timeline, recorded_s, export->times->now_s);
}

static uint32_t time_of(struct export *export, uint32_t recorded_s)
{
    const struct export_times *times = export->times;
    export->report->future += timeline_shown(times->timeline, recorded_s) > times->now_s;
    return export_time(export, recorded_s);
}

static enum status write_reaction(void *context, const struct store_reaction *reaction)
{
    struct export *export = context;
    if (!is_known(export, reaction->kind, reaction->item.type))
        return STATUS_DAMAGED;
    char *at = line_begin(export);
    if (at == NULL)
        return STATUS_IO_FAILED;
    at = PUT(at, "{\"user\":\"");
    at += id_format(reaction->user, at);
    at = PUT(at, "\",\"kind\":\"");
    at = put_name(at, names_get(export->names, reaction->kind));
    at = PUT(at, "\",\"item\":\"");
    at = put_item(export, at, reaction->item);
    at = PUT(at, "\",\"time\":");
    at = decimal_write(at, time_of(export, reaction->time_s));
    line_end(export, PUT(at, "}"));
    export->report->reactions++;
    export_tell(export);
    return STATUS_OK;
}

static enum status write_count(void *context, const struct store_count *count)
{
    struct export *export = context;
    if (!is_known(export, count->name, count->item.type))
        return STATUS_DAMAGED;
    const struct name *name = names_get(export->names, count->name);
    if (name->role != NAME_COUNTER)
        return STATUS_OK;
    char *at = line_begin(export);
    if (at == NULL)
        return STATUS_IO_FAILED;
    at = PUT(at, "{\"item\":\"");
    at = put_item(export, at, count->item);
    at = PUT(at, "\",\"counter\":\"");
    at = put_name(at, name);
    at = PUT(at, "\",\"value\":");
    at = decimal_write_signed(at, count->value);
    line_end(export, PUT(at, "}"));
    export->report->counters++;
    export_tell(export);
    return STATUS_OK;
}

enum status export_write(struct store *store, const struct names *names,
                         const struct export_times *times, int fd, export_progress_fn *progress,
                         void *context, struct export_report *report)
{
    struct store_stats stats;
    store_stats(&store->admin, &stats);
    *report = (struct export_report){0};
    struct export export = {.store = store,
                            .names = names,
                            .times = times,
                            .report = report,
                            .progress = progress,
                            .context = context,
                            .total = stats.reactions,
                            .fd = fd,
                            .buffer = malloc(BUFFER_BYTES)};
    const struct store_visitor reactions = {.reaction = write_reaction, .context = &export};
    const struct store_visitor counts = {.count = write_count, .context = &export};
    if (export.buffer == NULL)
        return STATUS_NO_MEMORY;
    enum status status = write_names(&export);
    if (status == STATUS_OK)
        status = store_visit(&store->admin, &reactions);
    if (status == STATUS_OK)
        status = store_visit(&store->admin, &counts);
    if (status == STATUS_OK)
        status = export_comments(&export);
    if (status == STATUS_OK)
        status = buffer_write(&export);
    free(export.buffer);
    return status;
}
