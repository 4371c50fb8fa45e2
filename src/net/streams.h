/*
 * The functions of live streams that an I/O thread calls. The caller of server_start hands them in
 * (server_parts), so that net/ does not depend on live/. `streams` is what `open` returned. The loop's own
 * thread calls them, except `open` and `close`, which run while the loop has no thread.
 */
#ifndef LAUD_NET_STREAMS_H
#define LAUD_NET_STREAMS_H

struct loop;

struct streams_ops {
    void *(*open)(struct loop *loop); /* the libuv loop is ready; NULL: no memory */
    void (*close)(void *streams);     /* all handles of the loop are closed */
    void (*stop)(void *streams);      /* the server stops: all streams end */
    void (*wait)(void *streams);      /* the thread is about to wait for events */
};

#endif
