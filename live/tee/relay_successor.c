/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/relay_successor.c
 *
 * What a relay gives to its successor (relay/hand_over.h), and takes back if that does not serve.
 */
#include "tee/relay_program.h"

#include <stdio.h>

enum {
    LOOK = 50000000,    /* ns: if connections are left */
    AGAIN = 1000000000, /* ns: if what a successor still has is free */
};

/* --- given */

static int on_drain(void *ctx, struct err *err)
{
    struct relay_program *p = ctx;
    int64_t now = loop_now(p->told.loop);

    if (now < p->drained && relay_connections(p->told.relay))
        return loop_set(p->told.loop, &p->drain, now + LOOK, err);
    loop_stop(p->told.loop);
    return 0;
}

static int given(void *ctx, struct err *err)
{
    struct relay_program *p = ctx;

    relay_stop_listening(p->told.relay);
    p->drained = loop_now(p->told.loop) + p->options.drain;
    return loop_set(p->told.loop, &p->drain, loop_now(p->told.loop), err);
}

/* Ends what only one process can have.  The listening sockets stay. */
static int release(void *ctx, int *sockets, uint32_t *count, struct err *err)
{
    struct relay_program *p = ctx;

    loop_unset(p->told.loop, &p->again);
    relay_stop_datagrams(p->told.relay);
    if (p->told.door)
        ring_door_shut(p->told.door);
    control_free(p->control);
    metrics_free(p->metrics);
    portmap_answers_free(p->portmap);
    p->control = NULL;
    p->metrics = NULL;
    p->portmap = NULL;
    *count = relay_sockets(p->told.relay, sockets);
    if (relay_pause(p->told.relay, err) < 0)
        return -err->code;
    ports_close(p->told.ports);
    p->told.ports = NULL;
    return 0;
}

/* --- taken back */

/* Without the file, which a successor that hangs may have, a table in memory does. */
static int take_ports(struct relay_program *p, struct err *err)
{
    struct ports *ports, *before = p->told.ports;

    if (before && !p->ports_lent)
        return relay_go_on(p->told.relay, before, err);
    ports = ports_open(p->options.ports, err);
    p->ports_lent = !ports;
    if (!ports && !before)
        ports = ports_open(NULL, NULL);
    if (ports) {
        p->told.ports = ports;
        if (relay_go_on(p->told.relay, ports, err) < 0)
            return -err->code;
        ports_close(before);
    }
    return p->ports_lent ? err_prefix(err, "--ports") : 0;
}

static int take_datagrams(struct relay_program *p, struct err *err)
{
    return relay_resume_datagrams(p->told.relay, err);
}

static int take_door(struct relay_program *p, struct err *err)
{
    return p->told.door && ring_door_open(p->told.door, err) < 0 ? err_prefix(err, "--attach") : 0;
}

static int take_place(struct relay_program *p, struct err *err)
{
    return hand_over_listen(p->hand_over, err) < 0 ? err_prefix(err, "--upgrade") : 0;
}

/* All of it as far as that is free; the rest is tried again. */
static int take_back(void *ctx, struct err *err)
{
    static int (*const parts[])(struct relay_program *, struct err *) = {
        take_ports,
        take_datagrams,
        take_door,
        relay_program_control,
        relay_program_metrics,
        relay_program_portmap,
        take_place,
    };
    struct relay_program *p = ctx;
    bool failed = false;

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        struct err why = { 0 };

        if (parts[i](p, &why) == 0)
            continue;
        failed = true;
        if (!p->complained)
            fprintf(stderr, "nfstee: %s; it is tried again each second\n", why.text);
        if (!p->told.ports) /* no memory; the others tell of it */
            break;
    }
    if (!failed && p->complained)
        fprintf(stderr, "nfstee: all is taken back\n");
    p->complained = failed;
    return failed ? loop_set(p->told.loop, &p->again, loop_clock() + AGAIN, err) : 0;
}

static int kept(void *ctx, const char *why, struct err *err)
{
    struct relay_program *p = ctx;

    fprintf(stderr, "nfstee: the successor did not take over: %s; this relay goes on\n", why);
    return take_back(p, err);
}

/* --- owners */

int relay_successor_await(struct relay_program *p, struct err *err)
{
    const struct hand_over_host host = { release, given, kept, p };

    p->drain = (struct timer){ .due = on_drain, .ctx = p };
    p->again = (struct timer){ .due = take_back, .ctx = p };
    p->hand_over = hand_over_new(p->told.loop, p->options.upgrade, &host, err);
    return p->hand_over ? 0 : -err->code;
}

void relay_successor_end(struct relay_program *p)
{
    hand_over_free(p->hand_over);
    if (!p->told.loop)
        return;
    loop_unset(p->told.loop, &p->drain);
    loop_unset(p->told.loop, &p->again);
}
