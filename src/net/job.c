/* One allocation holds the job, its requests and their items, so that it is charged and freed at once. */
#include "net/job.h"

#include <stdlib.h>
#include <string.h>

struct job *job_new(const struct hot_request *requests, uint32_t count,
                    struct memory_budget *budget)
{
    size_t items = 0;
    for (uint32_t i = 0; i < count; i++)
        items += requests[i].item_count;
    size_t bytes = sizeof(struct job) + count * sizeof *requests + items * sizeof(struct item);
    if (!memory_charge_connection(budget, bytes))
        return NULL;
    struct job *job = malloc(bytes);
    if (job == NULL) {
        memory_release_connection(budget, bytes);
        return NULL;
    }
    *job = (struct job){.bytes = bytes, .count = count, .out.budget = budget};
    memcpy(job->requests, requests, count * sizeof *requests);
    struct item *item = (struct item *)&job->requests[count];
    for (uint32_t i = 0; i < count; i++) {
        struct hot_request *request = &job->requests[i];
        const struct item *original = request->items;
        request->items = item;
        request->answers = NULL;
        for (uint32_t k = 0; k < request->item_count; k++)
            *item++ = original[k];
        job->commands += !request->own;
        job->writes = job->writes || job_request_writes(request);
    }
    return job;
}

void job_free(struct job *job)
{
    struct memory_budget *budget = job->out.budget;
    buffer_free(&job->out);
    memory_release_connection(budget, job->bytes);
    free(job);
}
