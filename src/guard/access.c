/*
 * A token is compared with all tokens of the file, each over the whole length that a token may have.
 * So the time it takes reveals neither how much of a guess was right, nor which token it was similar
 * to.
 */
#include "guard/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"

#define FILE_MAX KIB(256)

static const char *const role_names[] = {
    [ROLE_NONE] = "",       [ROLE_READ] = "read",
    [ROLE_WRITE] = "write", [ROLE_MODERATOR] = "moderator",
    [ROLE_ADMIN] = "admin",
};

static uint32_t words_differ(const struct access_token *token, const struct access_token *other)
{
    uint64_t differ = token->length ^ other->length;
    for (size_t i = 0; i < ACCESS_TOKEN_MAX / 8; i++)
        differ |= token->words[i] ^ other->words[i];
    __asm__ volatile("" : "+r"(differ)); /* keeps the compiler from ending the loop early */
    return (uint32_t)((differ | -differ) >> 63);
}

const struct access_token *access_find(const struct access *access, struct text text)
{
    struct access_token given = {.length = (uint32_t)text.length};
    uint32_t found = 0;
    if (text.length == 0 || text.length > ACCESS_TOKEN_MAX)
        return NULL;
    memcpy(given.words, text.bytes, text.length);
    for (uint32_t i = 0; i < access->count; i++)
        found |= (i + 1) & (words_differ(&access->tokens[i], &given) - 1);
    return found > 0 ? &access->tokens[found - 1] : NULL;
}

bool access_has_type(const struct access_token *token, struct text type)
{
    return token->types[0] == '\0' || text_in_list(type, token->types);
}

/* Removes the next word from the line and returns it. Empty: there is none. */
static struct text next_word(struct text *line)
{
    size_t from = 0, to;
    while (from < line->length && (line->bytes[from] == ' ' || line->bytes[from] == '\t'))
        from++;
    for (to = from; to < line->length && line->bytes[to] != ' ' && line->bytes[to] != '\t';)
        to++;
    struct text word = {line->bytes + from, to - from};
    *line = (struct text){line->bytes + to, line->length - to};
    return word;
}

static bool is_printable(struct text text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.bytes[i] <= ' ' || text.bytes[i] > '~')
            return false;
    }
    return true;
}

static enum role role_of(struct text word)
{
    for (enum role role = ROLE_READ; role <= ROLE_ADMIN; role++) {
        if (strlen(role_names[role]) == word.length &&
            memcmp(word.bytes, role_names[role], word.length) == 0)
            return role;
    }
    return ROLE_NONE;
}

static bool is_type(struct text text)
{
    if (text.length == 0 || text.length > LIMIT_NAME_LENGTH || text.bytes[0] < 'a' ||
        text.bytes[0] > 'z')
        return false;
    for (size_t i = 1; i < text.length; i++) {
        char c = text.bytes[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'))
            return false;
    }
    return true;
}

static bool take_types(struct access_token *token, struct text list)
{
    if (list.length >= sizeof token->types)
        return false;
    memcpy(token->types, list.bytes, list.length);
    token->types[list.length] = '\0';
    while (list.length > 0) {
        const char *comma = memchr(list.bytes, ',', list.length);
        size_t length = comma != NULL ? (size_t)(comma - list.bytes) : list.length;
        if (!is_type((struct text){list.bytes, length}) || length + 1 == list.length)
            return false;
        length += comma != NULL;
        list = (struct text){list.bytes + length, list.length - length};
    }
    return true;
}

/* Adds the token of one line. Returns what is wrong with the line, or NULL. */
static const char *take_line(struct access *access, struct text line)
{
    struct text role = next_word(&line), text = next_word(&line), types = next_word(&line);
    if (role.length == 0 || role.bytes[0] == '#')
        return NULL;
    if (access->count == ACCESS_TOKENS_MAX)
        return "there are more than 256 tokens";
    struct access_token token = {.role = role_of(role), .length = (uint32_t)text.length};
    if (token.role == ROLE_NONE)
        return "the role must be read, write, moderator or admin";
    if (text.length < ACCESS_TOKEN_MIN || text.length > ACCESS_TOKEN_MAX || !is_printable(text))
        return "a token must be 16 to 128 printable characters";
    if (!take_types(&token, types))
        return "the types must be names that are separated by commas, at most 255 bytes long";
    if (next_word(&line).length > 0)
        return "there is something after the types";
    if (access_find(access, text) != NULL)
        return "this token is in the file twice";
    memcpy(token.words, text.bytes, text.length);
    access->tokens[access->count++] = token;
    return NULL;
}

bool access_parse(struct access *access, const char *text, size_t length, char *problem,
                  size_t size)
{
    const char *wrong = NULL;
    *access = (struct access){.tokens = calloc(ACCESS_TOKENS_MAX, sizeof(struct access_token))};
    if (access->tokens == NULL) {
        snprintf(problem, size, "there is no memory for the tokens");
        return false;
    }
    for (unsigned number = 1; length > 0 && wrong == NULL; number++) {
        const char *feed = memchr(text, '\n', length);
        size_t line = feed != NULL ? (size_t)(feed - text) : length, past = line + (feed != NULL);
        wrong = take_line(access, (struct text){text, line - (line > 0 && text[line - 1] == '\r')});
        if (wrong != NULL)
            snprintf(problem, size, "line %u: %s", number, wrong);
        text += past;
        length -= past;
    }
    if (wrong == NULL && access->count == 0) {
        wrong = "it has no tokens";
        snprintf(problem, size, "%s", wrong);
    }
    if (wrong != NULL)
        access_free(access);
    return wrong == NULL;
}

static bool check_mode(int file, char *problem, size_t size)
{
    struct stat found;
    if (fstat(file, &found) < 0)
        snprintf(problem, size, "%s", strerror(errno));
    else if (!S_ISREG(found.st_mode))
        snprintf(problem, size, "it is not a regular file");
    else if (found.st_mode & (S_IRWXG | S_IRWXO))
        snprintf(problem, size,
                 "other users have access to it (mode %03o), but only its owner may: chmod 600",
                 (unsigned)found.st_mode & 0777);
    else if ((uint64_t)found.st_size > FILE_MAX)
        snprintf(problem, size, "it is larger than 256 KiB");
    else
        return true;
    return false;
}

/* Reads the file, at most FILE_MAX + 1 bytes. Less than 0: an errno. */
static ssize_t read_whole(int file, char *text)
{
    size_t length = 0;
    while (length <= FILE_MAX) {
        ssize_t count = read(file, text + length, FILE_MAX + 1 - length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -errno;
        if (count == 0)
            break;
        length += (size_t)count;
    }
    return (ssize_t)length;
}

bool access_load(struct access *access, const char *path, char *problem, size_t size)
{
    bool good = false;
    char reason[256] = "no memory";
    char *text = malloc(FILE_MAX + 1);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        snprintf(reason, sizeof reason, "%s", strerror(errno));
    if (file >= 0 && text != NULL && check_mode(file, reason, sizeof reason)) {
        ssize_t length = read_whole(file, text);
        if (length < 0)
            snprintf(reason, sizeof reason, "%s", strerror((int)-length));
        else if ((uint64_t)length > FILE_MAX)
            snprintf(reason, sizeof reason, "it is larger than 256 KiB");
        else
            good = access_parse(access, text, (size_t)length, reason, sizeof reason);
    }
    if (file >= 0)
        close(file);
    if (text != NULL)
        explicit_bzero(text, FILE_MAX + 1);
    free(text);
    if (!good)
        snprintf(problem, size, "cannot read the tokens in %.200s: %s", path, reason);
    return good;
}

void access_free(struct access *access)
{
    if (access->tokens != NULL)
        explicit_bzero(access->tokens, ACCESS_TOKENS_MAX * sizeof(struct access_token));
    free(access->tokens);
    *access = (struct access){.count = 0};
}
