#include <sched.h>

#include "helper.h"

#define PRODUCERS 8
#define EACH      20000
#define RING      KIB(64)
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

/* Decodes what is published; next[] is each producer's number expected next. */
static size_t take(uint64_t position, uint64_t next[PRODUCERS], uint64_t *total)
{
    uint32_t count;
    size_t bytes = ring_published(&ring, position, KIB(4), &count);
    size_t done = 0;
    uint32_t records = 0;
    while (done < bytes) {
        struct event event;
        size_t size;
        assert_int_equal(record_decode(ring_at(&ring, position + done), bytes - done,
                                       position + done, &event, &size),
                         STATUS_OK);
        assert_true(event.user.lo < PRODUCERS);
        struct event expected = event_of(event.user.lo, next[event.user.lo]++);
        assert_true(event_equal(&event, &expected));
        done += size;
        records++;
    }
    assert_int_equal(records, count);
    *total += count;
    ring_release(&ring, bytes);
    return bytes;
}

static void test_many_producers_one_taker(void **state)
{
    (void)state;
    pthread_t threads[PRODUCERS];
    uint64_t next[PRODUCERS] = {0};
    uint64_t total = 0;
    uint64_t position = 4096 - 8; /* so that records cross the end of the ring from the start */
    assert_int_equal(ring_make(&ring, RING, position), 0);
    for (uintptr_t i = 0; i < PRODUCERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, produce, (void *)i), 0);
    while (total < PRODUCERS * EACH) {
        size_t bytes = take(position, next, &total);
        position += bytes;
        if (bytes == 0)
            sched_yield();
    }
    for (size_t i = 0; i < PRODUCERS; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < PRODUCERS; i++)
        assert_int_equal(next[i], EACH);
    assert_int_equal(atomic_load(&ring.tail), position);
    ring_free(&ring);
}

static void test_room_ends_where_the_ring_is_full(void **state)
{
    (void)state;
    struct event like = event_of(1, 1);
    uint32_t count;
    assert_int_equal(ring_make(&ring, RING, 0), 0);
    for (uint64_t used = 0; used < RING; used += 32) {
        assert_true(ring_has_room(&ring, RING - used));
        assert_false(ring_has_room(&ring, RING - used + 1));
        ring_append(&ring, &like);
    }
    assert_int_equal(ring_published(&ring, 0, RING, &count), RING);
    assert_int_equal(count, RING / 32);
    assert_int_equal(ring_published(&ring, 0, 100, &count), 96);
    ring_release(&ring, RING - 64);
    assert_true(ring_has_room(&ring, RING - 64));
    assert_false(ring_has_room(&ring, RING - 63));
    ring_release(&ring, 64);
    for (size_t i = 0; i < RING; i++)
        assert_int_equal(ring.bytes[i], 0);
    ring_free(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_producers_one_taker),
        cmocka_unit_test(test_room_ends_where_the_ring_is_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
