/*
 * What the headers of our binary files have in common, little-endian:
 *
 *      0  8   magic, which names the format
 *      8  u32 version of the format
 *     12  …   what the format says
 *      n  u64 XXH3-64 of bytes 0 to n
 *
 * Where the checksum is, each format says itself, and each reader decides in which order it asks: a
 * header of a newer version is told from a damaged one only if its checksum stays where it was.
 *
 * The functions keep nothing, and any thread may call them. The bytes are the caller's.
 */
#ifndef LAUD_BASE_FILE_HEADER_H
#define LAUD_BASE_FILE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_HEADER_BYTES 12 /* magic and version */

struct file_format {
    char magic[8];
    uint32_t version;
};

/* Clears `bytes` bytes, and puts magic and version in. */
void file_header_begin(uint8_t *out, size_t bytes, const struct file_format *format);

/* Puts the checksum of the bytes before `check` there, and returns it. */
uint64_t file_header_seal(uint8_t *bytes, size_t check);

bool file_header_has_magic(const uint8_t *bytes, const struct file_format *format);
bool file_header_has_version(const uint8_t *bytes, const struct file_format *format);

/* Is the checksum at `check` that of the bytes before it? */
bool file_header_verifies(const uint8_t *bytes, size_t check);

/* All three. */
bool file_header_is_good(const uint8_t *bytes, const struct file_format *format, size_t check);

#endif
