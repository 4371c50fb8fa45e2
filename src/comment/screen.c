/*
 * The list of words has a number of users: the screen itself, and every thread that searches with it at the
 * moment. Whoever is the last one frees it. So a reload waits for nobody.
 */
#include "comment/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/io.h"
#include "base/limits.h"
#include "comment/words.h"

#define SCREEN_MAGIC 0x73637265U

struct shared_words {
    struct words *words;
    unsigned users; /* under the lock of the screen */
};

struct screen {
    uint32_t magic;
    uint32_t links_max;
    pthread_mutex_t lock;
    struct shared_words *list; /* under the lock; NULL: there are no words */
};

struct screen *screen_new(uint32_t links_max)
{
    struct screen *screen = calloc(1, sizeof *screen);
    if (screen == NULL)
        return NULL;
    screen->magic = SCREEN_MAGIC;
    screen->links_max = links_max;
    pthread_mutex_init(&screen->lock, NULL);
    return screen;
}

static void list_release(struct screen *screen, struct shared_words *list)
{
    if (list == NULL)
        return;
    pthread_mutex_lock(&screen->lock);
    ASSERT(list->users > 0);
    bool last = --list->users == 0;
    pthread_mutex_unlock(&screen->lock);
    if (!last)
        return;
    words_free(list->words);
    free(list);
}

void screen_free(struct screen *screen)
{
    if (screen == NULL)
        return;
    CHECK_MAGIC(screen, SCREEN_MAGIC);
    list_release(screen, screen->list);
    pthread_mutex_destroy(&screen->lock);
    screen->magic = 0;
    free(screen);
}

static bool read_all(int fd, char *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t got = io_pread("screen.read", fd, bytes + done, length - done, done);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* The caller frees the bytes, which are not NULL if this returns true. */
static bool read_file(const char *path, struct text *out, char *problem, size_t size)
{
    uint64_t length = 0;
    int fd = io_open("screen.open", path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        snprintf(problem, size, "%s: %s", path, strerror(-fd));
        return false;
    }
    char *bytes = NULL;
    int result = io_size("screen.size", fd, &length);
    if (result < 0)
        snprintf(problem, size, "%s: %s", path, strerror(-result));
    else if (length > LIMIT_BLOCKED_FILE)
        snprintf(problem, size, "%s is larger than %llu bytes", path, LIMIT_BLOCKED_FILE);
    else if ((bytes = malloc(length + 1)) == NULL)
        snprintf(problem, size, "there is no memory for %s", path);
    else if (!read_all(fd, bytes, length)) {
        snprintf(problem, size, "%s cannot be read", path);
        free(bytes);
        bytes = NULL;
    }
    io_close("screen.close", fd);
    *out = (struct text){bytes, length};
    return bytes != NULL;
}

static struct shared_words *list_load(const char *path, char *problem, size_t size)
{
    struct text file;
    char reason[128];
    if (!read_file(path, &file, problem, size))
        return NULL;
    struct text lines = file;
    if (lines.length >= 3 && memcmp(lines.bytes, "\xef\xbb\xbf", 3) == 0)
        lines = (struct text){file.bytes + 3, file.length - 3}; /* a mark that some editors write */
    struct shared_words *list = malloc(sizeof *list);
    struct words *words = words_new(lines, reason, sizeof reason);
    free((char *)file.bytes);
    if (list != NULL && words != NULL) {
        *list = (struct shared_words){.words = words, .users = 1};
        return list;
    }
    snprintf(problem, size, "%s: %s", path, words == NULL ? reason : "there is no memory");
    words_free(words);
    free(list);
    return NULL;
}

bool screen_load(struct screen *screen, const char *path, char *problem, size_t size)
{
    CHECK_MAGIC(screen, SCREEN_MAGIC);
    struct shared_words *list = list_load(path, problem, size);
    if (list == NULL)
        return false;
    pthread_mutex_lock(&screen->lock);
    struct shared_words *old = screen->list;
    screen->list = list;
    pthread_mutex_unlock(&screen->lock);
    list_release(screen, old);
    return true;
}

static bool has_prefix(struct text text, size_t at, const char *prefix)
{
    size_t length = strlen(prefix);
    return text.length - at >= length && strncasecmp(text.bytes + at, prefix, length) == 0;
}

/* How many links there are, up to one more than the limit. "https://www." begins one and not two. */
static bool has_more_links(struct text text, uint32_t limit)
{
    uint32_t links = 0;
    for (size_t i = 0; i < text.length && links <= limit; i++) {
        char byte = text.bytes[i];
        bool scheme = (byte == 'h' || byte == 'H') &&
                      (has_prefix(text, i, "http://") || has_prefix(text, i, "https://"));
        bool host = (byte == 'w' || byte == 'W') && has_prefix(text, i, "www.") &&
                    (i == 0 || text.bytes[i - 1] != '/');
        links += scheme || host;
    }
    return links > limit;
}

bool screen_holds(struct screen *screen, struct text text)
{
    if (screen == NULL)
        return false;
    CHECK_MAGIC(screen, SCREEN_MAGIC);
    if (screen->links_max != UINT32_MAX && has_more_links(text, screen->links_max))
        return true;
    pthread_mutex_lock(&screen->lock);
    struct shared_words *list = screen->list;
    if (list != NULL)
        list->users++;
    pthread_mutex_unlock(&screen->lock);
    bool found = list != NULL && words_find(list->words, text);
    list_release(screen, list);
    return found;
}
