/*
 * The functions of the commands in session.def. Each function appends exactly one reply, or sets
 * *refusal. If refusal->status is an error, the caller writes the error and counts it. If it is MORE,
 * what was appended is only the beginning of the reply (EXEC). Otherwise it stays OK. False: there is
 * no memory for the reply.
 */
#ifndef LAUD_RESP_SESSION_H
#define LAUD_RESP_SESSION_H

#include "op/command.h"
#include "resp/connection.h"

#define SESSION(function, name, min, max, access, arguments, summary) session_fn session_##function;
#include "resp/session.def"
#undef SESSION

/* Refuses with this sentence, or with the general sentence of the status. Returns true. */
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
