#include "query/removal_comments.h"

#include "base/assert.h"
#include "comment/comment_id.h"

/* Comments that are to be decided, in this order. */
struct candidates {
    uint64_t ids[LIMIT_BATCH];
    uint32_t count;
    uint32_t room;
};

/* Adds what the user has written, and remembers where the next step continues. */
static enum status find_written(struct removal_comments *walk, struct query_tier *tier,
                                struct id user, struct candidates *found)
{
    uint8_t key[ROW_KEY_MAX], class = 0;
    struct store_row rows[LIMIT_BATCH];
    struct store_arena arena = {0};
    size_t count = 0, group = store_group_length(STORE_WRITTEN);
    bool more = false;
    struct store_scan scan = {.table = STORE_WRITTEN, .limit_rows = found->room};
    row_key_written(user, 0, 0, key);
    scan.group = (struct store_bytes){key, (uint32_t)group};
    if (walk->last_length > 0)
        scan.from = (struct store_bytes){walk->last + group, walk->last_length - (uint32_t)group};
    enum status status = store_scan_rows(tier->store, &scan, rows, &count, &more, &arena);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        if (!row_read_written(rows[i].key, NULL, &class, &found->ids[found->count++]))
            status = STATUS_DAMAGED;
    if (status == STATUS_OK && count > 0)
        walk->last_length =
            (uint32_t)row_key_written(user, class, found->ids[found->count - 1], walk->last);
    store_arena_destroy(&arena);
    return status;
}

/* The key of a row in one of the lists of a parent by floor. */
static struct store_bytes floor_key(struct item parent, bool second, uint32_t floor, uint8_t *out)
{
    size_t length =
        second ? row_key_unlisted(parent, floor, out) : row_key_floor(parent, floor, out);
    return (struct store_bytes){out, (uint32_t)length};
}

/* Reads up to `room` further entries of the present list, with floors below `end`. */
static enum status scan_floors(struct query_tier *tier, struct item parent,
                               struct removal_floors *floors, uint64_t end, uint64_t *ids,
                               size_t room, size_t *count)
{
    uint8_t from[ROW_KEY_MAX], until[ROW_KEY_MAX];
    struct store_row rows[LIMIT_BATCH];
    struct store_arena arena = {0};
    bool more = false, second = floors->second;
    struct store_scan scan = {.table = second ? STORE_ORDER : STORE_FLOOR, .limit_rows = room};
    uint32_t group = (uint32_t)store_group_length(scan.table);
    struct store_bytes key = floor_key(parent, second, floors->floor, from);
    scan.group = (struct store_bytes){from, group};
    scan.from = (struct store_bytes){from + group, key.length - group};
    if (end <= UINT32_MAX) {
        key = floor_key(parent, second, (uint32_t)end, until);
        scan.until = (struct store_bytes){until + group, key.length - group};
    }
    *count = 0;
    enum status status = store_scan_rows(tier->store, &scan, rows, count, &more, &arena);
    for (size_t i = 0; i < *count && status == STATUS_OK; i++) {
        bool good = second ? row_read_order(rows[i].key, NULL, NULL, NULL, &floors->floor)
                           : row_read_floor(rows[i].key, NULL, &floors->floor);
        status = good ? row_read_number(rows[i].value, &ids[i]) : STATUS_DAMAGED;
    }
    store_arena_destroy(&arena);
    return status;
}

/* The same over both lists. *count 0: both have ended. */
static enum status next_floors(struct query_tier *tier, struct item parent,
                               struct removal_floors *floors, uint64_t end, uint64_t *ids,
                               size_t room, size_t *count)
{
    enum status status = scan_floors(tier, parent, floors, end, ids, room, count);
    if (status != STATUS_OK || *count > 0 || floors->second)
        return status;
    *floors = (struct removal_floors){.second = true};
    return scan_floors(tier, parent, floors, end, ids, room, count);
}

/*
 * Adds dropped comments: all replies of a root, and then the root itself. So a root whose rows exist leads to
 * all replies that are left.
 */
static enum status find_dropped(struct removal_comments *walk, struct query_tier *tier,
                                struct item subject, struct candidates *found)
{
    enum status status = STATUS_OK;
    size_t count = 1;
    while (status == STATUS_OK && count > 0 && found->count < found->room) {
        if (walk->root == COMMENT_NONE) {
            status = next_floors(tier, subject, &walk->roots, walk->dropped_floor + 1ULL,
                                 &walk->root, 1, &count);
            walk->replies = (struct removal_floors){0};
            continue;
        }
        struct item parent = comment_item(walk->root, tier->comment_type);
        status = next_floors(tier, parent, &walk->replies, UINT64_MAX, found->ids + found->count,
                             found->room - found->count, &count);
        found->count += (uint32_t)count;
        if (status == STATUS_OK && count == 0) {
            found->ids[found->count++] = walk->root;
            walk->root = COMMENT_NONE;
            count = 1;
        }
    }
    return status;
}

/* Everything that was decided before is in the store when a walk begins. */
static enum status begin(struct removal_comments *walk, struct query_tier *tier,
                         const struct hot_request *request, uint32_t *removed)
{
    const struct query_tier_functions *functions = tier->functions;
    struct subject subject = {0};
    int64_t value = 0;
    enum status status = STATUS_OK;
    walk->begun = true;
    if (request->action == HOT_DROP) {
        status = functions->drop_comments(tier, request->items[0], request->time_s, &value);
        *removed += value != 0;
        if (status == STATUS_OK)
            status = functions->subject(tier, request->items[0], &subject);
        walk->dropped_floor = subject.dropped_floor;
        if (status != STATUS_OK || subject.dropped_floor == 0) {
            walk->done = true;
            return status;
        }
    }
    return functions->reach(tier, functions->any_comment_point(tier));
}

/* Decides the candidates. One that is not there any more, or is not the user's, needs no decision. */
static enum status decide(struct query_tier *tier, const struct hot_request *request,
                          const struct candidates *found, uint32_t *removed, uint32_t *examined)
{
    const struct query_tier_functions *functions = tier->functions;
    enum status status = functions->admit(tier, found->count);
    for (uint32_t i = 0; i < found->count && status == STATUS_OK; i++) {
        int64_t value = 0;
        status = request->action == HOT_FORGET
                     ? functions->forget_comment(tier, request->user, found->ids[i],
                                                 request->time_s, &value)
                     : functions->remove_comment(tier, found->ids[i], request->time_s, &value);
        if (status == STATUS_NO_COMMENT || status == STATUS_NOT_AUTHOR)
            status = STATUS_OK;
        *removed += value != 0;
        *examined += 1;
    }
    return status;
}

/* The walk has reached its end. */
static enum status end(struct removal_comments *walk, struct query_tier *tier,
                       const struct hot_request *request, uint32_t *removed)
{
    int64_t value = 0;
    enum status status = STATUS_OK;
    if (request->action == HOT_FORGET)
        status = tier->functions->forget_user(tier, request->user, request->time_s, &value);
    *removed += value != 0;
    walk->done = status == STATUS_OK;
    return status;
}

/* Without a store, or in a tier without comments, there is nothing to do. */
static bool has_comments(const struct query_tier *tier, const struct hot_request *request)
{
    return tier->store != NULL && tier->functions->forget_comment != NULL &&
           (request->action == HOT_FORGET ||
            (tier->comment_type != UINT16_MAX && request->items[0].type != tier->comment_type));
}

enum status removal_comments_step(struct removal_comments *walk, struct query_tier *tier,
                                  const struct hot_request *request, uint32_t room,
                                  uint32_t *removed, uint32_t *examined)
{
    struct candidates found = {.room = room};
    ASSERT(room > 0 && room <= LIMIT_BATCH && !walk->done);
    if (!has_comments(tier, request)) {
        walk->done = true;
        return STATUS_OK;
    }
    if (!walk->begun)
        return begin(walk, tier, request, removed);
    enum status status = request->action == HOT_FORGET
                             ? find_written(walk, tier, request->user, &found)
                             : find_dropped(walk, tier, request->items[0], &found);
    if (status != STATUS_OK)
        return status;
    return found.count > 0 ? decide(tier, request, &found, removed, examined)
                           : end(walk, tier, request, removed);
}
