/*
 * New boards may use only most of the memory, so that existing boards can still grow. A refused
 * board is remembered for a week, because it is not the same as a board without changes.
 */
#include "trend/trends.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/log.h"
#include "trend/trends_priv.h"

#define ANSWER_PART    4 /* 1 of this many shares of the memory is for stored answers */
#define NEW_BOARD_PART 4 /* 1 of this many shares of the rest is not for new boards */
#define WEEK_S         (7 * 86400)

static void trends_init_locks(struct trends *trends)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&trends->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    pthread_mutex_init(&trends->adding_up, NULL);
}

struct trends *trends_new(const struct trend_options *options)
{
    uint32_t items_max = options->items_max != 0 ? options->items_max : LIMIT_TREND_ITEMS;
    ASSERT(items_max >= 2);
    struct trend_space space = {
        .share = {.limit = options->memory - options->memory / ANSWER_PART,
                  .within = options->budget},
        .answers = {.limit = options->memory / ANSWER_PART, .within = options->budget},
        .seed = options->seed,
        .items_max = items_max};
    if (!space_take(&space, sizeof(struct trends)))
        return NULL;
    struct trends *trends = calloc(1, sizeof(*trends));
    if (trends == NULL) {
        space_give(&space, sizeof(*trends));
        return NULL;
    }
    trends->magic = TRENDS_MAGIC;
    trends->space = space;
    trends_init_locks(trends);
    return trends;
}

void trends_clear(struct trends *trends, uint64_t position, uint32_t since_s)
{
    for (size_t type = 0; type < LIMIT_TYPES; type++) {
        struct board_row *row = trends->rows[type];
        trends->refused_s[type] = 0;
        trends->rows[type] = NULL;
        for (size_t name = 0; row != NULL && name < LIMIT_NAMES; name++)
            if (row->boards[name] != NULL)
                trend_board_free(row->boards[name], &trends->space);
        if (row != NULL)
            space_give(&trends->space, sizeof(*row));
        free(row);
    }
    trends->board_count = 0;
    trends->refused_count = 0;
    trends->time_s = 0;
    trends->position = position;
    trends->since_s = since_s;
}

void trends_begin(struct trends *trends, uint64_t position, uint32_t since_s)
{
    CHECK_MAGIC(trends, TRENDS_MAGIC);
    pthread_rwlock_wrlock(&trends->lock);
    trends_clear(trends, position, since_s);
    pthread_rwlock_unlock(&trends->lock);
}

void trends_free(struct trends *trends)
{
    if (trends == NULL)
        return;
    CHECK_MAGIC(trends, TRENDS_MAGIC);
    trends_clear(trends, 0, 0);
    space_give(&trends->space, sizeof(*trends));
    ASSERT(memory_used(&trends->space.share) + memory_used(&trends->space.answers) == 0);
    pthread_mutex_destroy(&trends->adding_up);
    pthread_rwlock_destroy(&trends->lock);
    trends->magic = 0;
    free(trends);
}

uint64_t trends_position(const struct trends *trends)
{
    return trends->position;
}

struct board_row *trends_row(struct trends *trends, uint16_t type)
{
    ASSERT(type < LIMIT_TYPES);
    struct board_row *row = trends->rows[type];
    if (row != NULL || !space_take(&trends->space, sizeof(*row)))
        return row;
    row = calloc(1, sizeof(*row));
    if (row == NULL)
        space_give(&trends->space, sizeof(*row));
    trends->rows[type] = row;
    return row;
}

/* If there is no memory for the row of the type, the refusal is remembered for the whole type. */
void trends_refuse(struct trends *trends, uint16_t type, uint8_t name, uint32_t time_s)
{
    ASSERT(type < LIMIT_TYPES);
    struct board_row *row = name == TRENDS_ALL_NAMES ? NULL : trends->rows[type];
    uint32_t *refused_s = row != NULL ? &row->refused_s[name] : &trends->refused_s[type];
    trends->refused_count += *refused_s == 0;
    *refused_s = time_s > 0 ? time_s : 1;
}

/* A board that was refused before is not complete. */
static void trends_accept(struct trends *trends, struct trend_board *board)
{
    ASSERT(trends->rows[board->type] != NULL);
    uint32_t *refused_s = &trends->rows[board->type]->refused_s[board->name];
    if (*refused_s != 0 || trends->refused_s[board->type] != 0)
        board->since_s = trends->time_s;
    ASSERT(*refused_s == 0 || trends->refused_count > 0);
    trends->refused_count -= *refused_s != 0;
    *refused_s = 0;
}

/* Forgets a refusal that is older than any window. */
static void refusal_expire(struct trends *trends, uint32_t *refused_s)
{
    if (*refused_s == 0 || trends->time_s < *refused_s || trends->time_s - *refused_s < WEEK_S)
        return;
    ASSERT(trends->refused_count > 0);
    *refused_s = 0;
    trends->refused_count--;
}

struct trend_board *trends_make_board(struct trends *trends, uint16_t type, uint8_t name)
{
    struct board_row *row = trends_row(trends, type);
    struct trend_board *board = row != NULL ? trend_board_new(&trends->space, type, name) : NULL;
    if (board == NULL)
        return NULL;
    ASSERT(row->boards[name] == NULL);
    row->boards[name] = board;
    trends->board_count++;
    trends_accept(trends, board);
    return board;
}

/* NULL: there is no such board, and no memory for a new one. */
static struct trend_board *trends_board(struct trends *trends, uint16_t type, uint8_t name)
{
    ASSERT(type < LIMIT_TYPES && name < LIMIT_NAMES);
    struct memory_budget *share = &trends->space.share;
    const struct board_row *row = trends->rows[type];
    if (row != NULL && row->boards[name] != NULL)
        return row->boards[name];
    if (memory_used(share) > share->limit - share->limit / NEW_BOARD_PART)
        return NULL;
    return trends_make_board(trends, type, name);
}

static bool is_complete(uint32_t since_s, uint32_t now_s)
{
    return since_s == 0 || (now_s > since_s && now_s - since_s >= WEEK_S);
}

/*
 * False: there is no board, or it had no change for a week and was removed. A board that lost
 * changes is kept, because it is not exact.
 */
static bool trends_turn_board(struct trends *trends, struct trend_board **board)
{
    if (*board == NULL)
        return false;
    trend_board_turn(*board, &trends->space, trends->time_s);
    if (!trend_board_is_empty(*board) || !is_complete((*board)->since_s, trends->time_s))
        return true;
    ASSERT(trends->board_count > 0);
    trend_board_free(*board, &trends->space);
    *board = NULL;
    trends->board_count--;
    return false;
}

static void trends_turn_row(struct trends *trends, uint16_t type)
{
    ASSERT(trends->rows[type] != NULL);
    struct board_row *row = trends->rows[type];
    bool any = false;
    for (size_t name = 0; name < LIMIT_NAMES; name++) {
        refusal_expire(trends, &row->refused_s[name]);
        any |= trends_turn_board(trends, &row->boards[name]) || row->refused_s[name] != 0;
    }
    if (any)
        return;
    trends->rows[type] = NULL;
    space_give(&trends->space, sizeof(*row));
    free(row);
}

/* Advances every board to the present time. */
static void trends_turn(struct trends *trends)
{
    for (uint16_t type = 0; type < LIMIT_TYPES; type++) {
        refusal_expire(trends, &trends->refused_s[type]);
        if (trends->rows[type] != NULL)
            trends_turn_row(trends, type);
    }
}

/* Call it under the lock. */
static void trends_move(struct trends *trends, uint32_t time_s, uint32_t now_s)
{
    if (time_s > now_s && time_s - now_s > TREND_AHEAD_S)
        time_s = now_s;
    if (trends->time_s > now_s && trends->time_s - now_s > TREND_AHEAD_S) {
        log_warn("windowed boards: the time is more than a day before the last counted change, so "
                 "they start empty again");
        trends_clear(trends, trends->position, time_s);
    }
    uint32_t before = trends->time_s;
    if (time_s <= before)
        return;
    trends->time_s = time_s;
    if (time_s / TREND_SLICE_S != before / TREND_SLICE_S)
        trends_turn(trends);
}

void trends_apply(struct trends *trends, const struct store_changes *changes, uint32_t time_s,
                  uint32_t now_s)
{
    if (changes->position <= trends->position)
        return;
    pthread_rwlock_wrlock(&trends->lock);
    trends_move(trends, time_s, now_s);
    ASSERT(trends->magic == TRENDS_MAGIC && trends->position < changes->position);
    for (size_t i = 0; i < changes->item.count_count; i++) {
        const struct store_count *count = &changes->item.counts[i];
        struct trend_board *board = trends_board(trends, count->item.type, count->name);
        if (board != NULL)
            trend_board_add(board, &trends->space, trends->time_s, count->item.id, count->value);
        else
            trends_refuse(trends, count->item.type, count->name, trends->time_s);
    }
    trends->position = changes->position;
    pthread_rwlock_unlock(&trends->lock);
}

void trends_pass(struct trends *trends, uint64_t position)
{
    CHECK_MAGIC(trends, TRENDS_MAGIC);
    pthread_rwlock_wrlock(&trends->lock);
    if (position > trends->position)
        trends->position = position;
    pthread_rwlock_unlock(&trends->lock);
}

static void add_loss(void *context, const struct slice *slice)
{
    sums_loss_add(context, slice->loss);
}

static void stats_of_board(const struct trend_board *board, uint32_t now_s, struct trend_stats *out)
{
    for (int level = 0; level < TREND_LEVELS; level++) {
        struct sums_loss loss = {0};
        trend_board_visit(board, level, now_s, add_loss, &loss);
        uint64_t error = loss.under > loss.over ? loss.under : loss.over;
        out->error_max = error > out->error_max ? error : out->error_max;
        for (const struct slice *slice = board->slices[level]; slice != NULL; slice = slice->older)
            out->items += slice->sums.used;
    }
    out->exact = out->exact && is_complete(board->since_s, now_s);
}

void trends_stats(struct trends *trends, struct trend_stats *out)
{
    CHECK_MAGIC(trends, TRENDS_MAGIC);
    pthread_rwlock_rdlock(&trends->lock);
    *out = (struct trend_stats){
        .position = trends->position,
        .since_s = trends->since_s,
        .boards = trends->board_count,
        .refused = trends->refused_count,
        .bytes = memory_used(&trends->space.share) + memory_used(&trends->space.answers),
        .bytes_max = trends->space.share.limit + trends->space.answers.limit,
        .pruned = trends->space.pruned,
        .exact = trends->refused_count == 0 && is_complete(trends->since_s, trends->time_s)};
    for (size_t type = 0; type < LIMIT_TYPES; type++)
        for (size_t name = 0; trends->rows[type] != NULL && name < LIMIT_NAMES; name++)
            if (trends->rows[type]->boards[name] != NULL)
                stats_of_board(trends->rows[type]->boards[name], trends->time_s, out);
    out->exact = out->exact && out->error_max == 0;
    pthread_rwlock_unlock(&trends->lock);
}
