/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_effect_shapes.c
 *
 * Whatever a reply is, shapes_decode_reply says of it what effect_decode_reply does.  Replies are
 * made by chance from the tables of all procedures of NFS and NFSACL; then one byte of each is
 * another one, or its end is missing, so that forms are met that nearly are known.
 */
#include "effect/shapes.h"
#include "unit/chance_body.h"
#include "wire/rpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { REPLIES = 4000 };

static struct effect begin(const struct procedure *procedure, const struct buf *body)
{
    struct effect e;

    memset(&e, 0, sizeof(e));
    e.procedure = procedure;
    e.result_body = (struct bytes){ body->data, (uint32_t)body->len };
    e.rpc_status = RPC_SUCCESS;
    e.status = body->len >= 4 ? load_be32(body->data) : 0;
    return e;
}

/* Returns whether the body is one of the type. */
static bool same(struct shapes *shapes, const struct procedure *procedure, const struct buf *body)
{
    struct effect expected = begin(procedure, body), got = expected;

    effect_decode_reply(&expected);
    shapes_decode_reply(shapes, &got);
    if (memcmp(&expected, &got, sizeof(got)) != 0)
        fail_msg("%s, a body of %zu bytes", procedure->name, body->len);
    return got.result == WALK_OK;
}

/* Whether the next body of this form needs no walk. */
static bool is_known(const struct shapes *shapes, const struct procedure *procedure, size_t len)
{
    for (unsigned i = 0; i < SHAPES; i++)
        if (shapes->all[i].procedure == procedure && shapes->all[i].len == len)
            return true;
    return false;
}

static void test_same(void **unused)
{
    struct shapes *shapes = calloc(1, sizeof(*shapes));
    uint32_t good = 0, known = 0;

    (void)unused;
    assert_non_null(shapes);
    for (uint32_t n = 0; n < REPLIES; n++) {
        const struct procedure *procedure = n % 8 ? procedure_find(100003, 3, 1 + some(21))
                                                  : procedure_find(100227, 3, 1 + some(4));
        struct buf body = { 0 };
        struct xdr_put to = xdr_put_to(&body, XDR_PUT_ANY_LENGTH);
        size_t len;
        uint32_t at;
        uint8_t was;

        if (!procedure)
            continue;
        put_type(&to, procedure->result);
        known += is_known(shapes, procedure, body.len);
        good += same(shapes, procedure, &body);
        for (uint32_t k = 0; k < 20 && body.len; k++) {
            at = some((uint32_t)body.len);
            was = body.data[at];
            body.data[at] ^= (uint8_t)(1 << some(8));
            same(shapes, procedure, &body);
            body.data[at] = was;
        }
        len = body.len;
        body.len = len ? some((uint32_t)len) : 0;
        same(shapes, procedure, &body);
        body.len = len;
        same(shapes, procedure, &body);
        buf_free(&body);
    }
    assert_true(good > REPLIES / 2);
    assert_true(known > REPLIES / 10);
    free(shapes);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_same) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
