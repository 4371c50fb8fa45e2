/*
 * Whether the projector makes progress, and if not, why. The text of each state is in one table, for
 * INFO. The text of a failure is the sentence that the projector keeps about it.
 */
#ifndef LAUD_PROJECT_STATE_H
#define LAUD_PROJECT_STATE_H

#define PROJECTOR_STATES(STATE)                                                                    \
    STATE(OK, "ok")                                                                                \
    STATE(DISK_FULL, "the disk of the store is full, the projector resumes when space returns")    \
    STATE(NO_MEMORY, "there is no memory to write more to the store, the projector resumes when "  \
                     "there is")                                                                   \
    STATE(FAILED, "the projector failed and writes nothing more until a restart")

enum projector_state {
#define STATE(name, text) PROJECTOR_##name,
    PROJECTOR_STATES(STATE)
#undef STATE
        PROJECTOR_STATE_COUNT
};

/* "ok", or a sentence without a full stop that says what is wrong. The text is constant. */
const char *projector_state_text(enum projector_state state);

#endif
