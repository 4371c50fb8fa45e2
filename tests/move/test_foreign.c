/* Files of other systems: what is read from them, and hostile ones, which get a sentence in bounded memory. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chance.h"
#include "comment_stage.h"
#include "move/dates.h"
#include "move/threads.h"
#include "move/xml.h"

static char problem[512];

/* A file with this content. */
static int file_of(const void *bytes, size_t length)
{
    int fd = memfd_create("foreign", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void dates_are_understood(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t time_s;
    } dates[] = {
        {"2014-02-08T10:00:00Z", 1391853600},
        {"2014-02-08 10:00:00", 1391853600},
        {"2014-02-08T10:00:00.123456Z", 1391853600},
        {"2014-02-08 18:00:00 +0800 CST", 1391853600},
        {"2014-02-08 18:00:00.5 +08:00", 1391853600},
        {"2014-02-08 05:00:00-05:00", 1391853600},
        {"  2014-02-08 10:00:00 UTC ", 1391853600},
        {"1970-01-01 00:00:01", 1},
        {"1969-12-31 23:00:01 -01:00", 1},
        {"2000-02-29 00:00:00", 951782400},
        {"2024-12-31 23:59:60", 1735689600},
        {"2106-02-07 06:28:15", UINT32_MAX},
    };
    static const char *const bad[] = {"",
                                      "yesterday",
                                      "2014-02-08",
                                      "2014-02-30 00:00:00",
                                      "2013-02-29 00:00:00",
                                      "2014-13-01 00:00:00",
                                      "2014-00-01 00:00:00",
                                      "2014-01-00 00:00:00",
                                      "2014-01-01 24:00:00",
                                      "2014-01-01 00:60:00",
                                      "2014-01-01 00:00:00 CET",
                                      "2014-01-01 00:00:00 +99:00",
                                      "2014-01-01 00:00:00 +1",
                                      "1970-01-01 00:00:00",
                                      "0000-00-00 00:00:00",
                                      "2106-02-07 06:28:16",
                                      "9999-12-31 23:59:59",
                                      "2014-1-1 00:00:00",
                                      "1900-01-01 00:00:00"};
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++) {
        uint32_t time_s = 0;
        if (!date_parse(text_from(dates[i].text), &time_s) || time_s != dates[i].time_s)
            fail_msg("%s: %u", dates[i].text, time_s);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint32_t time_s;
        if (date_parse(text_from(bad[i]), &time_s))
            fail_msg("%s is not a date", bad[i]);
    }
}

/* The comments as lines: "id parent page name time state text" */
struct seen {
    char text[8192];
    size_t used;
    enum status status;
};

static void show(struct seen *seen, struct text text)
{
    size_t most = sizeof seen->text - seen->used - 8;
    size_t length = text.length < most ? text.length : most;
    memcpy(seen->text + seen->used, text.bytes, length);
    seen->used += length;
    seen->text[seen->used++] = '|';
}

static enum status see(void *context, const struct foreign_comment *comment)
{
    struct seen *seen = context;
    char number[64];
    show(seen, comment->id);
    show(seen, comment->parent);
    show(seen, comment->page);
    show(seen, comment->name);
    snprintf(number, sizeof number, "%u", comment->time_s);
    show(seen, text_from(number));
    snprintf(number, sizeof number, "%s%s%s%u", comment->pending ? "pending " : "",
             comment->pinned ? "pinned " : "", comment->page_closed ? "closed " : "",
             comment->reason);
    show(seen, text_from(number));
    show(seen, comment->reason == FOREIGN_TOO_LONG ? text_from("…") : comment->text);
    seen->text[seen->used++] = '\n';
    return seen->status;
}

static const char *read_file(enum foreign_format format, const char *bytes, size_t length,
                             enum status wanted)
{
    static struct seen seen;
    const struct foreign_sink sink = {.comment = see, .context = &seen};
    seen = (struct seen){.status = STATUS_OK};
    int fd = file_of(bytes, length);
    problem[0] = '\0';
    enum status status = foreign_read(format, fd, NULL, &sink, problem, sizeof problem);
    close(fd);
    if (status != wanted)
        fail_msg("%s instead of %s: %s", status_sentence(status), status_sentence(wanted), problem);
    seen.text[seen.used] = '\0';
    return seen.text;
}

static void expect_read(enum foreign_format format, const char *file, const char *wanted)
{
    assert_string_equal(read_file(format, file, strlen(file), STATUS_OK), wanted);
}

static void expect_refused(enum foreign_format format, const char *file, const char *words)
{
    read_file(format, file, strlen(file), STATUS_BAD_ARGUMENT);
    if (strstr(problem, words) == NULL)
        fail_msg("%.200s: expected '%s' in: %s", file, words, problem);
}

static void artrans_is_read(void **state)
{
    (void)state;
    expect_read(FOREIGN_ARTRANS, "[]", "");
    expect_read(FOREIGN_ARTRANS,
                "\xef\xbb\xbf [ {\"id\":\"1\",\"rid\":\"0\",\"content\":\"a\\\"]}\",\"nick\":\"N\","
                "\"page_key\":\"/p\",\"created_at\":\"1970-01-01 00:00:05\",\"x\":{\"y\":[1]}} ] ",
                "1||/p|N|5|0|a\"]}|\n");
    expect_read(FOREIGN_ARTRANS,
                "[{\"id\":7,\"rid\":3,\"content\":\"b\",\"nick\":null,\"page_key\":\"/p\","
                "\"created_at\":\"1970-01-01 00:00:05\",\"is_pending\":\"true\",\"is_pinned\":true,"
                "\"page_admin_only\":\"true\"},\n{\"id\":\"8\"}]",
                "7|3|/p||5|pending pinned closed 0|b|\n8||||0|6||\n");
    expect_refused(FOREIGN_ARTRANS, "", "ends too early");
    expect_refused(FOREIGN_ARTRANS, "[{\"id\":1}", "ends too early");
    expect_refused(FOREIGN_ARTRANS, "{}", "should begin with '['");
    expect_refused(FOREIGN_ARTRANS, "<?xml?>", "should begin with '['");
    expect_refused(FOREIGN_ARTRANS, "[1]", "expected a JSON object");
    expect_refused(FOREIGN_ARTRANS, "[]]", "expected a JSON object");
    expect_refused(FOREIGN_ARTRANS, "[{]}", "not a JSON object");
    expect_refused(FOREIGN_ARTRANS, "[\n{\"id\":\"\xff\"}]",
                   "line 2: a comment is not a JSON object");
    expect_refused(FOREIGN_ARTRANS, "[{\"site_name\":\"a\"},{\"site_name\":\"b\"}]", "'a' and 'b'");
    expect_refused(FOREIGN_ARTRANS, "[{\"a\":[[[[[[[[[[[[[[[[[[[[", "nested too deep");
}

static void disqus_is_read(void **state)
{
    (void)state;
    expect_read(FOREIGN_DISQUS, "<disqus/>", "");
    expect_read(
        FOREIGN_DISQUS,
        "<disqus><thread dsq:id='2'><id>k</id><isClosed>true</isClosed></thread>"
        "<thread dsq:id='3'><link>http://l</link></thread>"
        "<post dsq:id='10'><message><![CDATA[a<b>]]>&amp;c</message><createdAt>1970-01-01T00:00:05Z"
        "</createdAt><author><name> N </name></author><thread dsq:id='2'/></post>"
        "<post dsq:id='11'><message>d</message><createdAt>1970-01-01T00:00:06Z</createdAt>"
        "<isSpam>true</isSpam><thread dsq:id='3'/><parent dsq:id='10'/></post>"
        "<post><id>12</id><message>e</message><isDeleted>true</isDeleted><thread>k</thread></post>"
        "<post dsq:id='13'><message>f</message><createdAt>1970-01-01T00:00:06Z</createdAt>"
        "<thread dsq:id='9'/></post></disqus>",
        "10||k|N|5|closed 0|a<b>&c|\n11|10|http://l||6|1|d|\n12||k||0|closed 2|e|\n"
        "13||||6|6|f|\n");
    expect_refused(FOREIGN_DISQUS, "<rss/>", "not an export of Disqus");
    expect_refused(FOREIGN_DISQUS, "", "no element found");
    expect_refused(FOREIGN_DISQUS, "<disqus>", "no element found");
    expect_refused(FOREIGN_DISQUS, "<disqus></post>", "mismatched tag");
    expect_refused(FOREIGN_DISQUS, "<disqus>&unknown;</disqus>", "undefined entity");
    expect_refused(FOREIGN_DISQUS, "<disqus>\n<post>\x01</post></disqus>",
                   "line 2: the file is not XML");
}

static void wxr_is_read(void **state)
{
    (void)state;
    expect_read(FOREIGN_WXR, "<rss><channel><item/></channel></rss>", "");
    expect_read(
        FOREIGN_WXR,
        "<rss><channel><item><link>http://x</link><wp:post_id>5</wp:post_id>"
        "<wp:comment_status>closed</wp:comment_status><wp:comment>"
        "<wp:comment_id>1</wp:comment_id><wp:comment_author>A</wp:comment_author>"
        "<wp:comment_date_gmt>1970-01-01 00:00:05</wp:comment_date_gmt>"
        "<wp:comment_content>t</wp:comment_content><wp:comment_approved>1</wp:comment_approved>"
        "<wp:comment_parent>0</wp:comment_parent></wp:comment></item>"
        "<item><link>http://y</link><wp:comment><wp:comment_id>2</wp:comment_id>"
        "<wp:comment_content>u</wp:comment_content><wp:comment_approved>hold</wp:comment_approved>"
        "<wp:comment_date>1970-01-01 00:00:06</wp:comment_date>"
        "<wp:comment_parent>1</wp:comment_parent></wp:comment></item></channel></rss>",
        "1||5|A|5|closed 0|t|\n2|1|http://y||6|pending 0|u|\n");
    expect_refused(FOREIGN_WXR, "<disqus/>", "not an export of WordPress");
}

/* A file of `head`, then `count` times `piece`, then `tail`. */
static char *repeated(const char *head, const char *piece, size_t count, const char *tail)
{
    size_t length = strlen(piece), at = strlen(head);
    char *bytes = malloc(at + length * count + strlen(tail) + 1);
    assert_non_null(bytes);
    memcpy(bytes, head, at);
    for (size_t i = 0; i < count; i++, at += length)
        memcpy(bytes + at, piece, length);
    memcpy(bytes + at, tail, strlen(tail) + 1);
    return bytes;
}

static void hostile_xml_is_refused(void **state)
{
    (void)state;
    expect_refused(
        FOREIGN_DISQUS,
        "<!DOCTYPE disqus [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><disqus>&b;</disqus>",
        "document type declaration");
    expect_refused(FOREIGN_WXR, "<!DOCTYPE rss SYSTEM 'file:///etc/passwd'><rss/>",
                   "document type declaration");
    expect_refused(FOREIGN_WXR,
                   "<!DOCTYPE rss [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><rss>&x;</rss>",
                   "document type declaration");
    char *deep = repeated("<rss>", "<a>", 100000, "");
    expect_refused(FOREIGN_WXR, deep, "nested more than 64 deep");
    free(deep);
    char *tag = repeated("<rss ", "a", 3 << 20, "='1'/>");
    expect_refused(FOREIGN_WXR, tag, "longer than 1 MiB");
    free(tag);
    char *comment = repeated("<rss><!-- ", "a", 3 << 20, "--></rss>");
    expect_refused(FOREIGN_WXR, comment, "longer than 1 MiB");
    free(comment);
}

/* Texts that are too long are counted, and what is around them is read. */
static void long_texts_are_cut(void **state)
{
    (void)state;
    char *text = repeated(
        "<rss><channel><item><wp:post_id>5</wp:post_id><wp:comment><wp:comment_id>1"
        "</wp:comment_id><wp:comment_date>1970-01-01 00:00:06</wp:comment_date>"
        "<wp:comment_approved>1</wp:comment_approved><wp:comment_content>",
        "é", LIMIT_COMMENT_TEXT, "</wp:comment_content></wp:comment></item></channel></rss>");
    expect_read(FOREIGN_WXR, text, "1||5||6|9|…|\n");
    free(text);
    char *name =
        repeated("<disqus><thread dsq:id='2'><id>k</id></thread><post dsq:id='1'><message>m"
                 "</message><createdAt>1970-01-01T00:00:06Z</createdAt><thread dsq:id='2'/>"
                 "<author><name>x",
                 "é", 5000, "</name></author></post></disqus>");
    const char *seen = read_file(FOREIGN_DISQUS, name, strlen(name), STATUS_OK);
    assert_int_equal(strlen(seen),
                     strlen("1||k||6|0|m|\n") + 1 + 2 * ((FOREIGN_FIELD_BYTES - 1) / 2));
    free(name);
    char *object = repeated("[{\"content\":\"", "x", KIB(600), "\"}]");
    expect_refused(FOREIGN_ARTRANS, object, "longer than 512 KiB");
    free(object);
}

/* Threads */

static struct threads_report take_file(struct comment_stage *stage, enum foreign_format format,
                                       const char *bytes, struct import_summary *summary)
{
    const struct threads_options options = {
        .format = format, .directory = "/tmp", .type = "page", .memory_most = MIB(64)};
    int fd = file_of(bytes, strlen(bytes));
    struct threads *threads = threads_new(&options, problem, sizeof problem);
    assert_non_null(threads);
    if (threads_read(threads, fd, NULL, problem, sizeof problem) != STATUS_OK)
        fail_msg("%s", problem);
    if (stage != NULL)
        stage_begin(stage);
    if (threads_import(threads, stage != NULL ? stage->import : NULL, problem, sizeof problem) !=
        STATUS_OK)
        fail_msg("%s", problem);
    if (stage != NULL) {
        assert_int_equal(import_finish(stage->import), STATUS_OK);
        import_summary(stage->import, summary);
        stage_end(stage, false);
    }
    struct threads_report report = *threads_report(threads);
    threads_free(threads);
    close(fd);
    return report;
}

#define AT(id, parent, time, rest)                                                                 \
    "{\"id\":\"" id "\",\"rid\":\"" parent "\",\"created_at\":\"2021-01-01 00:00:" time            \
    "\",\"content\":\"text " id "\",\"nick\":\"N" id "\",\"page_key\":\"8\"" rest "},"

/*
 * 3 answers 2, which answers 1; 5 and 6 answer each other; 7 answers what is not there; 9 is there twice; 4
 * answers a comment that has no date.
 */
static const char tangle[] =
    "[" AT("3", "2", "01", "") AT("2", "1", "30", "") AT("1", "0", "20", "") AT("5", "6", "05", "")
        AT("6", "5", "06", "") AT("7", "77", "07", "") AT("9", "0", "08", "")
            AT("9", "0", "09",
               "") "{\"id\":\"10\",\"content\":\"x\",\"page_key\":\"8\"}," AT("4", "10", "09", "")
                AT("11", "0", "10", ",\"is_pending\":true,\"vote_up\":4") "{}]";

static bool has(const char *exported, const char *text)
{
    return strstr(exported, text) != NULL;
}

static void threads_get_two_levels(void **state)
{
    (void)state;
    struct comment_stage stage;
    struct import_summary summary;
    stage_open(&stage);
    struct threads_report dry = take_file(NULL, FOREIGN_ARTRANS, tangle, NULL);
    struct threads_report report = take_file(&stage, FOREIGN_ARTRANS, tangle, &summary);
    assert_int_equal(report.read, 12);
    assert_int_equal(report.taken, 10);
    assert_int_equal(dry.taken, 10);
    assert_int_equal(report.same, 0);
    assert_int_equal(report.placeholders, 1);
    assert_int_equal(report.deep, 1);
    assert_int_equal(report.orphans, 2); /* 7, and the comment at which the circle was opened */
    assert_int_equal(report.voted, 1);
    assert_int_equal(report.votes, 4);
    assert_int_equal(threads_left(&report), 2);
    assert_int_equal(report.left[FOREIGN_TWICE].count, 1);
    assert_int_equal(report.left[FOREIGN_NO_ID].count, 1);
    assert_int_equal(summary.changed, 10);

    int type = names_find_type(stage.names, "page", 4);
    const struct item page = {.id = {.lo = 8}, .type = (uint16_t)type};
    assert_int_equal(stage_count(&stage, page, "comment"),
                     8); /* all but 11, and but a placeholder */
    char *exported = stage_export(&stage);
    assert_true(has(exported, "\"text\":\"text 3\",\"text_time\":1609459201,"
                              "\"extra\":\"{\\\"from\\\":\\\"artrans\\\",\\\"id\\\":\\\"3\\\","
                              "\\\"name\\\":\\\"N3\\\",\\\"page\\\":\\\"8\\\"}\""));
    assert_true(has(exported, "\"state\":\"pending\",\"text\":\"text 11\""));
    assert_true(has(exported, "\"deleted\":true"));

    /* The same file again changes nothing, and neither does what was exported. */
    report = take_file(&stage, FOREIGN_ARTRANS, tangle, &summary);
    assert_int_equal(report.same, 10);
    assert_int_equal(report.taken, 0);
    assert_int_equal(summary.changed, 0);
    summary = stage_take(&stage, exported);
    assert_int_equal(summary.changed, 0);
    struct comment_stage other;
    stage_open(&other);
    stage_take(&other, exported);
    char *again = stage_export(&other);
    assert_string_equal(again, exported);
    free(again);
    free(exported);
    stage_close(&other);
    stage_close(&stage);
}

/* A later export of the same site has more comments: only those are new. */
static void a_later_export_adds_what_is_new(void **state)
{
    (void)state;
    static const char first[] = "[" AT("1", "0", "01", "") AT("2", "1", "02", "") "]";
    static const char second[] = "[" AT("1", "0", "01", "") AT("2", "1", "02", "")
        AT("3", "2", "03", "") AT("4", "0", "01", "") "]";
    struct comment_stage stage;
    struct import_summary summary;
    stage_open(&stage);
    take_file(&stage, FOREIGN_ARTRANS, first, &summary);
    struct threads_report report = take_file(&stage, FOREIGN_ARTRANS, second, &summary);
    assert_int_equal(report.same, 2);
    assert_int_equal(report.taken, 2);
    assert_int_equal(report.deep, 1);
    stage_close(&stage);
}

/* Many comments of one second, one of which is answered through all others. */
static void many_comments_of_a_moment(void **state)
{
    (void)state;
    enum { MANY = 4000 / SANITIZED_PART };
    struct comment_stage stage;
    struct import_summary summary;
    char *file = malloc(MANY * 256);
    size_t used = 1;
    assert_non_null(file);
    file[0] = '[';
    for (int i = 1; i <= MANY; i++)
        used += (size_t)sprintf(
            file + used,
            "{\"id\":%d,\"rid\":%d,\"created_at\":\"2021-01-01 00:00:00\",\"content\":"
            "\"c\",\"nick\":\"same\",\"page_key\":\"8\"}%s",
            i, i % 2 == 0 ? i - 2 : 0, i == MANY ? "]" : ",");
    stage_open(&stage);
    struct threads_report report = take_file(&stage, FOREIGN_ARTRANS, file, &summary);
    assert_int_equal(report.taken, MANY);
    report = take_file(&stage, FOREIGN_ARTRANS, file, &summary);
    assert_int_equal(report.same, MANY);
    assert_int_equal(summary.changed, 0);
    free(file);
    stage_close(&stage);
}

/* With little memory a file is refused. */
static void memory_is_bounded(void **state)
{
    (void)state;
    const struct threads_options options = {
        .format = FOREIGN_ARTRANS, .directory = "/tmp", .type = "page", .memory_most = KIB(64)};
    int fd = file_of(tangle, strlen(tangle));
    struct threads *threads = threads_new(&options, problem, sizeof problem);
    assert_non_null(threads);
    assert_int_equal(threads_read(threads, fd, NULL, problem, sizeof problem), STATUS_NO_MEMORY);
    assert_non_null(strstr(problem, "--max-memory"));
    threads_free(threads);
    close(fd);
    const struct threads_options nowhere = {.directory = "/nowhere", .type = "page"};
    assert_null(threads_new(&nowhere, problem, sizeof problem));
    assert_non_null(strstr(problem, "/nowhere: No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_are_understood),
        cmocka_unit_test(artrans_is_read),
        cmocka_unit_test(disqus_is_read),
        cmocka_unit_test(wxr_is_read),
        cmocka_unit_test(hostile_xml_is_refused),
        cmocka_unit_test(long_texts_are_cut),
        cmocka_unit_test(threads_get_two_levels),
        cmocka_unit_test(a_later_export_adds_what_is_new),
        cmocka_unit_test(many_comments_of_a_moment),
        cmocka_unit_test(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
