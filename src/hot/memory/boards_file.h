/*
 * The file of the boards: what each has above its floor, with the position of the journal that the
 * store had reached, on disk, before the boards were looked at. See boards_file.c for the format.
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

#define BOARDS_FILE_ENTRIES (LIMIT_SHARDS * BOARD_ENTRIES) /* of one board at most */

struct boards_file_board {
    uint16_t type;
    uint8_t name;
    bool floored;
    struct ranked floor; /* worse than every entry */
    uint32_t count;
    const struct ranked *entries; /* in no order */
};

/* What fills the file. */
struct boards_file_source {
    uint64_t position;
    uint32_t count; /* of boards */
    /* The board with this number; all it points to stays until the next call. */
    void (*board)(void *context, uint32_t number, struct boards_file_board *out);
    /* After the last: 0 if the file may be put in place, else -errno. */
    int (*ended)(void *context);
    void *context;
};

/* Written beside and renamed, synced; 0 or -errno, see io_replace. */
int boards_file_write(const char *path, const struct boards_file_source *source);

typedef void boards_file_visit_fn(void *context, const struct boards_file_board *board);

/*
 * Verifies the whole file, then visits each board (`visit` may be NULL). OK; MORE: there is no such
 * file; DAMAGED: it does not verify, or is of another version; IO_FAILED, NO_MEMORY; `problem` gets a
 * sentence. Something may have been visited also if it is not OK.
 */
enum status boards_file_read(const char *path, uint64_t *position, uint32_t *count,
                             boards_file_visit_fn *visit, void *context, char *problem,
                             size_t size);

#endif
