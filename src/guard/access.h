/*
 * Who may do what: tokens from a file, each with a role and, optionally, a list of the item types that
 * it is for. The file has one token on each line:
 *
 *     role token [type,type...]
 *
 * The roles are read, write (which includes reading), moderator (which includes writing, and what only
 * moderators of comments may do) and admin (everything). A line that begins with '#' is a comment. The
 * file is read once, at the start; after that any thread may look up tokens.
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
#define ACCESS_TYPES_MAX  256 /* bytes of the list of types of a token */

enum role { ROLE_NONE, ROLE_READ, ROLE_WRITE, ROLE_MODERATOR, ROLE_ADMIN };

struct access_token {
    enum role role;
    uint32_t length;
    uint64_t words[ACCESS_TOKEN_MAX / 8]; /* its bytes, filled up with zeros */
    char types[ACCESS_TYPES_MAX];         /* separated by commas; "": all types */
};

/* All zero: there are no tokens, and everybody may do everything. */
struct access {
    uint32_t count;
    struct access_token *tokens;
};

/*
 * Reads the file, which must be a regular file that only its owner can read or write. False: `problem`
 * is one sentence, which never shows a token.
 */
bool access_load(struct access *access, const char *path, char *problem, size_t size);

/* The same for the text of such a file. */
bool access_parse(struct access *access, const char *text, size_t length, char *problem,
                  size_t size);

void access_free(struct access *access);

static inline bool access_is_on(const struct access *access)
{
    return access->count > 0;
}

/* The token with this text, or NULL. The time it takes depends on nothing but the length of the text. */
const struct access_token *access_find(const struct access *access, struct text text);

/* Is the token for items of this type? */
bool access_has_type(const struct access_token *token, struct text type);

#endif
