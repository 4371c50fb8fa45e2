#include "base/status.h"

#include "base/assert.h"

static const struct {
    const char *name;
    const char *resp;
    const char *sentence;
    int http;
} table[STATUS_COUNT] = {
#define STATUS(name, resp, http, sentence) [STATUS_##name] = {#name, resp, sentence, http},
#include "base/status.def"
#undef STATUS
};

const char *status_name(enum status status)
{
    ASSERT(status < STATUS_COUNT);
    return table[status].name;
}

const char *status_resp(enum status status)
{
    ASSERT(status < STATUS_COUNT);
    return table[status].resp;
}

const char *status_sentence(enum status status)
{
    ASSERT(status < STATUS_COUNT);
    return table[status].sentence;
}

int status_http(enum status status)
{
    ASSERT(status < STATUS_COUNT);
    return table[status].http;
}

bool status_lasts(enum status status)
{
    return status == STATUS_READONLY || status == STATUS_STORE_FAILED;
}
