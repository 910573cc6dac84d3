/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/relay_pass.c
 *
 * Passes the bytes of a pair on, in both directions.  A side is watched for input while nothing of
 * its direction is held, and for output while something is held for it.
 *
 * Epoll tells each change once (EPOLLET), which saves it a look at the socket for each call.  A
 * read that does not fill its room has all bytes, but an end that came with them is not seen by it.
 */
#include "relay/relay_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

bool relay_is_gone(int error)
{
    return error != EAGAIN && error != EINTR && error != ENOBUFS;
}

/* --- one direction */

static int hold(struct pass *pass, struct bytes rest, uint32_t may)
{
    pass->held = malloc(rest.len);
    if (!pass->held)
        return RELAY_NO_MEMORY;
    memcpy(pass->held, rest.data, rest.len);
    pass->held_at = 0;
    pass->held_len = rest.len;
    pass->may = may;
    pass->counts->waits += may > 0;
    return RELAY_GOES_ON;
}

int relay_send(struct pass *pass, struct bytes bytes, uint32_t may)
{
    ssize_t sent = may ? send(pass->to->fd, bytes.data, may, MSG_NOSIGNAL) : 0;
    bool gone = sent < 0 && relay_is_gone(errno);
    int result;

    if (sent == bytes.len)
        return RELAY_GOES_ON;
    sent = sent < 0 ? 0 : sent;
    result = hold(pass, (struct bytes){ bytes.data + sent, bytes.len - (uint32_t)sent },
                  may - (uint32_t)sent);
    return gone ? RELAY_RESET_BY_RECEIVER : result;
}

void relay_passed(struct pass *pass, uint32_t len)
{
    pass->offset += len;
    pass->counts->bytes += len;
    pass->counts->reads++;
}

static int pass_on(struct pair *pair, struct pass *pass, struct bytes bytes)
{
    int64_t time = relay_copy_clock(), may = bytes.len;
    int result;

    if (relay_injects(pair))
        may = relay_inject(pair, pass, bytes);
    /* forward first: the copy is in nobody's way */
    result = may < 0 ? RELAY_RESET_BY_RULE : relay_send(pass, bytes, (uint32_t)may);
    if (pair->relay->setup.ring)
        relay_copy_bytes(pair, pass, bytes, time);
    relay_passed(pass, bytes.len);
    return result;
}

static int read_some(struct pair *pair, struct pass *pass)
{
    struct relay *relay = pair->relay;
    int result = RELAY_GOES_ON;
    ssize_t got;

    if (pass->expects_long && relay->setup.ring && !relay_injects(pair) &&
        relay_long(pass, &result))
        return result;
    got = recv(pass->from->fd, relay->chunk, RELAY_CHUNK, 0);
    pass->more = got == RELAY_CHUNK;
    if (got < 0)
        return relay_is_gone(errno) ? RELAY_RESET_BY_SENDER : RELAY_GOES_ON;
    if (got == 0) {
        pass->ended = true;
        relay_copy_mark(pair, pass->kind + RELAY_END_TO_SERVER - RELAY_TO_SERVER, pass->offset, 0);
        return RELAY_GOES_ON;
    }
    relay_long_note(pass, (uint32_t)got);
    return pass_on(pair, pass, (struct bytes){ relay->chunk, (uint32_t)got });
}

static int send_held(struct pass *pass)
{
    ssize_t sent;

    if (!pass->may)
        return RELAY_GOES_ON;
    sent = send(pass->to->fd, pass->held + pass->held_at, pass->may, MSG_NOSIGNAL);
    if (sent < 0)
        return relay_is_gone(errno) ? RELAY_RESET_BY_RECEIVER : RELAY_GOES_ON;
    pass->held_at += (uint32_t)sent;
    pass->held_len -= (uint32_t)sent;
    pass->may -= (uint32_t)sent;
    if (!pass->held_len) {
        free(pass->held);
        pass->held = NULL;
    }
    return RELAY_GOES_ON;
}

static void pass_end(struct pass *pass)
{
    if (pass->ended && !pass->passed && !pass->held) {
        pass->passed = true;
        shutdown(pass->to->fd, SHUT_WR);
    }
}

/* --- a pair */

/* Watches a side for what it can do now.  Hang-ups and errors are reported even for no events.  So
 * one that hung up, and has nothing to do now, is not watched until it has. */
static int watch(struct relay *relay, struct side *side, uint32_t events, bool more, bool hung_up)
{
    int result;

    if (!events && hung_up) {
        loop_unwatch(relay->loop, &side->watch);
        return 0;
    }
    if (side->watch.fd >= 0 && more && side->watch.events == events)
        return loop_ask_again(relay->loop, &side->watch, NULL);
    if (side->watch.fd >= 0)
        return loop_change(relay->loop, &side->watch, events, NULL);
    if (!events)
        return 0;
    side->watch.fd = side->fd;
    result = loop_watch(relay->loop, &side->watch, events, NULL);
    if (result < 0)
        side->watch.fd = -1;
    return result;
}

static uint32_t wanted(const struct pass *in, const struct pass *out)
{
    uint32_t events = (!in->held && !in->ended ? EPOLLIN | EPOLLRDHUP : 0) |
                      (out->held && out->may ? EPOLLOUT : 0);

    return events ? events | EPOLLET : 0;
}

/* What the system refuses for one pair does not end the relay. */
static void watch_both(struct pair *pair, const struct side *ready, bool hung_up)
{
    struct relay *relay = pair->relay;
    struct side *client = &pair->client, *server = &pair->server;
    uint32_t of_client = wanted(&pair->to_server, &pair->to_client);
    uint32_t of_server = wanted(&pair->to_client, &pair->to_server);

    if (watch(relay, client, of_client, pair->to_server.more, hung_up && ready == client) < 0 ||
        watch(relay, server, of_server, pair->to_client.more, hung_up && ready == server) < 0) {
        relay->counts.failed++;
        relay_end(pair, RELAY_WHY_RELAY);
    }
}

/* Says who caused a |result| of reading from |side|. */
static enum relay_why why(int result, const struct side *side)
{
    bool is_client = side == &side->pair->client;

    if (result == RELAY_NO_MEMORY || result == RELAY_RESET_BY_RULE)
        return RELAY_WHY_RELAY;
    return is_client == (result == RELAY_RESET_BY_SENDER) ? RELAY_WHY_CLIENT : RELAY_WHY_SERVER;
}

static bool has_failed(int fd)
{
    int error = 0;
    socklen_t len = sizeof(error);

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error != 0;
}

int relay_pass_ready(void *ctx, uint32_t events, struct err *err)
{
    struct side *side = ctx;
    struct pair *pair = side->pair;
    bool is_client = side == &pair->client;
    struct pass *in = is_client ? &pair->to_server : &pair->to_client;
    struct pass *out = is_client ? &pair->to_client : &pair->to_server;
    int result = RELAY_GOES_ON;

    (void)err;
    if (out->held && events & EPOLLOUT) {
        result = send_held(out);
        if (result == RELAY_RESET_BY_RECEIVER) {
            relay_end(pair, is_client ? RELAY_WHY_CLIENT : RELAY_WHY_SERVER);
            return 0;
        }
    }
    if (!in->held && !in->ended && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        result = read_some(pair, in);
    else if (events & EPOLLERR && has_failed(side->fd))
        result = RELAY_RESET_BY_SENDER;
    if (result == RELAY_GOES_ON && events == EPOLLIN && !in->held && !in->ended && !in->more)
        return 0; /* as nearly always: watched for the same as before */
    if (result != RELAY_GOES_ON) {
        relay_end(pair, why(result, side));
        return 0;
    }
    in->more |= (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    pass_end(in);
    pass_end(out);
    if (in->passed && out->passed) {
        relay_end(pair, RELAY_WHY_ENDED);
        return 0;
    }
    watch_both(pair, side, (events & EPOLLHUP) != 0);
    return 0;
}

void relay_pass_go_on(struct pass *pass)
{
    struct pair *pair = pass->from->pair;

    if (send_held(pass) != RELAY_GOES_ON) {
        relay_end(pair, pass->to == &pair->client ? RELAY_WHY_CLIENT : RELAY_WHY_SERVER);
        return;
    }
    pass_end(pass);
    if (pair->to_server.passed && pair->to_client.passed)
        relay_end(pair, RELAY_WHY_ENDED);
    else
        watch_both(pair, NULL, false);
}

void relay_pass_begin(struct pair *pair)
{
    watch_both(pair, NULL, false);
}
