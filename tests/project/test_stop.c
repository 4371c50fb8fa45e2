/* A projector that is told to stop applies all that was appended, however late it becomes durable. */
#include "journal/helper.h"
#include "stage.h"
#include "strict_store.h"

static char directory[64];
static struct stage stage;

/*
 * A source over the stage's whose events become available between two questions: to the first `late`
 * questions it answers that nothing is on disk yet.
 */
struct late_source {
    struct source source;
    struct source_ops ops;
    unsigned late;
};

static void late_view(struct source *source, struct source_view *out)
{
    struct late_source *self = (struct late_source *)source;
    source_view(stage.source, out);
    if (self->late == 0)
        return;
    self->late--;
    out->available = 0;
}

static enum status late_seek(struct source *source, uint64_t position, char *problem, size_t size)
{
    (void)source;
    return source_seek(stage.source, position, problem, size);
}

static enum status late_pull(struct source *source, size_t most, struct source_run *run,
                             char *problem, size_t size)
{
    (void)source;
    return source_pull(stage.source, most, run, problem, size);
}

static void late_hurry(struct source *source)
{
    (void)source;
}

static enum status late_acknowledge(struct source *source, uint64_t position)
{
    (void)source;
    return source_acknowledge(stage.source, position);
}

/* Wherever in its loop the last events become durable, a stop applies them. */
static void test_stop_applies_what_becomes_durable(void **state)
{
    (void)state;
    directory_make(directory);
    stage_open(&stage, directory, test_seed(), DURABILITY_COMMIT, strict_store_open());
    struct late_source late = {
        .ops = {.view = late_view,
                .seek = late_seek,
                .pull = late_pull,
                .hurry = late_hurry,
                .acknowledge = late_acknowledge},
    };
    late.source.ops = &late.ops;
    struct projector_options options = stage_options(&stage);
    options.source = &late.source;
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
