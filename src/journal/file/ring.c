/*
 * Why a zero word can mean "not published yet": the first word of a record has its length, which is
 * never 0, and the writer zeroes a range before it advances `freed`. A producer that has read
 * `freed` (in ring_has_room) therefore finds zeros, and the writer can distinguish a published
 * record from an old one without any index.
 *
 * Zeroing uses the first mapping only, like every load and store of a first word: the two mappings
 * are the same memory for the processor, but different memory for the compiler, which might reorder
 * accesses to them.
 *
 * Why the ring cannot overflow: the short events in it are at most `shorts` bytes, and the long ones,
 * with those that are reserved, at most `longs`.
 *
 * - `held` is only changed by one atomic step at a time, and it falls only after the bytes are free.
 *   So what it counts is never more than `longs`.
 * - Bytes of short events are what is between `freed` and `tail` without long_bytes. A long append
 *   advances `tail` before it adds to long_bytes, and the writer subtracts from long_bytes before it
 *   advances `freed`. ring_has_room reads in the order freed, long_bytes, tail. So whatever happens
 *   between its loads, it may take a long event for short ones, but never the reverse.
 *
 * Why a producer finds zeros although its range may depend on a newer `freed` than the one that it has
 * read: the newer one was read by another producer before it advanced `tail`, or by one that reserved
 * (the writer lowers `held` after it has zeroed the range). Every append is a read-modify-write of
 * `tail` and so comes after those before it, with all that they have seen.
 */
#include "journal/file/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/little.h"
#include "journal/file/record.h"

static int map_twice(struct ring *ring, int fd)
{
    size_t size = ring->size;
    uint8_t *bytes = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return -errno;
    for (int half = 0; half < 2; half++) {
        void *wanted = bytes + (size_t)half * size;
        const void *mapped = mmap(wanted, size, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0);
        if (mapped == MAP_FAILED) {
            int error = errno;
            munmap(bytes, 2 * size);
            return -error;
        }
    }
    ring->bytes = bytes;
    return 0;
}

int ring_make(struct ring *ring, const struct ring_sizes *sizes, uint64_t position)
{
    size_t size = sizes->bytes;
    ASSERT((size & (size - 1)) == 0 && position % 8 == 0);
    ASSERT(sizes->longs < size && sizes->long_max <= sizes->longs);
    *ring = (struct ring){.size = size,
                          .shorts = size - sizes->longs,
                          .longs = sizes->longs,
                          .long_max = sizes->long_max};
    atomic_init(&ring->tail, position);
    atomic_init(&ring->freed, position);
    atomic_init(&ring->long_bytes, 0);
    atomic_init(&ring->held, 0);
    int fd = memfd_create("laud-journal-ring", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    int result = ftruncate(fd, (off_t)size) < 0 ? -errno : map_twice(ring, fd);
    close(fd);
    return result;
}

void ring_free(struct ring *ring)
{
    if (ring->bytes != NULL)
        munmap(ring->bytes, 2 * ring->size);
    ring->bytes = NULL;
}

uint64_t ring_append(struct ring *ring, const struct event *event)
{
    size_t size = record_size(event);
    uint64_t position = atomic_fetch_add(&ring->tail, size);
    uint8_t *at = ring_at(ring, position);
    uint64_t first = record_encode(event, position, at, size);
    __atomic_store_n((uint64_t *)(void *)at, first, __ATOMIC_RELEASE);
    return position + size;
}

bool ring_reserve(struct ring *ring, size_t bytes)
{
    ASSERT(bytes > 0 && bytes <= ring->long_max);
    uint64_t held = atomic_load(&ring->held);
    do {
        if (held + ring->long_max > ring->longs)
            return false;
    } while (!atomic_compare_exchange_weak(&ring->held, &held, held + bytes));
    return true;
}

void ring_unreserve(struct ring *ring, size_t bytes)
{
    uint64_t before = atomic_fetch_sub(&ring->held, bytes);
    ASSERT(before >= bytes);
}

/*
 * long_bytes is raised before the record is published, so that the writer never releases a long event
 * that is not counted yet.
 */
uint64_t ring_append_long(struct ring *ring, const struct event *event)
{
    size_t size = record_size(event);
    size_t reserved = event_bytes_max(event);
    ASSERT(size <= reserved && reserved <= atomic_load_explicit(&ring->held, memory_order_relaxed));
    uint64_t position = atomic_fetch_add(&ring->tail, size);
    atomic_fetch_add(&ring->long_bytes, size);
    uint8_t *at = ring_at(ring, position);
    uint64_t first = record_encode(event, position, at, size);
    __atomic_store_n((uint64_t *)(void *)at, first, __ATOMIC_RELEASE);
    if (reserved > size)
        ring_unreserve(ring, reserved - size);
    return position + size;
}

/* The length of the record with this first word; 0: it is not published. */
static size_t word_size(uint64_t first)
{
    return (size_t)(le64toh(first) >> 32 & 0xffff) * 8;
}

/* The bytes of long events among the oldest `bytes` bytes, which are published. */
static size_t longs_in(const struct ring *ring, uint64_t from, size_t bytes)
{
    size_t longs = 0;
    for (size_t done = 0; done < bytes;) {
        const void *at = ring_at(ring, from + done);
        uint64_t first = __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
        bool is_long = (le64toh(first) >> 48 & 0xff) == EVENT_COMMENT;
        longs += is_long ? word_size(first) : 0;
        done += word_size(first);
    }
    return longs;
}

size_t ring_published(const struct ring *ring, uint64_t from, size_t limit, uint32_t *count)
{
    size_t bytes = 0;
    *count = 0;
    while (bytes < ring->size) {
        const void *at = ring_at(ring, from + bytes);
        uint64_t first = __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
        size_t size = word_size(first);
        if (size == 0 || bytes + size > limit)
            break;
        bytes += size;
        ++*count;
    }
    return bytes;
}

void ring_release(struct ring *ring, size_t bytes)
{
    uint64_t freed = atomic_load_explicit(&ring->freed, memory_order_relaxed);
    size_t start = freed & (ring->size - 1);
    size_t first = bytes < ring->size - start ? bytes : ring->size - start;
    ASSERT(freed + bytes <= atomic_load_explicit(&ring->tail, memory_order_relaxed));
    bool has_longs = atomic_load_explicit(&ring->long_bytes, memory_order_relaxed) > 0;
    size_t longs = has_longs ? longs_in(ring, freed, bytes) : 0;
    memset(ring->bytes + start, 0, first);
    memset(ring->bytes, 0, bytes - first);
    if (longs > 0)
        atomic_fetch_sub(&ring->long_bytes, longs);
    atomic_store_explicit(&ring->freed, freed + bytes, memory_order_release);
    if (longs > 0)
        ring_unreserve(ring, longs);
}
