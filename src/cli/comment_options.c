#include "cli/comment_options.h"

#include "base/log.h"

struct comment_policy *comment_options_policy(const struct options *options, char *problem,
                                              size_t size)
{
    const struct comment_policy_options values = {
        .repeat_ms = options->comment_repeat_ms,
        .words = options->comment_words,
        .links = options->comment_links,
        .hold = (enum comment_hold)options->comment_hold,
        .dislike = options->comment_dislike,
        .report = options->comment_report,
        .report_at = options->comment_report_at,
        .orders = options->comment_orders,
    };
    return comment_policy_new(&values, problem, size);
}

bool comment_options_check(const struct options *options, char *problem, size_t size)
{
    struct comment_policy *policy = comment_options_policy(options, problem, size);
    comment_policy_free(policy);
    return policy != NULL;
}

void comment_options_reload(struct comment_policy *policy)
{
    char problem[512];
    if (policy->words_path[0] == '\0')
        return;
    if (comment_policy_reload(policy, problem, sizeof problem))
        log_info("reload: the blocked words are read again (%s)", policy->words_path);
    else
        log_error("reload: comment-words: %s; the blocked words stay as they are", problem);
}
