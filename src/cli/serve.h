/* `laud serve`: runs the server in its embedded shape. */
#ifndef LAUD_CLI_SERVE_H
#define LAUD_CLI_SERVE_H

/* See commands.h. */
int serve_main(int argc, char **argv);

#endif
