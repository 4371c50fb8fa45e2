/*
 * Any bytes, cut anywhere: requests are read neither with a crash nor past what was given (each
 * piece is a heap block of its own size), and they are the same as for the whole. Their targets are
 * taken apart and routed, too.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/limits.h"
#include "http/request.h"
#include "http/route.h"
#include "http/target.h"

static const struct request_limits limits = {.head_max = 512, .body_max = 256};
static struct memory_budget budget = {.limit = MIB(16)};

struct outcome {
    uint64_t digest; /* of all requests */
    size_t used;
    enum status end;
};

static uint64_t mix_text(uint64_t digest, struct text text)
{
    for (size_t i = 0; i < text.length; i++)
        digest = hash_mix(digest, (uint8_t)text.bytes[i]);
    return hash_mix(digest, 256);
}

static uint64_t mix_target(uint64_t digest, const struct request *request, struct text text,
                           struct text host)
{
    struct target target;
    char *copy = malloc(text.length ? text.length : 1);
    memcpy(copy, text.bytes, text.length);
    if (target_read(&target, copy, text.length, host) == NULL) {
        const struct route *route = route_find(&target, request->method);
        digest = hash_mix(digest, route != NULL ? route->op + 1U : 0);
        digest = hash_mix(digest, route_methods(&target));
        for (unsigned i = 0; i < target.parameter_count; i++)
            digest = mix_text(digest, target.parameters[i].value);
    }
    free(copy);
    return digest;
}

static void take_in(struct outcome *outcome, const struct request_reader *reader, const char *piece,
                    struct text body)
{
    const struct request *request = &reader->request;
    outcome->digest = mix_text(outcome->digest, body);
    outcome->digest = hash_mix(outcome->digest, request->method + 16U * request->keep_alive);
    outcome->digest = mix_target(outcome->digest, request, request_text(piece, request->target),
                                 request_text(piece, request->host));
}

static struct outcome read_all(const uint8_t *data, size_t size, size_t step)
{
    struct request_reader reader = {.body.budget = &budget};
    struct outcome outcome = {0};
    size_t seen = step < size ? step : size;
    for (;;) {
        const char *problem = NULL;
        struct text body = {NULL, 0};
        size_t length = seen - outcome.used, used = 0;
        char *piece = malloc(length ? length : 1);
        memcpy(piece, data + outcome.used, length);
        outcome.end = request_read(&reader, &limits, piece, length, &body, &used, &problem);
        if (outcome.end == STATUS_OK)
            take_in(&outcome, &reader, piece, body);
        free(piece);
        if (outcome.end == STATUS_OK) {
            ASSERT(used > 0 && used <= length);
            outcome.used += used;
            request_reset(&reader);
        } else if (outcome.end == STATUS_MORE && seen < size) {
            seen = seen + step < size ? seen + step : size;
        } else {
            ASSERT(outcome.end == STATUS_MORE || problem != NULL);
            break;
        }
    }
    buffer_free(&reader.body);
    ASSERT(memory_used(&budget) == 0);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 4096)
        return 0;
    struct outcome whole = read_all(data, size, size);
    struct outcome cut = read_all(data, size, 1 + data[size - 1] % 7);
    ASSERT(whole.digest == cut.digest && whole.used == cut.used && whole.end == cut.end);
    return 0;
}
