/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_relay.c
 *
 * Both sides of a relayed connection, over socket pairs.  The input is a list of steps of two
 * bytes: who sends, reads or ends, which faults are injected, and if the relay looks before the
 * next step.  What a side gets, and what the ring has, is what the other one sent, byte by byte;
 * and all of it, unless somebody broke the connection.
 */
#include "base/bytes.h"
#include "net/listen.h"

/* The connection was not accepted. */
#define listeners_left(listeners, peer) ((void)(listeners), (void)(peer))
#include "live/relay/relay.c"

#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MOST = 300000,    /* bytes that a side sends; the ring takes both sides' */
    BUFFER = 4096,    /* of sockets: small, so that the relay has to wait */
    ROUNDS = 1000000, /* after which nothing more will come */
    STEP = 64,
    CLIENT = 0,
    SERVER = 1,
};

struct peer {
    int fd;
    struct buf sent, copied; /* |copied|: by the ring */
    size_t got;              /* bytes of the other's |sent| */
    bool shut, ended, closed;
};

struct talk {
    struct loop *loop;
    struct relay *relay;
    struct faults *faults;
    struct ring_reader *reader;
    struct peer peers[2];
    struct buf message;
};

static void check(bool good)
{
    if (!good)
        abort();
}

/* --- the loop */

static int on_stop(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

static void run(struct talk *t)
{
    struct idle stop = { .run = on_stop, .ctx = t->loop };

    loop_idle(t->loop, &stop);
    check(loop_run(t->loop, NULL) == 0);
}

/* --- steps */

static void send_some(struct talk *t, int who, const uint8_t *data, size_t len)
{
    struct peer *peer = &t->peers[who];
    ssize_t sent;

    if (peer->shut || peer->closed || peer->sent.len + len > MOST || !len)
        return;
    sent = send(peer->fd, data, len, MSG_NOSIGNAL);
    if (sent > 0)
        check(buf_append(&peer->sent, data, (size_t)sent) == 0);
}

static void read_some_of(struct talk *t, int who, size_t most)
{
    struct peer *peer = &t->peers[who];
    const struct peer *other = &t->peers[!who];
    uint8_t chunk[256 * STEP];
    ssize_t got;

    if (peer->closed || peer->ended)
        return;
    got = recv(peer->fd, chunk, most < sizeof(chunk) ? most : sizeof(chunk), 0);
    if (got < 0) {
        peer->ended = errno != EAGAIN;
        return;
    }
    peer->ended = got == 0;
    check(peer->got + (size_t)got <= other->sent.len);
    check(got == 0 || memcmp(chunk, other->sent.data + peer->got, (size_t)got) == 0);
    peer->got += (size_t)got;
}

static void put(struct buf *to, uint32_t value)
{
    const uint8_t bytes[4] = { (uint8_t)(value >> 24), (uint8_t)(value >> 16),
                               (uint8_t)(value >> 8), (uint8_t)value };

    check(buf_append(to, bytes, sizeof(bytes)) == 0);
}

/* A call or a reply of the XID |n| / 2, so that some match. */
static void send_message(struct talk *t, int who, uint8_t n)
{
    uint32_t body = (uint32_t)n * STEP, head = who == CLIENT ? 40 : 24;

    t->message.len = 0;
    put(&t->message, 0x80000000 | (head + body));
    put(&t->message, n / 2);
    put(&t->message, who == CLIENT ? 0 : 1);
    if (who == CLIENT) {
        put(&t->message, 2);
        put(&t->message, 100003);
        put(&t->message, 3);
        put(&t->message, n % 22);
        put(&t->message, 0);
    }
    while (t->message.len < head + 4 + body)
        put(&t->message, 0);
    send_some(t, who, t->message.data, t->message.len);
}

static void end_something(struct talk *t, uint8_t n)
{
    struct peer *peer = &t->peers[n & 1];

    if (peer->closed)
        return;
    if (n & 2) {
        close(peer->fd);
        peer->closed = true;
    } else if (!peer->shut) {
        shutdown(peer->fd, SHUT_WR);
        peer->shut = true;
    }
}

static void change_rules(struct talk *t, uint8_t n)
{
    static const char *const rules[] = {
        "NFS.*:every=2:delay=30us",
        "NFS.*:p=0.3:delay=100us",
        "READ:delay=1us",
        "MKDIR:close",
    };
    enum { RULES = sizeof(rules) / sizeof(*rules) };

    if (n % (RULES + 2) < RULES)
        faults_add(t->faults, rules[n % (RULES + 2)], NULL, &(struct err){ 0 });
    else if (n % (RULES + 2) == RULES)
        faults_clear(t->faults);
}

static void steps(struct talk *t, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at + 2 <= size; at += 2) {
        uint8_t n = data[at + 1];
        size_t left = size - at - 2, len = n < left ? n : left;
        int who = data[at] & 1;
        bool looks = !(data[at] & 0x80);

        switch (data[at] >> 1 & 3) {
        case 0:
            send_some(t, who, data + at + 2, len);
            at += len;
            break;
        case 1:
            send_message(t, who, n);
            break;
        case 2:
            read_some_of(t, who, (size_t)n * STEP + 1);
            break;
        default:
            if (who)
                end_something(t, n);
            else
                change_rules(t, n);
        }
        if (looks)
            run(t);
    }
}

/* --- the whole */

static void begin_peer(struct talk *t, int who, int *relays)
{
    int fds[2], size = BUFFER;

    check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
    for (int i = 0; i < 2; i++)
        setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    t->peers[who] = (struct peer){ .fd = fds[0] };
    *relays = fds[1];
}

static void begin_talk(struct talk *t, struct lane *lane)
{
    const struct net_address nobody = { .family = AF_UNIX };
    struct pair *pair;
    int fd;

    begin_peer(t, CLIENT, &fd);
    pair = new_pair(lane, fd, &nobody);
    check(pair);
    begin_peer(t, SERVER, &pair->server.fd);
    check(begin_pair(pair, NULL) == 0);
}

/* The ring has bytes of both directions in order, and the ends of a connection that had ends. */
static void read_ring(struct talk *t)
{
    uint16_t last = 0;
    struct ring_got got;
    struct err err;

    while (ring_read(t->reader, &got, &err) == 1) {
        struct peer *from = &t->peers[got.entry.kind == RELAY_TO_SERVER ? CLIENT : SERVER];

        check(!got.lost && last != RELAY_CLOSED && (last != 0) == (got.entry.kind != RELAY_OPEN));
        last = got.entry.kind;
        if (last != RELAY_TO_SERVER && last != RELAY_TO_CLIENT)
            continue;
        check(got.entry.offset == from->copied.len);
        check(buf_append(&from->copied, got.payload.data, got.payload.len) == 0);
    }
    check(last == 0 || last == RELAY_CLOSED);
    for (int i = 0; i < 2; i++) {
        const struct peer *peer = &t->peers[i];

        check(t->peers[!i].got <= peer->copied.len && peer->copied.len <= peer->sent.len);
        check(!peer->copied.len ||
              memcmp(peer->copied.data, peer->sent.data, peer->copied.len) == 0);
    }
}

/* On a connection that nobody broke or ended, everything arrives without one's ending it. */
static void read_all_sent(struct talk *t)
{
    const struct peer *c = &t->peers[CLIENT], *s = &t->peers[SERVER];
    uint32_t rounds = 0;

    if (c->shut || c->closed || s->shut || s->closed)
        return;
    while (t->relay->open && (c->got < s->sent.len || s->got < c->sent.len)) {
        check(rounds++ < ROUNDS);
        run(t);
        read_some_of(t, CLIENT, SIZE_MAX);
        read_some_of(t, SERVER, SIZE_MAX);
    }
}

/* Reads what is still under way.  If nobody broke the connection, everything arrives. */
static void end_talk(struct talk *t)
{
    bool broken = t->peers[CLIENT].closed || t->peers[SERVER].closed;
    uint32_t rounds = 0;

    read_all_sent(t);
    end_something(t, CLIENT);
    end_something(t, SERVER);
    while (t->relay->open) {
        check(rounds++ < ROUNDS);
        run(t);
        read_some_of(t, CLIENT, SIZE_MAX);
        read_some_of(t, SERVER, SIZE_MAX);
    }
    for (int i = 0; i < 2; i++)
        while (!t->peers[i].closed && !t->peers[i].ended)
            read_some_of(t, i, SIZE_MAX);
    if (broken || t->relay->counts.reset_by_rule)
        return;
    for (int i = 0; i < 2; i++)
        check(t->peers[!i].got == t->peers[i].sent.len);
    check(t->relay->counts.ended == 1 && !t->relay->counts.to_server.lost);
    check(t->relay->counts.to_server.bytes == t->peers[CLIENT].sent.len);
    check(t->relay->counts.to_client.bytes == t->peers[SERVER].sent.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ring *ring;
    struct err err = { 0 };
    struct talk t = { .loop = loop_new(&err), .faults = faults_new(1, &err) };
    struct lane lane = { .relay = NULL };
    struct relay_setup setup = { .faults = t.faults };

    if (!ring)
        ring = ring_new(RING_BLOCKS_MIN * RING_BLOCK, &err);
    check(ring && t.loop && t.faults);
    setup.ring = ring;
    faults_limit(t.faults, "a relay", RELAY_EFFECTS);
    t.reader = ring_reader_new(ring_fd(ring), &err);
    t.relay = lane.relay = relay_new(t.loop, &setup, &err);
    check(t.relay && t.reader);
    begin_talk(&t, &lane);
    steps(&t, data, size);
    end_talk(&t);
    read_ring(&t);
    relay_free(t.relay);
    ring_reader_free(t.reader);
    faults_free(t.faults);
    for (int i = 0; i < 2; i++) {
        if (!t.peers[i].closed)
            close(t.peers[i].fd);
        buf_free(&t.peers[i].sent);
        buf_free(&t.peers[i].copied);
    }
    buf_free(&t.message);
    loop_free(t.loop);
    return 0;
}
