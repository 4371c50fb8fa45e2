/*
 * One allocation holds the sender's struct, the requests, their items, and the details of requests about
 * comments with their texts, so that it is charged to the budget and freed in one step.
 */
#include "hot/submission.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "hot/comments.h"

#define RETRY_NS 1000000000ULL /* what was refused is asked for again after this */

static size_t aligned(size_t bytes)
{
    return (bytes + 15) & ~(size_t)15;
}

/* Copies the items of all requests to `item` and makes the requests point to the copies. */
static void own_items(struct hot_submission *submission, struct item *item)
{
    for (uint32_t i = 0; i < submission->count; i++) {
        struct hot_request *request = &submission->requests[i];
        if (request->item_count > 0)
            memcpy(item, request->items, request->item_count * sizeof *item);
        request->items = item;
        hot_request_set_answers(request, NULL);
        item += request->item_count;
        submission->writes = submission->writes || hot_request_writes(request);
    }
}

/* How many bytes the copy of a detail and of its texts needs. */
static size_t detail_bytes(const struct hot_detail *detail)
{
    return detail == NULL ? 0
                          : aligned(sizeof *detail + detail->text.length + detail->extra.length +
                                    detail->reason.length);
}

static char *own_text(struct text *text, char *at)
{
    if (text->length > 0)
        memcpy(at, text->bytes, text->length);
    text->bytes = at;
    return at + text->length;
}

/* Copies the details of all requests to `at` and makes the requests point to the copies. */
static void own_details(struct hot_submission *submission, char *at)
{
    for (uint32_t i = 0; i < submission->count; i++) {
        struct hot_request *request = &submission->requests[i];
        const struct hot_detail *detail = hot_detail_of(request);
        if (detail == NULL)
            continue;
        struct hot_detail *own = (struct hot_detail *)at;
        size_t bytes = detail_bytes(detail);
        *own = *detail;
        char *end = own_text(&own->text, at + sizeof *own);
        end = own_text(&own->extra, end);
        own_text(&own->reason, end);
        *hot_detail_place(request) = own;
        at += bytes;
    }
}

void *submission_new(size_t size, const struct hot_request *requests, uint32_t count,
                     struct memory_budget *budget)
{
    ASSERT(size >= sizeof(struct hot_submission) && count > 0 && count <= LIMIT_BATCH);
    size_t items = 0, details = 0, head = aligned(size), behind = aligned(count * sizeof *requests);
    for (uint32_t i = 0; i < count; i++) {
        items += requests[i].item_count;
        details += detail_bytes(hot_detail_of(&requests[i]));
    }
    items = aligned(items * sizeof(struct item));
    size_t bytes = head + behind + items + details;
    if (!memory_charge_connection(budget, bytes))
        return NULL;
    char *memory = malloc(bytes);
    if (memory == NULL) {
        memory_release_connection(budget, bytes);
        return NULL;
    }
    memset(memory, 0, head);
    struct hot_submission *submission = (struct hot_submission *)memory;
    submission->budget = budget;
    submission->bytes = bytes;
    submission->count = count;
    submission->requests = (struct hot_request *)(memory + head);
    memcpy(submission->requests, requests, count * sizeof *requests);
    own_items(submission, (struct item *)(memory + head + behind));
    own_details(submission, memory + head + behind + items);
    return submission;
}

void submission_free(struct hot_submission *submission)
{
    memory_release_connection(submission->budget, submission->bytes);
    free(submission);
}

void submission_refuse(struct hot_submission *submission)
{
    for (uint32_t i = 0; i < submission->count; i++)
        submission->requests[i].status = STATUS_TOO_BUSY;
    submission->retry_ns = RETRY_NS;
}

int mailbox_init(struct mailbox *mailbox, void (*wake)(void *context), void *context)
{
    ASSERT(wake != NULL);
    *mailbox = (struct mailbox){.wake = wake, .context = context};
    return pthread_mutex_init(&mailbox->lock, NULL);
}

void mailbox_destroy(struct mailbox *mailbox)
{
    ASSERT(mailbox->first == NULL);
    pthread_mutex_destroy(&mailbox->lock);
}

void submission_finish(struct hot_submission *submission)
{
    struct mailbox *mailbox = submission->mailbox;
    ASSERT(mailbox != NULL && submission->done != NULL);
    submission->next = NULL;
    pthread_mutex_lock(&mailbox->lock);
    if (mailbox->first == NULL)
        mailbox->first = submission;
    else
        mailbox->last->next = submission;
    mailbox->last = submission;
    pthread_mutex_unlock(&mailbox->lock);
    mailbox->wake(mailbox->context);
}

void mailbox_drain(struct mailbox *mailbox)
{
    pthread_mutex_lock(&mailbox->lock);
    struct hot_submission *submission = mailbox->first;
    mailbox->first = NULL;
    pthread_mutex_unlock(&mailbox->lock);
    for (struct hot_submission *next; submission != NULL; submission = next) {
        next = submission->next; /* `done` frees it */
        submission->done(submission);
    }
}
