/* The first line of a response: every outcome that can be told over HTTP has its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/status.h"
#include "http/respond.h"

static struct memory_budget budget = {.limit = MIB(4)};

static void every_status_has_its_code(void **state)
{
    (void)state;
    for (int i = 0; i < STATUS_COUNT; i++) {
        struct buffer out = {.budget = &budget};
        struct response response = {.code = status_http((enum status)i), .type = RESPOND_JSON};
        if (response.code == 0)
            continue;
        assert_true(respond_write(&out, &response, "", 0));
        assert_true(out.length > 13);
        assert_memory_equal(out.bytes, "HTTP/1.1 ", 9);
        assert_int_equal(strtol(out.bytes + 9, NULL, 10), response.code);
        assert_int_equal(out.bytes[12], ' ');
        buffer_free(&out);
    }
    assert_int_equal(memory_used(&budget), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
