/*
 * `laud bench`: a load generator for anything that speaks RESP or HTTP. It is lean on purpose: one epoll
 * loop a thread, requests rendered straight into the output buffer, replies walked over without
 * being kept, so that the server and not the generator is what a run measures.
 *
 * One request in flight is measured from the moment it was meant to leave to its last reply.
 */
#ifndef LAUD_BENCH_BENCH_H
#define LAUD_BENCH_BENCH_H

/*
 * argv[0] is the subcommand's own name. Exit code: 0 done, 1 some reply was an error (unless
 * --allow-errors), 2 bad usage or a broken connection.
 */
int bench_main(int argc, char **argv);

#endif
