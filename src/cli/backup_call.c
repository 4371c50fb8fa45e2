#include "cli/backup_call.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/decimal.h"

#define TIMEOUT_S  60
#define POLL_NS    20000000L
#define BUSY_NS    30000000000ULL  /* so long another backup is waited for */
#define WORKING_NS 600000000000ULL /* so long the staging may take */

bool backup_call_open(struct backup_call *call, const char *address)
{
    char host[CONNECT_HOST_MAX], port[CONNECT_PORT_MAX];
    call->fd = -1;
    if (!connect_split(address, host, port)) {
        snprintf(call->problem, sizeof call->problem, "'%s' is not HOST:PORT", address);
        return false;
    }
    call->fd = connect_open(host, port, TIMEOUT_S, call->problem, sizeof call->problem);
    return call->fd >= 0 &&
           connect_authenticate(call->fd, call->reply, call->problem, sizeof call->problem);
}

void backup_call_close(struct backup_call *call)
{
    if (call->fd >= 0)
        close(call->fd);
    call->fd = -1;
}

static bool send_word(struct backup_call *call, const char *word)
{
    const char *words[] = {"BACKUP", word};
    const size_t lengths[] = {strlen(words[0]), strlen(words[1])};
    call->reply[0] = '\0';
    return connect_call(call->fd, words, lengths, 2, call->reply, call->problem,
                        sizeof call->problem);
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
}

static bool call_begin(struct backup_call *call)
{
    uint64_t until_ns = clock_monotonic_ns() + BUSY_NS;
    while (!send_word(call, "BEGIN")) {
        if (strncmp(call->reply, "-BUSY ", 6) != 0 || clock_monotonic_ns() > until_ns)
            return false;
        nap();
    }
    return true;
}

/* Reads one text of a reply; false: there is none, or it is too long. */
static bool take_text(const char **at, char *out, size_t size)
{
    uint64_t length;
    if (**at != '$')
        return false;
    struct text digits = {*at + 1, decimal_digits(text_from(*at + 1))};
    if (!decimal_read(digits, size - 1, &length))
        return false;
    const char *bytes = digits.bytes + digits.length + 2;
    snprintf(out, size, "%.*s", (int)length, bytes);
    *at = bytes + length + 2;
    return strlen(out) == length;
}

static bool read_status(struct backup_call *call, char state[16], char text[PATH_MAX])
{
    const char *at = call->reply + 4;
    if (!send_word(call, "STATUS"))
        return false;
    if (strncmp(call->reply, "*2\r\n", 4) == 0 && take_text(&at, state, 16) &&
        take_text(&at, text, PATH_MAX))
        return true;
    snprintf(call->problem, sizeof call->problem, "the answer to BACKUP STATUS is not two texts");
    return false;
}

bool backup_call_stage(struct backup_call *call, char path[PATH_MAX])
{
    char state[16];
    if (!call_begin(call))
        return false;
    uint64_t until_ns = clock_monotonic_ns() + WORKING_NS;
    do {
        nap();
        if (!read_status(call, state, path))
            return false;
    } while (strcmp(state, "working") == 0 && clock_monotonic_ns() < until_ns);
    if (strcmp(state, "ready") == 0)
        return true;
    if (strcmp(state, "failed") == 0)
        snprintf(call->problem, sizeof call->problem, "the server failed: %.450s", path);
    else
        snprintf(call->problem, sizeof call->problem,
                 "the server could not stage its files in time (%s)", state);
    return false;
}

void backup_call_end(struct backup_call *call)
{
    (void)send_word(call, "END");
}
