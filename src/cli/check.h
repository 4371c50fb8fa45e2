/*
 * `laud check [--dump] DIR`: verifies a data directory offline and says what it found, with segment
 * and offset of any damage; with --dump, every record as a line of JSON. Changes nothing.
 */
#ifndef LAUD_CLI_CHECK_H
#define LAUD_CLI_CHECK_H

/* Exit status: 0 clean (a torn tail is clean, and reported), 1 damaged, 2 not understood, or not
 * to be read. */
int check_main(int argc, char **argv);

#endif
