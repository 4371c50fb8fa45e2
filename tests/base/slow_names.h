/*
 * A back end of names that has no answer until the test says so. One type exists "elsewhere": it is found
 * once there are answers. Any thread may ask; the test's own thread does the rest.
 */
#ifndef LAUD_BASE_SLOW_NAMES_H
#define LAUD_BASE_SLOW_NAMES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/names.h"

struct slow_names {
    struct names *names;
    const char *elsewhere; /* a type; NULL: none */
    pthread_mutex_t lock;  /* of all below */
    pthread_cond_t asked;
    enum status find; /* what is answered: OK, BLOCKED, or why not */
    enum status intern;
    uint64_t finds; /* how often it was asked */
    uint64_t interns;
};

static inline void slow_put(struct slow_names *slow, enum name_role role, const char *text,
                            size_t length)
{
    bool is_type = role == NAME_TYPE;
    if ((is_type ? names_find_type(slow->names, text, length)
                 : names_find(slow->names, text, length)) < 0)
        names_restore(
            slow->names, role,
            (uint16_t)(is_type ? names_type_count(slow->names) : names_count(slow->names)), text,
            length);
}

static enum status slow_find(void *context, enum name_role role, const char *text, size_t length)
{
    struct slow_names *slow = context;
    pthread_mutex_lock(&slow->lock);
    enum status status = slow->find;
    bool exists = role == NAME_TYPE && slow->elsewhere != NULL &&
                  length == strlen(slow->elsewhere) && memcmp(text, slow->elsewhere, length) == 0;
    if (status == STATUS_OK && exists)
        slow_put(slow, role, text, length);
    slow->finds++;
    pthread_cond_broadcast(&slow->asked);
    pthread_mutex_unlock(&slow->lock);
    return status;
}

static enum status slow_intern(void *context, enum name_role role, const char *text, size_t length)
{
    struct slow_names *slow = context;
    pthread_mutex_lock(&slow->lock);
    enum status status = slow->intern;
    if (status == STATUS_OK)
        slow_put(slow, role, text, length);
    slow->interns++;
    pthread_cond_broadcast(&slow->asked);
    pthread_mutex_unlock(&slow->lock);
    return status;
}

/* Everything is BLOCKED at first. */
static inline void slow_begin(struct slow_names *slow, struct names *names, const char *elsewhere)
{
    static const struct names_backend backend = {.find = slow_find, .intern = slow_intern};
    *slow = (struct slow_names){
        .names = names, .elsewhere = elsewhere, .find = STATUS_BLOCKED, .intern = STATUS_BLOCKED};
    pthread_mutex_init(&slow->lock, NULL);
    pthread_cond_init(&slow->asked, NULL);
    names_set_backend(names, &backend, slow);
}

/* Answers so from now on, and wakes whoever waits. */
static inline void slow_answer(struct slow_names *slow, enum status find, enum status intern)
{
    pthread_mutex_lock(&slow->lock);
    slow->find = find;
    slow->intern = intern;
    pthread_mutex_unlock(&slow->lock);
    names_wake(slow->names);
}

/* Waits until it was asked as often. */
static inline void slow_await(struct slow_names *slow, uint64_t finds, uint64_t interns)
{
    pthread_mutex_lock(&slow->lock);
    while (slow->finds < finds || slow->interns < interns)
        pthread_cond_wait(&slow->asked, &slow->lock);
    pthread_mutex_unlock(&slow->lock);
}

static inline uint64_t slow_finds(struct slow_names *slow)
{
    pthread_mutex_lock(&slow->lock);
    uint64_t finds = slow->finds;
    pthread_mutex_unlock(&slow->lock);
    return finds;
}

static inline void slow_end(struct slow_names *slow)
{
    pthread_cond_destroy(&slow->asked);
    pthread_mutex_destroy(&slow->lock);
}

#endif
