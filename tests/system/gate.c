/*
 * Preloaded into a server, it lets a test stop the server at chosen calls and see that it stands there.
 * The file $LAUD_TEST_GATE holds the words of `enum word` below, 64 bits each; tests/system/gate.py maps
 * the same file. A call that is held waits until its word is 0 again. Nothing here depends on time: the
 * pauses only keep a held thread from using the processor.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum word {
    HOLD_SYNCS,  /* not 0: hold fdatasync of the journal's segments */
    SYNCS_HELD,  /* how many of them are held now */
    SYNCS,       /* how many have been made */
    HOLD_READS,  /* not 0: hold reads of the store that requests make */
    READS_HELD,  /* how many of them are held now */
    HOLD_TURNS,  /* not 0: hold event loops before they wait for events */
    TURNS_HELD,  /* how many of them are held now */
    TURNS,       /* how often an event loop began to wait for events */
    HOLD_SOURCE, /* not 0: hold reads of the journal's segments, which the projector makes */
    SOURCE_HELD, /* how many of them are held now */
    RECEIVE_US,  /* pause before each read from a socket, in microseconds */
    WORDS
};

static volatile int64_t *words;

__attribute__((constructor)) static void map_words(void)
{
    const char *path = getenv("LAUD_TEST_GATE");
    int fd = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
    size_t length = WORDS * sizeof *words;
    void *bytes =
        fd < 0 ? MAP_FAILED : mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED)
        abort();
    close(fd);
    words = bytes;
}

static void add(enum word word, int64_t delta)
{
    __atomic_add_fetch(&words[word], delta, __ATOMIC_SEQ_CST);
}

static void hold_while(enum word hold, enum word held)
{
    if (__atomic_load_n(&words[hold], __ATOMIC_SEQ_CST) == 0)
        return;
    add(held, 1);
    while (__atomic_load_n(&words[hold], __ATOMIC_SEQ_CST) != 0)
        usleep(500);
    add(held, -1);
}

/* Is this a segment of the journal that is in use, data/journal/0000000001.seg, and no spare one? */
static bool is_segment(int fd)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return false;
    path[length] = '\0';
    const char *name = strstr(path, "/journal/");
    return name != NULL && strspn(name + 9, "0123456789") == 10 && strcmp(name + 19, ".seg") == 0;
}

int fdatasync(int fd)
{
    bool counted = is_segment(fd);
    if (counted)
        hold_while(HOLD_SYNCS, SYNCS_HELD);
    int result = (int)syscall(SYS_fdatasync, fd);
    if (counted)
        add(SYNCS, 1);
    return result;
}

ssize_t pread(int fd, void *bytes, size_t length, off_t offset)
{
    if (words[HOLD_SOURCE] != 0 && is_segment(fd))
        hold_while(HOLD_SOURCE, SOURCE_HELD);
    return syscall(SYS_pread64, fd, bytes, length, offset);
}

ssize_t pread64(int fd, void *bytes, size_t length, off64_t offset)
{
    return pread(fd, bytes, length, offset);
}

/* RocksDB writes this name into its tables, and recorded tables must not name a machine. */
int gethostname(char *name, size_t length)
{
    return snprintf(name, length, "laud") < (int)length ? 0 : -1;
}

static void *next_of(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    if (next == NULL)
        abort();
    return next;
}

/* Requests read the store on threads of their own; those with other work must go on. */
static void hold_request(void)
{
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    if (strcmp(name, "projector") != 0 && strcmp(name, "boards") != 0 &&
        strcmp(name, "keeper") != 0)
        hold_while(HOLD_READS, READS_HELD);
}

void rocksdb_batched_multi_get_cf(void *db, const void *options, void *family, size_t count,
                                  const char *const *keys, const size_t *lengths, void **values,
                                  char **problems, unsigned char sorted)
{
    typedef void get_fn(void *, const void *, void *, size_t, const char *const *, const size_t *,
                        void **, char **, unsigned char);
    get_fn *next = (get_fn *)next_of("rocksdb_batched_multi_get_cf");
    hold_request();
    next(db, options, family, count, keys, lengths, values, problems, sorted);
}

void *rocksdb_create_iterator(void *db, const void *options)
{
    typedef void *make_fn(void *, const void *);
    make_fn *next = (make_fn *)next_of("rocksdb_create_iterator");
    hold_request();
    return next(db, options);
}

ssize_t read(int fd, void *bytes, size_t length)
{
    struct stat found;
    if (words != NULL && words[RECEIVE_US] != 0 && fstat(fd, &found) == 0 &&
        S_ISSOCK(found.st_mode))
        usleep((useconds_t)words[RECEIVE_US]);
    return syscall(SYS_read, fd, bytes, length);
}

int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout_ms, const sigset_t *mask)
{
    typedef int wait_fn(int, struct epoll_event *, int, int, const sigset_t *);
    wait_fn *next = (wait_fn *)next_of("epoll_pwait");
    add(TURNS, 1);
    hold_while(HOLD_TURNS, TURNS_HELD);
    return next(fd, events, most, timeout_ms, mask);
}

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout_ms)
{
    return epoll_pwait(fd, events, most, timeout_ms, NULL);
}
