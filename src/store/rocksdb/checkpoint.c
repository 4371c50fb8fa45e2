/*
 * A copy of the store for a backup, made by RocksDB: tables get hard links, and the few files that
 * RocksDB still changes are copied. RocksDB writes into a directory beside it first and renames that,
 * so the copy is complete or absent. It flushes before it copies; here that finds nothing to flush.
 *
 * Our file DURABLE gets the position of the copy, so that a copy with missing rows is refused like
 * any other store.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "store/rocksdb/private.h"

static enum status copy(struct store_rocksdb *rocks, const char *directory)
{
    char *text = NULL;
    rocksdb_checkpoint_t *checkpoint = rocksdb_checkpoint_object_create(rocks->database, &text);
    if (text == NULL) {
        rocksdb_checkpoint_create(checkpoint, directory, 0, &text);
        rocksdb_checkpoint_object_destroy(checkpoint);
    }
    return problem_status(text, "copying for a backup");
}

enum status rocksdb_checkpoint(struct store_admin *admin, const char *directory)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_admin(admin));
    if (rocks->read_only)
        return STATUS_READONLY;
    ASSERT(atomic_load(&rocks->durable) == rocks->place.position);
    enum status status = copy(rocks, directory);
    if (status != STATUS_OK)
        return status;
    int result = store_mark_write(directory, rocks->place.position);
    if (result == 0)
        return STATUS_OK;
    log_error("store: the file " MARK_NAME " in %s cannot be written: %s", directory,
              strerror(-result));
    return result == -ENOSPC || result == -EDQUOT ? STATUS_DISK_FULL : STATUS_IO_FAILED;
}
