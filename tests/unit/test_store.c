/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The database as a sink of records: what becomes a row, how ids of several streams meet, what is
 * refused, and what is left behind. */
#include "store_records.h"

static void rows_of_records(void **state)
{
    (void)state;
    begin(STORE_NFSR);
    assert_int_equal(put_a_flow(1, 700), 0);
    assert_int_equal(put_a_credential(1, 1000), 0);
    assert_int_equal(put_an_object(1, "root", OBJECT_DIR), 0);
    assert_int_equal(put_a_path(1, 0, 0, "/srv"), 0);
    assert_int_equal(put_a_name(NAME_SEEN, 0, "/srv", 1), 0);
    assert_int_equal(put_an_object(2, "file", OBJECT_UNKNOWN), 0);
    assert_int_equal(put_an_object(2, "file", OBJECT_REG), 0);
    assert_int_equal(put_a_path(2, 1, 0, "a/b\\\x01\xc3\xa4\xff"), 0);
    assert_int_equal(put_a_path(3, 0, 2, ""), 0);
    assert_int_equal(put_a_path(4, 3, 0, "x"), 0);
    assert_int_equal(put_a_name(NAME_BOUND, 1, "a", 2), 0);
    assert_int_equal(put_getattr(1, 77, 1, 1.5), 0);
    assert_int_equal(put_getattr(2, 78, 2, -1), 0);
    assert_int_equal(put_getattr(3, 79, -1, 3), 0);
    assert_int_equal(
        put(&(struct record){
            .kind = RECORD_REPEAT,
            .repeat = { .operation = 1,
                        .repeat = REPEAT_CALL,
                        .flow = 1,
                        .sighting = { .frame = 13, .first_frame = 12, .time = START } } }),
        0);
    assert_int_equal(put(&(struct record){ .kind = RECORD_PROBLEM,
                                           .problem = { .problem = PROBLEM_HOLE,
                                                        .frame = 5,
                                                        .time = START,
                                                        .flow = 1,
                                                        .direction = 1,
                                                        .length = 1448,
                                                        .text = text("lost\n") } }),
                     0);
    assert_int_equal(
        put(&(struct record){ .kind = RECORD_COUNTER, .counter = { text("tcp.holes"), 3 } }), 0);
    end(1);
    nothing_wrong();
    assert_string_equal(query("SELECT id, transport, client, client_port, server, server_port,"
                              " source, frame FROM flow"),
                        "1|6|10.0.0.1|700|2001:db8::9|2049|1|1");
    assert_string_equal(query("SELECT flavor, valid, uid, gid, gids, machine, hex(body) FROM"
                              " credential"),
                        "1|1|1000|5|[4,27]|m\\\\\\xff|000003E800000000");
    assert_string_equal(query("SELECT id, handle, type, fsid, fileid, frame FROM object"),
                        "1|root|2|-1|2|2 2|file|1|-1|1|2");
    assert_string_equal(query("SELECT id, parent, object, name, text FROM path"),
                        "1|-|-|/srv|/srv 2|1|-|a\\x2fb\\\\\\x01\xc3\xa4\\xff|"
                        "/srv/a\\x2fb\\\\\\x01\xc3\xa4\\xff 3|-|2||[#2] 4|3|-|x|[#2]/x");
    assert_string_equal(query("SELECT event, parent, name, object, operation FROM name_event"),
                        "1|-|/srv|1|1 2|1|a|2|1");
    assert_string_equal(
        query("SELECT id, pairing, call_frame, reply_frame, xid, program, procedure,"
              " rpc_status, status, latency, call_source, reply_source,"
              " hex(arguments), hex(result) FROM operation"),
        "1|0|11|17|77|100003|1|0|70|500000000|1|1|0000000461626364|00000046 "
        "2|4|21|-|78|100003|1|-|-|-|1|-|0000000461626364| "
        "3|2|-|32|79|-|-|0|-|-|-|1||");
    assert_string_equal(query("SELECT operation, kind, frame, first_frame FROM retransmission"),
                        "1|1|13|12");
    assert_string_equal(query("SELECT kind, frame, flow, direction, length, text FROM problem"),
                        "1|5|1|1|1448|lost\\x0a");
    assert_string_equal(query("SELECT * FROM counter"), "1|tcp.holes|3");
    assert_string_equal(query("SELECT operations, calls, replies, retransmissions, problems FROM"
                              " source"),
                        "3|2|2|1|1");
    assert_string_equal(query("SELECT time, program, procedure, path, status, pairing, latency_ms"
                              " FROM op WHERE id = 1"),
                        "2023-11-14 22:13:21.000000000|NFS|GETATTR|-|NFS3ERR_STALE|paired|500.0");
}

/* The second stream counts from 1 again, and knows some of the same things under other ids. */
static void streams_meet(void **state)
{
    (void)state;
    begin(STORE_NFSR);
    assert_int_equal(put_a_flow(1, 700), 0);
    assert_int_equal(put_a_credential(1, 1000), 0);
    assert_int_equal(put_an_object(1, "root", OBJECT_DIR), 0);
    assert_int_equal(put_a_path(1, 0, 0, "/srv"), 0);
    assert_int_equal(put_a_name(NAME_SEEN, 0, "/srv", 1), 0);
    assert_int_equal(put_an_object(2, "directory", OBJECT_DIR), 0);
    assert_int_equal(put_a_name(NAME_BOUND, 1, "d", 2), 0);
    assert_int_equal(put_an_object(3, "gone", OBJECT_REG), 0);
    assert_int_equal(put_a_name(NAME_BOUND, 1, "g", 3), 0);
    assert_int_equal(put_a_name(NAME_REMOVED, 1, "g", 3), 0);
    assert_int_equal(put_a_path(2, 1, 0, "f"), 0);
    assert_int_equal(put_getattr(1, 77, 1, 1.5), 0);
    end(1);

    begin(STORE_NFSR);
    assert_int_equal(put_a_flow(1, 800), 0);
    assert_int_equal(put_a_credential(1, 2000), 0);
    assert_int_equal(put_a_credential(2, 1000), 0);
    assert_int_equal(put_an_object(1, "new", OBJECT_UNKNOWN), 0);
    assert_int_equal(put_an_object(2, "directory", OBJECT_UNKNOWN), 0);
    assert_int_equal(put_an_object(3, "gone", OBJECT_UNKNOWN), 0);
    assert_int_equal(put_a_path(1, 0, 2, ""), 0);  /* known before as /srv/d */
    assert_int_equal(put_a_path(2, 1, 0, "x"), 0); /* so this is /srv/d/x */
    assert_int_equal(put_a_path(3, 0, 1, ""), 0);  /* nobody knows */
    assert_int_equal(put_a_path(4, 0, 3, ""), 0);  /* its name was taken away */
    assert_int_equal(put_a_path(5, 0, 0, "/srv"), 0);
    assert_int_equal(put_a_path(6, 5, 0, "f"), 0);
    struct record r = getattr(1, 500, 11, 11.5);
    r.operation.credential = 2;
    r.operation.object = 2;
    r.operation.path = 2;
    r.operation.depends_on = 2;
    assert_int_equal(put(&r), 0);
    r = getattr(2, 501, 12, 12.5);
    r.operation.credential = 1;
    r.operation.object = 1;
    r.operation.path = 6;
    assert_int_equal(put(&r), 0);
    assert_int_equal(put_an_object(2, "directory", OBJECT_DIR), 0);
    end(2);
    nothing_wrong();
    assert_string_equal(query("SELECT id, client_port, source FROM flow"), "1|700|1 2|800|2");
    assert_string_equal(query("SELECT id, uid FROM credential"), "1|1000 2|2000");
    assert_string_equal(query("SELECT id, handle, type, source FROM object"),
                        "1|root|2|1 2|directory|2|1 3|gone|1|1 4|new|-|2");
    assert_string_equal(query("SELECT id, text FROM path"),
                        "1|/srv 2|/srv/f 3|/srv/d 4|/srv/d/x 5|[#4] 6|[#3]");
    assert_string_equal(
        query("SELECT id, flow, credential, object, path, depends_on, call_source FROM"
              " operation WHERE call_source = 2"),
        "2|2|1|2|4|3|2 3|2|2|4|2|-|2");
}

static void refused(int result, const char *says)
{
    assert_int_equal(result, -ERR_INPUT);
    if (!strstr(err.text, says))
        fail_msg("\"%s\" is not in \"%s\"", says, err.text);
}

/* A stream may have right checksums and still say what cannot be. */
static void what_cannot_be(void **state)
{
    struct record r;

    (void)state;
    for (int second = 0; second < 2; second++) {
        uint32_t xid = (uint32_t)second;

        begin(STORE_NFSR);
        refused(put_getattr(1, xid, 1, 2), "refers to flow 1 of 0");
        refused(put_a_flow(2, 700), "flow 2 follows 0");
        assert_int_equal(put_a_flow(1, 700), 0);
        refused(put_a_flow(1, 700), "flow 1 comes twice");
        refused(put_a_flow(0, 700), "flow 0 follows 1");
        refused(put_an_object(7, "x", 0), "object 7 follows 0");
        refused(put_an_object(UINT64_MAX, "x", 0), "object 18446744073709551615 follows 0");
        assert_int_equal(put_an_object(1, "x", 0), 0);
        refused(put_a_path(1, 1, 0, "x"), "refers to path 1 of 0");
        refused(put_a_path(1, 0, 2, "x"), "refers to object 2 of 1");
        assert_int_equal(put_a_path(1, 0, 1, ""), 0);
        refused(put_a_path(1, 0, 1, ""), "path 1 comes twice");
        refused(put_a_name(NAME_SEEN, 2, "x", 1), "refers to object 2 of 1");
        refused(put_a_name(NAME_SEEN, 1, "x", UINT64_MAX), "refers to object");
        refused(put_a_credential(2, 0), "credential 2 follows 0");
        r = getattr(1, xid, 1, 2);
        r.operation.id = 0;
        refused(put(&r), "has the id 0");
        r.operation.id = UINT64_MAX;
        refused(put(&r), "has the id 18446744073709551615");
        r.operation.id = 1;
        r.operation.flow = 0;
        refused(put(&r), "is of no flow");
        r.operation.flow = 1;
        r.operation.credential = 1;
        refused(put(&r), "refers to credential 1 of 0");
        r.operation.credential = 0;
        r.operation.path2 = 2;
        refused(put(&r), "refers to path 2 of 1");
        r.operation.path2 = 0;
        r.operation.new_object = 9;
        refused(put(&r), "refers to object 9 of 1");
        refused(put_getattr(1, 1, -1, -1), "neither call nor reply");
        assert_int_equal(put_getattr(1, xid, 1, 2), 0);
        refused(put_getattr(1, xid, 1, 2), "UNIQUE constraint failed");
        refused(
            put(&(struct record){ .kind = RECORD_REPEAT, .repeat = { .operation = 1, .flow = 2 } }),
            "has no flow or frame");
        refused(put(&(struct record){ .kind = RECORD_PROBLEM, .problem = { .flow = 3 } }),
                "refers to flow 3 of 1");
        assert_int_equal(put(&(struct record){ .kind = 99 }), 0); /* of a later version */
        end((uint8_t)(second + 1));
        nothing_wrong();
    }
    assert_string_equal(query("SELECT count(*) FROM operation"), "2");
}

static void abandoned(void **state)
{
    (void)state;
    begin(STORE_NFSR);
    assert_int_equal(put_a_flow(1, 700), 0);
    store_abandon(store);
    assert_string_equal(query("SELECT count(*) FROM sqlite_schema"), "0");
    begin(STORE_NFSR);
    assert_int_equal(put_a_flow(1, 700), 0);
    assert_int_equal(put_getattr(1, 1, 1, 2), 0);
    end(1);
    begin(STORE_NFSR);
    assert_int_equal(put_a_flow(1, 700), 0);
    assert_int_equal(put_getattr(1, 2, 1, 2), 0);
    store_abandon(store);
    store_abandon(store);
    assert_string_equal(query("SELECT xid FROM operation"), "1");
    nothing_wrong();
}

/* A database that nothing was stored in is not left behind; one that was there is. */
static void files_left(void **state)
{
    (void)state;
    store_close(store);
    unlink(path);
    store = store_open(path, STORE_WRITE, &err);
    begin(STORE_NFSR);
    assert_int_equal(put_a_flow(1, 700), 0);
    store_close(store);
    assert_int_equal(access(path, F_OK), -1);
    assert_null(store_open(path, STORE_READ, &err));
    assert_int_equal(err.code, ERR_INPUT);
    store = store_open(path, STORE_WRITE, &err);
    begin(STORE_NFSR);
    end(1);
    store_close(store);
    assert_int_equal(access(path, F_OK), 0);
    store = store_open(path, STORE_WRITE, &err);
    begin(STORE_NFSR);
    store_close(store);
    assert_int_equal(access(path, F_OK), 0);
    store = store_open(path, STORE_READ, &err);
    assert_string_equal(query("SELECT count(*) FROM source"), "1");
    assert_string_equal(query("SELECT count(*) > 500 FROM field"), "1");
    assert_string_equal(query("SELECT class, type, wireshark FROM field WHERE path ="
                              " 'READ3args.offset'"),
                        "offset|u64|nfs.offset3");
    assert_string_equal(
        query("SELECT name FROM status_name WHERE program = 100003 AND procedure = 6"
              " AND status = 70"),
        "NFS3ERR_STALE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(rows_of_records), STORE_TEST(streams_meet), STORE_TEST(what_cannot_be),
        STORE_TEST(abandoned),       STORE_TEST(files_left),
    };

    return cmocka_run_group_tests(tests, make_path, NULL);
}
