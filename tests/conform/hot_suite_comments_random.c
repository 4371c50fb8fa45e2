/* Random operations on comments: on the tier and on the model, with the same answers. */
#include "hot_suite_comments.h"

static uint32_t some_user(struct world *world)
{
    return chance_below(&world->chance, MODEL_USERS);
}

/* Mostly a new one; sometimes one that does not exist. */
static uint32_t some_comment(struct world *world)
{
    uint32_t count = world->model->count;
    if (count == 0 || chance_below(&world->chance, 100) == 0)
        return MODEL_NONE;
    uint32_t recent = count < 40 ? count : 40;
    return chance_below(&world->chance, 3) == 0 ? chance_below(&world->chance, count)
                                                : count - 1 - chance_below(&world->chance, recent);
}

static void random_post(struct world *world, uint32_t subjects)
{
    struct chance *chance = &world->chance;
    struct model_post post = {.user = some_user(world),
                              .subject = chance_below(chance, subjects),
                              .reply_to = MODEL_NONE,
                              .text = world->next_text++,
                              .token = MODEL_TOKENS,
                              .has_extra = chance_below(chance, 4) == 0};
    if (chance_below(chance, 5) < 3)
        post.reply_to = some_comment(world);
    if (chance_below(chance, 4) == 0)
        post.mention_count = 1 + chance_below(chance, 2);
    for (uint32_t i = 0; i < post.mention_count; i++)
        post.mentions[i] = some_user(world);
    if (chance_below(chance, 4) == 0) {
        /* a token is a hash of user and item too: each number belongs to one of both */
        post.token = chance_below(chance, MODEL_TOKENS);
        post.user = post.token % MODEL_USERS;
        post.subject = post.token % subjects;
        post.reply_to = MODEL_NONE;
    }
    world_post(world, post);
}

static void random_decision(struct world *world, uint32_t dice)
{
    struct chance *chance = &world->chance;
    uint32_t comment = some_comment(world);
    bool exists = comment != MODEL_NONE;
    /* mostly the author, where only the author may */
    uint32_t user = some_user(world);
    if (exists && world->model->comments[comment].author != MODEL_NOBODY && chance_below(chance, 4))
        user = world->model->comments[comment].author;
    switch (dice) {
    case 0:
    case 1:
        world_edit(world, user, comment,
                   exists && chance_below(chance, 5) == 0
                       ? world->model->comments[comment].texts[0].number
                       : world->next_text++);
        break;
    case 2:
        world_uncomment(world, user, comment);
        break;
    case 3:
    case 4:
    case 5:
        world_moderate(
            world, comment,
            (enum comment_moderation)(chance_below(chance, 2) ? 0 : chance_below(chance, 4)));
        break;
    case 6:
        world_pin(world, comment);
        break;
    case 7:
        world_unpin(world, comment);
        break;
    default:
        if (chance_below(chance, 4) == 0)
            world_purge(world, comment);
    }
}

static void random_rare(struct world *world, uint32_t subjects)
{
    struct chance *chance = &world->chance;
    uint32_t subject = chance_below(chance, subjects);
    switch (chance_below(chance, 8)) {
    case 0:
    case 1:
        world_set_subject(
            world, subject, chance_below(chance, 2) ? some_user(world) : MODEL_NOBODY, true,
            (enum subject_mode)(chance_below(chance, 2) ? 0 : chance_below(chance, 4)));
        break;
    case 2:
        world_set_subject(world, subject, MODEL_NOBODY, true, SUBJECT_OPEN);
        break;
    case 3:
        world_ban(world, some_user(world), world->clock_s + chance_below(chance, 100),
                  chance_below(chance, 2));
        break;
    case 4:
        world_ban(world, some_user(world), 0, false);
        break;
    case 5:
        world_see(world, some_user(world), chance_below(chance, 60));
        break;
    case 6:
        if (chance_below(chance, 6) == 0)
            world_drop(world, subject);
        break;
    default:
        if (chance_below(chance, 8) == 0)
            world_forget(world, some_user(world));
    }
}

static void random_read(struct world *world, uint32_t subjects)
{
    struct chance *chance = &world->chance;
    uint32_t subject = chance_below(chance, subjects);
    struct model_reader reader = {.user = chance_below(chance, 2) ? some_user(world) : MODEL_NOBODY,
                                  .all = chance_below(chance, 6) == 0};
    if (world->model->subjects[subject].mode == SUBJECT_CLOSED)
        reader.all = true;
    uint32_t limit = 1 + chance_below(chance, LIMIT_COMMENTS);
    switch (chance_below(chance, 8)) {
    case 0:
        check_counts(world, subject);
        break;
    case 1:
        if (world->model->count > 0)
            check_history(world, chance_below(chance, world->model->count));
        break;
    case 2:
        check_written(world, some_user(world), limit);
        break;
    case 3:
        check_inbox(world, some_user(world), limit);
        break;
    default:
        check_roots(world, subject, (enum comment_order)chance_below(chance, ORDER_TOTAL), reader,
                    limit, (uint8_t)chance_below(chance, LIMIT_REPLIES + 1));
    }
}

void world_do_anything(struct world *world, uint32_t subjects)
{
    struct chance *chance = &world->chance;
    uint32_t dice = chance_below(chance, 100);
    world->clock_s += chance_below(chance, 8) == 0;
    if (dice < 30) {
        random_post(world, subjects);
    } else if (dice < 60) {
        uint32_t comment = some_comment(world);
        if (comment != MODEL_NONE && !world->model->comments[comment].dropped)
            world_vote(world, some_user(world), comment,
                       (enum model_vote)chance_below(chance, MODEL_VOTES), chance_below(chance, 4));
    } else if (dice < 90) {
        random_decision(world, dice % 9);
    } else if (dice < 95) {
        random_rare(world, subjects);
    } else {
        random_read(world, subjects);
    }
}
