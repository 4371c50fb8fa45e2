/*
 * What an I/O thread has beside its connections: live streams. Whoever starts the server hands these
 * functions in (server_parts), so that net/ knows nothing about streams. `streams` is what `open`
 * returned. All of them are called by the loop's own thread, but open and close, which run while it has
 * none.
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
