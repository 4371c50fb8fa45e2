/* The lists of the model: everything that belongs to a list is gathered, and then sorted. */
#include "comment_model.h"

#include <stdlib.h>

#include "base/assert.h"
#include "comment/order.h"

uint64_t model_key(const struct comment_model *model, uint32_t comment, enum comment_order order)
{
    struct comment_votes votes = {.likes = model_votes(model, comment, MODEL_LIKE),
                                  .dislikes = model_votes(model, comment, MODEL_DISLIKE)};
    return comment_order_has_key(order)
               ? comment_order_key(order, &votes, model->comments[comment].time_s)
               : 0;
}

/* Sorts by insertion: by key, the highest first, and of equal keys by number, upwards or downwards. */
struct sorting {
    uint64_t *keys;
    uint64_t *numbers;
    uint32_t *out;
    size_t count;
    bool falling; /* the highest number first */
};

static bool is_before(const struct sorting *sorting, uint64_t key, uint64_t number, size_t at)
{
    if (key != sorting->keys[at])
        return key > sorting->keys[at];
    return sorting->falling ? number > sorting->numbers[at] : number < sorting->numbers[at];
}

static void insert(struct sorting *sorting, uint32_t comment, uint64_t key, uint64_t number)
{
    size_t at = sorting->count++;
    for (; at > 0 && is_before(sorting, key, number, at - 1); at--) {
        sorting->keys[at] = sorting->keys[at - 1];
        sorting->numbers[at] = sorting->numbers[at - 1];
        sorting->out[at] = sorting->out[at - 1];
    }
    sorting->keys[at] = key;
    sorting->numbers[at] = number;
    sorting->out[at] = comment;
}

static struct sorting sorting_begin(const struct comment_model *model, uint32_t *out, bool falling)
{
    struct sorting sorting = {.falling = falling};
    sorting.out = out;
    sorting.keys = calloc(model->count + 1, sizeof *sorting.keys);
    sorting.numbers = calloc(model->count + 1, sizeof *sorting.numbers);
    ASSERT(sorting.keys != NULL && sorting.numbers != NULL);
    return sorting;
}

static size_t sorting_end(struct sorting *sorting)
{
    free(sorting->keys);
    free(sorting->numbers);
    return sorting->count;
}

/* In new and old everything that the reader sees has its floor; deleted ones without replies are gone. */
static bool is_at_its_floor(const struct comment_model *model, struct model_reader reader,
                            uint32_t comment)
{
    return !model->comments[comment].dropped &&
           (model_is_listed(model, comment) || reader.all ||
            (model_sight(model, reader, comment) == MODEL_FULL));
}

size_t model_roots(const struct comment_model *model, uint32_t subject, enum comment_order order,
                   struct model_reader reader, uint32_t *out)
{
    struct sorting sorting = sorting_begin(model, out, order == ORDER_NEW);
    for (uint32_t i = 0; i < model->count; i++) {
        if (model->comments[i].subject != subject || !model_is_root(model, i))
            continue;
        if (comment_order_has_key(order) ? model_is_listed(model, i)
                                         : is_at_its_floor(model, reader, i))
            insert(&sorting, i, model_key(model, i, order), model->comments[i].floor);
    }
    return sorting_end(&sorting);
}

size_t model_before(const struct comment_model *model, uint32_t subject, struct model_reader reader,
                    uint32_t *out)
{
    struct sorting sorting = sorting_begin(model, out, true);
    for (uint32_t i = 0; i < model->count; i++)
        if (model->comments[i].subject == subject && model_is_root(model, i) &&
            !model_is_listed(model, i) && is_at_its_floor(model, reader, i))
            insert(&sorting, i, 0, model->comments[i].floor);
    size_t count = sorting_end(&sorting);
    return count < LIMIT_OWN_COMMENTS ? count : LIMIT_OWN_COMMENTS;
}

size_t model_thread(const struct comment_model *model, uint32_t root, enum comment_order order,
                    struct model_reader reader, uint32_t *out)
{
    struct sorting sorting = sorting_begin(model, out, order == ORDER_NEW);
    for (uint32_t i = 0; i < model->count; i++)
        if (model->comments[i].root == root && is_at_its_floor(model, reader, i))
            insert(&sorting, i, 0, model->comments[i].floor);
    return sorting_end(&sorting);
}

size_t model_written(const struct comment_model *model, uint32_t user, uint32_t *out)
{
    struct sorting sorting = sorting_begin(model, out, true);
    for (uint32_t i = 0; i < model->count; i++)
        if (model->comments[i].author == user && model_is_counted(model, i))
            insert(&sorting, i, 0, model->comments[i].id);
    return sorting_end(&sorting);
}

static bool is_queued(const struct comment_model *model, uint32_t comment, enum queue_state state,
                      uint64_t *rank)
{
    const struct model_comment *it = &model->comments[comment];
    *rank = 0;
    if (it->deleted || it->dropped)
        return false;
    if (state != QUEUE_REPORTED)
        return it->moderation == (state == QUEUE_PENDING ? COMMENT_PENDING : COMMENT_HIDDEN);
    int64_t reports = model_votes(model, comment, MODEL_REPORT) - it->reviewed;
    *rank = reports > 0 ? (uint64_t)reports : 0;
    return it->moderation == COMMENT_VISIBLE && reports >= (int64_t)model->report_at;
}

size_t model_queue(const struct comment_model *model, bool odd, enum queue_state state,
                   uint32_t *out)
{
    struct sorting sorting = sorting_begin(model, out, true);
    for (uint32_t i = 0; i < model->count; i++) {
        uint64_t rank;
        if (model->comments[i].subject % 2 == odd && is_queued(model, i, state, &rank))
            insert(&sorting, i, rank, model->comments[i].id);
    }
    return sorting_end(&sorting);
}
