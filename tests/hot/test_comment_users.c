/* The decisions BAN and SEEN: what they answer, record and leave after a restart. */
#include "comment/body.h"
#include "comment/rows.h"
#include "hot/comments.h"
#include "support.h"

static const struct id ana = {.lo = 7};
static const struct id uuid = {.hi = 9, .lo = 7};

static enum status ban(struct bed *bed, struct id user, uint32_t until_s, bool shadow,
                       uint32_t time_s, int64_t *value)
{
    struct hot_request request = {.action = HOT_BAN,
                                  .user = user,
                                  .time_s = time_s,
                                  .comment.until_s = until_s,
                                  .comment.shadow = shadow};
    enum status status = bed_run(bed, &request);
    *value = request.comment.value;
    return status;
}

static void assert_ban(struct bed *bed, struct id user, uint32_t until_s, bool shadow,
                       uint32_t time_s, int64_t expected)
{
    int64_t value = -1;
    assert_int_equal(ban(bed, user, until_s, shadow, time_s, &value), STATUS_OK);
    assert_int_equal(value, expected);
    assert_int_equal(bed->recorder.reserved, 0);
}

static struct user_ban found(struct bed *bed, struct id user, uint32_t now_s)
{
    return bans_find(&hot_memory_of(bed->hot)->bans, user, now_s);
}

static void test_bans_are_decided_and_recorded(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, MIB(64), bed_options());
    assert_ban(&bed, ana, 0, false, 100, 0); /* there is nothing to lift */
    assert_ban(&bed, ana, 500, false, 100, 1);
    assert_ban(&bed, ana, 500, false, 101, 0);
    assert_ban(&bed, ana, 500, true, 102, 1);
    assert_ban(&bed, uuid, BAN_FOR_EVER, false, 103, 1);
    assert_int_equal(recorder_count(&bed.recorder), 3);
    const struct event *event = &bed.recorder.events[1];
    struct comment_body body;
    assert_int_equal(event->type, EVENT_COMMENT);
    assert_int_equal(event->name, COMMENT_EVENT_BAN);
    assert_true(id_equal(event->user, ana));
    assert_int_equal(event->time_s, 102);
    assert_int_equal(comment_body_decode(COMMENT_EVENT_BAN, event->body, event->body_length, &body),
                     STATUS_OK);
    assert_int_equal(body.ban.until_s, 500);
    assert_true(body.ban.shadow);
    assert_ban(&bed, ana, 0, false, 499, 1);
    assert_ban(&bed, uuid, 0, false, 500, 1);
    assert_int_equal(found(&bed, ana, 100).until_s, 0);
    bed_close(&bed);
}

static void test_a_ban_that_is_over_is_none(void **state)
{
    (void)state;
    struct bed bed;
    int64_t value;
    bed_open_stored(&bed, MIB(64), bed_options());
    assert_ban(&bed, ana, 500, false, 100, 1);
    assert_int_equal(found(&bed, ana, 499).until_s, 500);
    assert_int_equal(found(&bed, ana, 500).until_s, 0);
    assert_ban(&bed, ana, 0, false, 500, 0); /* it has ended by itself */
    assert_int_equal(ban(&bed, ana, 500, false, 500, &value), STATUS_BAN_PAST);
    assert_int_equal(ban(&bed, ana, 1, false, 500, &value), STATUS_BAN_PAST);
    assert_int_equal(bed.recorder.reserved, 0);
    assert_ban(&bed, ana, 501, false, 500, 1);
    bed_close(&bed);
}

static void test_ended_bans_make_room(void **state)
{
    (void)state;
    struct bed bed;
    int64_t value;
    bed_open_stored(&bed, MIB(64), bed_options());
    hot_memory_of(bed.hot)->bans.most = 3;
    for (uint64_t user = 1; user <= 3; user++)
        assert_ban(&bed, (struct id){.lo = user}, 500, false, 100, 1);
    assert_int_equal(ban(&bed, ana, 900, false, 100, &value), STATUS_BANS_FULL);
    assert_int_equal(bed.recorder.reserved, 0);
    assert_int_equal(recorder_count(&bed.recorder), 3);
    assert_ban(&bed, ana, 900, false, 500, 1);
    bed_close(&bed);
}

static void test_bans_come_back(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, MIB(64), bed_options());
    assert_ban(&bed, ana, 5000, true, 100, 1);
    assert_ban(&bed, uuid, 5000, false, 100, 1);
    assert_ban(&bed, uuid, 0, false, 101, 1);
    assert_ban(&bed, (struct id){.lo = 8}, 300, false, 102, 1);
    bed_crash(&bed, 300);
    assert_int_equal(found(&bed, ana, 300).until_s, 5000);
    assert_true(found(&bed, ana, 300).shadow);
    assert_int_equal(found(&bed, uuid, 300).until_s, 0);
    assert_int_equal(bans_count(&hot_memory_of(bed.hot)->bans), 1);
    bed_close(&bed);
}

static void test_without_a_store_there_are_no_bans(void **state)
{
    (void)state;
    struct bed bed;
    int64_t value;
    bed_open(&bed, MIB(64), bed_options());
    assert_int_equal(ban(&bed, ana, 500, false, 100, &value), STATUS_NO_STORE);
    bed_close(&bed);
}

static enum status is_full(void *context)
{
    (void)context;
    return STATUS_DISK_FULL;
}

static void test_a_refused_ban_changes_nothing(void **state)
{
    (void)state;
    struct bed bed;
    int64_t value;
    bed_open_stored(&bed, MIB(64), bed_options());
    bed.recorder.admit = is_full;
    assert_int_equal(ban(&bed, ana, 500, false, 100, &value), STATUS_DISK_FULL);
    bed.recorder.admit = NULL;
    assert_int_equal(found(&bed, ana, 100).until_s, 0);
    assert_ban(&bed, ana, 500, false, 100, 1);
    bed_close(&bed);
}

/* What the projector makes of an inbox. Positions of events are far apart, so one more is before the next. */
static void put_inbox(struct bed *bed, struct id user, uint32_t newest, uint32_t seen)
{
    uint8_t key[ROW_KEY_MAX], value[ROW_COMMENT_MAX];
    struct inbox_state inbox = {.newest = newest, .seen = seen};
    struct store_row row = {.table = STORE_USER};
    struct store_stats stats;
    row.key = (struct store_bytes){key, (uint32_t)row_key_user(user, 'i', key)};
    row.value = (struct store_bytes){value, (uint32_t)row_write_inbox_state(&inbox, value)};
    store_stats(&bed->store->admin, &stats);
    struct store_changes changes = {.rows = &row, .row_count = 1, .position = stats.position + 1};
    assert_int_equal(store_apply(&bed->store->applier, &changes), STATUS_OK);
}

static int64_t see(struct bed *bed, struct id user, uint64_t number)
{
    struct hot_detail detail = {.after = {.is_set = true, .id = number}};
    struct hot_request request = {
        .action = HOT_SEEN, .user = user, .time_s = 100, .comment.detail = &detail};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    assert_int_equal(bed->recorder.reserved, 0);
    return request.comment.value;
}

static uint32_t last_seen(struct bed *bed)
{
    struct comment_body body;
    const struct event *event = &bed->recorder.events[bed->recorder.count - 1];
    assert_int_equal(event->name, COMMENT_EVENT_SEEN);
    assert_int_equal(
        comment_body_decode(COMMENT_EVENT_SEEN, event->body, event->body_length, &body), STATUS_OK);
    return body.seen;
}

static void test_an_inbox_is_seen(void **state)
{
    (void)state;
    struct bed bed;
    bed_open_stored(&bed, MIB(64), bed_options());
    hot_memory_set_reach(bed.hot, bed_reach, &bed);
    assert_int_equal(see(&bed, ana, 5), 0); /* it is empty */
    put_inbox(&bed, ana, 10, 4);
    assert_int_equal(see(&bed, ana, 4), 0);
    assert_int_equal(see(&bed, uuid, 8), 0);
    assert_int_equal(recorder_count(&bed.recorder), 0);
    assert_int_equal(see(&bed, ana, 8), 1);
    assert_int_equal(last_seen(&bed), 8);
    bed_project_all(&bed);
    put_inbox(&bed, ana, 10, 8);
    assert_int_equal(see(&bed, ana, 8), 0);
    assert_int_equal(see(&bed, ana, UINT64_MAX), 1); /* no more than there are */
    assert_int_equal(last_seen(&bed), 10);
    bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bans_are_decided_and_recorded),
        cmocka_unit_test(test_a_ban_that_is_over_is_none),
        cmocka_unit_test(test_ended_bans_make_room),
        cmocka_unit_test(test_bans_come_back),
        cmocka_unit_test(test_without_a_store_there_are_no_bans),
        cmocka_unit_test(test_a_refused_ban_changes_nothing),
        cmocka_unit_test(test_an_inbox_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
