/* What is kept of comments in memory: cells, the lists of changed comments, eviction, and replay. */
#include "comment_bed.h"

static void test_cells_return_what_they_got(void **state)
{
    (void)state;
    struct memory_budget budget = {.limit = MIB(16)};
    struct slab_pool *pool = slab_pool_new(&budget);
    struct slab slab;
    uint8_t bytes[COMMENT_CONTENT_BYTES], again[COMMENT_CONTENT_BYTES];
    struct chance chance = {test_seed()};
    assert_true(pool != NULL && slab_init(&slab, pool));
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)chance_next(&chance);
    for (int i = 0; i < 4000; i++) {
        bool wide = chance_below(&chance, 2), is_reply = chance_below(&chance, 2);
        struct comment comment = {.id = 1 + i,
                                  .subject = {.id = {.lo = 5, .hi = wide}, .type = 7},
                                  .author = {.lo = 6, .hi = chance_below(&chance, 2)},
                                  .floor = 8,
                                  .time_s = 9,
                                  .edited_s = chance_below(&chance, 2),
                                  .reviewed = chance_below(&chance, 2),
                                  .moderation = (uint8_t)chance_below(&chance, 4),
                                  .deleted = chance_below(&chance, 2),
                                  .was_open = chance_below(&chance, 2)};
        if (is_reply) {
            comment.root = 3;
            comment.reply_to = 4;
            comment.reply_to_user = (struct id){.lo = 1, .hi = chance_below(&chance, 2)};
        } else {
            comment.open_replies = 11;
            comment.next_floor = 12;
        }
        uint32_t length = chance_below(&chance, 3) == 0
                              ? chance_below(&chance, COMMENT_CONTENT_BYTES + 1)
                              : chance_below(&chance, 300);
        struct kept_bytes content = {.where = KEPT_HERE, .bytes = bytes, .length = length};
        uint32_t cell = kept_make_comment(&slab, &comment, 0, content);
        uint32_t copy = kept_copy(&slab, cell);
        assert_true(cell != 0 && copy != 0);
        kept_free(&slab, cell);
        struct kept kept;
        kept_read(kept_at(&slab, copy), &kept);
        assert_memory_equal(&kept.comment, &comment, sizeof comment);
        assert_int_equal(kept.content, KEPT_HERE);
        assert_int_equal(kept.content_length, length);
        kept_copy_content(&slab, kept_at(&slab, copy), again);
        assert_memory_equal(again, bytes, length);
        kept_free(&slab, copy);
    }
    slab_destroy(&slab);
    slab_pool_free(pool);
    assert_int_equal(memory_used(&budget), 0);
}

/* A cached card costs at most 160 bytes beside its text, with its share of the tables and its counters. */
static void test_a_card_is_small(void **state)
{
    (void)state;
    enum { TEXT = 200, TABLES = 13, COUNTERS = ITEM_ROW_SHORT + TABLES };
    struct memory_budget budget = {.limit = MIB(16)};
    struct slab_pool *pool = slab_pool_new(&budget);
    struct slab slab;
    char text[TEXT];
    uint8_t bytes[COMMENT_CONTENT_BYTES];
    assert_true(pool != NULL && slab_init(&slab, pool));
    memset(text, 'a', sizeof text);
    struct comment_content content = {.text = {text, TEXT}, .time_s = START_S};
    struct kept_bytes encoded = {.where = KEPT_HERE, .bytes = bytes};
    encoded.length = (uint32_t)comment_content_encode(&content, bytes);
    struct comment reply = {.id = UINT64_MAX / 2, .root = 1, .reply_to = 2, .floor = 1};
    uint32_t cell = kept_make_comment(&slab, &reply, 0, encoded);
    assert_true(kept_size(&slab, kept_at(&slab, cell)) + TABLES + COUNTERS <= TEXT + 160);
    kept_free(&slab, cell);
    slab_destroy(&slab);
    slab_pool_free(pool);
}

static void test_changed_comments_are_listed(void **state)
{
    (void)state;
    struct comment_bed bed;
    struct item item = subject_number(1);
    uint64_t ids[8];
    enum status status;
    comment_bed_open(&bed, MIB(64), 0);
    uint64_t root = post(&bed, 1, item), other = post(&bed, 1, item), answer = reply(&bed, 2, root);
    assert_int_equal(changed_now(&bed, item, ids, 8, &status), 2);
    assert_true(ids[0] == other && ids[1] == root); /* in the order of their last changes */
    assert_int_equal(changed_now(&bed, comment_number(root), ids, 8, &status), 1);
    assert_true(ids[0] == answer);
    bed_project_all(&bed.bed);
    assert_int_equal(changed_now(&bed, item, ids, 8, &status), 0);
    assert_int_equal(status, STATUS_OK);
    bed_change(&bed.bed, HOT_SET, id_number(5), 0, comment_number(other), bed.clock_s);
    bed_change(&bed.bed, HOT_SET, id_number(5), 0, comment_number(other + 1), bed.clock_s);
    bed_change(&bed.bed, HOT_SET, id_number(6), DISLIKE, comment_number(other), bed.clock_s);
    assert_int_equal(changed_now(&bed, item, ids, 8, &status), 1); /* an item is no comment */
    assert_true(ids[0] == other);
    bed_project_all(&bed.bed);
    bed_evict(&bed.bed);
    bed_change(&bed.bed, HOT_CLEAR, id_number(5), 0, comment_number(other), bed.clock_s);
    assert_int_equal(changed_now(&bed, item, ids, 8, &status), 1); /* a cold one is looked up */
    bed_crash(&bed.bed, bed.clock_s);
    assert_int_equal(changed_now(&bed, item, ids, 8, &status), 2); /* all that was replayed */
    comment_bed_close(&bed);
}

static void test_too_many_changed_comments(void **state)
{
    (void)state;
    struct comment_bed bed;
    struct item item = subject_number(1);
    uint64_t ids[LIMIT_CHANGED + 1];
    enum status status;
    comment_bed_open(&bed, MIB(64), 0);
    for (int i = 0; i < LIMIT_CHANGED; i++)
        post(&bed, 1, item);
    assert_int_equal(changed_now(&bed, item, ids, LIMIT_CHANGED, &status), LIMIT_CHANGED);
    assert_int_equal(status, STATUS_OK);
    uint64_t last = post(&bed, 1, item);
    changed_now(&bed, item, ids, LIMIT_CHANGED, &status);
    assert_int_equal(status, STATUS_LAGGING);
    bed_project(&bed.bed, recorder_count(&bed.bed.recorder) - 1);
    changed_now(&bed, item, ids, LIMIT_CHANGED, &status);
    assert_int_equal(status, STATUS_LAGGING);
    bed_project_all(&bed.bed);
    assert_int_equal(changed_now(&bed, item, ids, LIMIT_CHANGED, &status), 0);
    assert_int_equal(status, STATUS_OK);
    bed_change(&bed.bed, HOT_SET, id_number(5), 0, comment_number(last), bed.clock_s);
    assert_int_equal(changed_now(&bed, item, ids, LIMIT_CHANGED, &status), 1);
    comment_bed_close(&bed);
}

/* Everything about some comments and subjects, so that two moments can be compared. */
struct picture {
    struct query_comment comments[64];
    char texts[64][32];
    struct subject subjects[4];
    int64_t counts[4];
    size_t count;
};

static void take_picture(struct comment_bed *bed, const uint64_t *ids, size_t count,
                         struct picture *out)
{
    memset(out, 0, sizeof *out);
    out->count = count;
    for (size_t i = 0; i < count; i++) {
        struct query_comment now;
        comment_now(bed, ids[i], &now);
        if (now.has_content)
            memcpy(out->texts[i], now.content.text.bytes, now.content.text.length);
        out->comments[i].id = now.id;
        out->comments[i].found = now.found;
        out->comments[i].has_content = now.has_content;
        out->comments[i].comment = now.comment;
    }
    for (size_t i = 0; i < 4; i++) {
        out->subjects[i] = subject_now(bed, subject_number(i));
        out->counts[i] = comments_of(bed, subject_number(i));
    }
}

static void check_same(const struct picture *a, const struct picture *b)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct query_comment *x = &a->comments[i], *y = &b->comments[i];
        assert_true(x->found == y->found && x->has_content == y->has_content);
        assert_string_equal(a->texts[i], b->texts[i]);
        if (x->found)
            assert_memory_equal(&x->comment, &y->comment, sizeof x->comment);
    }
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(a->counts[i], b->counts[i]);
        assert_int_equal(a->subjects[i].roots, b->subjects[i].roots);
        assert_int_equal(a->subjects[i].next_floor, b->subjects[i].next_floor);
        assert_int_equal(a->subjects[i].pin_count, b->subjects[i].pin_count);
        assert_int_equal(a->subjects[i].mode, b->subjects[i].mode);
    }
}

static void do_something(struct comment_bed *bed, struct chance *chance, uint64_t *ids,
                         size_t *count)
{
    uint64_t id = *count > 0 ? ids[chance_below(chance, (uint32_t)*count)] : 0;
    uint64_t user = 1 + chance_below(chance, 3);
    struct hot_request request;
    struct item item = subject_number(chance_below(chance, 4));
    char text[16];
    snprintf(text, sizeof text, "t%u", (unsigned)chance_below(chance, 1000));
    switch (*count < 64 ? chance_below(chance, 8) : 2 + chance_below(chance, 6)) {
    case 0:
    case 1:
        if (id != 0 && chance_below(chance, 2) == 0)
            item = comment_number(id);
        if (post_text(bed, user, item, text, 0, &request) == STATUS_OK)
            ids[(*count)++] = request.comment.id;
        break;
    case 2:
        edit(bed, user, id, text, NULL);
        break;
    case 3:
        act(bed, chance_below(chance, 2) ? HOT_UNCOMMENT : HOT_PURGE, user, id, NULL);
        break;
    case 4:
    case 5:
        moderate(bed, id, (enum comment_moderation)chance_below(chance, 4), NULL);
        break;
    case 6:
        act(bed, chance_below(chance, 2) ? HOT_PIN : HOT_UNPIN, user, id, NULL);
        break;
    default:
        set_mode(bed, item, chance_below(chance, 4) ? SUBJECT_OPEN : SUBJECT_HELD);
    }
}

/* Whatever is evicted, projected, or replayed after a kill: everything is as it was. */
static void test_nothing_changes_behind_the_scenes(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    static struct picture before, after;
    for (int round = 0; round < 6; round++) {
        struct comment_bed bed;
        uint64_t ids[64];
        size_t count = 0;
        comment_bed_open(&bed, MIB(64), 0);
        for (int step = 0; step < 60; step++) {
            for (int i = 0; i < 5; i++)
                do_something(&bed, &chance, ids, &count);
            take_picture(&bed, ids, count, &before);
            switch (chance_below(&chance, 5)) {
            case 0:
                bed_project_all(&bed.bed);
                break;
            case 1:
                bed_flush(&bed.bed);
                break;
            case 2:
                bed_evict(&bed.bed);
                break;
            default:
                bed_crash(&bed.bed, bed.clock_s);
                hot_memory_set_reach(bed.bed.hot, bed_reach, &bed.bed);
            }
            take_picture(&bed, ids, count, &after);
            check_same(&before, &after);
        }
        comment_bed_close(&bed);
    }
}

/* Comments take no more memory than they may, as soon as they are clean. */
static void test_the_share_of_memory(void **state)
{
    (void)state;
    enum { POSTS = 2000 };
    struct comment_bed bed;
    struct query_comment now;
    char text[4000];
    uint64_t ids[POSTS];
    comment_bed_open(&bed, MIB(64), 0);
    struct kept_budget *kept = &hot_memory_of(bed.bed.hot)->comments.kept;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    for (int i = 0; i < POSTS; i++) {
        struct hot_request request;
        assert_int_equal(post_text(&bed, 1, subject_number((uint64_t)i % 50), text, 0, &request),
                         STATUS_OK);
        ids[i] = request.comment.id;
    }
    assert_true(atomic_load(&kept->bytes) > kept->limit);
    bed_project_all(&bed.bed);
    bed_keep(&bed.bed, bed.clock_s);
    assert_true(atomic_load(&kept->bytes) <= kept->limit);
    for (int i = 0; i < POSTS; i++) {
        assert_true(comment_now(&bed, ids[i], &now) && now.has_content);
        assert_int_equal(now.content.text.length, sizeof text - 1);
        assert_true(atomic_load(&kept->bytes) <= kept->limit + KIB(64));
    }
    comment_bed_close(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_return_what_they_got),
        cmocka_unit_test(test_a_card_is_small),
        cmocka_unit_test(test_changed_comments_are_listed),
        cmocka_unit_test(test_too_many_changed_comments),
        cmocka_unit_test(test_nothing_changes_behind_the_scenes),
        cmocka_unit_test(test_the_share_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
