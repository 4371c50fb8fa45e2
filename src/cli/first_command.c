#include "cli/first_command.h"

#include <stdio.h>
#include <string.h>

#include "base/name_lists.h"
#include "base/options.h"

/* A host that can be typed after -h. A wildcard address is replaced by the loopback address. */
static const char *reachable(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "*") == 0 ? "127.0.0.1"
           : strcmp(host, "::") == 0                              ? "::1"
                                                                  : host;
}

/* Quotes any text as one word for a shell, without a backslash, which a log may double. */
static void quote(const char *text, char *out)
{
    *out++ = '\'';
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            memcpy(out, "'\"'\"", 4);
            out += 4;
        }
        *out++ = *text;
    }
    memcpy(out, "'", 2);
}

/* The first token in the file that may write; if there is none, the first one, which may read. */
static const struct access_token *choose(const struct access *access)
{
    for (uint32_t i = 0; i < access->count; i++)
        if (access->tokens[i].role >= ROLE_WRITE)
            return &access->tokens[i];
    return &access->tokens[0];
}

/* A type of the token that writes may use; if there is none, any type of the token. */
static struct text choose_type(const struct access_token *token, const struct name_lists *lists)
{
    const char *at = token != NULL ? token->types : "";
    struct text first = {at, strcspn(at, ",")};
    if (*at == '\0')
        return name_lists_example(lists, NAME_TYPE, "video");
    for (;;) {
        size_t length = strcspn(at, ",");
        if (name_lists_allow(lists, NAME_TYPE, at, length) == STATUS_OK)
            return (struct text){at, length};
        if (at[length] == '\0')
            return first;
        at += length + 1;
    }
}

void first_command(const struct access *access, const char *tokens, const char *types,
                   const char *host, uint16_t port, char out[FIRST_COMMAND_MAX])
{
    char path[5 * OPTION_TEXT_MAX + 3], prefix[sizeof path + 128] = "";
    const struct access_token *token = access_is_on(access) ? choose(access) : NULL;
    const struct name_lists lists = {.texts = {[NAME_TYPE] = types}};
    struct text type = choose_type(token, &lists);
    bool writes = token == NULL || token->role >= ROLE_WRITE;
    if (token != NULL) {
        quote(tokens, path);
        snprintf(prefix, sizeof prefix,
                 "REDISCLI_AUTH=\"$(awk '$1 ~ /^%s$/ {print $2; exit}' %s)\" ",
                 writes ? "(write|admin)" : "read", path);
    }
    snprintf(out, FIRST_COMMAND_MAX, "a first %s: %sredis-cli -h %s -p %u %s %.*s:42",
             writes ? "like" : "read", prefix, reachable(host), port, writes ? "LIKE 1" : "COUNTS",
             (int)type.length, type.bytes);
}
