/*
 * Every request looks up its command. A name of at most 16 bytes is read as two 64-bit words, its
 * first and its last eight bytes, which overlap if it is shorter. Together with the length they are
 * unique. They are folded to upper case and looked up by their hash.
 */
#include "op/command.h"

#include "base/assert.h"
#include "base/hash.h"

#define SLOT_COUNT (4 * COMMANDS_MAX)
#define NAME_BYTES 16

/* Converts each byte from a to z to upper case, all eight at once. */
static uint64_t fold_word(uint64_t word)
{
    const uint64_t each = 0x0101010101010101ULL;
    uint64_t low = word & each * 0x7f; /* so that no sum of a byte carries into the next */
    uint64_t from_a = low + each * (0x80 - 'a'), past_z = low + each * (0x7f - 'z');
    uint64_t lower = from_a & ~past_z & ~word & each * 0x80;
    return word ^ lower >> 2;
}

static uint64_t load_4(const char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* False: no command can have this name. */
static bool fold(struct text name, struct command_key *key)
{
    const char *bytes = name.bytes;
    size_t length = name.length;
    if (length == 0 || length > NAME_BYTES)
        return false;
    if (length >= 8) {
        memcpy(&key->first, bytes, 8);
        memcpy(&key->last, bytes + length - 8, 8);
    } else if (length >= 4) {
        key->first = load_4(bytes);
        key->last = load_4(bytes + length - 4);
    } else {
        key->first = (uint64_t)bytes[0] & 0xff;
        key->last =
            ((uint64_t)bytes[length / 2] & 0xff) << 8 | ((uint64_t)bytes[length - 1] & 0xff);
    }
    key->first = fold_word(key->first);
    key->last = fold_word(key->last);
    key->length = length;
    return true;
}

static bool key_equal(const struct command_key *a, const struct command_key *b)
{
    return a->first == b->first && a->last == b->last && a->length == b->length;
}

static size_t slot_of(const struct command_key *key)
{
    return hash_mix(key->first, key->last) & (SLOT_COUNT - 1);
}

void commands_add(struct commands *commands, struct command command)
{
    ASSERT(commands->count < COMMANDS_MAX);
    struct command *kept = &commands->list[commands->count++];
    *kept = command;
    struct command_key key;
    bool short_enough = fold((struct text){kept->name, strlen(kept->name)}, &key);
    ASSERT(short_enough);
    size_t slot = slot_of(&key);
    while (commands->slots[slot].command != NULL)
        slot = (slot + 1) & (SLOT_COUNT - 1);
    commands->slots[slot].key = key;
    commands->slots[slot].command = kept;
}

void commands_init(struct commands *commands)
{
    *commands = (struct commands){0};
    for (size_t i = 0; i < op_count(); i++) {
        const struct op_spec *op = op_get(i);
        commands_add(commands, (struct command){.name = op->name,
                                                .arguments = op->arguments,
                                                .summary = op->summary,
                                                .args_min = op->args_min,
                                                .args_max = op->args_max,
                                                .op = op});
    }
}

const struct command *commands_find(const struct commands *commands, struct text name)
{
    struct command_key key;
    if (!fold(name, &key))
        return NULL;
    for (size_t slot = slot_of(&key); commands->slots[slot].command != NULL;
         slot = (slot + 1) & (SLOT_COUNT - 1)) {
        if (key_equal(&commands->slots[slot].key, &key))
            return commands->slots[slot].command;
    }
    return NULL;
}
