/*
 * The commands of session.def. Each appends exactly one reply, or says in *refusal, which is OK before,
 * that an error is the reply: whoever called writes and counts it; or MORE, that what it appended is only
 * the beginning of the reply (EXEC). False: no memory for the reply.
 */
#ifndef LAUD_RESP_SESSION_H
#define LAUD_RESP_SESSION_H

#include "op/command.h"
#include "resp/connection.h"

#define SESSION(function, name, min, max, access, arguments, summary) session_fn session_##function;
#include "resp/session.def"
#undef SESSION

static inline bool session_refuse_saying(struct refusal *refusal, enum status status,
                                         const char *sentence)
{
    *refusal = (struct refusal){status, sentence};
    return true;
}

static inline bool session_refuse(struct refusal *refusal, enum status status)
{
    return session_refuse_saying(refusal, status, status_sentence(status));
}

#endif
