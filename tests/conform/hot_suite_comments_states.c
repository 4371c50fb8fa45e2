/*
 * Every state of a root and of its reply, with every command on either: what the command answers and what
 * it does to counters and lists must be what the model says, at once, after the store has it, and after a
 * restart. Each case has a subject of its own. The root has one more reply, which is open or not there.
 */
#include "hot_suite_comments.h"

enum { AUTHOR = 0, REPLIER = 1, OTHER = 2, STATES = 8, CASES = 2 * STATES * STATES };

/* The first four are moderation and not deleted, the others are deleted. */
static void bring_to_state(struct world *world, uint32_t comment, uint32_t state)
{
    uint32_t author = world->model->comments[comment].author;
    if (state >= 4)
        assert_int_equal(world_uncomment(world, author, comment), STATUS_OK);
    assert_int_equal(world_moderate(world, comment, (enum comment_moderation)(state % 4)),
                     STATUS_OK);
}

/* A case: the numbers of its comments. */
struct scene {
    uint32_t subject;
    uint32_t root;
    uint32_t reply;
};

static struct scene set_scene(struct world *world, uint32_t number)
{
    struct scene scene = {.subject = number};
    scene.root = world_add(world, AUTHOR, number, MODEL_NONE);
    scene.reply = world_add(world, REPLIER, number, scene.root);
    if (number >= STATES * STATES)
        world_add(world, OTHER, number, scene.reply);
    bring_to_state(world, scene.reply, number / STATES % STATES);
    bring_to_state(world, scene.root, number % STATES);
    return scene;
}

typedef void command_fn(struct world *world, const struct scene *scene, uint32_t comment);

static void edit_own(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_edit(world, comment == scene->root ? AUTHOR : REPLIER, comment, world->next_text++);
}

static void edit_other(struct world *world, const struct scene *scene, uint32_t comment)
{
    (void)scene;
    world_edit(world, OTHER, comment, world->next_text++);
}

static void edit_held(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_set_subject(world, scene->subject, MODEL_NOBODY, true, SUBJECT_HELD);
    edit_own(world, scene, comment);
}

static void edit_readonly(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_set_subject(world, scene->subject, MODEL_NOBODY, true, SUBJECT_READONLY);
    edit_own(world, scene, comment);
}

static void edit_shadow_banned(struct world *world, const struct scene *scene, uint32_t comment)
{
    uint32_t author = comment == scene->root ? AUTHOR : REPLIER;
    world_ban(world, author, UINT32_MAX, true);
    edit_own(world, scene, comment);
    world_ban(world, author, 0, false);
}

static void uncomment_own(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_uncomment(world, comment == scene->root ? AUTHOR : REPLIER, comment);
}

static void uncomment_other(struct world *world, const struct scene *scene, uint32_t comment)
{
    (void)scene;
    world_uncomment(world, OTHER, comment);
}

static void show(struct world *world, const struct scene *scene, uint32_t comment)
{
    (void)scene;
    world_moderate(world, comment, COMMENT_VISIBLE);
}

static void hold(struct world *world, const struct scene *scene, uint32_t comment)
{
    (void)scene;
    world_moderate(world, comment, COMMENT_PENDING);
}

static void hide(struct world *world, const struct scene *scene, uint32_t comment)
{
    (void)scene;
    world_moderate(world, comment, COMMENT_HIDDEN);
}

static void shadow(struct world *world, const struct scene *scene, uint32_t comment)
{
    (void)scene;
    world_moderate(world, comment, COMMENT_SHADOW);
}

static void pin(struct world *world, const struct scene *scene, uint32_t comment)
{
    (void)scene;
    world_pin(world, comment);
}

static void pin_and_hide(struct world *world, const struct scene *scene, uint32_t comment)
{
    pin(world, scene, comment);
    hide(world, scene, comment);
    show(world, scene, comment);
}

static void pin_and_delete(struct world *world, const struct scene *scene, uint32_t comment)
{
    pin(world, scene, comment);
    uncomment_own(world, scene, comment);
}

static void pin_and_hold(struct world *world, const struct scene *scene, uint32_t comment)
{
    pin(world, scene, comment);
    edit_held(world, scene, comment);
}

static void unpin(struct world *world, const struct scene *scene, uint32_t comment)
{
    (void)scene;
    world_unpin(world, comment);
}

static void purge(struct world *world, const struct scene *scene, uint32_t comment)
{
    (void)scene;
    world_purge(world, comment);
    world_purge(world, comment);
}

static void reply_as_author(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_add(world, AUTHOR, scene->subject, comment);
}

static void reply_as_replier(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_add(world, REPLIER, scene->subject, comment);
}

static void reply_as_other(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_add(world, OTHER, scene->subject, comment);
}

static void reply_held(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_set_subject(world, scene->subject, MODEL_NOBODY, true, SUBJECT_HELD);
    reply_as_other(world, scene, comment);
}

static void reply_closed(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_set_subject(world, scene->subject, MODEL_NOBODY, true, SUBJECT_CLOSED);
    reply_as_other(world, scene, comment);
    world_set_subject(world, scene->subject, MODEL_NOBODY, true, SUBJECT_OPEN);
}

static void reply_banned(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_ban(world, OTHER, UINT32_MAX, false);
    reply_as_other(world, scene, comment);
    world_ban(world, OTHER, 0, false);
}

static void reply_shadow_banned(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_ban(world, OTHER, UINT32_MAX, true);
    reply_as_other(world, scene, comment);
    world_ban(world, OTHER, 0, false);
}

static void vote(struct world *world, const struct scene *scene, uint32_t comment)
{
    (void)scene;
    world_vote(world, OTHER, comment, MODEL_LIKE, true);
    world_vote(world, AUTHOR, comment, MODEL_DISLIKE, true);
}

static void report(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_vote(world, OTHER, comment, MODEL_REPORT, true);
    show(world, scene, comment);
    world_vote(world, AUTHOR, comment, MODEL_REPORT, true);
}

static void drop(struct world *world, const struct scene *scene, uint32_t comment)
{
    world_drop(world, scene->subject);
    reply_as_other(world, scene, comment);
    world_add(world, AUTHOR, scene->subject, MODEL_NONE);
}

/* What every reader sees of the subject, and what is counted. */
static void check_scene(struct world *world, const struct scene *scene)
{
    static const struct model_reader readers[] = {{.user = MODEL_NOBODY},
                                                  {.user = AUTHOR},
                                                  {.user = REPLIER},
                                                  {.user = MODEL_NOBODY, .all = true}};
    check_counts(world, scene->subject);
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        check_roots(world, scene->subject, ORDER_OLD, readers[i], 20, 10);
        check_roots(world, scene->subject, ORDER_TOP, readers[i], 20, 10);
        if (!world->model->comments[scene->root].dropped)
            check_thread(world, scene->root, ORDER_NEW, readers[i], 20);
    }
}

static struct scene scenes[CASES];

static void run_command(command_fn *command, bool on_reply)
{
    struct world world = world_open(7);
    for (uint32_t number = 0; number < CASES; number++) {
        scenes[number] = set_scene(&world, number);
        check_counts(&world, number);
        if (number % 3 == 0)
            suite_settle(&world.suite);
        command(&world, &scenes[number], on_reply ? scenes[number].reply : scenes[number].root);
        check_scene(&world, &scenes[number]);
    }
    suite_settle(&world.suite);
    for (uint32_t number = 0; number < CASES; number++)
        check_scene(&world, &scenes[number]);
    suite_restart(&world.suite, world.clock_s);
    for (uint32_t number = 0; number < CASES; number++)
        check_scene(&world, &scenes[number]);
    world_close(&world);
}

static const struct {
    const char *name;
    command_fn *command;
} commands[] = {
#define COMMAND(name)                                                                              \
    {                                                                                              \
#name, name                                                                                \
    }
    COMMAND(edit_own),
    COMMAND(edit_other),
    COMMAND(edit_held),
    COMMAND(edit_readonly),
    COMMAND(edit_shadow_banned),
    COMMAND(uncomment_own),
    COMMAND(uncomment_other),
    COMMAND(show),
    COMMAND(hold),
    COMMAND(hide),
    COMMAND(shadow),
    COMMAND(pin),
    COMMAND(pin_and_hide),
    COMMAND(pin_and_delete),
    COMMAND(pin_and_hold),
    COMMAND(unpin),
    COMMAND(purge),
    COMMAND(reply_as_author),
    COMMAND(reply_as_replier),
    COMMAND(reply_as_other),
    COMMAND(reply_held),
    COMMAND(reply_closed),
    COMMAND(reply_banned),
    COMMAND(reply_shadow_banned),
    COMMAND(vote),
    COMMAND(report),
    COMMAND(drop),
#undef COMMAND
};

/* LAUD_COMMAND runs only one of them. */
void hot_suite_comments_states(void **state)
{
    (void)state;
    const char *only = getenv("LAUD_COMMAND");
    if (!hot_suite_tier->has_store)
        return;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (only != NULL && strcmp(only, commands[i].name) != 0)
            continue;
        print_message("%s\n", commands[i].name);
        run_command(commands[i].command, false);
        run_command(commands[i].command, true);
    }
}
