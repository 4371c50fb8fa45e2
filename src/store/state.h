/* Whether a store can write, and if not, why. The text of each state is in one table, for INFO. */
#ifndef LAUD_STORE_STATE_H
#define LAUD_STORE_STATE_H

#define STORE_STATES(STATE)                                                                        \
    STATE(OK, "ok")                                                                                \
    STATE(DISK_FULL, "the disk of the store is full, the store resumes when space returns")        \
    STATE(DAMAGED, "the files of the store are damaged")                                           \
    STATE(NO_MEMORY, "there is no memory to apply a batch to the store")                           \
    STATE(NO_FILES, "the store could open no more files (ulimit -n) and writes nothing more "      \
                    "until a restart")                                                             \
    STATE(CANNOT_WRITE, "the store cannot write")                                                  \
    STATE(CANNOT_COMPACT, "the store cannot write in the background")

enum store_state {
#define STATE(name, text) STORE_##name,
    STORE_STATES(STATE)
#undef STATE
        STORE_STATE_COUNT
};

/* "ok", or a sentence without a full stop that says what is wrong. The text is constant. */
const char *store_state_text(enum store_state state);

#endif
