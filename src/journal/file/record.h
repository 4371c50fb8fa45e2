/*
 * The record codec: the bytes of one event, which are the same in the ring in memory and on disk.
 * The format is described at the top of record.c.
 *
 * The functions have no state, and any thread may call them. Bytes and events belong to the caller.
 */
#ifndef LAUD_JOURNAL_FILE_RECORD_H
#define LAUD_JOURNAL_FILE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/status.h"
#include "journal/event.h"

/* The length of the record, a multiple of 8, at most event_bytes_max. */
size_t record_size(const struct event *event);

/*
 * Fills the record from byte 8 to its end and returns its first 8 bytes as a little-endian word.
 * The caller stores this word last: in the ring, it publishes the record.
 */
uint64_t record_encode(const struct event *event, uint64_t position, uint8_t *out, size_t size);

/*
 * Reads one record. OK: *size is its length, and the body of a long event is in these bytes. MORE: the bytes end before the record does. DAMAGED:
 * the record does not verify, or has content that no writer writes.
 */
enum status record_decode(const uint8_t *bytes, size_t length, uint64_t position,
                          struct event *event, size_t *size);

#endif
