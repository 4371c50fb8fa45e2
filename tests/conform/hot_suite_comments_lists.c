/* Lists that only the store has: WRITTEN, INBOX, QUEUE and HISTORY, page by page. */
#include "hot_suite_comments.h"

static enum status read_list(struct world *world, struct hot_request *request,
                             const struct hot_mark *after, struct hot_cards_page *page)
{
    struct hot_detail detail = {.after = *after};
    request->time_s = world->clock_s;
    request->cards.detail = &detail;
    suite_run(&world->suite, request, 1);
    if (request->status == STATUS_OK)
        *page = world->suite.scratch.pages[request->cards.page];
    request->cards.detail = NULL;
    return request->status;
}

/* Cards in pages, of which all must be there and in the order of world->expected. */
static void check_list(struct world *world, struct hot_request *request, struct model_reader reader,
                       size_t expected)
{
    struct hot_mark after = {0};
    size_t seen = 0;
    do {
        struct hot_cards_page page = {0};
        assert_int_equal(read_list(world, request, &after, &page), STATUS_OK);
        assert_true(page.count <= request->cards.limit);
        for (uint32_t i = 0; i < page.count; i++, seen++) {
            const struct hot_card *card = &world->suite.scratch.cards[page.first + i];
            assert_true(seen < expected);
            assert_true(card->comment.id == world->model->comments[world->expected[seen]].id);
            check_card(world, card, reader);
        }
        after = page.next;
    } while (after.is_set);
    assert_int_equal(seen, expected);
}

void check_written(struct world *world, uint32_t user, uint32_t limit)
{
    struct hot_request request = {
        .action = HOT_WRITTEN, .user = suite_id(user), .cards.limit = limit};
    size_t expected = model_written(world->model, user, world->expected);
    check_list(world, &request, (struct model_reader){.user = MODEL_NOBODY}, expected);
}

void check_queue(struct world *world, bool odd, enum queue_state state, uint32_t limit)
{
    struct hot_request request = {.action = HOT_QUEUE,
                                  .cards.type = suite_item(odd).type,
                                  .cards.queue = (uint8_t)state,
                                  .cards.limit = limit};
    size_t expected = model_queue(world->model, odd, state, world->expected);
    check_list(world, &request, (struct model_reader){.user = MODEL_NOBODY, .all = true}, expected);
}

static void check_entry(struct world *world, const struct hot_inbox_entry *entry,
                        const struct model_entry *expected)
{
    const struct model_comment *it = &world->model->comments[expected->comment];
    assert_true(entry->entry.comment == it->id);
    assert_int_equal(entry->entry.mention, expected->mention);
    assert_int_equal(entry->number, expected->number);
    if (it->author != MODEL_NOBODY)
        assert_true(id_equal(entry->entry.by, suite_id(it->author)));
}

void check_inbox(struct world *world, uint32_t user, uint32_t limit)
{
    const struct model_inbox *inbox = &world->model->inboxes[user];
    struct hot_request request = {.action = HOT_INBOX,
                                  .user = suite_id(user),
                                  .name = UINT8_MAX, /* nobody is blocked */
                                  .cards.type = UINT16_MAX,
                                  .cards.limit = limit};
    struct hot_mark after = {0};
    uint32_t left = inbox->count, unread = 0;
    for (uint32_t i = 0; i < inbox->count; i++)
        unread += inbox->entries[i].number > inbox->seen;
    do {
        struct hot_cards_page page = {0};
        assert_int_equal(read_list(world, &request, &after, &page), STATUS_OK);
        assert_int_equal(page.unread, unread);
        assert_true(page.entry_count <= left);
        for (uint32_t i = 0; i < page.entry_count; i++)
            check_entry(world, &world->suite.scratch.inbox[page.entry_first + i],
                        &inbox->entries[--left]);
        after = page.next;
    } while (after.is_set);
    assert_int_equal(left, 0);
}

void check_history(struct world *world, uint32_t comment)
{
    struct item item = world_item(world, comment);
    struct hot_request request = {.action = HOT_HISTORY, .items = &item, .item_count = 1};
    const struct model_comment *it = &world->model->comments[comment];
    struct model_reader public = {.user = MODEL_NOBODY};
    struct hot_cards_page page = {0};
    struct hot_mark none = {0};
    enum status status = read_list(world, &request, &none, &page);
    if (model_sight(world->model, public, comment) != MODEL_FULL) {
        assert_int_equal(status, STATUS_NO_COMMENT);
        return;
    }
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(page.entry_count, it->text_count);
    for (uint32_t i = 0; i < it->text_count; i++) {
        char text[MODEL_TEXT_MAX];
        const struct hot_version *version = &world->suite.scratch.versions[page.entry_first + i];
        size_t length = model_write_text(it->texts[i].number, text);
        assert_int_equal(version->time_s, it->texts[i].time_s);
        assert_int_equal(version->text.length, length);
        assert_memory_equal(version->text.bytes, text, length);
    }
}

static uint32_t random_limit(struct chance *chance)
{
    return 1 + chance_below(chance, chance_below(chance, 3) == 0 ? LIMIT_COMMENTS : 7);
}

/* Some readers; nobody, a user, or a moderator. */
static struct model_reader random_reader(struct chance *chance)
{
    uint32_t dice = chance_below(chance, MODEL_USERS + 4);
    if (dice < MODEL_USERS)
        return (struct model_reader){.user = dice};
    return (struct model_reader){.user = MODEL_NOBODY, .all = dice == MODEL_USERS};
}

void check_everything(struct world *world, uint32_t subjects)
{
    struct chance *chance = &world->chance;
    for (uint32_t subject = 0; subject < subjects; subject++) {
        check_counts(world, subject);
        for (int order = 0; order < ORDER_TOTAL; order++) {
            struct model_reader reader = random_reader(chance);
            if (world->model->subjects[subject].mode == SUBJECT_CLOSED)
                reader.all = true;
            check_roots(world, subject, (enum comment_order)order, reader, random_limit(chance),
                        (uint8_t)chance_below(chance, LIMIT_REPLIES + 1));
        }
    }
    for (uint32_t i = 0; i < world->model->count; i++) {
        struct model_reader reader = random_reader(chance);
        const struct model_comment *it = &world->model->comments[i];
        check_history(world, i);
        if (world->model->subjects[it->subject].mode == SUBJECT_CLOSED)
            reader.all = true;
        if (model_is_root(world->model, i))
            check_thread(world, i, chance_below(chance, 2) ? ORDER_NEW : ORDER_OLD, reader,
                         random_limit(chance));
    }
    check_cards(world, random_reader(chance));
    for (uint32_t user = 0; user < MODEL_USERS; user++) {
        check_written(world, user, random_limit(chance));
        check_inbox(world, user, random_limit(chance));
    }
    for (int state = QUEUE_PENDING; state <= QUEUE_REPORTED; state++) {
        check_queue(world, false, (enum queue_state)state, random_limit(chance));
        check_queue(world, true, (enum queue_state)state, random_limit(chance));
    }
}
