#include "comment_stage.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "conform/directory.h"
#include "journal/file/private.h"
#include "journal/file/source_file.h"
#include "move/comment_line.h"
#include "move/export.h"
#include "move/row.h"
#include "store/memory/store_memory.h"

void stage_open(struct comment_stage *stage)
{
    *stage =
        (struct comment_stage){.directory = "/tmp/laud-comments-XXXXXX", .budget.limit = MIB(256)};
    directory_make(stage->directory);
    snprintf(stage->journal_directory, sizeof stage->journal_directory, "%s/journal",
             stage->directory);
    snprintf(stage->filter_path, sizeof stage->filter_path, "%s/filters", stage->directory);
    stage->store = store_memory_open(&stage->budget);
    stage->filters = filters_new(&stage->budget, 5);
    stage->names = names_new();
    stage->timeline = timeline_new(NULL);
    assert_true(stage->store != NULL && stage->filters != NULL && stage->names != NULL &&
                stage->timeline != NULL);
}

void stage_close(struct comment_stage *stage)
{
    filters_free(stage->filters);
    store_close(stage->store);
    names_free(stage->names);
    timeline_free(stage->timeline);
    directory_remove(stage->directory);
}

static void catch_up_all(struct comment_stage *stage, const struct comments_options *comments,
                         uint64_t end)
{
    char problem[256];
    const struct catch_up how = {.window = {.source = stage->source,
                                            .budget = &stage->budget,
                                            .events_max = 64,
                                            .token_ttl_s = 60,
                                            .comments = *comments}};
    if (catch_up_store(&how, &stage->store->applier, stage->filters, end, problem,
                       sizeof problem) != STATUS_OK)
        fail_msg("%s", problem);
}

void stage_begin(struct comment_stage *stage)
{
    const struct journal_file_options file = {.directory = stage->journal_directory,
                                              .durability = DURABILITY_COMMIT,
                                              .segment_bytes = LIMIT_SEGMENT_MIN};
    const struct comments_options comments = {.names = stage->names,
                                              .dislike = "dislike",
                                              .report = "report",
                                              .reader = &stage->store->reader};
    struct journal_report report;
    char problem[256];
    assert_int_equal(journal_file_open_tuned(&file, NULL, NULL, &report, &stage->journal),
                     STATUS_OK);
    stage->source = source_file_open(stage->journal);
    assert_non_null(stage->source);
    catch_up_all(stage, &comments, report.end);
    const struct import_options options = {.reader = &stage->store->reader,
                                           .carry = {.filter_path = stage->filter_path,
                                                     .applier = &stage->store->applier,
                                                     .admin = &stage->store->admin,
                                                     .filters = stage->filters,
                                                     .budget = &stage->budget,
                                                     .window_ms = 1,
                                                     .window_events = 50,
                                                     .checkpoint_bytes = GIB(1),
                                                     .token_ttl_s = 60,
                                                     .keep_journal = true,
                                                     .source = stage->source,
                                                     .comments = comments},
                                           .journal = stage->journal,
                                           .names = stage->names,
                                           .directory = stage->directory,
                                           .exclusive = "",
                                           .batch_rows = 100,
                                           .now_s = STAGE_NOW};
    stage->import = import_open(&options, problem, sizeof problem);
    if (stage->import == NULL)
        fail_msg("%s", problem);
}

void stage_end(struct comment_stage *stage, bool finish)
{
    if (finish && import_finish(stage->import) != STATUS_OK)
        fail_msg("%s", import_problem(stage->import));
    import_close(stage->import);
    source_close(stage->source);
}

static enum status take_line(struct comment_stage *stage, struct text text, char *problem,
                             size_t size)
{
    struct row row;
    struct comment_line line;
    enum status status = row_parse_json(text, &row, problem, size);
    if (status != STATUS_OK)
        return status;
    if (row.shape != ROW_COMMENT) {
        status = row_import(&row, stage->import);
        snprintf(problem, size, "%s", import_problem(stage->import));
        return status;
    }
    status = comment_line_parse(text, &line, problem, size);
    if (status == STATUS_OK) {
        status = comment_line_import(&line, stage->import);
        snprintf(problem, size, "%s", import_problem(stage->import));
    }
    comment_line_free(&line);
    return status;
}

struct import_summary stage_take(struct comment_stage *stage, const char *lines)
{
    char problem[512];
    struct import_summary summary;
    stage_begin(stage);
    while (*lines != '\0') {
        size_t length = strcspn(lines, "\n");
        if (take_line(stage, (struct text){lines, length}, problem, sizeof problem) != STATUS_OK)
            fail_msg("%.*s: %s", (int)length, lines, problem);
        lines += length + (lines[length] != '\0');
    }
    if (import_finish(stage->import) != STATUS_OK)
        fail_msg("%s", import_problem(stage->import));
    import_summary(stage->import, &summary);
    stage_end(stage, false);
    return summary;
}

const char *stage_refused(struct comment_stage *stage, const char *line)
{
    static char problem[512];
    problem[0] = '\0';
    assert_int_equal(take_line(stage, text_from(line), problem, sizeof problem),
                     STATUS_BAD_ARGUMENT);
    return problem;
}

char *stage_export(struct comment_stage *stage)
{
    char path[64];
    struct export_report report;
    struct stat status;
    const struct export_times times = {.timeline = stage->timeline, .now_s = STAGE_NOW};
    snprintf(path, sizeof path, "%s/export", stage->directory);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(export_write(stage->store, stage->names, &times, fd, NULL, NULL, &report),
                     STATUS_OK);
    assert_int_equal(fstat(fd, &status), 0);
    char *bytes = calloc(1, (size_t)status.st_size + 1);
    assert_non_null(bytes);
    assert_int_equal(pread(fd, bytes, (size_t)status.st_size, 0), status.st_size);
    close(fd);
    return bytes;
}

int64_t stage_count(struct comment_stage *stage, struct item item, const char *name)
{
    struct store_values values = {0};
    struct store_item key = {.item = item};
    int64_t value = 0;
    int index = names_find(stage->names, name, strlen(name));
    assert_int_equal(store_read_items(&stage->store->reader, NULL, &key, 1, &values), STATUS_OK);
    for (uint32_t i = key.first; i < key.first + key.count; i++)
        if (values.values[i].name == index)
            value = values.values[i].value;
    free(values.values);
    return value;
}
