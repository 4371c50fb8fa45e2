#include "http/page.h"

#include "base/assert.h"
#include "base/clock.h"
#include "http/answer.h"
#include "http/figures.h"
#include "http/openapi.h"
#include "http/respond.h"
#include "http/route.h"
#include "http/welcome.h"
#include "net/info.h"

/* This answer alone shows that the process runs and that its loop works. */
static enum status write_health(struct loop *loop, struct buffer *out)
{
    (void)loop;
    return answer_write_text(out, "{\"status\":\"ok\"}") ? STATUS_OK : STATUS_NO_MEMORY;
}

/*
 * The server is ready if it accepts writes, now or in a moment, so everything that can refuse one is
 * asked.
 */
static enum status write_ready(struct loop *loop, struct buffer *out)
{
    enum status status = hot_admit(loop->server->parts.hot, &loop->pacer, clock_monotonic_ns());
    if (status == STATUS_OK || status == STATUS_BLOCKED)
        status = hot_room(loop->server->parts.hot);
    if (status != STATUS_OK)
        return status;
    return answer_write_text(out, "{\"status\":\"ready\"}") ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status write_openapi(struct loop *loop, struct buffer *out)
{
    (void)loop;
    return openapi_write(out) ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status write_metrics(struct loop *loop, struct buffer *out)
{
    return info_metrics(loop->server, out) ? STATUS_OK : STATUS_NO_MEMORY;
}

static const struct page pages[] = {
    {.path = "/",
     .type = RESPOND_JSON,
     .summary = "About this server, with links; a browser gets the console.",
     .schema = "Status",
     .write = welcome_write,
     .open = true,
     .write_html = welcome_write_html,
     .html_fields = welcome_fields},
    {.path = "/healthz",
     .type = RESPOND_JSON,
     .summary = "200 while the process runs.",
     .schema = "Status",
     .write = write_health,
     .open = true},
    {.path = "/readyz",
     .type = RESPOND_JSON,
     .summary = "200 while the server takes writes, otherwise 503 and the reason.",
     .schema = "Status",
     .write = write_ready,
     .open = true},
    {.path = "/metrics",
     .type = "text/plain; version=0.0.4",
     .summary = "The metrics of the server, for Prometheus.",
     .schema = "Text",
     .write = write_metrics,
     .limited = true},
    {.path = "/info",
     .type = RESPOND_JSON,
     .summary = "The sections of INFO, and how often and how long each operation ran.",
     .schema = "Info",
     .write = figures_write_info,
     .limited = true},
    {.path = "/hotkeys",
     .type = RESPOND_JSON,
     .summary = "The hottest items and users of the last seconds, with their uses a second.",
     .schema = "HotKeys",
     .write = figures_write_hotkeys,
     .admins = true,
     .limited = true},
    {.path = "/slowlog",
     .type = RESPOND_JSON,
     .summary = "The latest slow commands, newest first.",
     .schema = "SlowLog",
     .write = figures_write_slowlog,
     .admins = true,
     .limited = true},
    {.path = "/console/{file}", .open = true, .files = true},
    {.path = "/openapi.json",
     .type = RESPOND_JSON,
     .summary = "This document.",
     .schema = "Status",
     .write = write_openapi,
     .open = true,
     .limited = true},
};

size_t page_count(void)
{
    return sizeof pages / sizeof pages[0];
}

const struct page *page_get(size_t index)
{
    ASSERT(index < page_count());
    return &pages[index];
}

const struct page *page_find(const struct target *target)
{
    for (size_t i = 0; i < page_count(); i++) {
        if (route_fits(pages[i].path, target))
            return &pages[i];
    }
    return NULL;
}
