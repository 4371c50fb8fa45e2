/*
 * Every fixed limit, in one place, with the relations between them checked at compile time.
 * What an operator may want to change is an option (options.def) whose range ends here.
 */
#ifndef LAUD_BASE_LIMITS_H
#define LAUD_BASE_LIMITS_H

#define KIB(n) ((n)*1024ULL)
#define MIB(n) ((n)*1024ULL * 1024)
#define GIB(n) ((n)*1024ULL * 1024 * 1024)

/* Words */
#define LIMIT_NAME_LENGTH      32   /* bytes of a type, kind or counter name */
#define LIMIT_TYPES            1024 /* item types */
#define LIMIT_NAMES            250  /* kinds and counters together; an index fits one byte */
#define LIMIT_ID_TEXT          36   /* bytes of an id as text: a UUID */
#define LIMIT_ITEM_TEXT        (LIMIT_NAME_LENGTH + 1 + LIMIT_ID_TEXT)
#define LIMIT_EXCLUSIVE        8 /* kinds in one mutually exclusive group */
#define LIMIT_EXCLUSIVE_GROUPS 32
#define LIMIT_TOKEN_LENGTH     64 /* bytes of an idempotency token */

/* Operations */
#define LIMIT_FEED_ITEMS  200  /* items in one FEED */
#define LIMIT_SHELVES     4096 /* of one user in memory: kinds, times types, times widths of ids */
#define LIMIT_ITEMS       1000 /* items in any other command */
#define LIMIT_LIST        200  /* entries in one page of a list */
#define LIMIT_LIST_USUAL  20   /* and where none is asked for */
#define LIMIT_FOLLOWEES   5000 /* that FRIENDS looks at */
#define LIMIT_TOP         1000 /* items of a board that can be asked for */
#define LIMIT_TOP_USUAL   100  /* and where none is asked for */
#define LIMIT_BATCH       32   /* operations one thread carries through the hot tier at a time */
#define LIMIT_BATCH_ITEMS 1024 /* and items among them */

/* Windowed boards */
#define LIMIT_TREND_TOP   1000  /* places of one */
#define LIMIT_TREND_ITEMS 16384 /* items of one slice of one, past which the lowest are let go */

/* Moving in */
#define LIMIT_IMPORT_LINE KIB(4) /* bytes of one line */

/* FORGET and DROP */
#define LIMIT_REMOVAL       10000 /* reactions and counters that one call removes or examines */
#define LIMIT_REMOVAL_USUAL 1000  /* the same, if the request has no limit */
#define LIMIT_REMOVAL_MS    200   /* then a call ends, because others wait for the worker */

/* Changes of a user */
#define LIMIT_CHANGES       1000 /* entries in one page */
#define LIMIT_CHANGES_USUAL 100  /* and where none is asked for */
#define LIMIT_CHANGES_LOOKS 4096 /* rows of the store that are looked at for one page */

/* Threads and shards */
#define LIMIT_THREADS  64   /* that do I/O */
#define LIMIT_WORKERS  8    /* that may wait for the store */
#define LIMIT_JOBS     4096 /* jobs that wait for a worker */
#define LIMIT_REACH_MS 5000 /* longest wait of a list for the store to have all of it */
#define LIMIT_SHARDS   64   /* user shards, and as many item shards; a power of two */

/* Boards */
#define LIMIT_BOARDS        2048   /* (type, counter)s that a board is kept of; a power of two */
#define LIMIT_BOARD_TOUCHED 262144 /* counters read anew at start; past that all are */
#define LIMIT_TOP_WAIT_MS   3000   /* longest wait for a board that is being counted */

/* RESP */
#define LIMIT_INLINE      KIB(16) /* bytes of an inline command */
#define LIMIT_CLIENT_NAME 64      /* bytes of a connection's name */
#define LIMIT_MULTI       65536   /* commands of one transaction */
#define LIMIT_MULTI_BYTES MIB(8)  /* and bytes of them */
#define LIMIT_MULTI_QUIET KIB(16) /* of them, past which EXEC has to come within --slow-timeout */
#define LIMIT_READ        KIB(64) /* bytes taken from a connection at a time */
#define LIMIT_OUTPUT_MIN  KIB(64) /* the least that --output-buffer can be */
#define LIMIT_OUTPUT_SOFT MIB(1)  /* unsent reply bytes past which a connection is not read */
#define LIMIT_DRAIN_MS    5000    /* longest wait for replies to leave when stopping */
#define LIMIT_LINGER      MIB(16) /* bytes thrown away behind the last reply of a connection */
#define LIMIT_LINGER_MS   2000    /* and for how long at most */
#define LIMIT_GROUPS      64      /* reads of a connection whose replies wait for the journal */
#define LIMIT_REFUSED     64      /* connections past the most there may be, lingered for */

/* Store */
#define LIMIT_STORE_FILES 512 /* that RocksDB keeps open */

/* HTTP */
#define LIMIT_HTTP_LINE    KIB(8) /* bytes of a request line */
#define LIMIT_HTTP_HEADERS 64     /* header fields of a request */
#define LIMIT_HTTP_BATCH   200    /* operations in one POST /v1/batch */
#define LIMIT_HTTP_ERROR   256    /* bytes of an error in a batch, with its plain sentence */
#define LIMIT_HTTP_WORDS   1100   /* words of one operation, with all items it may have */
#define LIMIT_ANSWER_HEAD  KIB(1) /* bytes of the head of an answer, at most */
#define LIMIT_CHUNK_LINE   128    /* bytes of the line before a chunk, or of a trailer */
#define LIMIT_JSON_DEPTH   16     /* arrays and objects inside each other */
#define LIMIT_JSON_VALUES  20000  /* values in one body */

/* Live streams */
#define LIMIT_LIVE_ITEMS   50      /* items of one */
#define LIMIT_LIVE_STREAMS 1000000 /* that can be allowed */
#define LIMIT_LIVE_INPUT   KIB(64) /* bytes that a client may send behind its request, to no end */
#define LIMIT_LIVE_KERNEL  KIB(32) /* unsent bytes the kernel keeps for one, about */

/* Guard */
#define LIMIT_RATE          10000000 /* a second, that can be set as a bound; a burst likewise */
#define LIMIT_DEVICE_LENGTH 128      /* bytes of a device's id */
#define LIMIT_REFUSALS      32       /* in a row by limits, after which a connection has to rest */
#define LIMIT_REST_MS       200      /* for so long at most */
#define LIMIT_RUN_NS        1000000  /* of a connection's commands, then others have their turn */
/* Of a connection that has yet to show its token: */
#define LIMIT_UNKNOWN_ARGS   16      /* words of a command */
#define LIMIT_UNKNOWN_BULK   256     /* bytes of one */
#define LIMIT_UNKNOWN_QUERY  KIB(4)  /* bytes of an unfinished command */
#define LIMIT_UNKNOWN_OUTPUT KIB(16) /* unsent reply bytes past which it is not read */

/*
 * Journal. A record is a multiple of 8 bytes. An operation appends one event, and at most two
 * definitions of names before it. A thread that was admitted does not reserve its bytes: so room for
 * what all other threads may append at the same time is kept free.
 */
#define LIMIT_EVENT_BYTES     64                      /* the largest record there is today */
#define LIMIT_EVENT_BYTES_MIN 24                      /* and the smallest */
#define LIMIT_WRITE_BYTES     (3 * LIMIT_EVENT_BYTES) /* one operation appends at most so much */
#define LIMIT_ADMIT_BYTES     (LIMIT_BATCH * LIMIT_WRITE_BYTES) /* one thread asks for at most */
#define LIMIT_ADMIT_OTHERS    ((LIMIT_THREADS + LIMIT_WORKERS - 1) * LIMIT_ADMIT_BYTES)
#define LIMIT_SEGMENT_MIN     MIB(4)
#define LIMIT_SEGMENT_MAX     GIB(1)
#define LIMIT_JOURNAL_BATCH   MIB(1) /* bytes of one batch written at once */

_Static_assert((LIMIT_SHARDS & (LIMIT_SHARDS - 1)) == 0, "shards are picked by mask");
_Static_assert(LIMIT_NAMES < 256, "a name's index is one byte");
_Static_assert(LIMIT_TYPES <= 65536, "a type's index is two bytes");
_Static_assert(LIMIT_FEED_ITEMS <= LIMIT_ITEMS, "a feed is a command");
_Static_assert(LIMIT_ITEMS <= LIMIT_BATCH_ITEMS, "any one command fits a batch");
_Static_assert(LIMIT_SHELVES > LIMIT_NAMES * 4, "some of them are of another type than any one");
_Static_assert(LIMIT_LIVE_ITEMS <= LIMIT_ITEMS, "a stream is a command");
_Static_assert(LIMIT_CHANGES <= LIMIT_CHANGES_LOOKS, "a page can be full");
_Static_assert(LIMIT_ITEMS + 16 <= LIMIT_HTTP_WORDS, "any operation can be asked for over HTTP");
_Static_assert(LIMIT_ANSWER_HEAD + LIMIT_HTTP_BATCH * LIMIT_HTTP_ERROR <= LIMIT_OUTPUT_MIN,
               "errors in place of all results of a batch can always be sent");
_Static_assert(LIMIT_ADMIT_OTHERS + LIMIT_ADMIT_BYTES < LIMIT_SEGMENT_MIN / 8,
               "what all threads may append at once fits the smallest ring");

#endif
