/*
 * Any bytes as a body: JSON or not, every route and every batch makes words of it or says why not,
 * the words are decoded, and whatever is said comes out as JSON again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include "http/answer.h"
#include "http/words.h"

static struct memory_budget budget = {.limit = MIB(16)};
static struct commands commands;
static struct op_scratch scratch;
static char sentence[256];

/* An error with what was said must be readable. */
static void check_sentence(enum status status)
{
    struct buffer out = {.budget = &budget};
    json_error_t error;
    ASSERT(answer_write_error(&out, status, sentence));
    json_t *json = json_loadb(out.bytes, out.length, JSON_REJECT_DUPLICATES, &error);
    ASSERT(json != NULL);
    json_decref(json);
    buffer_free(&out);
}

static void decode(const struct exchange *exchange, const struct op_spec *spec, uint32_t first,
                   uint32_t count, struct names *names)
{
    struct hot_request request;
    op_scratch_clear(&scratch);
    memcpy(sentence, "", 1);
    enum status status =
        op_decode(spec, words_at(exchange, first), count, names, 0, &scratch, &request);
    if (status != STATUS_OK)
        memcpy(sentence, scratch.sentence, sizeof sentence);
    check_sentence(status);
}

static void try_routes(struct exchange *exchange, struct names *names)
{
    for (size_t i = 0; i < route_count(); i++) {
        uint32_t count = 0;
        exchange->route = route_get(i);
        exchange->words.length = 0;
        if (exchange->route->method != VERB_POST)
            continue;
        enum status status = words_check_names(exchange, sentence, sizeof sentence);
        if (status == STATUS_OK)
            status = words_of_route(exchange, &count, sentence, sizeof sentence);
        if (status == STATUS_OK)
            decode(exchange, op_get(exchange->route->op), 0, count, names);
        else
            check_sentence(status);
    }
}

static void try_batch(struct exchange *exchange, struct names *names)
{
    size_t size = json_array_size(json_object_get(exchange->json.root, "operations"));
    for (uint32_t i = 0; i < size && i < LIMIT_HTTP_BATCH; i++) {
        const struct op_spec *spec = NULL;
        uint32_t count = 0;
        exchange->words.length = 0;
        enum status status =
            words_of_batch(exchange, &commands, i, &spec, &count, sentence, sizeof sentence);
        if (status == STATUS_OK)
            decode(exchange, spec, 0, count, names);
        else
            check_sentence(status);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct exchange exchange;
    char path[] = "/v1/items/video:1/counters/view";
    if (size > 4096)
        return 0;
    if (commands.count == 0)
        commands_init(&commands);
    struct names *names = names_new();
    exchange = (struct exchange){.words.budget = &budget};
    ASSERT(target_read(&exchange.target, path, strlen(path), (struct text){NULL, 0}) == NULL);
    char *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    enum status status =
        json_in_read(&exchange.json, (struct text){copy, size}, &budget, sentence, sizeof sentence);
    free(copy);
    if (status == STATUS_OK) {
        try_routes(&exchange, names);
        try_batch(&exchange, names);
    } else {
        check_sentence(status);
    }
    json_in_free(&exchange.json, &budget);
    buffer_free(&exchange.words);
    ASSERT(memory_used(&budget) == 0);
    names_free(names);
    return 0;
}
