/* A command as a line of words, decoded as the server would. */
#ifndef LAUD_OP_WORDS_H
#define LAUD_OP_WORDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "op/op.h"

static inline enum status words_decode(const char *line, struct names *names,
                                       struct op_scratch *scratch, struct hot_request *request)
{
    static struct text words[64];
    uint32_t count = 0;
    for (const char *at = line; *at;) {
        size_t length = strcspn(at, " ");
        words[count++] = (struct text){at, length};
        at += length + (at[length] == ' ');
    }
    const struct op_spec *spec = NULL;
    for (size_t i = 0; i < op_count() && spec == NULL; i++)
        if (text_is(words[0], op_get(i)->name))
            spec = op_get(i);
    assert_non_null(spec);
    scratch->used = 0;
    scratch->sentence[0] = '\0';
    return op_decode(spec, words + 1, count - 1, names, 1000, scratch, request);
}

#endif
