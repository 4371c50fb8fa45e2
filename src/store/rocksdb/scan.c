/* An iterator that ends because of a problem looks like one that ends, so scan_end asks. */
#include "store/rocksdb/scan.h"

static void scan_look(struct scan *scan)
{
    scan->key = scan->value = NULL;
    if (!rocksdb_iter_valid(scan->iterator))
        return;
    scan->key = (const uint8_t *)rocksdb_iter_key(scan->iterator, &scan->key_length);
    scan->value = (const uint8_t *)rocksdb_iter_value(scan->iterator, &scan->value_length);
}

void scan_start(struct scan *scan, struct store_rocksdb *rocks, const rocksdb_snapshot_t *snapshot,
                uint8_t tag)
{
    *scan = (struct scan){
        .read = tune_read(snapshot, rocks->ahead), .from = (char)tag, .to = (char)(tag + 1)};
    rocksdb_readoptions_set_iterate_upper_bound(scan->read, &scan->to, 1);
    scan->iterator = rocksdb_create_iterator(rocks->database, scan->read);
    rocksdb_iter_seek(scan->iterator, &scan->from, 1);
    scan_look(scan);
}

bool scan_is_done(const struct scan *scan)
{
    return scan->key == NULL;
}

void scan_next(struct scan *scan)
{
    rocksdb_iter_next(scan->iterator);
    scan_look(scan);
}

enum status scan_end(struct scan *scan)
{
    char *problem = NULL;
    rocksdb_iter_get_error(scan->iterator, &problem);
    enum status status = problem_status(problem, "reading");
    rocksdb_iter_destroy(scan->iterator);
    rocksdb_readoptions_destroy(scan->read);
    return status;
}
