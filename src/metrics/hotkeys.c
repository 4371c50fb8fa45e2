/*
 * There are samples and no sketch, because serving must not become slower: after the first samples of
 * a half, nearly the only work is to add up how many items a batch had. As long as none of them is
 * wanted for the sample, this needs no lock: the thread counts in `passed` what it skips.
 *
 * A thread only tries the lock of its samples. While another thread counts them, its uses are not
 * offered at all. This affects all items and users equally, so it changes no share.
 */
#include "metrics/hotkeys.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "metrics/sample.h"
#include "op/op.h"

#define LEAST_SPAN_NS                                                                              \
    1000000000ULL /* a rate is never computed over less, also just after the start */

struct dimension {
    _Atomic uint64_t passed; /* how many the thread has skipped since it last had the lock */
    uint64_t left;           /* how many the thread may skip; only the thread uses it */
    struct sample_stream stream;
};

/* The samples of one thread. */
struct thread_samples {
    _Alignas(64) pthread_mutex_t lock; /* protects the streams */
    uint64_t turn_ns;                  /* when the half-window ends; only the thread uses it */
    struct dimension items;
    struct dimension users;
};

struct hotkeys {
    struct memory_budget *budget;
    size_t bytes; /* how many bytes are charged to the budget */
    uint64_t seed;
    uint64_t born_ns;
    unsigned threads;
    uint32_t size;     /* the size of one sample */
    struct item *room; /* the memory of all samples */
    pthread_mutex_t lock;
    bool answered; /* `answer` is set; protected by the lock, as are the next two */
    uint64_t answered_ns;
    struct hotkeys_top answer;
    struct thread_samples by_thread[];
};

struct hotkeys *hotkeys_new(unsigned threads, uint64_t seed, uint64_t now_ns,
                            struct memory_budget *budget)
{
    ASSERT(threads > 0);
    uint32_t size = HOTKEYS_SAMPLES / threads;
    if (size < HOTKEYS_LEAST)
        size = HOTKEYS_LEAST;
    size_t samples = (size_t)threads * 4 * size; /* items and users, with two halves each */
    size_t base =
        (sizeof(struct hotkeys) + threads * sizeof(struct thread_samples) + 63) & ~(size_t)63;
    size_t bytes = base + samples * sizeof(struct item);
    if (!memory_charge(budget, bytes))
        return NULL;
    struct hotkeys *hotkeys = aligned_alloc(64, base);
    struct item *room = malloc(samples * sizeof *room);
    if (hotkeys == NULL || room == NULL) {
        free(hotkeys);
        free(room);
        memory_release(budget, bytes);
        return NULL;
    }
    memset(hotkeys, 0, base);
    hotkeys->budget = budget;
    hotkeys->bytes = bytes;
    hotkeys->seed = seed;
    hotkeys->born_ns = now_ns;
    hotkeys->threads = threads;
    hotkeys->size = size;
    hotkeys->room = room;
    pthread_mutex_init(&hotkeys->lock, NULL);
    for (unsigned i = 0; i < threads; i++, room += 4 * size) {
        struct thread_samples *own = &hotkeys->by_thread[i];
        pthread_mutex_init(&own->lock, NULL);
        own->turn_ns = now_ns + HOTKEYS_HALF_NS;
        sample_init(&own->items.stream, room, size, HOTKEYS_HALF_NS, hash_mix(seed, 2 * i), now_ns);
        sample_init(&own->users.stream, room + 2 * size, size, HOTKEYS_HALF_NS,
                    hash_mix(seed, 2 * i + 1), now_ns);
    }
    return hotkeys;
}

void hotkeys_free(struct hotkeys *hotkeys)
{
    if (hotkeys == NULL)
        return;
    for (unsigned i = 0; i < hotkeys->threads; i++)
        pthread_mutex_destroy(&hotkeys->by_thread[i].lock);
    pthread_mutex_destroy(&hotkeys->lock);
    memory_release(hotkeys->budget, hotkeys->bytes);
    free(hotkeys->room);
    free(hotkeys);
}

/* Returns the item or user with this index among those that are offered. */
typedef struct item pick_fn(const struct hot_request *requests, uint64_t at);

static struct item pick_item(const struct hot_request *requests, uint64_t at)
{
    return requests[at].items[0];
}

static struct item pick_user(const struct hot_request *requests, uint64_t at)
{
    return (struct item){.id = requests[at].user};
}

static struct item pick_of_one(const struct hot_request *request, uint64_t at)
{
    return request->items[at];
}

static void offer(struct sample_stream *stream, const struct hot_request *requests, uint64_t count,
                  pick_fn *pick)
{
    uint64_t at = 0;
    while (sample_wants(stream, count - at)) {
        at += sample_left(stream);
        sample_pass(stream, sample_left(stream));
        sample_take(stream, pick(requests, at++));
    }
    sample_pass(stream, count - at);
}

/* Mostly every request has one item. Then the items that are wanted are found without a search. */
static void offer_items(struct sample_stream *stream, const struct hot_request *requests,
                        uint32_t count)
{
    bool single = true;
    for (uint32_t i = 0; i < count; i++)
        single = single && requests[i].item_count == 1;
    if (single)
        offer(stream, requests, count, pick_item);
    for (uint32_t i = 0; !single && i < count; i++)
        offer(stream, &requests[i], requests[i].item_count, pick_of_one);
}

static void offer_users(struct sample_stream *stream, const struct hot_request *requests,
                        uint32_t count, uint64_t with_user, bool all)
{
    if (all)
        offer(stream, requests, count, pick_user);
    for (uint32_t i = 0; !all && i < count; i++)
        if (with_user >> requests[i].op & 1)
            offer(stream, &requests[i], 1, pick_user);
}

static uint64_t passed(const struct dimension *dimension)
{
    return atomic_load_explicit(&dimension->passed, memory_order_relaxed);
}

static void set_passed(struct dimension *dimension, uint64_t count)
{
    atomic_store_explicit(&dimension->passed, count, memory_order_relaxed);
}

/* Under the lock: adds what was skipped without the lock, to the half in which it was skipped. */
static void settle(struct dimension *dimension, uint64_t now_ns)
{
    sample_pass(&dimension->stream, passed(dimension));
    set_passed(dimension, 0);
    if (sample_is_over(&dimension->stream, now_ns))
        sample_turn(&dimension->stream, now_ns);
}

void hotkeys_offer(struct hotkeys *hotkeys, unsigned thread, const struct hot_request *requests,
                   uint32_t count, uint64_t with_user, uint64_t items, uint64_t users,
                   uint64_t now_ns)
{
    ASSERT(thread < hotkeys->threads);
    struct thread_samples *own = &hotkeys->by_thread[thread];
    bool all_have_user = users == count;
    items += passed(&own->items);
    users += passed(&own->users);
    if (items <= own->items.left && users <= own->users.left && now_ns < own->turn_ns) {
        set_passed(&own->items, items);
        set_passed(&own->users, users);
        return;
    }
    if (pthread_mutex_trylock(&own->lock) != 0)
        return;
    settle(&own->items, now_ns);
    settle(&own->users, now_ns);
    offer_items(&own->items.stream, requests, count);
    offer_users(&own->users.stream, requests, count, with_user, all_have_user);
    own->items.left = sample_left(&own->items.stream);
    own->users.left = sample_left(&own->users.stream);
    own->turn_ns = own->items.stream.began_ns + HOTKEYS_HALF_NS;
    pthread_mutex_unlock(&own->lock);
}

/* Counting */

struct slot {
    struct item item;
    double weight; /* 0: free */
};

struct tally {
    struct slot *slots;
    size_t mask;
    uint64_t seed;
};

static void tally_add(struct tally *tally, struct item item, double weight)
{
    size_t at = item_hash(item, tally->seed) & tally->mask;
    while (tally->slots[at].weight > 0 && !item_equal(tally->slots[at].item, item))
        at = (at + 1) & tally->mask;
    tally->slots[at].item = item;
    tally->slots[at].weight += weight;
}

/* It must be called under the lock. */
static void tally_dimension(struct tally *tally, const struct dimension *dimension, uint64_t now_ns)
{
    const struct sample_stream *stream = &dimension->stream;
    for (unsigned half = 0; half < 2; half++) {
        const struct sample *sample = sample_half(stream, half);
        uint64_t more = half == 0 ? passed(dimension) : 0;
        double weight = sample_weight(stream, half, more, now_ns);
        for (uint32_t i = 0; weight > 0 && i < sample->count; i++)
            if (sample->kept[i].type != TYPE_UNKNOWN)
                tally_add(tally, sample->kept[i], weight);
    }
}

/* Ranks of the same rate have a fixed order, so that two answers in a row show the same order. */
static bool is_cooler(const struct hotkeys_rank *a, const struct hotkeys_rank *b)
{
    if (a->rate != b->rate)
        return a->rate < b->rate;
    if (a->item.id.hi != b->item.id.hi)
        return a->item.id.hi > b->item.id.hi;
    return a->item.id.lo != b->item.id.lo ? a->item.id.lo > b->item.id.lo
                                          : a->item.type > b->item.type;
}

/* Inserts a rank at or below index `at` of a min-heap. */
static void sift_down(struct hotkeys_rank *heap, uint32_t count, uint32_t at,
                      struct hotkeys_rank rank)
{
    for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && is_cooler(&heap[child + 1], &heap[child]))
            child++;
        if (!is_cooler(&heap[child], &rank))
            break;
        heap[at] = heap[child];
    }
    heap[at] = rank;
}

static void sift_up(struct hotkeys_rank *heap, uint32_t at, struct hotkeys_rank rank)
{
    for (; at > 0 && is_cooler(&rank, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = rank;
}

/* Writes the hottest of the tally, hottest first. Returns how many there are. */
static uint32_t pick(const struct tally *tally, double seconds, struct hotkeys_rank *heap)
{
    uint32_t count = 0;
    for (size_t i = 0; i <= tally->mask; i++) {
        const struct slot *slot = &tally->slots[i];
        struct hotkeys_rank rank = {.item = slot->item, .rate = slot->weight / seconds};
        if (slot->weight <= 0)
            continue;
        if (count < HOTKEYS_MAX)
            sift_up(heap, count++, rank);
        else if (is_cooler(&heap[0], &rank))
            sift_down(heap, count, 0, rank);
    }
    for (uint32_t left = count; left > 1;) {
        struct hotkeys_rank coolest = heap[0], last = heap[--left];
        sift_down(heap, left, 0, last);
        heap[left] = coolest;
    }
    return count;
}

static uint32_t count_all(struct hotkeys *hotkeys, bool users, struct tally *tally, double seconds,
                          uint64_t now_ns, struct hotkeys_rank *ranks)
{
    memset(tally->slots, 0, (tally->mask + 1) * sizeof *tally->slots);
    for (unsigned i = 0; i < hotkeys->threads; i++) {
        struct thread_samples *own = &hotkeys->by_thread[i];
        pthread_mutex_lock(&own->lock);
        tally_dimension(tally, users ? &own->users : &own->items, now_ns);
        pthread_mutex_unlock(&own->lock);
    }
    return pick(tally, seconds, ranks);
}

/* The length of the time that the samples cover. */
static double span_seconds(const struct hotkeys *hotkeys, uint64_t now_ns)
{
    uint64_t span = now_ns > hotkeys->born_ns ? now_ns - hotkeys->born_ns : 0;
    span = span < LEAST_SPAN_NS ? LEAST_SPAN_NS : span;
    return (double)(span < HOTKEYS_HALF_NS ? span : HOTKEYS_HALF_NS) / 1e9;
}

static enum status answer(struct hotkeys *hotkeys, uint64_t now_ns)
{
    size_t slots = 64, samples = (size_t)hotkeys->threads * 2 * hotkeys->size;
    while (slots < 2 * samples)
        slots *= 2;
    struct tally tally = {.seed = hotkeys->seed, .mask = slots - 1};
    size_t bytes = slots * sizeof *tally.slots;
    if (!memory_charge_connection(hotkeys->budget, bytes))
        return STATUS_NO_MEMORY;
    enum status status = STATUS_NO_MEMORY;
    tally.slots = malloc(bytes);
    if (tally.slots != NULL) {
        struct hotkeys_top *top = &hotkeys->answer;
        double seconds = span_seconds(hotkeys, now_ns);
        top->item_count = count_all(hotkeys, false, &tally, seconds, now_ns, top->items);
        top->user_count = count_all(hotkeys, true, &tally, seconds, now_ns, top->users);
        hotkeys->answered = true;
        hotkeys->answered_ns = now_ns;
        status = STATUS_OK;
    }
    memory_release_connection(hotkeys->budget, bytes);
    free(tally.slots);
    return status;
}

enum status hotkeys_top(struct hotkeys *hotkeys, uint64_t now_ns, struct hotkeys_top *out)
{
    enum status status = STATUS_OK;
    pthread_mutex_lock(&hotkeys->lock);
    bool fresh = hotkeys->answered && now_ns < hotkeys->answered_ns + HOTKEYS_KEEP_NS;
    if (!fresh)
        status = answer(hotkeys, now_ns);
    if (status == STATUS_OK)
        *out = hotkeys->answer;
    pthread_mutex_unlock(&hotkeys->lock);
    return status;
}

uint64_t hotkeys_rate(const struct hotkeys_rank *rank)
{
    return rank->rate < 1 ? 1 : (uint64_t)(rank->rate + 0.5);
}

void hotkeys_name(const struct hotkeys_rank *rank, const struct names *names,
                  char out[HOTKEYS_TEXT])
{
    size_t length = 0;
    if (names != NULL) {
        const struct name *type = names_type(names, rank->item.type);
        memcpy(out, type->text, type->length);
        length = type->length;
        out[length++] = ':';
    }
    length += id_format(rank->item.id, out + length);
    out[length] = '\0';
}
