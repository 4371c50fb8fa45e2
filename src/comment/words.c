/*
 * The automaton of Aho and Corasick. Its nodes are the beginnings of words. A search reads the text byte by
 * byte and is always at the node of the longest beginning with which the text read so far ends. If this node
 * has no child for the next byte, the search follows `fail` to the longest shorter one, and tries again.
 *
 * Nodes are numbered level by level, and within a level in the order of the words. So the children of
 * a node have consecutive numbers, ascending by their bytes, and `first` of the next node says where they
 * end. A node takes 13 bytes.
 *
 * Words are made lower case (ASCII), sorted and compared with texts in lower case. A word that begins or
 * ends with an ASCII letter or digit is not found inside of a longer such word: "ass" is not in "class".
 * Languages that do not write spaces between words have no such letters.
 */
#include "comment/words.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/limits.h"
#include "comment/screen.h"

#define ROOT 0U
#define NONE UINT32_MAX

struct words {
    uint32_t count;  /* nodes */
    uint32_t *first; /* its first child; one more than nodes */
    uint32_t *fail;  /* the longest other node with which this one ends */
    uint32_t
        *found; /* of itself and then along `fail`: the first one that is a word; NONE: no such */
    uint8_t *byte;       /* the byte that leads to it */
    uint16_t *depth;     /* bytes of the beginning */
    uint32_t start[256]; /* the children of the root; ROOT: there is none */
};

/* One line, and its bytes in lower case. */
struct list {
    struct text *entries;
    size_t count;
    size_t room;
    char *bytes;
    size_t total; /* bytes of all words */
};

static uint8_t lower(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte;
}

static bool is_letter(uint8_t byte)
{
    uint8_t small = lower(byte);
    return (small >= 'a' && small <= 'z') || (byte >= '0' && byte <= '9');
}

static int text_order(const void *a, const void *b)
{
    const struct text *one = a;
    const struct text *other = b;
    size_t common = one->length < other->length ? one->length : other->length;
    int order = memcmp(one->bytes, other->bytes, common);
    return order != 0 ? order : one->length < other->length ? -1 : one->length > other->length;
}

static bool list_add(struct list *list, struct text word, size_t line, char *problem, size_t size)
{
    if (word.length > LIMIT_BLOCKED_WORD || utf8_valid(word) != word.length) {
        snprintf(problem, size, "line %zu is longer than %d bytes or not UTF-8", line,
                 LIMIT_BLOCKED_WORD);
        return false;
    }
    if (list->count == LIMIT_BLOCKED_WORDS) {
        snprintf(problem, size, "there are more than %d words", LIMIT_BLOCKED_WORDS);
        return false;
    }
    void *grown = list->count < list->room
                      ? list->entries
                      : array_grow(list->entries, &list->room, list->count + 1, 64, sizeof word);
    if (grown == NULL) {
        snprintf(problem, size, "there is no memory for the words");
        return false;
    }
    list->entries = grown;
    list->entries[list->count++] = word;
    list->total += word.length;
    return true;
}

/* Cuts the lines, and removes words that are there twice. */
static bool list_read(struct list *list, struct text lines, char *problem, size_t size)
{
    size_t line = 0;
    list->bytes = malloc(lines.length + 1);
    if (list->bytes == NULL) {
        snprintf(problem, size, "there is no memory for the words");
        return false;
    }
    for (size_t i = 0; i < lines.length; i++)
        list->bytes[i] = (char)lower((uint8_t)lines.bytes[i]);
    for (size_t at = 0; at < lines.length;) {
        const char *begin = list->bytes + at;
        const char *end = memchr(begin, '\n', lines.length - at);
        size_t length = end != NULL ? (size_t)(end - begin) : lines.length - at;
        at += length + 1;
        line++;
        if (length > 0 && begin[length - 1] == '\r')
            length--;
        struct text word = text_trim((struct text){begin, length});
        if (word.length > 0 && !list_add(list, word, line, problem, size))
            return false;
    }
    if (list->count > 0)
        qsort(list->entries, list->count, sizeof list->entries[0], text_order);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || text_order(&list->entries[kept - 1], &list->entries[i]) != 0)
            list->entries[kept++] = list->entries[i];
    list->count = kept;
    return true;
}

static struct words *words_alloc(size_t nodes)
{
    struct words *words = calloc(1, sizeof *words);
    if (words == NULL)
        return NULL;
    words->first = malloc((nodes + 1) * sizeof words->first[0]);
    words->fail = malloc(nodes * sizeof words->fail[0]);
    words->found = malloc(nodes * sizeof words->found[0]);
    words->byte = malloc(nodes * sizeof words->byte[0]);
    words->depth = malloc(nodes * sizeof words->depth[0]);
    if (words->first != NULL && words->fail != NULL && words->found != NULL &&
        words->byte != NULL && words->depth != NULL)
        return words;
    words_free(words);
    return NULL;
}

/*
 * Makes one level: `at[i]` is the node of word i at the level above. Words are sorted, so those with the
 * same beginning are neighbours. Returns whether any word goes on.
 */
static bool words_level(struct words *words, const struct list *list, uint32_t *at, uint16_t depth)
{
    uint32_t level = words->count; /* the first node of the new level */
    bool more = false;
    for (size_t i = 0; i < list->count; i++) {
        struct text word = list->entries[i];
        if (word.length < depth)
            continue;
        uint8_t byte = (uint8_t)word.bytes[depth - 1];
        uint32_t parent = at[i];
        uint32_t newest = words->count - 1;
        bool same =
            words->count > level && words->byte[newest] == byte && words->fail[newest] == parent;
        if (!same) {
            newest = words->count++;
            words->byte[newest] = byte;
            words->fail[newest] = parent; /* until all nodes are there */
            words->found[newest] = NONE;
            words->depth[newest] = depth;
        }
        if (word.length == depth)
            words->found[newest] = newest;
        at[i] = newest;
        more = more || word.length > depth;
    }
    return more;
}

/* The child of a node; ROOT: there is none. */
static uint32_t words_child(const struct words *words, uint32_t node, uint8_t byte)
{
    if (node == ROOT)
        return words->start[byte];
    uint32_t low = words->first[node];
    uint32_t high = words->first[node + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (words->byte[middle] < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low < words->first[node + 1] && words->byte[low] == byte ? low : ROOT;
}

static uint32_t words_step(const struct words *words, uint32_t node, uint8_t byte)
{
    uint32_t child;
    while ((child = words_child(words, node, byte)) == ROOT && node != ROOT)
        node = words->fail[node];
    return child;
}

/* Nodes have their parents in `fail`. They are replaced level by level, so shorter ones are ready. */
static void words_link(struct words *words)
{
    uint32_t child = 1;
    for (uint32_t node = 0; node < words->count; node++) {
        words->first[node] = child;
        while (child < words->count && words->fail[child] == node)
            child++;
    }
    words->first[words->count] = words->count;
    for (uint32_t node = words->first[ROOT]; node < words->first[ROOT + 1]; node++)
        words->start[words->byte[node]] = node;
    words->fail[ROOT] = ROOT;
    for (uint32_t node = 1; node < words->count; node++) {
        uint32_t parent = words->fail[node];
        words->fail[node] =
            parent == ROOT ? ROOT : words_step(words, words->fail[parent], words->byte[node]);
        if (words->found[node] == NONE)
            words->found[node] = words->found[words->fail[node]];
    }
}

static bool words_build(struct words *words, const struct list *list)
{
    uint32_t *at = calloc(list->count + 1, sizeof *at);
    if (at == NULL)
        return false;
    words->count = 1;
    words->byte[ROOT] = 0;
    words->depth[ROOT] = 0;
    words->found[ROOT] = NONE;
    for (uint16_t depth = 1; words_level(words, list, at, depth); depth++)
        ;
    words_link(words);
    free(at);
    return true;
}

struct words *words_new(struct text lines, char *problem, size_t size)
{
    struct list list = {0};
    struct words *words = NULL;
    if (list_read(&list, lines, problem, size)) {
        words = words_alloc(list.total + 1);
        if (words == NULL || !words_build(words, &list)) {
            snprintf(problem, size, "there is no memory for the words");
            words_free(words);
            words = NULL;
        }
    }
    free(list.entries);
    free(list.bytes);
    return words;
}

void words_free(struct words *words)
{
    if (words == NULL)
        return;
    free(words->first);
    free(words->fail);
    free(words->found);
    free(words->byte);
    free(words->depth);
    free(words);
}

/* Does one of the words with which the text ends at `end` stand alone there? */
static bool words_match(const struct words *words, uint32_t node, struct text text, size_t end)
{
    const uint8_t *bytes = (const uint8_t *)text.bytes;
    if (is_letter(bytes[end - 1]) && end < text.length && is_letter(bytes[end]))
        return false;
    for (uint32_t word = words->found[node]; word != NONE; word = words->found[words->fail[word]]) {
        size_t begin = end - words->depth[word];
        if (begin == 0 || !is_letter(bytes[begin]) || !is_letter(bytes[begin - 1]))
            return true;
    }
    return false;
}

bool words_find(const struct words *words, struct text text)
{
    uint32_t node = ROOT;
    for (size_t i = 0; i < text.length; i++) {
        node = words_step(words, node, lower((uint8_t)text.bytes[i]));
        ASSERT(words->depth[node] <= i + 1);
        if (words->found[node] != NONE && words_match(words, node, text, i + 1))
            return true;
    }
    return false;
}
