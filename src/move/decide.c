/*
 * First the value of every entry of the batch is looked up: in the batch before, whose events the store may
 * not have yet; otherwise, unless the filters say no, in the store, many at a time. Then the rows are
 * decided in order, each against the state after the rows before it.
 *
 * Meanwhile the filters and the store may change, by the events of the batch before. This does no harm:
 * everything that those events concern is found in the table of that batch, and not looked up elsewhere.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "move/private.h"

enum { AHEAD = 8, READ_MAX = 4096 };

/* Entries that have to be read from the store. */
struct questions {
    struct store_reaction *keys;
    uint32_t *key_entries;
    size_t key_count;
    struct store_item *items;
    uint32_t *item_entries;
    size_t item_count;
    struct store_values values;
};

static bool questions_new(struct questions *questions)
{
    *questions = (struct questions){
        .keys = malloc(READ_MAX * sizeof(*questions->keys)),
        .key_entries = malloc(READ_MAX * sizeof(*questions->key_entries)),
        .items = malloc(READ_MAX * sizeof(*questions->items)),
        .item_entries = malloc(READ_MAX * sizeof(*questions->item_entries)),
    };
    return questions->keys != NULL && questions->key_entries != NULL && questions->items != NULL &&
           questions->item_entries != NULL;
}

static void questions_free(struct questions *questions)
{
    free(questions->keys);
    free(questions->key_entries);
    free(questions->items);
    free(questions->item_entries);
    free(questions->values.values);
}

static enum status ask_reactions(struct import *import, struct known *known,
                                 struct questions *questions)
{
    size_t count = questions->key_count;
    questions->key_count = 0;
    if (count == 0)
        return STATUS_OK;
    enum status status = store_read_reactions(import->options.reader, questions->keys, count);
    for (size_t i = 0; status == STATUS_OK && i < count; i++)
        known->entries[questions->key_entries[i]].value = questions->keys[i].time_s;
    return status;
}

static enum status ask_items(struct import *import, struct known *known,
                             struct questions *questions)
{
    size_t count = questions->item_count;
    questions->item_count = 0;
    questions->values.used = 0;
    if (count == 0)
        return STATUS_OK;
    enum status status =
        store_read_items(import->options.reader, NULL, questions->items, count, &questions->values);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        const struct store_item *item = &questions->items[i];
        struct known_entry *entry = &known->entries[questions->item_entries[i]];
        for (uint32_t j = item->first; j < item->first + item->count; j++)
            if (questions->values.values[j].name == entry->name)
                entry->value = questions->values.values[j].value;
    }
    return status;
}

/* Called if the filters did not say no. */
static enum status ask_later(struct import *import, struct known *known,
                             struct questions *questions, uint32_t index)
{
    const struct known_entry *entry = &known->entries[index];
    if (entry->is_counter) {
        questions->item_entries[questions->item_count] = index;
        questions->items[questions->item_count++] = (struct store_item){.item = entry->item};
        return questions->item_count < READ_MAX ? STATUS_OK : ask_items(import, known, questions);
    }
    questions->key_entries[questions->key_count] = index;
    questions->keys[questions->key_count++] =
        (struct store_reaction){.user = entry->user, .item = entry->item, .kind = entry->name};
    return questions->key_count < READ_MAX ? STATUS_OK : ask_reactions(import, known, questions);
}

static bool may_be_stored(const struct filters *filters, const struct known_entry *entry)
{
    return entry->is_counter
               ? filters_may_have_item(filters, entry->item)
               : filters_may_have_reaction(filters, entry->user, entry->name, entry->item);
}

static void entry_prefetch(const struct import *import, const struct known *last,
                           const struct known_entry *entry)
{
    known_prefetch(last, entry);
    if (entry->is_counter)
        filters_prefetch_item(import->options.carry.filters, entry->item);
    else
        filters_prefetch_reaction(import->options.carry.filters, entry->user, entry->name,
                                  entry->item);
}

static enum status entries_look_up(struct import *import, struct known *known,
                                   const struct known *last, struct questions *questions)
{
    enum status status = STATUS_OK;
    for (uint32_t i = 0; status == STATUS_OK && i < known->used; i++) {
        struct known_entry *entry = &known->entries[i];
        if (i + AHEAD < known->used)
            entry_prefetch(import, last, entry + AHEAD);
        const struct known_entry *before = known_find(last, entry);
        entry->value = before != NULL ? before->value : 0;
        if (before == NULL && may_be_stored(import->options.carry.filters, entry))
            status = ask_later(import, known, questions, i);
    }
    if (status == STATUS_OK)
        status = ask_reactions(import, known, questions);
    return status == STATUS_OK ? ask_items(import, known, questions) : status;
}

static struct known_entry *entry_of_kind(struct known *known, const struct known_entry *entry,
                                         uint8_t kind)
{
    struct known_entry key = *entry;
    key.name = kind;
    struct known_entry *other = known_find(known, &key);
    ASSERT(other != NULL); /* it was added to the table with the row */
    return other;
}

/*
 * The newest reaction of the group that is set; if two have the same time, the one of the row's own kind.
 * Several may be set, from before they were declared exclusive.
 */
static const struct known_entry *group_newest(struct import *import, struct known *known,
                                              const struct known_entry *entry)
{
    const struct exclusive_group *group = import_group(import, entry->name);
    const struct known_entry *newest = entry;
    for (uint32_t i = 0; group != NULL && i < group->count; i++) {
        const struct known_entry *other = entry_of_kind(known, entry, group->kinds[i]);
        if (other->value > newest->value)
            newest = other;
    }
    return newest;
}

/* Adds all reactions of the group that are set, except this one, to those that the event clears. */
static void group_clear(struct import *import, struct known *known, const struct known_entry *but,
                        struct event *event)
{
    const struct exclusive_group *group = import_group(import, but->name);
    for (uint32_t i = 0; group != NULL && i < group->count; i++) {
        struct known_entry *other = entry_of_kind(known, but, group->kinds[i]);
        if (other->name == but->name || other->value == 0)
            continue;
        event->cleared[event->cleared_count++] = other->name;
        other->value = 0;
    }
}

/* Earlier cursors of CHANGES would miss imported changes, because these have old times. */
static enum status announce(struct import *import)
{
    if (import->announced)
        return STATUS_OK;
    struct event event = event_import(import->change_s);
    import->announced = true;
    return record_event(&import->record, &event);
}

/* The row itself changes nothing, but exclusive reactions other than the newest are cleared. */
static enum status decide_newest(struct import *import, struct known *known, struct event *event,
                                 const struct known_entry *newest, bool same)
{
    group_clear(import, known, newest, event);
    if (event->cleared_count == 0) {
        *(same ? &import->summary.same : &import->summary.outdone) += 1;
        return STATUS_OK;
    }
    event->type = EVENT_CLEAR;
    event->name = event->cleared[0];
    event->cleared_count--;
    memmove(event->cleared, event->cleared + 1, event->cleared_count);
    event->cleared[event->cleared_count] = 0;
    enum status status = announce(import);
    import->summary.changed++;
    return status == STATUS_OK ? record_event(&import->record, event) : status;
}

/*
 * A reaction keeps its first time, but in a group the newest time wins, also against an earlier time of
 * the same reaction. Otherwise importing the same rows again after an interrupted attempt could give
 * another result. An unknown time counts as older than any other.
 */
static enum status decide_reaction(struct import *import, struct known *known,
                                   const struct batch_row *row)
{
    struct known_entry *entry = &known->entries[row->entry];
    int64_t than_s = row->value != 0 ? 0 : row->time_s;
    struct event event = {.type = EVENT_SET,
                          .name = entry->name,
                          .time_s = row->time_s,
                          .user = entry->user,
                          .item = entry->item};
    const struct known_entry *newest = group_newest(import, known, entry);
    bool grouped = import_group(import, entry->name) != NULL;
    if (newest->value != 0 && (newest->value >= than_s || !grouped))
        return decide_newest(import, known, &event, newest, newest == entry);
    group_clear(import, known, entry, &event);
    enum status status = announce(import);
    if (status == STATUS_OK && entry->value != 0) {
        struct event clear = event;
        clear.type = EVENT_CLEAR;
        clear.cleared_count = 0;
        status = record_event(&import->record, &clear);
    }
    entry->value = row->time_s;
    import->summary.changed++;
    return status == STATUS_OK ? record_event(&import->record, &event) : status;
}

/* A difference may be too large for one event. */
static enum status decide_counter(struct import *import, struct known *known,
                                  const struct batch_row *row)
{
    struct known_entry *entry = &known->entries[row->entry];
    struct event event = {.type = EVENT_ADD,
                          .name = entry->name,
                          .time_s = import->options.recorded_s,
                          .item = entry->item};
    if (entry->value == row->value) {
        import->summary.same++;
        return STATUS_OK;
    }
    enum status status = STATUS_OK;
    while (status == STATUS_OK && __builtin_sub_overflow(row->value, entry->value, &event.delta)) {
        event.delta = row->value > entry->value ? INT64_MAX : INT64_MIN;
        entry->value += event.delta;
        status = record_event(&import->record, &event);
    }
    entry->value = row->value;
    import->summary.changed++;
    return status == STATUS_OK ? record_event(&import->record, &event) : status;
}

static enum status rows_decide(struct import *import, struct batch *batch)
{
    enum status status = STATUS_OK;
    struct known *known = &batch->known;
    for (uint32_t i = 0; status == STATUS_OK && i < batch->row_count; i++) {
        const struct batch_row *row = &batch->rows[i];
        status = known->entries[row->entry].is_counter ? decide_counter(import, known, row)
                                                       : decide_reaction(import, known, row);
    }
    return status;
}

enum status batch_decide(struct import *import, struct batch *batch, const struct known *last)
{
    struct questions questions;
    enum status status = STATUS_NO_MEMORY;
    if (questions_new(&questions))
        status = entries_look_up(import, &batch->known, last, &questions);
    questions_free(&questions);
    if (status != STATUS_OK)
        return import_fail(import, status, "the existing data cannot be read: %s",
                           status_sentence(status));
    status = rows_decide(import, batch);
    if (status != STATUS_OK)
        return import_fail_journal(import, status);
    record_kick(&import->record);
    batch->end = journal_appended(import->record.journal);
    return STATUS_OK;
}
