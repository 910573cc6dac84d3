/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/store_records.h
 *
 * Records made by hand, a store to put them into, and queries on what became of them; for the
 * test_store_*.c.
 */
#ifndef STORE_RECORDS_H
#define STORE_RECORDS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "store/store_parts.h"
#include "store/store_verify.h"
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

static inline struct address address(const char *text)
{
    struct address a;

    assert_int_equal(read_address(text, &a, NULL), 0);
    return a;
}

static inline struct bytes text(const char *s)
{
    return (struct bytes){ (const uint8_t *)s, (uint32_t)strlen(s) };
}

static inline int put(const struct record *record)
{
    struct sink sink = store_sink(store);

    memset(&err, 0, sizeof(err));
    return sink.put(sink.ctx, record, &err);
}

static inline int put_a_flow(uint32_t id, uint16_t client_port)
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

static inline int put_an_object(uint64_t id, const char *handle, uint8_t type)
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

static inline int put_a_path(uint32_t id, uint32_t parent, uint64_t object, const char *name)
{
    return put(&(struct record){
        .kind = RECORD_PATH,
        .path = { .id = id, .parent = parent, .object = object, .name = text(name) } });
}

static inline int put_a_name(uint8_t event, uint64_t parent, const char *name, uint64_t object)
{
    return put(&(struct record){ .kind = RECORD_NAME,
                                 .name = { .event = event,
                                           .parent = parent,
                                           .name = text(name),
                                           .object = object,
                                           .operation = 1,
                                           .time = START } });
}

static inline int put_a_credential(uint32_t id, uint32_t uid)
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
static inline struct record getattr(uint64_t id, uint32_t xid, double call, double reply)
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

static inline int put_getattr(uint64_t id, uint32_t xid, double call, double reply)
{
    struct record r = getattr(id, xid, call, reply);

    return put(&r);
}

static inline void begin(enum store_kind kind)
{
    assert_int_equal(store_begin(store, "x", kind, false, &err), 0);
}

static inline void end(uint8_t mark)
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

static inline char *query(const char *sql)
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

static inline void show_finding(void *ctx, const char *finding)
{
    (void)ctx;
    fail_msg("verify: %s", finding);
}

static inline void nothing_wrong(void)
{
    uint64_t findings;

    assert_int_equal(verify(store, show_finding, NULL, &findings, &err), 0);
}

static inline int open_store(void **state)
{
    (void)state;
    store = store_open(path, STORE_WRITE, &err);
    return !store;
}

static inline int close_store(void **state)
{
    (void)state;
    store_close(store);
    unlink(path);
    return 0;
}

static inline int make_path(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    close(fd);
    unlink(path);
    return fd < 0;
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, open_store, close_store)

#endif
