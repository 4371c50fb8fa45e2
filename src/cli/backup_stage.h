/*
 * The server's side of a backup: links to all files of the data directory, as of one position, in
 * DATA/backup/ID. `laud backup` copies them from there. docs/architecture.md, section "Backup", has the
 * whole design.
 *
 *     ID/manifest   positions and times, without files (backup_manifest.h); written last
 *     ID/LOCK       is locked by the command while it copies
 *     ID/…          the files, as in the data directory; of the journal only segments. The last segment
 *                   is still being written, and is valid up to the position `end` of the manifest
 *
 * The thread that makes checkpoints calls backup_stage_run; the main thread calls the functions that start
 * and clean up; any thread may call those of net/backup.h.
 */
#ifndef LAUD_CLI_BACKUP_STAGE_H
#define LAUD_CLI_BACKUP_STAGE_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "journal/log.h"
#include "net/backup.h"
#include "project/projector.h"
#include "store/store.h"
#include "time/timeline.h"

#define BACKUP_STAGE_NAME "backup"

enum backup_stage_state {
    BACKUP_IDLE,
    BACKUP_WANTED, /* waits for a checkpoint */
    BACKUP_WORKING,
    BACKUP_READY,
    BACKUP_FAILED,
};

struct backup_stage {
    /* Set before other threads use it, then only read. */
    const char *data;
    struct journal *journal;
    struct store_admin *store;   /* NULL: --store none */
    struct projector *projector; /* NULL: --store none; set before the server listens */
    struct timeline *timeline;

    pthread_mutex_t files; /* held while staged files are made or removed; taken before `lock` */
    pthread_mutex_t lock;  /* protects everything below */
    enum backup_stage_state state;
    uint64_t number;     /* of the newest backup since the start */
    uint64_t released;   /* everything before it was acknowledged before the backup began */
    uint64_t ready_ns;   /* when it became ready, by the monotonic clock */
    bool ended;          /* the command does not need the files any more */
    char path[PATH_MAX]; /* of the staged files; absolute */
    char sentence[512];  /* why it failed */
};

extern const struct backup_ops backup_stage_ops; /* their context is a struct backup_stage */

/* 0 or an errno. `stage` has the members of its first group, except the projector. */
int backup_stage_init(struct backup_stage *stage);
void backup_stage_free(struct backup_stage *stage); /* also if it was never initialized */

/*
 * Stages the files if a backup waits for that. The store is flushed at `position`, and until this returns
 * nobody applies to the store, saves files or removes journal segments. Without a store it is 0.
 */
void backup_stage_run(struct backup_stage *stage, uint64_t position);

/*
 * Removes staged files that nobody needs any more, also those of an earlier run. Without a projector it
 * also stages. To be called about once a second by the main thread.
 */
void backup_stage_turn(struct backup_stage *stage);

#endif
