/*
 * What the files of the windowed boards share. The lock is for those who ask: it is held for writing
 * while boards change, and the thread that changes them reads without it.
 */
#ifndef LAUD_TREND_TRENDS_PRIV_H
#define LAUD_TREND_TRENDS_PRIV_H

#include "base/limits.h"
#include "trend/board.h"

#define TRENDS_MAGIC 0x7472656eU

/* The boards of one type, by name; NULL: nothing changed. */
struct board_row {
    struct trend_board *boards[LIMIT_NAMES];
    uint32_t refused_s[LIMIT_NAMES]; /* when something changed last and there was no memory, or 0 */
};

struct trends {
    uint32_t magic;
    pthread_rwlock_t lock;
    pthread_mutex_t adding_up; /* one at a time: it takes memory */
    struct trend_space space;
    uint64_t position;
    uint32_t time_s;  /* of the newest change */
    uint32_t since_s; /* see trend_stats */
    uint32_t board_count;
    uint32_t refused_count;
    struct board_row *rows[LIMIT_TYPES];
    uint32_t refused_s[LIMIT_TYPES]; /* when there was no memory for the row itself, or 0 */
};

/* The boards of a type, made if there are none; NULL: no memory. */
struct board_row *trends_row(struct trends *trends, uint16_t type);
/* Makes a board that is not there; NULL: no memory. */
struct trend_board *trends_make_board(struct trends *trends, uint16_t type, uint8_t name);
/* Remembers that at this time there was no board for what should have one, or for the whole type. */
#define TRENDS_ALL_NAMES 0xff
void trends_refuse(struct trends *trends, uint16_t type, uint8_t name, uint32_t time_s);
/* What trends_begin does, under the lock. */
void trends_clear(struct trends *trends, uint64_t position, uint32_t since_s);

#endif
