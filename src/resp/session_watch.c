/* The commands of a session for those who run the server: METRICS, HOTKEYS, SLOWLOG, BACKUP. */
#include "base/clock.h"
#include "base/decimal.h"
#include "net/backup.h"
#include "net/conn.h"
#include "net/info.h"
#include "resp/session.h"
#include "resp/write.h"

#define HOTKEYS_USUAL 10
#define SLOWLOG_USUAL 10

/* Reads a whole number up to `most`. False: the word is not such a number. */
static bool read_number(struct text word, uint32_t most, uint32_t *out)
{
    uint64_t value;
    if (word.length > 9 || !decimal_read(word, most, &value))
        return false;
    *out = (uint32_t)value;
    return true;
}

bool session_metrics(struct conn *conn, const struct text *args, uint32_t count,
                     struct refusal *refusal)
{
    struct buffer text = {.budget = conn->out.budget};
    (void)args;
    (void)count;
    (void)refusal;
    bool written =
        info_metrics(conn->loop->server, &text) && resp_bulk(&conn->out, text.bytes, text.length);
    buffer_free(&text);
    return written;
}

static bool write_ranks(struct buffer *out, const struct hotkeys_rank *ranks, uint32_t count,
                        const struct names *names)
{
    bool written = resp_array(out, 2 * (size_t)count);
    for (uint32_t i = 0; written && i < count; i++) {
        char name[HOTKEYS_TEXT];
        hotkeys_name(&ranks[i], names, name);
        written = resp_text(out, name) && resp_integer(out, (int64_t)hotkeys_rate(&ranks[i]));
    }
    return written;
}

bool session_hotkeys(struct conn *conn, const struct text *args, uint32_t count,
                     struct refusal *refusal)
{
    struct server *server = conn->loop->server;
    struct buffer *out = &conn->out;
    struct hotkeys_top top;
    uint32_t most = HOTKEYS_USUAL;
    if (count > 0 && (!read_number(args[0], HOTKEYS_MAX, &most) || most == 0))
        return session_refuse_saying(refusal, STATUS_BAD_ARGUMENT,
                                     "HOTKEYS takes a number from 1 to 100");
    enum status status = server->hotkeys == NULL
                             ? STATUS_NO_MEMORY
                             : hotkeys_top(server->hotkeys, clock_monotonic_ns(), &top);
    if (!server->parts.options->hotkeys)
        return session_refuse(refusal, STATUS_NO_HOTKEYS);
    if (status != STATUS_OK)
        return session_refuse_saying(refusal, status,
                                     "there is no memory to keep track of hot keys");
    uint32_t items = top.item_count < most ? top.item_count : most;
    uint32_t users = top.user_count < most ? top.user_count : most;
    return resp_map(out, 2, resp_is_3(conn)) && resp_text(out, "items") &&
           write_ranks(out, top.items, items, server->parts.names) && resp_text(out, "users") &&
           write_ranks(out, top.users, users, NULL);
}

static bool write_entry(struct buffer *out, const struct slowlog_entry *entry)
{
    bool written = resp_array(out, 6) && resp_integer(out, (int64_t)entry->id) &&
                   resp_integer(out, (int64_t)entry->time_s) &&
                   resp_integer(out, (int64_t)entry->took_us) && resp_array(out, entry->count);
    for (uint32_t i = 0; written && i < entry->count; i++)
        written = resp_text(out, entry->words[i]);
    return written && resp_text(out, entry->client) && resp_text(out, entry->name);
}

/* The length is written first, so the entries are copied before anything is written. */
static bool slowlog_reply(struct conn *conn, uint32_t most)
{
    struct slowlog *slowlog = &conn->loop->server->slowlog;
    struct buffer entries = {.budget = conn->out.budget};
    struct slowlog_entry entry;
    uint32_t count = 0;
    bool written = true;
    entry.id = UINT64_MAX;
    for (; written && count < most && slowlog_get(slowlog, entry.id, &entry); count++)
        written = write_entry(&entries, &entry);
    written = written && resp_array(&conn->out, count) &&
              buffer_append(&conn->out, entries.bytes, entries.length);
    buffer_free(&entries);
    return written;
}

bool session_slowlog(struct conn *conn, const struct text *args, uint32_t count,
                     struct refusal *refusal)
{
    struct slowlog *slowlog = &conn->loop->server->slowlog;
    uint32_t most = SLOWLOG_USUAL;
    if (text_is(args[0], "LEN") && count == 1)
        return resp_integer(&conn->out, slowlog_length(slowlog));
    if (text_is(args[0], "RESET") && count == 1) {
        slowlog_reset(slowlog);
        return resp_simple(&conn->out, "OK");
    }
    if (text_is(args[0], "GET") && count == 2 && text_is(args[1], "-1"))
        return slowlog_reply(conn, SLOWLOG_ENTRIES);
    if (text_is(args[0], "GET") && (count == 1 || read_number(args[1], UINT32_MAX, &most)))
        return slowlog_reply(conn, most);
    return session_refuse_saying(refusal, STATUS_BAD_ARGUMENT,
                                 "SLOWLOG takes GET [n], LEN or RESET; n is -1 for all");
}

static bool backup_status(struct conn *conn, const struct server_parts *parts)
{
    struct backup_status status;
    parts->backup->status(parts->backup_context, &status);
    return resp_array(&conn->out, 2) && resp_text(&conn->out, status.state) &&
           resp_text(&conn->out, status.text);
}

bool session_backup(struct conn *conn, const struct text *args, uint32_t count,
                    struct refusal *refusal)
{
    const struct server_parts *parts = &conn->loop->server->parts;
    (void)count;
    if (parts->backup == NULL)
        return session_refuse_saying(refusal, STATUS_BAD_ARGUMENT,
                                     "this server cannot make backups");
    if (text_is(args[0], "STATUS"))
        return backup_status(conn, parts);
    if (text_is(args[0], "BEGIN"))
        return parts->backup->begin(parts->backup_context) == STATUS_OK
                   ? resp_simple(&conn->out, "OK")
                   : session_refuse_saying(refusal, STATUS_TOO_BUSY,
                                           "another backup of this server is being made");
    if (!text_is(args[0], "END"))
        return session_refuse_saying(refusal, STATUS_BAD_ARGUMENT,
                                     "BACKUP takes BEGIN, STATUS or END");
    parts->backup->end(parts->backup_context);
    return resp_simple(&conn->out, "OK");
}
