/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the packet tree remembers, with an engine that says what the tests tell it to say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plugins/nfspair/judged.c"
#include "plugins/nfspair/pairs.c"

/* --- the engine --- */

struct engine {
    struct sink sink;
    struct engine_observer observer;
};

static struct engine *engine;
static uint64_t last_number;
static unsigned ends;

struct engine *engine_new(const struct engine_options *options, const struct sink *sink,
                          const struct engine_observer *observer, struct err *err)
{
    (void)options;
    (void)err;
    engine = calloc(1, sizeof *engine);
    assert_non_null(engine);
    engine->sink = *sink;
    engine->observer = *observer;
    last_number = 0;
    ends = 0;
    return engine;
}

void engine_free(struct engine *e)
{
    free(e);
}

int engine_frame(struct engine *e, const struct frame *frame, struct err *err)
{
    (void)e;
    (void)err;
    assert_true(frame->number > last_number); /* the engine's condition */
    last_number = frame->number;
    return 0;
}

int engine_end(struct engine *e, bool input_cut, struct err *err)
{
    (void)e;
    (void)err;
    assert_false(input_cut);
    ends++;
    return 0;
}

static void say(struct record record)
{
    struct err err;
    assert_int_equal(engine->sink.put(engine->sink.ctx, &record, &err), 0);
}

static void say_path(uint32_t id, uint32_t parent, uint64_t object, const char *name)
{
    say((struct record){
        .kind = RECORD_PATH,
        .path = { id, parent, object, { (const uint8_t *)name, (uint32_t)strlen(name) } } });
}

static void say_message(const struct record_operation *op, bool is_reply, uint8_t repeat,
                        const struct sighting *sighting)
{
    struct engine_message message = { op, sighting, is_reply, repeat };
    struct err err;
    assert_int_equal(engine->observer.message(engine->observer.ctx, &message, &err), 0);
}

/* --- the tests --- */

static int setup(void **state)
{
    struct err err;
    *state = pairs_new(&(struct engine_options){ 0 }, false, &err);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    pairs_free(*state);
    return 0;
}

static void feed(struct pairs *pairs, uint32_t number)
{
    struct err err;
    assert_int_equal(pairs_frame(pairs, &(struct frame){ .number = number }, &err), 0);
}

static void check_path(const struct pairs *pairs, uint32_t path, const char *expected, bool partial)
{
    bool found;
    char *text = pairs_path(pairs, path, &found);
    assert_string_equal(text, expected);
    assert_int_equal(found, partial);
    free(text);
}

static void test_paths(void **state)
{
    struct pairs *pairs = *state;
    say_path(1, 0, 0, "/export");
    say_path(2, 1, 0, "dir");
    say_path(3, 2, 0, "file");
    say_path(4, 0, 77, "");
    say_path(5, 4, 0, "below");
    say_path(6, 0, 78, "entry");
    say_path(9, 3, 0, "");
    check_path(pairs, 3, "/export/dir/file", false);
    check_path(pairs, 1, "/export", false);
    check_path(pairs, 4, "[#77]", true);
    check_path(pairs, 5, "[#77]/below", true);
    check_path(pairs, 6, "[#78]/entry", true);
    check_path(pairs, 9, "/export/dir/file/", false);
    check_path(pairs, 0, "", false);
    check_path(pairs, 7, "", false);            /* was never said */
    check_path(pairs, 999, "", false);          /* nor was this */
    say_path(10, 3, 0, "a/\xff\\\xe2\x80\xae"); /* as the database has them */
    check_path(pairs, 10, "/export/dir/file/a\\x2f\\xff\\\\\\xe2\\x80\\xae", false);
    say_path(11, 0, 0, "/mnt/");
    say_path(12, 11, 0, "file");
    check_path(pairs, 11, "/mnt/", false);
    check_path(pairs, 12, "/mnt/file", false);
    say_path(13, 0, 0, "");
    say_path(14, 13, 0, "file");
    check_path(pairs, 14, "/file", false);
}

/* A parent that comes later would make a circle possible: it is none. */
static void test_no_circles(void **state)
{
    struct pairs *pairs = *state;
    say_path(1, 1, 0, "self");
    say_path(2, 3, 0, "two");
    say_path(3, 2, 0, "three");
    check_path(pairs, 1, "self", false);
    check_path(pairs, 3, "two/three", false);
}

static void test_call_and_reply(void **state)
{
    struct pairs *pairs = *state;
    struct record_operation op = { .id = 1,
                                   .xid = 9,
                                   .program = 100003,
                                   .version = 3,
                                   .procedure = 6,
                                   .object = 4,
                                   .path = 1,
                                   .offset = 4096,
                                   .count = 512,
                                   .status = STATUS_NONE,
                                   .rpc_status = STATUS_NONE,
                                   .call = { .frame = 2, .time = 1000 } };
    feed(pairs, 1);
    feed(pairs, 2);
    say_path(1, 0, 0, "/e");
    say_message(&op, false, 0, &op.call);
    const struct pair_message *call = pairs_first(pairs, 2);
    assert_non_null(call);
    assert_false(call->is_reply);
    assert_int_equal(call->object, 4);
    assert_int_equal(call->object_type, OBJECT_UNKNOWN);
    assert_int_equal(call->status, STATUS_NONE);
    assert_null(pairs_next(pairs, call));
    const struct pair_operation *known = pairs_operation(pairs, 1);
    assert_int_equal(known->call_frame, 2);
    assert_int_equal(known->reply_frame, 0);
    assert_int_equal(known->pairing, PAIRS_WAITING);
    assert_true(known->latency == PAIRS_NO_LATENCY);
    assert_int_equal(known->offset, 4096);
    assert_int_equal(known->count, 512);

    feed(pairs, 3);
    say((struct record){ .kind = RECORD_OBJECT, .object = { .id = 4, .type = OBJECT_REG } });
    op.reply = (struct sighting){ .frame = 3, .time = 3500, .flags = SIGHTING_PARTIAL };
    op.status = 70;
    op.rpc_status = 0;
    say_message(&op, true, 0, &op.reply);
    say((struct record){ .kind = RECORD_OPERATION, .operation = op });
    const struct pair_message *reply = pairs_first(pairs, 3);
    assert_non_null(reply);
    assert_true(reply->is_reply);
    assert_int_equal(reply->status, 70);
    assert_int_equal(reply->sighting, SIGHTING_PARTIAL);
    assert_int_equal(reply->object_type, OBJECT_REG);
    known = pairs_operation(pairs, 1);
    assert_int_equal(known->reply_frame, 3);
    assert_int_equal(known->latency, 2500);
    assert_int_equal(known->pairing, PAIRED);
    /* the call still says what it said */
    assert_int_equal(pairs_first(pairs, 2)->object_type, OBJECT_UNKNOWN);
    assert_null(pairs_first(pairs, 1));
    assert_null(pairs_first(pairs, 4));
    assert_null(pairs_operation(pairs, 0));
    assert_null(pairs_operation(pairs, 2));
}

/* Several messages in a frame, also one that is known only long after its frame. */
static void test_order_in_a_frame(void **state)
{
    struct pairs *pairs = *state;
    struct record_operation op = { .call = { .frame = 1 } };
    for (op.id = 1; op.id <= 40; op.id++)
        say_message(&op, false, 0, &op.call);
    op = (struct record_operation){ .id = 41, .reply = { .frame = 1 }, .pairing = CALL_LOST };
    feed(pairs, 1);
    feed(pairs, 2);
    say_message(&op, true, 0, &op.reply);
    uint32_t id = 0;
    const struct pair_message *m = pairs_first(pairs, 1);
    for (; m; m = pairs_next(pairs, m))
        assert_int_equal(m->operation, ++id);
    assert_int_equal(id, 41);
    assert_int_equal(pairs_operation(pairs, 41)->pairing, CALL_LOST);
}

/* Copies do not change what is known of the operation. */
static void test_repeats(void **state)
{
    struct pairs *pairs = *state;
    struct record_operation op = {
        .id = 1, .xid = 5, .call = { .frame = 1, .time = 10 }, .reply = { .frame = 2, .time = 30 }
    };
    struct sighting copy = { .frame = 3, .time = 90 };
    op.object = 6;
    say_message(&op, false, 0, &op.call);
    op.path = 8;
    op.status = 2;
    say_message(&op, true, 0, &op.reply);
    say((struct record){ .kind = RECORD_OPERATION, .operation = op });
    op.object = op.path = 0; /* the engine has forgotten that */
    op.status = 0;
    say_message(&op, false, REPEAT_CALL, &copy);
    say_message(&op, true, REPEAT_REPLY, &copy);
    say((struct record){ .kind = RECORD_REPEAT, .repeat = { .operation = 1, .differs = 1 } });
    say_message(&op, true, REPEAT_REPLY, &copy);
    const struct pair_message *m = pairs_first(pairs, 3);
    assert_int_equal(m->repeat, REPEAT_CALL);
    assert_int_equal(m->object, 6);
    assert_int_equal(m->path, 0);
    m = pairs_next(pairs, m);
    assert_int_equal(m->repeat, REPEAT_REPLY);
    assert_int_equal(m->object, 6);
    assert_int_equal(m->path, 8);
    assert_int_equal(m->status, 2);
    assert_false(m->differs);
    assert_int_equal(pairs_next(pairs, m)->status, STATUS_NONE);
    assert_true(pairs_next(pairs, m)->differs);
    assert_int_equal(m->operation, 1);
    assert_int_equal(pairs_operation(pairs, 1)->call_frame, 1);
    assert_int_equal(pairs_operation(pairs, 1)->reply_frame, 2);
    assert_int_equal(pairs_operation(pairs, 1)->latency, 20);
}

/* A read filter throws frames 2 and 3 away: the one after them has number 2 again. */
static void test_thrown_away_frames(void **state)
{
    struct pairs *pairs = *state;
    struct record_operation op = { 0 };
    static const uint32_t numbers[] = { 1, 2, 2, 2, 3, 4, 4, 5 };
    static const uint32_t shown[] = { 0, 1, 0, 0, 2, 3, 0, 4, 5 };
    for (uint32_t i = 1; i <= 8; i++) {
        feed(pairs, numbers[i - 1]);
        op = (struct record_operation){ .id = i, .call = { .frame = i } };
        say_message(&op, false, 0, &op.call);
    }
    for (uint32_t i = 1; i <= 8; i++) {
        assert_int_equal(pairs_operation(pairs, i)->call_frame, i);
        assert_int_equal(pairs_shown(pairs, i), shown[i]);
        if (shown[i])
            assert_int_equal(pairs_first(pairs, shown[i])->operation, i);
    }
    assert_null(pairs_first(pairs, 6));
    assert_int_equal(pairs_shown(pairs, 9), 0);
}

static void test_end(void **state)
{
    struct pairs *pairs = *state;
    struct err err;
    feed(pairs, 1);
    assert_int_equal(pairs_shown(pairs, 1), 1);
    assert_int_equal(pairs_end(pairs, &err), 0);
    assert_int_equal(pairs_end(pairs, &err), 0);
    assert_int_equal(ends, 1);
    feed(pairs, 2);
    assert_int_equal(last_number, 1);
}

/* Numbers beyond what fits are refused, not mixed up. */
static void test_limits(void **state)
{
    struct pairs *pairs = *state;
    struct err err = { 0 };
    struct record record = { .kind = RECORD_OBJECT, .object = { .id = UINT64_C(1) << 32 } };
    assert_int_equal(engine->sink.put(pairs, &record, &err), -ERR_SYSTEM);
    assert_true(err.text[0] != 0);
    struct record_operation op = { .id = 1,
                                   .object = UINT64_C(0x100000004),
                                   .call = { .frame = 1 } };
    say_message(&op, false, 0, &op.call);
    assert_int_equal(pairs_first(pairs, 1)->object, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_paths),
        TEST(test_no_circles),
        TEST(test_call_and_reply),
        TEST(test_order_in_a_frame),
        TEST(test_repeats),
        TEST(test_thrown_away_frames),
        TEST(test_end),
        TEST(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
