/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/relay/relay_gather.c
 *
 * Many small calls at once: in a round of the loop with several of them, all are read before any is
 * sent.  So the server and the clients are woken up once for many.  Replies are sent first, because
 * their calls are older.  A read that comes alone does not get here.  Contract: relay_parts.h.
 */
#include "relay/relay_parts.h"

static struct bytes bytes_of(const struct gathered *g)
{
    return (struct bytes){ g->data, g->len };
}

static void send_all(struct gathered *all, uint32_t count, uint16_t kind)
{
    for (uint32_t i = 0; i < count; i++)
        if (all[i].pass->kind == kind)
            all[i].result = relay_send(all[i].pass, bytes_of(&all[i]), all[i].len);
}

static void copy(const struct gathered *g)
{
    relay_sent(g->pass->from->pair, g->pass, bytes_of(g), g->time);
}

/* Sees to the pair of |all|[0], whose bytes were not all taken, and takes its other direction off
 * the list: the pair may be gone then. */
static void settle(struct gathered *all, uint32_t count)
{
    struct pass *pass = all[0].pass;
    struct pair *pair = pass->from->pair;
    int result = all[0].result;

    for (uint32_t i = 1; i < count; i++) {
        if (!all[i].pass || all[i].pass->from->pair != pair)
            continue;
        if (result == RELAY_GOES_ON) {
            result = all[i].result;
            pass = all[i].pass;
        }
        all[i].pass = NULL;
    }
    relay_settle(pass, result);
}

static int on_round_end(void *ctx, struct err *err)
{
    struct relay *relay = ctx;
    struct gathered *all = relay->gathered;
    uint32_t count = relay->gathered_count;

    (void)err;
    send_all(all, count, RELAY_TO_CLIENT);
    send_all(all, count, RELAY_TO_SERVER);
    relay->gathered_count = relay->gathered_len = 0;
    for (uint32_t i = 0; i < count; i++)
        copy(&all[i]);
    for (uint32_t i = 0; i < count; i++)
        if (all[i].pass && (all[i].result != RELAY_GOES_ON || all[i].pass->held))
            settle(all + i, count - i);
    return 0;
}

bool relay_gather(struct pass *pass, struct bytes bytes, int64_t time)
{
    struct relay *relay = pass->from->pair->relay;

    if (bytes.len > GATHER_LONG || relay->gathered_count == GATHER_MOST ||
        relay->gathered_len + bytes.len > GATHER_MOST * GATHER_LONG ||
        (!relay->gathered_count && !loop_has_more(relay->loop)))
        return false;
    if (!relay->gathered_count) {
        relay->round_end.run = on_round_end;
        relay->round_end.ctx = relay;
        loop_idle(relay->loop, &relay->round_end);
    }
    relay->gathered[relay->gathered_count++] =
        (struct gathered){ pass, bytes.data, bytes.len, RELAY_GOES_ON, time };
    relay->gathered_len += bytes.len;
    return true;
}

void relay_gather_end(struct pair *pair)
{
    struct relay *relay = pair->relay;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < relay->gathered_count; i++) {
        struct gathered *g = &relay->gathered[i];

        if (g->pass->from->pair == pair) {
            relay_send(g->pass, bytes_of(g), g->len);
            copy(g);
        } else {
            relay->gathered[kept++] = *g;
        }
    }
    relay->gathered_count = kept;
}
