/*
 * A token that is only for some types is compared with the words of an operation before they are decoded,
 * because decoding would create new types. Only a word with a colon can be an item, so other words after
 * the items need no check. An operation that names no type may use any type, so such a token does not
 * allow it: so WRITTEN, INBOX, SEEN, BAN and UNBAN need a token for all types. FRIENDS, and FEED with friends, also show follows, although none of their words names their type.
 */
#include "net/permit.h"

#include "base/log.h"
#include "net/face.h"

static bool has_item_type(const struct access_token *token, struct text word)
{
    const char *colon = memchr(word.bytes, ':', word.length);
    return colon == NULL ||
           access_has_type(token, (struct text){word.bytes, (size_t)(colon - word.bytes)});
}

/*
 * A comment is found before its subject is known. So it passes here, and the hot tier compares the type of
 * its subject (hot_detail_allows).
 */
static bool is_left_to_the_tier(const struct op_spec *spec, enum op_word word, struct text text)
{
    static const char before[] = COMMENT_TYPE_NAME ":";
    if (word == WORD_COMMENT || word == WORD_COMMENTS)
        return true;
    return (spec->action == HOT_COMMENT || spec->action == HOT_COMMENTS) && word == WORD_ITEM &&
           text.length >= sizeof before - 1 && memcmp(text.bytes, before, sizeof before - 1) == 0;
}

/* Does it show what only moderators may see? No other word than the keyword can be ALL. */
static bool shows_hidden(const struct op_spec *spec, const struct text *args, uint32_t count)
{
    bool shows = false;
    if (spec->action != HOT_COMMENTS && spec->action != HOT_HISTORY)
        return false;
    for (uint32_t i = 1; i < count && !shows; i++)
        shows = text_is(args[i], "ALL");
    return shows;
}

/* Does the answer depend on who follows whom? No other word than a keyword or its value can be FRIENDS. */
static bool shows_follows(const struct op_spec *spec, const struct text *args, uint32_t count)
{
    bool shows = spec->action == HOT_FRIENDS;
    for (uint32_t i = 0; i < count && spec->action == HOT_FEED && !shows; i++)
        shows = text_is(args[i], "FRIENDS");
    return shows;
}

static bool has_types(const struct access_token *token, const struct op_spec *spec,
                      const struct text *args, uint32_t count)
{
    static const struct text followed = {OP_FOLLOWED_TYPE, sizeof OP_FOLLOWED_TYPE - 1};
    bool named = false;
    uint32_t at = 0;
    if (shows_follows(spec, args, count) && !access_has_type(token, followed))
        return false;
    for (const uint8_t *word = spec->words; *word != WORD_END && at < count; word++) {
        uint32_t end = *word == WORD_ITEMS || *word == WORD_COMMENTS ? count : at + 1;
        for (; at < end; at++) {
            bool is_type = *word == WORD_TYPE;
            if (!is_type && !op_word_is_item((enum op_word) * word))
                continue;
            named = true;
            if (is_left_to_the_tier(spec, (enum op_word) * word, args[at]))
                continue;
            if (is_type ? !access_has_type(token, args[at]) : !has_item_type(token, args[at]))
                return false;
        }
    }
    return named;
}

static enum status permit_role(const struct conn *conn, enum role role)
{
    return permit_is_unknown(conn)                           ? STATUS_NO_AUTH
           : conn->token != NULL && conn->token->role < role ? STATUS_NO_PERMISSION
                                                             : STATUS_OK;
}

const struct access_token *permit_find_token(const struct conn *conn, struct text text,
                                             const struct ip *client)
{
    const struct access_token *token = access_find(&conn->loop->server->access, text);
    char address[IP_TEXT_MAX];
    if (token == NULL) {
        ip_format(client, address);
        log_warn("a %s client at %s sent a token that this server does not have", conn->face->name,
                 address);
    }
    return token;
}

bool permit_shows_all(const struct conn *conn)
{
    return !access_is_on(&conn->loop->server->access) ||
           (conn->token != NULL && conn->token->role >= ROLE_ADMIN &&
            conn->token->types[0] == '\0');
}

enum status permit_op_by_token(const struct conn *conn, const struct op_spec *spec,
                               const struct text *args, uint32_t count)
{
    bool moderates = op_moderates(spec) || shows_hidden(spec, args, count);
    enum role role = op_removes(spec)  ? ROLE_ADMIN
                     : moderates       ? ROLE_MODERATOR
                     : op_writes(spec) ? ROLE_WRITE
                                       : ROLE_READ;
    enum status status = permit_role(conn, role);
    if (status == STATUS_OK && conn->token->types[0] != '\0' &&
        !has_types(conn->token, spec, args, count))
        return STATUS_NO_PERMISSION;
    return status;
}

enum status permit_command_by_token(const struct conn *conn, const struct command *command,
                                    const struct text *args, uint32_t count)
{
    if (command == NULL)
        return permit_role(conn, ROLE_READ);
    if (command->op != NULL)
        return permit_op_by_token(conn, command->op, args, count);
    if (command->access == COMMAND_FOR_ALL)
        return STATUS_OK;
    if (command->access == COMMAND_FOR_ADMINS && !permit_is_unknown(conn))
        return permit_shows_all(conn) ? STATUS_OK : STATUS_NO_PERMISSION;
    return permit_role(conn, ROLE_READ);
}
