/*
 * What every store must do, whatever it is made of. A test program opens its own kind of store,
 * names it in `store_suite_open`, and runs STORE_SUITE.
 */
#ifndef LAUD_CONFORM_STORE_SUITE_H
#define LAUD_CONFORM_STORE_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/store.h"

/* A new, empty store; it is closed with store_close, then store_suite_closed is called. */
struct store *store_suite_open(void);
void store_suite_closed(void);

void store_suite_empty(void **state);
void store_suite_reactions(void **state);
void store_suite_keys_are_exact(void **state);
void store_suite_counts(void **state);
void store_suite_count_overflow(void **state);
void store_suite_position(void **state);
void store_suite_large_batch(void **state);
void store_suite_same_key_twice(void **state);
void store_suite_model(void **state);
void store_suite_threads(void **state);

#define STORE_SUITE                                                                                \
    cmocka_unit_test(store_suite_empty), cmocka_unit_test(store_suite_reactions),                  \
        cmocka_unit_test(store_suite_keys_are_exact), cmocka_unit_test(store_suite_counts),        \
        cmocka_unit_test(store_suite_count_overflow), cmocka_unit_test(store_suite_position),      \
        cmocka_unit_test(store_suite_large_batch), cmocka_unit_test(store_suite_same_key_twice),   \
        cmocka_unit_test(store_suite_model), cmocka_unit_test(store_suite_threads)

#endif
