/*
 * SIGHUP: flags, environment and the INI file are read again, and the limits among them are set.
 * Nothing else changes while the server runs; what differs otherwise is told in the log. By the thread
 * that takes signals.
 */
#ifndef LAUD_CLI_RELOAD_H
#define LAUD_CLI_RELOAD_H

#include "base/options.h"
#include "net/server.h"

/* `started` are the options the server was started with, from the same arguments. */
void reload(struct server *server, const struct options *started, int argc, char **argv);

#endif
