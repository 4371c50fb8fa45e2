/*
 * In which order files are linked, and why nothing changes meanwhile, is explained in
 * docs/architecture.md, section "Backup".
 */
#include "cli/backup_stage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/io.h"
#include "base/lock.h"
#include "base/log.h"
#include "cli/backup_manifest.h"
#include "cli/backup_tree.h"
#include "cli/seed.h"
#include "journal/file/segment.h"
#include "move/mark.h"
#include "time/spans.h"

#define GRACE_NS   10000000000ULL /* so long staged files may be unlocked before they are removed */
#define SYNC_NS    10000000000ULL /* so long the journal may need to sync what it has released */
#define SYNC_NAP   1000000L
#define FACTS_NAME MANIFEST_NAME

/* The files beside journal and store; each is replaced by renaming, so a link keeps its content. */
static const char *const names[] = {"filters",      "trends",   "boards",
                                    MOVE_MARK_NAME, SPANS_NAME, SEED_NAME};

int backup_stage_init(struct backup_stage *stage)
{
    int error = pthread_mutex_init(&stage->lock, NULL);
    return error != 0 ? error : pthread_mutex_init(&stage->files, NULL);
}

void backup_stage_free(struct backup_stage *stage)
{
    if (stage->data == NULL)
        return;
    pthread_mutex_destroy(&stage->files);
    pthread_mutex_destroy(&stage->lock);
    stage->data = NULL;
}

/* Does a command copy these files? If that cannot be found out, it is assumed. */
static bool is_locked(const char *path)
{
    char problem[PATH_MAX + 128];
    int lock = lock_take(path, true, problem, sizeof problem);
    if (lock >= 0)
        close(lock);
    return lock < 0;
}

/* Under the lock. Staged files are in use while they are locked, and for a moment before that. */
static bool is_in_use(const struct backup_stage *stage)
{
    if (stage->state == BACKUP_WANTED || stage->state == BACKUP_WORKING)
        return true;
    return stage->state == BACKUP_READY && !stage->ended &&
           (clock_monotonic_ns() - stage->ready_ns < GRACE_NS || is_locked(stage->path));
}

static enum status begin(void *context)
{
    struct backup_stage *stage = context;
    pthread_mutex_lock(&stage->lock);
    bool refused = is_in_use(stage);
    if (!refused) {
        stage->state = BACKUP_WANTED;
        stage->released = journal_released(stage->journal);
        stage->ended = false;
        stage->path[0] = stage->sentence[0] = '\0';
    }
    pthread_mutex_unlock(&stage->lock);
    if (refused)
        return STATUS_TOO_BUSY;
    journal_sync(stage->journal);
    if (stage->projector != NULL)
        projector_request_checkpoint(stage->projector);
    return STATUS_OK;
}

/* Under the lock. A projector that makes no progress will make no checkpoint either. */
static void give_up_waiting(struct backup_stage *stage)
{
    struct projector_stats stats = {.state = PROJECTOR_OK};
    if (stage->state == BACKUP_WANTED && stage->projector != NULL)
        projector_stats(stage->projector, &stats);
    if (stats.state == PROJECTOR_OK)
        return;
    stage->state = BACKUP_FAILED;
    snprintf(stage->sentence, sizeof stage->sentence, "the store cannot be flushed: %s",
             stats.sentence);
}

static void get_status(void *context, struct backup_status *out)
{
    static const char *const words[] = {[BACKUP_IDLE] = "idle",
                                        [BACKUP_WANTED] = "working",
                                        [BACKUP_WORKING] = "working",
                                        [BACKUP_READY] = "ready",
                                        [BACKUP_FAILED] = "failed"};
    struct backup_stage *stage = context;
    pthread_mutex_lock(&stage->lock);
    give_up_waiting(stage);
    out->state = words[stage->state];
    snprintf(out->text, sizeof out->text, "%s",
             stage->state == BACKUP_READY    ? stage->path
             : stage->state == BACKUP_FAILED ? stage->sentence
                                             : "");
    pthread_mutex_unlock(&stage->lock);
}

static void end(void *context)
{
    struct backup_stage *stage = context;
    pthread_mutex_lock(&stage->lock);
    stage->ended = true;
    pthread_mutex_unlock(&stage->lock);
}

const struct backup_ops backup_stage_ops = {.begin = begin, .status = get_status, .end = end};

/* What a run works on. Only its thread uses it. */
struct staging {
    struct backup_stage *stage;
    char path[PATH_MAX];
    char problem[512];
};

static bool failed(struct staging *staging, const char *what, int result)
{
    snprintf(staging->problem, sizeof staging->problem, "cannot %s: %s", what, strerror(-result));
    return false;
}

static bool make_directories(struct staging *staging)
{
    char path[PATH_MAX], id[64];
    struct backup_stage *stage = staging->stage;
    char *data = realpath(stage->data, NULL);
    if (data == NULL)
        return failed(staging, "find the data directory", -errno);
    int result = tree_join(path, data, BACKUP_STAGE_NAME);
    free(data);
    snprintf(id, sizeof id, "%ld-%" PRIu64, (long)getpid(), stage->number);
    if (result == 0)
        result = tree_join(staging->path, path, id);
    pthread_mutex_lock(&stage->lock);
    snprintf(stage->path, sizeof stage->path, "%s", staging->path);
    pthread_mutex_unlock(&stage->lock);
    if (result == 0)
        result = io_make_directory("stage.make", path, 0700);
    if (result == 0)
        result = tree_remove(staging->path);
    if (result == 0)
        result = io_make_directory("stage.make", staging->path, 0700);
    if (result == 0)
        result = tree_join(path, staging->path, "journal");
    if (result == 0)
        result = io_make_directory("stage.make", path, 0700);
    return result == 0 || failed(staging, "make a directory for staged files", result);
}

/* Links a file of the data directory; `name` is relative to it. 0, also if there is no such file. */
static int link_file(const struct staging *staging, const char *name)
{
    char from[PATH_MAX], to[PATH_MAX];
    int result = tree_join(from, staging->stage->data, name);
    if (result == 0)
        result = tree_join(to, staging->path, name);
    if (result == 0)
        result = io_link("stage.link", from, to);
    return result == -ENOENT ? 0 : result;
}

static int link_segment(void *context, const char *name)
{
    char path[64];
    uint64_t number;
    if (!segment_name_parse(name, &number))
        return 0;
    snprintf(path, sizeof path, "journal/%s", name);
    return link_file(context, path);
}

/* Waits until everything that was acknowledged before the backup began is on disk. */
static bool read_end(struct staging *staging, struct manifest *facts)
{
    struct backup_stage *stage = staging->stage;
    uint64_t until_ns = clock_monotonic_ns() + SYNC_NS;
    while (journal_durable(stage->journal) < stage->released && clock_monotonic_ns() < until_ns)
        nanosleep(&(struct timespec){.tv_nsec = SYNC_NAP}, NULL);
    facts->end_s = timeline_now_ms(stage->timeline) / 1000;
    facts->end = journal_durable(stage->journal);
    if (facts->end >= stage->released)
        return true;
    snprintf(staging->problem, sizeof staging->problem,
             "the journal does not write what it has acknowledged to disk");
    return false;
}

static bool link_files(struct staging *staging)
{
    char journal[PATH_MAX];
    int result = tree_join(journal, staging->stage->data, "journal");
    if (result == 0)
        result = tree_list(journal, link_segment, staging);
    for (size_t i = 0; result == 0 && i < sizeof names / sizeof names[0]; i++)
        result = link_file(staging, names[i]);
    return result == 0 ||
           failed(staging, "link the files of the data directory, as its file system must allow",
                  result);
}

static bool copy_store(struct staging *staging)
{
    char path[PATH_MAX];
    struct store_admin *store = staging->stage->store;
    if (store == NULL)
        return true;
    if (tree_join(path, staging->path, "store") != 0)
        return failed(staging, "stage the store", -ENAMETOOLONG);
    enum status status = store_checkpoint(store, path);
    if (status == STATUS_OK)
        return true;
    snprintf(staging->problem, sizeof staging->problem, "the store cannot be copied: %s",
             status_sentence(status));
    return false;
}

static bool write_facts(struct staging *staging, const struct manifest *facts)
{
    char path[PATH_MAX];
    int result = tree_join(path, staging->path, FACTS_NAME);
    if (result == 0)
        result = manifest_write(facts, path);
    return result == 0 || failed(staging, "write about staged files", result);
}

static bool stage_all(struct staging *staging, uint64_t position)
{
    struct backup_stage *stage = staging->stage;
    struct store_stats stats = {.position = position};
    struct manifest facts = {.has_store = stage->store != NULL, .position = position};
    if (stage->store != NULL)
        store_stats(stage->store, &stats);
    facts.checkpoint_s = stats.newest_s;
    facts.made_s = clock_wall_ms() / 1000;
    return make_directories(staging) && copy_store(staging) && read_end(staging, &facts) &&
           link_files(staging) && write_facts(staging, &facts);
}

/* Takes the backup that waits, if any. */
static bool start_run(struct backup_stage *stage)
{
    pthread_mutex_lock(&stage->lock);
    bool wanted = stage->state == BACKUP_WANTED;
    if (wanted) {
        stage->state = BACKUP_WORKING;
        stage->number++;
    }
    pthread_mutex_unlock(&stage->lock);
    return wanted;
}

void backup_stage_run(struct backup_stage *stage, uint64_t position)
{
    struct staging staging = {.stage = stage};
    if (!start_run(stage))
        return;
    pthread_mutex_lock(&stage->files);
    uint64_t began_ns = clock_monotonic_ns();
    bool staged = stage_all(&staging, position);
    uint64_t now_ns = clock_monotonic_ns();
    if (staged)
        log_info("staged files for a backup in %.3f s", (double)(now_ns - began_ns) / 1e9);
    else
        log_warn("files for a backup could not be staged: %s", staging.problem);
    pthread_mutex_lock(&stage->lock);
    stage->state = staged ? BACKUP_READY : BACKUP_FAILED;
    stage->ready_ns = now_ns;
    if (!staged)
        snprintf(stage->sentence, sizeof stage->sentence, "%s", staging.problem);
    pthread_mutex_unlock(&stage->lock);
    pthread_mutex_unlock(&stage->files);
}

/* The staged files that may not be removed now; "": none. */
static void used_path(struct backup_stage *stage, char out[PATH_MAX])
{
    pthread_mutex_lock(&stage->lock);
    bool used = is_in_use(stage);
    if (!used && stage->state == BACKUP_READY)
        stage->state = BACKUP_IDLE;
    snprintf(out, PATH_MAX, "%s", used ? stage->path : "");
    pthread_mutex_unlock(&stage->lock);
}

struct cleaning {
    const char *directory;
    char used[PATH_MAX];
};

static int clean_entry(void *context, const char *name)
{
    const struct cleaning *cleaning = context;
    char path[PATH_MAX];
    if (tree_join(path, cleaning->directory, name) != 0)
        return 0;
    const char *used = strrchr(cleaning->used, '/');
    if ((used != NULL && strcmp(used + 1, name) == 0) || is_locked(path))
        return 0;
    int result = tree_remove(path);
    if (result != 0)
        log_warn("%s, staged for a backup, cannot be removed: %s", path, strerror(-result));
    return 0;
}

static void clean(struct backup_stage *stage)
{
    char path[PATH_MAX];
    struct cleaning cleaning = {.directory = path};
    if (tree_join(path, stage->data, BACKUP_STAGE_NAME) != 0 || access(path, F_OK) != 0)
        return;
    if (pthread_mutex_trylock(&stage->files) != 0)
        return;
    used_path(stage, cleaning.used);
    (void)tree_list(path, clean_entry, &cleaning); /* what remains is tried again */
    (void)rmdir(path);                             /* fails while something is in it */
    pthread_mutex_unlock(&stage->files);
}

void backup_stage_turn(struct backup_stage *stage)
{
    if (stage->data == NULL)
        return;
    if (stage->projector == NULL)
        backup_stage_run(stage, 0);
    clean(stage);
}
