/*
 * Reads every row and keeps the first ones of the list in order. This is slow, but simple and
 * obviously correct.
 */
#include "store/memory/list.h"

static bool is_listed(const struct memory_key *key, const struct memory_list *list)
{
    const struct store_reaction *common = list->common;
    enum memory_row_type row_type = list->of_user ? ROW_REACTION : ROW_BY_ITEM;
    if (key->row_type != row_type || key->name != common->kind || key->type != common->item.type)
        return false;
    return list->of_user ? id_equal(key->user, common->user) : id_equal(key->item, common->item.id);
}

static size_t keep_first(struct store_listed *out, size_t used, size_t limit,
                         struct store_listed listed)
{
    size_t at = used < limit ? used : limit - 1;
    if (used == limit && store_changed_order(out[at], listed) < 0)
        return used;
    for (; at > 0 && store_changed_order(listed, out[at - 1]) < 0; at--)
        out[at] = out[at - 1];
    out[at] = listed;
    return used < limit ? used + 1 : limit;
}

size_t memory_list_page(const struct memory_rows *rows, const struct memory_list *list,
                        struct store_listed after, struct store_listed *out, size_t limit)
{
    size_t used = 0;
    for (size_t i = 0; limit > 0 && i < rows->head_count; i++)
        for (const struct memory_row *row = rows->heads[i]; row != NULL; row = row->next) {
            struct store_listed listed = {.time_s = (uint32_t)row->value,
                                          .id = list->of_user ? row->key.item : row->key.user};
            if (is_listed(&row->key, list) &&
                (after.time_s == 0 || store_listed_order(after, listed) < 0))
                used = keep_first(out, used, limit, listed);
        }
    return used;
}

static struct store_reaction reaction_of(const struct memory_row *row)
{
    return (struct store_reaction){.user = row->key.user,
                                   .item = {.id = row->key.item, .type = row->key.type},
                                   .kind = (uint8_t)row->key.name,
                                   .time_s = (uint32_t)row->value};
}

/* The index of the first entry after `after`. */
static bool next_of_user(const struct memory_rows *rows, struct id user,
                         const struct store_reaction *after, struct store_reaction *out)
{
    bool found = false;
    for (size_t i = 0; i < rows->head_count; i++)
        for (const struct memory_row *row = rows->heads[i]; row != NULL; row = row->next) {
            if (row->key.row_type != ROW_REACTION || !id_equal(row->key.user, user))
                continue;
            struct store_reaction reaction = reaction_of(row);
            if ((after->time_s == 0 || store_user_order(after, &reaction) < 0) &&
                (!found || store_user_order(&reaction, out) < 0)) {
                *out = reaction;
                found = true;
            }
        }
    return found;
}

size_t memory_list_user(const struct memory_rows *rows, struct id user,
                        const struct store_reaction *after, struct store_reaction *out,
                        size_t limit)
{
    size_t used = 0;
    while (used < limit && next_of_user(rows, user, after, &out[used]))
        after = &out[used++];
    return used;
}

/* Keeps only those cleared reactions that are still not set. */
static bool is_change(const struct memory_rows *rows, const struct memory_row *row, struct id user,
                      uint32_t since_s)
{
    struct memory_key live = row->key;
    if (!id_equal(row->key.user, user) || row->value < since_s)
        return false;
    if (row->key.row_type != ROW_CLEARED)
        return row->key.row_type == ROW_REACTION;
    live.row_type = ROW_REACTION;
    live.time_s = 0;
    return since_s != 0 && memory_rows_find(rows, &live) == NULL;
}

size_t memory_changes_page(const struct memory_rows *rows, struct id user, uint32_t since_s,
                           struct store_listed after, struct store_listed *out, size_t limit)
{
    size_t used = 0;
    for (size_t i = 0; limit > 0 && i < rows->head_count; i++)
        for (const struct memory_row *row = rows->heads[i]; row != NULL; row = row->next) {
            if (!is_change(rows, row, user, since_s))
                continue;
            struct store_listed listed = {.time_s = (uint32_t)row->value,
                                          .type = row->key.type,
                                          .kind = (uint8_t)row->key.name,
                                          .cleared = row->key.row_type == ROW_CLEARED,
                                          .id = row->key.item};
            if (after.time_s == 0 || store_changed_order(after, listed) < 0)
                used = keep_first(out, used, limit, listed);
        }
    return used;
}
