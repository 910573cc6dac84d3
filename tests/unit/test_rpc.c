/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_rpc.c
 *
 * RPC headers, written by hand from RFC 5531 s8 and s9, RFC 2203 s5 and RFC 2695 s2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire/rpc.h"
#include "wire_sample.h"

static struct sample s;

static void put_opaque(const void *data, uint32_t len)
{
    put_u32(&s, len);
    put_raw(&s, data, len);
}

static void put_words(unsigned count, ...)
{
    va_list ap;

    va_start(ap, count);
    while (count--)
        put_u32(&s, va_arg(ap, unsigned));
    va_end(ap);
}

/* Up to the credential. */
static void begin_call(void)
{
    sample_reset(&s);
    put_words(6, 0x89abcdef, 0, 2, 100003, 3, 6);
}

static void auth_none(void)
{
    put_words(2, 0, 0);
}

/* Begins an authenticator; end_auth fills in its length. */
static uint32_t begin_auth(uint32_t flavor)
{
    put_words(2, flavor, 0);
    return s.len;
}

static void end_auth(uint32_t start)
{
    store_be32(s.bytes + start - 4, s.len - start);
}

static void auth_sys(const char *machine, uint32_t gids)
{
    uint32_t start = begin_auth(1), i;

    put_u32(&s, 0xcafe);
    put_opaque(machine, (uint32_t)strlen(machine));
    put_words(3, 1000, 100, gids);
    for (i = 0; i < gids; i++)
        put_u32(&s, 3000 + i);
    end_auth(start);
}

static void auth_gss(uint32_t version, uint32_t procedure, uint32_t service)
{
    uint32_t start = begin_auth(6);

    put_words(4, version, procedure, 77, service);
    put_opaque("context", 7);
    end_auth(start);
}

static enum rpc_result parse(uint32_t cap, uint32_t wire, struct rpc_header *h)
{
    static uint8_t *copy; /* of just the captured size; kept until the next one */

    free(copy);
    copy = malloc(cap ? cap : 1);
    assert_non_null(copy);
    memcpy(copy, s.bytes, cap);
    memset(h, 0x5a, sizeof(*h));
    return rpc_parse(copy, cap, wire, h);
}

static struct rpc_header parse_ok(void)
{
    struct rpc_header h;

    assert_int_equal(parse(s.len, s.len, &h), RPC_OK);
    return h;
}

static void test_call(void **state)
{
    struct rpc_header h;
    uint32_t header, gids;

    (void)state;
    for (gids = 0; gids <= 16; gids++) {
        begin_call();
        auth_sys("client.example", gids);
        auth_none();
        header = s.len;
        put_raw(&s, "arguments...", 12);
        h = parse_ok();
        assert_int_equal(h.xid, 0x89abcdef);
        assert_int_equal(h.direction, RPC_CALL);
        assert_int_equal(h.rpc_version, 2);
        assert_int_equal(h.program, 100003);
        assert_int_equal(h.version, 3);
        assert_int_equal(h.procedure, 6);
        assert_int_equal(h.credential.flavor, RPC_AUTH_SYS);
        assert_int_equal(h.credential.offset, 32);
        assert_int_equal(h.credential.body.len, 4 + 4 + 16 + 12 + 4 * gids);
        assert_true(h.credential.valid);
        assert_int_equal(h.credential.stamp, 0xcafe);
        assert_int_equal(h.credential.machine.len, 14);
        assert_memory_equal(h.credential.machine.data, "client.example", 14);
        assert_int_equal(h.credential.uid, 1000);
        assert_int_equal(h.credential.gid, 100);
        assert_int_equal(h.credential.gid_count, gids);
        if (gids)
            assert_int_equal(h.credential.gids[gids - 1], 3000 + gids - 1);
        assert_int_equal(h.verifier.flavor, RPC_AUTH_NONE);
        assert_true(h.verifier.valid);
        assert_int_equal(h.body, header);
        assert_int_equal(h.body_len, 12);
        assert_false(h.body_protected);
    }
}

/* A credential that breaks its form is carried, but not believed. */
static void assert_not_valid(void)
{
    struct rpc_header h;

    auth_none();
    h = parse_ok();
    assert_false(h.credential.valid);
    assert_int_equal(h.credential.flavor, RPC_AUTH_SYS);
    assert_int_equal(h.credential.offset, 32);
    assert_int_equal(h.credential.stamp, 0);
    assert_int_equal(h.credential.uid, 0);
    assert_int_equal(h.credential.gid_count, 0);
    assert_null(h.credential.machine.data);
    assert_int_equal(h.body, s.len);
    assert_false(h.body_protected);
}

static void test_bad_auth_sys(void **state)
{
    char long_name[257];
    uint32_t start, cut;

    (void)state;
    begin_call();
    auth_sys("a", 17);
    assert_not_valid();
    memset(long_name, 'n', 256);
    long_name[256] = '\0';
    begin_call();
    auth_sys(long_name, 0);
    assert_not_valid();
    begin_call(); /* bytes behind the last group */
    start = begin_auth(1);
    put_words(6, 1, 0, 2, 3, 0, 99);
    end_auth(start);
    assert_not_valid();
    begin_call(); /* fewer groups than announced */
    start = begin_auth(1);
    put_words(6, 1, 0, 2, 3, 2, 99);
    end_auth(start);
    assert_not_valid();
    for (cut = 0; cut < 20; cut += 4) {
        begin_call();
        start = begin_auth(1);
        put_raw(&s, "\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\3\0\0\0", cut);
        end_auth(start);
        assert_not_valid();
    }
    long_name[255] = '\0';
    begin_call();
    auth_sys(long_name, 16);
    auth_none();
    assert_true(parse_ok().credential.valid);
}

static void test_other_flavors(void **state)
{
    struct rpc_header h;
    uint32_t start, kind, len;

    (void)state;
    begin_call();
    put_u32(&s, 2);
    put_opaque("short hand", 10);
    put_u32(&s, 390003); /* no flavor that is known */
    put_opaque("?", 1);
    h = parse_ok();
    assert_int_equal(h.credential.flavor, RPC_AUTH_SHORT);
    assert_true(h.credential.valid);
    assert_int_equal(h.credential.body.len, 10);
    assert_int_equal(h.verifier.flavor, 390003);
    assert_false(h.verifier.valid);
    assert_int_equal(h.verifier.body.len, 1);

    for (kind = 0; kind < 3; kind++) { /* AUTH_DH: full name, nickname, neither */
        for (len = 0; len <= 32; len += 4) {
            begin_call();
            start = begin_auth(3);
            put_u32(&s, kind);
            if (kind == 0)
                put_opaque("unix.1@example", 14);
            put_raw(&s, "0123456789abcdef0123456789abcdef", len);
            end_auth(start);
            put_u32(&s, 3);
            put_opaque("0123456789abcdef", len < 16 ? len : 16);
            h = parse_ok();
            assert_int_equal(h.credential.flavor, RPC_AUTH_DH);
            assert_int_equal(h.credential.valid,
                             (kind == 0 && len == 12) || (kind == 1 && len == 4));
            assert_int_equal(h.verifier.valid, len == 12);
            assert_false(h.body_protected);
        }
    }
}

static void test_auth_bound(void **state)
{
    uint8_t body[408] = { 0 };
    struct rpc_header h;

    (void)state;
    begin_call();
    put_u32(&s, 2);
    put_opaque(body, 400);
    auth_none();
    assert_int_equal(parse_ok().credential.body.len, 400);
    begin_call();
    put_u32(&s, 2);
    put_opaque(body, 401);
    auth_none();
    assert_int_equal(parse(s.len, s.len, &h), RPC_NOT);
    assert_int_equal(h.body, 28);
    begin_call();
    put_words(2, 2, 0xfffffffe); /* would be 0 after rounding up */
    assert_int_equal(parse(s.len, UINT32_MAX, &h), RPC_NOT);
}

static void test_gss_call(void **state)
{
    struct rpc_header h;
    uint32_t version, procedure, service, header;

    (void)state;
    for (version = 0; version < 5; version++) {
        for (procedure = 0; procedure < 6; procedure++) {
            for (service = 0; service < 5; service++) {
                bool known = version >= 1 && version <= 3;

                begin_call();
                auth_gss(version, procedure, service);
                put_u32(&s, 6);
                put_opaque("checksum", 8);
                header = s.len;
                put_words(2, 8, 77); /* integrity: length, sequence number, arguments */
                put_raw(&s, "args", 4);
                put_opaque("body checksum", 13);
                h = parse_ok();
                assert_int_equal(h.credential.valid, known);
                assert_true(h.verifier.valid);
                if (known) {
                    assert_int_equal(h.credential.gss_version, version);
                    assert_int_equal(h.credential.gss_procedure, procedure);
                    assert_int_equal(h.credential.gss_sequence, 77);
                    assert_int_equal(h.credential.gss_service, service);
                    assert_int_equal(h.credential.gss_context.len, 7);
                    assert_memory_equal(h.credential.gss_context.data, "context", 7);
                }
                if (known && procedure == 0 && service == 1) { /* none */
                    assert_false(h.body_protected);
                    assert_int_equal(h.body, header);
                    assert_int_equal(h.body_len, s.len - header);
                } else if (known && procedure == 0 && service == 2) { /* integrity */
                    assert_false(h.body_protected);
                    assert_int_equal(h.body, header + 8);
                    assert_int_equal(h.body_len, 4);
                } else { /* privacy, control procedures, what is not known */
                    assert_true(h.body_protected);
                    assert_int_equal(h.body, header);
                }
            }
        }
    }
}

/* A wrapping that lies about its length hides its body; one that was cut off does if less than its
 * first 8 bytes are there. */
static void test_bad_wrapping(void **state)
{
    static const uint32_t lengths[] = { 0, 3, 4, 5, 12, 13, 0xffffffff };
    struct rpc_header h;
    uint32_t header, i;

    (void)state;
    for (i = 0; i < 7; i++) {
        begin_call();
        auth_gss(1, 0, 2);
        auth_none();
        header = s.len;
        put_words(4, lengths[i], 77, 0, 0);
        h = parse_ok();
        assert_int_equal(h.body_protected, lengths[i] < 4 || lengths[i] > 12);
        if (!h.body_protected)
            assert_int_equal(h.body_len, lengths[i] - 4);
    }
    store_be32(s.bytes + header, 12);
    for (i = header; i <= s.len; i++) {
        assert_int_equal(parse(i, s.len, &h), RPC_OK);
        assert_int_equal(h.body_protected, i < header + 8);
    }
}

static void begin_reply(uint32_t state)
{
    sample_reset(&s);
    put_words(3, 0x01020304, 1, state);
}

static void test_accepted(void **state)
{
    static const char *const names[] = { "SUCCESS",      "PROG_UNAVAIL", "PROG_MISMATCH",
                                         "PROC_UNAVAIL", "GARBAGE_ARGS", "SYSTEM_ERR" };
    struct rpc_header h;
    uint32_t status, header;

    (void)state;
    for (status = 0; status <= 5; status++) {
        begin_reply(0);
        put_u32(&s, 2);
        put_opaque("short", 5);
        put_u32(&s, status);
        if (status == 2)
            put_words(2, 3, 4);
        header = s.len;
        if (status == 0)
            put_raw(&s, "results.", 8);
        h = parse_ok();
        assert_int_equal(h.xid, 0x01020304);
        assert_int_equal(h.direction, RPC_REPLY);
        assert_int_equal(h.verifier.flavor, RPC_AUTH_SHORT);
        assert_int_equal(h.verifier.body.len, 5);
        assert_int_equal(h.verifier.offset, 20);
        assert_int_equal(h.status, status);
        assert_int_equal(h.detail[0], status == 2 ? 3 : 0);
        assert_int_equal(h.detail[1], status == 2 ? 4 : 0);
        assert_int_equal(h.body, header);
        assert_int_equal(h.body_len, status == 0 ? 8 : 0);
        assert_string_equal(rpc_status_name(status), names[status]);
    }
    begin_reply(0);
    auth_none();
    put_u32(&s, 6);
    assert_int_equal(parse(s.len, s.len, &h), RPC_NOT);
    assert_int_equal(h.body, 20);
    assert_null(rpc_status_name(6));
}

static void test_rejected(void **state)
{
    struct rpc_header h;
    uint32_t why;

    (void)state;
    begin_reply(1);
    put_words(3, 0, 2, 2);
    h = parse_ok();
    assert_int_equal(h.status, RPC_MISMATCH);
    assert_int_equal(h.detail[0], 2);
    assert_int_equal(h.detail[1], 2);
    assert_string_equal(rpc_status_name(h.status), "RPC_MISMATCH");
    for (why = 0; why <= 15; why++) { /* auth_stat, and one that is in no list */
        begin_reply(1);
        put_words(2, 1, why);
        h = parse_ok();
        assert_int_equal(h.status, RPC_AUTH_ERROR);
        assert_int_equal(h.detail[0], why);
        assert_int_equal(h.body, s.len);
        assert_int_equal(h.body_len, 0);
    }
    assert_string_equal(rpc_status_name(RPC_AUTH_ERROR), "AUTH_ERROR");
    begin_reply(1);
    put_words(2, 2, 0);
    assert_int_equal(parse(s.len, s.len, &h), RPC_NOT);
    assert_int_equal(h.body, 12);
    begin_reply(2);
    put_words(2, 0, 0);
    assert_int_equal(parse(s.len, s.len, &h), RPC_NOT);
    assert_int_equal(h.body, 8);
}

static void test_not_rpc(void **state)
{
    struct rpc_header h;

    (void)state;
    begin_call();
    auth_none();
    auth_none();
    store_be32(s.bytes + 4, 2); /* neither call nor reply */
    assert_int_equal(parse(s.len, s.len, &h), RPC_NOT);
    assert_int_equal(h.body, 4);
    store_be32(s.bytes + 4, 0);
    store_be32(s.bytes + 8, 3); /* RPC version */
    assert_int_equal(parse(s.len, s.len, &h), RPC_NOT);
    assert_int_equal(h.body, 8);
}

/* Each cut of |s|, whose header is |header| bytes long: not all there is not RPC if the message was
 * no longer, and truncated if it was. */
static void check_cuts(uint32_t header)
{
    struct rpc_header whole = parse_ok(), h;
    uint32_t cap;

    for (cap = 0; cap <= s.len; cap++) {
        assert_int_equal(parse(cap, s.len, &h), cap < header ? RPC_TRUNCATED : RPC_OK);
        assert_true(h.body <= cap || cap >= header);
        if (cap >= 8) {
            assert_int_equal(h.xid, whole.xid);
            assert_int_equal(h.direction, whole.direction);
        }
        if (cap >= 24 && whole.direction == RPC_CALL) {
            assert_true(h.body >= 24);
            assert_int_equal(h.program, whole.program);
            assert_int_equal(h.version, whole.version);
            assert_int_equal(h.procedure, whole.procedure);
        }
        if (cap < 24)
            assert_true(h.body < 24);
        assert_int_equal(parse(cap, cap, &h), cap < header ? RPC_NOT : RPC_OK);
    }
}

static void test_cuts(void **state)
{
    uint32_t header;

    (void)state;
    begin_call();
    auth_sys("client", 3);
    auth_none();
    header = s.len;
    put_raw(&s, "arguments...", 12);
    check_cuts(header);
    begin_call();
    auth_gss(1, 0, 1);
    put_u32(&s, 6);
    put_opaque("checksum", 8);
    header = s.len;
    put_raw(&s, "arguments...", 12);
    check_cuts(header);
    begin_reply(0);
    put_u32(&s, 6);
    put_opaque("checksum!", 9);
    put_words(3, 2, 3, 4);
    check_cuts(s.len);
    begin_reply(1);
    put_words(3, 0, 2, 2);
    check_cuts(s.len);
    begin_reply(1);
    put_words(2, 1, 5);
    check_cuts(s.len);
}

static void test_gss_reply(void **state)
{
    struct rpc_header call, reply, before;
    uint32_t procedure, service, status, header;

    (void)state;
    for (procedure = 0; procedure < 4; procedure++) {
        for (service = 1; service < 4; service++) {
            for (status = 0; status < 2; status++) {
                begin_call();
                auth_gss(1, procedure, service);
                auth_none();
                put_words(4, 12, 77, 0, 0);
                call = parse_ok();
                begin_reply(0);
                put_u32(&s, 6);
                put_opaque("checksum", 8);
                put_u32(&s, status);
                header = s.len;
                put_words(4, 8, 77, 0, 0);
                reply = before = parse_ok();
                assert_int_equal(reply.body, header);
                rpc_reply_in_clear(s.bytes, s.len, &call.credential, &reply);
                if (status || (procedure == 0 && service == 1)) {
                    assert_false(reply.body_protected);
                    assert_int_equal(reply.status, before.status);
                    assert_int_equal(reply.body, before.body);
                    assert_int_equal(reply.body_len, before.body_len);
                } else if (procedure == 0 && service == 2) {
                    assert_false(reply.body_protected);
                    assert_int_equal(reply.body, header + 8);
                    assert_int_equal(reply.body_len, 4);
                } else {
                    assert_true(reply.body_protected);
                }
            }
        }
    }
    /* the same reply to a call with AUTH_SYS */
    store_be32(s.bytes + header - 4, 0);
    reply = parse_ok();
    call.credential = (struct rpc_auth){ .flavor = RPC_AUTH_SYS };
    rpc_reply_in_clear(s.bytes, s.len, &call.credential, &reply);
    assert_false(reply.body_protected);
    assert_int_equal(reply.body, header);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call),          cmocka_unit_test(test_bad_auth_sys),
        cmocka_unit_test(test_other_flavors), cmocka_unit_test(test_auth_bound),
        cmocka_unit_test(test_gss_call),      cmocka_unit_test(test_bad_wrapping),
        cmocka_unit_test(test_accepted),      cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_not_rpc),       cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_gss_reply),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
