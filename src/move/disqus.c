/*
 * What Disqus exports: first all threads, which are pages, then all posts, which are comments. A post names its
 * thread and its parent by their dsq:id, and in old exports by their <id>. So the threads are kept in a table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/array.h"
#include "base/limits.h"
#include "move/dates.h"
#include "move/foreign.h"
#include "move/xml.h"
#include "store/arena.h"

enum {
    ID,
    LINK,
    CLOSED,
    MESSAGE,
    DATE,
    DELETED,
    SPAM,
    APPROVED,
    THREAD,
    PARENT,
    NAME,
    ACCOUNT,
    EMAIL,
    FIELDS,
};

enum { ELEMENT_DEPTH = 2, ATTRIBUTE_DEPTH = 3, PAGES_LEAST = 1024 };

#define SMALL      FOREIGN_FIELD_BYTES
#define PAGES_MOST (1U << 22)
#define KEYS_MOST  MIB(256) /* bytes of the keys of all pages */

static const struct xml_field fields[] = {
    {3, NULL, "id", ID, SMALL},
    {3, "thread", "link", LINK, SMALL},
    {3, "thread", "isClosed", CLOSED, SMALL},
    {3, "post", "message", MESSAGE, LIMIT_COMMENT_TEXT},
    {3, "post", "createdAt", DATE, SMALL},
    {3, "post", "isDeleted", DELETED, SMALL},
    {3, "post", "isSpam", SPAM, SMALL},
    {3, "post", "isApproved", APPROVED, SMALL},
    {3, "post", "thread", THREAD, SMALL},
    {3, "post", "parent", PARENT, SMALL},
    {4, "author", "name", NAME, SMALL},
    {4, "author", "username", ACCOUNT, SMALL},
    {4, "author", "email", EMAIL, SMALL},
};

struct page {
    uint64_t hash; /* of how posts name it; 0: the slot is empty */
    const char *key;
    uint32_t length;
    bool closed;
};

/* An attribute that is needed after its element has begun. */
struct kept {
    char bytes[SMALL];
    size_t length;
};

struct disqus {
    const struct foreign_sink *sink;
    struct page *pages; /* a hash table */
    size_t slots, used;
    struct store_arena keys;
    struct kept id, thread, parent;
    uint64_t line;
};

static void keep(struct kept *kept, struct text text)
{
    kept->length = text.length < sizeof kept->bytes ? text.length : sizeof kept->bytes;
    memcpy(kept->bytes, text.bytes, kept->length);
}

/* The attribute if there was one, otherwise the text of the element. */
static struct text either(const struct kept *kept, struct text text)
{
    return kept->length > 0 ? (struct text){kept->bytes, kept->length} : text;
}

/* Pages */

/* Posts name a page by an attribute or by a text; the two are kept apart. */
static uint64_t name_hash(struct text name, bool attribute)
{
    return XXH3_64bits_withSeed(name.bytes, name.length, attribute) | 1;
}

static struct page *find_slot(struct page *pages, size_t slots, uint64_t hash)
{
    size_t slot = hash >> 8 & (slots - 1);
    while (pages[slot].hash != 0 && pages[slot].hash != hash)
        slot = (slot + 1) & (slots - 1);
    return &pages[slot];
}

static bool grow(struct disqus *disqus)
{
    size_t slots = disqus->slots == 0 ? PAGES_LEAST : disqus->slots * 2;
    struct page *pages = calloc(slots, sizeof *pages);
    if (pages == NULL)
        return false;
    for (size_t i = 0; i < disqus->slots; i++)
        if (disqus->pages[i].hash != 0)
            *find_slot(pages, slots, disqus->pages[i].hash) = disqus->pages[i];
    free(disqus->pages);
    disqus->pages = pages;
    disqus->slots = slots;
    return true;
}

static bool page_add(struct disqus *disqus, struct page page, struct text name, bool attribute)
{
    if (name.length == 0)
        return true;
    if (disqus->used * 2 >= disqus->slots && !grow(disqus))
        return false;
    page.hash = name_hash(name, attribute);
    struct page *slot = find_slot(disqus->pages, disqus->slots, page.hash);
    disqus->used += slot->hash == 0;
    *slot = page;
    return true;
}

static enum status thread_end(struct disqus *disqus, struct xml *xml)
{
    struct text id = xml_text(xml, ID, NULL), link = xml_text(xml, LINK, NULL);
    struct text attribute = {disqus->id.bytes, disqus->id.length};
    struct text key = id.length > 0 ? id : link.length > 0 ? link : attribute;
    if (disqus->used >= PAGES_MOST || disqus->keys.bytes + key.length > KEYS_MOST)
        return xml_refuse(xml, "the file has too many threads");
    uint8_t *copy = store_arena_copy(&disqus->keys, (const uint8_t *)key.bytes, key.length);
    const struct page page = {.key = (const char *)copy,
                              .length = (uint32_t)key.length,
                              .closed = text_is(xml_text(xml, CLOSED, NULL), "true")};
    if (copy == NULL || !page_add(disqus, page, attribute, true) ||
        !page_add(disqus, page, id, false))
        return xml_refuse(xml, "there is no memory for the threads of the file");
    return STATUS_OK;
}

/* NULL: there is no such page. */
static const struct page *page_find(const struct disqus *disqus, struct text name, bool attribute)
{
    if (disqus->slots == 0 || name.length == 0)
        return NULL;
    const struct page *page = find_slot(disqus->pages, disqus->slots, name_hash(name, attribute));
    return page->hash != 0 ? page : NULL;
}

/* Posts */

static enum status post_end(struct disqus *disqus, struct xml *xml)
{
    bool over;
    bool attribute = disqus->thread.length > 0;
    const struct page *page =
        page_find(disqus, either(&disqus->thread, xml_text(xml, THREAD, NULL)), attribute);
    struct text approved = xml_text(xml, APPROVED, NULL);
    struct foreign_comment comment = {
        .reason = text_is(xml_text(xml, SPAM, NULL), "true")      ? FOREIGN_SPAM
                  : text_is(xml_text(xml, DELETED, NULL), "true") ? FOREIGN_DELETED
                                                                  : FOREIGN_GOOD,
        .id = either(&disqus->id, xml_text(xml, ID, NULL)),
        .parent = either(&disqus->parent, xml_text(xml, PARENT, NULL)),
        .page = page != NULL ? (struct text){page->key, page->length} : (struct text){"", 0},
        .name = xml_text(xml, NAME, NULL),
        .link = {"", 0},
        .text = xml_text(xml, MESSAGE, &over),
        .pending = text_is(approved, "false"),
        .page_closed = page != NULL && page->closed,
        .line = disqus->line,
    };
    (void)date_parse(xml_text(xml, DATE, NULL), &comment.time_s); /* or it stays 0 */
    comment.page_id = foreign_page_id(comment.page);
    comment.user = foreign_user((struct text){"", 0}, xml_text(xml, EMAIL, NULL),
                                xml_text(xml, ACCOUNT, NULL), comment.name);
    foreign_judge(&comment, over);
    return disqus->sink->comment(disqus->sink->context, &comment);
}

static enum status begin(void *context, struct xml *xml, unsigned depth, const char *name)
{
    struct disqus *disqus = context;
    if (depth == 1 && strcmp(name, "disqus") != 0)
        return xml_refuse(xml, "this is not an export of Disqus: the first element should be "
                               "<disqus>");
    if (depth == ELEMENT_DEPTH) {
        disqus->line = xml_line(xml);
        keep(&disqus->id, xml_attribute(xml, "id"));
        disqus->thread.length = disqus->parent.length = 0;
        for (unsigned field = 0; field < FIELDS; field++)
            xml_forget(xml, field);
    }
    if (depth == ATTRIBUTE_DEPTH && strcmp(name, "thread") == 0)
        keep(&disqus->thread, xml_attribute(xml, "id"));
    if (depth == ATTRIBUTE_DEPTH && strcmp(name, "parent") == 0)
        keep(&disqus->parent, xml_attribute(xml, "id"));
    return STATUS_OK;
}

static enum status end(void *context, struct xml *xml, unsigned depth, const char *name)
{
    if (depth == ELEMENT_DEPTH && strcmp(name, "thread") == 0)
        return thread_end(context, xml);
    if (depth == ELEMENT_DEPTH && strcmp(name, "post") == 0)
        return post_end(context, xml);
    return STATUS_OK;
}

static void progress(void *context, uint64_t bytes)
{
    const struct disqus *disqus = context;
    if (disqus->sink->progress != NULL)
        disqus->sink->progress(disqus->sink->context, bytes);
}

enum status disqus_read(int fd, const struct foreign_sink *sink, char *problem, size_t size)
{
    struct disqus *disqus = calloc(1, sizeof *disqus);
    if (disqus == NULL) {
        snprintf(problem, size, "there is no memory for reading the file");
        return STATUS_NO_MEMORY;
    }
    disqus->sink = sink;
    const struct xml_format format = {.fields = fields,
                                      .field_count = sizeof fields / sizeof fields[0],
                                      .depth = ATTRIBUTE_DEPTH,
                                      .begin = begin,
                                      .end = end,
                                      .progress = progress,
                                      .context = disqus};
    enum status status = xml_read(fd, &format, problem, size);
    store_arena_destroy(&disqus->keys);
    free(disqus->pages);
    free(disqus);
    return status;
}
