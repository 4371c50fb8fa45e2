/*
 * Why a zero word can mean "not published yet": the first word of a record has its length, which is
 * never 0, and the writer zeroes a range before it advances `freed`. A producer that has read
 * `freed` (in ring_has_room) therefore finds zeros, and the writer can distinguish a published
 * record from an old one without any index.
 *
 * Zeroing uses the first mapping only, like every load and store of a first word: the two mappings
 * are the same memory for the processor, but different memory for the compiler, which might reorder
 * accesses to them.
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

int ring_make(struct ring *ring, size_t size, uint64_t position)
{
    ASSERT((size & (size - 1)) == 0 && position % 8 == 0);
    *ring = (struct ring){.size = size};
    atomic_init(&ring->tail, position);
    atomic_init(&ring->freed, position);
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

size_t ring_published(const struct ring *ring, uint64_t from, size_t limit, uint32_t *count)
{
    size_t bytes = 0;
    *count = 0;
    while (bytes < ring->size) {
        const void *at = ring_at(ring, from + bytes);
        uint64_t first = __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
        size_t size = (size_t)(le64toh(first) >> 32 & 0xffff) * 8;
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
    memset(ring->bytes + start, 0, first);
    memset(ring->bytes, 0, bytes - first);
    atomic_store_explicit(&ring->freed, freed + bytes, memory_order_release);
}
