/*
 * `laud check [--dump] DIR`: verifies a data directory that no server uses, and prints what it found,
 * with segment and offset of any damage. With --dump it prints every record as a line of JSON. It
 * changes nothing.
 */
#ifndef LAUD_CLI_CHECK_H
#define LAUD_CLI_CHECK_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Returns the exit status: 0 nothing is damaged (an incomplete last record is reported, but is no
 * damage), 1 damaged, 2 bad arguments, or the directory cannot be read.
 */
int check_main(int argc, char **argv);

/*
 * The same for a directory, for other commands: damage and other problems are printed to standard error,
 * and the rest of what was found to `summary`. With `dump` every record is printed to standard output.
 * Returns the exit status.
 */
int check_directory(const char *data, bool dump, FILE *summary);

#endif
