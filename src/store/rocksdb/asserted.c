/*
 * RocksDB verifies every block that it reads except one: the properties of a table, which it parses
 * first. Debian builds RocksDB with its assertions on, so a flipped bit there ends the process
 * while the store is opened, and prints nothing but a line of RocksDB's source. Therefore this
 * handler prints which store the failure is about, as for every other refusal. A lack of threads or
 * memory ends the process in the same way.
 */
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/log.h"
#include "store/rocksdb/private.h"

static const char *_Atomic opened; /* the directory, while RocksDB opens it */

static void refuse(int signal)
{
    (void)signal;
    const char *directory = atomic_load(&opened);
    log_error("the store in %s cannot be opened: RocksDB aborted with the message above; if that "
              "is an assertion, the files of the store are damaged",
              directory != NULL ? directory : "");
    _exit(1);
}

void asserted_watch(const char *directory, struct sigaction *before)
{
    const struct sigaction action = {.sa_handler = refuse};
    atomic_store(&opened, directory);
    sigaction(SIGABRT, &action, before);
}

void asserted_leave(const struct sigaction *before)
{
    sigaction(SIGABRT, before, NULL);
    atomic_store(&opened, NULL);
}
