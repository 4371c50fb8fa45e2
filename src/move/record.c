#include "move/record.h"

#include "base/limits.h"

#define ADMIT_BYTES KIB(2)   /* how much room is reserved at a time */
#define KICK_BYTES  KIB(512) /* how much is written with one sync */

_Static_assert(ADMIT_BYTES <= LIMIT_ADMIT_BYTES && ADMIT_BYTES >= LIMIT_EVENT_BYTES,
               "an event fits what is asked for, and the journal can admit that");

static void record_heard(void *context)
{
    struct record *record = context;
    pthread_mutex_lock(&record->lock);
    record->calls++;
    pthread_cond_signal(&record->heard);
    pthread_mutex_unlock(&record->lock);
}

void record_start(struct record *record, struct journal *journal)
{
    *record = (struct record){.journal = journal, .kicked = journal_appended(journal)};
    pthread_mutex_init(&record->lock, NULL);
    pthread_cond_init(&record->heard, NULL);
    journal_listen(journal, record_heard, record);
}

void record_end(struct record *record)
{
    journal_close(record->journal);
    pthread_cond_destroy(&record->heard);
    pthread_mutex_destroy(&record->lock);
}

void record_kick(struct record *record)
{
    record->kicked = journal_appended(record->journal);
    journal_kick(record->journal);
}

static uint64_t calls_so_far(struct record *record)
{
    pthread_mutex_lock(&record->lock);
    uint64_t calls = record->calls;
    pthread_mutex_unlock(&record->lock);
    return calls;
}

static void wait_for_call(struct record *record, uint64_t before)
{
    pthread_mutex_lock(&record->lock);
    while (record->calls == before)
        pthread_cond_wait(&record->heard, &record->lock);
    pthread_mutex_unlock(&record->lock);
}

/* Asks for room with journal_admit or journal_reserve until there is some. */
static enum status record_ask(struct record *record,
                              enum status (*ask)(struct journal *journal, size_t bytes),
                              size_t bytes)
{
    if (journal_appended(record->journal) - record->kicked >= KICK_BYTES)
        record_kick(record);
    for (;;) {
        uint64_t before = calls_so_far(record);
        enum status status = ask(record->journal, bytes);
        if (status != STATUS_BLOCKED)
            return status;
        record_kick(record);
        wait_for_call(record, before);
    }
}

static enum status record_admit(struct record *record)
{
    enum status status = record_ask(record, journal_admit, ADMIT_BYTES);
    if (status == STATUS_OK)
        record->admitted = ADMIT_BYTES;
    return status;
}

enum status record_event(struct record *record, const struct event *event)
{
    size_t bytes = event_bytes_max(event);
    bool is_long = event_is_long(event);
    enum status status = STATUS_OK;
    if (is_long)
        status = record_ask(record, journal_reserve, bytes);
    else if (record->admitted < bytes)
        status = record_admit(record);
    if (status != STATUS_OK)
        return status;
    record->admitted -= is_long ? 0 : bytes;
    journal_append(record->journal, event);
    return STATUS_OK;
}
