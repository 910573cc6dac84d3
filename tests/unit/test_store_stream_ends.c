/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two sources in a row: pairs across .nfsr streams, and captures whose waiting operations and tails
 * are replaced. */
#include "store_records.h"

/* Two streams, the second with calls and replies that belong to the first. */
static void across_streams(void **state)
{
    struct record r;

    (void)state;
    begin(STORE_NFSR);
    assert_int_equal(put_a_flow(1, 700), 0);
    assert_int_equal(put_getattr(1, 1, 1, -1), 0);   /* answered in the next */
    assert_int_equal(put_getattr(2, 2, 2, -1), 0);   /* comes again, and is answered then */
    assert_int_equal(put_getattr(3, 3, 3, 3.5), 0);  /* answered; call and reply come again */
    assert_int_equal(put_getattr(4, 4, -1, 9.5), 0); /* its call was captured later */
    assert_int_equal(put_getattr(5, 5, 5, -1), 0);   /* answered on another port: not the same */
    assert_int_equal(put_getattr(6, 6, 6, -1), 0);   /* another call with the same XID follows */
    assert_int_equal(put_getattr(7, 7, 7, 7.5), 0);  /* a further reply follows */
    assert_int_equal(put_getattr(8, 8, 8, -1), 0);   /* a reply follows, but too late */
    end(1);
    begin(STORE_NFSR);
    assert_int_equal(put_a_flow(1, 700), 0);
    assert_int_equal(put_a_flow(2, 701), 0);
    assert_int_equal(put_getattr(1, 1, -1, 10), 0);
    assert_int_equal(put_getattr(2, 2, 10, 11), 0);
    assert_int_equal(put_getattr(3, 3, 10, 11), 0);
    assert_int_equal(put_getattr(4, 4, 10, -1), 0);
    r = getattr(5, 5, -1, 11);
    r.operation.flow = 2;
    assert_int_equal(put(&r), 0);
    r = getattr(6, 6, 10, 11);
    r.operation.arguments.data = (const uint8_t *)"\0\0\0\4wxyz";
    assert_int_equal(put(&r), 0);
    assert_int_equal(put_getattr(7, 7, -1, 11), 0);
    assert_int_equal(put_getattr(8, 8, -1, 5000), 0);
    r = getattr(9, 9, 12, 13);
    r.operation.depends_on = 2; /* which is 2 of the first stream */
    assert_int_equal(put(&r), 0);
    assert_int_equal(
        put(&(struct record){
            .kind = RECORD_REPEAT,
            .repeat = { .operation = 1,
                        .repeat = REPEAT_REPLY,
                        .flow = 1,
                        .sighting = { .frame = 200, .first_frame = 200, .time = START } } }),
        0);
    end(2);
    nothing_wrong();
    assert_string_equal(
        query("SELECT id, xid, pairing, call_source, call_frame, reply_source, reply_frame"
              " FROM operation ORDER BY xid, id"),
        "1|1|0|1|11|2|102 2|2|0|1|21|2|112 3|3|0|1|31|1|37 12|4|0|2|101|1|97 5|5|4|1|51|-|- "
        "13|5|2|-|-|2|112 6|6|4|1|61|-|- 14|6|0|2|101|2|112 7|7|0|1|71|1|77 8|8|4|1|81|-|- "
        "16|8|2|-|-|2|50002 17|9|0|2|121|2|132");
    assert_string_equal(query("SELECT operation, kind, source, frame FROM retransmission"
                              " ORDER BY operation, kind"),
                        "1|2|2|200 2|1|2|101 3|1|2|101 3|2|2|112 7|2|2|112");
    assert_string_equal(query("SELECT depends_on FROM operation WHERE xid = 9"), "2");
    assert_string_equal(query("SELECT operations, calls, replies, retransmissions FROM source"),
                        "7|7|3|0 5|3|6|5");
}

/* Captures: frames count on, waiting operations are replaced, the tail goes when more comes. */
static void captures_go_on(void **state)
{
    struct record r;

    (void)state;
    begin(STORE_CAPTURE);
    assert_int_equal(store_frame_base(store), 0);
    assert_int_equal(put_a_flow(1, 700), 0);
    assert_int_equal(put_getattr(1, 1, 1, 1.5), 0);
    assert_int_equal(
        put(&(struct record){ .kind = RECORD_COUNTER, .counter = { text("tcp.holes"), 3 } }), 0);
    store_provisional(store);
    assert_int_equal(put_getattr(2, 2, 2, -1), 0);
    assert_int_equal(put_getattr(3, 3, -1, 2), 0);
    end(1);
    nothing_wrong();
    assert_string_equal(query("SELECT id, pairing FROM operation"), "1|0 2|4 3|2");

    assert_int_equal(store_begin(store, NULL, STORE_TAIL, false, &err), 0);
    assert_string_equal(query("SELECT id FROM operation"), "1");
    assert_int_equal(put_an_object(1, "late", 0), 0);
    assert_int_equal(put_a_path(1, 0, 1, ""), 0);
    assert_int_equal(put_a_name(NAME_SEEN, 1, "n", 1), 0);
    assert_int_equal(put_a_credential(1, 3), 0);
    assert_int_equal(put_a_flow(2, 900), 0);
    assert_int_equal(put_getattr(2, 2, 2, -1), 0);
    assert_int_equal(put(&(struct record){ .kind = RECORD_PROBLEM, .problem = { .frame = 3 } }), 0);
    assert_int_equal(
        put(&(struct record){ .kind = RECORD_COUNTER, .counter = { text("tcp.holes"), 2 } }), 0);
    assert_int_equal(
        put(&(struct record){ .kind = RECORD_COUNTER, .counter = { text("tcp.new"), 1 } }), 0);
    assert_int_equal(
        put(&(struct record){ .kind = RECORD_COUNTER, .counter = { text("x_waiting"), 9 } }), 0);
    assert_int_equal(put(&(struct record){ .kind = RECORD_END }), 0);
    assert_int_equal(store_end(store, NULL, &err), 0);
    nothing_wrong();
    assert_string_equal(query("SELECT id, pairing FROM operation"), "1|0 2|4");
    assert_string_equal(query("SELECT name, value FROM counter"), "tcp.holes|5 tcp.new|1");
    assert_string_equal(query("SELECT problems, operations, frames FROM source"), "1|2|100000");

    begin(STORE_CAPTURE);
    assert_int_equal(store_frame_base(store), 100000);
    assert_string_equal(
        query("SELECT (SELECT count(*) FROM operation), (SELECT count(*) FROM object),"
              " (SELECT count(*) FROM path), (SELECT count(*) FROM name_event),"
              " (SELECT count(*) FROM credential), (SELECT count(*) FROM flow),"
              " (SELECT count(*) FROM problem), (SELECT group_concat(value) FROM"
              " counter)"),
        "1|0|0|0|0|1|0|3");
    r = getattr(2, 2, 2, 2.5); /* the call of the file before, and its reply */
    r.operation.reply.frame = 100002;
    r.operation.reply.first_frame = 99999;
    assert_int_equal(put(&r), 0);
    end(2);
    nothing_wrong();
    assert_string_equal(query("SELECT call_source, call_frame, reply_source, reply_frame,"
                              " reply_first_frame FROM operation WHERE id = 2"),
                        "1|21|2|2|-1");
    assert_string_equal(query("SELECT operations, calls, replies, problems FROM source"),
                        "2|2|1|0 0|0|1|0");

    begin(STORE_NFSR); /* settles what waited */
    assert_int_equal(put_a_flow(1, 701), 0);
    assert_int_equal(put_getattr(1, 9, 3, 4), 0);
    end(3);
    nothing_wrong();
    assert_string_equal(query("SELECT count(*) FROM carry"), "0");
    assert_string_equal(query("SELECT id, flow FROM operation WHERE xid = 9"), "3|2");

    begin(STORE_CAPTURE); /* another engine: its flows and operations count from 1 */
    assert_int_equal(put_a_flow(1, 702), 0);
    assert_int_equal(put_getattr(1, 10, 3, 4), 0);
    end(4);
    nothing_wrong();
    assert_string_equal(query("SELECT id, flow FROM operation WHERE xid = 10"), "4|3");
    assert_string_equal(query("SELECT operation_base, flow_base FROM carry"), "3|2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(across_streams),
        STORE_TEST(captures_go_on),
    };

    return cmocka_run_group_tests(tests, make_path, NULL);
}
