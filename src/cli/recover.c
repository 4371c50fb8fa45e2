/*
 * Positions: F of the filter file, T of the file of the windowed boards, D of the store (all as of its
 * last flush), E the end of the journal. F, T <= D <= E, and the journal still has everything after F
 * and T. Events from F to D are only for the filters, those from T to D for the windowed boards, and
 * those from D to E for the hot tier, and later for the store and the boards.
 */
#include "cli/recover.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/log.h"
#include "cli/comment_options.h"
#include "cli/recover_private.h"
#include "move/mark.h"

bool recover_is_stopping(struct recovered *r)
{
    if (!r->stopped && r->is_stopping != NULL)
        r->stopped = r->is_stopping();
    return r->stopped;
}

/* Reads up to where the journal may have imported events. */
static bool read_mark(struct recovered *r)
{
    enum status status = move_mark_read(r->options->data, &r->mark);
    if (status != STATUS_OK)
        log_warn("%s/" MOVE_MARK_NAME " cannot be read: %s", r->options->data,
                 status_sentence(status));
    if (r->options->store != OPTION_STORE_NONE || r->mark.until == 0)
        return true;
    log_error(
        "data was imported into %s, and imported data needs the store: start without --store none",
        r->options->data);
    return false;
}

/* Without it nothing can be made of comments. Commands other than `serve` get the policy too. */
static bool make_policy(struct recovered *r)
{
    char problem[512];
    r->comments = comment_options_policy(r->options, problem, sizeof problem);
    if (r->comments == NULL) {
        log_error("%s", problem);
        return false;
    }
    names_observe(r->names, comment_policy_learn, r->comments);
    return true;
}

bool recover(struct recovered *r)
{
    const char *data = r->options->data;
    ASSERT(r->sizes != NULL && r->budget != NULL && r->names == NULL);
    snprintf(r->journal_directory, sizeof r->journal_directory, "%s/journal", data);
    snprintf(r->store_directory, sizeof r->store_directory, "%s/store", data);
    snprintf(r->filter_path, sizeof r->filter_path, "%s/filters", data);
    snprintf(r->trend_path, sizeof r->trend_path, "%s/trends", data);
    snprintf(r->boards_path, sizeof r->boards_path, "%s/boards", data);
    r->filter_share = (struct memory_budget){.limit = r->sizes->filters, .within = r->budget};
    r->names = names_new();
    if (r->names == NULL || !make_policy(r) || !read_mark(r) || !recover_load_times(r))
        return false;
    if (r->options->store == OPTION_STORE_ROCKSDB && !recover_base(r))
        return false;
    if (!recover_hot(r) || !recover_words(r))
        return false;
    recover_boards(r);
    if (recover_is_stopping(r) || !recover_replay(r))
        return false;
    ASSERT((r->hot == NULL) == r->offline && (r->source == NULL) == (r->store == NULL));
    if (r->hot != NULL)
        recover_kinds(r);
    return true;
}

struct comments_options recover_comments(const struct recovered *r)
{
    return (struct comments_options){.names = r->names,
                                     .dislike = r->comments->dislike_name,
                                     .report = r->comments->report_name,
                                     .reader = &r->store->reader};
}

struct projector_options recover_projector(const struct recovered *r)
{
    ASSERT(r->store != NULL && r->source != NULL && r->filters != NULL);
    return (struct projector_options){
        .filter_path = r->filter_path,
        .source = r->source,
        .applier = &r->store->applier,
        .admin = &r->store->admin,
        .filters = r->filters,
        .trend_path = r->trend_path,
        .trends = r->trends,
        .trend_position = r->trend_position,
        .budget = r->budget,
        .filter_position = r->filter_position,
        .window_ms = r->options->window_ms,
        .window_events = r->sizes->window_events,
        .checkpoint_bytes = r->sizes->checkpoint_bytes,
        .token_ttl_s = (uint32_t)(r->options->token_ttl_ms / 1000),
        .changes_ttl_s = (uint32_t)(r->options->changes_ttl_ms / 1000),
        .timeline = r->timeline,
        .seed = r->seed,
        .keep_journal = r->options->keep_journal,
        .history_bytes = r->options->journal_history,
        .comments = recover_comments(r),
    };
}

void recover_close(struct recovered *r)
{
    if (r->hot != NULL)
        hot_close(r->hot);
    trends_free(r->trends);
    filters_free(r->filters);
    if (r->store != NULL)
        store_close(r->store);
    names_free(r->names);
    comment_policy_free(r->comments);
    timeline_free(r->timeline);
    if (r->source != NULL)
        source_close(r->source);
}
