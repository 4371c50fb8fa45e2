#include "http/asker.h"

#include "net/permit.h"

#define SCHEME "Bearer "

/* If the peer is one of our proxies, the client is the address that the proxy reports. */
static struct ip client_of(const struct conn *conn, const struct request *request,
                           const char *bytes)
{
    const struct ip_nets *ours = &conn->loop->server->proxies;
    struct ip client = conn->peer;
    for (uint32_t i = 0; conn->many && i < request->forwarded_count; i++)
        ip_follow(ours, request_text(bytes, request->forwarded[i]), &conn->peer, &client);
    return client;
}

void asker_take_token(struct conn *conn, const struct request *request, const char *bytes)
{
    const struct access *access = &conn->loop->server->access;
    struct text text = request_text(bytes, request->authorization);
    size_t scheme = strlen(SCHEME);
    conn->token = NULL;
    if (!access_is_on(access) || text.length < scheme ||
        strncasecmp(text.bytes, SCHEME, scheme) != 0)
        return;
    struct ip client = client_of(conn, request, bytes);
    conn->token =
        permit_find_token(conn, (struct text){text.bytes + scheme, text.length - scheme}, &client);
}

bool asker_take_client(struct conn *conn, const struct request *request, const char *bytes)
{
    struct limit_ask *ask = &conn->ask;
    struct ip client = client_of(conn, request, bytes);
    ask->who[LIMIT_BY_IP] = ip_client(&client);
    ask->known &= ~(1U << LIMIT_BY_DEVICE);
    if (request->device.length == 0)
        return true;
    ask->known |= 1U << LIMIT_BY_DEVICE;
    return limits_device(&conn->loop->server->limits, request_text(bytes, request->device),
                         &ask->who[LIMIT_BY_DEVICE]);
}

const char *asker_refusal(const struct request *request)
{
    return request->authorization.length == 0
               ? "the header Authorization is missing, it must be Bearer and a token of this server"
               : "the header Authorization must be Bearer and a token of this server";
}
