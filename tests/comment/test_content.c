/* Contents: our reader and protobuf-c find the same in every message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "comment/content.h"
#include "comment/content.pb-c.h"
#include "sample.h"

enum { ROUNDS = 20000 };

static bool same_text(struct text text, ProtobufCBinaryData data)
{
    return text.length == data.len &&
           (data.len == 0 || memcmp(text.bytes, data.data, data.len) == 0);
}

/* Whatever we accept, protobuf-c must have read in the same way. Returns whether we accept it. */
static bool compare(const uint8_t *bytes, size_t length)
{
    struct comment_content content;
    uint8_t *block = sample_block(bytes, length);
    bool good = comment_content_decode(block, length, &content) == STATUS_OK;
    if (good) {
        Laud__Content *message = laud__content__unpack(NULL, length, block);
        assert_non_null(message);
        assert_true(same_text(content.text, message->text));
        assert_true(same_text(content.extra, message->extra));
        assert_int_equal(content.time_s, message->time_s);
        assert_int_equal(content.mention_count, message->n_mentions);
        for (uint32_t i = 0; i < content.mention_count; i++) {
            assert_int_equal(content.mentions[i].lo, message->mentions[i]->lo);
            assert_int_equal(content.mentions[i].hi, message->mentions[i]->hi);
        }
        laud__content__free_unpacked(message, NULL);
    }
    free(block);
    return good;
}

static struct comment_content sample_content(struct chance *chance, const char *bytes)
{
    struct comment_content content = {
        .text = {bytes, chance_below(chance, 200)},
        .extra = {bytes, sample_bool(chance) ? 0 : chance_below(chance, 50)},
        .time_s = (uint32_t)chance_next(chance),
        .mention_count = sample_bool(chance) ? 0 : chance_below(chance, LIMIT_MENTIONS + 1),
    };
    for (uint32_t i = 0; i < content.mention_count; i++)
        content.mentions[i] = sample_id(chance);
    return content;
}

static void contents_are_read_as_they_were_written(void **state)
{
    (void)state;
    static uint8_t encoded[COMMENT_CONTENT_BYTES];
    struct chance chance = {test_seed()};
    char bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)chance_next(&chance); /* NUL bytes, too */
    for (unsigned i = 0; i < ROUNDS / SANITIZED_PART; i++) {
        struct comment_content content = sample_content(&chance, bytes);
        struct comment_content back;
        size_t length = comment_content_encode(&content, encoded);
        assert_true(compare(encoded, length));
        assert_int_equal(comment_content_decode(encoded, length, &back), STATUS_OK);
        assert_int_equal(back.text.length, content.text.length);
        assert_memory_equal(back.text.bytes, content.text.bytes, content.text.length);
        assert_int_equal(back.extra.length, content.extra.length);
        assert_int_equal(back.time_s, content.time_s);
        assert_int_equal(back.mention_count, content.mention_count);
        for (uint32_t k = 0; k < content.mention_count; k++)
            assert_true(id_equal(back.mentions[k], content.mentions[k]));
    }
}

static void other_bytes_are_damaged_or_read_as_protobuf_does(void **state)
{
    (void)state;
    static uint8_t encoded[COMMENT_CONTENT_BYTES];
    struct chance chance = {test_seed()};
    char bytes[256] = {0};
    unsigned good = 0;
    for (unsigned i = 0; i < ROUNDS / SANITIZED_PART; i++) {
        struct comment_content content = sample_content(&chance, bytes);
        size_t length = comment_content_encode(&content, encoded);
        for (unsigned k = 0; length > 0 && k < 3; k++)
            encoded[chance_below(&chance, (uint32_t)length)] = (uint8_t)chance_next(&chance);
        good += compare(encoded, chance_below(&chance, (uint32_t)length + 1));
        good += compare(encoded, length);
        for (size_t k = 0; k < 32; k++)
            encoded[k] = (uint8_t)chance_next(&chance) & 0x3f;
        good += compare(encoded, chance_below(&chance, 32));
    }
    assert_true(good > 0);
}

static enum status decode(const char *bytes, size_t length)
{
    struct comment_content content;
    return comment_content_decode((const uint8_t *)bytes, length, &content);
}

#define EXPECT(wanted, bytes) assert_int_equal(decode((bytes), sizeof(bytes) - 1), (wanted))

static void malformed_messages_are_damaged(void **state)
{
    (void)state;
    EXPECT(STATUS_OK, "");
    EXPECT(STATUS_OK, "\x0a\x02hi");
    EXPECT(STATUS_OK, "\x2a\x03new\x30\x05\x39"
                      "12345678"
                      "\x45"
                      "1234"); /* unknown fields */
    EXPECT(STATUS_DAMAGED, "\x0a");
    EXPECT(STATUS_DAMAGED, "\x0a\x03hi");
    EXPECT(STATUS_DAMAGED, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    EXPECT(STATUS_DAMAGED, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    EXPECT(STATUS_DAMAGED, "\x08\x05");         /* text is not a number */
    EXPECT(STATUS_DAMAGED, "\x1d\x01\x02\x03"); /* too short for 32 bits */
    EXPECT(STATUS_DAMAGED, "\x22\x05\x09"
                           "1234");     /* too short for 64 bits */
    EXPECT(STATUS_DAMAGED, "\x02\x00"); /* there is no field 0 */
    EXPECT(STATUS_DAMAGED, "\x0b\x0c"); /* a group */
    EXPECT(STATUS_DAMAGED, "\x22\x00\x22\x00\x22\x00\x22\x00\x22\x00\x22\x00\x22\x00\x22\x00"
                           "\x22\x00\x22\x00\x22\x00"); /* one mention too many */
}

static void longer_texts_than_allowed_are_damaged(void **state)
{
    (void)state;
    static uint8_t bytes[LIMIT_COMMENT_TEXT + 8];
    struct comment_content content;
    bytes[0] = 0x0a;
    bytes[1] = 0x80 | (LIMIT_COMMENT_TEXT & 0x7f);
    bytes[2] = LIMIT_COMMENT_TEXT >> 7;
    assert_int_equal(comment_content_decode(bytes, LIMIT_COMMENT_TEXT + 3, &content), STATUS_OK);
    assert_int_equal(content.text.length, LIMIT_COMMENT_TEXT);
    bytes[1]++;
    assert_int_equal(comment_content_decode(bytes, LIMIT_COMMENT_TEXT + 4, &content),
                     STATUS_DAMAGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_are_read_as_they_were_written),
        cmocka_unit_test(other_bytes_are_damaged_or_read_as_protobuf_does),
        cmocka_unit_test(malformed_messages_are_damaged),
        cmocka_unit_test(longer_texts_than_allowed_are_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
