/*
 * What the journal's tests share: directories, a sequence of events in which each is known by its
 * number, and a small journal with a listener to wait on.
 */
#ifndef LAUD_JOURNAL_HELPER_H
#define LAUD_JOURNAL_HELPER_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "chance.h"
#include "journal/file/private.h"
#include "journal/file/record.h"
#include "sample.h"

#define SMALL_SEGMENT KIB(64)
#define LARGE_SEGMENT KIB(272) /* for large_tuning */

/* A new directory, in memory if the machine has such; removed with all in it. */
void directory_make(char path[64]);
void directory_remove(const char *path);

/* A test's own, for cmocka_unit_test_setup_teardown. */
extern char test_directory[64];
int directory_setup(void **state);
int directory_teardown(void **state);

/* Where the event of this number stands in a journal of sample events. */
uint64_t sample_position(uint64_t number);

/*
 * A visitor that expects sample events from number 0 on, or from the number and position the check
 * was set up with (sample_check_from); context is a struct sample_check.
 */
struct sample_check {
    uint64_t count; /* number of the next event */
    uint64_t bytes; /* its position */
    bool wrong;
};
enum status sample_visit(void *context, const struct event *event, uint64_t position, size_t size);

struct sample_check sample_check_from(uint64_t number);

/* A journal being used by one test thread. */
struct user {
    struct journal *journal;
    struct journal_report report;
    struct sample_check found; /* at open */
    uint64_t appended;         /* events; starts with those found */
    uint64_t end;              /* position after the last one appended */
    pthread_mutex_t lock;
    pthread_cond_t heard;
    uint64_t calls;
};

/* Small segments and a small ring; a journal that has the same durability in all its tests. */
struct journal_tuning small_tuning(void);
/* A ring that takes the largest bodies, for a journal of LARGE_SEGMENT. */
struct journal_tuning large_tuning(void);
extern uint64_t
    user_segment_bytes; /* the size of the segments of user_open; at first SMALL_SEGMENT */
enum status user_open(struct user *user, const char *directory, enum durability durability,
                      const struct journal_tuning *tuning);
/* As user_open, but only the events from this number on are needed. */
enum status user_open_from(struct user *user, const char *directory, enum durability durability,
                           uint64_t number);
void user_close(struct user *user);

/* Appends sample events; stops early if the journal will not take them. Returns how many it took.*/
uint64_t user_append(struct user *user, uint64_t count);

/* Reserves room for a long event, and waits for it; READONLY, DISK_FULL, NO_FILES: there is none. */
enum status user_reserve_long(struct user *user, size_t bytes);

/* How often the listener was called, and a wait until it was called once more than `before`. */
uint64_t user_calls(struct user *user);
void user_await_call(struct user *user, uint64_t before);

/* Waits until all appended is released, or never will be: OK or READONLY. */
enum status user_wait(struct user *user);

/* Waits until the journal is in this state. */
void user_await_state(struct user *user, enum status state);

/* Reads the directory and expects sample events only; how many. */
uint64_t count_samples(const char *directory);

/* The same with a journal that begins with the event of this number; the number of the next one. */
uint64_t count_samples_from(const char *directory, uint64_t number);

#endif
