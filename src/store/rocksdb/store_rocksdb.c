/*
 * Opening a store must distinguish damage from a new directory: if the file CURRENT is missing,
 * RocksDB itself would create a new, empty database. So it may create one only where there never
 * was one. A database that it opens must have our format version, and its position must not be
 * before that of the last flush (mark.c).
 *
 * A database whose creation was interrupted by a crash has no rows and no recorded position, and is
 * created again.
 */
#include "store/rocksdb/store_rocksdb.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "store/rocksdb/private.h"
#include "store/rocksdb/sink.h"

#define DEFAULT_CACHE_BYTES        MIB(64)
#define DEFAULT_WRITE_BUFFER_BYTES MIB(64)
#define DEFAULT_BULK_MIN           100000
#define DEFAULT_REWRITE_S          (3 * 24 * 3600)

/*
 * A change makes at most two rows of one tag, and RocksDB keeps a hash of each of six rows for its
 * filter.
 */
enum { BATCH_BYTES_PER_CHANGE = 2 * ROW_MEMORY + 6 * 8 };

struct opening {
    struct store_rocksdb *rocks;
    struct store_rocksdb_options options; /* with defaults filled in */
    char *problem;
    size_t size;
    bool has_current;
    bool has_tables;
    bool has_mark;
    bool is_before; /* true: it has a format version that is upgraded */
    uint64_t mark;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct opening *opening,
                                                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(opening->problem, opening->size, format, arguments);
    va_end(arguments);
    return false;
}

static bool refuse_status(struct opening *opening, enum status status, const char *text)
{
    const char *directory = opening->options.directory;
    if (status == STATUS_LOCKED)
        return refuse(opening, "the store in %s is in use by another process", directory);
    if (status == STATUS_DISK_FULL)
        return refuse(opening, "the disk of the store in %s is full", directory);
    if (status == STATUS_DAMAGED)
        return refuse(opening, "the store in %s is damaged: %s", directory, text);
    return refuse(opening, "the store in %s cannot be opened: %s", directory, text);
}

static int look_at_name(void *context, const char *name)
{
    struct opening *opening = context;
    const char *dot = strrchr(name, '.');
    opening->has_current |= strcmp(name, "CURRENT") == 0;
    opening->has_mark |= strcmp(name, MARK_NAME) == 0;
    opening->has_tables |= dot != NULL && strcmp(dot, ".sst") == 0;
    return 0;
}

/*
 * With its own log switched off, RocksDB cannot write its file of options, which nobody reads. At
 * each start an incomplete file of this kind would remain.
 */
static int drop_options(void *context, const char *name)
{
    const struct opening *opening = context;
    const char *dot = strrchr(name, '.');
    char path[PATH_MAX];
    if (strncmp(name, "OPTIONS-", 8) != 0 || dot == NULL || strcmp(dot, ".dbtmp") != 0)
        return 0;
    snprintf(path, sizeof path, "%s/%s", opening->options.directory, name);
    return io_unlink("store.options.unlink", path);
}

static bool look_at_directory(struct opening *opening)
{
    const char *directory = opening->options.directory;
    int result = 0;
    if (!opening->options.read_only)
        result = io_make_directory("store.directory", directory, 0777);
    if (result == 0 && !opening->options.read_only)
        result = sink_clean(directory);
    if (result == 0 && !opening->options.read_only)
        result = io_list("store.list", directory, drop_options, opening);
    if (result == 0)
        result = io_list("store.list", directory, look_at_name, opening);
    if (result != 0)
        return refuse(opening, "the directory %s of the store cannot be used: %s", directory,
                      strerror(-result));
    if (!opening->has_current && (opening->has_tables || opening->has_mark))
        return refuse(opening, "the store in %s is damaged: its file CURRENT is missing",
                      directory);
    if (!opening->has_current && opening->options.read_only)
        return refuse(opening, "there is no store in %s", directory);
    if (!opening->has_mark)
        return true;
    result = store_mark_read(directory, &opening->mark);
    if (result == -EBADMSG)
        return refuse(opening, "the store in %s is damaged: its file " MARK_NAME " does not verify",
                      directory);
    return result == 0 || refuse(opening, "the file " MARK_NAME " in %s cannot be read: %s",
                                 directory, strerror(-result));
}

static bool charge(struct opening *opening)
{
    const struct store_rocksdb_options *options = &opening->options;
    uint64_t bytes = options->cache_bytes;
    if (!options->read_only)
        bytes +=
            options->write_buffer_bytes + options->batch_max * (uint64_t)BATCH_BYTES_PER_CHANGE;
    if (options->bulk_apart)
        bytes += options->batch_max * (uint64_t)(2 * ROW_MEMORY);
    if (options->memory_budget == NULL)
        return true;
    if (!memory_charge(options->memory_budget, bytes))
        return refuse(opening, "the store needs %llu bytes of memory, more than is left",
                      (unsigned long long)bytes);
    ASSERT(opening->rocks->charged == 0);
    opening->rocks->budget = options->memory_budget;
    opening->rocks->charged = bytes;
    return true;
}

static bool open_database(struct opening *opening)
{
    struct store_rocksdb *rocks = opening->rocks;
    const struct store_rocksdb_options *options = &opening->options;
    rocks->cache = rocksdb_cache_create_lru(options->cache_bytes);
    rocks->options = tune_options(options, !opening->has_current, rocks->cache);
    if (rocks->options == NULL)
        return refuse(opening, "RocksDB does not accept the settings of the store");
    rocks->expiring = expire_filter(&rocks->expired_s);
    rocksdb_options_set_compaction_filter(rocks->options, rocks->expiring);
    rocks->ahead = tune_ahead(options);
    rocks->read = tune_read(NULL, 0);
    rocks->write = rocksdb_writeoptions_create();
    rocksdb_writeoptions_disable_WAL(rocks->write, 1);
    rocks->batch = rocksdb_writebatch_create();
    rocks->files = rocksdb_envoptions_create();
    rocks->ingest = rocksdb_ingestexternalfileoptions_create();
    rocksdb_ingestexternalfileoptions_set_move_files(rocks->ingest, 1);
    const char *families[] = {"default"};
    const rocksdb_options_t *tuned[] = {rocks->options};
    char *text = NULL;
    struct sigaction before;
    asserted_watch(options->directory, &before);
    if (options->read_only)
        rocks->database = rocksdb_open_for_read_only_column_families(
            rocks->options, options->directory, 1, families, tuned, &rocks->family, 0, &text);
    else
        rocks->database = rocksdb_open_column_families(rocks->options, options->directory, 1,
                                                       families, tuned, &rocks->family, &text);
    asserted_leave(&before);
    ASSERT((rocks->database == NULL) == (text != NULL));
    if (text == NULL)
        return true;
    refuse_status(opening, problem_peek(text), text);
    free(text);
    return false;
}

static bool is_empty(struct store_rocksdb *rocks, enum status *status)
{
    rocksdb_iterator_t *iterator = rocksdb_create_iterator(rocks->database, rocks->read);
    rocksdb_iter_seek_to_first(iterator);
    bool empty = !rocksdb_iter_valid(iterator);
    char *text = NULL;
    rocksdb_iter_get_error(iterator, &text);
    *status = problem_status(text, "opening");
    rocksdb_iter_destroy(iterator);
    return empty;
}

static bool write_format(struct opening *opening)
{
    ASSERT(!opening->options.read_only);
    struct store_rocksdb *rocks = opening->rocks;
    uint8_t key = TAG_VERSION, value[4];
    put_u32(value, STORE_FORMAT_PLAIN);
    char *text = NULL;
    rocksdb_put(rocks->database, rocks->write, (const char *)&key, 1, (const char *)value,
                sizeof(value), &text);
    enum status status = problem_status(text, "opening");
    if (status == STATUS_OK)
        status = rocksdb_flush_all(&rocks->store.applier);
    rocks->format = STORE_FORMAT_PLAIN;
    return status == STATUS_OK ||
           refuse_status(opening, status, "its format version cannot be written");
}

static bool begin_format(struct opening *opening)
{
    struct store_rocksdb *rocks = opening->rocks;
    enum status status;
    bool empty = is_empty(rocks, &status);
    if (status != STATUS_OK)
        return refuse_status(opening, status, "its rows cannot be read");
    if (!empty || opening->has_mark)
        return refuse(opening, "the store in %s is damaged: its format version is missing",
                      opening->options.directory);
    if (rocks->read_only)
        return true;
    return write_format(opening);
}

static bool check_format(struct opening *opening, bool *begun)
{
    struct store_rocksdb *rocks = opening->rocks;
    const char *directory = opening->options.directory;
    uint8_t key = TAG_VERSION, value[4] = {0};
    size_t length;
    enum status status =
        rocksdb_read_row(rocks, rocks->read, &key, 1, value, sizeof(value), &length, begun);
    if (status != STATUS_OK)
        return refuse_status(opening, status, "its format version cannot be read");
    if (!*begun)
        return true;
    if (length != 4)
        return refuse(opening, "the store in %s is damaged: its format version cannot be decoded",
                      directory);
    rocks->format = get_u32(value);
    opening->is_before = rocks->format == STORE_FORMAT_BEFORE;
    if (rocks->format < STORE_FORMAT_BEFORE || rocks->format > STORE_FORMAT_VERSION)
        return refuse(opening, "the store in %s has format version %u, this program knows %d",
                      directory, rocks->format, STORE_FORMAT_VERSION);
    return true;
}

static bool check_place(struct opening *opening)
{
    struct store_rocksdb *rocks = opening->rocks;
    bool found;
    enum status status = rocksdb_read_place(rocks, rocks->read, &rocks->place, &found);
    if (status != STATUS_OK)
        return refuse_status(opening, status, "its position cannot be read");
    unsigned long long position = rocks->place.position;
    if (position < opening->mark)
        return refuse(opening,
                      "the store in %s is damaged: it is at position %llu, but had reached %llu",
                      opening->options.directory, position, (unsigned long long)opening->mark);
    if (position > 0 && !opening->has_mark)
        return refuse(opening, "the store in %s is damaged: its file " MARK_NAME " is missing",
                      opening->options.directory);
    int result = opening->has_mark || rocks->read_only ? 0 : store_mark_write(rocks->directory, 0);
    if (result == -ENOSPC)
        return refuse_status(opening, STATUS_DISK_FULL, "");
    if (result != 0)
        return refuse(opening, "the file " MARK_NAME " in %s cannot be written: %s",
                      opening->options.directory, strerror(-result));
    atomic_store(&rocks->position, rocks->place.position);
    atomic_store(&rocks->durable, rocks->place.position);
    atomic_store(&rocks->reactions, rocks->place.reactions);
    atomic_store(&rocks->newest_s, rocks->place.newest_s);
    atomic_store(&rocks->cleared_horizon_s, rocks->place.cleared_horizon_s);
    atomic_store(&rocks->expired_s, rocks->place.cleared_horizon_s);
    return true;
}

/*
 * Rows of version 2 can be read unchanged. But an older program must not open a store with rows of
 * version 3, so the version row is updated. Version 4 comes with the first row that needs it (apply.c).
 */
static bool upgrade(struct opening *opening)
{
    return !opening->is_before || opening->rocks->read_only || write_format(opening);
}

static bool begin_aging(struct opening *opening)
{
    return opening->rocks->read_only || aging_start(opening->rocks) ||
           refuse(opening, "a thread for the store cannot be started");
}

static bool open_steps(struct opening *opening)
{
    bool begun;
    return look_at_directory(opening) && charge(opening) && open_database(opening) &&
           check_format(opening, &begun) && (begun || begin_format(opening)) &&
           check_place(opening) && upgrade(opening) && begin_aging(opening);
}

static void store_rocksdb_close(struct store_admin *admin)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_admin(admin));
    aging_stop(rocks);
    if (rocks->family != NULL)
        rocksdb_column_family_handle_destroy(rocks->family);
    if (rocks->database != NULL)
        rocksdb_close(rocks->database);
    if (rocks->expiring != NULL)
        rocksdb_compactionfilter_destroy(rocks->expiring);
    if (rocks->batch != NULL)
        rocksdb_writebatch_destroy(rocks->batch);
    if (rocks->ingest != NULL)
        rocksdb_ingestexternalfileoptions_destroy(rocks->ingest);
    if (rocks->files != NULL)
        rocksdb_envoptions_destroy(rocks->files);
    if (rocks->write != NULL)
        rocksdb_writeoptions_destroy(rocks->write);
    if (rocks->read != NULL)
        rocksdb_readoptions_destroy(rocks->read);
    if (rocks->options != NULL)
        rocksdb_options_destroy(rocks->options);
    if (rocks->cache != NULL)
        rocksdb_cache_destroy(rocks->cache);
    rows_destroy(&rocks->rows);
    rows_destroy(&rocks->rows_apart);
    pthread_mutex_destroy(&rocks->crowded.lock);
    free(rocks->old_times);
    free(rocks->directory);
    if (rocks->budget != NULL)
        memory_release(rocks->budget, rocks->charged);
    rocks->magic = 0;
    free(rocks);
}

static uint64_t position(struct store_applier *applier)
{
    return atomic_load(&rocksdb_of(store_of_applier(applier))->position);
}

static uint64_t property(struct store_rocksdb *rocks, const char *name)
{
    uint64_t value = 0;
    rocksdb_property_int(rocks->database, name, &value);
    return value;
}

static enum store_state state_of(struct store_rocksdb *rocks)
{
    switch (atomic_load(&rocks->failed)) {
    case STATUS_OK:
        break;
    case STATUS_DISK_FULL:
        return STORE_DISK_FULL;
    case STATUS_DAMAGED:
        return STORE_DAMAGED;
    case STATUS_NO_MEMORY:
        return STORE_NO_MEMORY;
    case STATUS_NO_FILES:
        return STORE_NO_FILES;
    default:
        return STORE_CANNOT_WRITE;
    }
    if (property(rocks, "rocksdb.background-errors") > atomic_load(&rocks->background_errors))
        return STORE_CANNOT_COMPACT;
    return STORE_OK;
}

static void stats(struct store_admin *admin, struct store_stats *out)
{
    struct store_rocksdb *rocks = rocksdb_of(store_of_admin(admin));
    *out = (struct store_stats){.position = atomic_load(&rocks->position),
                                .durable = atomic_load(&rocks->durable),
                                .reactions = atomic_load(&rocks->reactions),
                                .newest_s = atomic_load(&rocks->newest_s),
                                .disk_bytes = property(rocks, "rocksdb.total-sst-files-size"),
                                .merges = property(rocks, "rocksdb.num-running-compactions") +
                                          property(rocks, "rocksdb.num-running-flushes") +
                                          property(rocks, "rocksdb.compaction-pending"),
                                .memory_bytes = rocksdb_cache_get_usage(rocks->cache) +
                                                property(rocks, "rocksdb.size-all-mem-tables"),
                                .state = state_of(rocks)};
}

static const struct store_reader_functions reader_functions = {
    .read_reactions = rocksdb_read_reactions,
    .read_items = rocksdb_read_items,
    .list_reactions = rocksdb_list_reactions,
    .list_reactors = rocksdb_list_reactors,
    .list_user = rocksdb_list_user,
    .list_changes = rocksdb_list_changes,
    .read_rows = rocksdb_read_rows,
    .scan_rows = rocksdb_scan_rows,
    .snapshot = rocksdb_take_snapshot,
    .release = rocksdb_drop_snapshot,
};

static const struct store_applier_functions applier_functions = {
    .apply = rocksdb_apply,
    .flush = rocksdb_flush_all,
    .position = position,
};

static const struct store_admin_functions admin_functions = {
    .name = "rocksdb",
    .visit = rocksdb_visit,
    .verify = rocksdb_verify,
    .compact = rocksdb_compact,
    .stats = stats,
    .checkpoint = rocksdb_checkpoint,
    .close = store_rocksdb_close,
};

static void fill_defaults(struct store_rocksdb_options *options)
{
    if (options->cache_bytes == 0)
        options->cache_bytes = DEFAULT_CACHE_BYTES;
    if (options->write_buffer_bytes == 0)
        options->write_buffer_bytes = DEFAULT_WRITE_BUFFER_BYTES;
    if (options->bulk_min == 0)
        options->bulk_min = DEFAULT_BULK_MIN;
    if (options->rewrite_s == 0)
        options->rewrite_s = DEFAULT_REWRITE_S;
}

struct store *store_rocksdb_open(const struct store_rocksdb_options *options, char *problem,
                                 size_t size)
{
    struct opening opening = {.options = *options, .problem = problem, .size = size};
    fill_defaults(&opening.options);
    if (size > 0)
        problem[0] = '\0';
    struct store_rocksdb *rocks = calloc(1, sizeof(*rocks));
    char *directory = strdup(options->directory);
    if (rocks == NULL || directory == NULL) {
        free(rocks);
        free(directory);
        refuse(&opening, "there is no memory for the store");
        return NULL;
    }
    rocks->store = (struct store){.reader = {&reader_functions},
                                  .applier = {&applier_functions},
                                  .admin = {&admin_functions}};
    rocks->magic = STORE_ROCKSDB_MAGIC;
    rocks->directory = directory;
    rocks->read_only = options->read_only;
    rocks->bulk_min = opening.options.bulk_min;
    rocks->bulk_apart = options->bulk_apart;
    rocks->rewrite_s = opening.options.rewrite_s;
    pthread_mutex_init(&rocks->crowded.lock, NULL);
    rocks->space_floor = 2 * opening.options.write_buffer_bytes;
    opening.rocks = rocks;
    if (open_steps(&opening))
        return &rocks->store;
    store_close(&rocks->store);
    return NULL;
}

int store_rocksdb_exists(const char *directory)
{
    struct opening opening = {0};
    int result = io_list("store.list", directory, look_at_name, &opening);
    if (result != 0)
        return result == -ENOENT ? 0 : result;
    return opening.has_current || opening.has_tables || opening.has_mark;
}

#ifdef __SANITIZE_THREAD__
/* RocksDB itself is not built for the thread sanitizer, which therefore does not see its locks. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "ignore_noninstrumented_modules=1";
}
#endif
