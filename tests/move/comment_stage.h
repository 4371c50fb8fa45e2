/* A data directory with a store in memory, into which comments are imported and from which they are exported. */
#ifndef LAUD_MOVE_COMMENT_STAGE_H
#define LAUD_MOVE_COMMENT_STAGE_H

#include "move/comments.h"
#include "project/catch_up.h"

enum { STAGE_NOW = 1800000000 };

struct comment_stage {
    char directory[40];
    char journal_directory[64];
    char filter_path[64];
    struct memory_budget budget;
    struct store *store;
    struct filters *filters;
    struct names *names;
    struct journal *journal;
    struct source *source;
    struct import *import;
    struct timeline *timeline;
};

void stage_open(struct comment_stage *stage);
void stage_close(struct comment_stage *stage);

/* One attempt at an import: rows are added to stage->import in between. */
void stage_begin(struct comment_stage *stage);
void stage_end(struct comment_stage *stage, bool finish);

/* Imports lines of JSON in an attempt of its own. All of them must be good. */
struct import_summary stage_take(struct comment_stage *stage, const char *lines);
/* The sentence about a line that is refused; it is valid until the next call. */
const char *stage_refused(struct comment_stage *stage, const char *line);

/* What an export writes, to be freed. */
char *stage_export(struct comment_stage *stage);
/* A counter of an item. */
int64_t stage_count(struct comment_stage *stage, struct item item, const char *name);

#endif
