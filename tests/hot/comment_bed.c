#include "comment_bed.h"

static const struct {
    enum name_role role;
    const char *text;
} first_names[] = {{NAME_TYPE, "photo"},   {NAME_TYPE, "video"},   {NAME_TYPE, "audio"},
                   {NAME_TYPE, "comment"}, {NAME_KIND, "dislike"}, {NAME_COUNTER, "view"},
                   {NAME_KIND, "report"}};

static void make_names(struct comment_bed *bed)
{
    bed->names = names_new();
    assert_non_null(bed->names);
    for (size_t i = 0; i < sizeof first_names / sizeof first_names[0]; i++) {
        uint16_t index;
        const char *text = first_names[i].text;
        assert_int_equal(names_intern(bed->names, first_names[i].role, text, strlen(text), &index),
                         STATUS_OK);
        comment_policy_learn(bed->policy, first_names[i].role, index, text, strlen(text));
    }
    assert_int_equal(names_find_type(bed->names, "comment", 7), COMMENT_TYPE);
    assert_int_equal(names_find(bed->names, "dislike", 7), DISLIKE);
    assert_int_equal(names_find(bed->names, "report", 6), REPORT);
}

static void discard(struct bed *bed, const struct item *parents, size_t count)
{
    if (bed->hot != NULL) /* between a crash and the next start there is no tier */
        hot_memory_discard_heads(bed->hot, parents, count);
}

void comment_bed_open(struct comment_bed *bed, uint64_t limit, uint32_t repeat_s)
{
    char problem[256];
    struct comment_policy_options policy = {.repeat_ms = repeat_s * 1000ULL,
                                            .words = "",
                                            .links = COMMENT_ANY_LINKS,
                                            .dislike = "dislike",
                                            .report = "report",
                                            .report_at = 1,
                                            .orders = ""};
    struct hot_memory_options options = bed_options();
    bed->clock_s = START_S;
    bed->policy = comment_policy_new(&policy, problem, sizeof problem);
    assert_non_null(bed->policy);
    make_names(bed);
    options.comments = bed->policy;
    options.names = bed->names;
    options.head_bytes = MIB(1);
    bed_open_stored(&bed->bed, limit, options);
    bed_use_comments(&bed->bed, bed->names);
    bed->bed.parents = discard;
    hot_memory_set_reach(bed->bed.hot, bed_reach, &bed->bed);
}

void comment_bed_close(struct comment_bed *bed)
{
    hot_scratch_free(&bed->bed.scratch);
    bed->bed.scratch = (struct hot_scratch){0};
    bed_close(&bed->bed);
    comment_policy_free(bed->policy);
    names_free(bed->names);
}

static struct hot_request command(struct comment_bed *bed, enum hot_action action, uint64_t user,
                                  const struct item *item, const struct hot_detail *detail)
{
    return (struct hot_request){.action = action,
                                .user = {.lo = user},
                                .items = item,
                                .item_count = 1,
                                .time_s = bed->clock_s,
                                .comment.detail = detail};
}

static enum status run(struct comment_bed *bed, struct hot_request *request, int64_t *value)
{
    enum status status = bed_run(&bed->bed, request);
    if (value != NULL)
        *value = request->comment.value;
    return status;
}

enum status post_text(struct comment_bed *bed, uint64_t user, struct item item, const char *text,
                      uint64_t token, struct hot_request *out)
{
    struct hot_detail detail = {
        .text = {text, strlen(text)}, .has_token = token != 0, .token = {token, 9}};
    struct hot_request request = command(bed, HOT_COMMENT, user, &item, &detail);
    enum status status = run(bed, &request, NULL);
    if (out != NULL)
        *out = request;
    return status;
}

uint64_t post(struct comment_bed *bed, uint64_t user, struct item item)
{
    static uint64_t number;
    char text[32];
    struct hot_request request;
    snprintf(text, sizeof text, "text %llu", (unsigned long long)++number);
    assert_int_equal(post_text(bed, user, item, text, 0, &request), STATUS_OK);
    return request.comment.id;
}

uint64_t reply(struct comment_bed *bed, uint64_t user, uint64_t to)
{
    return post(bed, user, comment_number(to));
}

enum status edit(struct comment_bed *bed, uint64_t user, uint64_t id, const char *text,
                 int64_t *value)
{
    struct item item = comment_number(id);
    struct hot_detail detail = {.text = {text, strlen(text)}};
    struct hot_request request = command(bed, HOT_EDIT, user, &item, &detail);
    return run(bed, &request, value);
}

enum status act(struct comment_bed *bed, enum hot_action action, uint64_t user, uint64_t id,
                int64_t *value)
{
    struct item item = comment_number(id);
    struct hot_request request = command(bed, action, user, &item, NULL);
    return run(bed, &request, value);
}

enum status moderate(struct comment_bed *bed, uint64_t id, enum comment_moderation state,
                     int64_t *value)
{
    struct item item = comment_number(id);
    struct hot_request request = command(bed, HOT_MODERATE, 0, &item, NULL);
    request.comment.state = (uint8_t)state;
    return run(bed, &request, value);
}

enum status set_mode(struct comment_bed *bed, struct item item, enum subject_mode mode)
{
    struct hot_request request = command(bed, HOT_SUBJECT_SET, 0, &item, NULL);
    request.comment.set_mode = true;
    request.comment.mode = (uint8_t)mode;
    return run(bed, &request, NULL);
}

void ban(struct comment_bed *bed, uint64_t user, uint32_t until_s, bool shadow)
{
    struct hot_request request = command(bed, HOT_BAN, user, NULL, NULL);
    request.item_count = 0;
    request.comment.until_s = until_s;
    request.comment.shadow = shadow;
    assert_int_equal(run(bed, &request, NULL), STATUS_OK);
}

static struct memory_tier tier_of(struct comment_bed *bed)
{
    struct hot_memory *hot = hot_memory_of(bed->bed.hot);
    return (struct memory_tier){.hot = hot,
                                .worker = 1,
                                .tier.store = hot->store,
                                .tier.may_wait = true,
                                .tier.comment_type = COMMENT_TYPE};
}

struct subject subject_now(struct comment_bed *bed, struct item item)
{
    struct memory_tier tier = tier_of(bed);
    struct subject subject;
    assert_int_equal(memory_subject(&tier.tier, item, &subject), STATUS_OK);
    return subject;
}

bool comment_now(struct comment_bed *bed, uint64_t id, struct query_comment *out)
{
    struct memory_tier tier = tier_of(bed);
    hot_scratch_clear(&bed->bed.scratch);
    *out = (struct query_comment){.id = id};
    assert_int_equal(memory_comments(&tier.tier, out, 1, true, &bed->bed.scratch), STATUS_OK);
    return out->found;
}

size_t changed_now(struct comment_bed *bed, struct item parent, uint64_t *ids, size_t most,
                   enum status *status)
{
    struct memory_tier tier = tier_of(bed);
    struct comment *changed = NULL;
    size_t count = 0;
    hot_scratch_clear(&bed->bed.scratch);
    *status = memory_changed(&tier.tier, parent, &bed->bed.scratch.arena, &changed, &count);
    for (size_t i = 0; i < count && i < most; i++)
        ids[i] = changed[i].id;
    return count;
}

int64_t comments_of(struct comment_bed *bed, struct item item)
{
    return bed_count(&bed->bed, item, NAME_INDEX_COMMENT);
}
