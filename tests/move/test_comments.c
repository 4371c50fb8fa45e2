/*
 * Comments that are exported and imported: a random directory with everything about comments comes back byte
 * for byte; the same lines again change nothing; attempts that are left in the middle; every refusal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chance.h"
#include "comment/comment_id.h"
#include "comment_stage.h"

enum { SUBJECTS = 5, USERS = 7, ROUNDS = 6 };

/* Text that grows. */
struct lines {
    char *bytes;
    size_t used, room;
};

static void __attribute__((format(printf, 2, 3))) add(struct lines *lines, const char *format, ...)
{
    va_list arguments;
    if (lines->room - lines->used < KIB(256)) {
        lines->room += KIB(512);
        lines->bytes = realloc(lines->bytes, lines->room);
        assert_non_null(lines->bytes);
    }
    va_start(arguments, format);
    int length =
        vsnprintf(lines->bytes + lines->used, lines->room - lines->used, format, arguments);
    va_end(arguments);
    assert_true(length >= 0 && (size_t)length < lines->room - lines->used);
    lines->used += (size_t)length;
}

static const char *const texts[] = {
    "plain",      "\\\"quotes\\\" and \\\\", "line\\nline\\u0000\\u0001\\t",
    "你好，世界", "👍🏽 emoji",          "<b>HTML</b> is kept &amp; never interpreted"};

static const char *any_text(struct chance *chance)
{
    return texts[chance_below(chance, sizeof texts / sizeof texts[0])];
}

static void add_content(struct lines *lines, struct chance *chance, uint32_t time_s)
{
    add(lines, "\"text\":\"%s\",\"text_time\":%u", any_text(chance), time_s);
    if (chance_below(chance, 3) == 0)
        add(lines, ",\"extra\":\"{\\\"a\\\": [1,\\n2]}\"");
    if (chance_below(chance, 3) == 0)
        add(lines, ",\"mentions\":[\"%u\",\"0190163d-8694-739b-aea5-000000000001\"]",
            chance_below(chance, USERS));
}

struct item_of {
    char text[64];
    struct item item;
};

struct made {
    uint64_t id;
    uint64_t root; /* COMMENT_NONE: it is a root */
    uint32_t author, next_floor;
    bool open;
};

/* A comment in any state that can be. */
static struct made add_comment(struct lines *lines, struct chance *chance,
                               const struct item_of *subject, struct comment_clock *clock,
                               const struct made *root, const struct made *answered, uint32_t floor)
{
    static const char *const states[] = {"visible", "visible", "pending", "hidden", "shadow"};
    struct made made = {.author = chance_below(chance, USERS),
                        .next_floor = 1 + chance_below(chance, 3)};
    uint32_t time_s = STAGE_NOW - 100000 + chance_below(chance, 90000);
    uint32_t history = chance_below(chance, 4) == 0 ? 1 + chance_below(chance, LIMIT_VERSIONS) : 0;
    const char *state = states[chance_below(chance, 5)];
    bool deleted = chance_below(chance, 6) == 0, anonymous = deleted && chance_below(chance, 2);
    made.open = strcmp(state, "visible") == 0 && !deleted;
    assert_true(comment_id_next(clock, time_s, gene(subject->item), &made.id));
    add(lines, "{\"comment\":\"comment:%" PRIu64 "\",\"subject\":\"%s\"", made.id, subject->text);
    if (root != NULL) {
        made.root = root->id;
        add(lines, ",\"root\":\"comment:%" PRIu64 "\",\"reply_to\":\"comment:%" PRIu64 "\"",
            root->id, answered->id);
        add(lines, ",\"reply_to_user\":\"%u\"", answered->author);
    }
    if (anonymous)
        add(lines, ",\"author\":null");
    else
        add(lines, ",\"author\":\"%u\"", made.author);
    add(lines, ",\"floor\":%u,\"time\":%u", floor, time_s);
    if (history > 0)
        add(lines, ",\"edited\":%u,\"versions\":%u", time_s + 20,
            history + (history == LIMIT_VERSIONS ? chance_below(chance, 5) : 0));
    if (chance_below(chance, 5) == 0)
        add(lines, ",\"reviewed\":%u", 1 + chance_below(chance, 5));
    if (root == NULL)
        add(lines, ",\"next_floor\":%u", made.next_floor);
    add(lines, ",\"state\":\"%s\"%s", state, deleted ? ",\"deleted\":true" : "");
    if (made.open || chance_below(chance, 2) == 0)
        add(lines, ",\"was_open\":true");
    if (!deleted) {
        add(lines, ",");
        add_content(lines, chance, time_s + (history > 0 ? 20 : 0));
        for (uint32_t i = 0; i < history; i++) {
            add(lines, i == 0 ? ",\"history\":[{" : ",{");
            add_content(lines, chance, time_s + i);
            add(lines, i == history - 1 ? "}]" : "}");
        }
    }
    add(lines, "}\n");
    return made;
}

static void add_thread(struct lines *lines, struct chance *chance, const struct item_of *subject,
                       struct comment_clock *clock, const struct made *root)
{
    struct made replies[8];
    uint32_t count = 0, floor = 1;
    for (; floor < root->next_floor && count < 8; floor += 1 + chance_below(chance, 2)) {
        uint32_t answered = chance_below(chance, count + 1);
        replies[count] = add_comment(lines, chance, subject, clock, root,
                                     answered == count ? root : &replies[answered], floor);
        count++;
    }
}

static void add_subject(struct lines *lines, struct chance *chance, const struct item_of *subject,
                        struct comment_clock *clock)
{
    static const char *const modes[] = {"open", "held", "readonly", "closed"};
    uint64_t pins[SUBJECT_PINS];
    uint32_t floor = 1, pin_count = 0, roots = chance_below(chance, 8);
    add(lines, "{\"subject\":\"%s\"", subject->text);
    if (chance_below(chance, 2) == 0)
        add(lines, ",\"owner\":\"%u\"", chance_below(chance, USERS));
    add(lines, ",\"mode\":\"%s\",\"next_floor\":%u}\n", modes[chance_below(chance, 4)], 40);
    for (uint32_t i = 0; i < roots; i++, floor += 1 + chance_below(chance, 3)) {
        struct made root = add_comment(lines, chance, subject, clock, NULL, NULL, floor);
        add_thread(lines, chance, subject, clock, &root);
        if (root.open && pin_count < SUBJECT_PINS && chance_below(chance, 2) == 0)
            pins[pin_count++] = root.id;
    }
    for (uint32_t i = pin_count; i > 0; i--)
        add(lines, "{\"pin\":\"comment:%" PRIu64 "\",\"subject\":\"%s\"}\n", pins[i - 1],
            subject->text);
}

static void add_users(struct lines *lines, struct chance *chance)
{
    for (uint32_t user = 0; user < USERS; user++) {
        uint32_t number = 1 + chance_below(chance, 1500), entries = chance_below(chance, 5);
        if (chance_below(chance, 2) == 0)
            add(lines, "{\"ban\":\"%u\",\"until\":%u%s}\n", user, STAGE_NOW + 1000 * user,
                chance_below(chance, 2) == 0 ? ",\"shadow\":true" : "");
        else
            add(lines, "{\"ban\":\"%u\",\"until\":null}\n", user);
        for (uint32_t i = 0; i < entries; i++, number++)
            add(lines,
                "{\"inbox\":\"%u\",\"number\":%u,\"comment\":\"comment:%u\",\"by\":\"%u\","
                "\"time\":%u%s}\n",
                user, number, 1 + i, i, STAGE_NOW - 50 + i,
                chance_below(chance, 2) == 0 ? ",\"mention\":true" : "");
        add(lines, "{\"inbox\":\"%u\",\"newest\":%u,\"seen\":%u}\n", user, number,
            chance_below(chance, number + 1));
    }
}

/* Types get their indices in this order: `comment` is not the first one. */
static void subject_of(struct comment_stage *stage, uint32_t number, struct item_of *out)
{
    uint16_t type;
    const char *name = number % 2 == 0 ? "video" : "post";
    assert_int_equal(names_intern(stage->names, NAME_TYPE, name, strlen(name), &type), STATUS_OK);
    *out = (struct item_of){.item = {.id = {.lo = number}, .type = type}};
    snprintf(out->text, sizeof out->text, "%s:%u", name, number);
}

/* Reactions on the comments come first, as in an export. */
static char *random_lines(struct chance *chance)
{
    struct lines lines = {0};
    struct comment_clock clock = {0};
    struct comment_stage names;
    stage_open(&names);
    add(&lines,
        "{\"define\":\"type\",\"name\":\"video\"}\n{\"define\":\"type\",\"name\":\"post\"}\n");
    add(&lines, "{\"define\":\"kind\",\"name\":\"dislike\"}\n");
    for (uint32_t i = 0; i < SUBJECTS; i++) {
        struct item_of subject;
        subject_of(&names, 0, &subject);
        subject_of(&names, 1, &subject);
        subject_of(&names, i, &subject);
        add_subject(&lines, chance, &subject, &clock);
    }
    add_users(&lines, chance);
    stage_close(&names);
    return lines.bytes;
}

/* What was imported is exported; that is imported elsewhere and exported again. */
static void a_directory_comes_back_byte_for_byte(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    for (int round = 0; round < ROUNDS; round++) {
        struct comment_stage first, second;
        char *lines = random_lines(&chance);
        stage_open(&first);
        struct import_summary summary = stage_take(&first, lines);
        assert_int_equal(summary.changed, summary.rows);
        char *exported = stage_export(&first);
        stage_open(&second);
        stage_take(&second, exported);
        char *again = stage_export(&second);
        assert_string_equal(again, exported);

        /* The same lines change nothing, in either directory. */
        summary = stage_take(&second, exported);
        assert_int_equal(summary.changed, 0);
        summary = stage_take(&first, lines);
        assert_int_equal(summary.changed, 0);
        char *third = stage_export(&first);
        assert_string_equal(third, exported);
        free(third);
        free(again);
        free(exported);
        free(lines);
        stage_close(&second);
        stage_close(&first);
    }
}

/* Ids of comments on the subject video:7, where `video` is the first type. */
static uint64_t id_of(uint32_t number)
{
    struct comment_clock clock = {0};
    uint64_t id = 0;
    struct item subject = {.id = {.lo = 7}};
    assert_true(comment_id_next(&clock, STAGE_NOW - 1000 + number, gene(subject), &id));
    return id;
}

/* The lines are exactly as an export writes them, so it writes the same ones. */
static char *fixed_lines(void)
{
    struct lines lines = {0};
    uint64_t a = id_of(1), b = id_of(2), c = id_of(3), d = id_of(4);
    add(&lines,
        "{\"define\":\"type\",\"name\":\"video\"}\n{\"define\":\"type\",\"name\":\"comment\"}\n"
        "{\"define\":\"kind\",\"name\":\"like\"}\n");
    add(&lines,
        "{\"user\":\"3\",\"kind\":\"like\",\"item\":\"comment:%" PRIu64 "\",\"time\":1700000000}\n",
        a);
    add(&lines, "{\"subject\":\"video:7\",\"owner\":\"3\",\"mode\":\"held\",\"next_floor\":9}\n");
    add(&lines,
        "{\"comment\":\"comment:%" PRIu64 "\",\"subject\":\"video:7\",\"author\":\"5\",\"floor\":2,"
        "\"time\":1799999001,\"edited\":1799999101,\"versions\":12,\"reviewed\":4,"
        "\"next_floor\":7,\"state\":\"visible\",\"was_open\":true,\"text\":\"new\","
        "\"text_time\":1799999101,\"extra\":\"[1]\",\"mentions\":[\"3\"],"
        "\"history\":[{\"text\":\"old\",\"text_time\":1799999001},"
        "{\"text\":\"newer\",\"text_time\":1799999050,\"extra\":\"{}\"}]}\n",
        a);
    add(&lines,
        "{\"comment\":\"comment:%" PRIu64 "\",\"subject\":\"video:7\",\"root\":\"comment:%" PRIu64
        "\",\"reply_to\":\"comment:%" PRIu64 "\",\"reply_to_user\":\"5\",\"author\":\"6\","
        "\"floor\":5,\"time\":1799999002,\"state\":\"visible\",\"was_open\":true,"
        "\"text\":\"a \\\"b\\\" \\\\ \\n\\u0000\",\"text_time\":1799999002}\n",
        b, a, a);
    add(&lines,
        "{\"comment\":\"comment:%" PRIu64 "\",\"subject\":\"video:7\",\"root\":\"comment:%" PRIu64
        "\",\"reply_to\":\"comment:%" PRIu64 "\",\"reply_to_user\":\"6\",\"author\":\"7\","
        "\"floor\":6,\"time\":1799999003,\"state\":\"shadow\",\"text\":\"x\","
        "\"text_time\":1799999003}\n",
        c, a, b);
    add(&lines,
        "{\"comment\":\"comment:%" PRIu64 "\",\"subject\":\"video:7\",\"author\":null,\"floor\":8,"
        "\"time\":1799999004,\"next_floor\":1,\"state\":\"hidden\",\"deleted\":true,"
        "\"was_open\":true}\n",
        d);
    add(&lines, "{\"pin\":\"comment:%" PRIu64 "\",\"subject\":\"video:7\"}\n", a);
    add(&lines,
        "{\"inbox\":\"5\",\"number\":4,\"comment\":\"comment:%" PRIu64 "\",\"by\":\"6\","
        "\"time\":1799999002}\n{\"inbox\":\"5\",\"newest\":6,\"seen\":3}\n",
        b);
    return lines.bytes;
}

static struct store_bytes row_of(struct comment_stage *stage, enum store_table table,
                                 const uint8_t *key, size_t length, struct store_arena *arena)
{
    struct store_bytes value;
    const struct store_bytes wanted = {key, (uint32_t)length};
    assert_int_equal(store_read_rows(&stage->store->reader, table, &wanted, 1, &value, arena),
                     STATUS_OK);
    return value;
}

static void lines_are_written_as_they_were_and_counted(void **state)
{
    (void)state;
    struct comment_stage stage;
    struct store_arena arena = {0};
    struct subject subject;
    struct comment root;
    uint8_t key[ROW_KEY_MAX];
    const struct item video = {.id = {.lo = 7}};
    char *lines = fixed_lines();
    stage_open(&stage);
    struct import_summary summary = stage_take(&stage, lines);
    assert_int_equal(summary.rows, 9);
    assert_int_equal(summary.changed, 9);
    char *exported = stage_export(&stage);
    assert_string_equal(exported, lines);

    assert_int_equal(stage_count(&stage, video, "comment"), 2);
    assert_int_equal(stage_count(&stage, comment_item(id_of(1), 1), "comment"), 1);
    assert_int_equal(stage_count(&stage, comment_item(id_of(1), 1), "like"), 1);
    struct store_bytes value = row_of(&stage, STORE_SUBJECT, key, row_key_item(video, key), &arena);
    assert_int_equal(row_read_subject(value, video, &subject), STATUS_OK);
    assert_int_equal(subject.roots, 1);
    value = row_of(&stage, STORE_COMMENT, key, row_key_id(id_of(1), key), &arena);
    assert_int_equal(row_read_comment(value, id_of(1), &root, NULL), STATUS_OK);
    assert_int_equal(root.open_replies, 1);
    /* Nobody was notified: the inbox has what was imported, and no one else has an inbox. */
    assert_null(
        row_of(&stage, STORE_USER, key, row_key_user((struct id){.lo = 3}, 'i', key), &arena).data);
    store_arena_destroy(&arena);
    free(exported);
    free(lines);
    stage_close(&stage);
}

/* Attempts that end before everything is in the store are followed by one that takes the rest. */
static void attempts_may_be_left(void **state)
{
    (void)state;
    struct chance chance = {test_seed()};
    for (int round = 0; round < ROUNDS; round++) {
        struct comment_stage whole, pieces;
        char *lines = random_lines(&chance);
        stage_open(&whole);
        stage_open(&pieces);
        stage_take(&whole, lines);
        for (int attempt = 0; attempt < 3; attempt++) {
            char *some = strdup(lines);
            char *cut = some + chance_below(&chance, (uint32_t)strlen(some));
            while (cut > some && cut[-1] != '\n')
                cut--;
            *cut = '\0';
            stage_take(&pieces, some);
            free(some);
        }
        stage_take(&pieces, lines);
        char *a = stage_export(&whole), *b = stage_export(&pieces);
        assert_string_equal(a, b);
        free(a);
        free(b);
        free(lines);
        stage_close(&pieces);
        stage_close(&whole);
    }
}

/* More comments than are kept over the rows of the store. */
static void a_large_subject_is_taken(void **state)
{
    (void)state;
    enum { MANY = 12000 / SANITIZED_PART };
    struct comment_stage stage;
    struct lines lines = {0};
    struct comment_clock clock = {0};
    struct item subject = {.id = {.lo = 7}};
    uint64_t id, root = 0;
    stage_open(&stage);
    add(&lines, "{\"define\":\"type\",\"name\":\"video\"}\n");
    for (uint32_t i = 0; i < MANY; i++) {
        assert_true(comment_id_next(&clock, STAGE_NOW - MANY + i, gene(subject), &id));
        add(&lines,
            "{\"comment\":\"comment:%" PRIu64 "\",\"subject\":\"video:7\",\"author\":\"1\","
            "\"floor\":%u,\"time\":%u,\"was_open\":true,\"text\":\"x\",\"text_time\":%u",
            id, i % 3 == 0 ? i / 3 + 1 : i % 3, STAGE_NOW - MANY + i, STAGE_NOW - MANY + i);
        root = i % 3 == 0 ? id : root;
        if (i % 3 != 0)
            add(&lines,
                ",\"root\":\"comment:%" PRIu64 "\",\"reply_to\":\"comment:%" PRIu64
                "\",\"reply_to_user\":\"1\"",
                root, root);
        add(&lines, "}\n");
    }
    struct import_summary summary = stage_take(&stage, lines.bytes);
    assert_int_equal(summary.changed, MANY);
    assert_int_equal(stage_count(&stage, subject, "comment"), MANY);
    summary = stage_take(&stage, lines.bytes);
    assert_int_equal(summary.changed, 0);
    assert_int_equal(summary.same, MANY);
    free(lines.bytes);
    stage_close(&stage);
}

static void expect_refused(struct comment_stage *stage, const char *words, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void expect_refused(struct comment_stage *stage, const char *words, const char *format, ...)
{
    static char line[KIB(64)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    const char *problem = stage_refused(stage, line);
    if (strstr(problem, words) == NULL)
        fail_msg("%s: expected '%s' in: %s", line, words, problem);
}

#define REST "\"floor\":9,\"time\":1799990000,\"text\":\"x\",\"text_time\":1799990000"

static void refuse_malformed(struct comment_stage *stage)
{
    uint64_t a = id_of(1), b = id_of(2), fresh = id_of(50);
    (void)a, (void)b, (void)fresh;
    expect_refused(stage, "not a JSON object", "{\"comment\":");
    expect_refused(stage, "duplicate", "{\"ban\":\"1\",\"ban\":\"1\"}");
    expect_refused(stage, "as in comment:42", "{\"comment\":\"5\",\"subject\":\"video:7\"}");
    expect_refused(stage, "as in comment:42", "{\"pin\":\"comment:0\",\"subject\":\"video:7\"}");
    expect_refused(stage, "'subject' is missing", "{\"comment\":\"comment:5\"}");
    expect_refused(stage, "is not an item", "{\"subject\":\"video\"}");
    expect_refused(stage, "is a comment", "{\"subject\":\"comment:5\"}");
    expect_refused(stage, "cannot be 'shut'", "{\"subject\":\"video:7\",\"mode\":\"shut\"}");
    expect_refused(stage, "no key 'x'", "{\"subject\":\"video:7\",\"x\":1}");
    expect_refused(stage, "another owner", "{\"subject\":\"video:7\",\"owner\":\"4\"}");
    expect_refused(stage, "another mode", "{\"subject\":\"video:7\",\"mode\":\"closed\"}");
}

static void refuse_contents(struct comment_stage *stage)
{
    static char long_text[LIMIT_COMMENT_TEXT + 2];
    memset(long_text, 'x', sizeof long_text - 1);
    uint64_t a = id_of(1), b = id_of(2), fresh = id_of(50);
    (void)a, (void)b, (void)fresh;
    expect_refused(stage, "'floor' should be at least 1",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"5\",\"floor\":0,"
                   "\"time\":5,\"text\":\"\",\"text_time\":1}",
                   fresh);
    expect_refused(stage, "the text is empty",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"5\",\"floor\":9,"
                   "\"time\":5,\"text\":\"\",\"text_time\":1}",
                   fresh);
    expect_refused(stage, "at most 10000",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"5\",\"floor\":9,"
                   "\"time\":5,\"text\":\"%s\",\"text_time\":1}",
                   fresh, long_text);
    expect_refused(stage, "not a time in the past",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"5\",\"floor\":9,"
                   "\"time\":4000000000,\"text\":\"x\",\"text_time\":1}",
                   fresh);
    expect_refused(stage, "on another subject",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"8\"," REST "}",
                   a);
    expect_refused(stage, "ids contain a hash of the subject",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:8\",\"author\":\"5\"," REST "}",
                   a);
}

static void refuse_conflicts(struct comment_stage *stage)
{
    uint64_t a = id_of(1), b = id_of(2), fresh = id_of(50);
    (void)a, (void)b, (void)fresh;
    expect_refused(stage, "before now",
                   "{\"comment\":\"comment:9223372036854775807\",\"subject\":\"video:7\","
                   "\"author\":\"5\"," REST "}");
    expect_refused(stage, "in another thread",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"6\"," REST "}",
                   b);
    expect_refused(stage, "a root comes before its replies",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"6\",\"root\":\"comment:%" PRIu64
                   "\",\"reply_to\":\"comment:%" PRIu64 "\"," REST "}",
                   fresh, b, b);
    expect_refused(stage, "is not in its thread",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"6\",\"root\":\"comment:%" PRIu64
                   "\",\"reply_to\":\"comment:%" PRIu64 "\"," REST "}",
                   fresh, a, id_of(4));
    expect_refused(stage, "a reply has both",
                   "{\"comment\":\"comment:%" PRIu64 "\",\"subject\":\"video:7\",\"author\":\"6\","
                   "\"reply_to\":\"comment:%" PRIu64 "\"," REST "}",
                   fresh, a);
    expect_refused(stage, "floor 2 is that of",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"6\",\"floor\":2,"
                   "\"time\":1799990000,\"text\":\"x\",\"text_time\":1799990000}",
                   fresh);
    expect_refused(stage, "floor 8 is that of",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"6\",\"floor\":8,"
                   "\"time\":1799990000,\"text\":\"x\",\"text_time\":1799990000}",
                   fresh);
}

static void refuse_others(struct comment_stage *stage)
{
    uint64_t a = id_of(1), b = id_of(2), fresh = id_of(50);
    (void)a, (void)b, (void)fresh;
    expect_refused(stage, "a string with a JSON value",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"6\"," REST ",\"extra\":\"{\"}",
                   fresh);
    expect_refused(stage, "at most 10 ids",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"6\"," REST
                   ",\"mentions\":[1,1,1,1,1,1,1,1,1,1,1]}",
                   fresh);
    expect_refused(stage, "history has 1",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"6\"," REST
                   ",\"history\":[{\"text\":\"y\",\"text_time\":5}]}",
                   fresh);
    expect_refused(stage, "no key 'text'",
                   "{\"comment\":\"comment:%" PRIu64
                   "\",\"subject\":\"video:7\",\"author\":\"6\",\"floor\":9,"
                   "\"time\":5,\"deleted\":true,\"text\":\"x\"}",
                   fresh);
    expect_refused(stage, "not an open root",
                   "{\"pin\":\"comment:%" PRIu64 "\",\"subject\":\"video:7\"}", b);
    expect_refused(stage, "should be an id", "{\"ban\":7,\"until\":null}");
    expect_refused(stage, "null for none", "{\"ban\":\"7\",\"until\":0}");
    expect_refused(
        stage, "other entries up to number 6",
        "{\"inbox\":\"5\",\"number\":5,\"comment\":\"comment:1\",\"by\":\"6\",\"time\":1}");
    expect_refused(stage, "not above it", "{\"inbox\":\"5\",\"newest\":6,\"seen\":7}");
}

static void every_bad_line_gets_a_sentence(void **state)
{
    (void)state;
    struct comment_stage stage;
    char *lines = fixed_lines();
    stage_open(&stage);
    stage_take(&stage, lines);
    char *before = stage_export(&stage);
    stage_begin(&stage);
    refuse_malformed(&stage);
    refuse_contents(&stage);
    refuse_conflicts(&stage);
    refuse_others(&stage);
    stage_end(&stage, true);
    char *after = stage_export(&stage);
    assert_string_equal(after, before);
    free(after);
    free(before);
    free(lines);
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_directory_comes_back_byte_for_byte),
        cmocka_unit_test(lines_are_written_as_they_were_and_counted),
        cmocka_unit_test(attempts_may_be_left),
        cmocka_unit_test(a_large_subject_is_taken),
        cmocka_unit_test(every_bad_line_gets_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
