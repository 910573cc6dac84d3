/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_engine_state.c
 *
 * A capture in several files, each read by another engine that takes over what the one before it
 * left waiting, must give what one engine gives for the whole: real captures, split anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/digest.h"
#include "capture/capture.h"
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATIONS_MAX = 4096, RECORDS_MAX = 16384, REPEATS_MAX = 1024, FRAMES_MAX = 16384 };

/* Everything that a store would keep. */
struct kept {
    struct record_operation operations[OPERATIONS_MAX]; /* by id; pointers into |copies| */
    bool there[OPERATIONS_MAX], provisional[OPERATIONS_MAX];
    struct record learned[RECORDS_MAX]; /* objects, paths, names, credentials */
    uint32_t learned_count;
    struct record_repeat repeats[REPEATS_MAX];
    uint32_t repeat_count;
    uint64_t flows;
    bool pausing;
    struct arena copies;
};

static struct bytes copy(struct arena *to, struct bytes b)
{
    return (struct bytes){ arena_copy(to, b.data, b.len), b.len };
}

static int put(void *ctx, const struct record *record, struct err *err)
{
    struct kept *k = ctx;
    struct record r = *record;

    (void)err;
    switch (r.kind) {
    case RECORD_OPERATION:
        assert_true(r.operation.id < OPERATIONS_MAX);
        r.operation.arguments = copy(&k->copies, r.operation.arguments);
        r.operation.result = copy(&k->copies, r.operation.result);
        k->operations[r.operation.id] = r.operation;
        assert_false(k->there[r.operation.id]);
        k->there[r.operation.id] = true;
        k->provisional[r.operation.id] = k->pausing;
        return 0;
    case RECORD_OBJECT:
        r.object.handle = copy(&k->copies, r.object.handle);
        for (uint32_t i = 0; i < k->learned_count; i++)
            if (k->learned[i].kind == RECORD_OBJECT && k->learned[i].object.id == r.object.id) {
                k->learned[i] = r; /* as a table would have it: one row */
                return 0;
            }
        break;
    case RECORD_PATH:
        r.path.name = copy(&k->copies, r.path.name);
        break;
    case RECORD_NAME:
        r.name.name = copy(&k->copies, r.name.name);
        break;
    case RECORD_CREDENTIAL:
        r.credential.body = copy(&k->copies, r.credential.body);
        break;
    case RECORD_REPEAT:
        assert_true(k->repeat_count < REPEATS_MAX);
        k->repeats[k->repeat_count++] = r.repeat;
        return 0;
    case RECORD_FLOW:
        k->flows++;
        return 0;
    default:
        return 0;
    }
    assert_true(k->learned_count < RECORDS_MAX);
    k->learned[k->learned_count++] = r;
    return 0;
}

static struct kept *kept_new(void)
{
    struct kept *k = calloc(1, sizeof(*k));

    assert_non_null(k);
    return k;
}

static void kept_free(struct kept *k)
{
    arena_free(&k->copies);
    free(k);
}

struct frames {
    struct frame all[FRAMES_MAX];
    uint32_t count;
    struct arena copies;
};

static void frames_free(struct frames *f)
{
    arena_free(&f->copies);
    free(f);
}

static struct frames *read_frames(const char *name)
{
    struct frames *f = calloc(1, sizeof(*f));
    char path[512];
    struct err err = { 0 };
    struct input *input;
    struct capture *capture;
    struct frame frame;

    assert_non_null(getenv("CAPTURES"));
    snprintf(path, sizeof(path), "%s/%s.pcap.zst", getenv("CAPTURES"), name);
    input = input_open(path, false, &err);
    capture = input ? capture_open(input, &err) : NULL;
    if (!capture)
        fail_msg("%s", err.text);
    while (f->count < FRAMES_MAX && capture_next(capture, &frame, &err) == 1) {
        frame.data = copy(&f->copies, (struct bytes){ frame.data, frame.cap_len }).data;
        f->all[f->count++] = frame;
    }
    capture_close(capture);
    input_close(input);
    assert_true(f->count > 100);
    return f;
}

static void feed(struct engine *e, const struct frames *f, uint32_t from, uint32_t to)
{
    struct err err = { 0 };

    for (uint32_t i = from; i < to; i++)
        if (engine_frame(e, &f->all[i], &err) < 0)
            fail_msg("frame %u: %s", i + 1, err.text);
}

static struct engine *engine_for(struct kept *k)
{
    struct sink sink = { put, k };
    struct err err = { 0 };
    struct engine *e = engine_new(NULL, &sink, NULL, &err);

    if (!e)
        fail_msg("%s", err.text);
    return e;
}

static struct kept *whole(const struct frames *f)
{
    struct kept *k = kept_new();
    struct engine *e = engine_for(k);
    struct err err = { 0 };

    feed(e, f, 0, f->count);
    assert_int_equal(engine_end(e, false, &err), 0);
    engine_free(e);
    return k;
}

/* What a store does at the end of a file, and at the begin of the next one. */
static struct engine *hand_over(struct engine *old, struct kept *k)
{
    struct buf state = { 0 };
    struct err err = { 0 };
    struct engine *e;

    k->pausing = true;
    assert_int_equal(engine_pause(old, false, &err), 0);
    k->pausing = false;
    assert_int_equal(engine_save(old, &state, &err), 0);
    engine_free(old);
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        if (k->provisional[i])
            k->there[i] = k->provisional[i] = false;
    e = engine_for(k);
    for (uint32_t i = 0; i < k->learned_count; i++)
        if (engine_learn(e, &k->learned[i], &err) < 0)
            fail_msg("%s", err.text);
    if (engine_restore(e, state.data, state.len, &err) < 0)
        fail_msg("%s", err.text);
    buf_free(&state);
    return e;
}

static void same_sighting(const struct sighting *a, const struct sighting *b)
{
    assert_int_equal(a->frame, b->frame);
    assert_int_equal(a->first_frame, b->first_frame);
    assert_int_equal(a->time, b->time);
    assert_int_equal(a->wire_len, b->wire_len);
    assert_int_equal(a->flags, b->flags);
}

static void same_bytes(struct bytes a, struct bytes b)
{
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.data, b.data, a.len);
}

static void same(const struct kept *a, const struct kept *b)
{
    for (uint32_t i = 1; i < OPERATIONS_MAX; i++) {
        const struct record_operation *x = &a->operations[i], *y = &b->operations[i];
        assert_int_equal(a->there[i], b->there[i]);
        if (!a->there[i])
            continue;
        assert_int_equal(x->xid, y->xid);
        assert_int_equal(x->flow, y->flow);
        assert_int_equal(x->program, y->program);
        assert_int_equal(x->procedure, y->procedure);
        assert_int_equal(x->pairing, y->pairing);
        same_sighting(&x->call, &y->call);
        same_sighting(&x->reply, &y->reply);
        assert_int_equal(x->rpc_status, y->rpc_status);
        assert_int_equal(x->status, y->status);
        assert_int_equal(x->credential, y->credential);
        assert_int_equal(x->object, y->object);
        assert_int_equal(x->object2, y->object2);
        assert_int_equal(x->new_object, y->new_object);
        assert_int_equal(x->path, y->path);
        assert_int_equal(x->path2, y->path2);
        assert_int_equal(x->depends_on, y->depends_on);
        same_bytes(x->arguments, y->arguments);
        same_bytes(x->result, y->result);
        assert_memory_equal(x->data_digest, y->data_digest, sizeof(x->data_digest));
    }
    assert_int_equal(a->repeat_count, b->repeat_count);
    for (uint32_t i = 0; i < a->repeat_count; i++) {
        assert_int_equal(a->repeats[i].operation, b->repeats[i].operation);
        assert_int_equal(a->repeats[i].repeat, b->repeats[i].repeat);
        same_sighting(&a->repeats[i].sighting, &b->repeats[i].sighting);
    }
    assert_int_equal(a->flows, b->flows);
    assert_int_equal(a->learned_count, b->learned_count);
}

/* Splits at |cuts| places that follow from |seed|. */
static void split(const struct frames *f, const struct kept *truth, uint64_t seed, uint32_t cuts)
{
    struct kept *k = kept_new();
    struct engine *e = engine_for(k);
    struct err err = { 0 };
    uint32_t at = 0;

    for (uint32_t i = 0; i < cuts; i++) {
        uint32_t rest = f->count - at, to;
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        to = at + (uint32_t)((seed >> 33) % (2 * rest / (cuts - i + 1) + 1));
        feed(e, f, at, to);
        at = to;
        e = hand_over(e, k);
    }
    feed(e, f, at, f->count);
    assert_int_equal(engine_end(e, false, &err), 0);
    engine_free(e);
    same(truth, k);
    kept_free(k);
}

static void splits(const char *name, uint32_t rounds)
{
    struct frames *f = read_frames(name);
    struct kept *truth = whole(f);

    for (uint32_t i = 0; i < rounds; i++)
        split(f, truth, i * 7919 + 1, 1 + i % 40);
    kept_free(truth);
    frames_free(f);
}

static void tcp_with_loss(void **state)
{
    (void)state;
    splits("knfsd-netem-tcp", 60);
}

static void udp_with_loss(void **state)
{
    (void)state;
    splits("knfsd-netem-udp", 60);
}

static void every_procedure(void **state)
{
    (void)state;
    splits("vfs-libnfs-all22", 100);
}

static void locks(void **state)
{
    (void)state;
    splits("knfsd-nlm-locks", 60);
}

static void damaged_state_is_refused(void **state)
{
    struct frames *f = read_frames("knfsd-netem-tcp");
    struct kept *k = kept_new();
    struct engine *e = engine_for(k);
    struct buf saved = { 0 };
    struct err err = { 0 };

    (void)state;
    feed(e, f, 0, f->count / 2);
    assert_int_equal(engine_save(e, &saved, &err), 0);
    engine_free(e);
    for (size_t len = 0; len < saved.len; len += 1 + len / 50) {
        struct kept *none = kept_new();
        uint8_t *cut = malloc(len + 1);
        e = engine_for(none);
        memcpy(cut, saved.data, len);
        memset(&err, 0, sizeof(err));
        assert_int_equal(engine_restore(e, cut, len, &err), -ERR_INPUT);
        assert_true(err.text[0]);
        engine_free(e);
        free(cut);
        kept_free(none);
    }
    for (size_t i = 0; i < 200; i++) { /* any bit */
        struct kept *none = kept_new();
        size_t at = i * (saved.len / 200);
        e = engine_for(none);
        memset(&err, 0, sizeof(err));
        saved.data[at] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(engine_restore(e, saved.data, saved.len, &err), -ERR_INPUT);
        saved.data[at] ^= (uint8_t)(1 << i % 8);
        engine_free(e);
        kept_free(none);
    }
    buf_free(&saved);
    kept_free(k);
    frames_free(f);
}

/* The clock is a count from 0; what was seen, was seen before it.  So no difference of two clocks
 * can have an overflow, which a file with other values could otherwise cause. */
static void impossible_clocks_are_refused(void **state)
{
    static const int64_t clocks[] = { INT64_MIN, -1, 0 };
    struct frames *f = read_frames("knfsd-netem-tcp");
    struct kept *k = kept_new();
    struct engine *e = engine_for(k);
    struct buf saved = { 0 };
    struct err err = { 0 };
    int64_t latest = INT64_MIN;
    size_t at = 0, found = 0;

    (void)state;
    feed(e, f, 0, f->count / 2);
    for (uint32_t i = 0; i < f->count / 2; i++)
        latest = f->all[i].time > latest ? f->all[i].time : latest;
    assert_int_equal(engine_save(e, &saved, &err), 0);
    engine_free(e);
    for (size_t i = 0; i + 24 <= saved.len; i++) {
        int64_t v[3]; /* the latest time, the clock, and when the next sweep is due */

        memcpy(v, saved.data + i, sizeof(v));
        if (v[0] == latest && v[1] > 0 && v[1] <= latest - f->all[0].time && v[2] > latest) {
            at = i + 8;
            found++;
        }
    }
    assert_int_equal(found, 1);
    for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
        struct kept *none = kept_new();
        uint64_t digest;

        memcpy(saved.data + at, &clocks[i], 8);
        digest = XXH3_64bits(saved.data, saved.len - 8);
        memcpy(saved.data + saved.len - 8, &digest, 8);
        e = engine_for(none);
        memset(&err, 0, sizeof(err));
        assert_int_equal(engine_restore(e, saved.data, saved.len, &err), -ERR_INPUT);
        engine_free(e);
        kept_free(none);
    }
    buf_free(&saved);
    kept_free(k);
    frames_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tcp_with_loss),
        cmocka_unit_test(udp_with_loss),
        cmocka_unit_test(every_procedure),
        cmocka_unit_test(locks),
        cmocka_unit_test(damaged_state_is_refused),
        cmocka_unit_test(impossible_clocks_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
