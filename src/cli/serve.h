/* `laud serve`: the embedded shape, whole. */
#ifndef LAUD_CLI_SERVE_H
#define LAUD_CLI_SERVE_H

/* As commands.h says. */
int serve_main(int argc, char **argv);

#endif
