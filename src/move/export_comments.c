/*
 * Subjects come in the order of the store, and after each its roots by floor, each with its replies by floor;
 * so an import finds a root before its replies. Floors of listed and of other comments are in two tables, which
 * are merged. Comments that were dropped and whose rows are not removed yet are left out.
 *
 * Memory is bounded: a page of floors for roots and one for replies, and one comment with its history.
 */
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "comment/comment_id.h"
#include "comment/content.h"
#include "comment/rows.h"
#include "move/export_private.h"

enum { PAGE = 128 };

/* Walks over the rows of one group, page by page. */
struct walk {
    struct store_scan scan;
    uint8_t group[ROW_KEY_MAX];
    uint8_t from[STORE_REST_MAX];
    struct store_row rows[PAGE];
    size_t count, at;
    bool more;
    struct store_arena arena;
};

/* The comments of one parent by floor: those that are listed, and the others. */
struct floors {
    struct walk listed;
    struct walk unlisted;
};

struct exporting {
    struct export *export;
    uint16_t type; /* the index of the type `comment` */
    struct subject subject;
    struct floors roots;
    struct floors replies;
    struct walk history;
    struct walk inbox;
    struct store_arena arena; /* of one comment */
};

/* Bytes of lines */

static void put_text(struct export *export, const char *text)
{
    export_put(export, text, strlen(text));
}

static void put_number(struct export *export, uint64_t number)
{
    char digits[DECIMAL_MAX];
    export_put(export, digits, (size_t)(decimal_write(digits, number) - digits));
}

static void put_id(struct export *export, struct id id)
{
    char text[LIMIT_ID_TEXT];
    put_text(export, "\"");
    export_put(export, text, id_format(id, text));
    put_text(export, "\"");
}

static void put_comment_id(struct export *export, uint64_t id)
{
    put_text(export, "\"" COMMENT_TYPE_NAME ":");
    put_number(export, id);
    put_text(export, "\"");
}

/* A string of JSON. The text is UTF-8. */
static void put_string(struct export *export, struct text text)
{
    static const char hex[] = "0123456789abcdef";
    size_t begin = 0;
    put_text(export, "\"");
    for (size_t i = 0; i < text.length; i++) {
        unsigned char byte = (unsigned char)text.bytes[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        export_put(export, text.bytes + begin, i - begin);
        begin = i + 1;
        if (byte == '\n')
            put_text(export, "\\n");
        else if (byte >= 0x20)
            export_put(export, (const char[]){'\\', (char)byte}, 2);
        else
            export_put(export, (const char[]){'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]},
                       6);
    }
    export_put(export, text.bytes + begin, text.length - begin);
    put_text(export, "\"");
}

static void put_item(struct export *export, struct item item)
{
    char text[LIMIT_ID_TEXT];
    const struct name *type = names_type(export->names, item.type);
    put_text(export, "\"");
    export_put(export, type->text, type->length);
    put_text(export, ":");
    export_put(export, text, id_format(item.id, text));
    put_text(export, "\"");
}

/* ,"key":number, unless it is 0 */
static void put_some(struct export *export, const char *key, uint32_t number)
{
    if (number == 0)
        return;
    put_text(export, ",\"");
    put_text(export, key);
    put_text(export, "\":");
    put_number(export, number);
}

static void put_time(struct export *export, const char *key, uint32_t recorded_s)
{
    put_some(export, key, recorded_s == 0 ? 0 : export_time(export, recorded_s));
}

/* Walks */

static void walk_begin(struct walk *walk, enum store_table table, const uint8_t *group,
                       size_t length, bool reverse)
{
    memcpy(walk->group, group, length);
    walk->scan = (struct store_scan){.table = table,
                                     .group = {walk->group, (uint32_t)length},
                                     .reverse = reverse,
                                     .limit_rows = PAGE};
    walk->count = walk->at = 0;
    walk->more = true;
}

/* The present row; NULL: there is none. */
static enum status walk_row(struct exporting *exporting, struct walk *walk,
                            const struct store_row **row)
{
    enum status status = STATUS_OK;
    if (walk->at == walk->count && walk->more) {
        store_arena_empty(&walk->arena);
        status = store_scan_rows(&exporting->export->store->reader, &walk->scan, walk->rows,
                                 &walk->count, &walk->more, &walk->arena);
        walk->at = 0;
    }
    *row = status == STATUS_OK && walk->at < walk->count ? &walk->rows[walk->at] : NULL;
    return status;
}

static void walk_next(struct walk *walk)
{
    const struct store_bytes *key = &walk->rows[walk->at++].key;
    uint32_t length = key->length - walk->scan.group.length;
    memcpy(walk->from, key->data + walk->scan.group.length, length);
    walk->scan.from = (struct store_bytes){walk->from, length};
}

static void floors_begin(struct floors *floors, struct item parent)
{
    uint8_t key[ROW_KEY_MAX];
    size_t length = row_key_floor(parent, 0, key) - 4;
    walk_begin(&floors->listed, STORE_FLOOR, key, length, false);
    length = row_key_unlisted(parent, 0, key) - 4;
    walk_begin(&floors->unlisted, STORE_ORDER, key, length, false);
}

/* The next comment by floor; COMMENT_NONE: there is none. */
static enum status floors_next(struct exporting *exporting, struct floors *floors, uint64_t *id)
{
    const struct store_row *listed, *unlisted = NULL;
    uint32_t listed_floor = UINT32_MAX, unlisted_floor = UINT32_MAX;
    *id = COMMENT_NONE;
    enum status status = walk_row(exporting, &floors->listed, &listed);
    if (status == STATUS_OK)
        status = walk_row(exporting, &floors->unlisted, &unlisted);
    if (status != STATUS_OK || (listed == NULL && unlisted == NULL))
        return status;
    if ((listed != NULL && !row_read_floor(listed->key, NULL, &listed_floor)) ||
        (unlisted != NULL && !row_read_order(unlisted->key, NULL, NULL, NULL, &unlisted_floor)))
        return STATUS_DAMAGED;
    bool first = unlisted == NULL || (listed != NULL && listed_floor < unlisted_floor);
    status = row_read_number((first ? listed : unlisted)->value, id);
    walk_next(first ? &floors->listed : &floors->unlisted);
    return status;
}

/* Comments */

static void put_content(struct export *export, const struct comment_content *content)
{
    put_text(export, "\"text\":");
    put_string(export, content->text);
    put_time(export, "text_time", content->time_s);
    if (content->extra.length > 0) {
        put_text(export, ",\"extra\":");
        put_string(export, content->extra);
    }
    for (uint32_t i = 0; i < content->mention_count; i++) {
        put_text(export, i == 0 ? ",\"mentions\":[" : ",");
        put_id(export, content->mentions[i]);
    }
    if (content->mention_count > 0)
        put_text(export, "]");
}

static enum status put_history(struct exporting *exporting, uint64_t id)
{
    uint8_t key[ROW_KEY_MAX];
    const struct store_row *row;
    enum status status;
    bool any = false;
    size_t length = row_key_id(id, key);
    walk_begin(&exporting->history, STORE_HISTORY, key, length, true);
    while ((status = walk_row(exporting, &exporting->history, &row)) == STATUS_OK && row != NULL) {
        struct comment_content content;
        status = comment_content_decode(row->value.data, row->value.length, &content);
        if (status != STATUS_OK)
            return status;
        put_text(exporting->export, any ? ",{" : ",\"history\":[{");
        put_content(exporting->export, &content);
        put_text(exporting->export, "}");
        any = true;
        walk_next(&exporting->history);
    }
    if (any)
        put_text(exporting->export, "]");
    return status;
}

static void put_comment(struct export *export, const struct comment *comment)
{
    put_text(export, "{\"comment\":");
    put_comment_id(export, comment->id);
    put_text(export, ",\"subject\":");
    put_item(export, comment->subject);
    if (!comment_is_root(comment)) {
        put_text(export, ",\"root\":");
        put_comment_id(export, comment->root);
        put_text(export, ",\"reply_to\":");
        put_comment_id(export, comment->reply_to);
        put_text(export, ",\"reply_to_user\":");
        put_id(export, comment->reply_to_user);
    }
    put_text(export, ",\"author\":");
    if (comment->anonymous)
        put_text(export, "null");
    else
        put_id(export, comment->author);
    put_some(export, "floor", comment->floor);
    put_time(export, "time", comment->time_s);
    put_time(export, "edited", comment->edited_s);
    put_some(export, "versions", comment->versions);
    put_some(export, "reviewed", comment->reviewed);
    put_some(export, "next_floor", comment->next_floor);
    put_text(export, ",\"state\":\"");
    put_text(export, comment_moderation_text(comment->moderation));
    put_text(export, comment->deleted ? "\",\"deleted\":true" : "\"");
    if (comment->was_open)
        put_text(export, ",\"was_open\":true");
}

static enum status read_one(struct exporting *exporting, enum store_table table, uint64_t id,
                            struct store_bytes *value)
{
    uint8_t key[ROW_KEY_MAX];
    const struct store_bytes wanted = {key, (uint32_t)row_key_id(id, key)};
    return store_read_rows(&exporting->export->store->reader, table, &wanted, 1, value,
                           &exporting->arena);
}

static enum status read_comment(struct exporting *exporting, uint64_t id, struct comment *comment)
{
    struct store_bytes value;
    store_arena_empty(&exporting->arena);
    enum status status = read_one(exporting, STORE_COMMENT, id, &value);
    if (status == STATUS_OK && value.data == NULL)
        return STATUS_DAMAGED;
    if (status == STATUS_OK)
        status = row_read_comment(value, id, comment, NULL);
    bool good = status != STATUS_OK || item_equal(comment->subject, exporting->subject.item);
    return good ? status : STATUS_DAMAGED;
}

static enum status write_comment(struct exporting *exporting, const struct comment *comment)
{
    struct export *export = exporting->export;
    struct comment_content content;
    struct store_bytes value = {0};
    enum status status = STATUS_OK;
    put_comment(export, comment);
    if (!comment->deleted) {
        status = read_one(exporting, STORE_CONTENT, comment->id, &value);
        if (status == STATUS_OK && value.data == NULL)
            return STATUS_DAMAGED;
        if (status == STATUS_OK)
            status = comment_content_decode(value.data, value.length, &content);
        if (status == STATUS_OK) {
            put_text(export, ",");
            put_content(export, &content);
            status = put_history(exporting, comment->id);
        }
    }
    put_text(export, "}\n");
    export->report->comments++;
    export_tell(export);
    return status == STATUS_OK ? export->failed : status;
}

static enum status write_thread(struct exporting *exporting, const struct comment *root)
{
    uint64_t id;
    struct comment reply;
    enum status status = write_comment(exporting, root);
    if (status != STATUS_OK || root->next_floor <= 1)
        return status;
    floors_begin(&exporting->replies, comment_item(root->id, exporting->type));
    while ((status = floors_next(exporting, &exporting->replies, &id)) == STATUS_OK &&
           id != COMMENT_NONE) {
        status = read_comment(exporting, id, &reply);
        if (status == STATUS_OK && reply.root != root->id)
            status = STATUS_DAMAGED;
        if (status == STATUS_OK)
            status = write_comment(exporting, &reply);
        if (status != STATUS_OK)
            return status;
    }
    return status;
}

/* Subjects */

static void put_subject(struct export *export, const struct subject *subject)
{
    put_text(export, "{\"subject\":");
    put_item(export, subject->item);
    if (subject->has_owner) {
        put_text(export, ",\"owner\":");
        put_id(export, subject->owner);
    }
    put_text(export, ",\"mode\":\"");
    put_text(export, subject_mode_text(subject->mode));
    put_text(export, "\"");
    put_some(export, "next_floor", subject->next_floor);
    put_text(export, "}\n");
}

static void put_pins(struct export *export, const struct subject *subject)
{
    for (unsigned i = 0; i < subject->pin_count; i++) {
        put_text(export, "{\"pin\":");
        put_comment_id(export, subject->pins[i]);
        put_text(export, ",\"subject\":");
        put_item(export, subject->item);
        put_text(export, "}\n");
    }
}

static enum status write_subject(void *context, const struct store_row *row)
{
    struct exporting *exporting = context;
    struct subject *subject = &exporting->subject;
    struct item item;
    uint64_t id;
    if (!row_read_item(row->key, &item) ||
        item.type >= names_type_count(exporting->export->names) ||
        row_read_subject(row->value, item, subject) != STATUS_OK)
        return STATUS_DAMAGED;
    put_subject(exporting->export, subject);
    exporting->export->report->subjects++;
    floors_begin(&exporting->roots, item);
    enum status status;
    while ((status = floors_next(exporting, &exporting->roots, &id)) == STATUS_OK &&
           id != COMMENT_NONE) {
        struct comment root;
        status = read_comment(exporting, id, &root);
        if (status == STATUS_OK && !comment_is_dropped(&root, subject))
            status = write_thread(exporting, &root);
        if (status != STATUS_OK)
            return status;
    }
    put_pins(exporting->export, subject);
    return status == STATUS_OK ? exporting->export->failed : status;
}

/* Users */

static enum status write_ban(struct exporting *exporting, struct id user, struct store_bytes value)
{
    struct export *export = exporting->export;
    struct user_ban ban;
    if (row_read_ban(value, &ban) != STATUS_OK)
        return STATUS_DAMAGED;
    if (ban.until_s == 0)
        return STATUS_OK;
    put_text(export, "{\"ban\":");
    put_id(export, user);
    put_text(export, ",\"until\":");
    if (ban.until_s == UINT32_MAX)
        put_text(export, "null");
    else
        put_number(export, timeline_shown(export->times->timeline, ban.until_s));
    put_text(export, ban.shadow ? ",\"shadow\":true}\n" : "}\n");
    export->report->bans++;
    return export->failed;
}

static void put_notice(struct export *export, struct id user, uint32_t number,
                       const struct inbox_entry *entry)
{
    put_text(export, "{\"inbox\":");
    put_id(export, user);
    put_some(export, "number", number);
    put_text(export, ",\"comment\":");
    put_comment_id(export, entry->comment);
    put_text(export, ",\"by\":");
    put_id(export, entry->by);
    put_time(export, "time", entry->time_s);
    put_text(export, entry->mention ? ",\"mention\":true}\n" : "}\n");
    export->report->notices++;
}

static enum status write_inbox(struct exporting *exporting, struct id user,
                               struct store_bytes value)
{
    struct export *export = exporting->export;
    struct inbox_state state;
    struct inbox_entry entry;
    uint8_t key[ROW_KEY_MAX];
    const struct store_row *row;
    enum status status;
    if (row_read_inbox_state(value, &state) != STATUS_OK)
        return STATUS_DAMAGED;
    if (state.newest == 0)
        return STATUS_OK;
    size_t length = row_key_inbox(user, 0, key) - 4;
    walk_begin(&exporting->inbox, STORE_INBOX, key, length, true);
    while ((status = walk_row(exporting, &exporting->inbox, &row)) == STATUS_OK && row != NULL) {
        uint32_t number;
        if (!row_read_inbox(row->key, NULL, &number) ||
            row_read_inbox_entry(row->value, &entry) != STATUS_OK)
            return STATUS_DAMAGED;
        if (state.newest < LIMIT_INBOX || number > state.newest - LIMIT_INBOX)
            put_notice(export, user, number, &entry);
        walk_next(&exporting->inbox);
    }
    put_text(export, "{\"inbox\":");
    put_id(export, user);
    put_some(export, "newest", state.newest);
    put_text(export, ",\"seen\":");
    put_number(export, state.seen);
    put_text(export, "}\n");
    return status == STATUS_OK ? export->failed : status;
}

static enum status write_user(void *context, const struct store_row *row)
{
    struct id user;
    uint8_t what;
    if (!row_read_user(row->key, &user, &what))
        return STATUS_DAMAGED;
    return what == 'b' ? write_ban(context, user, row->value)
                       : write_inbox(context, user, row->value);
}

static void walk_free(struct walk *walk)
{
    store_arena_destroy(&walk->arena);
}

enum status export_comments(struct export *export)
{
    int type = names_find_type(export->names, COMMENT_TYPE_NAME, strlen(COMMENT_TYPE_NAME));
    struct exporting *exporting = calloc(1, sizeof *exporting);
    if (exporting == NULL)
        return STATUS_NO_MEMORY;
    exporting->export = export;
    exporting->type = type < 0 ? UINT16_MAX : (uint16_t)type;
    const struct store_visitor subjects = {
        .row = write_subject, .context = exporting, .tables = store_table_bit(STORE_SUBJECT)};
    const struct store_visitor users = {
        .row = write_user, .context = exporting, .tables = store_table_bit(STORE_USER)};
    enum status status = store_visit(&export->store->admin, &subjects);
    if (status == STATUS_OK)
        status = store_visit(&export->store->admin, &users);
    walk_free(&exporting->roots.listed);
    walk_free(&exporting->roots.unlisted);
    walk_free(&exporting->replies.listed);
    walk_free(&exporting->replies.unlisted);
    walk_free(&exporting->history);
    walk_free(&exporting->inbox);
    store_arena_destroy(&exporting->arena);
    free(exporting);
    return status;
}
