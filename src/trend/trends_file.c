/*
 * The file of the windowed boards. Numbers are little-endian.
 *
 *      0  8   magic "laud-trd"
 *      8  u32 format version, 1
 *     12  u32 number of boards and of refusals
 *     16  u64 position of the boards in the journal
 *     24  u32 time of the newest change
 *     28  u32 all changes since this time are counted; 0: all changes ever
 *     32  u64 length of this file
 *     40      0
 *     56  u64 XXH3-64 of bytes 0 to 56
 *     64      the boards, by type and name:
 *                  0  u16 type
 *                  2  u8  name
 *                  3  u8  0: a board; 1: a refusal, there was no memory for this board; 2: a
 *                         refusal of all boards of the type: name is 0, and it precedes the boards
 *                         of the type
 *                  4  u32 for a board: changes before this time are incomplete, or 0; for a
 *                         refusal: its time
 *                  8  u32 number of slices
 *                 12  u32 0
 *                 16      the slices, five minutes first, then hours, then days, newest first:
 *                              0  u8  level
 *                              1  u8  1: closed
 *                              2  u16 0
 *                              4  u32 number
 *                              8  u32 number of rows
 *                             12  u32 0
 *                             16  u64 the true sum may be so much more
 *                             24  u64 the true sum may be so much less
 *                             32      rows: u64 upper and u64 lower half of an id, s64 sum
 *         u64 XXH3-64 of all bytes from 64 to here, with the header's checksum as seed
 *
 * trends_load.c reads it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/io.h"
#include "base/little.h"
#include "trend/trends_format.h"
#include "trend/trends_priv.h"

static const struct io_replace_points save_points = {.make = "trends.make",
                                                     .sync = "trends.sync",
                                                     .close = "trends.close",
                                                     .rename = "trends.rename",
                                                     .unlink = "trends.unlink"};

/* Output that is not written to the file yet. */
struct pass {
    int fd;
    int result;      /* 0, or the -errno of the first call that failed */
    uint64_t offset; /* offset of the buffer's beginning in the file */
    size_t at;       /* bytes in the buffer */
    XXH3_state_t *check;
    uint8_t buffer[BUFFER_BYTES];
};

static void pass_flush(struct pass *pass)
{
    if (pass->result == 0)
        pass->result =
            io_pwrite_all("trends.write", pass->fd, pass->buffer, pass->at, pass->offset);
    pass->offset += pass->at;
    pass->at = 0;
}

/* Returns room for so many bytes, which will be written. */
static uint8_t *pass_put(struct pass *pass, size_t bytes)
{
    ASSERT(bytes <= sizeof pass->buffer && pass->at <= sizeof pass->buffer);
    if (sizeof pass->buffer - pass->at < bytes)
        pass_flush(pass);
    uint8_t *out = pass->buffer + pass->at;
    memset(out, 0, bytes);
    pass->at += bytes;
    return out;
}

static void put_row(struct pass *pass, const struct ranked *row)
{
    uint8_t *out = pass_put(pass, ROW_BYTES);
    little_put64(out, row->id.hi);
    little_put64(out + 8, row->id.lo);
    little_put64(out + 16, (uint64_t)row->value);
    XXH3_64bits_update(pass->check, out, ROW_BYTES);
}

static void put_slice(struct pass *pass, int level, const struct slice *slice)
{
    ASSERT(level >= 0 && level < TREND_LEVELS);
    uint8_t *out = pass_put(pass, SLICE_BYTES);
    out[0] = (uint8_t)level;
    out[1] = slice->closed;
    little_put32(out + 4, slice->number);
    little_put32(out + 8, slice->sums.used);
    little_put64(out + 16, slice->loss.under);
    little_put64(out + 24, slice->loss.over);
    XXH3_64bits_update(pass->check, out, SLICE_BYTES);
    for (uint32_t i = 0; i < slice->sums.used; i++)
        put_row(pass, &slice->sums.rows[i]);
}

static void put_board_head(struct pass *pass, uint16_t type, uint8_t name, uint8_t kind,
                           uint32_t time_s, uint32_t slices)
{
    ASSERT(type < LIMIT_TYPES && name < LIMIT_NAMES);
    ASSERT(kind == KIND_BOARD || slices == 0);
    uint8_t *out = pass_put(pass, BOARD_BYTES);
    little_put16(out, type);
    out[2] = name;
    out[3] = kind;
    little_put32(out + 4, time_s);
    little_put32(out + 8, slices);
    XXH3_64bits_update(pass->check, out, BOARD_BYTES);
}

static void put_board(struct pass *pass, const struct trend_board *board)
{
    uint32_t slices = 0;
    for (int level = 0; level < TREND_LEVELS; level++)
        for (const struct slice *slice = board->slices[level]; slice != NULL; slice = slice->older)
            slices++;
    put_board_head(pass, board->type, board->name, KIND_BOARD, board->since_s, slices);
    for (int level = 0; level < TREND_LEVELS; level++)
        for (const struct slice *slice = board->slices[level]; slice != NULL; slice = slice->older)
            put_slice(pass, level, slice);
}

static void put_type(struct pass *pass, const struct trends *trends, uint16_t type)
{
    const struct board_row *row = trends->rows[type];
    if (trends->refused_s[type] != 0)
        put_board_head(pass, type, 0, KIND_NO_TYPE, trends->refused_s[type], 0);
    for (uint16_t name = 0; row != NULL && name < LIMIT_NAMES; name++) {
        if (row->boards[name] != NULL)
            put_board(pass, row->boards[name]);
        else if (row->refused_s[name] != 0)
            put_board_head(pass, type, (uint8_t)name, KIND_NO_BOARD, row->refused_s[name], 0);
    }
}

/* The size of everything after the header, without the checksum. */
static uint64_t body_bytes(const struct trends *trends)
{
    uint64_t bytes = (uint64_t)(trends->board_count + trends->refused_count) * BOARD_BYTES;
    for (size_t type = 0; type < LIMIT_TYPES; type++) {
        const struct board_row *row = trends->rows[type];
        for (size_t i = 0; row != NULL && i < LIMIT_NAMES * TREND_LEVELS; i++) {
            const struct trend_board *board = row->boards[i / TREND_LEVELS];
            const struct slice *slice = board != NULL ? board->slices[i % TREND_LEVELS] : NULL;
            for (; slice != NULL; slice = slice->older)
                bytes += SLICE_BYTES + (uint64_t)slice->sums.used * ROW_BYTES;
        }
    }
    return bytes;
}

static void put_header(struct pass *pass, const struct trends *trends)
{
    uint8_t *out = pass_put(pass, HEADER_BYTES);
    file_header_begin(out, HEADER_BYTES, &trends_format);
    little_put32(out + 12, trends->board_count + trends->refused_count);
    little_put64(out + 16, trends->position);
    little_put32(out + 24, trends->time_s);
    little_put32(out + 28, trends->since_s);
    little_put64(out + 32, HEADER_BYTES + body_bytes(trends) + CHECK_BYTES);
    XXH3_64bits_reset_withSeed(pass->check, file_header_seal(out, HEADER_CHECK));
}

static struct pass *pass_new(int fd)
{
    struct pass *pass = malloc(sizeof(*pass));
    XXH3_state_t *check = XXH3_createState();
    if (pass == NULL || check == NULL) {
        free(pass);
        XXH3_freeState(check);
        return NULL;
    }
    pass->fd = fd;
    pass->result = 0;
    pass->offset = 0;
    pass->at = 0;
    pass->check = check;
    return pass;
}

static void pass_free(struct pass *pass)
{
    XXH3_freeState(pass->check);
    free(pass);
}

struct save {
    const struct trends *trends;
};

static int write_file(void *context, int fd)
{
    const struct trends *trends = ((const struct save *)context)->trends;
    struct pass *pass = pass_new(fd);
    if (pass == NULL)
        return -ENOMEM;
    put_header(pass, trends);
    for (size_t type = 0; type < LIMIT_TYPES; type++)
        put_type(pass, trends, (uint16_t)type);
    little_put64(pass_put(pass, CHECK_BYTES), XXH3_64bits_digest(pass->check));
    pass_flush(pass);
    ASSERT(pass->at == 0 && pass->offset == HEADER_BYTES + body_bytes(trends) + CHECK_BYTES);
    int result = pass->result;
    pass_free(pass);
    return result;
}

int trends_save(const struct trends *trends, const char *path)
{
    struct save save = {trends};
    return io_replace(&save_points, path, write_file, &save);
}
