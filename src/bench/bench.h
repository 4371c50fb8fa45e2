/*
 * `laud bench`: a load generator for servers that speak RESP or HTTP. It does little work itself, so that
 * a run measures the server and not the generator: each thread has one epoll loop, requests are rendered
 * directly into the output buffer, and replies are parsed without being kept.
 *
 * The latency of a request is the time from the moment when it was due to be sent to its last reply.
 */
#ifndef LAUD_BENCH_BENCH_H
#define LAUD_BENCH_BENCH_H

/*
 * argv[0] is the name of the subcommand. Returns the exit code: 0: success; 1: some reply was an error
 * (unless --allow-errors); 2: bad usage or a broken connection.
 */
int bench_main(int argc, char **argv);

#endif
