/*
 * Client addresses: as text, in lists of networks, and as what a limit counts. IPv4 is kept as IPv6
 * maps it (::ffff:a.b.c.d), so that one client is one address however it comes. Nothing is kept; any
 * thread may call.
 */
#ifndef LAUD_GUARD_IP_H
#define LAUD_GUARD_IP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/id.h"
#include "base/text.h"

#define IP_TEXT_MAX 48
#define IP_NETS_MAX 32

struct ip {
    uint8_t bytes[16];
};

struct ip_net {
    struct ip ip;
    unsigned bits; /* of it that count */
};

struct ip_nets {
    unsigned count;
    struct ip_net nets[IP_NETS_MAX];
};

/* All zero if the socket's address is of another family. */
struct ip ip_of_socket(const struct sockaddr *address);

/* An address alone, without port or brackets. */
bool ip_parse(struct text text, struct ip *out);

/* An address as some put it where a host is named: 10.0.0.1:80, [::1] and [::1]:80 too. */
bool ip_parse_host(struct text host, struct ip *out);

/* Without the port at its end, if there is one; for a host that is a name, or in brackets. */
struct text ip_without_port(struct text host);

/* The same back, terminated; IPv4 as such. */
void ip_format(const struct ip *ip, char out[IP_TEXT_MAX]);

/* What stands for its client: an IPv4 address, or the /64 of an IPv6 one. */
struct id ip_client(const struct ip *ip);

bool ip_is_loopback(const struct ip *ip);

/*
 * Addresses and networks (10.0.0.0/8, ::1) with commas or spaces between. False: `problem` is one
 * sentence.
 */
bool ip_nets_parse(struct ip_nets *nets, const char *list, char *problem, size_t size);
bool ip_nets_have(const struct ip_nets *nets, const struct ip *ip);

/*
 * Goes on with a list as X-Forwarded-For has it, left to right: *client becomes the right-most address
 * that is none of ours, `peer` where the list cannot be trusted to the left of what is no address. Some
 * proxies put ports and brackets in.
 */
void ip_follow(const struct ip_nets *ours, struct text list, const struct ip *peer,
               struct ip *client);

#endif
