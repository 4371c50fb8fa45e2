/*
 * Little-endian numbers in byte arrays, as in all of our files. The bytes need no alignment.
 */
#ifndef LAUD_BASE_LITTLE_H
#define LAUD_BASE_LITTLE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void little_put16(uint8_t *out, uint16_t value)
{
    value = htole16(value);
    memcpy(out, &value, sizeof value);
}

static inline void little_put32(uint8_t *out, uint32_t value)
{
    value = htole32(value);
    memcpy(out, &value, sizeof value);
}

static inline void little_put64(uint8_t *out, uint64_t value)
{
    value = htole64(value);
    memcpy(out, &value, sizeof value);
}

static inline uint16_t little_get16(const uint8_t *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return le16toh(value);
}

static inline uint32_t little_get32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return le32toh(value);
}

static inline uint64_t little_get64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return le64toh(value);
}

#endif
