#include <inttypes.h>

#include "cli/check_store.h"
#include "hot/memory/boards_file.h"

void check_boards(struct check_store *check)
{
    char problem[512];
    uint64_t position;
    uint32_t count;
    enum status status = boards_file_read(check->boards_path, &position, &count, NULL, NULL,
                                          problem, sizeof problem);
    if (status == STATUS_OK)
        fprintf(check->summary, "boards      %s, %" PRIu32 " of them, of position %" PRIu64 "\n",
                check->boards_path, count, position);
    else if (status == STATUS_MORE)
        fprintf(check->summary, "boards      none saved\n");
    else
        fprintf(check->summary, "remark      boards: %s; the next start counts them again\n",
                problem);
}
