/*
 * What a projector stands on in tests: a journal with small segments in a directory of its own,
 * the world whose events are appended to it, filters, windowed boards, and a store that the test
 * brings.
 */
#ifndef LAUD_PROJECT_STAGE_H
#define LAUD_PROJECT_STAGE_H

#include <pthread.h>

#include "journal/file/journal_file.h"
#include "project/private.h"
#include "world.h"

struct stage {
    char directory[64];
    char journal_directory[96];
    char filter_path[96];
    char trend_path[96];
    struct memory_budget budget;
    uint64_t seed;
    struct world world; /* of that seed, as of what was appended */
    struct journal *journal;
    struct source *source;        /* of it */
    struct journal_report report; /* of its opening */
    struct store *store;
    struct filters *filters;
    struct trends *trends;
    pthread_mutex_t lock;
    pthread_cond_t heard;   /* by the journal's listener and by `moved` */
    uint64_t journal_calls; /* of the listener */
    uint64_t moved;         /* position last told */
    uint64_t moved_calls;
};

/* The directory must exist. The store is the stage's from here on. */
void stage_open(struct stage *stage, const char *directory, uint64_t seed,
                enum durability durability, struct store *store);
void stage_close(struct stage *stage);

/* Appends what happens next in the world; does not wait. */
void stage_append(struct stage *stage, uint64_t events);
void stage_append_event(struct stage *stage, const struct event *event);
void stage_wait_durable(struct stage *stage); /* until the journal has all of it on disk */
void stage_wait_moved(struct stage *stage, uint64_t position);

/* Small windows, checkpoints only if the test asks. */
struct projector_options stage_options(struct stage *stage);
struct projector *stage_projector(const struct projector_options *options);
struct projector *stage_start(const struct projector_options *options); /* with its thread */
void stage_run(struct projector *projector); /* steps until there is nothing to do */

#endif
