/*
 * The inside of the projector, shared by projector.c (the thread and what others see of it) and
 * step.c (what it does). The thread is only a loop around projector_step, so that tests take the
 * steps themselves.
 */
#ifndef LAUD_PROJECT_PRIVATE_H
#define LAUD_PROJECT_PRIVATE_H

#include <pthread.h>

#include "project/projector.h"
#include "project/window.h"

#define PROJECTOR_MAGIC 0x70726f6aU

enum projector_step {
    STEP_IDLE,   /* nothing is durable that is not applied */
    STEP_MOVED,  /* a window was applied */
    STEP_WAIT,   /* not possible now: the same again in a while */
    STEP_FAILED, /* nor ever */
};

struct projector {
    uint32_t magic;
    struct projector_options options;
    uint64_t (*wall_ms)(void); /* where there is no timeline; tests put another one here */

    /* Its own thread's */
    struct window window;
    bool pending; /* the window was read and the filters know, the store does not */
    bool failed;
    uint64_t read_ms;         /* when the window was read */
    uint64_t window_bytes;    /* that are about window_events */
    uint64_t filter_position; /* what the filter file stands for */
    uint64_t trend_position;  /* and the file of the windowed boards */
    uint64_t checkpoint_next; /* the next one is due at this position */
    bool tidying;             /* there is more to do, */
    uint64_t tidy_next_ns;    /* not before this */
    uint64_t moves_saved;     /* of the filters, those that their file has seen */
    char failure[320];        /* written once, before the state is PROJECTOR_FAILED */

    /* For everybody, under the lock */
    pthread_mutex_t lock;
    pthread_cond_t reached;       /* for those in projector_reach */
    unsigned waiting;             /* how many those are */
    uint64_t wanted;              /* the furthest position of theirs */
    struct projector_stats stats; /* but the lag */
    uint64_t event_bytes;         /* of all events taken since start */
    uint64_t oldest_ms;           /* what is not applied is not older than this */
    bool stopping;
    pthread_t thread;
};

/* Now, as recorded times go. */
static inline uint64_t projector_now_ms(const struct projector *projector)
{
    struct timeline *timeline = projector->options.timeline;
    return timeline != NULL ? timeline_now_ms(timeline) : projector->wall_ms();
}

/* All but the thread. NULL: `problem` has a sentence. */
struct projector *projector_new(const struct projector_options *options, char *problem,
                                size_t size);
void projector_free(struct projector *projector);

/* From here on the journal is needed: the files beside the store go no further. */
uint64_t projector_saved(const struct projector *projector);

/* Is there anything that a checkpoint would save? */
bool projector_has_unsaved(const struct projector *projector);

/* A checkpoint if one is due, then a window. */
enum projector_step projector_step(struct projector *projector);

/* Also if none is due. STEP_MOVED: made. */
enum projector_step projector_checkpoint(struct projector *projector);

/*
 * A little of moving the filters (filters_move), if there is something to do and it is time again. If
 * the projector is busy, nothing is begun, and what was begun goes on seldom.
 */
void projector_tidy(struct projector *projector, bool busy);

/* What the thread does when it is told to stop: applies what the journal has, then a checkpoint. */
void projector_finish(struct projector *projector);

/*
 * Sets the state and its sentence, which the stats say. If the state is another than before, logs it
 * and calls `moved`. PROJECTOR_FAILED: `failure` has the sentence already. The projector's thread.
 */
void projector_set_state(struct projector *projector, enum projector_state state);

#endif
