/* A projector that is told to stop applies all that was appended, however late it becomes durable. */
#include "journal/helper.h"
#include "stage.h"
#include "strict_store.h"

static char directory[64];
static struct stage stage;

/*
 * A journal over the stage's whose events become durable between two questions: to the first `late`
 * questions it answers that nothing is on disk yet.
 */
struct late_journal {
    struct journal journal;
    struct journal_ops ops;
    unsigned late;
};

static uint64_t late_durable(struct journal *journal)
{
    struct late_journal *self = (struct late_journal *)journal;
    if (self->late == 0)
        return journal_durable(stage.journal);
    self->late--;
    return 0;
}

static uint64_t late_appended(struct journal *journal)
{
    (void)journal;
    return journal_appended(stage.journal);
}

static void late_sync(struct journal *journal)
{
    (void)journal;
}

static enum status late_state(struct journal *journal)
{
    (void)journal;
    return journal_state(stage.journal);
}

static enum status late_forget(struct journal *journal, uint64_t position)
{
    (void)journal;
    return journal_forget(stage.journal, position);
}

/* Wherever in its loop the last events become durable, a stop applies them. */
static void test_stop_applies_what_becomes_durable(void **state)
{
    (void)state;
    directory_make(directory);
    stage_open(&stage, directory, test_seed(), DURABILITY_COMMIT, strict_store_open());
    struct late_journal late = {
        .ops = {.durable = late_durable,
                .appended = late_appended,
                .sync = late_sync,
                .state = late_state,
                .forget = late_forget},
    };
    late.journal.ops = &late.ops;
    struct projector_options options = stage_options(&stage);
    options.journal = &late.journal;
    struct projector *projector = stage_projector(&options);
    for (unsigned questions = 0; questions < 8; questions++) {
        stage_append(&stage, 5);
        stage_wait_durable(&stage);
        late.late = questions;
        projector_finish(projector);
        assert_int_equal(late.late, 0);
        assert_int_equal(store_position(&stage.store->applier), stage.world.position);
    }
    projector_free(projector);
    stage_close(&stage);
    directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop_applies_what_becomes_durable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
