/* Every counter in an array, sorted when it is asked: what the boards of a bed are held against. */
#ifndef LAUD_HOT_BOARDS_MODEL_H
#define LAUD_HOT_BOARDS_MODEL_H

#include "support.h"

#define TYPES 3
#define NAMES 3
#define ITEMS 4000
#define SMALL 8 /* entries of a part, in tests of overflowing */

static const uint16_t types[TYPES] = {0, 5, 1023};
static const uint8_t names[NAMES] = {0, 2, 249};

/* Every counter, by type, name and item. */
struct model {
    int64_t values[TYPES][NAMES][ITEMS];
};

/* Every third is a UUID; some share halves. */
static struct id model_id(uint32_t number)
{
    return id_number(number);
}

static struct item model_item(uint32_t type, uint32_t number)
{
    return (struct item){.id = model_id(number), .type = types[type]};
}

static int compare(const void *a, const void *b)
{
    return ranked_order(*(const struct ranked *)a, *(const struct ranked *)b);
}

static uint32_t model_top(const struct model *model, uint32_t type, uint32_t name,
                          struct ranked out[ITEMS])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ITEMS; i++)
        if (model->values[type][name][i] != 0)
            out[count++] = (struct ranked){model_id(i), model->values[type][name][i]};
    qsort(out, count, sizeof(*out), compare);
    return count;
}

static enum status top(struct bed *bed, uint32_t type, uint32_t name, uint32_t limit,
                       struct hot_request *request)
{
    *request = (struct hot_request){
        .action = HOT_TOP, .top.type = types[type], .name = names[name], .top.limit = limit};
    return bed_run(bed, request);
}

static void expect_top(struct bed *bed, const struct model *model, uint32_t type, uint32_t name,
                       uint32_t limit)
{
    static struct ranked expected[ITEMS];
    struct hot_request request;
    assert_int_equal(top(bed, type, name, limit, &request), STATUS_OK);
    uint32_t count = model_top(model, type, name, expected);
    assert_int_equal(request.top.count, count < limit ? count : limit);
    for (uint32_t i = 0; i < request.top.count; i++) {
        struct ranked got = bed->scratch.ranked[request.top.first + i];
        assert_true(got.value == expected[i].value);
        assert_true(id_equal(got.id, expected[i].id));
    }
}

static void expect_all(struct bed *bed, const struct model *model, uint32_t limit)
{
    for (uint32_t type = 0; type < TYPES; type++)
        for (uint32_t name = 0; name < NAMES; name++)
            expect_top(bed, model, type, name, limit);
}

/* Values that often meet, fall to 0 and below it; item 0 of each board runs away now and then. */
static int64_t model_step(struct chance *chance, int64_t value, bool rising)
{
    uint32_t dice = chance_below(chance, 100);
    if (dice < 4 && value != 0)
        return -value; /* to nothing */
    if (dice < 8)
        return -2 * value - 1;
    int64_t by = (int64_t)chance_below(chance, 5) + 1;
    return chance_below(chance, 10) < (rising ? 7U : 3U) ? by : -by;
}

static void change(struct bed *bed, struct model *model, struct chance *chance, bool rising)
{
    uint32_t type = chance_below(chance, TYPES);
    uint32_t name = chance_below(chance, NAMES);
    uint32_t number = chance_below(chance, ITEMS >> chance_below(chance, 4));
    int64_t *value = &model->values[type][name][number];
    int64_t delta = model_step(chance, *value, rising);
    *value += delta;
    assert_true(bed_add(bed, model_item(type, number), names[name], delta) == *value);
}

/*
 * All that stand high fall behind the others, which nobody touches: nothing is left above the floor, and
 * the board has to be filled.
 */
static void fall(struct bed *bed, struct model *model, struct chance *chance, uint32_t type,
                 uint32_t name)
{
    static struct ranked sorted[ITEMS];
    uint32_t count = model_top(model, type, name, sorted);
    int64_t high = count == 0 ? 0 : sorted[count / 3].value;
    for (uint32_t i = 0; i < ITEMS; i++) {
        int64_t *value = &model->values[type][name][i];
        int64_t left = high - 1 - chance_below(chance, 200);
        if (*value <= high)
            continue;
        bed_add(bed, model_item(type, i), names[name], left - *value);
        *value = left;
    }
}

static void purge(struct bed *bed, struct model *model, struct chance *chance)
{
    uint32_t type = chance_below(chance, TYPES);
    uint32_t name = chance_below(chance, NAMES);
    fall(bed, model, chance, type, name);
    if (bed->store != NULL)
        bed_project_all(bed); /* the filler waits for the store; here nobody else projects */
    expect_top(bed, model, type, name, SMALL);
}

/* Each part holds every item of its shard that is better than its floor, and nothing else. */
static void expect_parts(struct bed *bed, const struct model *model)
{
    struct hot_memory *hot = hot_memory_of(bed->hot);
    uint64_t held = 0, known = 0;
    for (uint32_t i = 0; i < TYPES * NAMES * ITEMS; i++) {
        uint32_t type = i / ITEMS / NAMES, name = i / ITEMS % NAMES, number = i % ITEMS;
        struct ranked entry = {model_id(number), model->values[type][name][number]};
        uint64_t hash = item_hash_of(hot, model_item(type, number));
        const struct board_section *section =
            board_find(&item_shard_of(hot, hash)->boards, board_key(types[type], names[name]));
        if (entry.value == 0)
            continue;
        assert_non_null(section);
        if (section->floored && ranked_order(entry, section->floor) >= 0)
            continue;
        assert_false(section->limited);
        uint32_t at = 0;
        while (at < section->count && ranked_order(board_entry(section, at), entry) != 0)
            at++;
        assert_true(at < section->count);
        known++;
    }
    for (uint32_t i = 0; i < LIMIT_SHARDS; i++)
        held += hot->items[i].boards.entries;
    assert_int_equal(held, known);
}

static struct model *model_new(void)
{
    struct model *model = calloc(1, sizeof(*model));
    assert_non_null(model);
    return model;
}

#endif
