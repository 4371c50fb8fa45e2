#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "spans.h"
#include "store_suite.h"

/* Narrow and wide ids mixed, some of them alike but for their width. */
struct store_reaction suite_reaction(uint64_t user, uint64_t item, uint8_t kind, uint32_t time_s)
{
    return (struct store_reaction){
        .user = {.hi = user % 3 == 0 ? user : 0, .lo = user},
        .item = {.id = {.hi = item % 5 == 0 ? item : 0, .lo = item}, .type = (uint16_t)(item % 4)},
        .kind = kind,
        .time_s = time_s};
}

struct store_count suite_count(uint64_t item, uint8_t name, int64_t value)
{
    return (struct store_count){
        .item = suite_reaction(0, item, 0, 0).item, .name = name, .value = value};
}

struct store_name suite_name(uint8_t role, uint16_t index, const char *text)
{
    struct store_name name = {.role = role, .index = index, .length = (uint8_t)strlen(text)};
    memcpy(name.text, text, name.length);
    return name;
}

void suite_apply(struct store *store, struct store_changes changes)
{
    changes.position = store_position(&store->applier) + 1;
    assert_int_equal(store_apply(&store->applier, &changes), STATUS_OK);
    assert_int_equal(store_position(&store->applier), changes.position);
}

void suite_react(struct store *store, struct store_reaction change)
{
    change.was_live = suite_time(store, change) != 0;
    suite_apply(store, (struct store_changes){BOTH_SPANS(&change, 1)});
}

void suite_add(struct store *store, struct store_count change)
{
    suite_apply(store, (struct store_changes){.item.counts = &change, .item.count_count = 1});
}

uint32_t suite_time(struct store *store, struct store_reaction key)
{
    key.time_s = 0xdead;
    assert_int_equal(store_read_reactions(&store->reader, &key, 1), STATUS_OK);
    return key.time_s;
}

int64_t suite_value(struct store *store, const struct store_snapshot *snapshot,
                    struct store_count key)
{
    struct store_values values = {0};
    struct store_item item = {.item = key.item, .first = 77, .count = 77};
    int64_t value = 0;
    assert_int_equal(store_read_items(&store->reader, snapshot, &item, 1, &values), STATUS_OK);
    assert_int_equal(item.first, 0);
    assert_int_equal(item.count, values.used);
    for (size_t i = 0; i < values.used; i++) {
        assert_int_not_equal(values.values[i].value, 0);
        if (values.values[i].name == key.name) {
            assert_int_equal(value, 0); /* once */
            value = values.values[i].value;
        }
    }
    free(values.values);
    return value;
}

uint64_t suite_reactions(struct store *store)
{
    struct store_stats stats;
    store_stats(&store->admin, &stats);
    assert_int_equal(stats.state, STORE_OK);
    assert_int_equal(stats.position, store_position(&store->applier));
    assert_true(stats.durable <= stats.position);
    return stats.reactions;
}

uint64_t suite_seed(void)
{
    const char *text = getenv("LAUD_SEED");
    uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
    print_message("LAUD_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

void suite_done(struct store *store)
{
    store_close(store);
    store_suite_closed();
}

void suite_verify(struct store *store)
{
    struct store_report report;
    enum status status = store_verify(&store->admin, NULL, NULL, &report);
    if (status != STATUS_OK)
        print_error("%s\n", report.problem);
    assert_int_equal(status, STATUS_OK);
    assert_string_equal(report.problem, "");
    assert_int_equal(report.reactions, suite_reactions(store));
}

struct dump {
    char **lines;
    size_t used;
    size_t capacity;
};

__attribute__((format(printf, 2, 3))) static enum status dump_line(void *context,
                                                                   const char *format, ...)
{
    struct dump *dump = context;
    va_list arguments;
    if (dump->used == dump->capacity) {
        dump->capacity = dump->capacity * 2 + 64;
        dump->lines = realloc(dump->lines, dump->capacity * sizeof(char *));
        assert_non_null(dump->lines);
    }
    va_start(arguments, format);
    assert_true(vasprintf(&dump->lines[dump->used++], format, arguments) > 0);
    va_end(arguments);
    return STATUS_OK;
}

static enum status dump_reaction(void *context, const struct store_reaction *row)
{
    assert_int_not_equal(row->time_s, 0);
    return dump_line(context, "reaction %lx.%lx %u %u:%lx.%lx %u\n", row->user.hi, row->user.lo,
                     row->kind, row->item.type, row->item.id.hi, row->item.id.lo, row->time_s);
}

static enum status dump_count(void *context, const struct store_count *row)
{
    assert_int_not_equal(row->value, 0);
    return dump_line(context, "count %u:%lx.%lx %u %ld\n", row->item.type, row->item.id.hi,
                     row->item.id.lo, row->name, row->value);
}

static enum status dump_name(void *context, const struct store_name *row)
{
    return dump_line(context, "name %u %u %.*s\n", row->role, row->index, row->length, row->text);
}

static enum status dump_token(void *context, const struct store_token *row)
{
    char value[32] = "";
    if (row->value != 0)
        snprintf(value, sizeof(value), " = %lu", row->value);
    return dump_line(context, "token %lx.%lx %u %u:%lx.%lx%s\n", row->token[0], row->token[1],
                     row->time_s, row->item.type, row->item.id.hi, row->item.id.lo, value);
}

static void write_hex(char *out, struct store_bytes bytes)
{
    *out = '\0';
    for (uint32_t i = 0; i < bytes.length; i++)
        snprintf(out + 2 * (size_t)i, 3, "%02x", bytes.data[i]);
}

static enum status dump_row(void *context, const struct store_row *row)
{
    char key[2 * STORE_KEY_MAX + 1], value[2 * STORE_VALUE_MAX + 1];
    write_hex(key, row->key);
    write_hex(value, row->value);
    return dump_line(context, "row %u %s %s\n", row->table, key, value);
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *suite_dump(struct store *store)
{
    struct dump dump = {0};
    const struct store_visitor visitor = {.reaction = dump_reaction,
                                          .count = dump_count,
                                          .name = dump_name,
                                          .token = dump_token,
                                          .row = dump_row,
                                          .context = &dump};
    assert_int_equal(store_visit(&store->admin, &visitor), STATUS_OK);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    if (dump.used > 0)
        qsort(dump.lines, dump.used, sizeof(char *), compare_lines);
    for (size_t i = 0; i < dump.used; i++) {
        fputs(dump.lines[i], out);
        free(dump.lines[i]);
    }
    fclose(out);
    free(dump.lines);
    return text;
}
