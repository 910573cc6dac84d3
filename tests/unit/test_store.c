/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The database as a sink of records made by hand: what becomes a row, how ids of several streams
 * meet, what is refused, and what is provisional. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/escape.h"
#include "store/internal.h"
#include "store/verify.h"
#include "wire/rpc.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define START (INT64_C(1700000000) * SECOND)

static char path[] = "/tmp/test_store.XXXXXX";
static struct store *store;
static struct err err;

static struct address address(const char *text)
{
    struct address a;

    assert_int_equal(read_address(text, &a, NULL), 0);
    return a;
}

static struct bytes text(const char *s)
{
    return (struct bytes){ (const uint8_t *)s, (uint32_t)strlen(s) };
}

static int put(const struct record *record)
{
    struct sink sink = store_sink(store);

    memset(&err, 0, sizeof(err));
    return sink.put(sink.ctx, record, &err);
}

static int put_a_flow(uint32_t id, uint16_t client_port)
{
    return put(&(struct record){ .kind = RECORD_FLOW,
                                 .flow = { .id = id,
                                           .transport = 6,
                                           .client = address("10.0.0.1"),
                                           .server = address("2001:db8::9"),
                                           .client_port = client_port,
                                           .server_port = 2049,
                                           .frame = 1,
                                           .time = START } });
}

static int put_an_object(uint64_t id, const char *handle, uint8_t type)
{
    return put(&(struct record){ .kind = RECORD_OBJECT,
                                 .object = { .id = id,
                                             .server = address("2001:db8::9"),
                                             .handle = text(handle),
                                             .type = type,
                                             .fsid = type ? UINT64_MAX : 0,
                                             .fileid = type,
                                             .frame = 2,
                                             .time = START } });
}

static int put_a_path(uint32_t id, uint32_t parent, uint64_t object, const char *name)
{
    return put(&(struct record){
        .kind = RECORD_PATH,
        .path = { .id = id, .parent = parent, .object = object, .name = text(name) } });
}

static int put_a_name(uint8_t event, uint64_t parent, const char *name, uint64_t object)
{
    return put(&(struct record){ .kind = RECORD_NAME,
                                 .name = { .event = event,
                                           .parent = parent,
                                           .name = text(name),
                                           .object = object,
                                           .operation = 1,
                                           .time = START } });
}

static int put_a_credential(uint32_t id, uint32_t uid)
{
    static uint8_t body[8];

    store_be32(body, uid);
    return put(
        &(struct record){ .kind = RECORD_CREDENTIAL,
                          .credential = { .id = id,
                                          .flavor = RPC_AUTH_SYS,
                                          .valid = true,
                                          .uid = uid,
                                          .gid = 5,
                                          .gids = { (const uint8_t *)"\0\0\0\4\0\0\0\33", 8 },
                                          .machine = text("m\\\xff"),
                                          .body = { body, 8 } } });
}

/* A GETATTR; |call| and |reply| are seconds after START, or -1. */
static struct record getattr(uint64_t id, uint32_t xid, double call, double reply)
{
    struct record r = { .kind = RECORD_OPERATION,
                        .operation = { .id = id,
                                       .flow = 1,
                                       .xid = xid,
                                       .rpc_status = STATUS_NONE,
                                       .status = STATUS_NONE } };
    struct record_operation *o = &r.operation;

    if (call >= 0) {
        o->program = 100003;
        o->version = 3;
        o->procedure = 1;
        o->call = (struct sighting){ .frame = (uint64_t)(call * 10) + 1,
                                     .first_frame = (uint64_t)(call * 10) + 1,
                                     .time = START + (int64_t)(call * 1e9),
                                     .wire_len = 100 };
        o->arguments = text("\0\0\0\4abcd");
        o->arguments.len = 8;
        o->arguments.data = (const uint8_t *)"\0\0\0\4abcd";
        o->arguments_wire = 8;
    }
    if (reply >= 0) {
        o->reply = (struct sighting){ .frame = (uint64_t)(reply * 10) + 2,
                                      .first_frame = (uint64_t)(reply * 10) + 2,
                                      .time = START + (int64_t)(reply * 1e9),
                                      .wire_len = 28,
                                      .flags = call >= 0 ? 0 : SIGHTING_OPAQUE };
        o->rpc_status = RPC_SUCCESS;
        o->status = call >= 0 ? 70 : STATUS_NONE;
        o->result =
            call >= 0 ? (struct bytes){ (const uint8_t *)"\0\0\0\106", 4 } : (struct bytes){ 0 };
        o->result_wire = 4;
    }
    o->pairing = call < 0 ? CALL_LOST : reply < 0 ? CAPTURE_ENDED : PAIRED;
    return r;
}

static int put_getattr(uint64_t id, uint32_t xid, double call, double reply)
{
    struct record r = getattr(id, xid, call, reply);

    return put(&r);
}

static void begin(enum store_kind kind)
{
    assert_int_equal(store_begin(store, "x", kind, false, &err), 0);
}

static void end(uint8_t mark)
{
    static const uint8_t state[] = { 1, 2, 3 };
    struct buf carry = { (uint8_t *)state, sizeof(state), sizeof(state) };
    struct store_end how = {
        .size = mark, .digest = { mark }, .head_digest = { mark }, .carry = &carry, .options = "o"
    };
    struct record r = { .kind = RECORD_END,
                        .end = { .frames = 100000, .first_time = START, .last_time = START + 1 } };

    assert_int_equal(put(&r), 0);
    assert_int_equal(store_end(store, &how, &err), 0);
}

static char *query(const char *sql)
{
    static char out[4096];
    sqlite3_stmt *stmt;
    size_t len = 0;

    out[0] = '\0';
    assert_int_equal(sqlite3_prepare_v2(store_db(store), sql, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            const char *value = (const char *)sqlite3_column_text(stmt, i);

            len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%s",
                                    i     ? "|"
                                    : len ? " "
                                          : "",
                                    value ? value : "-");
            assert_true(len < sizeof(out));
        }
    assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
    return out;
}

static void show_finding(void *ctx, const char *finding)
{
    (void)ctx;
    fail_msg("verify: %s", finding);
}

static void nothing_wrong(void)
{
    uint64_t findings;

    assert_int_equal(verify(store, show_finding, NULL, &findings, &err), 0);
}

static int open_store(void **state)
{
    (void)state;
    store = store_open(path, STORE_WRITE, &err);
    return !store;
}

static int close_store(void **state)
{
    (void)state;
    store_close(store);
    unlink(path);
    return 0;
}

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

/* Two streams, the second with calls and replies that belong to the first. */
static void over_the_border(void **state)
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

/* Escaping: printable, invertible, and no two names the same. */
static void escapes(void **state)
{
    static const struct {
        const char *name, *entry;
    } cases[] = {
        { "plain", "plain" },
        { "", "" },
        { "a b", "a b" },
        { "\\", "\\\\" },
        { "\\x41", "\\\\x41" },
        { "a/b", "a\\x2fb" },
        { "\x7f\x1f\n", "\\x7f\\x1f\\x0a" },
        { "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
        { "\xc2\x85", "\\xc2\\x85" },                   /* a C1 control */
        { "\xc0\xaf", "\\xc0\\xaf" },                   /* overlong */
        { "\xe0\x80\xaf", "\\xe0\\x80\\xaf" },          /* overlong */
        { "\xed\xa0\x80", "\\xed\\xa0\\x80" },          /* a surrogate */
        { "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" }, /* beyond Unicode */
        { "\xe2\x82", "\\xe2\\x82" },                   /* cut */
        { "\xff", "\\xff" },
    };
    struct buf out = { 0 }, back = { 0 };
    uint32_t random = 3;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        out.len = back.len = 0;
        assert_int_equal(escape_name(text(cases[i].name), false, &out), 0);
        assert_int_equal(out.len, strlen(cases[i].entry));
        assert_memory_equal(out.len ? out.data : (void *)"", cases[i].entry, out.len);
    }
    for (int round = 0; round < 200000; round++) {
        uint8_t name[8];
        struct bytes bytes = { name, (uint32_t)(round % 9) };

        for (uint32_t i = 0; i < bytes.len; i++) {
            static const uint8_t likely[] = "\\x/2f\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0";

            random = random * 1103515245 + 12345;
            name[i] = random & 0x40000000 ? (uint8_t)(random >> 16)
                                          : likely[(random >> 16) % (sizeof(likely) - 1)];
        }
        for (int is_path = 0; is_path < 2; is_path++) {
            out.len = back.len = 0;
            assert_int_equal(escape_name(bytes, is_path, &out), 0);
            assert_int_equal(unescape_name((const char *)out.data, out.len, &back), 0);
            assert_int_equal(back.len, bytes.len);
            assert_memory_equal(back.len ? back.data : name, name, back.len);
            for (size_t i = 0; i < out.len; i++) {
                assert_true(out.data[i] >= 0x20 && out.data[i] != 0x7f);
                assert_true(is_path || out.data[i] != '/');
            }
        }
    }
    buf_free(&out);
    buf_free(&back);
}

static int make_path(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    close(fd);
    unlink(path);
    return fd < 0;
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, open_store, close_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORE_TEST(rows_of_records), STORE_TEST(streams_meet),   STORE_TEST(what_cannot_be),
        STORE_TEST(over_the_border), STORE_TEST(captures_go_on), STORE_TEST(abandoned),
        STORE_TEST(files_left),      cmocka_unit_test(escapes),
    };

    return cmocka_run_group_tests(tests, make_path, NULL);
}
