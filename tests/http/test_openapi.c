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

static void has_every_route(void **state)
{
    (void)state;
    static const char *const methods[] = {
        [VERB_GET] = "get", [VERB_PUT] = "put", [VERB_POST] = "post", [VERB_DELETE] = "delete"};
    for (size_t i = 0; i < route_count(); i++) {
        const struct route *route = route_get(i);
        json_t *here = at(at(at(document, "paths"), route->path), methods[route->method]);
        const struct op_spec *op = op_get(route->op);
        assert_string_equal(json_string_value(at(here, "x-operation")), op->name);
        assert_string_equal(json_string_value(at(here, "summary")), op->summary);
        assert_int_equal(json_object_get(here, "requestBody") != NULL, route->method == VERB_POST);
    }
    for (size_t i = 0; i < page_count(); i++)
        at(at(at(document, "paths"), page_get(i)->path), "get");
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
