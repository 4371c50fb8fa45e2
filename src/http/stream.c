#include "http/stream.h"

#include <string.h>

#include "http/answer_comments.h"
#include "http/respond.h"
#include "http/words.h"
#include "live/event.h"

/* A client that cannot set header fields sends the id of its last event in the query. */
static void take_last(struct exchange *exchange)
{
    const struct parameter *last =
        route_parameter(&exchange->target, (struct text){"last", strlen("last")});
    if (!exchange->resumes && last != NULL)
        exchange->resumes = event_read_id(last->value, &exchange->last);
}

/*
 * Most of the items are in memory now. The statuses of the requests are ignored; the stream reports
 * them.
 */
bool stream_begin(struct conn *conn, struct exchange *exchange)
{
    take_last(exchange);
    uint32_t first = exchange->slots[0].items;
    struct live_ask ask = {.items = words_at(exchange, first),
                           .count = words_count(exchange) - first,
                           .write_card =
                               exchange->route->op == OP_LIVECOMMENTS ? answer_write_card : NULL,
                           .chunked = !exchange->old,
                           .resumes = exchange->resumes,
                           .last = exchange->last};
    exchange->type = RESPOND_EVENTS;
    exchange->reply.length = 0;
    if (exchange->method == VERB_HEAD)
        return true;
    enum status status = live_open(conn, &ask, &exchange->reply, &exchange->stream);
    if (status != STATUS_OK)
        exchange_refuse(exchange, status, status_sentence(status));
    return status == STATUS_OK;
}

enum status stream_pass_over(struct conn *conn, size_t length)
{
    if (length > conn->linger_bytes)
        conn_drain(conn, false);
    else
        conn->linger_bytes -= length;
    return STATUS_MORE;
}
