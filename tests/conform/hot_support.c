#include "hot_suite.h"

#include "hot/scratch.h"

const struct hot_suite_tier *hot_suite_tier;

struct hot_suite_options suite_options(void)
{
    return (struct hot_suite_options){.shelf_max = 1000, .token_ttl_s = 600, .seed = 7};
}

uint64_t suite_operations(uint64_t usual)
{
    const char *text = getenv("LAUD_OPS");
    return text != NULL ? strtoull(text, NULL, 10) : usual / SANITIZED_PART;
}

struct suite suite_open(struct hot_suite_options options)
{
    struct suite suite = {.tier = hot_suite_tier->open(&options)};
    assert_non_null(suite.tier);
    return suite;
}

void suite_close(struct suite *suite)
{
    hot_suite_tier->close(suite->tier);
    hot_scratch_free(&suite->scratch);
}

void suite_settle(struct suite *suite)
{
    hot_suite_tier->settle(suite->tier);
}

void suite_restart(struct suite *suite, uint32_t now_s)
{
    hot_suite_tier->restart(suite->tier, now_s);
}

void suite_disturb(struct suite *suite, struct chance *chance, uint32_t odds, uint32_t now_s)
{
    hot_suite_tier->disturb(suite->tier, chance, odds, now_s);
}

void suite_run(struct suite *suite, struct hot_request *requests, size_t count)
{
    hot_scratch_clear(&suite->scratch);
    for (size_t i = 0; i < count; i++)
        requests[i].status = STATUS_COUNT;
    for (size_t done = 0; done < count;) {
        struct hot *hot = hot_suite_tier->hot(suite->tier);
        done += hot_try(hot, requests + done, count - done, &suite->scratch);
        if (done < count)
            hot_suite_tier->run(suite->tier, &requests[done++], &suite->scratch);
    }
    for (size_t i = 0; i < count; i++)
        assert_true(requests[i].status < STATUS_COUNT && requests[i].status != STATUS_BLOCKED);
}

static enum status run_one(struct suite *suite, struct hot_request *request)
{
    suite_run(suite, request, 1);
    return request->status;
}

bool suite_change(struct suite *suite, enum hot_action action, struct id user, uint8_t kind,
                  struct item item, uint32_t time_s)
{
    struct hot_request request = {.action = action,
                                  .user = user,
                                  .name = kind,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = time_s};
    assert_int_equal(run_one(suite, &request), STATUS_OK);
    assert_in_range(request.change.value, 0, 1);
    return request.change.value;
}

enum status suite_add(struct suite *suite, struct item item, uint8_t name, int64_t delta,
                      uint64_t token, uint32_t time_s, int64_t *value)
{
    struct hot_request request = {.action = HOT_ADD,
                                  .name = name,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = time_s,
                                  .change.delta = delta,
                                  .change.has_token = token != 0,
                                  .change.token = {token, 99}};
    run_one(suite, &request);
    *value = request.change.value;
    return request.status;
}

void suite_feed(struct suite *suite, struct id user, const struct item *items, uint32_t count,
                struct hot_answer *answers)
{
    struct hot_request request = {.action = HOT_FEED,
                                  .user = user,
                                  .items = items,
                                  .item_count = count,
                                  .time_s = 1,
                                  .read.answers = answers};
    assert_int_equal(run_one(suite, &request), STATUS_OK);
}

int64_t suite_count(struct suite *suite, struct item item, uint8_t name)
{
    struct hot_answer answer;
    struct hot_request request = {.action = HOT_COUNTS,
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = 1,
                                  .read.answers = &answer};
    assert_int_equal(run_one(suite, &request), STATUS_OK);
    for (uint32_t i = 0; i < answer.count; i++)
        if (suite->scratch.counters[answer.first + i].name == name)
            return suite->scratch.counters[answer.first + i].value;
    return 0;
}

static enum status run_list(struct suite *suite, struct hot_request *request,
                            struct suite_page *page)
{
    if (run_one(suite, request) == STATUS_OK)
        *page = (struct suite_page){.listed = suite->scratch.listed + request->list.first,
                                    .count = request->list.count,
                                    .more = request->list.more};
    return request->status;
}

enum status suite_reactions(struct suite *suite, struct id user, uint8_t kind, uint16_t type,
                            struct store_listed after, uint32_t limit, struct suite_page *page)
{
    struct hot_request request = {.action = HOT_LIST_REACTIONS,
                                  .user = user,
                                  .name = kind,
                                  .list.type = type,
                                  .list.after = after,
                                  .list.limit = limit};
    return run_list(suite, &request, page);
}

enum status suite_reactors(struct suite *suite, struct item item, uint8_t kind,
                           struct store_listed after, uint32_t limit, struct suite_page *page)
{
    struct hot_request request = {.action = HOT_LIST_REACTORS,
                                  .items = &item,
                                  .item_count = 1,
                                  .name = kind,
                                  .list.after = after,
                                  .list.limit = limit};
    return run_list(suite, &request, page);
}

enum status suite_friends(struct suite *suite, struct id user, uint8_t follow, uint16_t type,
                          struct item item, uint8_t kind, uint32_t limit, struct suite_page *page)
{
    struct hot_request request = {.action = HOT_FRIENDS,
                                  .user = user,
                                  .items = &item,
                                  .item_count = 1,
                                  .name = kind,
                                  .list.follow = follow,
                                  .list.type = type,
                                  .list.limit = limit};
    return run_list(suite, &request, page);
}

enum status suite_changes(struct suite *suite, struct id user, struct suite_round *round,
                          uint32_t limit, struct suite_page *page)
{
    struct hot_request request = {.action = HOT_CHANGES,
                                  .user = user,
                                  .time_s = 1,
                                  .changes.since_s = round->since_s,
                                  .changes.until_s = round->until_s,
                                  .changes.after = round->after,
                                  .changes.limit = limit};
    if (run_one(suite, &request) != STATUS_OK)
        return request.status;
    *page = (struct suite_page){.listed = suite->scratch.listed + request.changes.first,
                                .count = request.changes.count,
                                .more = request.changes.more};
    if (request.changes.more)
        *round =
            (struct suite_round){round->since_s, request.changes.until_s, request.changes.after};
    else
        *round = (struct suite_round){.since_s = request.changes.until_s};
    return STATUS_OK;
}

static enum status run_removal(struct suite *suite, struct hot_request *request, uint32_t *removed,
                               bool *more)
{
    if (run_one(suite, request) == STATUS_OK) {
        *removed = request->remove.removed;
        *more = request->remove.more;
    }
    return request->status;
}

enum status suite_forget(struct suite *suite, struct id user, uint32_t limit, uint32_t time_s,
                         uint32_t *removed, bool *more)
{
    struct hot_request request = {
        .action = HOT_FORGET, .user = user, .remove.limit = limit, .time_s = time_s};
    return run_removal(suite, &request, removed, more);
}

enum status suite_drop(struct suite *suite, struct item item, uint32_t limit, uint32_t time_s,
                       uint32_t *removed, bool *more)
{
    struct hot_request request = {.action = HOT_DROP,
                                  .items = &item,
                                  .item_count = 1,
                                  .remove.limit = limit,
                                  .time_s = time_s};
    return run_removal(suite, &request, removed, more);
}

enum status suite_top(struct suite *suite, uint16_t type, uint8_t name, uint32_t limit,
                      uint32_t *count)
{
    struct hot_request request = {
        .action = HOT_TOP, .top.type = type, .name = name, .top.limit = limit};
    /* A tier may ask the caller to try again while it counts a board; a busy machine takes longer. */
    while (run_one(suite, &request) == STATUS_BOARD_COUNTING)
        continue;
    if (request.status == STATUS_OK)
        *count = request.top.count;
    return request.status;
}
