/* SPDX-License-Identifier: GPL-2.0-or-later */
/* XDR and RPC headers against the bytes of their RFCs; what is written is read to the same; bounds;
 * the captured slice of a body; handles of a body, and others in their place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "generated.h"
#include "wire/body.h"
#include "wire/handles.h"
#include "wire/rpc_put.h"

#include <stdio.h>
#include <stdlib.h>

static struct buf out;
static struct xdr_put to;
static struct err err;

#define BYTES(text) ((struct bytes){ (const uint8_t *)(text), sizeof(text) - 1 })

static int begin(void **state)
{
    (void)state;
    out.len = 0;
    to = xdr_put_to(&out, 2000);
    return 0;
}

static void is(const char *hex)
{
    char text[4096] = "";
    size_t len = 0;

    for (size_t i = 0; i < out.len && len + 10 < sizeof(text); i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%02x",
                                i && i % 4 == 0 ? " " : "", out.data[i]);
    assert_string_equal(text, hex);
}

/* RFC 4506 s4.1, s4.5, s4.9, s4.10, and s7's file "sillyprog" by "john" with the data "(quit)" */
static void test_xdr(void **state)
{
    size_t at;

    (void)state;
    xdr_put_u32(&to, 0x01020304);
    xdr_put_u64(&to, UINT64_C(0x1122334455667788));
    xdr_put_fixed(&to, (const uint8_t *)"abcde", 5);
    xdr_put_fixed(&to, NULL, 2);
    xdr_put_opaque(&to, BYTES(""));
    is("01020304 11223344 55667788 61626364 65000000 00000000 00000000");
    begin(NULL);
    xdr_put_opaque(&to, BYTES("sillyprog"));
    xdr_put_u32(&to, 2);
    xdr_put_opaque(&to, BYTES("lisp"));
    xdr_put_opaque(&to, BYTES("john"));
    at = xdr_put_opaque_begin(&to);
    xdr_put_bytes(&to, "(quit", 5);
    xdr_put_bytes(&to, ")", 1);
    xdr_put_opaque_end(&to, at);
    is("00000009 73696c6c 7970726f 67000000 00000002 00000004 6c697370 00000004 6a6f686e 00000006 "
       "28717569 74290000");
    assert_int_equal(xdr_put_end(&to, "file", &err), 0);
}

static void test_bound(void **state)
{
    (void)state;
    to = xdr_put_to(&out, 10);
    xdr_put_u64(&to, 1);
    xdr_put_u32(&to, 2);
    assert_int_equal(out.len, 8);
    xdr_put_zeros(&to, 1); /* there is room, but something is missing before */
    assert_int_equal(out.len, 8);
    assert_null(xdr_put_room(&to, 1));
    assert_int_equal(xdr_put_end(&to, "the call", &err), -ERR_USAGE);
    assert_string_equal(err.text, "the call: longer than it may be");
    to = xdr_put_to(&out, XDR_PUT_ANY_LENGTH);
    assert_null(xdr_put_room(&to, SIZE_MAX / 2));
    assert_int_equal(xdr_put_end(&to, "the call", &err), -ERR_SYSTEM);
}

/* A GETATTR with AUTH_SYS, RFC 5531 s9 and appendix A. */
static void test_call(void **state)
{
    struct rpc_header h = {
        .xid = 0xaabbccdd, .rpc_version = 2, .program = 100003, .version = 3, .procedure = 1
    };

    (void)state;
    h.credential = (struct rpc_auth){ .flavor = RPC_AUTH_SYS,
                                      .valid = true,
                                      .stamp = 7,
                                      .machine = BYTES("host1"),
                                      .uid = 1000,
                                      .gid = 100,
                                      .gid_count = 2,
                                      .gids = { 4, 24 } };
    rpc_put_header(&to, &h);
    is("aabbccdd 00000000 00000002 000186a3 00000003 00000001 00000001 00000024 00000007 00000005 "
       "686f7374 31000000 000003e8 00000064 00000002 00000004 00000018 00000000 00000000");
}

static struct rpc_auth some_auth(struct generated *g, bool credential)
{
    static uint8_t bytes[RPC_AUTH_BODY_MAX];
    struct rpc_auth a = { .flavor = (uint32_t)generated_random(g, 5) };

    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)generated_random(g, 256);
    if (a.flavor == 4 && credential) {
        a = (struct rpc_auth){ .flavor = RPC_GSS, .valid = true, .gss_version = 1 };
        a.gss_procedure = (uint32_t)generated_random(g, 4);
        a.gss_sequence = (uint32_t)generated_random(g, 0);
        a.gss_service = 1;
        a.gss_context = (struct bytes){ bytes, (uint32_t)generated_random(g, 381) };
    } else if (a.flavor == RPC_AUTH_SYS) {
        a.valid = true;
        a.stamp = (uint32_t)generated_random(g, 0);
        a.machine = (struct bytes){ bytes, (uint32_t)generated_random(g, 256) };
        a.uid = (uint32_t)generated_random(g, 0);
        a.gid = (uint32_t)generated_random(g, 0);
        a.gid_count = (uint32_t)generated_random(g, RPC_GIDS_MAX + 1);
        for (uint32_t i = 0; i < a.gid_count; i++)
            a.gids[i] = (uint32_t)generated_random(g, 0);
    } else {
        a.body = (struct bytes){ bytes, (uint32_t)generated_random(g, RPC_AUTH_BODY_MAX + 1) };
    }
    return a;
}

static void same_bytes(struct bytes a, struct bytes b)
{
    assert_int_equal(a.len, b.len);
    if (a.len)
        assert_memory_equal(a.data, b.data, a.len);
}

static void same_auth(const struct rpc_auth *a, const struct rpc_auth *b)
{
    assert_int_equal(a->flavor, b->flavor);
    if (a->flavor == RPC_GSS) {
        assert_int_equal(a->gss_version, b->gss_version);
        assert_int_equal(a->gss_procedure, b->gss_procedure);
        assert_int_equal(a->gss_sequence, b->gss_sequence);
        assert_int_equal(a->gss_service, b->gss_service);
        same_bytes(a->gss_context, b->gss_context);
    } else if (a->flavor == RPC_AUTH_SYS) {
        assert_true(b->valid);
        assert_int_equal(a->stamp, b->stamp);
        assert_int_equal(a->uid, b->uid);
        assert_int_equal(a->gid, b->gid);
        assert_int_equal(a->gid_count, b->gid_count);
        assert_memory_equal(a->gids, b->gids, a->gid_count * sizeof(*a->gids));
        same_bytes(a->machine, b->machine);
    } else {
        same_bytes(a->body, b->body);
    }
}

static void test_headers_are_read(void **state)
{
    static const uint32_t statuses[] = { RPC_SUCCESS,      RPC_PROG_UNAVAIL, RPC_PROG_MISMATCH,
                                         RPC_PROC_UNAVAIL, RPC_GARBAGE_ARGS, RPC_SYSTEM_ERR,
                                         RPC_MISMATCH,     RPC_AUTH_ERROR };
    struct generated g = { .state = 3 };

    (void)state;
    for (int i = 0; i < 4000; i++) {
        struct rpc_header h = { .xid = (uint32_t)generated_random(&g, 0), .rpc_version = 2 }, read;

        begin(NULL);
        h.direction = i & 1;
        h.program = (uint32_t)generated_random(&g, 0);
        h.version = (uint32_t)generated_random(&g, 0);
        h.procedure = (uint32_t)generated_random(&g, 0);
        h.status = statuses[generated_random(&g, 8)];
        h.detail[0] = (uint32_t)generated_random(&g, 0);
        h.detail[1] = (uint32_t)generated_random(&g, 0);
        h.credential = some_auth(&g, true);
        h.verifier = some_auth(&g, false);
        rpc_put_header(&to, &h);
        assert_int_equal(to.problem, XDR_PUT_OK);
        assert_int_equal(rpc_parse(out.data, (uint32_t)out.len, (uint32_t)out.len, &read), RPC_OK);
        assert_int_equal(read.xid, h.xid);
        assert_int_equal(read.direction, h.direction);
        if (h.direction == RPC_CALL) {
            assert_int_equal(read.program, h.program);
            assert_int_equal(read.version, h.version);
            assert_int_equal(read.procedure, h.procedure);
            same_auth(&h.credential, &read.credential);
            same_auth(&h.verifier, &read.verifier);
            assert_int_equal(read.body, out.len);
            continue;
        }
        assert_int_equal(read.status, h.status);
        assert_int_equal(read.body, out.len);
        if (h.status < RPC_MISMATCH)
            same_auth(&h.verifier, &read.verifier);
        if (h.status >= RPC_MISMATCH || h.status == RPC_PROG_MISMATCH)
            assert_int_equal(read.detail[0], h.detail[0]);
        if (h.status == RPC_MISMATCH || h.status == RPC_PROG_MISMATCH)
            assert_int_equal(read.detail[1], h.detail[1]);
    }
}

static void test_bad_headers(void **state)
{
    static const uint8_t long_body[RPC_AUTH_BODY_MAX + 1];
    const struct bytes long_bytes = { long_body, sizeof(long_body) };
    const struct rpc_header rows[] = {
        { .direction = 2 },
        { .direction = RPC_REPLY, .status = 6 },
        { .direction = RPC_REPLY, .status = 15 },
        { .direction = RPC_REPLY, .status = 18 },
        { .credential = { .body = long_bytes } },
        { .credential = { .flavor = RPC_AUTH_SYS, .valid = true, .machine = { long_body, 256 } } },
        { .credential = { .flavor = RPC_AUTH_SYS, .valid = true, .gid_count = 17 } },
        { .credential = { .flavor = RPC_GSS,
                          .valid = true,
                          .gss_version = 1,
                          .gss_context = { long_body, 381 } } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        begin(NULL);
        rpc_put_header(&to, &rows[i]);
        assert_int_equal(to.problem, XDR_PUT_BAD);
    }
}

static void test_record(void **state)
{
    size_t at;

    (void)state;
    at = rpc_put_record_begin(&to);
    xdr_put_u64(&to, 5);
    rpc_put_record_end(&to, at);
    is("80000008 00000000 00000005");
}

/* A header of 40 bytes, |wire| bytes of body, of which |cap| were captured of the whole. */
static void test_body(void **state)
{
    static const uint8_t message[100];
    static const struct {
        uint32_t cap, body, body_len, there;
    } rows[] = {
        { 100, 40, 60, 60 }, { 70, 40, 60, 30 },  { 40, 40, 60, 0 },
        { 12, 40, 60, 0 },   { 100, 40, 20, 20 }, /* a checksum behind it */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct rpc_header h = { .body = rows[i].body, .body_len = rows[i].body_len };
        struct captured b = rpc_body(message, rows[i].cap, &h);

        assert_int_equal(b.cap_len, rows[i].there);
        assert_int_equal(b.wire_len, rows[i].body_len);
        assert_ptr_equal(b.data, message + (rows[i].there ? 40 : 0));
    }
}

/* --- handles --- */

static char seen[200];

static int note(void *ctx, const struct handle_place *place)
{
    size_t len = strlen(seen);

    assert_memory_equal((const uint8_t *)ctx + place->at, place->handle.data, place->handle.len);
    snprintf(seen + len, sizeof(seen) - len, "%s%.*s at %u", len ? ", " : "",
             (int)place->handle.len, (const char *)place->handle.data, place->at);
    return 0;
}

static int give(void *ctx, const struct handle_place *place, struct bytes *handle)
{
    uint32_t *at = ctx;

    *at++ = place->at;
    *handle = place->field->role & ROLE_PARENT2 ? BYTES("longer one") : BYTES("x");
    return 0;
}

static int refuse(void *ctx, const struct handle_place *place, struct bytes *handle)
{
    (void)ctx, (void)place, (void)handle;
    return 1;
}

static struct buf rename_arguments(void)
{
    static const struct named_value values[] = {
        { "from.dir", .bytes = { (const uint8_t *)"dirA", 4 } },
        { "from.name", .bytes = { (const uint8_t *)"old", 3 } },
        { "to.dir", .bytes = { (const uint8_t *)"dirBB", 5 } },
        { "to.name", .bytes = { (const uint8_t *)"newer", 5 } },
    };
    struct buf body = { 0 };
    struct xdr_put p = xdr_put_to(&body, 1000);

    assert_int_equal(write_named(&p, procedure_find(100003, 3, 14)->arguments, values, 4, &err), 0);
    return body;
}

static void test_handles(void **state)
{
    const struct type *type = procedure_find(100003, 3, 14)->arguments;
    struct buf body = rename_arguments();
    const struct bytes all = { body.data, (uint32_t)body.len }, half = { body.data, 12 };
    const struct handle_visitor visitor = { note, body.data };
    uint32_t at = 0;
    const struct handle_giver giver = { give, &at }, none = { refuse, NULL };

    (void)state;
    seen[0] = '\0';
    assert_int_equal(handles_each(type, all, all.len, false, &visitor), WALK_OK);
    assert_string_equal(seen, "dirA at 4, dirBB at 20");
    seen[0] = '\0';
    assert_int_equal(handles_each(type, half, all.len, false, &visitor), WALK_TRUNCATED);
    assert_string_equal(seen, "dirA at 4");

    xdr_put_u32(&to, 9); /* what was there stays */
    assert_int_equal(handles_replace(&to, type, all, all.len, false, &giver), WALK_OK);
    is("00000009 00000001 78000000 00000003 6f6c6400 0000000a 6c6f6e67 6572206f 6e650000 00000005 "
       "6e657765 72000000");
    assert_int_equal(at, 20); /* the last one, in the new body */
    begin(NULL);
    assert_int_equal(handles_replace(&to, type, half, all.len, false, &giver), WALK_TRUNCATED);
    is("00000001 78000000 00000003");
    begin(NULL);
    assert_int_equal(handles_replace(&to, type, all, all.len, false, &none), WALK_STOPPED);
    begin(NULL);
    to.max = 20;
    assert_int_equal(handles_replace(&to, type, all, all.len, false, &giver), WALK_STOPPED);
    assert_int_equal(to.problem, XDR_PUT_TOO_LONG);
    buf_free(&body);
}

/* Every field of class handle is found: of any body as many as it has. */
static uint32_t counted;

static int count_handle(void *ctx, const struct handle_place *place)
{
    (void)ctx;
    assert_int_equal(place->field->cls, CLASS_HANDLE);
    counted++;
    return 0;
}

static void test_all_handles(void **state)
{
    const struct handle_visitor visitor = { count_handle, NULL };
    struct generated g = { .state = 5, .plain = true, .success = true };
    uint32_t all = 0;

    (void)state;
    for (const struct program *const *program = wire_programs; *program; program++)
        for (uint32_t i = 0; i < 20 * (*program)->procedure_count; i++) {
            const struct procedure *p = &(*program)->procedures[i / 20];
            const struct type *type = i & 1 ? p->result : p->arguments;
            uint32_t there = 0;

            if (!p->name)
                continue;
            assert_int_equal(generate(&g, type, &err), 0);
            for (uint32_t k = 0; k < g.count; k++)
                there += g.values[k].field->cls == CLASS_HANDLE;
            counted = 0;
            handles_each(type, (struct bytes){ g.body.data, (uint32_t)g.body.len },
                         (uint32_t)g.body.len, false, &visitor);
            assert_int_equal(counted, there);
            all += there;
        }
    assert_true(all > 500);
    generated_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_xdr, begin),
        cmocka_unit_test_setup(test_bound, begin),
        cmocka_unit_test_setup(test_call, begin),
        cmocka_unit_test_setup(test_headers_are_read, begin),
        cmocka_unit_test_setup(test_bad_headers, begin),
        cmocka_unit_test_setup(test_record, begin),
        cmocka_unit_test_setup(test_body, begin),
        cmocka_unit_test_setup(test_handles, begin),
        cmocka_unit_test_setup(test_all_handles, begin),
    };
    int result;

    wire_init();
    result = cmocka_run_group_tests(tests, NULL, NULL);
    buf_free(&out);
    return result;
}
