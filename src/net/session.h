/* The commands of session.def. Each appends exactly one reply; false: no memory for it. */
#ifndef LAUD_NET_SESSION_H
#define LAUD_NET_SESSION_H

#include "net/command.h"

#define SESSION(function, name, min, max, arguments, summary) session_fn session_##function;
#include "net/session.def"
#undef SESSION

#endif
