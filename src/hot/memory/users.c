/*
 * Most users have one or two shelves, so a shelf is found by walking over all of them. A row's first shelf
 * is reused for another kind or type once it is empty. The number of shelves is bounded (LIMIT_SHELVES),
 * because a walk holds the shard's lock.
 */
#include "hot/memory/users.h"

#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/limits.h"

#define SHELF_IDENTITY                                                                             \
    (SHELF_USED | SHELF_WIDE | SHELF_WARM) /* the flags that distinguish shelves */
#define ABSENT_SEED 0x6f1d3c7b95a2e804ULL

static size_t user_row_size(struct id user)
{
    return sizeof(struct user_row) + (id_is_wide(user) ? sizeof(uint64_t) : 0);
}

bool user_shard_init(struct user_shard *shard, struct slab_pool *pool, uint64_t seed)
{
    memset(shard, 0, sizeof(*shard));
    pthread_mutex_init(&shard->lock, NULL);
    table_init(&shard->table, &shard->slab);
    cleared_init(&shard->cleared, &shard->slab, seed);
    return slab_init(&shard->slab, pool);
}

void user_shard_destroy(struct user_shard *shard)
{
    cleared_destroy(&shard->cleared);
    table_destroy(&shard->table);
    slab_destroy(&shard->slab);
    pthread_mutex_destroy(&shard->lock);
}

struct user_row *user_find(const struct user_shard *shard, uint64_t hash, struct id user)
{
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

static uint8_t shelf_identity(struct id id, uint8_t flags)
{
    return (uint8_t)(SHELF_USED | (id_is_wide(id) ? SHELF_WIDE : 0) | (flags & SHELF_WARM));
}

struct shelf *user_shelf(const struct user_shard *shard, struct user_row *row, uint8_t kind,
                         struct item item, uint8_t warm)
{
    uint8_t flags = shelf_identity(item.id, warm);
    for (struct shelf *shelf = &row->first; shelf != NULL; shelf = user_next_shelf(shard, shelf))
        if (shelf->kind == kind && shelf->type == item.type &&
            (shelf->flags & SHELF_IDENTITY) == flags)
            return shelf;
    return NULL;
}

static struct shelf shelf_new(uint8_t kind, struct item item, uint8_t flags)
{
    return (struct shelf){
        .kind = kind,
        .type = item.type,
        .flags =
            (uint8_t)(shelf_identity(item.id, flags) | (flags & (SHELF_INCOMPLETE | SHELF_SOLE))),
    };
}

bool user_reserve(struct user_shard *shard, uint64_t hash, struct user_row *row, struct id user,
                  uint8_t kind, struct item item, uint8_t flags, struct user_room *room)
{
    *room = (struct user_room){.row = row, .flags = flags};
    struct shelf empty = shelf_new(kind, item, flags);
    if (row != NULL)
        room->shelf = user_shelf(shard, row, kind, item, flags);
    const struct shelf *shelf = room->shelf != NULL ? room->shelf : &empty;
    size_t chunk_size = shelf_chunk_size(&shard->slab, shelf);
    if (row == NULL)
        return table_reserve(&shard->table, hash) &&
               slab_alloc_two(&shard->slab, user_row_size(user), chunk_size, &room->row_cell,
                              &room->chunk_cell);
    if (room->shelf == NULL && row->first.flags & SHELF_USED) {
        room->shelf_cell = slab_alloc(&shard->slab, sizeof(struct shelf));
        if (room->shelf_cell == 0)
            return false;
    }
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
    struct shelf empty = shelf_new(kind, item, room->flags);
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

static struct shelf *shelf_make(struct user_shard *shard, struct user_row *row, struct shelf made,
                                uint32_t cell)
{
    struct shelf *shelf = &row->first;
    if (cell != 0) {
        shelf = slab_at(&shard->slab, cell);
        *shelf = (struct shelf){.next = row->first.next};
        row->first.next = cell;
    }
    ASSERT(shelf->count == 0 && shelf_newest(shelf) == 0);
    shelf->kind = made.kind;
    shelf->type = made.type;
    shelf->flags |= made.flags;
    shard->shelves++;
    return shelf;
}

struct shelf *user_push(struct user_shard *shard, uint64_t hash, struct id user, uint8_t kind,
                        struct shelf_entry entry, uint16_t type, uint32_t stamp,
                        struct user_room *room)
{
    if (room->row == NULL)
        room->row = row_make(shard, hash, user, room->row_cell);
    if (room->shelf == NULL)
        room->shelf =
            shelf_make(shard, room->row,
                       shelf_new(kind, (struct item){.id = entry.id, .type = type}, room->flags),
                       room->shelf_cell);
    shelf_push(&shard->slab, room->shelf, room->chunk_cell, entry, stamp);
    shard->reactions++;
    return room->shelf;
}

void user_retire_shelf(struct user_shard *shard, struct user_row *row, struct shelf *shelf)
{
    ASSERT(shelf->count == 0 && shelf_newest(shelf) == 0);
    shard->shelves--;
    if (shelf == &row->first) {
        shelf->flags &= SHELF_ROW_WIDE | SHELF_AGE;
        return;
    }
    struct shelf *before = &row->first;
    while (user_next_shelf(shard, before) != shelf)
        before = user_next_shelf(shard, before);
    uint32_t cell = before->next;
    before->next = shelf->next;
    slab_free(&shard->slab, cell, sizeof(*shelf));
}

bool user_has_many_shelves(const struct user_shard *shard, const struct user_row *row)
{
    uint32_t count = 1;
    for (const struct shelf *shelf = &row->first; count < LIMIT_SHELVES && shelf->next != 0;
         shelf = user_next_shelf(shard, shelf))
        count++;
    return count >= LIMIT_SHELVES;
}

/* Evicts the oldest shelf that can go, but not the row's first one, which is mostly in use. */
bool user_drop_shelf(struct user_shard *shard, struct user_row *row, uint16_t but, uint32_t clean)
{
    struct shelf *found = NULL;
    for (struct shelf *shelf = user_next_shelf(shard, &row->first); shelf != NULL;
         shelf = user_next_shelf(shard, shelf))
        if (shelf->type != but && shelf_stamp(&shard->slab, shelf) < clean)
            found = shelf;
    if (found == NULL)
        return false;
    shard->reactions -= found->count;
    shelf_empty(&shard->slab, found);
    user_retire_shelf(shard, row, found);
    return true;
}

void user_remove(struct user_shard *shard, struct user_row *row, struct shelf *shelf,
                 struct shelf_slot slot)
{
    shelf_remove(&shard->slab, shelf, slot);
    ASSERT(shard->reactions != 0);
    shard->reactions--;
    if (shelf->count == 0)
        user_retire_shelf(shard, row, shelf);
}

static void shelf_forget(struct user_shard *shard, struct shelf *shelf)
{
    if (!(shelf->flags & SHELF_USED))
        return;
    shard->shelves--;
    shard->reactions -= shelf->count;
    shelf_empty(&shard->slab, shelf);
}

void user_evict(struct user_shard *shard, uint64_t hash, uint32_t cell)
{
    struct user_row *row = slab_at(&shard->slab, cell);
    shelf_forget(shard, &row->first);
    for (uint32_t at = row->first.next; at != 0;) {
        struct shelf *shelf = slab_at(&shard->slab, at);
        uint32_t next = shelf->next;
        shelf_forget(shard, shelf);
        slab_free(&shard->slab, at, sizeof(*shelf));
        at = next;
    }
    table_remove(&shard->table, hash, cell);
    slab_free(&shard->slab, cell, user_row_size(user_of(row)));
}

/* Copies a cell of `size` bytes to another page; 0: no memory. */
static uint32_t cell_copy(struct slab *slab, uint32_t cell, size_t size)
{
    uint32_t relocated = slab_alloc(slab, size);
    if (relocated == 0)
        return 0;
    memcpy(slab_at(slab, relocated), slab_at(slab, cell), size);
    slab_free(slab, cell, size);
    return relocated;
}

bool user_relocate(struct user_shard *shard, uint64_t hash, uint32_t *cell)
{
    struct slab *slab = &shard->slab;
    struct user_row *row = slab_at(slab, *cell);
    if (slab_is_retiring(slab, *cell)) {
        uint32_t relocated = cell_copy(slab, *cell, user_row_size(user_of(row)));
        if (relocated == 0)
            return false;
        table_replace(&shard->table, hash, *cell, relocated);
        *cell = relocated;
        row = slab_at(slab, relocated);
    }
    for (struct shelf *shelf = &row->first; shelf != NULL; shelf = user_next_shelf(shard, shelf)) {
        if (!shelf_relocate(slab, shelf))
            return false;
        if (shelf->next != 0 && slab_is_retiring(slab, shelf->next)) {
            uint32_t relocated = cell_copy(slab, shelf->next, sizeof(*shelf));
            if (relocated == 0)
                return false;
            shelf->next = relocated;
        }
    }
    return true;
}

static uint32_t absent_slot(const struct cleared_key *key)
{
    return (uint32_t)hash_mix(id_hash(key->user, ABSENT_SEED + key->kind),
                              item_hash(key->item, ABSENT_SEED)) &
           (ABSENT_KEYS - 1);
}

bool user_absent_has(const struct user_shard *shard, const struct cleared_key *key)
{
    if (!shard->absent_any)
        return false;
    uint32_t slot = absent_slot(key);
    const struct cleared_key *there = &shard->absent[slot].key;
    return shard->absent[slot].used && id_equal(there->user, key->user) &&
           item_equal(there->item, key->item) && there->kind == key->kind;
}

void user_absent_add(struct user_shard *shard, const struct cleared_key *key)
{
    uint32_t slot = absent_slot(key);
    shard->absent[slot].key = *key;
    shard->absent[slot].used = true;
    shard->absent_any = true;
}

void user_absent_remove(struct user_shard *shard, const struct cleared_key *key)
{
    if (user_absent_has(shard, key))
        shard->absent[absent_slot(key)].used = false;
}
