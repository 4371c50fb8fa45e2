/*
 * All fixed limits of the server. The relations between them are checked at compile time. A limit
 * that an operator may want to change is an option (options.def), whose allowed range is bounded
 * here.
 */
#ifndef LAUD_BASE_LIMITS_H
#define LAUD_BASE_LIMITS_H

#define KIB(n) ((n)*1024ULL)
#define MIB(n) ((n)*1024ULL * 1024)
#define GIB(n) ((n)*1024ULL * 1024 * 1024)

/* Names and ids */
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
#define LIMIT_NAMED       10   /* friends whom a FEED names for each item */
#define LIMIT_SHELVES     4096 /* shelves of one user in memory: kinds × types × widths of ids */
#define LIMIT_ITEMS       1000 /* items in any other command */
#define LIMIT_LIST        200  /* entries in one page of a list */
#define LIMIT_LIST_USUAL  20   /* entries if the client does not give a number */
#define LIMIT_FOLLOWEES   5000 /* followees that FRIENDS reads */
#define LIMIT_FRIENDS     500  /* the newest followees that FEED and DEPTH 2 read of one user */
#define LIMIT_TOP         1000 /* items in one answer of TOP */
#define LIMIT_TOP_USUAL   100  /* items if the client does not give a number */
#define LIMIT_BATCH       32   /* operations that one thread runs in the hot tier at a time */
#define LIMIT_BATCH_ITEMS 1024 /* items of all operations of one batch */

/* Comments */
#define LIMIT_COMMENT_TEXT   10000    /* bytes of a text */
#define LIMIT_COMMENT_EXTRA  KIB(4)   /* bytes of the extra JSON value */
#define LIMIT_MENTIONS       10       /* users that a comment mentions */
#define LIMIT_REASON         200      /* bytes of the reason of a moderator */
#define LIMIT_COMMENTS       50       /* roots in one page */
#define LIMIT_COMMENTS_USUAL 20       /* roots if the client does not give a number */
#define LIMIT_REPLIES        10       /* replies of each root in a page */
#define LIMIT_REPLIES_USUAL  3        /* replies if the client does not give a number */
#define LIMIT_CARDS          200      /* cards in one answer */
#define LIMIT_PAGE_CONTENT   KIB(256) /* bytes of content after which a page ends early */
#define LIMIT_VERSIONS       10       /* earlier texts of a comment that are kept */
#define LIMIT_NEWS           256      /* changes of a watched subject that are remembered */
#define LIMIT_NEWS_CARDS     64       /* of them in one answer */
#define LIMIT_NEWS_CONTENT   KIB(32)  /* bytes of content after which such an answer ends early */
#define LIMIT_NEWS_SUBJECTS  512      /* watched subjects of one shard */
#define LIMIT_NEWS_S         60       /* a subject counts as watched for so long after it was read */
#define LIMIT_OWN_COMMENTS   50   /* pending and shadow ones of a subject that their author sees */
#define LIMIT_INBOX          1000 /* entries of an inbox */
#define LIMIT_INBOX_DAYS     90   /* older entries are not shown */
#define LIMIT_BANS           1000000 /* banned users */
#define LIMIT_BLOCKED_WORDS  100000  /* blocked words and phrases */
#define LIMIT_BLOCKED_WORD   256     /* bytes of one of them */
#define LIMIT_BLOCKED_FILE   MIB(8)  /* bytes of the file that lists them */
#define LIMIT_CHANGED        1024 /* changed comments of a gene that a page merges with the store */

/* Windowed boards */
#define LIMIT_TREND_TOP   1000  /* ranks of one windowed board */
#define LIMIT_TREND_ITEMS 16384 /* items of one slice of a board; above it the lowest are dropped */

/* Import */
#define LIMIT_IMPORT_LINE MIB(1) /* bytes of one line of input: a comment with its history */

/* FORGET and DROP */
#define LIMIT_REMOVAL       10000 /* reactions and counters that one command removes or examines */
#define LIMIT_REMOVAL_USUAL 1000  /* removed by one command if the client does not give a number */
#define LIMIT_REMOVAL_MS    200   /* after this time a command stops: others wait for the worker */

/* Changes of a user */
#define LIMIT_CHANGES       1000 /* entries in one page */
#define LIMIT_CHANGES_USUAL 100  /* entries if the client does not give a number */
#define LIMIT_CHANGES_LOOKS 4096 /* rows of the store that are read for one page */

/* Threads and shards */
#define LIMIT_THREADS  64    /* I/O threads */
#define LIMIT_WORKERS  8     /* worker threads, which may wait for the store */
#define LIMIT_JOBS     4096  /* jobs that wait for a worker */
#define LIMIT_JOB_MS   30000 /* after this time a job that no worker has begun is refused */
#define LIMIT_REACH_MS 5000  /* longest wait of a list until the store has all of its events */
#define LIMIT_SHARDS   64    /* user shards, and as many item shards; a power of two */

/* Boards */
#define LIMIT_BOARDS        2048   /* boards, one for each (type, counter); a power of two */
#define LIMIT_BOARD_TOUCHED 262144 /* counters that a start reads one by one; above it, all */
#define LIMIT_TOP_WAIT_MS   3000   /* longest wait for a board that is being computed */

/* RESP */
#define LIMIT_INLINE      KIB(16) /* bytes of an inline command */
#define LIMIT_CLIENT_NAME 64      /* bytes of a connection's name */
#define LIMIT_MULTI       65536   /* commands of one transaction */
#define LIMIT_MULTI_BYTES MIB(8)  /* bytes of the commands of one transaction */
#define LIMIT_MULTI_QUIET KIB(16) /* above so many bytes EXEC must arrive within --slow-timeout */
#define LIMIT_READ        KIB(64) /* bytes read from a connection at a time */
#define LIMIT_OUTPUT_MIN  KIB(64) /* smallest value of --output-buffer */
#define LIMIT_OUTPUT_SOFT MIB(1)  /* unsent reply bytes above which a connection is not read */
#define LIMIT_DRAIN_MS    5000    /* longest wait for unsent replies when the server stops */
#define LIMIT_LINGER      MIB(16) /* bytes discarded after the last reply of a connection */
#define LIMIT_LINGER_MS   2000    /* longest time for discarding them */
#define LIMIT_GROUPS      64      /* reply groups of one connection that wait for the journal */
#define LIMIT_REFUSED     64 /* connections above the maximum that are refused at the same time */

/* Store */
#define LIMIT_STORE_FILES 512 /* files that RocksDB keeps open */

/* HTTP */
#define LIMIT_HTTP_LINE    KIB(8) /* bytes of a request line */
#define LIMIT_HTTP_HEADERS 64     /* header fields of a request */
#define LIMIT_HTTP_BATCH   200    /* operations in one POST /v1/batch */
#define LIMIT_HTTP_ERROR   256    /* bytes of one error in a batch, with its sentence */
#define LIMIT_HTTP_WORDS   1100   /* words of one operation, including all of its items */
#define LIMIT_ANSWER_HEAD  KIB(1) /* bytes of the head of an answer */
#define LIMIT_CHUNK_LINE   128    /* bytes of the line before a chunk, or of a trailer */
#define LIMIT_JSON_DEPTH   16     /* nested arrays and objects */
#define LIMIT_JSON_VALUES  20000  /* values in one body */

/* Live streams */
#define LIMIT_LIVE_ITEMS   50      /* items of one live stream */
#define LIMIT_LIVE_STREAMS 1000000 /* largest number of live streams that an option can allow */
#define LIMIT_LIVE_INPUT   KIB(64) /* ignored bytes that a client may send after its request */
#define LIMIT_LIVE_KERNEL  KIB(32) /* about the kernel's send buffer of one live stream */

/* Guard */
#define LIMIT_RATE          10000000 /* largest rate per second, and largest burst, of an option */
#define LIMIT_DEVICE_LENGTH 128      /* bytes of a device's id */
#define LIMIT_REFUSALS      32       /* refusals in a row after which a connection has to pause */
#define LIMIT_REST_MS       200      /* longest such pause */
#define LIMIT_RUN_NS        1000000  /* time of a connection's commands before others run */
/* For a connection that has not shown its token yet: */
#define LIMIT_UNKNOWN_ARGS   16      /* words of a command */
#define LIMIT_UNKNOWN_BULK   256     /* bytes of one word */
#define LIMIT_UNKNOWN_QUERY  KIB(4)  /* bytes of an unfinished command */
#define LIMIT_UNKNOWN_OUTPUT KIB(16) /* unsent reply bytes above which the connection is not read */

/*
 * Journal. The size of a record is a multiple of 8 bytes. An operation appends one event, and
 * before it at most two definitions of names. Admission of short events does not reserve bytes for
 * a thread. Therefore enough room is kept free for everything that all other threads may append at
 * the same time. A long event, which has a body, is too large for that: its bytes are reserved.
 */
#define LIMIT_EVENT_BYTES     64      /* bytes of the largest record of a short event */
#define LIMIT_EVENT_BYTES_MIN 24      /* bytes of the smallest record */
#define LIMIT_EVENT_BODY      KIB(16) /* bytes of the body of a long event */
#define LIMIT_EVENT_HEAD      48      /* most bytes of a long event's record before its body */
#define LIMIT_EVENT_LONG      (LIMIT_EVENT_HEAD + LIMIT_EVENT_BODY) /* its largest record */
#define LIMIT_WRITE_BYTES     (3 * LIMIT_EVENT_BYTES) /* most bytes that one operation appends */
#define LIMIT_ADMIT_BYTES     (LIMIT_BATCH * LIMIT_WRITE_BYTES) /* most bytes asked for at once */
#define LIMIT_ADMIT_OTHERS    ((LIMIT_THREADS + LIMIT_WORKERS - 1) * LIMIT_ADMIT_BYTES)
#define LIMIT_SEGMENT_MIN     MIB(4)
#define LIMIT_SEGMENT_MAX     GIB(1)
#define LIMIT_JOURNAL_BATCH   MIB(1) /* bytes that are written to the file in one batch */

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
_Static_assert(LIMIT_ADMIT_OTHERS + LIMIT_ADMIT_BYTES + 2 * LIMIT_EVENT_LONG <
                   LIMIT_SEGMENT_MIN / 8,
               "what all threads may append at once fits the smallest ring, beside long events");
_Static_assert(LIMIT_EVENT_BODY % 8 == 0 && LIMIT_EVENT_LONG <= LIMIT_JOURNAL_BATCH,
               "the largest record fits a batch");

#endif
