/* The document is JSON, has every route, page and operation in it, and its references lead somewhere. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "http/openapi.h"
#include "http/page.h"
#include "http/route.h"

static struct memory_budget budget = {.limit = MIB(4)};
static json_t *document;

static json_t *at(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (value == NULL)
        fail_msg("there is no %s", key);
    return value;
}

static const char *const methods[] = {
    [VERB_GET] = "get", [VERB_PUT] = "put", [VERB_POST] = "post", [VERB_DELETE] = "delete"};

static void has_every_route(void **state)
{
    (void)state;
    for (size_t i = 0; i < route_count(); i++) {
        const struct route *route = route_get(i);
        json_t *here = at(at(at(document, "paths"), route->path), methods[route->method]);
        const struct op_spec *op = op_get(route->op);
        assert_string_equal(json_string_value(at(here, "x-operation")), op->name);
        assert_string_equal(json_string_value(at(here, "summary")), op->summary);
        assert_int_equal(json_object_get(here, "requestBody") != NULL, route_has_body(route));
    }
    for (size_t i = 0; i < page_count(); i++) {
        const struct page *page = page_get(i);
        if (page->summary == NULL)
            assert_null(json_object_get(at(document, "paths"), page->path));
        else
            at(at(at(document, "paths"), page->path), "get");
    }
}

static void has_every_operation(void **state)
{
    (void)state;
    json_t *listed = at(at(at(at(document, "paths"), "/v1/batch"), "post"), "x-operations");
    assert_int_equal(json_array_size(listed), op_count());
    for (size_t i = 0; i < op_count(); i++) {
        json_t *entry = json_array_get(listed, i);
        assert_string_equal(json_string_value(at(entry, "name")), op_get(i)->name);
        assert_string_equal(json_string_value(at(entry, "arguments")), op_get(i)->arguments);
    }
}

/* The parameter of this name among those of a route. */
static json_t *parameter_of(json_t *here, struct text name)
{
    json_t *parameter;
    size_t i;
    json_array_foreach(at(here, "parameters"), i, parameter)
    {
        if (text_is(name, json_string_value(at(parameter, "name"))))
            return parameter;
    }
    fail_msg("there is no parameter %.*s", (int)name.length, name.bytes);
    return NULL;
}

/* The schema of a word, from wherever it comes. */
static json_t *schema_of(json_t *here, const struct route *route, const struct route_word *word)
{
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)word->name.length, word->name.bytes);
    if (!route_has_body(route) || word->segment >= 0)
        return at(parameter_of(here, word->name), "schema");
    json_t *content = at(at(at(here, "requestBody"), "content"), "application/json");
    return at(at(at(content, "schema"), "properties"), name);
}

/* Lists of items and limits end where the operation does. */
static void bounds_are_those_of_operations(void **state)
{
    (void)state;
    unsigned lists = 0, limits = 0;
    for (size_t i = 0; i < route_count(); i++) {
        const struct route *route = route_get(i);
        const struct op_spec *op = op_get(route->op);
        json_t *here = at(at(at(document, "paths"), route->path), methods[route->method]);
        struct route_word word;
        for (const char *from = route->words; route_next_word(route, &from, &word);) {
            json_t *schema = schema_of(here, route, &word);
            if (word.many || word.split) {
                assert_int_equal(json_integer_value(at(schema, "maxItems")), op->items_max);
                lists++;
            } else if (text_is(word.name, "limit")) {
                assert_true(op_limit_max(op) > 0);
                assert_int_equal(json_integer_value(at(schema, "maximum")), op_limit_max(op));
                limits++;
            }
        }
    }
    assert_true(lists >= 3 && limits >= 6);
}

static void has_type(json_t *schema, const char *wanted)
{
    json_t *type = at(schema, "type"), *one;
    size_t i;
    bool has = json_is_string(type) && strcmp(json_string_value(type), wanted) == 0;
    json_array_foreach(type, i, one) has = has || strcmp(json_string_value(one), wanted) == 0;
    assert_true(has);
}

static void what_is_taken_and_answered_is_described(void **state)
{
    (void)state;
    json_t *paths = at(document, "paths");
    json_t *add = at(at(paths, "/v1/items/{item}/counters/{counter}"), "post");
    json_t *content = at(at(at(add, "requestBody"), "content"), "application/json");
    json_t *delta = at(at(at(content, "schema"), "properties"), "delta");
    has_type(delta, "integer");
    has_type(delta, "string");

    json_t *friends = at(at(paths, "/v1/items/{item}/reactions/like"), "get");
    json_t *cursor = parameter_of(friends, (struct text){"cursor", 6});
    assert_string_equal(json_string_value(at(cursor, "description")), "Not together with among.");

    for (size_t i = 0; i < page_count(); i++) {
        const struct page *page = page_get(i);
        if (page->summary == NULL)
            continue;
        bool json = strcmp(page->type, "application/json") == 0;
        json_t *answers = at(at(at(at(paths, page->path), "get"), "responses"), "200");
        const char *leads =
            json_string_value(at(at(at(at(answers, "content"), page->type), "schema"), "$ref"));
        has_type(at(at(at(document, "components"), "schemas"), strrchr(leads, '/') + 1),
                 json ? "object" : "string");
    }
}

/* Every "$ref" anywhere is of a schema that is there. */
static void check_references(json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_array(value)) {
        json_array_foreach(value, i, member) check_references(member);
        return;
    }
    json_object_foreach(value, key, member)
    {
        const char *prefix = "#/components/schemas/";
        if (strcmp(key, "$ref") == 0) {
            assert_memory_equal(json_string_value(member), prefix, strlen(prefix));
            at(at(at(document, "components"), "schemas"),
               json_string_value(member) + strlen(prefix));
        }
        check_references(member);
    }
}

static void references_lead_somewhere(void **state)
{
    (void)state;
    assert_string_equal(json_string_value(at(document, "openapi")), "3.1.0");
    check_references(document);
}

static void tokens_are_described(void **state)
{
    (void)state;
    json_t *token = at(at(at(document, "components"), "securitySchemes"), "token");
    json_t *security = at(document, "security");
    assert_string_equal(json_string_value(at(token, "type")), "http");
    assert_string_equal(json_string_value(at(token, "scheme")), "bearer");
    assert_int_equal(json_array_size(security), 2); /* none, where there are no tokens, or one */
    assert_int_equal(json_object_size(json_array_get(security, 0)), 0);
    at(json_array_get(security, 1), "token");
}

static void no_memory(void **state)
{
    (void)state;
    for (size_t limit = 0; limit < 8192; limit = 2 * limit + 256) {
        struct memory_budget small = {.limit = limit};
        struct buffer out = {.budget = &small};
        assert_false(openapi_write(&out));
        buffer_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_every_route),
        cmocka_unit_test(has_every_operation),
        cmocka_unit_test(bounds_are_those_of_operations),
        cmocka_unit_test(what_is_taken_and_answered_is_described),
        cmocka_unit_test(references_lead_somewhere),
        cmocka_unit_test(tokens_are_described),
        cmocka_unit_test(no_memory),
    };
    struct buffer out = {.budget = &budget};
    json_error_t error;
    if (!openapi_write(&out))
        return 1;
    document = json_loadb(out.bytes, out.length, JSON_REJECT_DUPLICATES, &error);
    if (document == NULL) {
        fprintf(stderr, "%s at %d\n", error.text, error.position);
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(document);
    buffer_free(&out);
    return failed;
}
