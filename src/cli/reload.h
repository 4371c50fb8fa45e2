/*
 * SIGHUP: flags, environment and INI file are read again, and the limits among the options are set; and
 * the file of blocked words (--comment-words) is read again. Nothing else changes while the server runs; the
 * log says which other options differ. Only the thread
 * that takes signals may call it.
 */
#ifndef LAUD_CLI_RELOAD_H
#define LAUD_CLI_RELOAD_H

#include "base/options.h"
#include "comment/policy.h"
#include "net/server.h"

/* `started` are the options with which the server was started, from the same arguments. */
void reload(struct server *server, struct comment_policy *comments, const struct options *started,
            int argc, char **argv);

#endif
