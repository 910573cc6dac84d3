/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_effect_entries.c
 *
 * Fast readers of lists against the walk that sees every field: what is passed over is judged as
 * what is looked at, and entries that are read by their form are those that a walk finds.  Replies
 * are made by chance, then damaged at one place, or cut.
 */
#include "effect/entries.c"
#include "unit/chance_body.h"
#include "wire/rpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { REPLIES = 3000, DAMAGES = 20 };

enum { READDIR = 16, READDIRPLUS = 17 };

static const uint32_t listings[] = { READDIR, READDIRPLUS };

static int see(void *ctx, const struct visit *v)
{
    (void)ctx, (void)v;
    return 0;
}

/* The judgement of a walk, as bytes. */
static void judge(const struct type *type, const struct buf *body, uint32_t roles, struct buf *to)
{
    const struct visitor visitor = { see, NULL, roles };
    struct xdr_put put = xdr_put_to(to, XDR_PUT_ANY_LENGTH);
    struct walk w;
    uint32_t wire = (uint32_t)body->len + (body->len % 3 ? 0 : 100); /* some were cut */
    char path[WALK_PATH_MAX];

    to->len = 0;
    xdr_put_u32(&put, walk(&w, type, body->data, (uint32_t)body->len, wire, false, &visitor));
    xdr_put_u32(&put, w.offset);
    xdr_put_u32(&put, w.surplus);
    xdr_put_bytes(&put, w.problem ? w.problem : "", w.problem ? (uint32_t)strlen(w.problem) : 0);
    walk_path(&w, NULL, path);
    xdr_put_bytes(&put, path, (uint32_t)strlen(path));
}

static int note(void *ctx, const struct effect_entry *entry)
{
    struct xdr_put *to = ctx;

    xdr_put_opaque(to, entry->name);
    xdr_put_opaque(to, entry->handle);
    xdr_put_u64(to, entry->cookie);
    xdr_put_u32(to, entry->has_attributes);
    if (entry->has_attributes) {
        xdr_put_u32(to, entry->attributes.type);
        xdr_put_u64(to, entry->attributes.fileid);
        xdr_put_u64(to, (uint64_t)entry->attributes.ctime);
    }
    return 0;
}

static void assert_same_bytes(const struct buf *a, const struct buf *b, const char *name,
                              const char *what)
{
    if (a->len != b->len || (a->len && memcmp(a->data, b->data, a->len) != 0))
        fail_msg("%s: %s", name, what);
}

/* Returns whether entries were read by their form. */
static bool same(const struct procedure *procedure, const struct buf *body)
{
    struct effect e = { .procedure = procedure,
                        .result_body = { body->data, (uint32_t)body->len },
                        .rpc_status = RPC_SUCCESS,
                        .status = body->len >= 4 ? load_be32(body->data) : 0 };
    struct buf all = { 0 }, fast = { 0 };
    struct xdr_put to_all = xdr_put_to(&all, XDR_PUT_ANY_LENGTH),
                   to_fast = xdr_put_to(&fast, XDR_PUT_ANY_LENGTH);
    int stopped = 0;
    bool read;

    judge(procedure->result, body, 0, &all);
    judge(procedure->result, body, ROLE_EOF, &fast);
    assert_same_bytes(&all, &fast, procedure->name, "judged otherwise if it is passed over");
    all.len = fast.len = 0;
    effect_decode_reply(&e);
    read = e.succeeded && read_entries(&e, true, note, &to_fast, &stopped);
    if (read) {
        walk_entries(&e, note, &to_all);
        assert_same_bytes(&all, &fast, procedure->name, "other entries");
        all.len = 0;
        assert_int_equal(effect_entries(&e, note, &to_all), 0);
        assert_same_bytes(&all, &fast, procedure->name, "other entries at the end");
    }
    buf_free(&all);
    buf_free(&fast);
    return read;
}

static void test_same(void **unused)
{
    uint32_t by_form = 0;

    (void)unused;
    list_most = 9;
    for (uint32_t n = 0; n < REPLIES; n++) {
        const struct procedure *procedure =
            procedure_find(NFS3_PROGRAM, NFS3_VERSION, listings[n % 2]);
        struct buf body = { 0 };
        struct xdr_put to = xdr_put_to(&body, XDR_PUT_ANY_LENGTH);
        size_t len;

        put_type(&to, procedure->result);
        by_form += same(procedure, &body);
        for (uint32_t k = 0; k < DAMAGES && body.len; k++) {
            uint32_t at = some((uint32_t)body.len);
            uint8_t was = body.data[at];

            body.data[at] ^= (uint8_t)(1 << some(8));
            same(procedure, &body);
            body.data[at] = was;
        }
        len = body.len;
        body.len = len ? some((uint32_t)len) : 0;
        same(procedure, &body);
        body.len = len;
        buf_free(&body);
    }
    assert_true(by_form > REPLIES / 2);
}

static int stop_at_third(void *ctx, const struct effect_entry *entry)
{
    (void)entry;
    return ++*(int *)ctx == 3 ? 7 : 0;
}

static void test_stop(void **unused)
{
    const struct procedure *procedure = procedure_find(NFS3_PROGRAM, NFS3_VERSION, READDIRPLUS);
    uint32_t stops = 0;

    (void)unused;
    for (uint32_t n = 0; n < 100; n++) {
        struct buf body = { 0 };
        struct xdr_put to = xdr_put_to(&body, XDR_PUT_ANY_LENGTH);
        struct effect e = { .procedure = procedure, .rpc_status = RPC_SUCCESS };
        int seen = 0, result;

        put_type(&to, procedure->result);
        e.result_body = (struct bytes){ body.data, (uint32_t)body.len };
        e.status = load_be32(body.data);
        effect_decode_reply(&e);
        result = effect_names(&e, stop_at_third, &seen);
        assert_int_equal(result, seen == 3 ? 7 : 0);
        stops += seen == 3;
        buf_free(&body);
    }
    assert_true(stops > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_same), cmocka_unit_test(test_stop) };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
