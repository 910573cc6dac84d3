/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tee/relay_listen.h"

#include <unistd.h>

/* Uses the predecessor's socket for |address|, if there is one.  Returns 1, 0 if there is none, or
 * a negative code. */
static int adopt(struct relay *relay, struct relay_taken *taken, const struct net_address *address,
                 struct err *err)
{
    for (int i = 0; i < taken->count; i++) {
        struct net_address its;
        int fd = taken->sockets[i];

        if (fd < 0 || net_address_of_socket(fd, &its, NULL) < 0 ||
            !net_address_equal(&its, address))
            continue;
        taken->sockets[i] = -1;
        return relay_adopt(relay, fd, err) < 0 ? -err->code : 1;
    }
    return 0;
}

/* A connection to |server| would come to |bound|, and lead to another one, without an end. */
static bool is_itself(const struct net_address *bound, const struct net_address *server)
{
    struct net_address mine;

    if (bound->family != server->family || net_address_port(bound) != net_address_port(server))
        return false;
    if (net_address_is_wildcard(bound) || net_address_is_wildcard(server))
        return net_address_is_loopback(server) || net_address_is_wildcard(server) ||
               (net_address_of_route(server, &mine) == 0 && net_address_same_host(&mine, server));
    return net_address_same_host(bound, server);
}

static int say_itself(const struct net_address *server, struct err *err)
{
    char text[NET_ADDRESS_TEXT];

    return err_set(err, ERR_USAGE,
                   "%s is this relay's own address: say the server's address, or listen at another "
                   "port",
                   net_address_text(server, text));
}

/* Listens at |address|. */
static int listen_at(struct relay *relay, const struct relay_place *place,
                     struct relay_taken *taken, const struct net_address *address,
                     struct net_address *bound, struct err *err)
{
    struct net_address datagrams = place->server;
    int result = adopt(relay, taken, address, err);

    *bound = *address;
    if (result == 0)
        result = relay_add(relay, address, bound, err);
    net_address_set_port(&datagrams, place->udp_port);
    if (result >= 0 && is_itself(bound, &place->server))
        return say_itself(&place->server, err);
    if (result >= 0 && place->udp_port)
        result = relay_add_udp(relay, bound, &datagrams, err);
    return result < 0 ? result : 0;
}

int relay_listen(struct relay *relay, const struct relay_place *place, struct relay_taken *taken,
                 struct net_address *bound, struct err *err)
{
    struct net_address_name name;
    struct net_address found[2];
    int count;

    if (net_address_name_parse(place->listen, &name, err) < 0)
        return err_prefix(err, "%s", place->listen);
    if (place->free_port)
        name.port = 0;
    count = net_address_resolve(&name, true, found, 2, err);
    if (count < 0)
        return err_prefix(err, "%s", place->listen);
    if (relay_add_server(relay, &place->server, err) < 0)
        return -err->code;
    for (int i = 0; i < count; i++) {
        if (i && !name.port) /* one free port for both kinds of addresses */
            net_address_set_port(&found[i], net_address_port(bound));
        if (listen_at(relay, place, taken, &found[i], bound, err) < 0)
            return -err->code;
        if (place->tell)
            place->tell(place->name, bound, &place->server);
    }
    return 0;
}

void relay_taken_close(struct relay_taken *taken)
{
    for (int i = 0; i < taken->count; i++)
        if (taken->sockets[i] >= 0)
            close(taken->sockets[i]);
    taken->count = 0;
}
