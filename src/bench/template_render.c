/*
 * Rendering runs once for each request and is most of the generator's own work: draw, calculate, then copy
 * segments. All numbers are computed before the first byte is written, because the length of a word precedes
 * the word.
 */
#include "bench/template.h"

#include <string.h>

#include "base/decimal.h"
#include "bench/digits.h"

static uint64_t draw_value(const struct template *template, const struct draw *draw,
                           struct random *random, uint64_t sequence)
{
    if (draw->source == DRAW_SEQUENCE)
        return sequence;
    if (draw->source == DRAW_RANGE || draw->source == DRAW_LINE || template->theta <= 0)
        return draw->low + random_below(random, draw->span);
    return draw->low +
           zipf_draw(draw->source == DRAW_USER ? &template->users : &template->items, random);
}

static uint64_t number_value(const struct number *number, uint64_t value)
{
    for (uint32_t i = 0; i < number->step_count; i++) {
        uint64_t operand = number->steps[i].operand;
        switch (number->steps[i].operation) {
        case '+':
            value += operand;
            break;
        case '-':
            value -= operand;
            break;
        case '*':
            value *= operand;
            break;
        case '/':
            value /= operand;
            break;
        default:
            value %= operand;
        }
    }
    return value;
}

/* The length of a line is among the fixed bytes already. */
static char *length_write(const struct template *template, const struct segment *segment,
                          const uint64_t *numbers, char *out)
{
    uint64_t length = segment->fixed;
    for (uint32_t i = segment->offset; i < segment->offset + segment->count; i++)
        if (template->draws[template->numbers[i].draw].source != DRAW_LINE)
            length += digits_count(numbers[i]);
    return decimal_write(out, length);
}

char *template_render(const struct template *template, struct random *random, uint64_t sequence,
                      struct template_scratch *scratch, char *out)
{
    for (uint32_t i = 0; i < template->draw_count; i++)
        scratch->draws[i] = draw_value(template, &template->draws[i], random, sequence);
    for (uint32_t i = 0; i < template->number_count; i++) {
        const struct number *number = &template->numbers[i];
        scratch->numbers[i] = number_value(number, scratch->draws[number->draw]);
    }
    for (uint32_t i = 0; i < template->segment_count; i++) {
        const struct segment *segment = &template->segments[i];
        if (segment->kind == SEGMENT_BYTES) {
            memcpy(out, template->bytes + segment->offset, segment->count);
            out += segment->count;
        } else if (segment->kind == SEGMENT_NUMBER) {
            out = decimal_write(out, scratch->numbers[segment->offset]);
        } else if (segment->kind == SEGMENT_LINE) {
            const struct line_file *lines = template->lines;
            memcpy(out, line_file_at(lines, scratch->numbers[segment->offset]), lines->length);
            out += lines->length;
        } else {
            out = length_write(template, segment, scratch->numbers, out);
        }
    }
    return out;
}
