#include "model.h"

#include <stdlib.h>
#include <string.h>

void model_start(struct model *model, uint64_t seed)
{
    *model = (struct model){.chance = {seed}, .items = MODEL_ITEMS, .largest = 3};
    model->changes = calloc(MODEL_CHANGES, sizeof *model->changes);
    assert_non_null(model->changes);
}

void model_end(struct model *model)
{
    free(model->changes);
    model->changes = NULL;
}

struct id model_id(uint32_t item)
{
    return (struct id){item % 5 == 0 ? 0xf000000000000000ULL + item : 0,
                       77 + item / 2 * 3 + item % 2};
}

/* Low numbers come up more often. A change is rather up than down. */
static struct model_change change_next(struct model *model, uint32_t time_s)
{
    struct chance *chance = &model->chance;
    uint32_t item = chance_below(chance, 1 + chance_below(chance, model->items));
    int64_t delta = 1 + (int64_t)chance_below(chance, model->largest);
    return (struct model_change){
        .time_s = time_s,
        .item = (uint16_t)item,
        .board = (uint8_t)chance_below(chance, MODEL_TYPES * MODEL_NAMES),
        .delta = chance_below(chance, 3) == 0 ? -delta : delta,
    };
}

/* Each (item, name) once in a window. */
static void window_add(struct model *model, const struct model_change *change)
{
    struct store_count count = {.item = {model_id(change->item), change->board / MODEL_NAMES},
                                .name = change->board % MODEL_NAMES,
                                .value = change->delta};
    struct store_changes *window = &model->window;
    for (size_t i = 0; i < window->item.count_count; i++) {
        if (item_equal(model->counts[i].item, count.item) && model->counts[i].name == count.name) {
            model->counts[i].value += count.value;
            return;
        }
    }
    model->counts[window->item.count_count++] = count;
}

const struct store_changes *model_next(struct model *model, uint32_t most, uint32_t time_s)
{
    uint32_t changes = 1 + chance_below(&model->chance, most);
    assert_true(changes <= MODEL_WINDOW && model->count + changes <= MODEL_CHANGES);
    model->window = (struct store_changes){.item.counts = model->counts};
    model->now_s = time_s;
    for (uint32_t i = 0; i < changes; i++) {
        model->changes[model->count] = change_next(model, time_s);
        window_add(model, &model->changes[model->count++]);
    }
    model->position += 8 + chance_below(&model->chance, 10000);
    model->window.position = model->position;
    return &model->window;
}

void model_sums(const struct model *model, uint32_t board, enum trend_window window, uint32_t now_s,
                int64_t sums[MODEL_ITEMS])
{
    static const uint32_t slice_s[] = {0, 300, 3600, 86400};
    static const uint32_t slices[] = {0, 12, 24, 7};
    memset(sums, 0, MODEL_ITEMS * sizeof *sums);
    for (size_t i = 0; i < model->count; i++) {
        const struct model_change *change = &model->changes[i];
        uint32_t age = now_s / slice_s[window] - change->time_s / slice_s[window];
        if (change->board == board && age < slices[window])
            sums[change->item] += change->delta;
    }
}

static int compare(const void *a, const void *b)
{
    return ranked_order(*(const struct ranked *)a, *(const struct ranked *)b);
}

size_t model_top(const struct model *model, uint32_t board, enum trend_window window,
                 uint32_t now_s, struct ranked *out, size_t limit)
{
    static int64_t sums[MODEL_ITEMS];
    static struct ranked all[MODEL_ITEMS];
    size_t count = 0;
    model_sums(model, board, window, now_s, sums);
    for (uint32_t i = 0; i < MODEL_ITEMS; i++)
        if (sums[i] > 0)
            all[count++] = (struct ranked){model_id(i), sums[i]};
    qsort(all, count, sizeof *all, compare);
    count = count < limit ? count : limit;
    memcpy(out, all, count * sizeof *out);
    return count;
}

void model_expect(const struct model *model, struct trends *trends, uint32_t now_s)
{
    static struct ranked expected[LIMIT_TREND_TOP];
    static struct ranked found[LIMIT_TREND_TOP];
    for (uint32_t board = 0; board < MODEL_TYPES * MODEL_NAMES; board++) {
        for (enum trend_window window = TREND_HOUR; window <= TREND_WEEK; window++) {
            size_t all = model_top(model, board, window, now_s, expected, LIMIT_TREND_TOP);
            static const size_t limits[] = {LIMIT_TREND_TOP, 10, 1, 0};
            for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
                size_t count = 12345;
                assert_int_equal(trends_top(trends, (uint16_t)(board / MODEL_NAMES),
                                            board % MODEL_NAMES, window, now_s, found, limits[i],
                                            &count),
                                 STATUS_OK);
                assert_int_equal(count, all < limits[i] ? all : limits[i]);
                if (count > 0)
                    assert_memory_equal(found, expected, count * sizeof *found);
            }
        }
    }
}
