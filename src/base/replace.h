/*
 * A file that is replaced as a whole: written beside, synced, renamed over the one before, and the
 * directory synced. Whatever happens on the way, a good file stands under the name.
 */
#ifndef LAUD_BASE_REPLACE_H
#define LAUD_BASE_REPLACE_H

/* Names of the calls, see io.h. */
struct replace_points {
    const char *make;
    const char *sync;
    const char *close;
    const char *rename;
    const char *unlink;
};

/* Writes the whole content. 0 or -errno. */
typedef int replace_write_fn(const void *context, int fd);

/*
 * 0 or -errno; after an error the file is the one before, or the new one if only the directory could
 * not be synced.
 */
int replace_file(const struct replace_points *points, const char *path, replace_write_fn *write,
                 const void *context);

#endif
