/*
 * The struct of the projector, shared by projector.c (the thread and the public functions) and
 * step.c (the work of the thread). The thread only calls projector_step in a loop, so that tests
 * can run the steps themselves.
 */
#ifndef LAUD_PROJECT_PRIVATE_H
#define LAUD_PROJECT_PRIVATE_H

#include <pthread.h>

#include "project/projector.h"
#include "project/window.h"

#define PROJECTOR_MAGIC 0x70726f6aU

enum projector_step {
    STEP_IDLE,   /* everything durable is applied */
    STEP_MOVED,  /* a window was applied */
    STEP_WAIT,   /* not possible now; try the same again later */
    STEP_FAILED, /* not possible until a restart */
};

struct projector {
    uint32_t magic;
    struct projector_options options;
    uint64_t (*wall_ms)(void); /* used if there is no timeline; tests set another clock */

    /* Used only by the projector's thread */
    struct window window;
    bool pending; /* the window was read and added to the filters, but not applied to the store */
    bool failed;
    uint64_t read_ms;         /* when the window was read */
    uint64_t window_bytes;    /* journal bytes that have about window_events events */
    uint64_t filter_position; /* position of the filter file */
    uint64_t trend_position;  /* position of the file of the windowed boards */
    uint64_t checkpoint_next; /* the next checkpoint is due at this position */
    bool tidying;             /* the filters need more work */
    uint64_t tidy_next_ns;    /* not before this time */
    uint64_t moves_saved;     /* rebuilds of the filters that their file includes */
    char failure[320];        /* written once, before the state is PROJECTOR_FAILED */

    /* Used by all threads, under the lock */
    pthread_mutex_t lock;
    pthread_cond_t reached;       /* signals threads in projector_reach */
    unsigned waiting;             /* number of threads in projector_reach */
    uint64_t wanted;              /* the highest position that they wait for */
    struct projector_stats stats; /* without the lag */
    uint64_t event_bytes;         /* bytes of all events read since the start */
    uint64_t oldest_ms;           /* events that are not applied are not older than this */
    bool stopping;
    bool requested; /* a checkpoint is requested */
    pthread_t thread;
};

/* The present recorded time. */
static inline uint64_t projector_now_ms(const struct projector *projector)
{
    struct timeline *timeline = projector->options.timeline;
    return timeline != NULL ? timeline_now_ms(timeline) : projector->wall_ms();
}

/* Makes a projector without its thread. NULL: `problem` has a sentence. */
struct projector *projector_new(const struct projector_options *options, char *problem,
                                size_t size);
void projector_free(struct projector *projector);

/*
 * The journal is needed from this position on, because the files of filters and boards have no
 * more.
 */
uint64_t projector_saved(const struct projector *projector);

/* Would a checkpoint save anything? */
bool projector_has_unsaved(const struct projector *projector);

/* Makes a checkpoint if one is due, then applies a window. */
enum projector_step projector_step(struct projector *projector);

/* Makes a checkpoint, also if none is due. STEP_MOVED: it was made. */
enum projector_step projector_checkpoint(struct projector *projector);

/* Is a checkpoint requested that was not made yet? */
bool projector_is_requested(struct projector *projector);

/*
 * Does a little work on the filters (filters_move), if there is some to do and it is time again.
 * While the projector is busy, no new rebuild begins, and one that is under way continues slowly.
 */
void projector_tidy(struct projector *projector, bool busy);

/*
 * The last work of the thread when it has to stop: applies everything in the journal, then makes a
 * checkpoint.
 */
void projector_finish(struct projector *projector);

/*
 * Sets the state and its sentence, which projector_stats returns. If the state has changed, logs it
 * and calls `moved`. For PROJECTOR_FAILED, `failure` must have the sentence already. Only the
 * projector's thread may call.
 */
void projector_set_state(struct projector *projector, enum projector_state state);

#endif
