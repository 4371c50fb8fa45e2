/*
 * Hexadecimal, lower case: the checksum (8 bytes), the time (4), the id (8, or 16 if wide). There is
 * one text for a place, so one that was edited in any way is not it.
 */
#include "op/cursor.h"

#include <string.h>

#include <xxhash.h>

#define SEED         0x6c6973746375720aULL
#define NARROW_BYTES 20
#define WIDE_BYTES   28

_Static_assert(CURSOR_TEXT == 2 * WIDE_BYTES, "two digits a byte");

/* Of the place, and of the list: action, kind, and the user and type, or the item. */
static uint64_t checksum(const struct hot_request *request, struct store_listed listed)
{
    bool by_item = request->action == HOT_LIST_REACTORS;
    struct id owner = by_item ? request->items[0].id : request->user;
    uint16_t type = by_item ? request->items[0].type : request->type;
    uint64_t words[] = {
        listed.time_s, listed.id.hi,
        listed.id.lo,  owner.hi,
        owner.lo,      (uint64_t)request->action << 32 | (uint64_t)request->name << 16 | type,
    };
    return XXH3_64bits_withSeed(words, sizeof words, SEED);
}

static size_t put(char *out, size_t at, uint64_t value, int digits)
{
    while (digits-- > 0)
        out[at++] = "0123456789abcdef"[value >> (4 * digits) & 15];
    return at;
}

size_t cursor_write(const struct hot_request *request, struct store_listed listed,
                    char out[CURSOR_TEXT])
{
    size_t at = put(out, 0, checksum(request, listed), 16);
    at = put(out, at, listed.time_s, 8);
    if (id_is_wide(listed.id))
        at = put(out, at, listed.id.hi, 16);
    return put(out, at, listed.id.lo, 16);
}

/* False: there is something else than digits. */
static bool take(const char **at, int digits, uint64_t *value)
{
    *value = 0;
    for (; digits > 0; digits--, (*at)++) {
        char c = **at;
        if ((c < '0' || c > '9') && (c < 'a' || c > 'f'))
            return false;
        *value = *value << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return true;
}

bool cursor_read(const struct hot_request *request, struct text text, struct store_listed *out)
{
    uint64_t sum, time_s, hi = 0, lo;
    bool wide = text.length == 2 * WIDE_BYTES;
    const char *at = text.bytes;
    if (!wide && text.length != 2 * NARROW_BYTES)
        return false;
    if (!take(&at, 16, &sum) || !take(&at, 8, &time_s) || (wide && !take(&at, 16, &hi)) ||
        !take(&at, 16, &lo))
        return false;
    struct store_listed listed = {.time_s = (uint32_t)time_s, .id = {.hi = hi, .lo = lo}};
    if (time_s == 0 || id_is_wide(listed.id) != wide || sum != checksum(request, listed))
        return false;
    *out = listed;
    return true;
}
