/*
 * What the source files of the windowed boards share. The lock is for the threads that ask: it is
 * held for writing while boards change. The thread that changes the boards reads them without it.
 */
#ifndef LAUD_TREND_TRENDS_PRIV_H
#define LAUD_TREND_TRENDS_PRIV_H

#include "base/limits.h"
#include "trend/board.h"

#define TRENDS_MAGIC 0x7472656eU

/* The boards of one type, by name. NULL: the counter has not changed. */
struct board_row {
    struct trend_board *boards[LIMIT_NAMES];
    /* Time of the last change for which there was no memory, or 0. */
    uint32_t refused_s[LIMIT_NAMES];
};

struct trends {
    uint32_t magic;
    pthread_rwlock_t lock;
    /* Held while an answer is computed: that takes memory, so only one thread does it at a time. */
    pthread_mutex_t adding_up;
    struct trend_space space;
    uint64_t position;
    uint32_t time_s;  /* time of the newest change */
    uint32_t since_s; /* see trend_stats */
    uint32_t board_count;
    uint32_t refused_count;
    struct board_row *rows[LIMIT_TYPES];
    /* Last time when there was no memory for the row itself, or 0. */
    uint32_t refused_s[LIMIT_TYPES];
};

/* Finds or makes the row of boards of a type. NULL: there is no memory. */
struct board_row *trends_row(struct trends *trends, uint16_t type);
/* Makes a board that does not exist yet. NULL: there is no memory. */
struct trend_board *trends_make_board(struct trends *trends, uint16_t type, uint8_t name);
/* Remembers that at this time there was no memory for a board, or for all boards of the type. */
#define TRENDS_ALL_NAMES 0xff
void trends_refuse(struct trends *trends, uint16_t type, uint8_t name, uint32_t time_s);
/* Does what trends_begin does; the caller holds the lock. */
void trends_clear(struct trends *trends, uint64_t position, uint32_t since_s);

#endif
