#include "hot/memory/catch_up.h"

#include "hot/memory/hot_memory_priv.h"

/* Every change of an item, also by a reaction, sets the stamp of its row. */
uint64_t catch_up_item_position(struct hot_memory *hot, struct item item)
{
    uint64_t hash = item_hash_of(hot, item);
    struct item_shard *shard = item_shard_of(hot, hash);
    pthread_mutex_lock(&shard->lock);
    const struct item_row *row = item_find(shard, hash, item);
    uint64_t end = row == NULL ? 0 : ((uint64_t)row->stamp + 1) << STAMP_SHIFT;
    pthread_mutex_unlock(&shard->lock);
    return end;
}

/* A stamp stands for many positions, so a position that is made from it may be after the journal's end. */
static uint64_t within_journal(struct hot_memory *hot, uint64_t position)
{
    uint64_t appended = journal_appended(hot->journal);
    return position < appended ? position : appended;
}

bool catch_up_is_done(struct hot_memory *hot, uint64_t position)
{
    return within_journal(hot, position) <= atomic_load(&hot->loads.applied);
}

enum status catch_up(struct hot_memory *hot, uint64_t position)
{
    if (catch_up_is_done(hot, position))
        return STATUS_OK;
    position = within_journal(hot, position);
    journal_kick(hot->journal); /* this thread itself may have appended the last event */
    return hot_memory_reach(hot, position, LIMIT_REACH_MS);
}
