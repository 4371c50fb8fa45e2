/*
 * When a slow operation is logged, its words may be gone: a worker ran it, or other commands were parsed
 * after it. So the words are made again from the request, except those of enum op_extra. The log never has
 * the text of a comment, which may have to disappear everywhere.
 */
#include "net/watch.h"

#include <stdio.h>

#include "op/op.h"

void watch_init(struct watch *watch, struct hotkeys *hotkeys, struct slowlog *slowlog,
                unsigned thread, uint64_t slow_us)
{
    watch->hotkeys = hotkeys;
    watch->slowlog = slowlog;
    watch->thread = thread;
    watch->slow_ns = slow_us == 0 ? UINT64_MAX : slow_us * 1000;
    watch->with_user = 0;
    for (size_t i = 0; i < op_count(); i++)
        if (op_has_user(op_get(i)))
            watch->with_user |= 1ULL << i;
}

/* Most batches are runs of one operation, so that each run is counted in one step. */
void watch_ran(struct watch *watch, const struct hot_request *requests, uint32_t count,
               uint64_t took_ns, uint64_t now_ns)
{
    uint64_t items = 0, users = 0;
    for (uint32_t from = 0, to; from < count; from = to) {
        uint32_t op = requests[from].op;
        for (to = from; to < count && requests[to].op == op; to++)
            items += requests[to].item_count;
        if (watch->with_user >> op & 1)
            users += to - from;
        meter_ran(&watch->meter, op, took_ns, to - from);
    }
    if (watch->hotkeys != NULL)
        hotkeys_offer(watch->hotkeys, watch->thread, requests, count, watch->with_user, items,
                      users, now_ns);
}

void watch_address(const struct sockaddr_storage *address, char out[WATCH_ADDRESS])
{
    char host[INET6_ADDRSTRLEN] = "";
    snprintf(out, WATCH_ADDRESS, "?");
    if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
        uv_ip6_name(six, host, sizeof host);
        snprintf(out, WATCH_ADDRESS, "[%s]:%u", host, ntohs(six->sin6_port));
    } else if (address->ss_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)address;
        uv_ip4_name(four, host, sizeof host);
        snprintf(out, WATCH_ADDRESS, "%s:%u", host, ntohs(four->sin_port));
    }
}

void watch_peer(const uv_tcp_t *tcp, char out[WATCH_ADDRESS])
{
    struct sockaddr_storage address;
    int length = sizeof address;
    if (uv_tcp_getpeername(tcp, (struct sockaddr *)&address, &length) != 0)
        address.ss_family = AF_UNSPEC; /* the client has closed it already */
    watch_address(&address, out);
}

static void add(struct watch *watch, const struct text *words, uint32_t count, uint32_t total,
                struct watch_client client, uint64_t took_ns, uint64_t time_s)
{
    char address[WATCH_ADDRESS];
    watch_peer(client.tcp, address);
    slowlog_add(watch->slowlog, &(struct slowlog_event){.time_s = time_s,
                                                        .took_ns = took_ns,
                                                        .words = words,
                                                        .count = count,
                                                        .total = total,
                                                        .client = address,
                                                        .name = client.name});
}

void watch_slow_words(struct watch *watch, const struct text *words, uint32_t count,
                      struct watch_client client, uint64_t took_ns, uint64_t time_s)
{
    add(watch, words, count, count, client, took_ns, time_s);
}

/* The words of a request, as many as fit. */
struct remade {
    uint32_t count;
    uint32_t total;
    struct text words[SLOWLOG_WORDS];
    char texts[SLOWLOG_WORDS][LIMIT_ITEM_TEXT + 1];
};

static void put_text(struct remade *remade, const char *text)
{
    remade->total++;
    if (remade->count == SLOWLOG_WORDS)
        return;
    char *kept = remade->texts[remade->count];
    int length = snprintf(kept, sizeof remade->texts[0], "%s", text);
    remade->words[remade->count++] = (struct text){kept, (size_t)length};
}

static const char *name_text(const struct names *names, uint8_t index)
{
    return index == NAME_UNKNOWN ? "?" : names_get(names, index)->text;
}

static const char *type_text(const struct names *names, uint16_t index)
{
    return index == TYPE_UNKNOWN ? "?" : names_type(names, index)->text;
}

static void put_id(struct remade *remade, const char *type, struct id id)
{
    char text[LIMIT_ITEM_TEXT + 1], id_text[LIMIT_ID_TEXT];
    size_t length = id_format(id, id_text);
    snprintf(text, sizeof text, "%s%s%.*s", type, type[0] ? ":" : "", (int)length, id_text);
    put_text(remade, text);
}

static void put_word(struct remade *remade, enum op_word word, const struct hot_request *request,
                     const struct names *names)
{
    char number[24];
    switch (word) {
    case WORD_USER:
        put_id(remade, "", request->user);
        break;
    case WORD_KIND:
    case WORD_COUNTER:
        put_text(remade, name_text(names, request->name));
        break;
    case WORD_TYPE:
        put_text(remade, type_text(names, request->action == HOT_TOP     ? request->top.type
                                          : request->action == HOT_QUEUE ? request->cards.type
                                                                         : request->list.type));
        break;
    case WORD_DELTA:
        snprintf(number, sizeof number, "%lld", (long long)request->change.delta);
        put_text(remade, number);
        break;
    case WORD_ITEM:
    case WORD_ITEMS:
    case WORD_COMMENT:
    case WORD_COMMENTS:
        for (uint32_t i = 0; i < request->item_count; i++)
            put_id(remade, type_text(names, request->items[i].type), request->items[i].id);
        break;
    case WORD_STATE:
        put_text(remade, comment_moderation_text((enum comment_moderation)request->comment.state));
        break;
    case WORD_TEXT:
        put_text(remade, "(a text)");
        break;
    case WORD_QUEUE:
    case WORD_CURSOR:
    case WORD_ANY_COUNTER:
    case WORD_END:
    case WORD_TOTAL:
        break;
    }
}

void watch_slow_requests(struct watch *watch, const struct hot_request *requests, uint32_t count,
                         const struct names *names, struct watch_client client, uint64_t took_ns,
                         uint64_t time_s)
{
    struct remade remade;
    const struct op_spec *spec = op_get(requests[0].op);
    remade.count = remade.total = 0;
    put_text(&remade, spec->name);
    for (const uint8_t *word = spec->words; *word != WORD_END; word++)
        put_word(&remade, (enum op_word) * word, &requests[0], names);
    if (count > 1 && remade.count < SLOWLOG_WORDS) {
        char others[LIMIT_ITEM_TEXT + 1];
        snprintf(others, sizeof others, "(and %u more commands with it)", count - 1);
        put_text(&remade, others);
    }
    add(watch, remade.words, remade.count, remade.total, client, took_ns, time_s);
}
