/*
 * One thin function for each file operation of the server. They have two purposes: EINTR and short
 * transfers are handled only here, and a test can make any call fail by the name of its point. The
 * code for the second purpose is compiled only with LAUD_FAULTS, so a release build does not have
 * it.
 *
 * A failed fsync is never retried: the kernel drops the dirty pages that it could not write and
 * reports success the next time, so a second call would hide the loss of data.
 */
#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/decimal.h"

enum fault_kind { FAULT_NONE, FAULT_ERROR, FAULT_INTERRUPT, FAULT_SHORT, FAULT_SKIP, FAULT_KILL };

struct fault {
    enum fault_kind kind;
    int error;
};

#ifdef LAUD_FAULTS

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#define FAULT_ENTRIES 16
#define FAULT_POINTS  192 /* different names in the program, at most */

struct fault_entry {
    char point[48];
    uint64_t nth;
    uint64_t calls;
    bool onwards; /* the nth call and every later one */
    struct fault fault;
};

static struct {
    pthread_mutex_t lock;
    bool environment_read;
    /* The plan is from the environment, so standard error shows where it first had an effect. */
    bool told;
    size_t count;
    uint64_t calls;
    struct fault_entry entries[FAULT_ENTRIES];
    struct {
        const char *name; /* a string literal, as all callers pass */
        uint64_t calls;
    } points[FAULT_POINTS];
} faults = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool fault_parse_what(const char *text, size_t length, struct fault *out)
{
    static const struct {
        const char *name;
        struct fault fault;
    } table[] = {
        {"EIO", {FAULT_ERROR, EIO}},         {"ENOSPC", {FAULT_ERROR, ENOSPC}},
        {"EDQUOT", {FAULT_ERROR, EDQUOT}},   {"EMFILE", {FAULT_ERROR, EMFILE}},
        {"EINTR", {FAULT_INTERRUPT, EINTR}}, {"SHORT", {FAULT_SHORT, 0}},
        {"SKIP", {FAULT_SKIP, 0}},           {"KILL", {FAULT_KILL, 0}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strlen(table[i].name) == length && strncasecmp(table[i].name, text, length) == 0) {
            *out = table[i].fault;
            return true;
        }
    }
    return false;
}

/* point:nth:what or point:nth+:what */
static bool fault_parse_entry(const char *text, size_t length, struct fault_entry *out)
{
    const char *end = text + length;
    const char *colon = memchr(text, ':', length);
    if (colon == NULL || colon == text || (size_t)(colon - text) >= sizeof out->point)
        return false;
    *out = (struct fault_entry){0};
    memcpy(out->point, text, (size_t)(colon - text));

    const char *after = colon + 1;
    struct text digits = {after, decimal_digits((struct text){after, (size_t)(end - after)})};
    after += digits.length;
    if (!decimal_read(digits, UINT64_MAX, &out->nth) || out->nth == 0 || after == end)
        return false;
    out->onwards = *after == '+';
    after += out->onwards;
    if (after >= end || *after != ':')
        return false;
    return fault_parse_what(after + 1, (size_t)(end - after - 1), &out->fault);
}

static int faults_plan_locked(const char *plan)
{
    faults.environment_read = true;
    faults.count = 0;
    faults.calls = 0;
    memset(faults.points, 0, sizeof faults.points);
    while (plan != NULL && *plan != '\0') {
        size_t length = strcspn(plan, ",");
        if (faults.count == FAULT_ENTRIES ||
            !fault_parse_entry(plan, length, &faults.entries[faults.count])) {
            faults.count = 0;
            return -EINVAL;
        }
        faults.count++;
        plan += length + (plan[length] == ',');
    }
    return 0;
}

int io_faults_plan(const char *plan)
{
    pthread_mutex_lock(&faults.lock);
    faults.told = false;
    int result = faults_plan_locked(plan);
    pthread_mutex_unlock(&faults.lock);
    return result;
}

uint64_t io_faults_calls(void)
{
    pthread_mutex_lock(&faults.lock);
    uint64_t calls = faults.calls;
    pthread_mutex_unlock(&faults.lock);
    return calls;
}

uint64_t io_faults_calls_at(const char *point)
{
    uint64_t calls = 0;
    pthread_mutex_lock(&faults.lock);
    for (size_t i = 0; i < FAULT_POINTS && faults.points[i].name != NULL; i++)
        if (strcmp(faults.points[i].name, point) == 0)
            calls = faults.points[i].calls;
    pthread_mutex_unlock(&faults.lock);
    return calls;
}

static void fault_count(const char *point)
{
    size_t i = 0;
    while (faults.points[i].name != NULL && strcmp(faults.points[i].name, point) != 0)
        if (++i == FAULT_POINTS)
            abort();
    faults.points[i].name = point;
    faults.points[i].calls++;
    faults.calls++;
}

static void faults_read_environment(void)
{
    faults.told = true;
    if (faults_plan_locked(getenv("LAUD_FAULTS")) != 0)
        abort(); /* a test whose plan is not understood would prove nothing */
}

static struct fault fault_at(const char *point)
{
    struct fault found = {FAULT_NONE, 0};
    pthread_mutex_lock(&faults.lock);
    if (!faults.environment_read)
        faults_read_environment();
    fault_count(point);
    for (size_t i = 0; i < faults.count; i++) {
        struct fault_entry *entry = &faults.entries[i];
        if (strcmp(entry->point, "*") != 0 && strcmp(entry->point, point) != 0)
            continue;
        entry->calls++;
        if (entry->calls == entry->nth && faults.told)
            fprintf(stderr, "fault injected at %s, call %" PRIu64 "\n", point, faults.calls);
        if (entry->calls == entry->nth || (entry->onwards && entry->calls > entry->nth))
            found = entry->fault;
    }
    if (found.kind == FAULT_KILL)
        raise(SIGKILL);
    pthread_mutex_unlock(&faults.lock);
    return found;
}

void io_fault_point(const char *point)
{
    fault_at(point);
}

#else

static inline struct fault fault_at(const char *point)
{
    (void)point;
    return (struct fault){FAULT_NONE, 0};
}

#endif

/*
 * Runs `call` (an int or ssize_t, -1 with errno) again while it is interrupted. The result is its
 * value or -errno.
 */
#define UNINTERRUPTED(fault, call)                                                                 \
    ({                                                                                             \
        __typeof__(call) value_ = -1;                                                              \
        errno = EINTR;                                                                             \
        if ((fault).kind == FAULT_ERROR) {                                                         \
            errno = (fault).error;                                                                 \
        } else {                                                                                   \
            if ((fault).kind == FAULT_INTERRUPT)                                                   \
                (fault).kind = FAULT_NONE; /* as if the first try had been interrupted */          \
            do                                                                                     \
                value_ = (call);                                                                   \
            while (value_ < 0 && errno == EINTR);                                                  \
        }                                                                                          \
        value_ < 0 ? -errno : value_;                                                              \
    })

int io_open(const char *point, const char *path, int flags, mode_t mode)
{
    struct fault fault = fault_at(point);
    return UNINTERRUPTED(fault, open(path, flags | O_CLOEXEC, mode));
}

int io_close(const char *point, int fd)
{
    struct fault fault = fault_at(point);
    int result = close(fd) < 0 && errno != EINTR ? -errno : 0; /* after EINTR it is closed too */
    return fault.kind == FAULT_ERROR ? -fault.error : result;
}

int io_pwrite_all(const char *point, int fd, const void *bytes, size_t length, uint64_t offset)
{
    struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = length};
    return io_pwritev_all(point, fd, &part, 1, offset);
}

static size_t parts_length(const struct iovec *parts, int count)
{
    size_t length = 0;
    for (int i = 0; i < count; i++)
        length += parts[i].iov_len;
    return length;
}

/*
 * Advances the buffers by the number of bytes written. Returns how many buffers are completely
 * written.
 */
static int parts_advance(struct iovec *parts, int count, size_t written)
{
    int done = 0;
    while (done < count && written >= parts[done].iov_len) {
        written -= parts[done].iov_len;
        done++;
    }
    if (done < count) {
        parts[done].iov_base = (uint8_t *)parts[done].iov_base + written;
        parts[done].iov_len -= written;
    }
    return done;
}

/* Transfers half of the bytes, as may happen with a full pipe or after a signal. */
static ssize_t write_half(int fd, const struct iovec *parts, int count, uint64_t offset)
{
    size_t half = parts_length(parts, count) / 2;
    size_t first = parts[0].iov_len < half || half == 0 ? parts[0].iov_len : half;
    return pwrite(fd, parts[0].iov_base, first, (off_t)offset);
}

int io_pwritev_all(const char *point, int fd, struct iovec *parts, int count, uint64_t offset)
{
    struct fault fault = fault_at(point);
    if (fault.kind == FAULT_SKIP)
        return 0;
    while (count > 0) {
        bool half = fault.kind == FAULT_SHORT;
        ssize_t written = UNINTERRUPTED(fault, half ? write_half(fd, parts, count, offset)
                                                    : pwritev(fd, parts, count, (off_t)offset));
        fault.kind = FAULT_NONE;
        if (written < 0)
            return (int)written;
        if (written == 0 && parts_length(parts, count) > 0)
            return -ENOSPC;
        int done = parts_advance(parts, count, (size_t)written);
        parts += done;
        count -= done;
        offset += (uint64_t)written;
    }
    return 0;
}

ssize_t io_pread(const char *point, int fd, void *bytes, size_t length, uint64_t offset)
{
    struct fault fault = fault_at(point);
    size_t total = 0;
    while (total < length) {
        size_t wanted = length - total;
        if (fault.kind == FAULT_SHORT && wanted > 1)
            wanted /= 2;
        ssize_t got = UNINTERRUPTED(
            fault, pread(fd, (uint8_t *)bytes + total, wanted, (off_t)(offset + total)));
        fault.kind = FAULT_NONE;
        if (got < 0)
            return got;
        if (got == 0)
            break;
        total += (size_t)got;
    }
    return (ssize_t)total;
}

int io_size(const char *point, int fd, uint64_t *size)
{
    struct fault fault = fault_at(point);
    struct stat facts = {0};
    int result = UNINTERRUPTED(fault, fstat(fd, &facts));
    if (result == 0)
        *size = (uint64_t)facts.st_size;
    return result;
}

int io_sync_data(const char *point, int fd)
{
    struct fault fault = fault_at(point);
    return fault.kind == FAULT_SKIP ? 0 : UNINTERRUPTED(fault, fdatasync(fd));
}

int io_sync(const char *point, int fd)
{
    struct fault fault = fault_at(point);
    return fault.kind == FAULT_SKIP ? 0 : UNINTERRUPTED(fault, fsync(fd));
}

int io_sync_directory(const char *point, const char *path)
{
    struct fault fault = fault_at(point);
    if (fault.kind == FAULT_SKIP)
        return 0;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int result = UNINTERRUPTED(fault, fsync(fd));
    close(fd);
    return result;
}

int io_allocate(const char *point, int fd, uint64_t length)
{
    struct fault fault = fault_at(point);
    return fault.kind == FAULT_SKIP ? 0 : UNINTERRUPTED(fault, fallocate(fd, 0, 0, (off_t)length));
}

int io_truncate(const char *point, int fd, uint64_t length)
{
    struct fault fault = fault_at(point);
    return fault.kind == FAULT_SKIP ? 0 : UNINTERRUPTED(fault, ftruncate(fd, (off_t)length));
}

int io_rename(const char *point, const char *from, const char *to)
{
    struct fault fault = fault_at(point);
    return fault.kind == FAULT_SKIP ? 0 : UNINTERRUPTED(fault, rename(from, to));
}

int io_unlink(const char *point, const char *path)
{
    struct fault fault = fault_at(point);
    return fault.kind == FAULT_SKIP ? 0 : UNINTERRUPTED(fault, unlink(path));
}

int io_link(const char *point, const char *from, const char *to)
{
    struct fault fault = fault_at(point);
    return fault.kind == FAULT_SKIP ? 0 : UNINTERRUPTED(fault, link(from, to));
}

int io_make_directory(const char *point, const char *path, mode_t mode)
{
    struct fault fault = fault_at(point);
    if (fault.kind == FAULT_SKIP)
        return 0;
    int result = UNINTERRUPTED(fault, mkdir(path, mode));
    return result == -EEXIST ? 0 : result;
}

int io_list(const char *point, const char *path, io_list_fn *visit, void *context)
{
    struct fault fault = fault_at(point);
    if (fault.kind == FAULT_ERROR)
        return -fault.error;
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        return -errno;
    int result = 0;
    for (int i = 0; i < count; i++) {
        if (result == 0)
            result = visit(context, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return result;
}
