/*
 * Bans: which users may not write comments, or write them as shadow comments, and until when. All bans are in
 * memory, because every decision about a new text asks for them. At most LIMIT_BANS users are banned; those
 * whose ban has expired do not count.
 *
 * Times are recorded times. A ban is in force while the time is before until_s; after that it is none, as
 * if it had been lifted. UINT32_MAX: for ever.
 *
 * The table is divided into sections with a lock each, which any thread may take while it holds shards of the
 * tier, because a decision about a ban takes no shard. The memory is charged to the budget.
 */
#ifndef LAUD_HOT_MEMORY_BANS_H
#define LAUD_HOT_MEMORY_BANS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/status.h"
#include "comment/body.h"

#define BAN_SECTIONS 64
#define BAN_FOR_EVER UINT32_MAX

/* An entry whose until_s is 0 is free. */
struct ban_entry {
    struct id user;
    uint32_t until_s;
    bool shadow;
};

struct ban_section {
    _Alignas(64) pthread_mutex_t lock;
    struct ban_entry *entries; /* open addressing; NULL: nobody was ever banned here */
    uint32_t capacity;         /* a power of two, or 0 */
    uint32_t used;             /* entries that are not free, expired ones included */
};

struct bans {
    struct memory_budget *budget;
    uint64_t seed;
    uint64_t most;            /* users that may be banned: LIMIT_BANS; tests use fewer */
    _Atomic uint64_t count;   /* entries of all sections */
    _Atomic uint32_t swept_s; /* when expired entries of all sections were last removed */
    struct ban_section sections[BAN_SECTIONS];
};

/* most 0: LIMIT_BANS. The seed is secret, so that nobody can choose users that collide. */
void bans_init(struct bans *bans, struct memory_budget *budget, uint64_t seed, uint64_t most);
void bans_destroy(struct bans *bans);

/* The ban of the user at this recorded time; until_s is 0 if there is none. Takes no lock if nobody is banned. */
struct user_ban bans_find(struct bans *bans, struct id user, uint32_t now_s);

/* How many users have an entry, expired ones included. */
uint64_t bans_count(struct bans *bans);

/*
 * One change of the ban of one user. Between bans_begin and bans_end the section of the user is locked, so
 * the event that records the change is in the right order with other changes. `before` is the ban at now_s.
 */
struct ban_change {
    struct bans *bans;
    struct ban_section *section;
    struct id user;
    uint32_t now_s;
    struct user_ban before;
};

struct ban_change bans_begin(struct bans *bans, struct id user, uint32_t now_s);
/*
 * Makes sure that bans_put will succeed for a user who is not banned: OK; BANS_FULL; NO_MEMORY. In the case
 * of BANS_FULL the caller may call bans_sweep, without a lock, and try again.
 */
enum status bans_reserve(struct ban_change *change);
/* Sets the ban; until_s 0: lifts it. A new ban needs bans_reserve before. */
void bans_put(struct ban_change *change, struct user_ban ban);
void bans_end(struct ban_change *change);

/* Removes the entries of all sections that have expired. False: this was done in this second already. */
bool bans_sweep(struct bans *bans, uint32_t now_s);

/*
 * Restores a ban that the store has, or that an event in the journal has made; until_s 0: it was lifted.
 * Nothing is bounded but memory, because all of them were accepted before. OK or NO_MEMORY.
 */
enum status bans_restore(struct bans *bans, struct id user, struct user_ban ban, uint32_t now_s);

#endif
