/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_outline.c
 *
 * An engine that begins in the middle of a capture, against one that began at its beginning: if
 * outline_follows says that the records behind the border are those of one run, they must be.
 * Real captures, cut anywhere, with lead-ins of any length; and connections that stand still over
 * the border.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/grow.h"
#include "capture/capture.h"
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_MAX = 65536 };

/* What the wire says in a record, without ids. */
struct wire {
    uint64_t digest;
    uint64_t call_frame;  /* of an operation without a reply; else 0 */
    uint64_t reply_frame; /* of one without a call; else 0 */
};

struct kept {
    struct wire *wires;
    uint32_t count, cap;
    struct record_flow *flows; /* by id - 1 */
    uint32_t flow_count, flow_cap;
    bool on;
};

static void add(struct buf *b, const void *data, size_t len)
{
    assert_int_equal(buf_append(b, data, len), 0);
}

#define ADD(value) add(b, &(value), sizeof(value))

static void add_flow(struct buf *b, const struct kept *k, uint32_t id)
{
    static const struct record_flow none;
    const struct record_flow *f = id ? &k->flows[id - 1] : &none;

    assert_true(id <= k->flow_count);
    ADD(f->client);
    ADD(f->server);
    ADD(f->client_port);
    ADD(f->server_port);
    ADD(f->transport);
}

static void add_sighting(struct buf *b, const struct sighting *s)
{
    ADD(s->frame);
    ADD(s->first_frame);
    ADD(s->time);
    ADD(s->wire_len);
    ADD(s->flags);
}

static void add_operation(struct buf *b, const struct kept *k, const struct record_operation *op)
{
    add_flow(b, k, op->flow);
    ADD(op->xid);
    ADD(op->program);
    ADD(op->version);
    ADD(op->procedure);
    ADD(op->pairing);
    add_sighting(b, &op->call);
    add_sighting(b, &op->reply);
    ADD(op->rpc_status);
    ADD(op->status);
    ADD(op->offset);
    ADD(op->count);
    ADD(op->arguments_wire);
    ADD(op->result_wire);
    ADD(op->data_length);
    ADD(op->data_digest);
    add(b, op->arguments.data, op->arguments.len);
    add(b, op->result.data, op->result.len);
}

static int put(void *ctx, const struct record *r, struct err *err)
{
    struct kept *k = ctx;
    struct buf buffer = { 0 }, *b = &buffer;
    struct wire w = { 0 };

    (void)err;
    if (r->kind == RECORD_FLOW) {
        assert_int_equal(GROW(k->flows, k->flow_count, k->flow_cap), 0);
        k->flows[k->flow_count++] = r->flow;
    }
    if (!k->on)
        return 0;
    ADD(r->kind);
    switch (r->kind) {
    case RECORD_OPERATION:
        add_operation(b, k, &r->operation);
        w.call_frame = r->operation.pairing == REPLY_LOST || r->operation.pairing == CAPTURE_ENDED
                           ? r->operation.call.frame
                           : 0;
        w.reply_frame = r->operation.pairing == CALL_LOST ? r->operation.reply.frame : 0;
        break;
    case RECORD_REPEAT:
        add_flow(b, k, r->repeat.flow);
        ADD(r->repeat.repeat);
        ADD(r->repeat.differs);
        add_sighting(b, &r->repeat.sighting);
        break;
    case RECORD_PROBLEM:
        add_flow(b, k, r->problem.flow);
        ADD(r->problem.problem);
        ADD(r->problem.frame);
        ADD(r->problem.time);
        ADD(r->problem.direction);
        ADD(r->problem.xid);
        ADD(r->problem.length);
        break;
    default:
        buf_free(b);
        return 0;
    }
    w.digest = XXH3_64bits(b->data, b->len);
    buf_free(b);
    assert_int_equal(GROW(k->wires, k->count, k->cap), 0);
    k->wires[k->count++] = w;
    return 0;
}

static void kept_free(struct kept *k)
{
    free(k->wires);
    free(k->flows);
    memset(k, 0, sizeof(*k));
}

struct frames {
    struct frame all[FRAMES_MAX];
    uint32_t count;
    struct arena copies;
};

static struct frames *read_frames(const char *name)
{
    struct frames *f = calloc(1, sizeof(*f));
    char path[512];
    struct err err = { 0 };
    struct input *input;
    struct capture *capture;
    struct frame frame;

    assert_non_null(getenv("CAPTURES"));
    snprintf(path, sizeof(path), "%s/%s", getenv("CAPTURES"), name);
    input = input_open(path, false, &err);
    capture = input ? capture_open(input, &err) : NULL;
    if (!capture)
        fail_msg("%s", err.text);
    while (f->count < FRAMES_MAX && capture_next(capture, &frame, &err) == 1) {
        frame.data = arena_copy(&f->copies, frame.data, frame.cap_len);
        f->all[f->count++] = frame;
    }
    capture_close(capture);
    input_close(input);
    return f;
}

static void frames_free(struct frames *f)
{
    arena_free(&f->copies);
    free(f);
}

static struct engine *engine_for(struct kept *k, bool middle)
{
    const struct engine_options options = { .middle = middle };
    struct sink sink = { put, k };
    struct err err = { 0 };
    struct engine *e = engine_new(&options, &sink, NULL, &err);

    if (!e)
        fail_msg("%s", err.text);
    return e;
}

static void feed(struct engine *e, const struct frames *f, uint32_t from, uint32_t to)
{
    struct err err = { 0 };

    for (uint32_t i = from; i < to; i++)
        if (engine_frame(e, &f->all[i], &err) < 0)
            fail_msg("frame %u: %s", i + 1, err.text);
}

struct tally {
    uint32_t same, differ, carried, adopted;
};

/* The records of both, apart from those of calls that only the true engine knew and gave up, and of
 * replies that waited for their calls at the border: these are the earlier piece's. */
static void equal(const struct kept *truth, const struct kept *piece, uint64_t lead,
                  uint64_t border, uint32_t carried)
{
    uint32_t i = 0, j = 0, given_up = 0;

    while (i < truth->count) {
        if (j < piece->count && truth->wires[i].digest == piece->wires[j].digest) {
            i++;
            j++;
        } else if (truth->wires[i].reply_frame) {
            assert_true(truth->wires[i++].reply_frame <= border);
        } else {
            assert_true(truth->wires[i].call_frame);
            assert_true(truth->wires[i].call_frame <= lead);
            given_up++;
            i++;
        }
    }
    assert_int_equal(j, piece->count);
    assert_true(given_up <= carried);
}

/* Reads |f| with a border behind |border| frames. */
static void cut(const struct frames *f, uint32_t lead, uint32_t border, uint32_t end,
                struct tally *tally)
{
    struct kept truth = { 0 }, piece = { 0 };
    struct engine *one = engine_for(&truth, false), *two = engine_for(&piece, true);
    struct outline before = { 0 }, after = { 0 }, last = { 0 }, rest = { 0 };
    struct outline_fit fit;
    struct err err = { 0 };

    feed(one, f, 0, border);
    assert_int_equal(engine_outline(one, &before, &err), 0);
    /* frames are numbered from the lead-in on, as far as the engine knows: the same here */
    feed(two, f, lead, border);
    assert_int_equal(engine_border(two, &after, &err), 0);
    truth.on = piece.on = true;
    feed(one, f, border, end);
    feed(two, f, border, end);
    assert_int_equal(engine_outline(two, &last, &err), 0);
    assert_int_equal(engine_end(one, false, &err), 0);
    assert_int_equal(engine_end(two, false, &err), 0);
    assert_int_equal(
        outline_follows(&(struct outline_border){ &before, UINT64_MAX, &after, &last,
                                                  engine_past(two), engine_limits(two) },
                        &fit, &rest, &err),
        0);
    if (getenv("OUTLINE_TELL"))
        printf("%u %u %u: %s %u %u\n", lead, border, end, fit.same ? "same" : fit.why, fit.carried,
               fit.adopted);
    if (fit.same)
        equal(&truth, &piece, lead, border, fit.carried);
    tally->same += fit.same;
    tally->differ += !fit.same;
    tally->carried += fit.carried;
    tally->adopted += fit.adopted;
    engine_free(one);
    engine_free(two);
    kept_free(&truth);
    kept_free(&piece);
    outline_free(&before);
    outline_free(&after);
    outline_free(&last);
    outline_free(&rest);
}

/* Cuts at random places.  |same|: at least so many must be the same. */
static void cuts(const char *name, uint32_t lead, uint32_t same, uint32_t adopted)
{
    enum { ROUNDS = 8 };
    struct frames *f = read_frames(name);
    struct tally tally = { 0 };
    uint64_t seed = 1;

    while (tally.same + tally.differ < ROUNDS) {
        uint32_t border;

        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        border = lead + 1 + (uint32_t)((seed >> 33) % (f->count - lead - 1));
        cut(f, border - lead, border, f->count - border < 2000 ? f->count : border + 2000, &tally);
    }
    frames_free(f);
    printf("%s, lead-in of %u frames: %u same, %u differ, %u carried, %u adopted\n", name, lead,
           tally.same, tally.differ, tally.carried, tally.adopted);
    assert_true(tally.same >= same);
    assert_true(tally.adopted >= adopted);
}

static void tcp_with_loss(void **state)
{
    (void)state;
    cuts("knfsd-netem-tcp.pcap.zst", 1000, 4, 0);
    cuts("knfsd-netem-tcp.pcap.zst", 20, 1, 0);
    cuts("load-ganesha-vfs.pcap.zst", 1000, 6, 0);
}

static void tcp_without_loss(void **state)
{
    (void)state;
    cuts("knfsd-tcp-mtu1500.pcap.zst", 1000, 8, 0);
    cuts("knfsd-snap256.pcap.zst", 300, 8, 0);
    cuts("pair-knfsd.pcap.zst", 300, 6, 0);
}

/* Adds frames of |from|, later by |shift|. */
static void add_frames(struct frames *to, const struct frames *from, uint32_t begin, uint32_t end,
                       int64_t shift)
{
    for (uint32_t i = begin; i < end && i < from->count; i++) {
        struct frame *frame = &to->all[to->count++];

        *frame = from->all[i];
        frame->number = to->count;
        frame->time += shift;
    }
}

/* Whether nothing is under way behind the frames that |e| took. */
static bool is_quiet(const struct engine *e)
{
    struct outline o = { 0 };
    struct err err = { 0 };
    bool quiet = true;

    assert_int_equal(engine_outline(e, &o, &err), 0);
    for (uint32_t i = 0; i < o.flow_count; i++)
        for (int side = 0; side < 2; side++)
            quiet &= o.flows[i].over || !o.flows[i].stream[side].started ||
                     o.flows[i].stream[side].quiet;
    quiet &= !o.call_count;
    outline_free(&o);
    return quiet;
}

/* The first frame from |at| on behind which nothing is under way. */
static uint32_t find_quiet(const struct frames *f, uint32_t at)
{
    struct kept none = { 0 };
    struct engine *e = engine_for(&none, false);

    feed(e, f, 0, at);
    while (!is_quiet(e)) {
        assert_true(at < f->count);
        feed(e, f, at, at + 1);
        at++;
    }
    engine_free(e);
    kept_free(&none);
    return at;
}

/* Connections that stand still while others fill the lead-in, and go on behind the border. */
static void idle_connections(void **state)
{
    enum { ROUNDS = 4, OTHERS = 1000, BORDER = 900, LEAD = 800, REST = 1500 };
    struct frames *work = read_frames("knfsd-tcp-mtu1500.pcap.zst");
    struct frames *others = read_frames("load-ganesha-vfs.pcap.zst");
    struct frames *both = calloc(1, sizeof(*both));
    struct tally tally = { 0 };

    (void)state;
    assert_non_null(both);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t at = find_quiet(work, i % 2 ? 8950 : 3200);
        int64_t shift = work->all[at].time - others->all[0].time;

        both->count = 0;
        add_frames(both, work, 0, at, 0);
        add_frames(both, others, 0, OTHERS, shift);
        add_frames(both, work, at, at + REST,
                   both->all[both->count - 1].time - work->all[at].time + i * 1000000);
        cut(both, at + BORDER - LEAD, at + BORDER, both->count, &tally);
    }
    printf("idle: %u same, %u differ, %u adopted\n", tally.same, tally.differ, tally.adopted);
    assert_true(tally.same == ROUNDS);
    assert_true(tally.adopted == 2 * ROUNDS);
    frames_free(work);
    frames_free(others);
    free(both);
}

/* Fragments are known after a second only; whatever is called the same is the same. */
static void udp(void **state)
{
    (void)state;
    cuts("knfsd-netem-udp.pcap.zst", 1000, 0, 0);
    cuts("knfsd-udp-frag.pcap.zst", 300, 0, 0);
    cuts("merged-tcp-udp-2if.pcapng.zst", 300, 4, 0);
}

static void short_connections(void **state)
{
    (void)state;
    cuts("vfs-libnfs-all22.pcap.zst", 100, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tcp_with_loss),     cmocka_unit_test(tcp_without_loss),
        cmocka_unit_test(idle_connections),  cmocka_unit_test(udp),
        cmocka_unit_test(short_connections),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
