/* `laud serve`: the embedded shape, whole. */
#ifndef LAUD_CLI_SERVE_H
#define LAUD_CLI_SERVE_H

/* argv without program and subcommand; returns the exit code. */
int serve_main(int argc, char **argv);

#endif
