#include <sched.h>

#include "helper.h"

#define PRODUCERS 8
#define EACH      20000
#define RING      KIB(64)
#define LONGS     KIB(36) /* of the ring, for long events: two of the largest */
#define SLACK     (PRODUCERS * LIMIT_BATCH * LIMIT_EVENT_BYTES)

static struct ring ring;

static struct event event_of(uint64_t producer, uint64_t number)
{
    struct event event = {.type = EVENT_SET, .user = {0, producer}, .item = {.id = {0, number}}};
    if (number % 3 == 0)
        event.item.id.hi = 1;
    if (number % 5 == 0)
        event.cleared_count = 1;
    return event;
}

/* The same, with some long events of all lengths among the others. */
static struct event mixed_event_of(uint64_t producer, uint64_t number)
{
    static const uint32_t lengths[] = {1, 9, 300, 10000, LIMIT_EVENT_BODY};
    struct event event = event_of(producer, number);
    if (number % 7 != producer % 7)
        return event;
    event.type = EVENT_COMMENT;
    event.name = 1;
    event.cleared_count = 0;
    event.body_length = lengths[(number / 7 + producer) % 5];
    event.body = sample_body(number, event.body_length);
    return event;
}

static void make_ring(uint64_t position)
{
    struct ring_sizes sizes = {.bytes = RING, .longs = LONGS, .long_max = LIMIT_EVENT_LONG};
    assert_int_equal(ring_make(&ring, &sizes, position), 0);
}

static void *produce(void *argument)
{
    uint64_t producer = (uint64_t)(uintptr_t)argument;
    uint64_t last = 0;
    for (uint64_t number = 0; number < EACH;) {
        if (!ring_has_room(&ring, SLACK)) {
            sched_yield();
            continue;
        }
        for (int i = 0; i < LIMIT_BATCH && number < EACH; i++, number++) {
            struct event event = event_of(producer, number);
            uint64_t after = ring_append(&ring, &event);
            ASSERT(after > last);
            last = after;
        }
    }
    return NULL;
}

#define MIXED_EACH 1000 /* events of each producer, of which a seventh is long */

/* Reserves in any order with others, sometimes too much, and appends short events between. */
static void *produce_mixed(void *argument)
{
    uint64_t producer = (uint64_t)(uintptr_t)argument;
    for (uint64_t number = 0; number < MIXED_EACH;) {
        struct event event = mixed_event_of(producer, number);
        bool is_long = event_is_long(&event);
        size_t bytes = event_bytes_max(&event);
        bool excess = is_long && number % 2 == 0 && bytes + 64 <= LIMIT_EVENT_LONG;
        if (is_long ? !ring_reserve(&ring, bytes + (excess ? 64 : 0))
                    : !ring_has_room(&ring, PRODUCERS * LIMIT_EVENT_BYTES)) {
            sched_yield();
            continue;
        }
        if (is_long)
            ring_append_long(&ring, &event);
        else
            ring_append(&ring, &event);
        if (excess)
            ring_unreserve(&ring, 64);
        number++;
    }
    return NULL;
}

typedef struct event make_event_fn(uint64_t producer, uint64_t number);

/* Decodes what is published; next[] is each producer's number expected next. */
static size_t take(uint64_t position, make_event_fn *make, uint64_t next[PRODUCERS],
                   uint64_t *total)
{
    uint32_t count;
    size_t bytes = ring_published(&ring, position, KIB(20), &count);
    size_t done = 0;
    uint32_t records = 0;
    while (done < bytes) {
        struct event event;
        size_t size;
        assert_int_equal(record_decode(ring_at(&ring, position + done), bytes - done,
                                       position + done, &event, &size),
                         STATUS_OK);
        assert_true(event.user.lo < PRODUCERS);
        struct event expected = make(event.user.lo, next[event.user.lo]++);
        assert_true(event_equal(&event, &expected));
        done += size;
        records++;
    }
    assert_int_equal(records, count);
    *total += count;
    ring_release(&ring, bytes);
    return bytes;
}

static void run_producers(void *(*work)(void *argument), make_event_fn *make, uint64_t each)
{
    pthread_t threads[PRODUCERS];
    uint64_t next[PRODUCERS] = {0};
    uint64_t total = 0;
    uint64_t position = 4096 - 8; /* so that records cross the end of the ring from the start */
    make_ring(position);
    for (uintptr_t i = 0; i < PRODUCERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)i), 0);
    while (total < PRODUCERS * each) {
        size_t bytes = take(position, make, next, &total);
        position += bytes;
        assert_true(atomic_load(&ring.held) <= LONGS);
        assert_true(atomic_load(&ring.tail) - position <= RING);
        if (bytes == 0)
            sched_yield();
    }
    for (size_t i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < PRODUCERS; i++)
        assert_int_equal(next[i], each);
    assert_int_equal(atomic_load(&ring.tail), position);
    assert_int_equal(atomic_load(&ring.held), 0);
    assert_int_equal(atomic_load(&ring.long_bytes), 0);
    for (size_t i = 0; i < RING; i++)
        assert_int_equal(ring.bytes[i], 0);
    ring_free(&ring);
}

static void test_many_producers_one_taker(void **state)
{
    (void)state;
    run_producers(produce, event_of, EACH);
}

static void test_many_producers_of_long_events(void **state)
{
    (void)state;
    run_producers(produce_mixed, mixed_event_of, MIXED_EACH);
}

static void test_room_ends_where_the_ring_is_full(void **state)
{
    (void)state;
    const size_t shorts = RING - LONGS;
    struct event like = event_of(1, 1);
    uint32_t count;
    make_ring(0);
    for (uint64_t used = 0; used < shorts; used += 32) {
        assert_true(ring_has_room(&ring, shorts - used));
        assert_false(ring_has_room(&ring, shorts - used + 1));
        ring_append(&ring, &like);
    }
    assert_int_equal(ring_published(&ring, 0, RING, &count), shorts);
    assert_int_equal(count, shorts / 32);
    assert_int_equal(ring_published(&ring, 0, 100, &count), 96);
    ring_release(&ring, shorts - 64);
    assert_true(ring_has_room(&ring, shorts - 64));
    assert_false(ring_has_room(&ring, shorts - 63));
    ring_release(&ring, 64);
    for (size_t i = 0; i < RING; i++)
        assert_int_equal(ring.bytes[i], 0);
    ring_free(&ring);
}

/* A ring full of short events takes long ones, and the reverse; both together fill it. */
static void test_short_and_long_events_do_not_wait_for_each_other(void **state)
{
    (void)state;
    const size_t shorts = RING - LONGS;
    struct event like = event_of(1, 1);
    struct event largest = {.type = EVENT_COMMENT,
                            .name = 1,
                            .user = {1, 1},
                            .item = {.id = {1, 2}},
                            .body = sample_body(0, LIMIT_EVENT_BODY),
                            .body_length = LIMIT_EVENT_BODY};
    uint32_t count;
    make_ring(0);
    for (uint64_t used = 0; used < shorts; used += 32)
        ring_append(&ring, &like);
    assert_false(ring_has_room(&ring, 1));
    assert_true(ring_reserve(&ring, LIMIT_EVENT_LONG));
    assert_true(ring_reserve(&ring, LIMIT_EVENT_LONG));
    assert_false(ring_reserve(&ring, 48 + 8));
    ring_append_long(&ring, &largest);
    assert_false(ring_reserve(&ring, 48 + 8));
    ring_append_long(&ring, &largest);
    assert_false(ring_reserve(&ring, 48 + 8));
    assert_false(ring_has_room(&ring, 1));
    assert_int_equal(ring_published(&ring, 0, RING, &count), shorts + 2 * LIMIT_EVENT_LONG);
    ring_release(&ring, shorts);
    assert_true(ring_has_room(&ring, shorts));
    assert_false(ring_has_room(&ring, shorts + 1));
    assert_false(ring_reserve(&ring, 48 + 8));
    ring_release(&ring, LIMIT_EVENT_LONG);
    assert_true(ring_has_room(&ring, shorts));
    assert_false(ring_has_room(&ring, shorts + 1));
    assert_true(ring_reserve(&ring, LIMIT_EVENT_LONG));
    assert_false(ring_reserve(&ring, 48 + 8));
    ring_unreserve(&ring, LIMIT_EVENT_LONG);
    ring_release(&ring, LIMIT_EVENT_LONG);
    assert_int_equal(atomic_load(&ring.held), 0);
    assert_true(ring_has_room(&ring, shorts));
    assert_false(ring_has_room(&ring, shorts + 1));
    ring_free(&ring);
}

/* A small reservation does not take the last room from a large one. */
static void test_small_reservations_leave_room_for_the_largest(void **state)
{
    (void)state;
    size_t taken = 0;
    make_ring(0);
    while (ring_reserve(&ring, 56))
        taken += 56;
    assert_true(taken + LIMIT_EVENT_LONG > LONGS && taken - 56 + LIMIT_EVENT_LONG <= LONGS);
    ring_unreserve(&ring, 56);
    assert_true(ring_reserve(&ring, LIMIT_EVENT_LONG));
    assert_true(atomic_load(&ring.held) <= LONGS);
    assert_false(ring_reserve(&ring, 56));
    ring_free(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_producers_one_taker),
        cmocka_unit_test(test_many_producers_of_long_events),
        cmocka_unit_test(test_room_ends_where_the_ring_is_full),
        cmocka_unit_test(test_short_and_long_events_do_not_wait_for_each_other),
        cmocka_unit_test(test_small_reservations_leave_room_for_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
