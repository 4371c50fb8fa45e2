#include "support.h"

struct user_bed {
    struct memory_budget budget;
    struct slab_pool *pool;
    struct user_shard shard;
    scan_fn *scan;
};

static void user_bed_open(struct user_bed *bed, uint64_t limit)
{
    memset(bed, 0, sizeof(*bed));
    bed->budget.limit = limit;
    bed->pool = slab_pool_new(&bed->budget);
    bed->scan = scan_choose();
    assert_non_null(bed->pool);
    assert_true(user_shard_init(&bed->shard, bed->pool, 7));
}

static void user_bed_close(struct user_bed *bed)
{
    user_shard_destroy(&bed->shard);
    slab_pool_free(bed->pool);
    assert_int_equal(memory_used(&bed->budget), 0);
}

static uint64_t hash_of(struct id user)
{
    return id_hash(user, 3);
}

static struct user_row *find(struct user_bed *bed, struct id user)
{
    return user_find(&bed->shard, hash_of(user), user);
}

static bool push(struct user_bed *bed, struct id user, uint8_t kind, struct item item,
                 uint8_t flags)
{
    struct user_room room;
    if (!user_reserve(&bed->shard, hash_of(user), find(bed, user), user, kind, item, flags, &room))
        return false;
    user_push(&bed->shard, hash_of(user), user, kind,
              (struct shelf_entry){.id = item.id, .time_s = 5}, item.type, 9, &room);
    return true;
}

static bool has(struct user_bed *bed, struct id user, uint8_t kind, struct item item, uint8_t warm)
{
    struct user_row *row = find(bed, user);
    struct shelf *shelf = row == NULL ? NULL : user_shelf(&bed->shard, row, kind, item, warm);
    return shelf != NULL && shelf_find(&bed->shard.slab, shelf, bed->scan, item.id).chunk != 0;
}

static uint32_t cell_of(struct user_bed *bed, struct id user)
{
    struct table_walk walk = table_walk_start(&bed->shard.table, hash_of(user));
    for (;;) {
        uint32_t cell = table_walk_next(&walk);
        if (cell == 0 || id_equal(user_of(slab_at(&bed->shard.slab, cell)), user))
            return cell;
    }
}

/* What was read of the store has a shelf beside that of what was decided here. */
static void test_warm_shelves_are_apart(void **state)
{
    (void)state;
    struct user_bed bed;
    struct id user = id_number(2);
    user_bed_open(&bed, MIB(1));
    assert_true(push(&bed, user, 1, item_number(0), 0));
    assert_true(push(&bed, user, 1, item_number(2), SHELF_WARM));
    assert_true(has(&bed, user, 1, item_number(0), 0));
    assert_false(has(&bed, user, 1, item_number(0), SHELF_WARM));
    assert_true(has(&bed, user, 1, item_number(2), SHELF_WARM));
    assert_false(has(&bed, user, 1, item_number(2), 0));
    assert_int_equal(bed.shard.shelves, 2);
    user_bed_close(&bed);
}

static void test_a_new_shelf_is_as_told(void **state)
{
    (void)state;
    struct user_bed bed;
    struct id user = id_number(1);
    user_bed_open(&bed, MIB(1));
    assert_true(push(&bed, user, 1, item_number(0), SHELF_INCOMPLETE));
    assert_true(push(&bed, user, 2, item_number(0), 0));
    assert_true(push(&bed, user, 2, item_number(2), SHELF_INCOMPLETE)); /* it is there already */
    struct user_row *row = find(&bed, user);
    assert_true(user_shelf(&bed.shard, row, 1, item_number(0), 0)->flags & SHELF_INCOMPLETE);
    assert_false(user_shelf(&bed.shard, row, 2, item_number(0), 0)->flags & SHELF_INCOMPLETE);
    user_bed_close(&bed);
}

enum { USERS = 200, KINDS = 4, ITEMS = 40 };

struct crowd {
    struct user_bed bed;
    struct chance chance;
    bool live[USERS][KINDS][ITEMS];
};

static void change(struct crowd *crowd)
{
    struct user_bed *bed = &crowd->bed;
    uint32_t number = chance_below(&crowd->chance, USERS);
    struct id user = id_number(number);
    uint8_t kind = (uint8_t)chance_below(&crowd->chance, KINDS);
    uint32_t item = chance_below(&crowd->chance, ITEMS);
    uint8_t warm = item % 8 == 7 ? SHELF_WARM : 0;
    bool *live = &crowd->live[number][kind][item];
    assert_int_equal(has(bed, user, kind, item_number(item), warm), *live);
    if (!*live) {
        assert_true(push(bed, user, kind, item_number(item), warm));
        *live = true;
    } else if (chance_below(&crowd->chance, 20) != 0) {
        struct user_row *row = find(bed, user);
        struct shelf *shelf = user_shelf(&bed->shard, row, kind, item_number(item), warm);
        user_remove(&bed->shard, row, shelf,
                    shelf_find(&bed->shard.slab, shelf, bed->scan, item_number(item).id));
        *live = false;
    } else {
        user_evict(&bed->shard, hash_of(user), cell_of(bed, user));
        assert_null(find(bed, user));
        memset(crowd->live[number], 0, sizeof(crowd->live[number]));
    }
}

static void move_all(struct crowd *crowd)
{
    struct user_shard *shard = &crowd->bed.shard;
    slab_retire_begin(&shard->slab, 1 + chance_below(&crowd->chance, 4));
    for (uint32_t i = 0; i < USERS; i++) {
        uint32_t cell = cell_of(&crowd->bed, id_number(i));
        if (cell != 0)
            assert_true(user_relocate(shard, hash_of(id_number(i)), &cell));
        assert_int_equal(cell, cell_of(&crowd->bed, id_number(i)));
    }
    bed_move_table(&shard->table);
    assert_int_equal(slab_retire_left(&shard->slab), 0);
    slab_retire_end(&shard->slab);
}

/* Users with all sorts of shelves come, move and go; nobody else's are touched. */
static void test_moving_and_evicting(void **state)
{
    (void)state;
    static struct crowd crowd;
    memset(&crowd, 0, sizeof(crowd));
    crowd.chance.state = test_seed();
    user_bed_open(&crowd.bed, MIB(8));
    for (uint32_t step = 0; step < 60000; step++) {
        change(&crowd);
        if (step % 500 == 0)
            move_all(&crowd);
    }
    uint64_t count = 0;
    for (uint32_t i = 0; i < sizeof(crowd.live); i++)
        count += ((const bool *)crowd.live)[i];
    const struct user_shard *shard = &crowd.bed.shard;
    assert_int_equal(shard->reactions, count);
    for (uint32_t i = 0; i < USERS; i++)
        if (cell_of(&crowd.bed, id_number(i)) != 0)
            user_evict(&crowd.bed.shard, hash_of(id_number(i)), cell_of(&crowd.bed, id_number(i)));
    assert_int_equal(shard->reactions, 0);
    assert_int_equal(shard->shelves, 0);
    assert_int_equal(shard->table.rows, 0);
    user_bed_close(&crowd.bed);
}

/* Room that was refused or given back is all there for the next. */
static void test_room_is_given_back(void **state)
{
    (void)state;
    struct user_bed bed;
    user_bed_open(&bed, MIB(1));
    uint32_t users = 0;
    while (push(&bed, id_number(users), 1, item_number(1), 0))
        users++;
    assert_true(users > 1000);
    for (int i = 0; i < 10000; i++)
        assert_false(push(&bed, id_number(users), 1, item_number(1), 0));
    user_evict(&bed.shard, hash_of(id_number(0)), cell_of(&bed, id_number(0)));
    for (int i = 0; i < 10000; i++) {
        struct user_room room;
        struct id user = id_number(0);
        assert_true(
            user_reserve(&bed.shard, hash_of(user), NULL, user, 1, item_number(1), 0, &room));
        user_release(&bed.shard, user, 1, item_number(1), &room);
    }
    assert_true(push(&bed, id_number(0), 1, item_number(1), 0));
    user_bed_close(&bed);
}

static struct cleared_key key_number(uint32_t number)
{
    return (struct cleared_key){.user = id_number(number % 7),
                                .item = item_number(number / 7),
                                .kind = (uint8_t)(number % 3)};
}

/* It may forget, but never say so of what was not noted or was taken out. */
static void test_absent_keys(void **state)
{
    (void)state;
    enum { KEYS = 1000 };
    struct user_bed bed;
    struct chance chance = {test_seed()};
    static bool absent[KEYS];
    uint64_t known = 0;
    memset(absent, 0, sizeof(absent));
    user_bed_open(&bed, MIB(1));
    assert_false(user_absent_has(&bed.shard, &(struct cleared_key){0}));
    for (uint32_t step = 0; step < 100000; step++) {
        uint32_t number = chance_below(&chance, KEYS);
        struct cleared_key key = key_number(number);
        if (user_absent_has(&bed.shard, &key)) {
            assert_true(absent[number]);
            known++;
        }
        if (chance_below(&chance, 2) == 0) {
            user_absent_add(&bed.shard, &key);
            assert_true(user_absent_has(&bed.shard, &key));
            absent[number] = true;
        } else {
            user_absent_remove(&bed.shard, &key);
            assert_false(user_absent_has(&bed.shard, &key));
            absent[number] = false;
        }
    }
    assert_true(known > 0);
    user_bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_warm_shelves_are_apart),
        cmocka_unit_test(test_a_new_shelf_is_as_told),
        cmocka_unit_test(test_moving_and_evicting),
        cmocka_unit_test(test_room_is_given_back),
        cmocka_unit_test(test_absent_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
