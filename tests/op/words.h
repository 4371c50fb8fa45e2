/*
 * Commands as lines of words, decoded as the server would: what the tests of op share. Names are the
 * test's to make and to free.
 */
#ifndef LAUD_OP_WORDS_H
#define LAUD_OP_WORDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "op/op.h"

static struct names *names;
static struct op_scratch scratch;
static struct hot_request request;

static inline const struct op_spec *spec_of(struct text name)
{
    for (size_t i = 0; i < op_count(); i++)
        if (text_is(name, op_get(i)->name))
            return op_get(i);
    fail_msg("no operation %.*s", (int)name.length, name.bytes);
    return NULL;
}

/* The request is full of rubbish before: decoding sets whatever is looked at. */
static inline enum status decode(const char *line)
{
    static struct text words[2048];
    uint32_t count = 0;
    for (const char *at = line; *at;) {
        size_t length = strcspn(at, " ");
        assert_true(count < sizeof words / sizeof words[0]);
        words[count++] = (struct text){at, length};
        at += length + (at[length] == ' ');
    }
    memset(&request, 0x5a, sizeof request);
    op_scratch_clear(&scratch);
    scratch.sentence[0] = '\0';
    return op_decode(spec_of(words[0]), words + 1, count - 1, names, 1000, &scratch, &request);
}

struct refusal {
    const char *line;
    enum status status;
    const char *part; /* of the sentence */
};

static inline void expect_refusals(const struct refusal *refusals, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(decode(refusals[i].line), refusals[i].status);
        assert_non_null(strstr(scratch.sentence, refusals[i].part));
    }
}

static inline int free_names(void **state)
{
    (void)state;
    names_free(names);
    return 0;
}

#endif
