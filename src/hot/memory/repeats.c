/*
 * The table consists of sets of a few cells. The hash of a text decides its set, and it can be in any cell of
 * the set. A new text replaces the oldest cell of its set.
 */
#include "hot/memory/repeats.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/limits.h"
#include "comment/comment.h"

#define CELLS        4
#define BUDGET_SHARE 256

struct repeat_cell {
    uint64_t hash[2];
    uint64_t comment; /* COMMENT_NONE: the cell was never used */
    uint32_t time_s;
};

struct repeat_set {
    struct repeat_cell cells[CELLS];
};

static uint64_t table_bytes(const struct repeats *repeats)
{
    return repeats->set_count * sizeof(struct repeat_set);
}

static uint32_t sets_within(uint64_t bytes)
{
    uint32_t count = 1;
    while (2ULL * count * sizeof(struct repeat_set) <= bytes)
        count *= 2;
    return count;
}

static uint64_t usual_bytes(const struct memory_budget *budget)
{
    uint64_t bytes = budget->limit / BUDGET_SHARE;
    return bytes < REPEAT_BYTES_MIN   ? REPEAT_BYTES_MIN
           : bytes > REPEAT_BYTES_MAX ? REPEAT_BYTES_MAX
                                      : bytes;
}

bool repeats_init(struct repeats *repeats, struct memory_budget *budget, uint64_t seed,
                  uint32_t window_s, uint64_t bytes)
{
    *repeats = (struct repeats){.budget = budget, .seed = seed};
    for (unsigned i = 0; i < REPEAT_LOCKS; i++)
        pthread_mutex_init(&repeats->locks[i], NULL);
    if (window_s == 0)
        return true;
    repeats->set_count = sets_within(bytes != 0 ? bytes : usual_bytes(budget));
    if (!memory_charge(budget, table_bytes(repeats)))
        return false;
    repeats->sets = calloc(repeats->set_count, sizeof *repeats->sets);
    if (repeats->sets == NULL) {
        memory_release(budget, table_bytes(repeats));
        return false;
    }
    repeats->window_s = window_s;
    return true;
}

void repeats_destroy(struct repeats *repeats)
{
    if (repeats->sets != NULL)
        memory_release(repeats->budget, table_bytes(repeats));
    free(repeats->sets);
    repeats->sets = NULL;
    for (unsigned i = 0; i < REPEAT_LOCKS; i++)
        pthread_mutex_destroy(&repeats->locks[i]);
}

struct repeat_key repeats_key(const struct repeats *repeats, struct id user, struct item item,
                              struct text text)
{
    /* The text is hashed first, and its hash then together with the rest: no copy of it is needed. */
    XXH128_hash_t of_text = XXH3_128bits_withSeed(text.bytes, text.length, repeats->seed);
    uint64_t all[] = {of_text.low64, of_text.high64, user.hi,   user.lo,
                      item.id.hi,    item.id.lo,     item.type, text.length};
    XXH128_hash_t hash = XXH3_128bits_withSeed(all, sizeof all, repeats->seed);
    return (struct repeat_key){{hash.low64, hash.high64}};
}

static pthread_mutex_t *lock_of(struct repeats *repeats, const struct repeat_key *key)
{
    return &repeats->locks[key->hash[0] & (repeats->set_count - 1) & (REPEAT_LOCKS - 1)];
}

static struct repeat_set *set_of(struct repeats *repeats, const struct repeat_key *key)
{
    return &repeats->sets[key->hash[0] & (repeats->set_count - 1)];
}

/* The cell of this text; NULL: it has none. */
static struct repeat_cell *find_cell(struct repeat_set *set, const struct repeat_key *key)
{
    for (unsigned i = 0; i < CELLS; i++) {
        struct repeat_cell *cell = &set->cells[i];
        if (cell->comment != COMMENT_NONE && cell->hash[0] == key->hash[0] &&
            cell->hash[1] == key->hash[1])
            return cell;
    }
    return NULL;
}

uint64_t repeats_find(struct repeats *repeats, const struct repeat_key *key, uint32_t now_s)
{
    if (repeats->window_s == 0)
        return COMMENT_NONE;
    pthread_mutex_t *lock = lock_of(repeats, key);
    pthread_mutex_lock(lock);
    const struct repeat_cell *cell = find_cell(set_of(repeats, key), key);
    bool is_recent =
        cell != NULL && (now_s <= cell->time_s || now_s - cell->time_s < repeats->window_s);
    uint64_t comment = is_recent ? cell->comment : COMMENT_NONE;
    pthread_mutex_unlock(lock);
    return comment;
}

void repeats_add(struct repeats *repeats, const struct repeat_key *key, uint64_t comment,
                 uint32_t now_s)
{
    if (repeats->window_s == 0)
        return;
    ASSERT(comment != COMMENT_NONE);
    struct repeat_set *set = set_of(repeats, key);
    pthread_mutex_t *lock = lock_of(repeats, key);
    pthread_mutex_lock(lock);
    struct repeat_cell *cell = find_cell(set, key);
    if (cell == NULL) {
        cell = &set->cells[0];
        for (unsigned i = 1; i < CELLS && cell->comment != COMMENT_NONE; i++)
            if (set->cells[i].comment == COMMENT_NONE || set->cells[i].time_s < cell->time_s)
                cell = &set->cells[i];
    }
    *cell = (struct repeat_cell){
        .hash = {key->hash[0], key->hash[1]}, .comment = comment, .time_s = now_s};
    pthread_mutex_unlock(lock);
}
