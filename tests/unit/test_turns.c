/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names/turns: records that do not belong to the .border of their piece. */
#include "names/turns.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* A piece of 10 frames behind a lead-in of 5, in a capture that has 100 frames before it. */
static const struct border border = { .lead = 5, .frames = 10 };

static int count(struct record *r)
{
    const struct turns t = { .border = &border, .base = 100 };
    struct err err = { 0 };
    int rc = count_frames(&t, r, &err);

    assert_true(rc == 0 || strstr(err.text, "frame"));
    return rc;
}

static void frames_of_the_capture(void **state)
{
    struct record o = { .kind = RECORD_OBJECT, .object.frame = 6 };
    struct record e = { .kind = RECORD_CONNECTION_EVENT,
                        .connection_event = { .frame = 5, .last_frame = 15 } };

    (void)state;
    assert_int_equal(count(&o), 0);
    assert_int_equal(o.object.frame, 101);
    assert_int_equal(count(&e), 0);
    assert_int_equal(e.connection_event.frame, 100);
    assert_int_equal(e.connection_event.last_frame, 110);
}

static void frames_behind_the_piece(void **state)
{
    struct record o = { .kind = RECORD_OBJECT, .object.frame = 16 };
    struct record op = { .kind = RECORD_OPERATION, .operation.reply.first_frame = UINT64_MAX };

    (void)state;
    assert_int_equal(count(&o), -ERR_INPUT);
    assert_int_equal(count(&op), -ERR_INPUT);
}

/* An id far behind the last one must not make an array that is as long. */
static void ids_are_in_a_row(void **state)
{
    static const struct record_object object = { .server = { .version = 4 } };
    static const struct record_credential credential = { .gids = { (const uint8_t *)"", 0 } };
    struct objects objects;
    const struct sink none = { 0 };
    struct turns t = { .border = &border, .objects = &objects };
    struct record_object o = object;
    struct record_credential c = credential;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(objects_init(&objects, &none, NULL, &err), 0);
    for (unsigned id = 1; id <= 2; id++) {
        o.id = c.id = id;
        assert_int_equal(take_object(&t, &o, &err), 0);
        assert_int_equal(take_credential(&t, &c, &err), 0);
    }
    o.id = c.id = 4;
    assert_int_equal(take_object(&t, &o, &err), -ERR_INPUT);
    assert_int_equal(take_credential(&t, &c, &err), -ERR_INPUT);
    o.id = c.id = 1; /* known ones may come again */
    assert_int_equal(take_object(&t, &o, &err), 0);
    assert_int_equal(take_credential(&t, &c, &err), 0);
    free(t.hosts);
    free(t.credentials);
    arena_free(&t.arena);
    objects_free(&objects);
}

/* A border that counts more operations than its files have bytes must not make an array of them. */
static void counts_are_believed_up_to_the_files(void **state)
{
    struct order order = { .turns.len = 3 };
    struct border counts = { .operations = 3, .waiting = 5, .held = 1, .end.call_count = 4 };
    const struct turns t = { .border = &counts, .order = &order };

    (void)state;
    assert_true(is_counted(&t));
    counts.operations = 4;
    assert_false(is_counted(&t));
    counts.operations = 3;
    counts.waiting = 6;
    assert_false(is_counted(&t));
}

/* A piece has as many operations as .order can say, and not only the rest of them. */
static void an_order_is_never_cut(void **state)
{
    struct order order = { .turns = { .len = ORDER_TURNS_MAX - 9 } };
    struct err err = { 0 };

    (void)state;
    assert_int_equal(order_turn(&order, 1, &err), -ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_the_capture),
        cmocka_unit_test(frames_behind_the_piece),
        cmocka_unit_test(ids_are_in_a_row),
        cmocka_unit_test(counts_are_believed_up_to_the_files),
        cmocka_unit_test(an_order_is_never_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
