/* Screening: links, the file of words, and reloading it while other threads screen. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "comment/screen.h"
#include "damage.h"

static char directory[64];
static char path[96];

static void write_words(const char *words)
{
    file_write(path, (const uint8_t *)words, strlen(words));
}

static bool load(struct screen *screen)
{
    char problem[256] = "";
    bool loaded = screen_load(screen, path, problem, sizeof problem);
    assert_int_equal(loaded, problem[0] == '\0');
    return loaded;
}

static void links_are_counted(void **state)
{
    (void)state;
    struct screen *screen = screen_new(1);
    assert_non_null(screen);
    assert_false(screen_holds(screen, text_from("no link, but http:/ and www")));
    assert_false(screen_holds(screen, text_from("see https://www.example.com/a")));
    assert_true(screen_holds(screen, text_from("http://a HTTPS://b")));
    assert_true(screen_holds(screen, text_from("www.a.example Www.b.example")));
    assert_false(screen_holds(screen, text_from("http://")));
    screen_free(screen);
    screen = screen_new(0);
    assert_true(screen_holds(screen, text_from("www.")));
    assert_false(screen_holds(screen, (struct text){"www.", 3}));
    screen_free(screen);
    screen = screen_new(UINT32_MAX);
    assert_false(screen_holds(screen, text_from("http://a http://b http://c")));
    screen_free(screen);
    assert_false(screen_holds(NULL, text_from("http://a")));
}

static void the_list_is_replaced(void **state)
{
    (void)state;
    struct screen *screen = screen_new(UINT32_MAX);
    assert_false(screen_holds(screen, text_from("spam")));
    write_words("\xef\xbb\xbfspam\n");
    assert_true(load(screen));
    assert_true(screen_holds(screen, text_from("Spam")));
    write_words("ham\n");
    assert_true(load(screen));
    assert_false(screen_holds(screen, text_from("spam")));
    assert_true(screen_holds(screen, text_from("ham")));
    write_words("\xff\n");
    assert_false(load(screen)); /* the old one stays */
    assert_true(screen_holds(screen, text_from("ham")));
    unlink(path);
    assert_false(load(screen));
    assert_true(screen_holds(screen, text_from("ham")));
    write_words("");
    assert_true(load(screen));
    assert_false(screen_holds(screen, text_from("ham")));
    screen_free(screen);
    unlink(path);
}

struct reading {
    struct screen *screen;
    _Atomic bool stop;
    _Atomic unsigned wrong;
    _Atomic unsigned rounds;
};

static void *screen_texts(void *argument)
{
    struct reading *reading = argument;
    while (!atomic_load(&reading->stop)) {
        if (!screen_holds(reading->screen, text_from("always and sometimes")) ||
            screen_holds(reading->screen, text_from("never")))
            atomic_fetch_add(&reading->wrong, 1);
        atomic_fetch_add(&reading->rounds, 1);
    }
    return NULL;
}

static void others_screen_meanwhile(void **state)
{
    (void)state;
    enum { THREADS = 3, RELOADS = 100 };
    struct reading reading = {.screen = screen_new(5)};
    pthread_t threads[THREADS];
    write_words("always\n");
    assert_true(load(reading.screen));
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, screen_texts, &reading), 0);
    for (unsigned i = 0; i < RELOADS || atomic_load(&reading.rounds) < RELOADS; i++) {
        write_words(i % 2 ? "always\n" : "always\nsometimes\nother\n");
        assert_true(load(reading.screen));
    }
    atomic_store(&reading.stop, true);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(reading.wrong, 0);
    screen_free(reading.screen);
    unlink(path);
}

static int group_setup(void **state)
{
    (void)state;
    directory_in_memory(directory, sizeof directory);
    snprintf(path, sizeof path, "%s/words", directory);
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    directory_with_file_remove(directory, path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_counted),
        cmocka_unit_test(the_list_is_replaced),
        cmocka_unit_test(others_screen_meanwhile),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
