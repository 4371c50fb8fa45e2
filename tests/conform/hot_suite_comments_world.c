/* Decisions on the tier and on the model, with the same answers. */
#include "hot_suite_comments.h"

static const uint8_t vote_names[MODEL_VOTES] = {NAME_INDEX_LIKE, SUITE_DISLIKE, SUITE_REPORT};

struct world world_open(uint64_t seed)
{
    struct hot_suite_options options = suite_options();
    struct world world = {.chance = {seed}, .clock_s = SUITE_COMMENT_TIME, .next_text = 1};
    options.seed = chance_next(&world.chance);
    world.suite = suite_open(options);
    world.model = comment_model_new();
    world.model->token_ttl_s = options.token_ttl_s;
    return world;
}

void world_close(struct world *world)
{
    suite_close(&world->suite);
    comment_model_free(world->model);
    free(world->expected);
    free(world->joined);
}

struct item world_item(const struct world *world, uint32_t comment)
{
    uint64_t id = comment < world->model->count ? world->model->comments[comment].id : 12345;
    return (struct item){.id = {.lo = id}, .type = SUITE_COMMENT_TYPE};
}

/* LAUD_TRACE prints every request, so that one can see what has led to a failure. */
static bool is_traced(void)
{
    static int wanted = -1;
    if (wanted < 0)
        wanted = getenv("LAUD_TRACE") != NULL;
    return wanted;
}

static void trace(const struct world *world, const struct hot_request *request)
{
    static const char *const names[] = {
#define ACTION(name, flags) [HOT_##name] = #name,
#include "hot/action.def"
#undef ACTION
    };
    if (!is_traced())
        return;
    uint64_t item = request->item_count > 0 ? request->items[0].id.lo : 0;
    uint32_t comment = model_find(world->model, item);
    print_message("%u %s user %llu, %s %llu: status %d\n", request->time_s, names[request->action],
                  (unsigned long long)request->user.lo, comment != MODEL_NONE ? "comment" : "item",
                  (unsigned long long)(comment != MODEL_NONE ? comment : item), request->status);
}

static enum status run(struct world *world, struct hot_request *request)
{
    suite_run(&world->suite, request, 1);
    trace(world, request);
    return request->status;
}

static void make_detail(const struct model_post *post, char *text, struct hot_detail *detail)
{
    static const char extra[] = "{\"a\":1}";
    *detail = (struct hot_detail){.text = {text, model_write_text(post->text, text)},
                                  .mention_count = post->mention_count};
    for (uint32_t i = 0; i < post->mention_count; i++)
        detail->mentions[i] = suite_id(post->mentions[i]);
    if (post->has_extra)
        detail->extra = (struct text){extra, sizeof extra - 1};
    if (post->token < MODEL_TOKENS) {
        detail->has_token = true;
        detail->token[0] = 1 + post->token;
        detail->token[1] = 77;
    }
}

static void add_room(struct world *world)
{
    if (world->model->count < world->room)
        return;
    world->room = world->room * 2 + 256;
    world->expected = realloc(world->expected, world->room * sizeof *world->expected);
    world->joined = realloc(world->joined, world->room * sizeof *world->joined);
    assert_true(world->expected != NULL && world->joined != NULL);
}

uint32_t world_post(struct world *world, struct model_post post)
{
    char text[MODEL_TEXT_MAX];
    struct hot_detail detail;
    struct item item =
        post.reply_to != MODEL_NONE ? world_item(world, post.reply_to) : suite_item(post.subject);
    post.time_s = world->clock_s;
    make_detail(&post, text, &detail);
    struct hot_request request = {.action = HOT_COMMENT,
                                  .user = suite_id(post.user),
                                  .items = &item,
                                  .item_count = 1,
                                  .time_s = post.time_s,
                                  .comment.detail = &detail};
    uint32_t before = world->model->count;
    enum status status = model_add(world->model, &post);
    assert_int_equal(run(world, &request), status);
    if (status != STATUS_OK)
        return MODEL_NONE;
    struct model_comment *it = &world->model->comments[post.comment];
    assert_int_equal(request.comment.repeated, post.repeated);
    if (world->model->count > before) {
        for (uint32_t i = 0; i < before; i++)
            assert_true(world->model->comments[i].id != request.comment.id);
        it->id = request.comment.id;
    }
    assert_true(request.comment.id == it->id);
    assert_int_equal(request.comment.floor, it->dropped ? 0 : it->floor);
    assert_int_equal(request.comment.state, post.state);
    assert_int_equal(request.comment.deleted, it->deleted || it->dropped);
    add_room(world);
    return post.comment;
}

uint32_t world_add(struct world *world, uint32_t user, uint32_t subject, uint32_t reply_to)
{
    return world_post(world, (struct model_post){.user = user,
                                                 .subject = subject,
                                                 .reply_to = reply_to,
                                                 .text = world->next_text++,
                                                 .token = MODEL_TOKENS});
}

/* A command on one comment. */
static struct hot_request command(struct world *world, enum hot_action action,
                                  const struct item *item)
{
    static const struct hot_detail nothing;
    return (struct hot_request){.action = action,
                                .items = item,
                                .item_count = 1,
                                .time_s = world->clock_s,
                                .comment.detail = &nothing};
}

static enum status compare(struct world *world, struct hot_request *request, enum status status,
                           int64_t value)
{
    assert_int_equal(run(world, request), status);
    if (status == STATUS_OK)
        assert_int_equal(request->comment.value, value);
    return status;
}

enum status world_edit(struct world *world, uint32_t user, uint32_t comment, uint32_t number)
{
    char text[MODEL_TEXT_MAX];
    int64_t value = 0;
    struct hot_detail detail = {.text = {text, model_write_text(number, text)}};
    struct item item = world_item(world, comment);
    struct hot_request request = command(world, HOT_EDIT, &item);
    request.user = suite_id(user);
    request.comment.detail = &detail;
    enum status status = model_edit(world->model, user, comment, number, world->clock_s, &value);
    return compare(world, &request, status, value);
}

enum status world_uncomment(struct world *world, uint32_t user, uint32_t comment)
{
    int64_t value = 0;
    struct item item = world_item(world, comment);
    struct hot_request request = command(world, HOT_UNCOMMENT, &item);
    request.user = suite_id(user);
    enum status status = model_uncomment(world->model, user, comment, &value);
    return compare(world, &request, status, value);
}

enum status world_moderate(struct world *world, uint32_t comment, enum comment_moderation state)
{
    int64_t value = 0;
    struct item item = world_item(world, comment);
    struct hot_request request = command(world, HOT_MODERATE, &item);
    request.comment.state = (uint8_t)state;
    enum status status = model_moderate(world->model, comment, state, &value);
    return compare(world, &request, status, value);
}

enum status world_pin(struct world *world, uint32_t comment)
{
    int64_t value = 0;
    struct item item = world_item(world, comment);
    struct hot_request request = command(world, HOT_PIN, &item);
    enum status status = model_pin(world->model, comment, &value);
    return compare(world, &request, status, value);
}

enum status world_unpin(struct world *world, uint32_t comment)
{
    int64_t value = 0;
    struct item item = world_item(world, comment);
    struct hot_request request = command(world, HOT_UNPIN, &item);
    enum status status = model_unpin(world->model, comment, &value);
    return compare(world, &request, status, value);
}

enum status world_purge(struct world *world, uint32_t comment)
{
    int64_t value = 0;
    struct item item = world_item(world, comment);
    struct hot_request request = command(world, HOT_PURGE, &item);
    enum status status = model_purge(world->model, comment, &value);
    return compare(world, &request, status, value);
}

void world_set_subject(struct world *world, uint32_t subject, uint32_t owner, bool set_mode,
                       enum subject_mode mode)
{
    struct item item = suite_item(subject);
    struct hot_request request = command(world, HOT_SUBJECT_SET, &item);
    request.comment.set_owner = owner != MODEL_NOBODY;
    if (request.comment.set_owner)
        request.user = suite_id(owner);
    request.comment.set_mode = set_mode;
    request.comment.mode = (uint8_t)mode;
    compare(world, &request, STATUS_OK,
            model_set_subject(world->model, subject, owner, set_mode, mode));
}

void world_ban(struct world *world, uint32_t user, uint32_t until_s, bool shadow)
{
    struct hot_request request = command(world, HOT_BAN, NULL);
    request.item_count = 0;
    request.user = suite_id(user);
    request.comment.until_s = until_s;
    request.comment.shadow = shadow;
    int64_t value = 0;
    enum status status = model_ban(world->model, user, until_s, shadow, world->clock_s, &value);
    compare(world, &request, status, value);
}

void world_vote(struct world *world, uint32_t user, uint32_t comment, enum model_vote vote,
                bool set)
{
    bool changed = suite_change(&world->suite, set ? HOT_SET : HOT_CLEAR, suite_id(user),
                                vote_names[vote], world_item(world, comment), world->clock_s);
    assert_int_equal(changed, model_vote(world->model, user, comment, vote, set));
}

void world_see(struct world *world, uint32_t user, uint32_t number)
{
    struct hot_detail detail = {.after = {.is_set = true, .id = number}};
    struct hot_request request = command(world, HOT_SEEN, NULL);
    request.item_count = 0;
    request.user = suite_id(user);
    request.comment.detail = &detail;
    compare(world, &request, STATUS_OK, model_see(world->model, user, number));
}

void world_drop(struct world *world, uint32_t subject)
{
    uint32_t removed = 0;
    bool more = true;
    if (is_traced())
        print_message("DROP subject %u\n", subject);
    model_drop(world->model, subject);
    while (more)
        assert_int_equal(
            suite_drop(&world->suite, suite_item(subject), 1000, world->clock_s, &removed, &more),
            STATUS_OK);
}

void world_forget(struct world *world, uint32_t user)
{
    uint32_t removed = 0;
    bool more = true;
    if (is_traced())
        print_message("FORGET user %u\n", user);
    model_forget(world->model, user);
    while (more)
        assert_int_equal(
            suite_forget(&world->suite, suite_id(user), 1000, world->clock_s, &removed, &more),
            STATUS_OK);
}

enum status world_page(struct world *world, const struct page_request *ask,
                       struct hot_cards_page *page)
{
    struct hot_detail detail = {
        .after = ask->after, .at = ask->at, .has_reader = ask->reader.user != MODEL_NOBODY};
    if (detail.has_reader)
        detail.reader = suite_id(ask->reader.user);
    struct hot_request request = {.action = HOT_COMMENTS,
                                  .items = &ask->item,
                                  .item_count = 1,
                                  .time_s = world->clock_s,
                                  .cards.detail = &detail,
                                  .cards.limit = ask->limit,
                                  .cards.order = (uint8_t)ask->order,
                                  .cards.replies = ask->replies,
                                  .cards.all = ask->reader.all};
    if (run(world, &request) == STATUS_OK)
        *page = world->suite.scratch.pages[request.cards.page];
    return request.status;
}
