/*
 * The heads are divided into sections by their parent, each with a lock, a table of chains, and a list by
 * last use. All heads of a parent are in one chain.
 *
 * A head that nobody has read yet is put into the table in the state *loading* before the store is read, so
 * that a discard in between finds it. Such a discard takes it out of the table: those who wait for it still
 * get it, because they asked before the position was published, but nobody else does. The last one who uses
 * such a head frees it.
 */
#include "hot/memory/comment_heads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include "comment/rows.h"
#include "query/tier.h"

#define SECTIONS      16
#define SECTION_BITS  4
#define HEAD_TYPICAL  512 /* bytes of a typical head: decides how many chains there are */
#define BUCKETS_LEAST 16
#define BUCKETS_MOST  65536

struct head {
    struct head *next; /* of its chain */
    struct head *newer;
    struct head *older;
    struct item parent;
    uint8_t order;
    bool loading;
    bool is_kept;   /* it is in the table */
    bool is_listed; /* it is in the list by last use, and its memory is charged */
    bool complete;  /* the order has no further entries */
    uint32_t users; /* threads that read it from the store, or wait for that */
    uint32_t count;
    enum status status; /* of reading it from the store */
    struct comment_entry *entries;
};

struct section {
    _Alignas(64) pthread_mutex_t lock;
    pthread_cond_t loaded;
    struct head **buckets;
    struct head *newest;
    struct head *oldest;
    struct heads_stats stats; /* without `bytes` */
};

struct heads {
    struct memory_budget share;
    uint64_t seed;
    uint32_t mask; /* of the number of chains of a section */
    uint32_t turn; /* the section that heads_shrink begins with */
    struct section sections[SECTIONS];
};

static uint64_t hash_of(const struct heads *heads, struct item parent)
{
    return item_hash(parent, heads->seed);
}

static struct section *section_of(struct heads *heads, uint64_t hash)
{
    return &heads->sections[hash >> (64 - SECTION_BITS)];
}

static struct head **bucket_of(const struct heads *heads, struct section *section, uint64_t hash)
{
    return &section->buckets[hash & heads->mask];
}

static uint64_t fixed_bytes(const struct heads *heads)
{
    return sizeof *heads + (uint64_t)SECTIONS * (heads->mask + 1) * sizeof(struct head *);
}

static uint32_t bucket_count(uint64_t most_bytes)
{
    uint32_t count = BUCKETS_LEAST;
    while (count < BUCKETS_MOST && (uint64_t)SECTIONS * count * HEAD_TYPICAL < most_bytes)
        count *= 2;
    return count;
}

struct heads *heads_new(struct memory_budget *budget, uint64_t most_bytes, uint64_t seed)
{
    struct heads *heads = NULL;
    if (posix_memalign((void **)&heads, 64, sizeof *heads) != 0)
        return NULL;
    memset(heads, 0, sizeof *heads);
    heads->seed = seed;
    heads->mask = bucket_count(most_bytes) - 1;
    heads->share =
        (struct memory_budget){.limit = most_bytes + fixed_bytes(heads), .within = budget};
    for (unsigned i = 0; i < SECTIONS; i++) {
        pthread_mutex_init(&heads->sections[i].lock, NULL);
        pthread_cond_init(&heads->sections[i].loaded, NULL);
    }
    bool ready = memory_charge(&heads->share, fixed_bytes(heads));
    for (unsigned i = 0; i < SECTIONS && ready; i++) {
        heads->sections[i].buckets = calloc(heads->mask + 1, sizeof(struct head *));
        ready = heads->sections[i].buckets != NULL;
    }
    if (ready)
        return heads;
    heads_free(heads);
    return NULL;
}

static void head_free(struct head *head)
{
    ASSERT(!head->is_kept && !head->is_listed && head->users == 0);
    free(head->entries);
    free(head);
}

static uint64_t head_bytes(const struct head *head)
{
    return sizeof *head + head->count * sizeof *head->entries;
}

static void list_remove(struct section *section, struct head *head)
{
    *(head->newer != NULL ? &head->newer->older : &section->newest) = head->older;
    *(head->older != NULL ? &head->older->newer : &section->oldest) = head->newer;
}

static void list_add(struct section *section, struct head *head)
{
    head->newer = NULL;
    head->older = section->newest;
    *(section->newest != NULL ? &section->newest->newer : &section->oldest) = head;
    section->newest = head;
}

/* Takes a head out of the table, and frees it unless somebody uses it. */
static void head_remove(struct heads *heads, struct section *section, struct head *head)
{
    struct head **link = bucket_of(heads, section, hash_of(heads, head->parent));
    ASSERT(head->is_kept);
    while (*link != head)
        link = &(*link)->next;
    *link = head->next;
    head->is_kept = false;
    if (head->is_listed) {
        list_remove(section, head);
        memory_release(&heads->share, head_bytes(head));
        section->stats.heads--;
        head->is_listed = false;
    }
    if (head->users == 0)
        head_free(head);
}

void heads_free(struct heads *heads)
{
    if (heads == NULL)
        return;
    for (unsigned i = 0; i < SECTIONS; i++) {
        struct section *section = &heads->sections[i];
        while (section->oldest != NULL)
            head_remove(heads, section, section->oldest);
        free(section->buckets);
        pthread_cond_destroy(&section->loaded);
        pthread_mutex_destroy(&section->lock);
    }
    if (memory_used(&heads->share) > 0)
        memory_release(&heads->share, fixed_bytes(heads));
    free(heads);
}

static struct head *head_find(const struct heads *heads, struct section *section, uint64_t hash,
                              struct item parent, uint8_t order)
{
    struct head *head = *bucket_of(heads, section, hash);
    while (head != NULL && (head->order != order || !item_equal(head->parent, parent)))
        head = head->next;
    return head;
}

/* Reads one row. HELD has an author and an id in its key, and neither key nor floor. */
static enum status read_row(const struct store_row *row, uint8_t order, struct comment_entry *entry)
{
    *entry = (struct comment_entry){0};
    bool good = order == ROWS_HELD ? row_read_held(row->key, NULL, NULL, NULL)
                : row->table == STORE_FLOOR
                    ? row_read_floor(row->key, NULL, &entry->floor)
                    : row_read_order(row->key, NULL, NULL, &entry->key, &entry->floor);
    return good ? row_read_number(row->value, &entry->id) : STATUS_DAMAGED;
}

/* Reads the head from the store, with no lock. `entries` has room for QUERY_HEAD. */
static enum status scan(struct store_reader *store, struct item parent, uint8_t order,
                        struct comment_entry *entries, size_t *count, bool *complete)
{
    uint8_t group[ROW_KEY_MAX];
    struct store_row rows[QUERY_HEAD];
    struct store_arena arena = {0};
    bool more = false, floors = order == ORDER_NEW || order == ORDER_OLD;
    struct store_scan scan = {.table = floors ? STORE_FLOOR : STORE_ORDER,
                              .reverse = order == ORDER_NEW,
                              .limit_rows = QUERY_HEAD};
    if (floors)
        row_key_item(parent, group);
    else if (order == ROWS_HELD)
        row_key_held(parent, (struct id){0}, 0, group);
    else
        row_key_order(parent, (enum comment_order)order, 0, 0, group);
    scan.group = (struct store_bytes){group, (uint32_t)store_group_length(scan.table)};
    enum status status = store_scan_rows(store, &scan, rows, count, &more, &arena);
    for (size_t i = 0; i < *count && status == STATUS_OK; i++)
        status = read_row(&rows[i], order, &entries[i]);
    *complete = !more;
    store_arena_destroy(&arena);
    return status;
}

static void copy_out(const struct head *head, struct comment_entry *out, size_t *count,
                     bool *complete)
{
    size_t wanted = *count;
    *count = head->count < wanted ? head->count : wanted;
    if (*count > 0)
        memcpy(out, head->entries, *count * sizeof *out);
    *complete = head->complete && head->count <= wanted;
}

/* Charges the memory of a head; the heads that were not used for the longest time make room. */
static bool charge(struct heads *heads, struct section *section, const struct head *head)
{
    while (!memory_charge(&heads->share, head_bytes(head))) {
        if (section->oldest == NULL)
            return false;
        head_remove(heads, section, section->oldest);
        section->stats.evicted++;
    }
    return true;
}

/* The store was read: keeps the head, unless it was discarded meanwhile. Under the lock. */
static void settle(struct heads *heads, struct section *section, struct head *head)
{
    head->loading = false;
    pthread_cond_broadcast(&section->loaded);
    if (!head->is_kept)
        return;
    if (head->status != STATUS_OK || !charge(heads, section, head)) {
        head_remove(heads, section, head); /* it has users, so it is not freed yet */
        return;
    }
    list_add(section, head);
    head->is_listed = true;
    section->stats.heads++;
}

static void leave(struct head *head)
{
    ASSERT(head->users > 0);
    if (--head->users == 0 && !head->is_kept)
        head_free(head);
}

/* Reads a head that is loading for everybody. Called with the lock, which is released meanwhile. */
static void load(struct heads *heads, struct section *section, struct store_reader *store,
                 struct head *head)
{
    struct comment_entry entries[QUERY_HEAD];
    size_t count = QUERY_HEAD;
    bool complete = false;
    section->stats.loads++;
    pthread_mutex_unlock(&section->lock);
    enum status status = scan(store, head->parent, head->order, entries, &count, &complete);
    struct comment_entry *kept = NULL;
    if (status == STATUS_OK && count > 0 && (kept = malloc(count * sizeof *kept)) == NULL)
        status = STATUS_NO_MEMORY;
    if (kept != NULL)
        memcpy(kept, entries, count * sizeof *kept);
    pthread_mutex_lock(&section->lock);
    head->entries = kept;
    head->count = status == STATUS_OK ? (uint32_t)count : 0;
    head->complete = complete;
    head->status = status;
    settle(heads, section, head);
}

static struct head *head_begin(struct heads *heads, struct section *section, uint64_t hash,
                               struct item parent, uint8_t order)
{
    struct head *head = calloc(1, sizeof *head);
    if (head == NULL)
        return NULL;
    struct head **bucket = bucket_of(heads, section, hash);
    *head = (struct head){
        .next = *bucket, .parent = parent, .order = order, .loading = true, .is_kept = true};
    *bucket = head;
    return head;
}

/* The head is not cached: reads it, or waits for the thread that does. Called with the lock. */
static enum status read_loading(struct heads *heads, struct section *section,
                                struct store_reader *store, struct head *head,
                                struct comment_entry *out, size_t *count, bool *complete)
{
    bool mine = head->users++ == 0;
    if (mine)
        load(heads, section, store, head);
    else
        section->stats.shared++;
    while (head->loading)
        pthread_cond_wait(&section->loaded, &section->lock);
    enum status status = head->status;
    if (status == STATUS_OK)
        copy_out(head, out, count, complete);
    leave(head);
    return status;
}

enum status heads_read(struct heads *heads, struct store_reader *store, struct item parent,
                       uint8_t order, bool may_wait, struct comment_entry *out, size_t *count,
                       bool *complete)
{
    uint64_t hash = hash_of(heads, parent);
    struct section *section = section_of(heads, hash);
    enum status status = STATUS_OK;
    ASSERT(*count <= QUERY_HEAD);
    pthread_mutex_lock(&section->lock);
    struct head *head = head_find(heads, section, hash, parent, order);
    if (head != NULL && !head->loading) {
        list_remove(section, head);
        list_add(section, head);
        section->stats.hits++;
        copy_out(head, out, count, complete);
    } else if (!may_wait) {
        status = STATUS_BLOCKED;
    } else {
        if (head == NULL)
            head = head_begin(heads, section, hash, parent, order);
        status = head == NULL ? STATUS_NO_MEMORY
                              : read_loading(heads, section, store, head, out, count, complete);
    }
    pthread_mutex_unlock(&section->lock);
    return status;
}

static void discard_one(struct heads *heads, struct item parent)
{
    uint64_t hash = hash_of(heads, parent);
    struct section *section = section_of(heads, hash);
    pthread_mutex_lock(&section->lock);
    for (struct head *head = *bucket_of(heads, section, hash), *next; head != NULL; head = next) {
        next = head->next;
        if (item_equal(head->parent, parent)) {
            head_remove(heads, section, head);
            section->stats.discarded++;
        }
    }
    pthread_mutex_unlock(&section->lock);
}

void heads_discard(struct heads *heads, const struct item *parents, size_t count)
{
    for (size_t i = 0; i < count; i++)
        discard_one(heads, parents[i]);
}

/* Each section gives the same, one after the other. */
uint64_t heads_shrink(struct heads *heads, uint64_t bytes)
{
    uint64_t least = fixed_bytes(heads), before = memory_used(&heads->share);
    uint64_t goal = before - least > bytes ? before - bytes : least;
    for (bool found = true; found && memory_used(&heads->share) > goal;) {
        found = false;
        for (unsigned i = 0; i < SECTIONS && memory_used(&heads->share) > goal; i++) {
            struct section *section = &heads->sections[heads->turn++ % SECTIONS];
            pthread_mutex_lock(&section->lock);
            if (section->oldest != NULL) {
                head_remove(heads, section, section->oldest);
                section->stats.evicted++;
                found = true;
            }
            pthread_mutex_unlock(&section->lock);
        }
    }
    uint64_t after = memory_used(&heads->share);
    return after < before ? before - after : 0;
}

void heads_collect(struct heads *heads, struct heads_stats *out)
{
    *out = (struct heads_stats){.bytes = memory_used(&heads->share)};
    for (unsigned i = 0; i < SECTIONS; i++) {
        struct section *section = &heads->sections[i];
        pthread_mutex_lock(&section->lock);
        out->heads += section->stats.heads;
        out->hits += section->stats.hits;
        out->loads += section->stats.loads;
        out->shared += section->stats.shared;
        out->discarded += section->stats.discarded;
        out->evicted += section->stats.evicted;
        pthread_mutex_unlock(&section->lock);
    }
}
