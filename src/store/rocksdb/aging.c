/*
 * RocksDB rewrites a file that is older than PERIOD (tune.c), but it looks for such files only when a
 * flush or a compaction has changed its list of files. A server to which nobody writes for days would
 * keep removed bytes all that time. So a thread sets the period again a few times a day, which makes
 * RocksDB look; nothing else is written for it than RocksDB's file of options.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/log.h"
#include "store/rocksdb/private.h"

enum { LOOK_S = 6 * 3600 };

/* If it fails, nothing is lost: the next flush makes RocksDB look, too. */
void aging_look(struct store_rocksdb *rocks)
{
    char seconds[24];
    const char *keys[] = {"periodic_compaction_seconds"}, *values[] = {seconds};
    char *problem = NULL;
    if (rocksdb_check_space(rocks) != STATUS_OK)
        return;
    snprintf(seconds, sizeof(seconds), "%u", rocks->rewrite_s);
    rocksdb_set_options(rocks->database, 1, keys, values, &problem);
    if (problem != NULL)
        log_warn("store: RocksDB could not look for old files: %s", problem);
    rocksdb_free(problem);
}

static void *aging_run(void *argument)
{
    struct store_rocksdb *rocks = argument;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&rocks->aging.lock);
    while (!rocks->aging.stopping) {
        until.tv_sec += LOOK_S;
        int result = 0;
        while (!rocks->aging.stopping && result != ETIMEDOUT)
            result = pthread_cond_timedwait(&rocks->aging.stop, &rocks->aging.lock, &until);
        if (rocks->aging.stopping)
            break;
        pthread_mutex_unlock(&rocks->aging.lock);
        aging_look(rocks);
        pthread_mutex_lock(&rocks->aging.lock);
    }
    pthread_mutex_unlock(&rocks->aging.lock);
    return NULL;
}

bool aging_start(struct store_rocksdb *rocks)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&rocks->aging.lock, NULL);
    pthread_cond_init(&rocks->aging.stop, &attributes);
    pthread_condattr_destroy(&attributes);
    rocks->aging.runs = pthread_create(&rocks->aging.thread, NULL, aging_run, rocks) == 0;
    if (rocks->aging.runs)
        return true;
    pthread_cond_destroy(&rocks->aging.stop);
    pthread_mutex_destroy(&rocks->aging.lock);
    return false;
}

void aging_stop(struct store_rocksdb *rocks)
{
    if (!rocks->aging.runs)
        return;
    pthread_mutex_lock(&rocks->aging.lock);
    rocks->aging.stopping = true;
    pthread_cond_signal(&rocks->aging.stop);
    pthread_mutex_unlock(&rocks->aging.lock);
    pthread_join(rocks->aging.thread, NULL);
    pthread_cond_destroy(&rocks->aging.stop);
    pthread_mutex_destroy(&rocks->aging.lock);
    rocks->aging.runs = false;
}
