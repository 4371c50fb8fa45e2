#include "move/foreign.h"

#include <string.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/limits.h"

#define HASHED (UINT64_C(1) << 63) /* the bit that ids from hashes have */

static const char *const formats[FOREIGN_FORMATS] = {
    [FOREIGN_ARTRANS] = "artrans", [FOREIGN_DISQUS] = "disqus", [FOREIGN_WXR] = "wxr"};

const char *foreign_format_text(enum foreign_format format)
{
    ASSERT(format < FOREIGN_FORMATS);
    return formats[format];
}

enum foreign_format foreign_format_parse(const char *text)
{
    unsigned format = 0;
    while (format < FOREIGN_FORMATS && strcmp(formats[format], text) != 0)
        format++;
    return (enum foreign_format)format;
}

const char *foreign_reason_text(enum foreign_reason reason)
{
    static const char *const texts[FOREIGN_REASONS] = {
        [FOREIGN_GOOD] = "nothing is wrong",
        [FOREIGN_SPAM] = "marked as spam or thrown away",
        [FOREIGN_DELETED] = "deleted, and no other comment answers it",
        [FOREIGN_NO_COMMENT] = "a pingback or trackback and not a comment",
        [FOREIGN_NO_ID] = "without an id",
        [FOREIGN_TWICE] = "with the id of an earlier comment in the file",
        [FOREIGN_NO_PAGE] = "without a page",
        [FOREIGN_NO_TIME] = "without a date that can be understood",
        [FOREIGN_EMPTY] = "without a text",
        [FOREIGN_TOO_LONG] = "with a text of more than 10000 bytes",
        [FOREIGN_NO_ROOT] = "in a thread whose first comment was refused",
        [FOREIGN_REFUSED] = "refused",
    };
    ASSERT(reason < FOREIGN_REASONS);
    return texts[reason];
}

struct text foreign_trim(struct text text)
{
    static const char spaces[] = " \t\r\n";
    while (text.length > 0 && strchr(spaces, text.bytes[0]) != NULL && text.bytes[0] != '\0') {
        text.bytes++;
        text.length--;
    }
    while (text.length > 0 && strchr(spaces, text.bytes[text.length - 1]) != NULL &&
           text.bytes[text.length - 1] != '\0')
        text.length--;
    return text;
}

static struct id hash_of(const char *what, struct text text)
{
    uint64_t seed = XXH3_64bits(what, strlen(what));
    return (struct id){.lo = XXH3_64bits_withSeed(text.bytes, text.length, seed) | HASHED};
}

struct id foreign_page_id(struct text key)
{
    struct id id;
    return id_parse(key.bytes, key.length, &id) ? id : hash_of("page", key);
}

struct id foreign_user(struct text id, struct text email, struct text account, struct text name)
{
    struct id parsed;
    char lower[FOREIGN_FIELD_BYTES];
    if (id_parse(id.bytes, id.length, &parsed) && (parsed.hi != 0 || parsed.lo != 0))
        return parsed;
    if (email.length == 0)
        return account.length > 0 ? hash_of("account", account) : hash_of("name", name);
    size_t length = email.length < sizeof lower ? email.length : sizeof lower;
    for (size_t i = 0; i < length; i++) {
        char byte = email.bytes[i];
        lower[i] = byte >= 'A' && byte <= 'Z' ? (char)(byte + 'a' - 'A') : byte;
    }
    return hash_of("email", (struct text){lower, length});
}

void foreign_judge(struct foreign_comment *comment, bool over)
{
    if (comment->reason != FOREIGN_GOOD)
        return;
    comment->reason = comment->id.length == 0                             ? FOREIGN_NO_ID
                      : comment->page.length == 0                         ? FOREIGN_NO_PAGE
                      : comment->time_s == 0                              ? FOREIGN_NO_TIME
                      : comment->text.length == 0                         ? FOREIGN_EMPTY
                      : over || comment->text.length > LIMIT_COMMENT_TEXT ? FOREIGN_TOO_LONG
                                                                          : FOREIGN_GOOD;
}

enum status foreign_read(enum foreign_format format, int fd, const char *site,
                         const struct foreign_sink *sink, char *problem, size_t size)
{
    switch (format) {
    case FOREIGN_ARTRANS:
        return artrans_read(fd, site, sink, problem, size);
    case FOREIGN_DISQUS:
        return disqus_read(fd, sink, problem, size);
    default:
        ASSERT(format == FOREIGN_WXR);
        return wxr_read(fd, sink, problem, size);
    }
}
