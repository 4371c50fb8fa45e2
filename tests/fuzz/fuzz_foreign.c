/*
 * Any bytes as a file of another system; the first byte says of which. It is read to its end or refused with a
 * sentence, roots are found and everything is sorted. Each comment is taken or counted as left.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/limits.h"
#include "move/threads.h"

enum { INPUT_MAX = 32768 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(struct threads *threads, int fd)
{
    char problem[512] = "";
    enum status status = threads_read(threads, fd, NULL, problem, sizeof problem);
    if (status != STATUS_OK) {
        ASSERT(status == STATUS_BAD_ARGUMENT || status == STATUS_NO_MEMORY);
        ASSERT(strlen(problem) > 0);
        return;
    }
    ASSERT(threads_import(threads, NULL, problem, sizeof problem) == STATUS_OK);
    const struct threads_report *report = threads_report(threads);
    ASSERT(report->taken + threads_left(report) == report->read);
    ASSERT(report->same == 0 && report->placeholders <= report->taken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char problem[256];
    int ends[2];
    if (size < 1 || size > INPUT_MAX || pipe(ends) != 0)
        return 0;
    const struct threads_options options = {.format = data[0] % FOREIGN_FORMATS,
                                            .directory = "/tmp",
                                            .type = "page",
                                            .memory_most = MIB(16)};
    ssize_t written = write(ends[1], data + 1, size - 1);
    ASSERT(written == (ssize_t)size - 1); /* a pipe takes that much at once */
    close(ends[1]);
    struct threads *threads = threads_new(&options, problem, sizeof problem);
    ASSERT(threads != NULL);
    read_all(threads, ends[0]);
    threads_free(threads);
    close(ends[0]);
    return 0;
}
