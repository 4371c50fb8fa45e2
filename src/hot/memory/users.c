/*
 * Most users have a shelf or two, so shelves are found by walking; a row's first shelf is taken
 * over for another kind or type once it is empty and owes nothing to the store.
 */
#include "hot/memory/users.h"

#include <string.h>

#include "base/assert.h"

static size_t user_row_size(struct id user)
{
    return sizeof(struct user_row) + (id_is_wide(user) ? sizeof(uint64_t) : 0);
}

bool user_shard_init(struct user_shard *shard, struct slab_pool *pool)
{
    memset(shard, 0, sizeof(*shard));
    pthread_mutex_init(&shard->lock, NULL);
    table_init(&shard->table, &shard->slab);
    return slab_init(&shard->slab, pool);
}

void user_shard_destroy(struct user_shard *shard)
{
    table_destroy(&shard->table);
    slab_destroy(&shard->slab);
    pthread_mutex_destroy(&shard->lock);
}

struct user_row *user_find(const struct user_shard *shard, uint64_t hash, struct id user,
                           struct user_row *guess)
{
    if (guess != NULL && id_equal(user_of(guess), user))
        return guess;
    struct table_walk walk = table_walk_start(&shard->table, hash);
    for (;;) {
        uint32_t cell = table_walk_next(&walk);
        if (cell == 0)
            return NULL;
        struct user_row *row = slab_at(&shard->slab, cell);
        if (id_equal(user_of(row), user))
            return row;
    }
}

static uint8_t shelf_flags(struct item item)
{
    return id_is_wide(item.id) ? SHELF_USED | SHELF_WIDE : SHELF_USED;
}

struct shelf *user_shelf(const struct user_shard *shard, struct user_row *row, uint8_t kind,
                         struct item item)
{
    uint8_t flags = shelf_flags(item);
    for (struct shelf *shelf = &row->first; shelf != NULL; shelf = user_next_shelf(shard, shelf))
        if (shelf->kind == kind && shelf->type == item.type &&
            (shelf->flags & (SHELF_USED | SHELF_WIDE)) == flags)
            return shelf;
    return NULL;
}

static struct shelf shelf_empty(uint8_t kind, struct item item)
{
    return (struct shelf){.kind = kind, .type = item.type, .flags = shelf_flags(item)};
}

bool user_reserve(struct user_shard *shard, uint64_t hash, struct user_row *row, struct id user,
                  uint8_t kind, struct item item, struct user_room *room)
{
    *room = (struct user_room){.row = row};
    struct shelf empty = shelf_empty(kind, item);
    if (row != NULL)
        room->shelf = user_shelf(shard, row, kind, item);
    const struct shelf *shelf = room->shelf != NULL ? room->shelf : &empty;
    if (row == NULL) {
        if (!table_reserve(&shard->table, hash))
            return false;
        room->row_cell = slab_alloc(&shard->slab, user_row_size(user));
        if (room->row_cell == 0)
            return false;
    } else if (room->shelf == NULL && row->first.flags & SHELF_USED) {
        room->shelf_cell = slab_alloc(&shard->slab, sizeof(struct shelf));
        if (room->shelf_cell == 0)
            return false;
    }
    size_t chunk_size = shelf_chunk_size(&shard->slab, shelf);
    if (chunk_size == 0)
        return true;
    room->chunk_cell = slab_alloc(&shard->slab, chunk_size);
    if (room->chunk_cell != 0)
        return true;
    user_release(shard, user, kind, item, room);
    return false;
}

void user_release(struct user_shard *shard, struct id user, uint8_t kind, struct item item,
                  struct user_room *room)
{
    struct shelf empty = shelf_empty(kind, item);
    const struct shelf *shelf = room->shelf != NULL ? room->shelf : &empty;
    if (room->chunk_cell != 0)
        slab_free(&shard->slab, room->chunk_cell, shelf_chunk_size(&shard->slab, shelf));
    if (room->shelf_cell != 0)
        slab_free(&shard->slab, room->shelf_cell, sizeof(struct shelf));
    if (room->row_cell != 0)
        slab_free(&shard->slab, room->row_cell, user_row_size(user));
    *room = (struct user_room){0};
}

static struct user_row *row_make(struct user_shard *shard, uint64_t hash, struct id user,
                                 uint32_t cell)
{
    struct user_row *row = slab_at(&shard->slab, cell);
    *row = (struct user_row){.id_lo = user.lo};
    if (id_is_wide(user)) {
        row->first.flags = SHELF_ROW_WIDE;
        row->id_hi[0] = user.hi;
    }
    table_insert(&shard->table, hash, cell);
    return row;
}

static struct shelf *shelf_make(struct user_shard *shard, struct user_row *row, uint8_t kind,
                                struct item item, uint32_t cell)
{
    struct shelf *shelf = &row->first;
    if (cell != 0) {
        shelf = slab_at(&shard->slab, cell);
        *shelf = (struct shelf){.next = row->first.next};
        row->first.next = cell;
    }
    ASSERT(shelf->count == 0 && shelf_newest(shelf) == 0);
    shelf->kind = kind;
    shelf->type = item.type;
    shelf->flags |= shelf_flags(item);
    shard->shelves++;
    return shelf;
}

struct shelf *user_push(struct user_shard *shard, uint64_t hash, struct id user, uint8_t kind,
                        struct item item, uint32_t time_s, struct user_room *room)
{
    if (room->row == NULL)
        room->row = row_make(shard, hash, user, room->row_cell);
    if (room->shelf == NULL)
        room->shelf = shelf_make(shard, room->row, kind, item, room->shelf_cell);
    shelf_push(&shard->slab, room->shelf, room->chunk_cell,
               (struct shelf_entry){.id = item.id, .time_s = time_s});
    shard->reactions++;
    return room->shelf;
}

static void shelf_retire(struct user_shard *shard, struct user_row *row, struct shelf *shelf)
{
    shard->shelves--;
    if (shelf == &row->first) {
        shelf->flags &= SHELF_ROW_WIDE;
        return;
    }
    struct shelf *before = &row->first;
    while (user_next_shelf(shard, before) != shelf)
        before = user_next_shelf(shard, before);
    uint32_t cell = before->next;
    before->next = shelf->next;
    slab_free(&shard->slab, cell, sizeof(*shelf));
}

void user_remove(struct user_shard *shard, struct user_row *row, struct shelf *shelf,
                 struct shelf_place place)
{
    shelf_remove(&shard->slab, shelf, place);
    ASSERT(shard->reactions != 0);
    shard->reactions--;
    if (shelf->count == 0 && !(shelf->flags & SHELF_INCOMPLETE))
        shelf_retire(shard, row, shelf);
}
