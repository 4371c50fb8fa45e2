/*
 * Copies files and computes their checksums, no faster than a given speed, and shows the progress. One
 * thread uses a `struct copier`. After a failure `problem` of it has a sentence.
 */
#ifndef LAUD_CLI_BACKUP_FILES_H
#define LAUD_CLI_BACKUP_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "cli/progress_bar.h"

struct copier {
    uint64_t speed; /* bytes a second; 0: as fast as possible */
    uint64_t total; /* bytes that will be copied or read, for the progress */
    uint64_t done;
    uint64_t began_ns;
    struct progress_bar bar;
    uint8_t *buffer;
    char problem[512];
};

/* `what` names the work in the progress. False: there is no memory. */
bool copier_open(struct copier *copier, const char *program, const char *what, uint64_t speed);
void copier_close(struct copier *copier); /* also removes the bar; may be called more than once */

/* What the command reads about a file before it copies the file. */
struct file_facts {
    uint64_t bytes;
    uint64_t device;
    uint64_t inode;
    uint64_t changed_ns;
};
enum status copier_facts(struct copier *copier, const char *path, struct file_facts *out);

/* Reads a file and computes the checksum of its content (XXH3-64), and its length. */
enum status copier_check(struct copier *copier, const char *path, uint64_t *bytes, uint64_t *check);

/* Copies to a new file, which is on disk when this returns OK. DISK_FULL: there is no room. */
enum status copier_copy(struct copier *copier, const char *from, const char *to, uint64_t *bytes,
                        uint64_t *check);

/* Sets the sentence for an error (-errno) of something else. Returns DISK_FULL or IO_FAILED. */
enum status copier_fail(struct copier *copier, const char *what, const char *path, int error);

/* Lowers the priority of this process, for the processor and for the disk. */
void copier_be_gentle(void);

#endif
