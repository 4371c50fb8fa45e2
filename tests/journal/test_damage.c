/*
 * Journals as a crash or a close leaves them, then damaged: one flipped bit anywhere, or the last
 * segment cut anywhere. Whatever is opened must have every durable event, in order and unchanged;
 * whatever is not must be refused with a sentence that names a file and an offset.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper.h"

#define FILES_MAX 16

#define FLIPS (5000 / SANITIZED_PART) /* of each kind of journal */
#define CUTS  (4096 / SANITIZED_PART)

/* A directory in memory, to damage and to put back. */
struct image {
    char directory[64];
    size_t count;
    struct {
        char name[32];
        uint8_t *bytes;
        size_t length;
    } files[FILES_MAX];
    uint64_t first;   /* number of the first event there is */
    uint64_t durable; /* events below the mark */
    uint64_t written; /* events */
    size_t last;      /* index of the last segment */
    size_t last_used;
};

static void image_path(const struct image *image, const char *name, char path[128])
{
    snprintf(path, 128, "%s/%s", image->directory, name);
}

static void image_load(struct image *image)
{
    DIR *files = opendir(image->directory);
    struct dirent *entry;
    assert_non_null(files);
    while ((entry = readdir(files)) != NULL) {
        char path[128];
        if (entry->d_name[0] == '.')
            continue;
        assert_true(image->count < FILES_MAX);
        size_t i = image->count;
        snprintf(image->files[i].name, sizeof image->files[i].name, "%.31s", entry->d_name);
        image_path(image, image->files[i].name, path);
        FILE *file = fopen(path, "rb");
        if (file == NULL && strncmp(entry->d_name, "spare", 5) == 0)
            continue; /* of an open journal: the preparer has just finished it */
        assert_non_null(file);
        image->count++;
        image->files[i].bytes = malloc(SMALL_SEGMENT);
        image->files[i].length = fread(image->files[i].bytes, 1, SMALL_SEGMENT, file);
        fclose(file);
        if (entry->d_name[0] == '0' && (image->files[image->last].name[0] != '0' ||
                                        strcmp(entry->d_name, image->files[image->last].name) > 0))
            image->last = i;
    }
    closedir(files);
    image->last_used = image->files[image->last].length;
    while (image->files[image->last].bytes[image->last_used - 1] == 0)
        image->last_used--;
}

static void image_store(const struct image *image)
{
    directory_remove(image->directory);
    assert_int_equal(mkdir(image->directory, 0777), 0);
    for (size_t i = 0; i < image->count; i++) {
        char path[128];
        image_path(image, image->files[i].name, path);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(image->files[i].bytes, 1, image->files[i].length, file),
                         image->files[i].length);
        fclose(file);
    }
}

static void image_free(struct image *image)
{
    for (size_t i = 0; i < image->count; i++)
        free(image->files[i].bytes);
    directory_remove(image->directory);
}

static uint64_t passed_ns(void *context)
{
    return atomic_load((_Atomic uint64_t *)context);
}

static void append_groups(struct user *user, int groups, uint64_t each)
{
    for (int i = 0; i < groups; i++) {
        user_append(user, each);
        assert_int_equal(user_wait(user), STATUS_OK);
    }
}

/*
 * A closed journal of several segments; or one whose process died, which had synced a part of its
 * last segment and not yet the rest.
 */
static void image_make(struct image *image, bool crashed)
{
    struct user user;
    struct journal_tuning tuning = small_tuning();
    _Atomic uint64_t now_ns = 0;
    tuning.now_ns = passed_ns;
    tuning.clock_context = &now_ns;
    *image = (struct image){0};
    directory_make(image->directory);
    assert_int_equal(user_open(&user, image->directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    user_append(&user, 2500);
    if (crashed) {
        user_close(&user);
        assert_int_equal(user_open(&user, image->directory, DURABILITY_INTERVAL, &tuning),
                         STATUS_OK);
        append_groups(&user, 4, 50);
        append_groups(&user, 1, 1);
        atomic_store(&now_ns, 100000000); /* its time has passed: it syncs */
        journal_kick(user.journal);
        while (journal_durable(user.journal) < user.end)
            sched_yield();
        image->durable = user.appended;
        append_groups(&user, 5, 10);
    } else {
        image->durable = user.appended;
        user_close(&user);
    }
    image->written = user.appended;
    image_load(image);
    user_close(&user);
    image_store(image);
    assert_int_equal(count_samples(image->directory), image->written);
}

/* Forgets all but the last two segments. */
static void image_behead(struct image *image)
{
    struct user user;
    struct journal_stats stats;
    assert_int_equal(user_open(&user, image->directory, DURABILITY_COMMIT, NULL), STATUS_OK);
    assert_int_equal(journal_file_forget(user.journal, sample_position(image->written) - 1),
                     STATUS_OK);
    journal_stats(user.journal, &stats);
    assert_int_equal(stats.segments, 2);
    user_close(&user);
    while (sample_position(image->first) < stats.first)
        image->first++;
    for (size_t i = 0; i < image->count; i++)
        free(image->files[i].bytes);
    image->count = 0;
    image->last = 0;
    image_load(image);
    assert_int_equal(count_samples_from(image->directory, image->first), image->written);
}

/* Opens the damaged directory; true if it was opened (and so was changed). */
static bool open_damaged(struct image *image, const char *how, bool *torn)
{
    struct user user;
    enum status status = user_open_from(&user, image->directory, DURABILITY_COMMIT, image->first);
    *torn = user.report.torn_bytes > 0;
    if (user.found.wrong)
        fail_msg("%s: a wrong event was shown", how);
    if (status != STATUS_OK) {
        if (status != STATUS_DAMAGED || strstr(user.report.problem, ", offset ") == NULL ||
            (strstr(user.report.problem, ".seg") == NULL &&
             strstr(user.report.problem, "file mark") == NULL))
            fail_msg("%s: %s: %s", how, status_name(status), user.report.problem);
        return false;
    }
    if (user.found.count < image->durable || user.found.count > image->written)
        fail_msg("%s: %llu events, but %llu were durable", how,
                 (unsigned long long)user.found.count, (unsigned long long)image->durable);
    uint64_t kept = user.found.count;
    user_append(&user, 1);
    user_close(&user);
    assert_int_equal(count_samples_from(image->directory, image->first), kept + 1);
    return true;
}

static void write_at(const struct image *image, size_t file, size_t offset, uint8_t byte)
{
    char path[128];
    image_path(image, image->files[file].name, path);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
    close(fd);
}

struct tally {
    uint64_t opened;
    uint64_t torn;
    uint64_t refused;
};

static void tally_add(struct tally *tally, bool opened, bool torn)
{
    tally->opened += opened;
    tally->torn += opened && torn;
    tally->refused += !opened;
}

static struct tally flip_bits(struct image *image, uint64_t count, uint64_t seed)
{
    struct chance chance = {seed};
    struct tally tally = {0};
    for (uint64_t i = 0; i < count; i++) {
        char how[128];
        bool torn;
        size_t file = chance_next(&chance) % image->count;
        size_t offset = chance_next(&chance) % image->files[file].length;
        int bit = (int)(chance_next(&chance) % 8);
        uint8_t byte = image->files[file].bytes[offset];
        snprintf(how, sizeof how, "%s byte %zu bit %d", image->files[file].name, offset, bit);
        write_at(image, file, offset, byte ^ (uint8_t)(1 << bit));
        bool opened = open_damaged(image, how, &torn);
        if (opened)
            image_store(image);
        else
            write_at(image, file, offset, byte);
        tally_add(&tally, opened, torn);
    }
    return tally;
}

static struct tally cut_tail(struct image *image, size_t bytes)
{
    struct tally tally = {0};
    for (size_t cut = 1; cut <= bytes; cut++) {
        char how[64];
        char path[128];
        bool torn;
        size_t length = image->last_used - cut;
        snprintf(how, sizeof how, "cut to %zu", length);
        image_path(image, image->files[image->last].name, path);
        assert_int_equal(truncate(path, (off_t)length), 0);
        bool opened = open_damaged(image, how, &torn);
        image_store(image);
        tally_add(&tally, opened, torn);
    }
    return tally;
}

static void say(const char *what, struct tally tally)
{
    print_message("%s: %llu opened (%llu with a torn tail), %llu refused\n", what,
                  (unsigned long long)tally.opened, (unsigned long long)tally.torn,
                  (unsigned long long)tally.refused);
}

static void test_flipped_bits_in_a_closed_journal(void **state)
{
    (void)state;
    struct image image;
    image_make(&image, false);
    struct tally tally = flip_bits(&image, FLIPS, test_seed());
    say("closed", tally);
    assert_int_equal(tally.torn, 0);
    assert_true(tally.refused > FLIPS / 5);
    image_free(&image);
}

static void test_flipped_bits_after_a_crash(void **state)
{
    (void)state;
    struct image image;
    image_make(&image, true);
    struct tally tally = flip_bits(&image, FLIPS, test_seed());
    say("crashed", tally);
    assert_true(tally.torn > FLIPS / 100);
    assert_true(tally.refused > FLIPS / 5);
    image_free(&image);
}

static void test_flipped_bits_without_the_first_segments(void **state)
{
    (void)state;
    struct image image;
    image_make(&image, false);
    image_behead(&image);
    struct tally tally = flip_bits(&image, FLIPS / 5, test_seed());
    say("beheaded", tally);
    assert_int_equal(tally.torn, 0);
    assert_true(tally.refused > FLIPS / 50);
    image_free(&image);
}

static void test_a_closed_journal_cut_short_is_refused(void **state)
{
    (void)state;
    struct image image;
    image_make(&image, false);
    struct tally tally = cut_tail(&image, CUTS);
    say("closed", tally);
    assert_int_equal(tally.refused, CUTS);
    image_free(&image);
}

static void test_a_crashed_journal_cut_short(void **state)
{
    (void)state;
    struct image image;
    image_make(&image, true);
    struct tally tally = cut_tail(&image, CUTS);
    say("crashed", tally);
    assert_true(tally.torn > CUTS / 4);
    assert_true(CUTS < 4096 || tally.refused > CUTS / 4);
    image_free(&image);
}

/* Cuts below what the mark and the later batches say must never pass as a torn tail. */
static void test_damage_below_the_mark_is_not_a_torn_tail(void **state)
{
    (void)state;
    struct image image;
    struct journal_report report;
    image_make(&image, true);
    size_t flipped = SEGMENT_HEADER_BYTES + BATCH_HEADER_BYTES + 100;
    write_at(&image, image.last, flipped, image.files[image.last].bytes[flipped] ^ 1);
    assert_int_equal(journal_file_verify(image.directory, NULL, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, image.files[image.last].name));
    assert_non_null(strstr(report.problem, "offset 4096"));
    image_free(&image);
}

/* After a power cut the mark may be behind; what later batches say must then be enough. */
static void test_later_batches_tell_damage_without_the_mark(void **state)
{
    (void)state;
    struct image image;
    struct journal_report report;
    image_make(&image, true);
    assert_int_equal(mark_make(image.directory), 0);
    size_t flipped = SEGMENT_HEADER_BYTES + BATCH_HEADER_BYTES + 100;
    uint8_t byte = image.files[image.last].bytes[flipped];
    write_at(&image, image.last, flipped, byte ^ 1);
    assert_int_equal(journal_file_verify(image.directory, NULL, &report), STATUS_DAMAGED);
    assert_int_equal(report.durable_mark, 0);
    assert_non_null(strstr(report.problem, image.files[image.last].name));
    assert_non_null(strstr(report.problem, "offset 4096: the batch does not verify, but a later"));
    write_at(&image, image.last, flipped, byte);
    write_at(&image, image.last, image.last_used - 1, 0);
    assert_int_equal(journal_file_verify(image.directory, NULL, &report), STATUS_OK);
    assert_true(report.torn_bytes > 0 && report.events >= image.durable);
    image_free(&image);
}

static void remove_file(const struct image *image, const char *name)
{
    char path[128];
    image_path(image, name, path);
    assert_int_equal(unlink(path), 0);
}

static void test_missing_files_are_refused(void **state)
{
    (void)state;
    struct image image;
    image_make(&image, false);
    for (size_t i = 0; i < image.count; i++) {
        bool torn;
        remove_file(&image, image.files[i].name);
        bool opened = open_damaged(&image, image.files[i].name, &torn);
        bool needless = strcmp(image.files[i].name, "reserve") == 0 ||
                        strcmp(image.files[i].name, "spare.seg") == 0;
        assert_int_equal(opened, needless);
        image_store(&image);
    }
    image_free(&image);
}

static void test_one_slot_of_the_mark_is_enough(void **state)
{
    (void)state;
    struct image image;
    bool torn;
    image_make(&image, false);
    size_t mark = 0;
    while (strcmp(image.files[mark].name, MARK_NAME) != 0)
        mark++;
    for (size_t slot = 0; slot < 2; slot++) {
        write_at(&image, mark, slot * 4096 + 30, 0xff);
        assert_true(open_damaged(&image, "one slot", &torn));
        image_store(&image);
    }
    write_at(&image, mark, 30, 0xff);
    write_at(&image, mark, 4096 + 30, 0xff);
    assert_false(open_damaged(&image, "both slots", &torn));
    image_free(&image);
}

static void test_an_unknown_version_is_refused_with_a_sentence(void **state)
{
    (void)state;
    struct image image;
    struct journal_report report;
    struct segment_header header;
    image_make(&image, false);
    uint8_t *bytes = image.files[image.last].bytes;
    assert_null(segment_header_decode(bytes, &header));
    assert_int_equal(header.version, SEGMENT_VERSION);
    bytes[8] = SEGMENT_VERSION + 1;
    assert_non_null(strstr(segment_header_decode(bytes, &header), "checksum"));
    segment_header_restamp(bytes);
    image_store(&image);
    assert_int_equal(journal_file_verify(image.directory, NULL, &report), STATUS_DAMAGED);
    assert_non_null(strstr(report.problem, "version"));
    image_free(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flipped_bits_in_a_closed_journal),
        cmocka_unit_test(test_flipped_bits_after_a_crash),
        cmocka_unit_test(test_flipped_bits_without_the_first_segments),
        cmocka_unit_test(test_a_closed_journal_cut_short_is_refused),
        cmocka_unit_test(test_a_crashed_journal_cut_short),
        cmocka_unit_test(test_damage_below_the_mark_is_not_a_torn_tail),
        cmocka_unit_test(test_later_batches_tell_damage_without_the_mark),
        cmocka_unit_test(test_missing_files_are_refused),
        cmocka_unit_test(test_one_slot_of_the_mark_is_enough),
        cmocka_unit_test(test_an_unknown_version_is_refused_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
