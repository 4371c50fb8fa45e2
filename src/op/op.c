/*
 * The table of operations. A new operation is a new line in op.def.
 */
#include "op/op.h"

#include "base/assert.h"

#define WORDS(...)                                                                                 \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define WORD_COUNT(...) sizeof((const uint8_t[])__VA_ARGS__)

/* The highest number of extra words, if there is no WORD_ITEMS; UINT16_MAX: there is no bound. */
#define EXTRA_WORDS(extra)                                                                         \
    ((extra) == EXTRA_NONE                                                         ? 0             \
     : (extra) == EXTRA_ALL                                                        ? 1             \
     : (extra) == EXTRA_TOKEN || (extra) == EXTRA_PIECE || (extra) == EXTRA_REASON ? 2             \
     : (extra) == EXTRA_BAN                                                        ? 3             \
     : (extra) == EXTRA_COMMENTS                                                   ? 13            \
     : (extra) == EXTRA_POST                                                       ? UINT16_MAX    \
                                                                                   : 4)
#define ARGS_MAX(items, words, extra)                                                              \
    ((items) > 1 || EXTRA_WORDS(extra) == UINT16_MAX ? UINT16_MAX                                  \
                                                     : (uint16_t)((words) + EXTRA_WORDS(extra)))

const struct op_spec op_specs[] = {
#define OP(code, op_name, op_action, op_shape, op_words, op_extra, args, items, text)              \
    {.name = op_name,                                                                              \
     .arguments = args,                                                                            \
     .summary = text,                                                                              \
     .action = op_action,                                                                          \
     .shape = SHAPE_##op_shape,                                                                    \
     .extra = EXTRA_##op_extra,                                                                    \
     .items_max = items,                                                                           \
     .args_min = WORD_COUNT(op_words),                                                             \
     .args_max = ARGS_MAX(items, WORD_COUNT(op_words), EXTRA_##op_extra),                          \
     .words = op_words},
#define ROUTE(code, method, path, words)
#include "op/op.def"
#undef ROUTE
#undef OP
};

#define OP_COUNT (sizeof op_specs / sizeof op_specs[0])

_Static_assert(OP_COUNT <= UINT8_MAX, "a request has its operation in a byte");

size_t op_count(void)
{
    return OP_COUNT;
}

const struct op_spec *op_get(size_t index)
{
    ASSERT(index < OP_COUNT);
    return &op_specs[index];
}
