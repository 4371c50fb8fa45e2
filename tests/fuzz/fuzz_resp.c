/*
 * Any bytes, cut anywhere: the parser neither crashes nor reads past what it was given (each piece
 * is a heap block of its own size), and gives the same commands as for the whole. What it reads is
 * decoded as an operation too.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "op/op.h"
#include "resp/parse.h"

#define ARGS_MAX 64

static const struct resp_limits limits = {.args_max = ARGS_MAX, .bulk_max = 512};
static struct op_scratch scratch;

struct outcome {
    uint64_t digest; /* of all words */
    size_t used;
    enum status end;
};

static void decode(struct names *names, const struct resp_command *command)
{
    for (size_t i = 0; i < op_count(); i++) {
        struct hot_request request;
        op_scratch_clear(&scratch);
        op_decode(op_get(i), command->args, command->count, names, 0, &scratch, &request);
    }
}

static struct outcome read_all(const uint8_t *data, size_t size, size_t step, struct names *names)
{
    struct text args[ARGS_MAX];
    struct resp_command command = {.args = args};
    struct resp_parser parser = {0};
    struct outcome outcome = {0};
    size_t seen = step < size ? step : size;
    for (;;) {
        const char *problem = NULL;
        size_t length = seen - outcome.used;
        char *piece = malloc(length ? length : 1);
        memcpy(piece, data + outcome.used, length);
        outcome.end = resp_parse(&parser, &limits, piece, length, &command, &problem);
        for (uint32_t i = 0; outcome.end == STATUS_OK && i < command.count; i++) {
            for (size_t c = 0; c < args[i].length; c++)
                outcome.digest = hash_mix(outcome.digest, (uint8_t)args[i].bytes[c]);
            outcome.digest = hash_mix(outcome.digest, 256);
        }
        if (outcome.end == STATUS_OK && names != NULL)
            decode(names, &command);
        free(piece);
        if (outcome.end == STATUS_OK)
            outcome.used += command.used;
        else if (outcome.end == STATUS_MORE && seen < size)
            seen = seen + step < size ? seen + step : size;
        else
            return outcome;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 4096)
        return 0;
    struct names *names = names_new();
    struct outcome whole = read_all(data, size, size, names);
    struct outcome cut = read_all(data, size, 1 + data[0] % 7, NULL);
    ASSERT(whole.digest == cut.digest && whole.used == cut.used && whole.end == cut.end);
    names_free(names);
    return 0;
}
