/*
 * What `laud check` says of comments: nothing about a store that the projector has filled, and a sentence about every
 * kind of damage. Damage is planted as a change of rows or counters, as no event would make it.
 */
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "cli/check_store.h"
#include "comment/comment_id.h"
#include "comment/content.h"
#include "comment/index.h"
#include "project/comment_world.h"
#include "project/fold.h"
#include "store/memory/store_memory.h"

static struct memory_budget budget = {.limit = GIB(1)};
static struct comment_world *world;
static struct store *store;
static struct names *names;
static struct check_store check;
static uint64_t position;

static void apply(const struct store_row *rows, size_t row_count, const struct store_count *count)
{
    const struct store_changes changes = {.rows = rows,
                                          .row_count = row_count,
                                          .item = {.counts = count, .count_count = count != NULL},
                                          .position = ++position};
    assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
}

/* Projects the whole world, some events at a time. */
static void project(void)
{
    const struct comments_options options = {
        .names = names, .dislike = "dislike", .report = "report", .reader = &store->reader};
    struct comments *comments = comments_new(&options);
    struct fold *fold = fold_new(&budget, 50, 1);
    char problem[256] = "";
    assert_true(comments != NULL && fold != NULL && fold_set_comments(fold, comments));
    for (size_t i = 0; i < world->event_count;) {
        struct store_changes changes;
        while (i < world->event_count && fold_add(fold, &world->events[i]) == STATUS_OK)
            i++;
        fold_take(fold, ++position, &changes);
        if (comments_make_rows(comments, &changes, problem, sizeof problem) != STATUS_OK)
            fail_msg("%s", problem);
        assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
        fold_clear(fold);
    }
    fold_free(fold);
    comments_free(comments);
}

static void open_world(uint64_t seed, size_t events)
{
    world = comment_world_new(seed);
    store = store_memory_open(&budget);
    names = names_new();
    assert_true(store != NULL && names != NULL);
    position = 0;
    while (world->event_count < events)
        comment_world_next(world);
    for (size_t i = 0; i < world->event_count; i++) {
        const struct event *event = &world->events[i];
        if (event->type == EVENT_DEFINE)
            assert_int_equal(
                names_restore(names, event->name, event->index, event->text, event->text_length),
                STATUS_OK);
    }
    project();
    check = (struct check_store){.names = names, .store = store, .summary = tmpfile()};
    assert_non_null(check.summary);
}

static void close_world(void);

/* A world in which nothing was dropped: of what is being removed less can be said. */
static void open_kept_world(uint64_t seed, size_t events)
{
    bool dropped = true;
    for (; dropped; seed++) {
        open_world(seed, events);
        dropped = false;
        for (unsigned i = 0; i < CW_SUBJECTS; i++)
            dropped = dropped || world->subjects[i].dropped_floor > 0;
        if (dropped)
            close_world();
    }
}

static void close_world(void)
{
    fclose(check.summary);
    names_free(names);
    store_close(store);
    comment_world_free(world);
    assert_int_equal(memory_used(&budget), 0);
}

static void assert_clean(void)
{
    if (check_comments(&check) != STATUS_OK)
        fail_msg("%s", check.problem);
}

static void assert_damaged(const char *words)
{
    if (check_comments(&check) != STATUS_DAMAGED)
        fail_msg("no damage was found; expected '%s'", words);
    if (strstr(check.problem, words) == NULL)
        fail_msg("no '%s' in '%s'", words, check.problem);
}

static struct store_row row_of(const struct cw_row *row)
{
    return (struct store_row){.table = row->table,
                              .key = {row->key, row->key_length},
                              .value = {row->value, row->value_length}};
}

static void put(const struct cw_row *row)
{
    const struct store_row change = row_of(row);
    apply(&change, 1, NULL);
}

static void take_away(const struct cw_row *row)
{
    struct store_row change = row_of(row);
    change.removed = true;
    apply(&change, 1, NULL);
}

static void test_a_projected_store_is_clean(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (unsigned round = 0; round < 20 / SANITIZED_PART; round++) {
        char line[256] = "";
        open_world(seed + round, 50 + round * 130);
        assert_clean();
        rewind(check.summary);
        assert_non_null(fgets(line, sizeof line, check.summary));
        assert_int_equal(strncmp(line, "comments    ", 12), 0);
        assert_clean(); /* it has changed nothing */
        close_world();
    }
}

static void test_no_comments(void **state)
{
    (void)state;
    open_world(1, 4); /* only names are defined */
    assert_clean();
    assert_int_equal(ftell(check.summary), 0);
    close_world();
}

/*
 * Bans, and subjects without comments, stand for themselves; how many earlier texts there must be is not
 * recorded.
 */
static bool is_needed(const struct cw_row *row)
{
    bool ban = row->table == STORE_USER && row->key[row->key_length - 1] == 'b';
    struct subject subject = {.next_floor = 0};
    if (row->table == STORE_SUBJECT)
        assert_int_equal(row_read_subject((struct store_bytes){row->value, row->value_length},
                                          (struct item){0}, &subject),
                         STATUS_OK);
    return !ban && row->table != STORE_HISTORY && subject.next_floor != 1;
}

static void test_every_missing_row_is_found(void **state)
{
    (void)state;
    struct cw_rows rows;
    open_kept_world(test_seed(), 300 / SANITIZED_PART);
    comment_world_rows(world, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        const struct cw_row *row = &rows.at[i];
        bool kinds = row->table == STORE_STATE && row->key[0] == 'k';
        if (!is_needed(row) || kinds)
            continue;
        take_away(row);
        if (check_comments(&check) != STATUS_DAMAGED)
            fail_msg("row %zu of table %u can be missing", i, row->table);
        put(row);
    }
    assert_clean();
    cw_rows_free(&rows);
    close_world();
}

/* One bit of a key is another one: the row is at a key where it does not belong. */
static void test_every_bit_of_a_key_is_found(void **state)
{
    (void)state;
    struct cw_rows rows;
    open_kept_world(test_seed(), 90 / SANITIZED_PART + 10);
    comment_world_rows(world, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        struct cw_row row = rows.at[i];
        if (!is_needed(&row))
            continue;
        for (unsigned bit = 0; bit < 8U * row.key_length; bit++) {
            take_away(&rows.at[i]);
            row.key[bit / 8] ^= (uint8_t)(1 << bit % 8);
            put(&row);
            if (check_comments(&check) != STATUS_DAMAGED)
                fail_msg("bit %u of a key of table %u does not matter", bit, row.table);
            take_away(&row);
            row.key[bit / 8] ^= (uint8_t)(1 << bit % 8);
            for (size_t k = 0; k < rows.count; k++) /* it may have been another row's key */
                put(&rows.at[k]);
        }
    }
    assert_clean();
    cw_rows_free(&rows);
    close_world();
}

/* Do these two values say the same about everything that other rows depend on? */
static bool is_same_comment(const struct cw_row *a, const struct cw_row *b)
{
    struct comment one, two;
    struct comment_index first, second;
    if (row_read_comment((struct store_bytes){a->value, a->value_length}, 1, &one, &first) !=
            STATUS_OK ||
        row_read_comment((struct store_bytes){b->value, b->value_length}, 1, &two, &second) !=
            STATUS_OK)
        return false;
    const struct comment_votes votes = {0};
    struct comment_index lists = comment_index_of(&one, &votes);
    struct comment_index others = comment_index_of(&two, &votes);
    return memcmp(&first, &second, sizeof first) == 0 && item_equal(one.subject, two.subject) &&
           one.root == two.root && id_equal(one.author, two.author) && one.floor == two.floor &&
           lists.listed == others.listed && lists.held == others.held &&
           lists.written == others.written && lists.queued == others.queued &&
           one.open_replies == two.open_replies && one.deleted == two.deleted &&
           comment_root_count(&one) == comment_root_count(&two);
}

static bool is_same_subject(const struct cw_row *a, const struct cw_row *b)
{
    struct subject one, two;
    const struct item item = {0};
    if (row_read_subject((struct store_bytes){a->value, a->value_length}, item, &one) !=
            STATUS_OK ||
        row_read_subject((struct store_bytes){b->value, b->value_length}, item, &two) != STATUS_OK)
        return false;
    return one.roots == two.roots && one.pin_count == two.pin_count &&
           memcmp(one.pins, two.pins, sizeof one.pins) == 0;
}

/* May this damage stay unnoticed? Whatever has no second form is only protected by the store's checksums. */
static bool may_differ(const struct cw_row *a, const struct cw_row *b)
{
    struct inbox_entry entry;
    struct comment_content content;
    struct inbox_state state;
    struct user_ban ban;
    struct store_bytes value = {b->value, b->value_length};
    switch (a->table) {
    case STORE_COMMENT:
        return is_same_comment(a, b);
    case STORE_SUBJECT:
        return is_same_subject(a, b);
    case STORE_CONTENT:
    case STORE_HISTORY:
        return comment_content_decode(value.data, value.length, &content) == STATUS_OK;
    case STORE_INBOX:
        return row_read_inbox_entry(value, &entry) == STATUS_OK;
    case STORE_USER:
        return b->key[b->key_length - 1] == 'b'
                   ? row_read_ban(value, &ban) == STATUS_OK && ban.until_s != 0
                   : row_read_inbox_state(value, &state) == STATUS_OK;
    case STORE_STATE:
        return true; /* a higher number; or names, which decide about votes */
    default:
        return false;
    }
}

static void test_every_bit_of_a_value_is_found(void **state)
{
    (void)state;
    struct cw_rows rows;
    size_t found = 0, free_bits = 0;
    open_kept_world(test_seed(), 150 / SANITIZED_PART + 10);
    comment_world_rows(world, &rows);
    for (size_t i = 0; i < rows.count; i++) {
        struct cw_row row = rows.at[i];
        for (unsigned bit = 0; bit < 8U * row.value_length; bit++) {
            row.value[bit / 8] ^= (uint8_t)(1 << bit % 8);
            put(&row);
            enum status status = check_comments(&check);
            if (status != STATUS_DAMAGED && !may_differ(&rows.at[i], &row))
                fail_msg("bit %u of a value of table %u does not matter", bit, row.table);
            found += status == STATUS_DAMAGED;
            free_bits += status == STATUS_OK;
            row.value[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        put(&row);
    }
    print_message("%zu bits found, %zu free\n", found, free_bits);
    assert_true(found > 0);
    assert_clean();
    cw_rows_free(&rows);
    close_world();
}

/* A scene: video:1 with the root 1000, its reply 1001, the deleted root 1002 with the reply 1003. */
enum { ROOT = 1000, REPLY = 1001, DELETED = 1002, ANSWER = 1003, PENDING = 1004 };
static const struct item video = {.id = {.lo = 1}, .type = CW_TYPE_VIDEO};

static struct cw_comment *scene_add(uint64_t id, uint64_t root, uint32_t floor)
{
    const struct comment_content content = {.text = {"hello", 5}};
    uint8_t bytes[COMMENT_CONTENT_BYTES];
    struct cw_comment *at = &world->comments[world->comment_count++];
    *at = (struct cw_comment){.comment = {.id = id << (GENE_BITS + COMMENT_SEQUENCE_BITS),
                                          .subject = video,
                                          .root = root << (GENE_BITS + COMMENT_SEQUENCE_BITS),
                                          .reply_to = root << (GENE_BITS + COMMENT_SEQUENCE_BITS),
                                          .author = {.lo = 5},
                                          .floor = floor,
                                          .time_s = COMMENT_EPOCH_S + 9,
                                          .next_floor = root == 0 ? 9 : 0,
                                          .was_open = true}};
    if (root != 0)
        at->comment.reply_to_user.lo = 5;
    at->content.length = (uint32_t)comment_content_encode(&content, bytes);
    memcpy(at->content.bytes, bytes, at->content.length);
    return at;
}

static void count(struct item item, uint8_t name, int64_t value)
{
    const struct store_count change = {.item = item, .name = name, .value = value};
    apply(NULL, 0, &change);
}

static struct item comment_of(uint64_t id)
{
    return comment_item(id << (GENE_BITS + COMMENT_SEQUENCE_BITS), CW_TYPE_COMMENT);
}

static void open_scene(struct cw_rows *rows)
{
    open_world(1, 4);
    scene_add(ROOT, 0, 1)->comment.open_replies = 1;
    scene_add(REPLY, ROOT, 1);
    struct cw_comment *deleted = scene_add(DELETED, 0, 2);
    deleted->comment.deleted = true;
    deleted->comment.open_replies = 1;
    scene_add(ANSWER, DELETED, 1);
    struct cw_comment *pending = scene_add(PENDING, 0, 3);
    pending->comment.moderation = COMMENT_PENDING;
    pending->comment.was_open = false;
    world->subjects[0] = (struct subject){.item = video,
                                          .next_floor = 4,
                                          .roots = 2,
                                          .pin_count = 1,
                                          .pins = {comment_of(ROOT).id.lo}};
    world->has_row[0] = true;
    comment_world_rows(world, rows);
    for (size_t i = 0; i < rows->count; i++)
        put(&rows->at[i]);
    count(video, NAME_INDEX_COMMENT, 3);
    count(comment_of(ROOT), NAME_INDEX_COMMENT, 1);
    count(comment_of(DELETED), NAME_INDEX_COMMENT, 1);
    assert_clean();
}

static const struct cw_row *find(const struct cw_rows *rows, unsigned table, const uint8_t *key,
                                 size_t length)
{
    for (size_t i = 0; i < rows->count; i++)
        if (rows->at[i].table == table && rows->at[i].key_length == length &&
            memcmp(rows->at[i].key, key, length) == 0)
            return &rows->at[i];
    fail_msg("there is no such row in table %u", table);
    return NULL;
}

static void assert_missing(const struct cw_rows *rows, unsigned table, const uint8_t *key,
                           size_t length, const char *words)
{
    const struct cw_row *row = find(rows, table, key, length);
    take_away(row);
    assert_damaged(words);
    put(row);
    assert_clean();
}

static void test_sentences_about_missing_rows(void **state)
{
    (void)state;
    struct cw_rows rows;
    uint8_t key[ROW_KEY_MAX];
    char words[128];
    uint64_t root = comment_of(ROOT).id.lo, pending = comment_of(PENDING).id.lo;
    open_scene(&rows);
    snprintf(words, sizeof words, "comment:%llu has no row in the list by floor",
             (unsigned long long)root);
    assert_missing(&rows, STORE_FLOOR, key, row_key_floor(video, 1, key), words);
    assert_missing(&rows, STORE_ORDER, key, row_key_order(video, ORDER_TOP, 0, 1, key),
                   "has no row in the order top");
    assert_missing(&rows, STORE_ORDER, key, row_key_order(video, ORDER_BEST, 0, 1, key),
                   "has no row in the order best");
    assert_missing(&rows, STORE_ORDER, key, row_key_order(video, ORDER_CONTROVERSIAL, 0, 1, key),
                   "has no row in the order controversial");
    assert_missing(&rows, STORE_ORDER, key, row_key_unlisted(video, 3, key),
                   "has no row in the list of those that are not listed");
    assert_missing(&rows, STORE_ORDER, key, row_key_held(video, (struct id){.lo = 5}, pending, key),
                   "has no row in the list of pending and shadow ones");
    assert_missing(&rows, STORE_WRITTEN, key, row_key_written((struct id){.lo = 5}, 0, root, key),
                   "has no row in the list of its author");
    assert_missing(&rows, STORE_QUEUE, key,
                   row_key_queue(CW_TYPE_VIDEO, QUEUE_PENDING, 0, pending, key),
                   "has no row in the queue of its state");
    assert_missing(&rows, STORE_CONTENT, key, row_key_id(root, key), "has no text");
    assert_missing(&rows, STORE_SUBJECT, key, row_key_item(video, key),
                   "has a subject without a row");
    assert_missing(&rows, STORE_COMMENT, key, row_key_id(root, key),
                   "answers a root that does not exist");
    cw_rows_free(&rows);
    close_world();
}

static void assert_planted(const struct cw_row *row, const char *words)
{
    put(row);
    assert_damaged(words);
    take_away(row);
    assert_clean();
}

static struct cw_row made(unsigned table, const uint8_t *key, size_t length, uint64_t id)
{
    struct cw_row row = {.table = (uint8_t)table, .key_length = (uint8_t)length};
    memcpy(row.key, key, length);
    if (id != 0)
        row.value_length = (uint32_t)row_write_number(id, row.value);
    return row;
}

static void test_sentences_about_rows_too_many(void **state)
{
    (void)state;
    struct cw_rows rows;
    uint8_t key[ROW_KEY_MAX];
    struct cw_row row;
    uint64_t root = comment_of(ROOT).id.lo;
    open_scene(&rows);
    row = made(STORE_FLOOR, key, row_key_floor(video, 7, key), root);
    assert_planted(&row, "has a row in a list by floor that it should not have");
    row = made(STORE_ORDER, key, row_key_order(video, ORDER_TOP, 5, 1, key), root);
    assert_planted(&row, "has a row in an order that it should not have");
    row = made(STORE_ORDER, key, row_key_unlisted(video, 1, key), 12345);
    assert_planted(&row, "comment:12345 does not exist, but has a row in an order");
    row = made(STORE_WRITTEN, key, row_key_written((struct id){.lo = 5}, 1, root, key), 0);
    assert_planted(&row, "has a row in the list of an author that it should not have");
    row = made(STORE_QUEUE, key, row_key_queue(CW_TYPE_VIDEO, QUEUE_REPORTED, 4, root, key), 0);
    assert_planted(&row, "has a row in a queue that it should not have");
    row = made(STORE_CONTENT, key, row_key_id(comment_of(DELETED).id.lo, key), 0);
    assert_planted(&row, "is deleted, but its text is still there");
    row = made(STORE_CONTENT, key, row_key_id(777, key), 0);
    assert_planted(&row, "comment:777 does not exist, but has a row in the texts");
    row = made(STORE_HISTORY, key, row_key_history(comment_of(DELETED).id.lo, 1, key), 0);
    assert_planted(&row, "is deleted, but an earlier text is still there");
    row = made(STORE_HISTORY, key, row_key_history(root, 1, key), 0);
    assert_planted(&row, "has an earlier text with a wrong number");
    row = made(STORE_STATE, (const uint8_t *)"x", 1, 5);
    assert_planted(&row, "has an unknown key");
    row = made(STORE_INBOX, key, row_key_inbox((struct id){.lo = 5}, 1, key), 0);
    row.value_length = (uint32_t)row_write_inbox(&(struct inbox_entry){.comment = root}, row.value);
    assert_planted(&row, "user 5 has an entry in the inbox with a wrong number");
    row = made(STORE_USER, key, row_key_user((struct id){.lo = 5}, 'i', key), 0);
    row.value_length = (uint32_t)row_write_inbox_state(&(struct inbox_state){2, 1}, row.value);
    assert_planted(&row, "user 5 has an inbox with missing entries");
    row.value_length = (uint32_t)row_write_inbox_state(&(struct inbox_state){2, 3}, row.value);
    assert_planted(&row, "user 5 has seen entries of an inbox that were never there");
    cw_rows_free(&rows);
    close_world();
}

static void assert_counted(struct item item, uint8_t name, int64_t value, const char *words)
{
    count(item, name, value);
    assert_damaged(words);
    count(item, name, -value);
    assert_clean();
}

static void test_sentences_about_counters(void **state)
{
    (void)state;
    struct cw_rows rows;
    const struct item other = {.id = {.lo = 9}, .type = CW_TYPE_VIDEO};
    open_scene(&rows);
    assert_counted(video, NAME_INDEX_COMMENT, 1,
                   "video:1 has the counter comment 4, but 3 comments are counted");
    assert_counted(other, NAME_INDEX_COMMENT, 1, "video:9 has a counter comment, but no comments");
    assert_counted(comment_of(ROOT), NAME_INDEX_COMMENT, -1,
                   "has the counter comment 0, but it should be 1");
    assert_counted(comment_of(REPLY), NAME_INDEX_COMMENT, 2,
                   "is a reply, but has a counter comment");
    assert_counted(comment_of(ROOT), NAME_INDEX_LIKE, 2,
                   "has a key in the order top that does not fit its votes");
    assert_counted(comment_of(ROOT), CW_REPORT, 2,
                   "has a rank among the reported ones that does not fit its reports");
    cw_rows_free(&rows);
    close_world();
}

/* Writes the row of a comment, changed, as its index says. */
static void assert_comment(const struct cw_rows *rows, const struct comment *comment,
                           const char *words)
{
    uint8_t key[ROW_KEY_MAX];
    struct comment before;
    struct comment_index index;
    const struct cw_row *row = find(rows, STORE_COMMENT, key, row_key_id(comment->id, key));
    struct cw_row changed = *row;
    assert_int_equal(row_read_comment((struct store_bytes){row->value, row->value_length},
                                      comment->id, &before, &index),
                     STATUS_OK);
    changed.value_length = (uint32_t)row_write_comment(comment, &index, changed.value);
    put(&changed);
    assert_damaged(words);
    put(row);
    assert_clean();
}

static void assert_subject(const struct cw_rows *rows, const struct subject *subject,
                           const char *words)
{
    uint8_t key[ROW_KEY_MAX];
    const struct cw_row *row = find(rows, STORE_SUBJECT, key, row_key_item(video, key));
    struct cw_row changed = *row;
    changed.value_length = (uint32_t)row_write_subject(subject, changed.value);
    put(&changed);
    assert_damaged(words);
    put(row);
    assert_clean();
}

static void test_sentences_about_comments_and_subjects(void **state)
{
    (void)state;
    struct cw_rows rows;
    open_scene(&rows);
    struct comment root = world->comments[0].comment, reply = world->comments[1].comment;
    struct subject subject = world->subjects[0];
    root.open_replies = 2;
    assert_comment(&rows, &root, "has 1 open replies, but its row says 2");
    root = world->comments[0].comment;
    root.moderation = COMMENT_HIDDEN;
    assert_comment(&rows, &root, "is listed, but its state says it is not");
    root = world->comments[4].comment;
    root.moderation = COMMENT_VISIBLE;
    assert_comment(&rows, &root, "is not listed, but its state says it is");
    root.moderation = COMMENT_HIDDEN;
    assert_comment(&rows, &root, "is in lists that do not fit its state");
    reply.floor = 9;
    assert_comment(&rows, &reply, "has no row in the list by floor");
    subject.next_floor = 2;
    assert_subject(&rows, &subject, "has a floor that its subject has not given yet");
    subject = world->subjects[0];
    subject.roots = 5;
    assert_subject(&rows, &subject, "video:1 has 5 roots, but 2 are listed");
    subject = world->subjects[0];
    subject.pins[0] = comment_of(DELETED).id.lo;
    assert_subject(&rows, &subject, "is pinned, but it is no open root");
    subject = world->subjects[0];
    subject.dropped_floor = 4;
    assert_subject(&rows, &subject, "has dropped floors that it has not given yet");
    subject.dropped_floor = 1;
    assert_subject(&rows, &subject, "comments are counted"); /* the counter was not taken back */
    cw_rows_free(&rows);
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_projected_store_is_clean),
        cmocka_unit_test(test_no_comments),
        cmocka_unit_test(test_every_missing_row_is_found),
        cmocka_unit_test(test_every_bit_of_a_key_is_found),
        cmocka_unit_test(test_every_bit_of_a_value_is_found),
        cmocka_unit_test(test_sentences_about_missing_rows),
        cmocka_unit_test(test_sentences_about_rows_too_many),
        cmocka_unit_test(test_sentences_about_counters),
        cmocka_unit_test(test_sentences_about_comments_and_subjects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
