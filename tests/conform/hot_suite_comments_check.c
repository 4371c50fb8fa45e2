/* Pages, cards and counters of the tier, compared with the lists and rules of the model. */
#include "hot_suite_comments.h"

static const uint8_t vote_names[MODEL_VOTES] = {NAME_INDEX_LIKE, SUITE_DISLIKE, SUITE_REPORT};

static int64_t counter_of(const struct hot_scratch *scratch, const struct hot_card *card,
                          uint8_t name)
{
    for (uint32_t i = 0; i < card->counter_count; i++)
        if (scratch->counters[card->counter_first + i].name == name)
            return scratch->counters[card->counter_first + i].value;
    return 0;
}

static void check_counters(struct world *world, const struct hot_card *card, uint32_t comment)
{
    const struct hot_scratch *scratch = &world->suite.scratch;
    for (int vote = 0; vote < MODEL_VOTES; vote++)
        assert_int_equal(counter_of(scratch, card, vote_names[vote]),
                         model_votes(world->model, comment, (enum model_vote)vote));
    assert_int_equal(counter_of(scratch, card, NAME_INDEX_COMMENT),
                     model_comment_count(world->model, comment));
}

static void check_reactions(struct world *world, const struct hot_card *card,
                            struct model_reader reader, uint32_t comment)
{
    const struct model_comment *it = &world->model->comments[comment];
    uint32_t owner = world->model->subjects[it->subject].owner;
    for (int vote = 0; vote < MODEL_VOTES; vote++)
        assert_int_equal(kind_set_has(&card->mine, vote_names[vote]),
                         reader.user != MODEL_NOBODY && it->votes[vote][reader.user]);
    assert_int_equal(card->owner_liked, owner != MODEL_NOBODY && it->votes[MODEL_LIKE][owner]);
    assert_int_equal(card->pinned, model_is_pinned(world->model, comment));
}

static void check_content(const struct hot_card *card, const struct model_comment *it, bool full)
{
    char text[MODEL_TEXT_MAX];
    assert_int_equal(card->is_shown, full);
    if (!full) {
        assert_int_equal(card->text.length, 0);
        assert_int_equal(card->extra.length, 0);
        return;
    }
    size_t length = model_write_text(it->texts[0].number, text);
    assert_int_equal(card->text.length, length);
    assert_memory_equal(card->text.bytes, text, length);
    assert_int_equal(card->extra.length != 0, it->has_extra);
}

void check_card(struct world *world, const struct hot_card *card, struct model_reader reader)
{
    const struct comment_model *model = world->model;
    uint32_t comment = model_find(model, card->comment.id);
    assert_int_not_equal(comment, MODEL_NONE);
    const struct model_comment *it = &model->comments[comment];
    enum model_sight sight = model_sight(model, reader, comment);
    assert_int_not_equal(sight, MODEL_NOTHING);
    assert_true(card->exists);
    assert_int_equal(card->comment.floor, it->floor);
    assert_int_equal(card->comment.time_s, it->time_s);
    assert_int_equal(card->comment.deleted, it->deleted);
    assert_int_equal(card->comment.moderation, model_shown_state(model, reader, comment));
    assert_int_equal(card->comment.anonymous, it->author == MODEL_NOBODY);
    assert_true(item_equal(card->comment.subject, suite_item(it->subject)));
    if (it->author != MODEL_NOBODY)
        assert_true(id_equal(card->comment.author, suite_id(it->author)));
    assert_true(card->comment.reply_to ==
                (it->reply_to == MODEL_NONE ? 0 : model->comments[it->reply_to].id));
    if (sight == MODEL_FULL)
        assert_int_equal(card->comment.edited_s, it->edited_s);
    check_content(card, it, sight == MODEL_FULL);
    check_counters(world, card, comment);
    check_reactions(world, card, reader, comment);
}

/* The replies that a root is shown with: the first ones by floor, from `at` on. */
static void check_replies(struct world *world, const struct hot_card *root,
                          struct model_reader reader, uint8_t most, uint32_t at_floor)
{
    const struct comment_model *model = world->model;
    uint32_t number = model_find(model, root->comment.id);
    uint32_t *expected = malloc((model->count + 1) * sizeof *expected);
    assert_non_null(expected);
    size_t all = model_thread(model, number, ORDER_OLD, reader, expected), shown = 0;
    uint32_t open = 0;
    for (size_t i = 0; i < all && shown < most; i++) {
        if (model->comments[expected[i]].floor < at_floor)
            continue;
        assert_true(shown < root->reply_count);
        const struct hot_card *card =
            &world->suite.scratch.cards[root->reply_first + (uint32_t)shown++];
        assert_true(card->comment.id == model->comments[expected[i]].id);
        check_card(world, card, reader);
        open += model_is_open(model, expected[i]);
    }
    assert_int_equal(root->reply_count, shown);
    uint32_t n =
        reader.all || model_has_thread(model, number) ? model_open_replies(model, number) : 0;
    assert_int_equal(root->more, n - open);
    free(expected);
}

static void check_subject(struct world *world, uint32_t subject, const struct hot_cards_page *page)
{
    const struct model_subject *it = &world->model->subjects[subject];
    assert_true(item_equal(page->subject.item, suite_item(subject)));
    assert_int_equal(page->subject.has_owner, it->owner != MODEL_NOBODY);
    if (page->subject.has_owner)
        assert_true(id_equal(page->subject.owner, suite_id(it->owner)));
    assert_int_equal(page->subject.mode, it->mode);
    assert_int_equal(page->subject.roots, model_subject_roots(world->model, subject));
    assert_int_equal(page->comments, model_subject_count(world->model, subject));
    assert_int_equal(page->subject.pin_count, it->pin_count);
    for (uint32_t i = 0; i < it->pin_count; i++)
        assert_true(page->subject.pins[i] == world->model->comments[it->pins[i]].id);
}

static void check_pins(struct world *world, uint32_t subject, struct model_reader reader,
                       const struct hot_cards_page *page)
{
    const struct model_subject *it = &world->model->subjects[subject];
    assert_int_equal(page->pinned_count, it->pin_count);
    for (uint32_t i = 0; i < it->pin_count; i++) {
        const struct hot_card *card = &world->suite.scratch.cards[page->pinned_first + i];
        assert_true(card->comment.id == world->model->comments[it->pins[i]].id);
        check_card(world, card, reader);
    }
}

/* Appends the comments of a page after its first `skip` ones; returns how many there are then. */
static size_t join(struct world *world, const struct page_request *ask,
                   const struct hot_cards_page *page, uint32_t skip, size_t joined)
{
    bool roots = ask->item.type != SUITE_COMMENT_TYPE;
    for (uint32_t i = 0; i < page->count; i++) {
        const struct hot_card *card = &world->suite.scratch.cards[page->first + i];
        check_card(world, card, ask->reader);
        if (roots)
            check_replies(world, card, ask->reader, ask->replies, 0);
        if (i < skip)
            continue;
        assert_true(joined < world->room);
        world->joined[joined++] = model_find(world->model, card->comment.id);
    }
    return joined;
}

static void compare(struct world *world, size_t joined, size_t expected)
{
    assert_int_equal(joined, expected);
    for (size_t i = 0; i < expected; i++)
        assert_int_equal(world->joined[i], world->expected[i]);
}

/* From the last page back to the first. The pages before it are put in front of it. */
static void check_backwards(struct world *world, struct page_request *ask,
                            struct hot_cards_page page, size_t on_last, size_t expected)
{
    size_t from = expected - on_last;
    while (page.back.is_set) {
        ask->after = page.back;
        assert_true(ask->after.back);
        assert_int_equal(world_page(world, ask, &page), STATUS_OK);
        assert_true(page.count <= from);
        from -= page.count;
        join(world, ask, &page, 0, from);
    }
    assert_int_equal(from, 0);
    compare(world, expected, expected);
}

/* Returns how many cards stand before the first page; the expected list is in world->expected. */
static void check_pages(struct world *world, struct page_request *ask, size_t expected,
                        uint32_t before, uint32_t subject)
{
    struct hot_cards_page page = {0};
    size_t joined = 0, on_last = 0;
    bool is_first = true;
    do {
        assert_int_equal(world_page(world, ask, &page), STATUS_OK);
        check_subject(world, subject, &page);
        if (is_first && ask->item.type != SUITE_COMMENT_TYPE)
            check_pins(world, subject, ask->reader, &page);
        assert_true(page.count >= (is_first ? before : 0));
        on_last = page.count - (is_first ? before : 0);
        assert_true(on_last <= ask->limit);
        joined = join(world, ask, &page, is_first ? before : 0, joined);
        assert_true(!page.next.is_set || on_last > 0);
        ask->after = page.next;
        is_first = false;
    } while (page.next.is_set);
    compare(world, joined, expected);
    if (joined > on_last)
        memset(world->joined, 0xff, (joined - on_last) * sizeof *world->joined);
    check_backwards(world, ask, page, on_last, expected);
}

void check_roots(struct world *world, uint32_t subject, enum comment_order order,
                 struct model_reader reader, uint32_t limit, uint8_t replies)
{
    struct page_request ask = {.item = suite_item(subject),
                               .order = order,
                               .reader = reader,
                               .limit = limit,
                               .replies = replies};
    size_t before = 0;
    if (comment_order_has_key(order)) {
        struct hot_cards_page page;
        before = model_before(world->model, subject, reader, world->expected);
        assert_int_equal(world_page(world, &ask, &page), STATUS_OK);
        assert_true(page.count >= before);
        for (size_t i = 0; i < before; i++)
            assert_true(world->suite.scratch.cards[page.first + i].comment.id ==
                        world->model->comments[world->expected[i]].id);
    }
    size_t expected = model_roots(world->model, subject, order, reader, world->expected);
    check_pages(world, &ask, expected, (uint32_t)before, subject);
}

void check_thread(struct world *world, uint32_t root, enum comment_order order,
                  struct model_reader reader, uint32_t limit)
{
    struct page_request ask = {
        .item = world_item(world, root), .order = order, .reader = reader, .limit = limit};
    struct hot_cards_page page;
    if (model_sight(world->model, reader, root) == MODEL_NOTHING) {
        assert_int_equal(world_page(world, &ask, &page), STATUS_NO_COMMENT);
        return;
    }
    size_t expected = model_thread(world->model, root, order, reader, world->expected);
    check_pages(world, &ask, expected, 0, world->model->comments[root].subject);
}

void check_counts(struct world *world, uint32_t subject)
{
    struct item item = suite_item(subject);
    struct hot_request request = {
        .action = HOT_SUBJECT, .items = &item, .item_count = 1, .time_s = world->clock_s};
    suite_run(&world->suite, &request, 1);
    assert_int_equal(request.status, STATUS_OK);
    check_subject(world, subject, &world->suite.scratch.pages[request.cards.page]);
    assert_int_equal(suite_count(&world->suite, item, NAME_INDEX_COMMENT),
                     model_subject_count(world->model, subject));
    for (uint32_t i = 0; i < world->model->count; i++)
        if (world->model->comments[i].subject == subject && !world->model->comments[i].dropped)
            assert_int_equal(suite_count(&world->suite, world_item(world, i), NAME_INDEX_COMMENT),
                             model_comment_count(world->model, i));
}

static void check_some_cards(struct world *world, struct model_reader reader, uint32_t first,
                             uint32_t count)
{
    struct item items[LIMIT_CARDS];
    struct hot_detail detail = {.has_reader = reader.user != MODEL_NOBODY};
    if (detail.has_reader)
        detail.reader = suite_id(reader.user);
    for (uint32_t i = 0; i < count; i++)
        items[i] = world_item(world, first + i);
    struct hot_request request = {.action = HOT_CARDS,
                                  .items = items,
                                  .item_count = count,
                                  .time_s = world->clock_s,
                                  .cards.detail = &detail,
                                  .cards.all = reader.all};
    suite_run(&world->suite, &request, 1);
    assert_int_equal(request.status, STATUS_OK);
    const struct hot_cards_page page = world->suite.scratch.pages[request.cards.page];
    assert_int_equal(page.count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct hot_card *card = &world->suite.scratch.cards[page.first + i];
        assert_true(card->comment.id == items[i].id.lo);
        if (model_sight(world->model, reader, first + i) == MODEL_NOTHING)
            assert_true(!card->exists && !card->is_shown && card->text.length == 0);
        else
            check_card(world, card, reader);
    }
}

void check_cards(struct world *world, struct model_reader reader)
{
    for (uint32_t at = 0; at < world->model->count; at += LIMIT_CARDS) {
        uint32_t left = world->model->count - at;
        check_some_cards(world, reader, at, left < LIMIT_CARDS ? left : LIMIT_CARDS);
    }
}
