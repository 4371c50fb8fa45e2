/*
 * What the tests of the hot tier share: a journal that keeps every event, and ids made from
 * small numbers.
 */
#ifndef LAUD_HOT_SUPPORT_H
#define LAUD_HOT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "chance.h"
#include "hot/memory/hot_memory_priv.h"
#include "journal/journal.h"
#include "store/memory/store_memory.h"

static inline uint64_t test_operations(uint64_t usual)
{
    const char *text = getenv("LAUD_OPS");
    return text != NULL ? strtoull(text, NULL, 10) : usual;
}

/* A journal that keeps every event in order. */

struct recorder {
    struct journal journal;
    pthread_mutex_t lock;
    struct event *events;
    size_t count;
    size_t capacity;
};

static uint64_t recorder_append(struct journal *journal, const struct event *event)
{
    struct recorder *recorder = (struct recorder *)journal;
    pthread_mutex_lock(&recorder->lock);
    if (recorder->count == recorder->capacity) {
        recorder->capacity = recorder->capacity * 2 + 1024;
        recorder->events =
            realloc(recorder->events, recorder->capacity * sizeof(*recorder->events));
        assert_non_null(recorder->events);
    }
    recorder->events[recorder->count++] = *event;
    uint64_t position = recorder->count;
    pthread_mutex_unlock(&recorder->lock);
    return position;
}

static const struct journal_ops recorder_ops = {.name = "recorder", .append = recorder_append};

static inline void recorder_open(struct recorder *recorder)
{
    *recorder = (struct recorder){.journal.ops = &recorder_ops};
    pthread_mutex_init(&recorder->lock, NULL);
}

static inline void recorder_close(struct recorder *recorder)
{
    pthread_mutex_destroy(&recorder->lock);
    free(recorder->events);
}

/* A hot tier over a store of its own. */

struct bed {
    struct memory_budget budget;
    struct store *store;
    struct hot *hot;
    struct recorder recorder;
    struct hot_scratch scratch;
};

static inline struct hot_memory_options bed_options(void)
{
    return (struct hot_memory_options){
        .shelf_max = 1000, .token_ttl_s = 600, .token_max = 1000000, .seed = 7};
}

/* Without a journal: for replay. */
static inline void bed_open_quiet(struct bed *bed, uint64_t limit,
                                  struct hot_memory_options options)
{
    memset(bed, 0, sizeof(*bed));
    bed->budget.limit = limit;
    bed->store = store_memory_open(&bed->budget);
    assert_non_null(bed->store);
    options.budget = &bed->budget;
    options.store = bed->store;
    bed->hot = hot_memory_open(&options);
    assert_non_null(bed->hot);
    recorder_open(&bed->recorder);
}

static inline void bed_open(struct bed *bed, uint64_t limit, struct hot_memory_options options)
{
    bed_open_quiet(bed, limit, options);
    hot_memory_set_journal(bed->hot, &bed->recorder.journal);
}

static inline void bed_close(struct bed *bed)
{
    hot_close(bed->hot);
    store_close(bed->store);
    recorder_close(&bed->recorder);
    free(bed->scratch.counters);
    assert_int_equal(memory_used(&bed->budget), 0);
}

/* One request, run alone. */

static inline enum status bed_run(struct bed *bed, struct hot_request *request)
{
    bed->scratch.used = 0;
    request->status = STATUS_COUNT;
    hot_run(bed->hot, request, 1, &bed->scratch);
    return request->status;
}

static inline int64_t bed_change(struct bed *bed, enum hot_action action, struct id user,
                                 uint8_t kind, struct item item, uint32_t time_s)
{
    struct hot_request request = {.action = action,
                                  .user = user,
                                  .name = kind,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = time_s};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    return request.value;
}

static inline bool bed_ask(struct bed *bed, struct id user, uint8_t kind, struct item item)
{
    struct hot_answer answer;
    struct hot_request request = {.action = HOT_ASK,
                                  .user = user,
                                  .name = kind,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = 1,
                                  .answers = &answer};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    return kind_set_has(&answer.kinds, kind);
}

static inline int64_t bed_count(struct bed *bed, struct item item, uint8_t name)
{
    struct hot_answer answer;
    struct hot_request request = {
        .action = HOT_COUNTS, .items = &item, .item_count = 1, .time_s = 1, .answers = &answer};
    assert_int_equal(bed_run(bed, &request), STATUS_OK);
    for (uint32_t i = 0; i < answer.count; i++)
        if (bed->scratch.counters[answer.first + i].name == name)
            return bed->scratch.counters[answer.first + i].value;
    return 0;
}

/* Every third is a UUID. Wide ids share lower halves with narrow ones and with each other. */
static inline struct id id_number(uint32_t number)
{
    if (number % 3 != 2)
        return (struct id){.lo = 1000 + number};
    return (struct id){.hi = 0x5000 + number, .lo = 1000 + number / 6};
}

static inline struct item item_number(uint32_t number)
{
    return (struct item){.id = id_number(number / 2), .type = number % 2 ? 1 : 700};
}

#endif
