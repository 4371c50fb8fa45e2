/*
 * Subjects: the counter `comment` is the number of counted comments, `roots` the number of listed roots, and pins are
 * open roots. What is counted follows from the listed roots alone: whatever is counted is a listed root, or an
 * open reply of one.
 */
#include <inttypes.h>

#include "cli/check_comments.h"

struct totals {
    const struct subject *subject;
    uint64_t roots;
    int64_t counted;
};

/* Adds the roots that these rows of FLOOR name. */
static enum status add_roots(struct comments_check *check, void *context,
                             const struct store_row *rows, size_t count)
{
    struct totals *totals = context;
    struct checked_comment roots[CHECK_BATCH];
    for (size_t i = 0; i < count; i++) {
        roots[i] = (struct checked_comment){0};
        if (row_read_number(rows[i].value, &roots[i].id) != STATUS_OK)
            return check_bad_item(check, totals->subject->item,
                                  "has a row by floor that cannot be read");
    }
    enum status status = check_read_comments(check, roots, count);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        const struct comment *root = &roots[i].comment;
        if (!roots[i].found || comment_is_dropped(root, totals->subject))
            continue;
        totals->roots++;
        totals->counted += comment_is_open(root) + comment_root_count(root);
    }
    store_arena_empty(&check->arena);
    return status;
}

static enum status check_pins(struct comments_check *check, const struct subject *subject)
{
    struct checked_comment pins[SUBJECT_PINS];
    for (unsigned i = 0; i < subject->pin_count; i++)
        pins[i] = (struct checked_comment){.id = subject->pins[i]};
    enum status status = check_read_comments(check, pins, subject->pin_count);
    for (unsigned i = 0; i < subject->pin_count && status == STATUS_OK; i++) {
        const struct comment *pin = &pins[i].comment;
        bool right = pins[i].found && comment_is_root(pin) && comment_is_open(pin) &&
                     item_equal(pin->subject, subject->item) && !comment_is_dropped(pin, subject);
        for (unsigned k = 0; k < i; k++)
            right = right && pins[k].id != pins[i].id;
        if (!right)
            status = check_bad_comment(check, pins[i].id, "is pinned, but it is no open root");
    }
    return status;
}

static enum status check_subject(struct comments_check *check, const struct subject *subject)
{
    struct totals totals = {.subject = subject};
    int64_t counted = 0;
    uint8_t group[ROW_KEY_MAX];
    char what[160];
    if (subject->item.type >= names_type_count(check->check->names))
        return check_bad_item(check, subject->item, "is a subject of a type that does not exist");
    if (subject->dropped_floor >= subject->next_floor)
        return check_bad_item(check, subject->item, "has dropped floors that it has not given yet");
    row_key_item(subject->item, group);
    enum status status = check_scan_group(check, STORE_FLOOR, group, add_roots, &totals);
    if (status == STATUS_OK)
        status = check_read_count(check, subject->item, NAME_INDEX_COMMENT, &counted);
    if (status != STATUS_OK)
        return status;
    if (counted != totals.counted) {
        snprintf(what, sizeof what,
                 "has the counter comment %" PRId64 ", but %" PRId64 " comments are counted",
                 counted, totals.counted);
        return check_bad_item(check, subject->item, what);
    }
    if (subject->roots != totals.roots) {
        snprintf(what, sizeof what, "has %" PRIu64 " roots, but %" PRIu64 " are listed",
                 subject->roots, totals.roots);
        return check_bad_item(check, subject->item, what);
    }
    return check_pins(check, subject);
}

static enum status flush_subjects(struct comments_check *check, const struct store_row *rows,
                                  size_t count)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct item item;
        struct subject subject;
        if (!row_read_item(rows[i].key, &item))
            return check_bad(check, "the store: a row of a subject has a malformed key");
        if (row_read_subject(rows[i].value, item, &subject) != STATUS_OK)
            return check_bad_item(check, item, "has a row of a subject that cannot be read");
        status = check_subject(check, &subject);
        check->subjects++;
    }
    return status;
}

/* A counter `comment` belongs to a subject or, as check_comments_own.c has seen, to a root. */
static enum status check_counter(void *context, const struct store_count *count)
{
    struct comments_check *check = context;
    struct subject subject;
    bool found = false;
    if (count->name != NAME_INDEX_COMMENT)
        return STATUS_OK;
    struct checked_comment comment = {.id = count->item.id.lo};
    enum status status = STATUS_OK;
    store_arena_empty(&check->arena);
    if (count->item.type == check->type && !id_is_wide(count->item.id)) {
        status = check_read_comments(check, &comment, 1);
        found = comment.found;
    }
    if (status == STATUS_OK && !found)
        status = check_read_subject(check, count->item, &subject, &found);
    if (status == STATUS_OK && !found)
        status = check_bad_item(check, count->item, "has a counter comment, but no comments");
    return status;
}

enum status check_comments_counts(struct comments_check *check)
{
    const struct store_visitor visitor = {.count = check_counter, .context = check};
    enum status status = check_visit_rows(check, STORE_SUBJECT, flush_subjects);
    return status == STATUS_OK ? store_visit(&check->check->store->admin, &visitor) : status;
}
