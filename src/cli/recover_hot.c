/* Makes an empty hot tier and loads into it what the store has: names, tokens, bans and kinds. */
#include "base/log.h"
#include "cli/recover_private.h"
#include "cli/store_names.h"
#include "comment/restore.h"
#include "hot/memory/hot_memory.h"

static enum status top_of_window(void *context, uint16_t type, uint8_t name,
                                 enum trend_window window, uint32_t now_s, struct ranked *out,
                                 size_t limit, size_t *count)
{
    return trends_top(context, type, name, window, now_s, out, limit, count);
}

bool recover_hot(struct recovered *r)
{
    if (r->offline)
        return true;
    struct hot_memory_options options = {
        .budget = r->budget,
        .store = r->store != NULL ? &r->store->reader : NULL,
        .admin = r->store != NULL ? &r->store->admin : NULL,
        .filters = r->filters,
        .exclusive = r->exclusive,
        .shelf_max = (uint32_t)r->options->shelf_max,
        .shelf_age_s = (uint32_t)(r->options->shelf_age_ms / 1000),
        .ready_bytes = r->sizes->ready,
        .keep_least = true,
        .item_ttl_s = (uint32_t)(r->options->item_ttl_ms / 1000),
        .token_ttl_s = (uint32_t)(r->options->token_ttl_ms / 1000),
        .token_max = r->options->token_max,
        .token_bytes = r->sizes->tokens,
        .without_boards = !r->options->boards,
        .trend = r->trends != NULL ? top_of_window : NULL,
        .trend_context = r->trends,
        .timeline = r->timeline,
        .comments = r->comments,
        .names = r->names,
        .head_bytes = r->sizes->heads,
        .seed = r->seed,
    };
    r->hot = hot_memory_open(&options);
    if (r->hot == NULL)
        log_error("--max-memory is too little even for an empty server");
    return r->hot != NULL;
}

static enum status restore_token(void *context, const struct store_token *token)
{
    struct recovered *r = context;
    if (token->time_s + r->options->token_ttl_ms / 1000 < r->now_s)
        return STATUS_OK;
    return hot_memory_restore_token(r->hot, token->item, token->token, token->time_s,
                                    token->value);
}

/*
 * The tokens do not fit. Earlier versions recorded all tokens with the same second while the clock was
 * late, so those tokens never expired. They are dropped now, as if they had expired.
 */
static enum status forget_tokens(struct recovered *r)
{
    uint64_t past_s = timeline_newest(r->timeline) + r->options->token_ttl_ms / 1000 + 1;
    if (!timeline_is_behind(r->timeline) || past_s > TIMELINE_END)
        return STATUS_NO_MEMORY;
    log_warn("the clock was set back, and since then more tokens of ADD were stored than fit in "
             "memory: they are dropped");
    hot_close(r->hot);
    r->hot = NULL;
    recover_reach_time(r, (uint32_t)past_s);
    return recover_hot(r) ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status restore_tokens(struct recovered *r)
{
    struct store_visitor visitor = {.token = restore_token, .context = r};
    enum status status = store_visit(&r->store->admin, &visitor);
    if (status == STATUS_NO_MEMORY)
        status = forget_tokens(r);
    if (status == STATUS_NO_MEMORY)
        log_error("the store has more tokens of ADD than fit into their share of --max-memory, "
                  "%llu KiB: start with a larger --max-memory, or with a shorter --token-ttl, "
                  "which drops older tokens; a smaller --token-max prevents this",
                  (unsigned long long)(r->sizes->tokens >> 10));
    else if (status != STATUS_OK)
        recover_say_failed("read tokens from the store", status, "");
    return status;
}

static enum status restore_ban(void *context, struct id user, struct user_ban ban)
{
    struct recovered *r = context;
    return hot_memory_restore_ban(r->hot, user, ban, r->now_s);
}

static enum status restore_bans(struct recovered *r)
{
    enum status status = comment_restore_bans(&r->store->admin, restore_ban, r);
    if (status == STATUS_NO_MEMORY)
        log_error("the store has more bans than fit in memory: start with a larger --max-memory");
    else if (status != STATUS_OK)
        recover_say_failed("read bans from the store", status, "");
    return status;
}

/* Loads names, tokens and bans that the journal may not have any more. */
bool recover_words(struct recovered *r)
{
    if (r->store == NULL)
        return true;
    enum status status = store_names_restore(&r->store->admin, r->names);
    if (status != STATUS_OK)
        recover_say_failed("read names from the store", status, "");
    if (status != STATUS_OK || r->offline)
        return status == STATUS_OK;
    return restore_tokens(r) == STATUS_OK && restore_bans(r) == STATUS_OK;
}

/* Registers the kinds, after all names are loaded. */
void recover_kinds(struct recovered *r)
{
    for (size_t i = 0; i < names_count(r->names); i++)
        if (names_get(r->names, (uint8_t)i)->role == NAME_KIND)
            hot_memory_know_kind(r->hot, (uint8_t)i);
}
