/*
 * Who may do what: tokens from a file, each with a role and, if it says so, the only item types it is
 * for. The file is one token a line,
 *
 *     role token [type,type...]
 *
 * with the roles read, write (reads too) and admin (everything); '#' begins a comment line. Read once,
 * at the start; from then on any thread may look.
 */
#ifndef LAUD_GUARD_ACCESS_H
#define LAUD_GUARD_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

#define ACCESS_TOKEN_MIN  16
#define ACCESS_TOKEN_MAX  128
#define ACCESS_TOKENS_MAX 256
#define ACCESS_TYPES_MAX  256 /* bytes of a token's list of types */

enum role { ROLE_NONE, ROLE_READ, ROLE_WRITE, ROLE_ADMIN };

struct access_token {
    enum role role;
    uint32_t length;
    uint64_t words[ACCESS_TOKEN_MAX / 8]; /* its bytes, zero behind them */
    char types[ACCESS_TYPES_MAX];         /* with commas between; "": all */
};

/* All zero: no tokens, everybody may do everything. */
struct access {
    uint32_t count;
    struct access_token *tokens;
};

/*
 * Reads the file, which must be a regular one that only its owner can read or write. False: `problem`
 * is one sentence, which never shows a token.
 */
bool access_load(struct access *access, const char *path, char *problem, size_t size);

/* The same from text. */
bool access_parse(struct access *access, const char *text, size_t length, char *problem,
                  size_t size);

void access_free(struct access *access);

static inline bool access_is_on(const struct access *access)
{
    return access->count > 0;
}

/* The token that reads so, or NULL. Takes as long for one as for another of the same length. */
const struct access_token *access_find(const struct access *access, struct text text);

/* May it touch items of this type? */
bool access_has_type(const struct access_token *token, struct text type);

#endif
