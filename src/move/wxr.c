/*
 * WXR, what WordPress exports: an RSS feed whose items are pages, each with its comments. Elements inside of
 * <item> come in a fixed order, the page's own before its comments.
 */
#include <string.h>

#include "base/limits.h"
#include "move/dates.h"
#include "move/foreign.h"
#include "move/xml.h"

enum {
    POST_ID,
    POST_KEY, /* what Disqus has added to such files */
    POST_LINK,
    POST_COMMENTS, /* open or closed */
    ID,
    AUTHOR,
    EMAIL,
    LINK,
    DATE,
    DATE_GMT,
    CONTENT,
    APPROVED,
    TYPE,
    PARENT,
    USER,
};

enum { PAGE_DEPTH = 3, COMMENT_DEPTH = 4 };

#define SMALL FOREIGN_FIELD_BYTES

static const struct xml_field fields[] = {
    {4, "item", "post_id", POST_ID, SMALL},
    {4, "item", "thread_identifier", POST_KEY, SMALL},
    {4, "item", "link", POST_LINK, SMALL},
    {4, "item", "comment_status", POST_COMMENTS, SMALL},
    {5, "comment", "comment_id", ID, SMALL},
    {5, "comment", "comment_author", AUTHOR, SMALL},
    {5, "comment", "comment_author_email", EMAIL, SMALL},
    {5, "comment", "comment_author_url", LINK, SMALL},
    {5, "comment", "comment_date", DATE, SMALL},
    {5, "comment", "comment_date_gmt", DATE_GMT, SMALL},
    {5, "comment", "comment_content", CONTENT, LIMIT_COMMENT_TEXT},
    {5, "comment", "comment_approved", APPROVED, SMALL},
    {5, "comment", "comment_type", TYPE, SMALL},
    {5, "comment", "comment_parent", PARENT, SMALL},
    {5, "comment", "comment_user_id", USER, SMALL},
};

struct wxr {
    const struct foreign_sink *sink;
    uint64_t line; /* of the comment that began last */
};

static enum status begin(void *context, struct xml *xml, unsigned depth, const char *name)
{
    struct wxr *wxr = context;
    if (depth == 1 && strcmp(name, "rss") != 0)
        return xml_refuse(xml, "this is not an export of WordPress (WXR): the first element should "
                               "be <rss>");
    if (depth == PAGE_DEPTH)
        for (unsigned field = POST_ID; field <= POST_COMMENTS; field++)
            xml_forget(xml, field);
    if (depth == COMMENT_DEPTH) {
        wxr->line = xml_line(xml);
        for (unsigned field = ID; field <= USER; field++)
            xml_forget(xml, field);
    }
    return STATUS_OK;
}

static enum foreign_reason judge(const struct xml *xml)
{
    struct text approved = xml_text(xml, APPROVED, NULL), type = xml_text(xml, TYPE, NULL);
    if (text_is(approved, "spam") || text_is(approved, "trash") ||
        text_is(approved, "post-trashed"))
        return FOREIGN_SPAM;
    return type.length == 0 || text_is(type, "comment") ? FOREIGN_GOOD : FOREIGN_NO_COMMENT;
}

static struct text page_key(const struct xml *xml)
{
    struct text id = xml_text(xml, POST_ID, NULL), key = xml_text(xml, POST_KEY, NULL);
    return id.length > 0 ? id : key.length > 0 ? key : xml_text(xml, POST_LINK, NULL);
}

static enum status comment_end(struct wxr *wxr, struct xml *xml)
{
    bool over;
    struct text parent = xml_text(xml, PARENT, NULL), approved = xml_text(xml, APPROVED, NULL);
    struct foreign_comment comment = {
        .reason = judge(xml),
        .id = xml_text(xml, ID, NULL),
        .parent = text_is(parent, "0") ? (struct text){"", 0} : parent,
        .page = page_key(xml),
        .name = xml_text(xml, AUTHOR, NULL),
        .link = xml_text(xml, LINK, NULL),
        .text = xml_text(xml, CONTENT, &over),
        .pending = !text_is(approved, "1") && !text_is(approved, "approve"),
        .page_closed = text_is(xml_text(xml, POST_COMMENTS, NULL), "closed"),
        .line = wxr->line,
    };
    if (!date_parse(xml_text(xml, DATE_GMT, NULL), &comment.time_s))
        (void)date_parse(xml_text(xml, DATE, NULL), &comment.time_s); /* or it stays 0 */
    comment.page_id = foreign_page_id(comment.page);
    comment.user = foreign_user(xml_text(xml, USER, NULL), xml_text(xml, EMAIL, NULL),
                                (struct text){"", 0}, comment.name);
    foreign_judge(&comment, over);
    return wxr->sink->comment(wxr->sink->context, &comment);
}

static enum status end(void *context, struct xml *xml, unsigned depth, const char *name)
{
    if (depth != COMMENT_DEPTH || strcmp(name, "comment") != 0 ||
        strcmp(xml_parent(xml), "item") != 0)
        return STATUS_OK;
    return comment_end(context, xml);
}

static void progress(void *context, uint64_t bytes)
{
    const struct wxr *wxr = context;
    if (wxr->sink->progress != NULL)
        wxr->sink->progress(wxr->sink->context, bytes);
}

enum status wxr_read(int fd, const struct foreign_sink *sink, char *problem, size_t size)
{
    struct wxr wxr = {.sink = sink};
    const struct xml_format format = {.fields = fields,
                                      .field_count = sizeof fields / sizeof fields[0],
                                      .depth = COMMENT_DEPTH,
                                      .begin = begin,
                                      .end = end,
                                      .progress = progress,
                                      .context = &wxr};
    return xml_read(fd, &format, problem, size);
}
