/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stream_plan.h"
#include "stream_known.h"

#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENTS_MAX = 6000,
    LOST_MAX = 4,
    BLOCK_MAX = 12, /* frames that may change places */
    HEADERS = 14 + 20 + 20,
    SEGMENT_MAX = 60000,
    FIN = 1,
    SYN = 2,
    RST = 4,
    ACK = 16,
};

struct event {
    int side;
    uint32_t start, len; /* bytes of the side's stream */
    uint32_t ack;        /* of the other side's stream */
};

struct range {
    uint32_t start, len;
};

struct plan {
    struct chooser *choose;
    bool may_lose;
    struct known known;
    struct event events[EVENTS_MAX];
    uint32_t event_count;
    uint32_t sent[2];
    struct range lost[2][LOST_MAX]; /* on the path, to be sent again; oldest first */
    uint32_t lost_count[2];
    uint32_t isn[2];
    struct engine *engine;
    uint64_t frame;
    int64_t time;
    uint8_t packet[HEADERS + SEGMENT_MAX];
};

uint32_t choose(struct chooser *c, uint32_t below)
{
    uint32_t value = 0;

    if (below < 2)
        return 0;
    if (c->len) { /* as many bytes as it takes */
        for (uint32_t most = below - 1; most && c->len; most >>= 8) {
            value = value << 8 | *c->data++;
            c->len--;
        }
        return value % below;
    }
    c->random ^= c->random << 13;
    c->random ^= c->random >> 7;
    c->random ^= c->random << 17;
    return (uint32_t)(c->random >> 32) % below;
}

/* How far the other side has received |side|'s stream without a hole. */
static uint32_t received(const struct plan *p, int side)
{
    return p->lost_count[side] ? p->lost[side][0].start : p->sent[side];
}

static void add(struct plan *p, int side, uint32_t start, uint32_t len)
{
    if (p->event_count < EVENTS_MAX)
        p->events[p->event_count++] = (struct event){ side, start, len, received(p, !side) };
}

static uint32_t choose_len(struct plan *p)
{
    if (p->event_count > EVENTS_MAX / 2)
        return SEGMENT_MAX;
    switch (choose(p->choose, 6)) {
    case 0:
        return 1 + choose(p->choose, 8);
    case 1:
        return 1 + choose(p->choose, 200);
    case 2:
        return 1 + choose(p->choose, 9000);
    default:
        return 1448;
    }
}

static void send_lost(struct plan *p, int side)
{
    struct range first = p->lost[side][0];

    memmove(p->lost[side], p->lost[side] + 1, --p->lost_count[side] * sizeof(struct range));
    add(p, side, first.start, first.len);
}

static void step(struct plan *p, int side)
{
    uint32_t left = p->known.len[side] - p->sent[side], len = choose_len(p), what, start;

    len = len < left ? len : left;
    what = choose(p->choose, 24);
    if (what == 0 && p->sent[side]) { /* again, cut otherwise */
        start = choose(p->choose, p->sent[side]);
        len = choose_len(p);
        add(p, side, start, len < p->sent[side] - start ? len : p->sent[side] - start);
    } else if (what == 1 && len && p->lost_count[side] < LOST_MAX) {
        p->lost[side][p->lost_count[side]++] = (struct range){ p->sent[side], len };
        p->sent[side] += len;
    } else if (what == 2 && p->may_lose) {
        p->sent[side] += len;
    } else if (what == 3) {
        add(p, side, received(p, side), 0);
    } else if ((what < 7 || !len) && p->lost_count[side]) {
        send_lost(p, side);
    } else if (len) {
        add(p, side, p->sent[side], len);
        p->sent[side] += len;
    }
}

static void plan_events(struct plan *p)
{
    uint32_t at = 0;

    while (p->sent[0] < p->known.len[0] || p->sent[1] < p->known.len[1] || p->lost_count[0] ||
           p->lost_count[1]) {
        int side = (int)choose(p->choose, 2);
        if (p->sent[side] == p->known.len[side] && !p->lost_count[side])
            side = !side;
        if (p->event_count > EVENTS_MAX - 200 && p->lost_count[side])
            send_lost(p, side);
        else
            step(p, side);
    }
    while (at < p->event_count) { /* out of order, but not by far */
        uint32_t block = 1 + choose(p->choose, BLOCK_MAX);
        if (block > p->event_count - at)
            block = p->event_count - at;
        for (uint32_t i = block; choose(p->choose, 2) && i > 1; i--) {
            uint32_t with = at + choose(p->choose, i);
            struct event other = p->events[with];
            p->events[with] = p->events[at + i - 1];
            p->events[at + i - 1] = other;
        }
        at += block;
    }
}

static int frame(struct plan *p, int side, uint32_t seq, uint32_t ack, unsigned flags,
                 const uint8_t *data, uint32_t len, struct err *err)
{
    static const uint8_t start[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45 };
    static const uint8_t address[2][4] = { { 10, 0, 0, 1 }, { 10, 0, 0, 9 } };
    static const uint16_t port[2] = { 900, 2049 };
    uint8_t *ip = p->packet + 14, *tcp = ip + 20;
    struct frame f = { .number = ++p->frame,
                       .time = p->time += 10000,
                       .data = p->packet,
                       .cap_len = HEADERS + len,
                       .wire_len = HEADERS + len,
                       .link_type = 1 };

    memset(p->packet, 0, HEADERS);
    memcpy(p->packet, start, sizeof(start));
    store_be16(ip + 2, (uint16_t)(40 + len));
    ip[8] = 64;
    ip[9] = 6;
    memcpy(ip + 12, address[side], 4);
    memcpy(ip + 16, address[!side], 4);
    store_be16(tcp, port[side]);
    store_be16(tcp + 2, port[!side]);
    store_be32(tcp + 4, seq);
    store_be32(tcp + 8, ack);
    tcp[12] = 5 << 4;
    tcp[13] = (uint8_t)flags;
    store_be16(tcp + 14, 0xffff);
    memcpy(tcp + 20, data, len);
    return engine_frame(p->engine, &f, err);
}

static int run_events(struct plan *p, struct err *err)
{
    static const uint8_t none[1];
    uint32_t end = choose(p->choose, 3);
    int rc = frame(p, 0, p->isn[0] - 1, 0, SYN, none, 0, err);

    if (rc == 0)
        rc = frame(p, 1, p->isn[1] - 1, p->isn[0], SYN | ACK, none, 0, err);
    for (uint32_t i = 0; rc == 0 && i < p->event_count; i++) {
        const struct event *e = &p->events[i];
        known_arrived(&p->known, e->side, e->start, e->len, p->frame + 1);
        rc = frame(p, e->side, p->isn[e->side] + e->start, p->isn[!e->side] + e->ack, ACK,
                   p->known.data[e->side] + e->start, e->len, err);
    }
    for (int side = 0; rc == 0 && side < (int)end; side++)
        rc = frame(p, side, p->isn[side] + p->known.len[side], p->isn[!side] + p->known.len[!side],
                   ACK | (end == 1 ? RST : FIN), none, 0, err);
    return rc < 0 ? rc : engine_end(p->engine, false, err);
}

int stream_plan_run(struct chooser *c, bool may_lose, char *why, size_t why_size)
{
    struct plan *p = calloc(1, sizeof(*p));
    struct err err = { 0 };
    int rc = -1;

    if (!p || known_make(&p->known, c, !may_lose) < 0) {
        snprintf(why, why_size, "out of memory");
        free(p);
        return -1;
    }
    p->choose = c;
    p->may_lose = may_lose;
    p->time = INT64_C(1700000000) * 1000000000;
    for (int side = 0; side < 2; side++) /* half of them wrap within the stream */
        p->isn[side] = choose(c, 2) ? -choose(c, p->known.len[side] + 1) : choose(c, UINT32_MAX);
    plan_events(p);
    p->engine = engine_new(&(struct engine_options){ 0 }, &(struct sink){ known_put, &p->known },
                           NULL, &err);
    if (p->engine && run_events(p, &err) == 0)
        rc = known_check(&p->known, why, why_size);
    else
        snprintf(why, why_size, "%s", err.text);
    engine_free(p->engine);
    known_free(&p->known);
    free(p);
    return rc;
}
