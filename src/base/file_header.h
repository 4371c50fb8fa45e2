/*
 * What the headers of all our binary files have in common, little-endian:
 *
 *       0  8   magic, which names the format
 *       8  u32 version of the format
 *      12  …   fields of the format
 *       n  u64 XXH3-64 of the bytes 0 to n - 1
 *
 * Each format defines where its checksum is, and each reader chooses the order of its checks. A
 * reader can distinguish a header of a newer version from a damaged header only if the newer
 * version has its checksum at the same offset.
 *
 * The functions have no state, and any thread may call them. The bytes belong to the caller.
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

/* Sets `bytes` bytes to zero and then writes magic and version. */
void file_header_begin(uint8_t *out, size_t bytes, const struct file_format *format);

/* Writes the checksum of the bytes before offset `check` at that offset, and returns it. */
uint64_t file_header_seal(uint8_t *bytes, size_t check);

bool file_header_has_magic(const uint8_t *bytes, const struct file_format *format);
bool file_header_has_version(const uint8_t *bytes, const struct file_format *format);

/* Is the number at offset `check` the checksum of the bytes before it? */
bool file_header_verifies(const uint8_t *bytes, size_t check);

/* Are magic, version and checksum all correct? */
bool file_header_is_good(const uint8_t *bytes, const struct file_format *format, size_t check);

#endif
