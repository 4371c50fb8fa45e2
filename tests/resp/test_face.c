/* RESP on a real socket: no error reply goes uncounted, whoever refuses. */
#include "net/fake.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/loop.h"

static struct fake fake;

static struct meter_total total(void)
{
    struct meter_total meter = {.by_worker = 0};
    meter_read(&fake.server.loops[0].watch.meter, &meter);
    return meter;
}

static size_t place_of(const char *name)
{
    const struct commands *commands = &fake.server.commands;
    const struct command *command = commands_find(commands, (struct text){name, strlen(name)});
    assert_non_null(command);
    return (size_t)(command - commands->list);
}

static void errors_of_a_session_are_counted(void **state)
{
    (void)state;
    static const struct {
        const char *name, *line, *reply;
        enum status status;
    } cases[] = {
        {"AUTH", "AUTH x", "-ERR AUTH was sent", STATUS_NO_TOKENS},
        {"HELLO", "HELLO 3 AUTH u x", "-ERR AUTH was sent", STATUS_NO_TOKENS},
        {"HELLO", "HELLO 4", "-NOPROTO this server speaks", STATUS_NO_PROTOCOL},
        {"HELLO", "HELLO 3 SETNAME", "-ERR HELLO takes", STATUS_BAD_ARGUMENT},
        {"SELECT", "SELECT 1", "-ERR there is only one database", STATUS_BAD_ARGUMENT},
        {"DEVICE", "DEVICE \x7f", "-ERR a device's id", STATUS_BAD_ARGUMENT},
        {"CLIENT", "CLIENT SETNAME \x7f", "-ERR a connection's name", STATUS_BAD_ARGUMENT},
        {"CLIENT", "CLIENT WHAT", "-ERR CLIENT takes", STATUS_BAD_ARGUMENT},
        {"CONFIG", "CONFIG SET a", "-ERR CONFIG takes", STATUS_BAD_ARGUMENT},
        {"COMMAND", "COMMAND WHAT", "-ERR COMMAND takes", STATUS_BAD_ARGUMENT},
        {"HOTKEYS", "HOTKEYS 0", "-ERR HOTKEYS takes", STATUS_BAD_ARGUMENT},
        {"HOTKEYS", "HOTKEYS", "-ERR this server does not keep track of hot keys",
         STATUS_NO_HOTKEYS},
        {"SLOWLOG", "SLOWLOG WHAT", "-ERR SLOWLOG takes", STATUS_BAD_ARGUMENT},
    };
    char line[256];
    fake_init(&fake);
    fake.options.hotkeys = false;
    fake_start(&fake);
    int client = client_open(&fake);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct meter_total before = total();
        size_t place = place_of(cases[i].name);
        client_send(client, cases[i].line);
        client_send(client, "\r\n");
        client_read_line(client, line, sizeof line);
        assert_memory_equal(line, cases[i].reply, strlen(cases[i].reply));
        struct meter_total after = total();
        assert_int_equal(fake.server.loops[0].stats.errors, i + 1);
        assert_int_equal(fake.server.loops[0].stats.commands, i + 1);
        assert_int_equal(after.operations[place].failed - before.operations[place].failed, 1);
        assert_int_equal(after.statuses[cases[i].status] - before.statuses[cases[i].status], 1);
        assert_int_equal(buckets_count(&after.operations[place].times) -
                             buckets_count(&before.operations[place].times),
                         1);
    }
    close(client);
    fake_stop(&fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_a_session_are_counted),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
