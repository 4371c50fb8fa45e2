/*
 * The file of the boards. Numbers are little-endian.
 *
 *      0  8   magic "laud-top"
 *      8  u32 format version, 1
 *     12  u32 how many boards
 *     16  u64 position of the journal
 *     24      each board:
 *                  0  u16 type
 *                  2  u8  counter
 *                  3  u8  1: it has a floor; else 0
 *                  4  u32 how many entries
 *                  8      the floor, 24 bytes; 0 if there is none
 *                 32      the entries, 24 bytes each
 *             u64 XXH3-64 of all bytes before
 *
 * An entry or a floor has 24 bytes: u64 upper half of the id, u64 lower half, i64 value.
 */
#include "hot/memory/boards_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/file_header.h"
#include "base/io.h"
#include "base/little.h"

#define HEADER_BYTES 24
#define BOARD_BYTES  32
#define PLACE_BYTES  24
#define CHECK_BYTES  8
#define ROOM_BYTES   (BOARD_BYTES + BOARDS_FILE_ENTRIES * PLACE_BYTES)

static const struct file_format format = {"laud-top", 1};

static void put_entry(uint8_t *out, struct ranked entry)
{
    little_put64(out, entry.id.hi);
    little_put64(out + 8, entry.id.lo);
    little_put64(out + 16, (uint64_t)entry.value);
}

static struct ranked get_entry(const uint8_t *bytes)
{
    return (struct ranked){.id = {.hi = little_get64(bytes), .lo = little_get64(bytes + 8)},
                           .value = (int64_t)little_get64(bytes + 16)};
}

/* One file being written. */
struct writing {
    const struct boards_file_source *source;
    XXH3_state_t *hash;
    uint8_t *room; /* ROOM_BYTES */
    uint64_t offset;
};

static int write_bytes(struct writing *writing, int fd, size_t length)
{
    XXH3_64bits_update(writing->hash, writing->room, length);
    int result = io_pwrite_all("boards.write", fd, writing->room, length, writing->offset);
    writing->offset += length;
    return result;
}

static int write_board(struct writing *writing, int fd, uint32_t number)
{
    struct boards_file_board board = {0};
    writing->source->board(writing->source->context, number, &board);
    uint8_t *out = writing->room;
    little_put16(out, board.type);
    out[2] = board.name;
    out[3] = board.floored;
    little_put32(out + 4, board.count);
    put_entry(out + 8, board.floored ? board.floor : (struct ranked){.value = 0});
    for (uint32_t i = 0; i < board.count; i++)
        put_entry(out + BOARD_BYTES + (size_t)i * PLACE_BYTES, board.entries[i]);
    return write_bytes(writing, fd, BOARD_BYTES + (size_t)board.count * PLACE_BYTES);
}

static int write_file(void *context, int fd)
{
    struct writing *writing = context;
    const struct boards_file_source *source = writing->source;
    file_header_begin(writing->room, HEADER_BYTES, &format);
    little_put32(writing->room + 12, source->count);
    little_put64(writing->room + 16, source->position);
    int result = write_bytes(writing, fd, HEADER_BYTES);
    for (uint32_t i = 0; i < source->count && result == 0; i++)
        result = write_board(writing, fd, i);
    if (result == 0) {
        little_put64(writing->room, XXH3_64bits_digest(writing->hash));
        result = write_bytes(writing, fd, CHECK_BYTES);
    }
    return result == 0 ? source->ended(source->context) : result;
}

int boards_file_write(const char *path, const struct boards_file_source *source)
{
    static const struct io_replace_points points = {.make = "boards.make",
                                                    .sync = "boards.sync",
                                                    .close = "boards.close",
                                                    .rename = "boards.rename",
                                                    .unlink = "boards.unlink"};
    struct writing writing = {
        .source = source, .hash = XXH3_createState(), .room = malloc(ROOM_BYTES)};
    int result = -ENOMEM;
    if (writing.hash != NULL && writing.room != NULL) {
        XXH3_64bits_reset(writing.hash);
        result = io_replace(&points, path, write_file, &writing);
    }
    free(writing.room);
    XXH3_freeState(writing.hash);
    return result;
}

/* One file being read. */
struct reading {
    int fd;
    const char *path;
    uint64_t size;
    uint64_t offset;
    uint8_t *room;          /* ROOM_BYTES */
    struct ranked *entries; /* BOARDS_FILE_ENTRIES */
    XXH3_state_t *hash;
    char *problem;
    size_t problem_size;
};

static enum status read_fails(struct reading *reading, enum status status, const char *sentence)
{
    snprintf(reading->problem, reading->problem_size, "%s %s", reading->path, sentence);
    return status;
}

/* Reads the next bytes to `out`, but never bytes of the checksum. */
static enum status read_bytes(struct reading *reading, uint8_t *out, size_t length)
{
    if (length > reading->size - CHECK_BYTES - reading->offset)
        return read_fails(reading, STATUS_DAMAGED, "is damaged: it is too short");
    ssize_t got = io_pread("boards.read", reading->fd, out, length, reading->offset);
    if (got != (ssize_t)length) {
        snprintf(reading->problem, reading->problem_size, "cannot read %s: %s", reading->path,
                 got < 0 ? strerror((int)-got) : "it ends too soon");
        return STATUS_IO_FAILED;
    }
    reading->offset += length;
    return STATUS_OK;
}

static enum status read_check(struct reading *reading)
{
    uint8_t check[CHECK_BYTES];
    enum status status = STATUS_OK;
    uint64_t end = reading->size - CHECK_BYTES;
    XXH3_64bits_reset(reading->hash);
    for (reading->offset = 0; reading->offset < end && status == STATUS_OK;) {
        size_t some = end - reading->offset < ROOM_BYTES ? end - reading->offset : ROOM_BYTES;
        status = read_bytes(reading, reading->room, some);
        if (status == STATUS_OK)
            XXH3_64bits_update(reading->hash, reading->room, some);
    }
    if (status == STATUS_OK &&
        io_pread("boards.read", reading->fd, check, sizeof check, end) != sizeof check)
        return read_fails(reading, STATUS_IO_FAILED, "cannot be read to its end");
    if (status == STATUS_OK && little_get64(check) != XXH3_64bits_digest(reading->hash))
        return read_fails(reading, STATUS_DAMAGED, "is damaged: its checksum does not match");
    return status;
}

static enum status read_header(struct reading *reading, uint64_t *position, uint32_t *count)
{
    uint8_t header[HEADER_BYTES];
    int result = io_size("boards.size", reading->fd, &reading->size);
    if (result != 0)
        return read_fails(reading, STATUS_IO_FAILED, strerror(-result));
    if (reading->size < HEADER_BYTES + CHECK_BYTES)
        return read_fails(reading, STATUS_DAMAGED, "is damaged: it is too short");
    enum status status = read_bytes(reading, header, sizeof header);
    if (status != STATUS_OK)
        return status;
    if (!file_header_has_magic(header, &format))
        return read_fails(reading, STATUS_DAMAGED, "is not a file of boards");
    if (!file_header_has_version(header, &format))
        return read_fails(reading, STATUS_DAMAGED,
                          "has a format version that this program does not know");
    *count = little_get32(header + 12);
    *position = little_get64(header + 16);
    return read_check(reading);
}

static bool board_is_sound(const struct boards_file_board *board)
{
    bool sound = true;
    for (uint32_t i = 0; i < board->count; i++)
        sound = sound && board->entries[i].value != 0 &&
                (!board->floored || ranked_order(board->entries[i], board->floor) < 0);
    return sound;
}

static enum status read_board(struct reading *reading, struct boards_file_board *board)
{
    uint8_t *bytes = reading->room;
    enum status status = read_bytes(reading, bytes, BOARD_BYTES);
    if (status != STATUS_OK)
        return status;
    *board = (struct boards_file_board){.type = little_get16(bytes),
                                        .name = bytes[2],
                                        .floored = bytes[3] != 0,
                                        .floor = get_entry(bytes + 8),
                                        .count = little_get32(bytes + 4),
                                        .entries = reading->entries};
    if (board->type >= LIMIT_TYPES || board->name >= LIMIT_NAMES ||
        board->count > BOARDS_FILE_ENTRIES)
        return read_fails(reading, STATUS_DAMAGED, "has an invalid board");
    status = read_bytes(reading, bytes, (size_t)board->count * PLACE_BYTES);
    for (uint32_t i = 0; i < board->count && status == STATUS_OK; i++)
        reading->entries[i] = get_entry(bytes + (size_t)i * PLACE_BYTES);
    if (status == STATUS_OK && !board_is_sound(board))
        return read_fails(reading, STATUS_DAMAGED, "has a board with invalid entries");
    return status;
}

static enum status read_all(struct reading *reading, uint64_t *position, uint32_t *count,
                            boards_file_visit_fn *visit, void *context)
{
    enum status status = read_header(reading, position, count);
    reading->offset = HEADER_BYTES;
    for (uint32_t i = 0; i < *count && status == STATUS_OK; i++) {
        struct boards_file_board board;
        status = read_board(reading, &board);
        if (status == STATUS_OK && visit != NULL)
            visit(context, &board);
    }
    if (status == STATUS_OK && reading->offset != reading->size - CHECK_BYTES)
        return read_fails(reading, STATUS_DAMAGED, "has something after its last board");
    return status;
}

enum status boards_file_read(const char *path, uint64_t *position, uint32_t *count,
                             boards_file_visit_fn *visit, void *context, char *problem, size_t size)
{
    struct reading reading = {.path = path, .problem_size = size};
    reading.problem = problem;
    *position = 0;
    *count = 0;
    reading.fd = io_open("boards.open", path, O_RDONLY, 0);
    if (reading.fd == -ENOENT)
        return read_fails(&reading, STATUS_MORE, "is not there");
    if (reading.fd < 0)
        return read_fails(&reading, STATUS_IO_FAILED, "cannot be opened");
    reading.size = HEADER_BYTES + CHECK_BYTES;
    reading.room = malloc(ROOM_BYTES);
    reading.entries = malloc(BOARDS_FILE_ENTRIES * sizeof(*reading.entries));
    reading.hash = XXH3_createState();
    enum status status = reading.room == NULL || reading.entries == NULL || reading.hash == NULL
                             ? read_fails(&reading, STATUS_NO_MEMORY,
                                          "cannot be read, because there is not enough memory")
                             : read_all(&reading, position, count, visit, context);
    XXH3_freeState(reading.hash);
    free(reading.entries);
    free(reading.room);
    io_close("boards.close", reading.fd);
    return status;
}
