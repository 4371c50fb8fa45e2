/*
 * The file of the boards: the entries that each board has above its floor, and a position of the journal.
 * The store on disk had reached that position before the boards were read. See boards_file.c for the
 * format.
 */
#ifndef LAUD_HOT_MEMORY_BOARDS_FILE_H
#define LAUD_HOT_MEMORY_BOARDS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/ranked.h"
#include "base/status.h"
#include "hot/memory/board.h"

#define BOARDS_FILE_ENTRIES BOARD_GATHERED /* of one board at most */

struct boards_file_board {
    uint16_t type;
    uint8_t name;
    bool floored;
    struct ranked floor; /* worse than every entry */
    uint32_t count;
    const struct ranked *entries; /* in no order */
};

/* Provides the content of the file while it is written. */
struct boards_file_source {
    uint64_t position;
    uint32_t count; /* of boards */
    /* Gets the board with this number. All that it points to stays valid until the next call. */
    void (*board)(void *context, uint32_t number, struct boards_file_board *out);
    /* Called after the last board: 0 if the new file may replace the old one, otherwise -errno. */
    int (*ended)(void *context);
    void *context;
};

/* Writes a new file, syncs it and renames it to `path`; 0 or -errno, see io_replace. */
int boards_file_write(const char *path, const struct boards_file_source *source);

typedef void boards_file_visit_fn(void *context, const struct boards_file_board *board);

/*
 * Verifies the whole file, then visits each board (`visit` may be NULL). Returns OK; MORE if there is no
 * such file; DAMAGED if the checksum is wrong or the version is another one; IO_FAILED or NO_MEMORY. If
 * it is not OK, `problem` gets a sentence, and some boards may have been visited all the same.
 */
enum status boards_file_read(const char *path, uint64_t *position, uint32_t *count,
                             boards_file_visit_fn *visit, void *context, char *problem,
                             size_t size);

#endif
