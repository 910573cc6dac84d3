/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_recorder.c
 *
 * live/recorder/recorder.h: messages in one or two parts, and which operations get counterparts.
 */
#include "nfsr_samples.h"
#include "recorder/recorder.h"
#include "wire/nfs3_numbers.h"
#include "wire/rpc_put.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>

enum { GETATTR = 1, WRITE = 7, MOST = 8, CONTENTS = 5 };

struct traffic {
    char path[64];
    struct recorder *recorder;
    struct net_address client, server;
    bool datagram;
    struct record_operation found[MOST];
    uint32_t count, repeats;
};

static void begin(struct traffic *t, bool datagram)
{
    struct err err = { 0 };

    *t = (struct traffic){ .datagram = datagram };
    snprintf(t->path, sizeof(t->path), "recorder-%d.nfsr", (int)getpid());
    t->client.v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(700) };
    t->server.v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(2049) };
    t->client.v4.sin_addr.s_addr = htonl(0x7f000001);
    t->server.v4.sin_addr.s_addr = htonl(0x7f000002);
    t->recorder = recorder_new(t->path, &err);
    assert_non_null(t->recorder);
}

static void call(struct traffic *t, uint32_t xid, uint32_t procedure, uint64_t counterpart)
{
    static const uint8_t handle[] = { 1, 2, 3, 4 }, contents[] = "hello";
    struct rpc_header h = { .direction = RPC_CALL,
                            .xid = xid,
                            .rpc_version = 2,
                            .program = NFS3_PROGRAM,
                            .version = NFS3_VERSION,
                            .procedure = procedure };
    struct buf message = { 0 };
    struct xdr_put p = xdr_put_to(&message, 4096);
    struct recorded r = { .from = &t->client,
                          .to = &t->server,
                          .datagram = t->datagram,
                          .counterpart = counterpart,
                          .copy = counterpart ? xid % 3 : 0 };

    rpc_put_header(&p, &h);
    xdr_put_opaque(&p, (struct bytes){ handle, sizeof(handle) });
    if (procedure == WRITE) { /* RFC 1813 s3.3.7; the contents are in another place */
        xdr_put_u64(&p, 0);
        xdr_put_u32(&p, CONTENTS);
        xdr_put_u32(&p, 2);
        xdr_put_u32(&p, CONTENTS);
        r.tail = (struct bytes){ contents, CONTENTS };
    }
    assert_int_equal(xdr_put_end(&p, "a call", NULL), 0);
    r.message = (struct bytes){ message.data, (uint32_t)message.len };
    recorder_put(t->recorder, &r);
    buf_free(&message);
}

static void answer(struct traffic *t, uint32_t xid, uint32_t procedure, uint32_t status)
{
    struct rpc_header h = { .direction = RPC_REPLY, .xid = xid, .status = RPC_SUCCESS };
    struct buf message = { 0 };
    struct xdr_put p = xdr_put_to(&message, 4096);
    struct recorded r = { .from = &t->server, .to = &t->client, .datagram = t->datagram };

    rpc_put_header(&p, &h);
    xdr_put_u32(&p, status);
    if (procedure == WRITE) { /* wcc_data: neither of its parts */
        xdr_put_u32(&p, 0);
        xdr_put_u32(&p, 0);
    }
    assert_int_equal(xdr_put_end(&p, "a reply", NULL), 0);
    r.message = (struct bytes){ message.data, (uint32_t)message.len };
    recorder_put(t->recorder, &r);
    buf_free(&message);
}

static int take(void *ctx, const struct record *record, struct err *err)
{
    struct traffic *t = ctx;

    (void)err;
    t->repeats += record->kind == RECORD_REPEAT;
    if (record->kind != RECORD_OPERATION)
        return 0;
    assert_in_range(t->count, 0, MOST - 1);
    t->found[t->count++] = record->operation;
    return 0;
}

/* Ends the recording, and reads it. */
static void end(struct traffic *t)
{
    struct buf stream = { 0 };
    struct memory_source source;
    struct sink sink = { take, t };
    struct err err = { 0 };
    uint8_t piece[4096];
    size_t len;
    FILE *file;

    assert_int_equal(recorder_end(t->recorder, &err), 0);
    file = fopen(t->path, "rb");
    assert_non_null(file);
    while ((len = fread(piece, 1, sizeof(piece), file)))
        assert_int_equal(buf_append(&stream, piece, len), 0);
    fclose(file);
    unlink(t->path);
    source = (struct memory_source){ stream.data, stream.len, 0, 0 };
    assert_int_equal(nfsr_read_stream(memory_read, &source, "s", &sink, &err), 0);
    buf_free(&stream);
}

static void check(const struct traffic *t, uint32_t i, uint32_t xid, uint64_t counterpart)
{
    assert_in_range(i, 0, t->count - 1);
    assert_int_equal(t->found[i].xid, xid);
    assert_int_equal(t->found[i].counterpart.number, counterpart);
    assert_int_equal(t->found[i].counterpart.copy, counterpart ? xid % 3 : 0);
}

/* Answers in another order; a call without a counterpart; one without an answer. */
static void each_has_its_own(void **state)
{
    struct traffic t;

    (void)state;
    begin(&t, false);
    call(&t, 1, GETATTR, 100);
    call(&t, 2, GETATTR, 0);
    call(&t, 3, GETATTR, UINT64_MAX);
    call(&t, 4, GETATTR, 99);
    answer(&t, 3, GETATTR, 70);
    answer(&t, 1, GETATTR, 70);
    answer(&t, 2, GETATTR, 70);
    end(&t);
    assert_int_equal(t.count, 4);
    check(&t, 0, 3, UINT64_MAX);
    check(&t, 1, 1, 100);
    check(&t, 2, 2, 0);
    check(&t, 3, 4, 99);
    assert_int_equal(t.found[3].pairing, CAPTURE_ENDED);
}

/* The same call once more is no other operation; a new one may have the same counterpart. */
static void sent_again(void **state)
{
    struct traffic t;

    (void)state;
    for (int datagram = 0; datagram < 2; datagram++) {
        begin(&t, datagram);
        call(&t, 8, GETATTR, 5);
        call(&t, 8, GETATTR, 5);
        answer(&t, 8, GETATTR, 10008);
        call(&t, 9, GETATTR, 5);
        answer(&t, 9, GETATTR, 70);
        end(&t);
        assert_int_equal(t.count, 2);
        assert_int_equal(t.repeats, 1);
        check(&t, 0, 8, 5);
        check(&t, 1, 9, 5);
    }
}

static void in_two_parts(void **state)
{
    struct traffic t;

    (void)state;
    begin(&t, false);
    call(&t, 1, WRITE, 7);
    answer(&t, 1, WRITE, 70);
    end(&t);
    assert_int_equal(t.count, 1);
    check(&t, 0, 1, 7);
    assert_int_equal(t.found[0].call.flags & (SIGHTING_MALFORMED | SIGHTING_PARTIAL), 0);
    assert_int_equal(t.found[0].data_length, CONTENTS);
    assert_int_equal(t.found[0].arguments_wire, 8 + 8 + 4 + 4 + 4 + 8);
}

static void no_folder(void **state)
{
    struct err err = { 0 };

    (void)state;
    assert_null(recorder_new("/nowhere/x.nfsr", &err));
    assert_int_equal(err.code, ERR_SYSTEM);
    recorder_free(NULL);
    assert_int_equal(recorder_end(NULL, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_own),
        cmocka_unit_test(sent_again),
        cmocka_unit_test(in_two_parts),
        cmocka_unit_test(no_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
