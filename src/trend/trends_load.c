/*
 * A file is read twice: the first time all of it is verified, the second time it is loaded. Its
 * contents are checked nevertheless, because the boards rely on them. If there is less memory than
 * when it was saved, boards drop items, as always.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/assert.h"
#include "base/io.h"
#include "base/little.h"
#include "trend/trends_format.h"
#include "trend/trends_priv.h"

struct load {
    struct trends *trends;
    const char *path;
    char *problem;
    size_t problem_size;
    int fd;
    uint64_t length; /* size of the file */
    uint64_t check;  /* checksum of the header */
    uint32_t boards;
    uint64_t next; /* offset in the file after the contents of the buffer */
    size_t at;     /* bytes in the buffer */
    size_t filled;
    uint8_t buffer[BUFFER_BYTES];
};

static enum status load_fails(struct load *load, enum status status, const char *sentence)
{
    snprintf(load->problem, load->problem_size, "%s %s", load->path, sentence);
    return status;
}

static enum status load_read(struct load *load, void *bytes, size_t length, uint64_t offset)
{
    ASSERT(load->fd >= 0);
    ssize_t got = io_pread("trends.read", load->fd, bytes, length, offset);
    if (got < 0)
        return load_fails(load, STATUS_IO_FAILED, strerror((int)-got));
    if ((size_t)got != length)
        return load_fails(load, STATUS_DAMAGED, "is damaged: it is too short");
    return STATUS_OK;
}

static enum status load_header(struct load *load)
{
    uint8_t bytes[HEADER_BYTES];
    uint64_t size;
    enum status status = load_read(load, bytes, sizeof bytes, 0);
    if (status != STATUS_OK)
        return status;
    if (!file_header_has_magic(bytes, &trends_format))
        return load_fails(load, STATUS_DAMAGED, "is not a file of windowed boards");
    if (!file_header_has_version(bytes, &trends_format))
        return load_fails(load, STATUS_DAMAGED,
                          "has a format version that this program does not know");
    load->check = little_get64(bytes + HEADER_CHECK);
    if (!file_header_verifies(bytes, HEADER_CHECK))
        return load_fails(load, STATUS_DAMAGED,
                          "is damaged: its header does not match its checksum");
    int result = io_size("trends.size", load->fd, &size);
    if (result != 0)
        return load_fails(load, STATUS_IO_FAILED, strerror(-result));
    load->length = little_get64(bytes + 32);
    if (size != load->length || size < HEADER_BYTES + CHECK_BYTES)
        return load_fails(load, STATUS_DAMAGED, "is damaged: it has the wrong length");
    load->boards = little_get32(bytes + 12);
    load->trends->position = little_get64(bytes + 16);
    load->trends->time_s = little_get32(bytes + 24);
    load->trends->since_s = little_get32(bytes + 28);
    return STATUS_OK;
}

static enum status verify_body(struct load *load, XXH3_state_t *check)
{
    uint8_t expected[CHECK_BYTES];
    uint64_t end = load->length - CHECK_BYTES;
    enum status status = STATUS_OK;
    XXH3_64bits_reset_withSeed(check, load->check);
    for (uint64_t at = HEADER_BYTES; at < end && status == STATUS_OK; at += BUFFER_BYTES) {
        size_t length = end - at < BUFFER_BYTES ? end - at : BUFFER_BYTES;
        status = load_read(load, load->buffer, length, at);
        if (status == STATUS_OK)
            XXH3_64bits_update(check, load->buffer, length);
    }
    if (status == STATUS_OK)
        status = load_read(load, expected, sizeof expected, end);
    if (status == STATUS_OK && little_get64(expected) != XXH3_64bits_digest(check))
        status =
            load_fails(load, STATUS_DAMAGED, "is damaged: its boards do not match their checksum");
    return status;
}

static enum status load_verify(struct load *load)
{
    enum status status = load_header(load);
    if (status != STATUS_OK)
        return status;
    XXH3_state_t *check = XXH3_createState();
    if (check == NULL)
        return load_fails(load, STATUS_NO_MEMORY, "is larger than the available memory");
    status = verify_body(load, check);
    XXH3_freeState(check);
    return status;
}

static enum status impossible(struct load *load)
{
    return load_fails(load, STATUS_DAMAGED, "is damaged: its description of boards is invalid");
}

/* Sets *out to the next so many bytes, which are valid until the next call. */
static enum status load_get(struct load *load, size_t bytes, const uint8_t **out)
{
    ASSERT(bytes <= BUFFER_BYTES && load->at <= load->filled);
    enum status status = STATUS_OK;
    if (load->filled - load->at < bytes) {
        uint64_t begin = load->next - (load->filled - load->at);
        uint64_t left = load->length - CHECK_BYTES - begin;
        if (left < bytes)
            return impossible(load);
        load->at = 0;
        load->filled = left < BUFFER_BYTES ? left : BUFFER_BYTES;
        load->next = begin + load->filled;
        status = load_read(load, load->buffer, load->filled, begin);
    }
    *out = load->buffer + load->at;
    load->at += bytes;
    return status;
}

/* Without a slice the rows are skipped. */
static enum status load_rows(struct load *load, struct slice *slice, uint32_t count)
{
    struct trend_space *space = &load->trends->space;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *bytes;
        enum status status = load_get(load, ROW_BYTES, &bytes);
        if (status != STATUS_OK)
            return status;
        const struct id id = {.hi = little_get64(bytes), .lo = little_get64(bytes + 8)};
        if (slice != NULL)
            slice_add(slice, space, id, (int64_t)little_get64(bytes + 16));
    }
    return STATUS_OK;
}

/* Slices are ordered newest first; only a slice of the present time is open. */
static bool slice_is_possible(const struct load *load, const uint8_t *bytes, int level,
                              const struct slice *newer)
{
    if (bytes[0] < level || bytes[0] >= TREND_LEVELS)
        return false;
    uint32_t number = little_get32(bytes + 4);
    uint32_t now = load->trends->time_s / trend_board_slice_s(bytes[0]);
    return number <= now && now - number < trend_board_slices(bytes[0]) &&
           bytes[1] == (number < now) &&
           (bytes[0] > level || newer == NULL || number < newer->number);
}

static enum status load_slice(struct load *load, struct trend_board *board, int *level,
                              struct slice **newer)
{
    struct trend_space *space = &load->trends->space;
    const uint8_t *bytes;
    enum status status = load_get(load, SLICE_BYTES, &bytes);
    if (status != STATUS_OK)
        return status;
    if (!slice_is_possible(load, bytes, *level, *newer))
        return impossible(load);
    *level = bytes[0];
    bool closed = bytes[1];
    uint32_t count = little_get32(bytes + 8);
    struct slice *slice = NULL;
    if (board != NULL) {
        slice = trend_board_append(board, space, *level, little_get32(bytes + 4));
        if (slice == NULL)
            board->since_s = load->trends->time_s;
        else
            slice->loss = (struct sums_loss){little_get64(bytes + 16), little_get64(bytes + 24)};
    }
    *newer = slice != NULL ? slice : *newer;
    status = load_rows(load, slice, count);
    if (slice != NULL && closed) {
        slice->closed = true;
        sums_close(&slice->sums, space);
    }
    return status;
}

/*
 * Entries are ordered by type and name; a refusal of a whole type precedes the boards of that type.
 */
static bool board_is_possible(const uint8_t *bytes, uint32_t *after)
{
    uint16_t type = little_get16(bytes);
    uint8_t name = bytes[2];
    uint8_t kind = bytes[3];
    uint32_t order = (uint32_t)type * (LIMIT_NAMES + 1) + (kind == KIND_NO_TYPE ? 1 : name + 2U);
    if (type >= LIMIT_TYPES || name >= LIMIT_NAMES || kind > KIND_NO_TYPE || order <= *after)
        return false;
    *after = order;
    return kind == KIND_BOARD || little_get32(bytes + 8) == 0;
}

static enum status load_slices(struct load *load, struct trend_board *board, uint32_t slices)
{
    enum status status = STATUS_OK;
    int level = 0;
    struct slice *newer = NULL;
    for (uint32_t i = 0; i < slices && status == STATUS_OK; i++)
        status = load_slice(load, board, &level, &newer);
    return status;
}

static enum status load_board(struct load *load, uint32_t *after)
{
    struct trends *trends = load->trends;
    const uint8_t *bytes;
    enum status status = load_get(load, BOARD_BYTES, &bytes);
    if (status != STATUS_OK)
        return status;
    if (!board_is_possible(bytes, after))
        return impossible(load);
    uint16_t type = little_get16(bytes);
    uint8_t name = bytes[2];
    uint32_t time_s = little_get32(bytes + 4);
    uint32_t slices = little_get32(bytes + 8);
    if (bytes[3] != KIND_BOARD) {
        if (bytes[3] == KIND_NO_BOARD)
            /* Makes the row for the refusal; if that fails, it is one of the whole type. */
            (void)trends_row(trends, type);
        trends_refuse(trends, type, bytes[3] == KIND_NO_TYPE ? TRENDS_ALL_NAMES : name, time_s);
        return STATUS_OK;
    }
    struct trend_board *board = trends_make_board(trends, type, name);
    if (board != NULL)
        board->since_s = time_s;
    else
        trends_refuse(trends, type, name, trends->time_s);
    return load_slices(load, board, slices);
}

static enum status load_all(struct load *load)
{
    enum status status = load_verify(load);
    uint32_t after = 0;
    load->next = HEADER_BYTES;
    for (uint32_t i = 0; i < load->boards && status == STATUS_OK; i++)
        status = load_board(load, &after);
    uint64_t reached = load->next - (load->filled - load->at);
    if (status == STATUS_OK && reached != load->length - CHECK_BYTES)
        status = impossible(load);
    return status;
}

enum status trends_load(struct trends *trends, const char *path, char *problem, size_t size)
{
    struct load *load = calloc(1, sizeof(*load));
    if (load == NULL) {
        snprintf(problem, size, "there is no memory to read %s", path);
        return STATUS_NO_MEMORY;
    }
    load->trends = trends;
    load->path = path;
    load->problem = problem;
    load->problem_size = size;
    load->fd = io_open("trends.open", path, O_RDONLY, 0);
    enum status status;
    if (load->fd == -ENOENT)
        status = load_fails(load, STATUS_MORE, "is not there");
    else if (load->fd < 0)
        status = load_fails(load, STATUS_IO_FAILED, strerror(-load->fd));
    else
        status = load_all(load);
    if (load->fd >= 0)
        io_close("trends.close", load->fd);
    if (status != STATUS_OK)
        trends_begin(trends, 0, 0);
    free(load);
    return status;
}
