/*
 * The C interface of RocksDB reports errors only as text. The text begins with the kind of error,
 * which is stable. RocksDB reports a missing file as an input/output error, but for us it is
 * damage: data that was stored is not there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "store/rocksdb/private.h"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

enum status problem_peek(const char *text)
{
    if (text == NULL)
        return STATUS_OK;
    if (strstr(text, "No space left on device") != NULL || strstr(text, "NoSpace") != NULL ||
        strstr(text, "Disk quota exceeded") != NULL)
        return STATUS_DISK_FULL;
    if (strstr(text, "Too many open files") != NULL)
        /* The limit of the process, or "in system" for that of the machine. */
        return STATUS_NO_FILES;
    if (begins(text, "Corruption") || strstr(text, "No such file or directory") != NULL)
        return STATUS_DAMAGED;
    if (strstr(text, "lock ") != NULL)
        return STATUS_LOCKED;
    return STATUS_IO_FAILED;
}

/*
 * After a full disk RocksDB continues by itself when space returns. But it treats an exceeded quota
 * as a broken disk, and then writes nothing more until it is opened again.
 */
enum status problem_status(char *text, const char *doing)
{
    enum status status = problem_peek(text);
    if (status == STATUS_DISK_FULL && strstr(text, "Disk quota exceeded") != NULL)
        status = STATUS_IO_FAILED;
    /* DISK_FULL is retried many times, so it is not logged. */
    if (text != NULL && status != STATUS_DISK_FULL)
        log_error("store: %s: %s", doing, text);
    free(text);
    return status;
}
