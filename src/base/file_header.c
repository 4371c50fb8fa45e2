#include "base/file_header.h"

#include <string.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/little.h"

void file_header_begin(uint8_t *out, size_t bytes, const struct file_format *format)
{
    ASSERT(bytes >= FILE_HEADER_BYTES);
    memset(out, 0, bytes);
    memcpy(out, format->magic, sizeof format->magic);
    little_put32(out + 8, format->version);
}

uint64_t file_header_seal(uint8_t *bytes, size_t check)
{
    ASSERT(check >= FILE_HEADER_BYTES);
    uint64_t sum = XXH3_64bits(bytes, check);
    little_put64(bytes + check, sum);
    return sum;
}

bool file_header_has_magic(const uint8_t *bytes, const struct file_format *format)
{
    return memcmp(bytes, format->magic, sizeof format->magic) == 0;
}

bool file_header_has_version(const uint8_t *bytes, const struct file_format *format)
{
    return little_get32(bytes + 8) == format->version;
}

bool file_header_verifies(const uint8_t *bytes, size_t check)
{
    return little_get64(bytes + check) == XXH3_64bits(bytes, check);
}

bool file_header_is_good(const uint8_t *bytes, const struct file_format *format, size_t check)
{
    return file_header_has_magic(bytes, format) && file_header_has_version(bytes, format) &&
           file_header_verifies(bytes, check);
}
