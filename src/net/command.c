/*
 * Finding a command is on the path of every request: the name, at most 16 bytes, is folded to upper
 * case in two words and looked up by their hash.
 */
#include "net/command.h"

#include "base/assert.h"
#include "base/hash.h"
#include "net/session.h"

#define SLOT_COUNT (4 * COMMANDS_MAX)
#define NAME_BYTES 16

/* False for what no command is called: too long, or with a NUL, which pads the key. */
static bool fold(struct text name, uint64_t key[2])
{
    char upper[NAME_BYTES] = {0};
    if (name.length == 0 || name.length > NAME_BYTES)
        return false;
    for (size_t i = 0; i < name.length; i++) {
        char c = name.bytes[i];
        if (c == '\0')
            return false;
        upper[i] = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    }
    memcpy(key, upper, NAME_BYTES);
    return true;
}

static size_t slot_of(const uint64_t key[2])
{
    return hash_mix(key[0], key[1]) & (SLOT_COUNT - 1);
}

static void add(struct commands *commands, struct command command)
{
    ASSERT(commands->count < COMMANDS_MAX);
    struct command *kept = &commands->list[commands->count++];
    *kept = command;
    uint64_t key[2];
    bool short_enough = fold((struct text){kept->name, strlen(kept->name)}, key);
    ASSERT(short_enough);
    size_t slot = slot_of(key);
    while (commands->slots[slot].command != NULL)
        slot = (slot + 1) & (SLOT_COUNT - 1);
    commands->slots[slot].key[0] = key[0];
    commands->slots[slot].key[1] = key[1];
    commands->slots[slot].command = kept;
}

void commands_init(struct commands *commands)
{
    *commands = (struct commands){0};
    for (size_t i = 0; i < op_count(); i++) {
        const struct op_spec *op = op_get(i);
        add(commands, (struct command){.name = op->name,
                                       .arguments = op->arguments,
                                       .summary = op->summary,
                                       .args_min = op->args_min,
                                       .args_max = op->args_max,
                                       .op = op});
    }
#define SESSION(function, session_name, min, max, text, what)                                      \
    add(commands, (struct command){.name = session_name,                                           \
                                   .arguments = text,                                              \
                                   .summary = what,                                                \
                                   .args_min = min,                                                \
                                   .args_max = max,                                                \
                                   .session = session_##function});
#include "net/session.def"
#undef SESSION
}

const struct command *commands_find(const struct commands *commands, struct text name)
{
    uint64_t key[2];
    if (!fold(name, key))
        return NULL;
    for (size_t slot = slot_of(key); commands->slots[slot].command != NULL;
         slot = (slot + 1) & (SLOT_COUNT - 1)) {
        if (commands->slots[slot].key[0] == key[0] && commands->slots[slot].key[1] == key[1])
            return commands->slots[slot].command;
    }
    return NULL;
}
