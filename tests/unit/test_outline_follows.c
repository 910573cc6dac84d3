/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_outline_follows.c
 *
 * Outlines made by hand: each single thing that a second engine cannot have known makes
 * outline_follows tell that, and what nobody needed does not; what the first engine alone knows is
 * carried over several borders.  test_outline.c has real captures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/outline.h"

#include <stdlib.h>
#include <string.h>

enum { TCP = 6, UDP = 17, FLOWS = 4, CALLS = 4, DEPTH = 10000 };

/* One border with everything in it. */
struct scene {
    struct outline_flow before_flows[FLOWS], after_flows[FLOWS], end_flows[FLOWS];
    struct outline_call before_calls[CALLS], after_calls[CALLS];
    struct outline before, after, end, rest;
    struct past past;
    struct outline_border border;
    struct outline_fit fit;
};

static struct address host(uint8_t number)
{
    struct address a = { .version = 4 };

    a.bytes[0] = 10;
    a.bytes[3] = number;
    return a;
}

static struct outline_flow flow(uint16_t port, uint8_t transport)
{
    struct outline_flow f = { .digest = port, .birth = -500, .plain = 1, .server = 1, .sure = 1 };

    f.key.address[0][3] = 1;
    f.key.address[1][3] = 2;
    f.key.port[0] = port;
    f.key.port[1] = 2049;
    f.key.transport = transport;
    f.key.version = 4;
    for (int side = 0; transport == TCP && side < 2; side++)
        f.stream[side] = (struct outline_stream){
            .digest = port + side, .next = 5000, .origin = 1000, .started = 1, .quiet = 1
        };
    return f;
}

static struct outline_call call(uint32_t xid, int64_t frame)
{
    struct outline_call c = { .client = host(1),
                              .server = host(2),
                              .xid = xid,
                              .bytes = 100,
                              .frame = frame,
                              .operation = xid + 1000,
                              .digest = xid };
    c.flow = flow(800, TCP).key;
    return c;
}

/* Both engines know a connection, 800, and one over UDP, 801, and a waiting call.  Only the first
 * knows connection 802, which stands still, and a waiting call of it. */
static struct scene *scene(void)
{
    struct scene *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    s->before_flows[0] = s->after_flows[0] = s->end_flows[0] = flow(800, TCP);
    s->before_flows[1] = s->after_flows[1] = s->end_flows[1] = flow(801, UDP);
    s->before_flows[2] = flow(802, TCP);
    s->before_flows[2].memory = 70;
    s->before_calls[0] = s->after_calls[0] = call(7, -10);
    s->before_calls[1] = call(8, -900);
    s->before_calls[1].flow = flow(802, TCP).key;
    s->before.flows = s->before_flows;
    s->after.flows = s->after_flows;
    s->end.flows = s->end_flows;
    s->before.flow_count = 3;
    s->after.flow_count = s->end.flow_count = 2;
    s->before.connections = 5; /* also some without RPC */
    s->after.connections = 2;
    s->before.calls = s->before_calls;
    s->after.calls = s->after_calls;
    s->before.call_count = 2;
    s->after.call_count = 1;
    s->before.from = OUTLINE_UNKNOWN;
    s->after.from = -600;
    s->border = (struct outline_border){ .before = &s->before,
                                         .depth = DEPTH,
                                         .after = &s->after,
                                         .end = &s->end,
                                         .past = &s->past,
                                         .limits = { .connections = 100,
                                                     .waiting = 100,
                                                     .waiting_bytes = 100000,
                                                     .framing = 100000,
                                                     .held = 100 } };
    return s;
}

/* |why|: what is told; "": nothing. */
static void ask(struct scene *s, const char *why)
{
    struct err err = { 0 };

    outline_free(&s->rest);
    assert_int_equal(outline_follows(&s->border, &s->fit, &s->rest, &err), 0);
    if (s->fit.same ? why[0] : !why[0] || !strstr(s->fit.why, why))
        fail_msg("\"%s\" was told, not \"%s\"", s->fit.same ? "" : s->fit.why, why);
}

static void end(struct scene *s)
{
    outline_free(&s->rest);
    xids_free(&s->before.used);
    xids_free(&s->past.asked);
    free(s);
}

#define DIFFERS(why, change)                                                                       \
    do {                                                                                           \
        struct scene *s = scene();                                                                 \
        ask(s, "");                                                                                \
        change;                                                                                    \
        ask(s, why);                                                                               \
        end(s);                                                                                    \
    } while (0)

/* The third connection was seen by the second engine behind the border. */
static struct outline_flow *seen_behind(struct scene *s)
{
    struct outline_flow *f = &s->end_flows[s->end.flow_count++];

    *f = flow(802, TCP);
    f->sure = 0;
    for (int side = 0; side < 2; side++) {
        f->stream[side].assumed = 1;
        f->stream[side].origin = 5000; /* where the first engine expected it */
    }
    return f;
}

/* A connection that the first engine does not know. */
static struct outline_flow *unknown(struct scene *s)
{
    s->end_flows[s->end.flow_count] = flow(803, TCP);
    return &s->end_flows[s->end.flow_count++];
}

static void xid_used(struct scene *s, struct xids *set, uint32_t xid)
{
    const struct address client = host(1), server = host(2);

    (void)s;
    assert_int_equal(xids_add(set, &client, &server, xid), 0);
}

static void carried(void **state)
{
    struct scene *s = scene();

    (void)state;
    ask(s, "");
    assert_int_equal(s->fit.carried, 2);
    assert_int_equal(s->fit.adopted, 0);
    assert_int_equal(s->rest.flow_count, 1);
    assert_int_equal(s->rest.flows[0].key.port[0], 802);
    assert_true(s->rest.flows[0].birth == OUTLINE_UNKNOWN);
    assert_int_equal(s->rest.connections, 3);
    assert_int_equal(s->rest.call_count, 1);
    assert_int_equal(s->rest.calls[0].xid, 8);
    assert_int_equal(s->rest.calls[0].borders, 1);
    assert_int_equal(s->rest.call_bytes, 100);
    end(s);
}

static void whole_engine(void **state)
{
    (void)state;
    DIFFERS("clocks differ", s->after.moment++);
    DIFFERS("IP fragments", s->after.fragments++);
    DIFFERS("checksums of fragments", s->end.surprises++);
    DIFFERS("a reply waited", s->before.held = 1);
    DIFFERS("before the first message", s->past.flow_asked = 1);
    DIFFERS("which of two connections is older", s->past.order_asked = 1);
}

static void ports(void **state)
{
    struct scene *s = scene();

    (void)state;
    s->before.ports[9] = 4;
    ask(s, "");
    assert_int_equal(s->rest.ports[9], 4); /* a later piece may ask */
    end(s);
    DIFFERS("ports 72 to 79", (s->before.ports[9] = 4, s->past.ports_asked[9] = 4));
    DIFFERS("", (s->before.ports[9] = 4, s->past.ports_asked[9] = 8));
    DIFFERS("ports 72 to 79", s->after.ports[9] = 4);
}

static void connections(void **state)
{
    (void)state;
    DIFFERS("which end is the server", s->end_flows[0].server = 0);
    DIFFERS("which end is the server", s->end_flows[1].server = 0);
    DIFFERS("ended or began again", s->after_flows[0].digest++);
    DIFFERS("ended or began again", s->after_flows[0].server = 0);
    DIFFERS("older than the lead-in shows", s->after_flows[0].birth--);
    DIFFERS("", (s->after_flows[0].birth--, s->after_flows[0].sure = 0));
    DIFFERS("a SYN, FIN or RST", s->end_flows[0].asked = 1);
    DIFFERS("connections were forgotten", s->end.flow_count = 1);
    DIFFERS("the lead-in alone knows a connection",
            (s->after_flows[s->after.flow_count++] = *unknown(s)));
    DIFFERS("", unknown(s));
    DIFFERS("joined in its middle", unknown(s)->asked = 1);
    for (int side = 0; side < 2; side++) {
        DIFFERS("joined in its middle", unknown(s)->stream[side].asked = 1);
        DIFFERS("joined in its middle", unknown(s)->stream[side].assumed = 1);
        DIFFERS("", (unknown(s)->stream[side].assumed = 1, s->border.open = true));
    }
}

static void streams(void **state)
{
    (void)state;
    for (int side = 0; side < 2; side++) {
        DIFFERS("differs at the border", s->after_flows[0].stream[side].digest++);
        DIFFERS("came again", s->end_flows[0].stream[side].asked = 1);
        DIFFERS("went on inside a message", seen_behind(s)->stream[side].origin++);
        DIFFERS("went on inside a message",
                (seen_behind(s), s->before_flows[2].stream[side].quiet = 0));
        DIFFERS("a connection began again", seen_behind(s)->stream[side].assumed = 0);
    }
    DIFFERS("", (seen_behind(s), s->border.open = true));
    DIFFERS("went on inside a message",
            (seen_behind(s)->stream[0].origin++, s->border.open = true));
    DIFFERS("", (seen_behind(s)->stream[0].origin++, s->border.open = true,
                 s->before_flows[2].stream[0].started = 0));
    DIFFERS("ended or began again", seen_behind(s)->sure = 1);
    DIFFERS("ended or began again", (seen_behind(s), s->before_flows[2].plain = 0));
}

static void adopted(void **state)
{
    struct scene *s = scene();

    (void)state;
    seen_behind(s);
    ask(s, "");
    assert_int_equal(s->fit.adopted, 2);
    assert_int_equal(s->rest.flow_count, 0);
    /* one direction still stands: the next border needs it */
    s->end_flows[2].stream[1] = (struct outline_stream){ 0 };
    ask(s, "");
    assert_int_equal(s->fit.adopted, 1);
    assert_int_equal(s->rest.flow_count, 1);
    end(s);
    /* so does the side of the server; its call can only be answered elsewhere */
    s = scene();
    *seen_behind(s) = (struct outline_flow){ .key = flow(802, TCP).key, .server = 2, .over = 1 };
    ask(s, "");
    assert_int_equal(s->rest.flow_count, 1);
    assert_int_equal(s->rest.flows[0].server, 1);
    assert_int_equal(s->rest.calls[0].over, 1);
    s->before_flows[2].stream[0].started = s->before_flows[2].stream[1].started = 0;
    ask(s, "");
    assert_int_equal(s->rest.flow_count, 1);
    end(s);
}

static void calls(void **state)
{
    (void)state;
    DIFFERS("a call that waits for its reply differs: XID 0x00000007", s->after_calls[0].digest++);
    DIFFERS("the lead-in alone knows a call",
            (s->after_calls[s->after.call_count++] = call(9, -3)));
    DIFFERS("came late: XID 0x00000008", xid_used(s, &s->past.asked, 8));
    DIFFERS("", xid_used(s, &s->past.asked, 9));
    DIFFERS("used XIDs again", (xid_used(s, &s->before.used, 12), xid_used(s, &s->past.asked, 12)));
    DIFFERS("calls answered before the border", s->before.done[1]++);
    DIFFERS("", s->before.done[3]++); /* frames that the lead-in does not have */
    DIFFERS("lead-in is longer than the piece", s->border.depth = 599);
    DIFFERS("", s->border.depth = 600);
}

static void limits(void **state)
{
    static const char why[] = "a limit was reached";

    (void)state;
    /* what the first engine alone knows counts */
    DIFFERS("", s->past.connections = 96);
    DIFFERS(why, s->past.connections = 97);
    DIFFERS("", s->past.waiting = 98);
    DIFFERS(why, s->past.waiting = 99);
    DIFFERS("", s->past.waiting_bytes = 100000 - 101);
    DIFFERS(why, s->past.waiting_bytes = 100000 - 100);
    DIFFERS("", s->past.framing = 100000 - 71);
    DIFFERS(why, s->past.framing = 100000 - 70);
    DIFFERS(why, s->past.queued = 50000);
    DIFFERS(why, s->past.held = 50);
}

/* What the first of three pieces alone knows, behind the second one too. */
static void three_pieces(void **state)
{
    struct scene *s = scene();
    struct outline known = { 0 }, copy = { 0 };
    struct err err = { 0 };

    (void)state;
    s->before.ports[9] = 4;
    xid_used(s, &s->before.used, 12);
    ask(s, "");
    s->end.connections = 2;
    s->end.calls = s->after_calls;
    s->end.call_count = 1;
    s->end.call_bytes = 100;
    s->end.ports[9] = 1;
    assert_int_equal(outline_copy(&known, &s->end, &err), 0);
    assert_int_equal(outline_add(&known, &s->rest, &err), 0);
    assert_int_equal(known.flow_count, 3);
    assert_int_equal(known.connections, 5);
    assert_int_equal(known.call_count, 2);
    assert_int_equal(known.call_bytes, 200);
    assert_int_equal(known.ports[9], 5);
    assert_int_equal(known.used.count, 1);
    assert_int_equal(outline_copy(&copy, &known, &err), 0);
    assert_int_equal(copy.connections, 5);
    assert_int_equal(copy.call_bytes, 200);
    assert_int_equal(copy.ports[9], 5);
    assert_memory_equal(copy.flows, known.flows, 3 * sizeof(*copy.flows));
    outline_free(&known);
    outline_free(&copy);
    /* of a connection whose second direction and server the second piece does not know */
    *seen_behind(s) = flow(802, TCP);
    s->end_flows[2].server = 2;
    s->end_flows[2].stream[0].next = 6000;
    s->end_flows[2].stream[1] = (struct outline_stream){ 0 };
    assert_int_equal(outline_copy(&known, &s->end, &err), 0);
    assert_int_equal(outline_add(&known, &s->rest, &err), 0);
    assert_int_equal(known.flow_count, 3);
    assert_int_equal(known.flows[2].server, 1);
    assert_int_equal(known.flows[2].stream[0].next, 6000);
    assert_int_equal(known.flows[2].stream[1].next, 5000);
    outline_free(&known);
    end(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(carried),      cmocka_unit_test(whole_engine),
        cmocka_unit_test(ports),        cmocka_unit_test(connections),
        cmocka_unit_test(streams),      cmocka_unit_test(adopted),
        cmocka_unit_test(calls),        cmocka_unit_test(limits),
        cmocka_unit_test(three_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
