/*
 * The rows of comments: a random world is projected with windows of random sizes, and the store must have exactly
 * the rows that the world's naive model has, whatever the windows were. Single cases follow for what a
 * random world seldom meets.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "comment/comment_id.h"
#include "comment/content.h"
#include "comment/restore.h"
#include "comment_world.h"
#include "conform/directory.h"
#include "project/fold.h"
#include "store/memory/store_memory.h"
#include "store/rocksdb/store_rocksdb.h"

static struct memory_budget budget;

struct stand {
    struct store *store;
    struct names *names;
    struct comments *comments;
    struct fold *fold;
    uint64_t position;
    struct item parents[64]; /* of the last window */
    size_t parent_count;
};

static void stand_open(struct stand *stand, struct store *store)
{
    *stand = (struct stand){.store = store, .names = names_new()};
    assert_non_null(store);
    const struct comments_options options = {
        .names = stand->names, .dislike = "dislike", .report = "report", .reader = &store->reader};
    stand->comments = comments_new(&options);
    stand->fold = fold_new(&budget, 1000, 5);
    assert_non_null(stand->comments);
    assert_non_null(stand->fold);
    assert_true(fold_set_comments(stand->fold, stand->comments));
}

static void stand_open_memory(struct stand *stand)
{
    budget = (struct memory_budget){.limit = GIB(1)};
    stand_open(stand, store_memory_open(&budget));
}

static void stand_close(struct stand *stand)
{
    fold_free(stand->fold);
    comments_free(stand->comments);
    names_free(stand->names);
    store_close(stand->store);
    assert_int_equal(memory_used(&budget), 0);
}

/* Applies the events of one window; returns what the rows said, if they were refused. */
static enum status stand_apply(struct stand *stand, char *problem, size_t size)
{
    struct store_changes changes;
    fold_take(stand->fold, stand->position, &changes);
    enum status status = comments_make_rows(stand->comments, &changes, problem, size);
    if (status == STATUS_OK) {
        assert_int_equal(store_apply(&stand->store->applier, &changes), STATUS_OK);
        const struct item *parents = comments_parents(stand->comments, &stand->parent_count);
        for (size_t i = 0; i < stand->parent_count && i < 64; i++)
            stand->parents[i] = parents[i];
    }
    fold_clear(stand->fold);
    return status;
}

/* All events from one number to another, as one window or, if it gets full, as several. */
static void stand_project(struct stand *stand, const struct event *events, size_t from, size_t to)
{
    char problem[256] = "";
    for (size_t at = from; at < to;) {
        enum status status = fold_add(stand->fold, &events[at]);
        if (status == STATUS_OK) {
            at++;
            stand->position++;
        }
        if (status == STATUS_NO_MEMORY || at == to) {
            assert_true(fold_events(stand->fold) > 0);
            if (stand_apply(stand, problem, sizeof problem) != STATUS_OK)
                fail_msg("event %zu: %s", at, problem);
        } else {
            assert_int_equal(status, STATUS_OK);
        }
    }
}

static enum status collect(void *context, const struct store_row *row)
{
    cw_rows_add(context, row->table, row->key.data, row->key.length, row->value.data,
                row->value.length);
    return STATUS_OK;
}

static void stand_rows(struct stand *stand, struct cw_rows *rows)
{
    *rows = (struct cw_rows){0};
    const struct store_visitor visitor = {.row = collect, .context = rows};
    assert_int_equal(store_visit(&stand->store->admin, &visitor), STATUS_OK);
    cw_rows_sort(rows);
}

static void show(const char *what, const struct cw_row *row)
{
    print_message("%s: table %u key ", what, row->table);
    for (unsigned i = 0; i < row->key_length; i++)
        print_message("%02x", row->key[i]);
    print_message(" value ");
    for (unsigned i = 0; i < row->value_length; i++)
        print_message("%02x", row->value[i]);
    print_message("\n");
}

static void assert_same_rows(const struct cw_rows *have, const struct cw_rows *want)
{
    size_t least = have->count < want->count ? have->count : want->count, at = 0;
    while (at < least && memcmp(&have->at[at], &want->at[at], sizeof have->at[0]) == 0)
        at++;
    if (at == least && have->count == want->count)
        return;
    if (at < have->count)
        show("have", &have->at[at]);
    if (at < want->count)
        show("want", &want->at[at]);
    fail_msg("row %zu differs; %zu rows, and there should be %zu", at, have->count, want->count);
}

static int64_t count_of(struct stand *stand, struct item item, uint8_t name)
{
    struct store_item asked = {.item = item};
    struct store_values values = {0};
    int64_t value = 0;
    assert_int_equal(store_read_items(&stand->store->reader, NULL, &asked, 1, &values), STATUS_OK);
    for (uint32_t i = 0; i < asked.count; i++)
        if (values.values[asked.first + i].name == name)
            value = values.values[asked.first + i].value;
    free(values.values);
    return value;
}

static void assert_counters(struct stand *stand, const struct comment_world *world)
{
    for (unsigned i = 0; i < CW_SUBJECTS; i++)
        assert_int_equal(count_of(stand, world->subjects[i].item, NAME_INDEX_COMMENT),
                         world->counts[i]);
    for (size_t i = 0; i < world->comment_count; i++) {
        struct item item = comment_item(world->comments[i].comment.id, CW_TYPE_COMMENT);
        assert_int_equal(count_of(stand, item, NAME_INDEX_COMMENT), world->root_counts[i]);
    }
}

struct tokens {
    uint64_t count;
    uint64_t sum;
};

static enum status count_token(void *context, const struct store_token *token)
{
    struct tokens *tokens = context;
    tokens->count++;
    tokens->sum += token->value ^ token->token[1];
    return STATUS_OK;
}

static struct tokens expected_tokens(const struct comment_world *world)
{
    struct tokens tokens = {0};
    for (size_t i = 0; i < world->event_count; i++) {
        const struct event *event = &world->events[i];
        struct comment_body body;
        if (event->type != EVENT_COMMENT || event->name != COMMENT_EVENT_ADD)
            continue;
        assert_int_equal(comment_body_decode(event->name, event->body, event->body_length, &body),
                         STATUS_OK);
        if (body.has_token) {
            tokens.count++;
            tokens.sum += body.comment.id ^ body.token[1];
        }
    }
    return tokens;
}

static void assert_world(struct stand *stand, const struct comment_world *world)
{
    struct cw_rows have, want;
    struct tokens tokens = {0}, expected = expected_tokens(world);
    const struct store_visitor visitor = {.token = count_token, .context = &tokens};
    stand_rows(stand, &have);
    comment_world_rows(world, &want);
    assert_same_rows(&have, &want);
    cw_rows_free(&have);
    cw_rows_free(&want);
    assert_counters(stand, world);
    assert_int_equal(store_visit(&stand->store->admin, &visitor), STATUS_OK);
    assert_int_equal(tokens.count, expected.count);
    assert_int_equal(tokens.sum, expected.sum);
}

/* Projects a world while it goes on; the model is compared after some of the windows. */
static void run_world(struct stand *stand, uint64_t seed, uint32_t window_max, size_t events)
{
    struct comment_world *world = comment_world_new(seed);
    struct chance chance = {seed + window_max};
    size_t projected = 0;
    while (world->event_count + 4 < events) {
        comment_world_next(world);
        if (world->event_count - projected < 1 + chance_below(&chance, window_max))
            continue;
        stand_project(stand, world->events, projected, world->event_count);
        projected = world->event_count;
        if (chance_below(&chance, 40) == 0)
            assert_world(stand, world);
    }
    stand_project(stand, world->events, projected, world->event_count);
    assert_world(stand, world);
    comment_world_free(world);
}

static void test_the_model_has_the_same_rows(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (unsigned round = 0; round < 60 / SANITIZED_PART; round++) {
        struct stand stand;
        stand_open_memory(&stand);
        run_world(&stand, seed + round, 1 + round * 37, 3000);
        stand_close(&stand);
    }
}

static void test_windows_do_not_matter(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    struct comment_world *world = comment_world_new(seed);
    struct chance chance = {seed};
    struct cw_rows first = {0};
    while (world->event_count + 4 < 2500)
        comment_world_next(world);
    for (unsigned round = 0; round < 12; round++) {
        static const uint32_t sizes[] = {1, 2, 7, 50, 900, 5000};
        uint32_t most = sizes[round % 6];
        struct stand stand;
        struct cw_rows rows;
        stand_open_memory(&stand);
        for (size_t at = 0, next; at < world->event_count; at = next) {
            next = at + 1 + chance_below(&chance, most);
            next = next < world->event_count ? next : world->event_count;
            stand_project(&stand, world->events, at, next);
        }
        assert_world(&stand, world);
        stand_rows(&stand, &rows);
        if (round == 0)
            first = rows;
        assert_same_rows(&rows, &first);
        if (round > 0)
            cw_rows_free(&rows);
        stand_close(&stand);
    }
    cw_rows_free(&first);
    comment_world_free(world);
}

static void test_rocksdb_has_the_same_rows(void **state)
{
    (void)state;
    char directory[] = "/tmp/laud-comments-XXXXXX", problem[256] = "";
    directory_make(directory);
    budget = (struct memory_budget){.limit = GIB(1)};
    const struct store_rocksdb_options options = {.directory = directory};
    struct stand stand;
    stand_open(&stand, store_rocksdb_open(&options, problem, sizeof problem));
    run_world(&stand, test_seed(), 200, 4000);
    stand_close(&stand);
    directory_remove(directory);
}

/* An event that the store has already is not applied again: its position says so. */
static void test_replay_does_nothing(void **state)
{
    (void)state;
    struct comment_world *world = comment_world_new(test_seed());
    struct stand stand;
    stand_open_memory(&stand);
    while (world->event_count < 400)
        comment_world_next(world);
    stand_project(&stand, world->events, 0, world->event_count);
    uint64_t reached = stand.position;
    for (stand.position = 0; stand.position < reached;) {
        assert_int_equal(fold_add(stand.fold, &world->events[stand.position++]), STATUS_OK);
        struct store_changes changes;
        fold_take(stand.fold, stand.position, &changes);
        assert_int_equal(store_apply(&stand.store->applier, &changes), STATUS_OK);
        fold_clear(stand.fold);
    }
    assert_world(&stand, world);
    stand_close(&stand);
    comment_world_free(world);
}

static const struct item video = {.id = {.lo = 1}, .type = CW_TYPE_VIDEO};

static struct event event_of(enum comment_event kind, const struct comment_body *body,
                             uint8_t bytes[COMMENT_BODY_BYTES])
{
    return (struct event){.type = EVENT_COMMENT,
                          .name = (uint8_t)kind,
                          .time_s = COMMENT_EPOCH_S + 9,
                          .item = video,
                          .user = {.lo = 2},
                          .body = bytes,
                          .body_length = (uint32_t)comment_body_encode(kind, body, bytes)};
}

static void define_names(struct stand *stand)
{
    struct comment_world *world = comment_world_new(1);
    stand_project(stand, world->events, 0, world->event_count);
    comment_world_free(world);
}

static struct comment_body posted(uint64_t id)
{
    static uint8_t bytes[COMMENT_CONTENT_BYTES];
    const struct comment_content content = {.text = {"hello", 5}};
    return (struct comment_body){.has_subject = true,
                                 .has_comment = true,
                                 .has_content = true,
                                 .subject = {.item = video, .next_floor = 2, .roots = 1},
                                 .comment = {.id = id,
                                             .subject = video,
                                             .author = {.lo = 2},
                                             .floor = 1,
                                             .time_s = COMMENT_EPOCH_S + 9,
                                             .next_floor = 1,
                                             .was_open = true},
                                 .content = bytes,
                                 .content_length =
                                     (uint32_t)comment_content_encode(&content, bytes),
                                 .subject_delta = 1};
}

static void apply_one(struct stand *stand, enum comment_event kind, const struct comment_body *body)
{
    uint8_t bytes[COMMENT_BODY_BYTES];
    struct event event = event_of(kind, body, bytes);
    stand_project(stand, &event, 0, 1);
}

static void vote(struct stand *stand, struct item item, uint8_t kind, uint64_t user)
{
    struct event event = {.type = EVENT_SET,
                          .name = kind,
                          .time_s = COMMENT_EPOCH_S + 10,
                          .user = {.lo = user},
                          .item = item};
    stand_project(stand, &event, 0, 1);
}

static void test_parents_are_told(void **state)
{
    (void)state;
    struct stand stand;
    stand_open_memory(&stand);
    define_names(&stand);
    assert_int_equal(stand.parent_count, 0);
    struct comment_body root = posted(1000), reply = posted(1001);
    apply_one(&stand, COMMENT_EVENT_ADD, &root);
    assert_int_equal(stand.parent_count, 1);
    assert_true(item_equal(stand.parents[0], video));
    reply.comment.root = reply.comment.reply_to = 1000;
    reply.comment.next_floor = 0;
    apply_one(&stand, COMMENT_EVENT_ADD, &reply);
    assert_int_equal(stand.parent_count, 1);
    assert_true(item_equal(stand.parents[0], comment_item(1000, CW_TYPE_COMMENT)));
    reply.comment.moderation =
        COMMENT_PENDING; /* unlisted in its thread, and held on the subject */
    reply.has_subject = reply.has_content = false;
    apply_one(&stand, COMMENT_EVENT_STATE, &reply);
    assert_int_equal(stand.parent_count, 2);
    assert_true(item_equal(stand.parents[0], video));
    assert_true(item_equal(stand.parents[1], comment_item(1000, CW_TYPE_COMMENT)));
    vote(&stand, comment_item(1000, CW_TYPE_COMMENT), CW_LIKE, 5);
    assert_int_equal(stand.parent_count, 1);
    assert_true(item_equal(stand.parents[0], video));
    vote(&stand, comment_item(1001, CW_TYPE_COMMENT), CW_LIKE, 5); /* replies have no order */
    assert_int_equal(stand.parent_count, 0);
    vote(&stand, comment_item(5, CW_TYPE_COMMENT), CW_LIKE, 5); /* no comment */
    assert_int_equal(stand.parent_count, 0);
    vote(&stand, video, CW_LIKE, 5);
    assert_int_equal(stand.parent_count, 0);
    stand_close(&stand);
}

static void assert_refused(struct stand *stand, enum comment_event kind,
                           const struct comment_body *body, const char *sentence)
{
    uint8_t bytes[COMMENT_BODY_BYTES];
    char problem[256] = "";
    struct cw_rows before, after;
    struct event event = event_of(kind, body, bytes);
    stand_rows(stand, &before);
    assert_int_equal(fold_add(stand->fold, &event), STATUS_OK);
    stand->position++;
    assert_int_equal(stand_apply(stand, problem, sizeof problem), STATUS_DAMAGED);
    assert_string_equal(problem, sentence);
    stand_rows(stand, &after);
    assert_same_rows(&after, &before);
    cw_rows_free(&before);
    cw_rows_free(&after);
}

/* Events that contradict the rows are refused with a sentence, and nothing is written. */
static void test_contradictions(void **state)
{
    (void)state;
    struct stand stand;
    stand_open_memory(&stand);
    define_names(&stand);
    struct comment_body body = posted(1000), other = posted(1001);
    apply_one(&stand, COMMENT_EVENT_ADD, &body);
    assert_refused(&stand, COMMENT_EVENT_ADD, &body,
                   "the comment 1000 is added and exists already");
    body.comment.id = 1002;
    assert_refused(&stand, COMMENT_EVENT_EDIT, &body,
                   "the comment 1002 is changed and does not exist");
    other.comment.root = other.comment.reply_to = 3000;
    other.has_root = true;
    other.root = body.comment;
    other.root.id = 3000;
    assert_refused(&stand, COMMENT_EVENT_ADD, &other,
                   "the comment 3000 is answered and does not exist");
    stand_close(&stand);
}

/* A body that is none of its kind, or of another subject, is refused before anything is read. */
static void test_bad_bodies(void **state)
{
    (void)state;
    struct stand stand;
    uint8_t bytes[COMMENT_BODY_BYTES];
    stand_open_memory(&stand);
    struct comment_body body = posted(1000);
    struct event event = event_of(COMMENT_EVENT_ADD, &body, bytes);
    assert_int_equal(fold_add(stand.fold, &event), STATUS_DAMAGED); /* no type `comment` yet */
    define_names(&stand);
    event.item.id.lo = 2;
    assert_int_equal(fold_add(stand.fold, &event), STATUS_DAMAGED);
    event.item = video;
    for (uint32_t length = 1; length < event.body_length; length++) {
        struct event shorter = event;
        shorter.body_length = length;
        assert_int_equal(fold_add(stand.fold, &shorter), STATUS_DAMAGED);
    }
    assert_int_equal(fold_events(stand.fold), 0);
    assert_int_equal(fold_add(stand.fold, &event), STATUS_OK);
    fold_clear(stand.fold);
    stand_close(&stand);
}

/* Two comments with one floor: the store would stop the process, so the window is refused before. */
static void test_one_floor_twice(void **state)
{
    (void)state;
    struct stand stand;
    uint8_t bytes[2][COMMENT_BODY_BYTES];
    char problem[256] = "";
    stand_open_memory(&stand);
    define_names(&stand);
    for (unsigned i = 0; i < 2; i++) {
        struct comment_body body = posted(1000 + i);
        struct event event = event_of(COMMENT_EVENT_ADD, &body, bytes[i]);
        assert_int_equal(fold_add(stand.fold, &event), STATUS_OK);
    }
    assert_int_equal(stand_apply(&stand, problem, sizeof problem), STATUS_DAMAGED);
    assert_non_null(strstr(problem, "has the same floor as another one"));
    stand_close(&stand);
}

/* However large the events and however many comments are voted on: a window's memory is bounded. */
static void test_memory_is_bounded(void **state)
{
    (void)state;
    struct stand stand;
    struct event event = {.type = EVENT_SET, .time_s = COMMENT_EPOCH_S, .user = {.lo = 2}};
    size_t votes = 0;
    budget = (struct memory_budget){.limit = MIB(64)};
    stand_open(&stand, store_memory_open(&budget));
    define_names(&stand);
    for (; !fold_is_full(stand.fold); votes++) {
        event.item = comment_item(100 + votes, CW_TYPE_COMMENT);
        assert_int_equal(fold_add(stand.fold, &event), STATUS_OK);
    }
    assert_int_equal(votes, MIB(1) / COMMENTS_VOTE_COST);
    fold_clear(stand.fold);
    for (votes = 0; !fold_is_full(stand.fold);
         votes++) { /* many votes on one comment are one row */
        event.user.lo = votes;
        event.item = comment_item(100, CW_TYPE_COMMENT);
        assert_int_equal(fold_add(stand.fold, &event), STATUS_OK);
    }
    assert_int_equal(votes, 1000);
    fold_clear(stand.fold);
    stand_close(&stand);
}

static enum status count_ban(void *context, struct id user, struct user_ban ban)
{
    uint64_t *sum = context;
    *sum += user.lo * 1000 + ban.until_s % 1000 + ban.shadow;
    return STATUS_OK;
}

static void test_what_a_start_reads(void **state)
{
    (void)state;
    struct stand stand;
    uint64_t ms = 1, sum = 0;
    stand_open_memory(&stand);
    assert_int_equal(comment_restore_ms(&stand.store->reader, &ms), STATUS_OK);
    assert_int_equal(ms, 0);
    define_names(&stand);
    struct comment_body body = posted((UINT64_C(5000) << GENE_BITS | 3) << COMMENT_SEQUENCE_BITS);
    apply_one(&stand, COMMENT_EVENT_ADD, &body);
    struct comment_body ban = {.ban = {.until_s = 7007, .shadow = true}};
    struct comment_body seen = {.seen = 3};
    apply_one(&stand, COMMENT_EVENT_BAN, &ban);
    apply_one(&stand, COMMENT_EVENT_SEEN, &seen);
    assert_int_equal(comment_restore_ms(&stand.store->reader, &ms), STATUS_OK);
    assert_int_equal(ms, 5000);
    assert_int_equal(comment_restore_bans(&stand.store->admin, count_ban, &sum), STATUS_OK);
    assert_int_equal(sum, 2008);
    ban.ban = (struct user_ban){0};
    apply_one(&stand, COMMENT_EVENT_BAN, &ban);
    sum = 0;
    assert_int_equal(comment_restore_bans(&stand.store->admin, count_ban, &sum), STATUS_OK);
    assert_int_equal(sum, 0);
    stand_close(&stand);
}

/* More than an inbox holds, in one window and in many; then it is emptied and begins again. */
static void test_inbox_is_bounded(void **state)
{
    (void)state;
    enum { NOTICES = LIMIT_INBOX + 200 };
    for (unsigned round = 0; round < 2; round++) {
        struct stand stand;
        struct cw_rows rows;
        uint8_t(*bytes)[KIB(1)] = malloc(NOTICES * sizeof *bytes);
        struct event *events = calloc(NOTICES, sizeof *events);
        uint8_t body_bytes[COMMENT_BODY_BYTES];
        assert_true(bytes != NULL && events != NULL);
        stand_open_memory(&stand);
        define_names(&stand);
        struct comment_body root = posted(1000);
        root.comment.author = (struct id){.lo = 99};
        apply_one(&stand, COMMENT_EVENT_ADD, &root);
        for (unsigned i = 0; i < NOTICES; i++) {
            struct comment_body reply = posted(2000 + i);
            reply.comment.root = reply.comment.reply_to = 1000;
            reply.comment.reply_to_user = (struct id){.lo = 99};
            reply.comment.floor = i + 1;
            events[i] = event_of(COMMENT_EVENT_ADD, &reply, body_bytes);
            assert_true(events[i].body_length <= sizeof bytes[0]);
            memcpy(bytes[i], body_bytes, events[i].body_length);
            events[i].body = bytes[i];
        }
        size_t step = round == 0 ? NOTICES : 170;
        for (size_t at = 0; at < NOTICES; at += step)
            stand_project(&stand, events, at, at + step < NOTICES ? at + step : NOTICES);
        size_t entries = 0;
        stand_rows(&stand, &rows);
        for (size_t i = 0; i < rows.count; i++) {
            uint32_t number = 0;
            const struct cw_row *row = &rows.at[i];
            if (row->table != STORE_INBOX)
                continue;
            assert_true(
                row_read_inbox((struct store_bytes){row->key, row->key_length}, NULL, &number));
            assert_int_equal(number, NOTICES - entries++);
        }
        assert_int_equal(entries, LIMIT_INBOX);
        cw_rows_free(&rows);
        const struct comment_body nothing = {0};
        struct event empty = event_of(COMMENT_EVENT_INBOX, &nothing, body_bytes);
        empty.user.lo = 99;
        stand_project(&stand, &empty, 0, 1);
        stand_rows(&stand, &rows);
        for (size_t i = 0; i < rows.count; i++)
            assert_true(rows.at[i].table != STORE_INBOX && rows.at[i].table != STORE_USER);
        cw_rows_free(&rows);
        stand_close(&stand);
        free(events);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_model_has_the_same_rows),
        cmocka_unit_test(test_windows_do_not_matter),
#ifndef __SANITIZE_THREAD__
        cmocka_unit_test(test_rocksdb_has_the_same_rows),
#endif
        cmocka_unit_test(test_replay_does_nothing),
        cmocka_unit_test(test_parents_are_told),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_bad_bodies),
        cmocka_unit_test(test_one_floor_twice),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_what_a_start_reads),
        cmocka_unit_test(test_inbox_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
