/*
 * The C interface of RocksDB tells what went wrong as text only. The text begins with the kind of
 * the problem, which is stable; a file that is missing is said as an input/output error, but to us
 * it is damage like any other: what was kept is not there.
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
        return STATUS_NO_FILES; /* of the process, or "in system" */
    if (begins(text, "Corruption") || strstr(text, "No such file or directory") != NULL)
        return STATUS_DAMAGED;
    if (strstr(text, "lock ") != NULL)
        return STATUS_LOCKED;
    return STATUS_IO_FAILED;
}

/*
 * After a full disk RocksDB goes on by itself when space returns; what a quota kept it from writing it
 * takes for a broken disk, and then writes nothing more until it is opened anew.
 */
enum status problem_status(char *text, const char *doing)
{
    enum status status = problem_peek(text);
    if (status == STATUS_DISK_FULL && strstr(text, "Disk quota exceeded") != NULL)
        status = STATUS_IO_FAILED;
    if (text != NULL && status != STATUS_DISK_FULL) /* that one is tried again and again */
        log_error("store: %s: %s", doing, text);
    free(text);
    return status;
}
