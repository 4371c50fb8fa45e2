/* Every command of both tables is found in any case, and nothing else is. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "op/command.h"
#include "resp/face.h"

static struct commands commands;

static const struct command *find(const char *name)
{
    return commands_find(&commands, (struct text){name, strlen(name)});
}

static void finds_every_command_in_any_case(void **state)
{
    (void)state;
    assert_true(commands.count > op_count());
    for (size_t i = 0; i < commands.count; i++) {
        const struct command *command = &commands.list[i];
        char lower[32] = "";
        for (size_t c = 0; command->name[c]; c++)
            lower[c] = (char)tolower((unsigned char)command->name[c]);
        assert_ptr_equal(find(command->name), command);
        assert_ptr_equal(find(lower), command);
        assert_true((command->op != NULL) != (command->session != NULL));
        assert_true(command->args_min <= command->args_max);
    }
}

static void finds_nothing_else(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",         "LIK",    "LIKEE",    "L\x09KE", "GET",     "0123456789abcdef0",
        "LIKELIKE", "LILIKE", "REACTEDD", "FEEEED",  "UNREACTT"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_null(find(names[i]));
    assert_null(commands_find(&commands, (struct text){"LIKE\0", 5}));
}

/* One byte changed to any other is the same command only if it is the same letter. */
static void every_byte_of_a_name_counts(void **state)
{
    (void)state;
    for (size_t i = 0; i < commands.count; i++) {
        const char *name = commands.list[i].name;
        size_t length = strlen(name);
        for (size_t at = 0; at < length; at++) {
            for (int byte = 0; byte < 256; byte++) {
                char changed[32];
                memcpy(changed, name, length);
                changed[at] = (char)byte;
                const struct command *found =
                    commands_find(&commands, (struct text){changed, length});
                bool same = byte == name[at] || byte == tolower((unsigned char)name[at]);
                if (same)
                    assert_ptr_equal(found, &commands.list[i]);
                else
                    assert_ptr_not_equal(found, &commands.list[i]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_every_command_in_any_case),
        cmocka_unit_test(finds_nothing_else),
        cmocka_unit_test(every_byte_of_a_name_counts),
    };
    commands_init(&commands);
    resp_face.add_commands(&commands);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
