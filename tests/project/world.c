#include "world.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "journal/file/record.h"

void world_start(struct world *world, uint64_t seed)
{
    *world = (struct world){.chance = {seed}, .now_s = 1000000};
}

/* Of both widths. */
struct id world_user(uint32_t number)
{
    return (struct id){number % 3 == 0 ? number + 77 : 0, 1000 + number};
}

/* Some share an id and differ in type. */
struct item world_item(uint32_t number)
{
    struct id id = {number % 4 == 1 ? 5 : 0, 50 + number / 2};
    return (struct item){.id = id, .type = (uint16_t)(number % WORLD_TYPES)};
}

struct store_name world_name(uint32_t number)
{
    struct store_name name = {.role = NAME_TYPE, .index = (uint16_t)number};
    if (number >= WORLD_NEEDED) {
        name.role = number % 2 ? NAME_TYPE : NAME_COUNTER;
        name.index = (uint16_t)(20 + number / 2);
    } else if (number >= WORLD_TYPES) {
        name.index = (uint16_t)(number - WORLD_TYPES + NAME_INDEX_COMMENT + 1);
        name.role = name.index < WORLD_KINDS ? NAME_KIND : NAME_COUNTER;
    }
    char text[LIMIT_NAME_LENGTH + 1];
    snprintf(text, sizeof text, "name-%u", number);
    name.length = (uint8_t)strlen(text);
    memcpy(name.text, text, name.length);
    return name;
}

static void decide_define(struct world *world, struct event *event)
{
    struct store_name name = world_name(world->defined++);
    event->type = EVENT_DEFINE;
    event->name = name.role;
    event->index = name.index;
    event->text_length = name.length;
    memcpy(event->text, name.text, name.length);
}

static void decide_add(struct world *world, struct event *event)
{
    uint32_t item = chance_below(&world->chance, WORLD_ITEMS);
    uint32_t name = WORLD_KINDS + chance_below(&world->chance, WORLD_NAMES - WORLD_KINDS);
    event->type = EVENT_ADD;
    event->item = world_item(item);
    event->name = (uint8_t)name;
    event->delta = (int64_t)chance_below(&world->chance, 7) - 3;
    event->has_token = chance_below(&world->chance, 4) == 0;
    if (event->has_token) {
        event->token[0] = chance_next(&world->chance);
        event->token[1] = chance_next(&world->chance);
    }
    world->counts[item][name] += event->delta;
}

static void world_clear(struct world *world, uint32_t user, uint32_t kind, uint32_t item)
{
    world->time_s[user][kind][item] = 0;
    world->cleared_s[user][kind][item] = world->now_s;
    world->counts[item][kind]--;
}

/* Now and then others that are live beside it, which may be any: the fold does not know of groups. */
static void clear_others(struct world *world, struct event *event, uint32_t user, uint32_t item)
{
    for (uint32_t other = 0; other < WORLD_KINDS; other++) {
        if (event->cleared_count == event_cleared_max(event->type) ||
            world->time_s[user][other][item] == 0 || chance_below(&world->chance, 3) != 0)
            continue;
        event->cleared[event->cleared_count++] = (uint8_t)other;
        world_clear(world, user, other, item);
    }
}

static void decide_reaction(struct world *world, struct event *event)
{
    uint32_t user = chance_below(&world->chance, WORLD_USERS);
    uint32_t kind = chance_below(&world->chance, WORLD_KINDS - 1);
    kind += kind >= NAME_INDEX_COMMENT;
    uint32_t item = chance_below(&world->chance, WORLD_ITEMS);
    event->user = world_user(user);
    event->item = world_item(item);
    event->name = (uint8_t)kind;
    if (world->time_s[user][kind][item] != 0) {
        event->type = EVENT_CLEAR;
        world_clear(world, user, kind, item);
        clear_others(world, event, user, item);
        return;
    }
    event->type = EVENT_SET;
    clear_others(world, event, user, item);
    world->time_s[user][kind][item] = event->time_s;
    world->counts[item][kind]++;
}

struct event world_next(struct world *world)
{
    world->now_s += chance_below(&world->chance, 8) == 0;
    struct event event = {.time_s = world->now_s};
    uint32_t sort = chance_below(&world->chance, 100);
    if (world->defined < (sort == 0 ? WORLD_DEFINED : WORLD_NEEDED))
        decide_define(world, &event);
    else if (sort < 25)
        decide_add(world, &event);
    else
        decide_reaction(world, &event);
    world->events++;
    world->position += record_size(&event);
    return event;
}
