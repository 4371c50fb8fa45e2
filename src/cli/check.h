/*
 * `laud check [--dump] DIR`: verifies a data directory that no server uses, and prints what it found,
 * with segment and offset of any damage. With --dump it prints every record as a line of JSON. It
 * changes nothing.
 */
#ifndef LAUD_CLI_CHECK_H
#define LAUD_CLI_CHECK_H

/*
 * Returns the exit status: 0 nothing is damaged (an incomplete last record is reported, but is no
 * damage), 1 damaged, 2 bad arguments, or the directory cannot be read.
 */
int check_main(int argc, char **argv);

#endif
