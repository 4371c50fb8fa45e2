#include "journal/event.h"

#include <string.h>

#include "base/assert.h"
#include "base/names.h"

struct event event_define(uint8_t role, uint16_t index, const char *text, size_t length,
                          uint32_t time_s)
{
    struct event event = {.type = EVENT_DEFINE,
                          .name = role,
                          .index = index,
                          .text_length = (uint8_t)length,
                          .time_s = time_s};
    ASSERT(length <= sizeof event.text);
    memcpy(event.text, text, length);
    return event;
}

struct event event_import(uint32_t time_s)
{
    return event_define(NAME_KIND, NAME_INDEX_LIKE, "like", 4, time_s);
}

bool event_is_import(const struct event *event)
{
    return event->type == EVENT_DEFINE && event->name == NAME_KIND &&
           event->index == NAME_INDEX_LIKE;
}
