/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bound structs (wire/bind.h): random bodies of all bound types by the tables are read as walk()
 * judges them, and are written to the same bytes; rows that do not fit are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bound_types.h"
#include "generated.h"

#include <stdio.h>
#include <stdlib.h>

enum { SEEDS = 300, TYPES = 44 + 14 + 12 + 6 + 10 + 11 + 15 };

static struct err err;

/* What is read is written to the same bytes, of the length that bind_size says. */
static void check_same(const struct bound_type *t, struct bytes body)
{
    static struct bound_room room;
    struct buf made = { 0 };
    struct xdr_put to = xdr_put_to(&made, body.len);

    bound_room(t, &room, 50);
    assert_int_equal(bind_read(t->bound, body, room.at), WALK_OK);
    assert_int_equal(bind_size(t->bound, room.at), body.len);
    assert_int_equal(bind_write(t->bound, &to, room.at), 0);
    assert_int_equal(made.len, body.len);
    if (body.len)
        assert_memory_equal(made.data, body.data, body.len);
    if (body.len) { /* without room for the last word */
        made.len = 0;
        to = xdr_put_to(&made, body.len - 4);
        assert_int_equal(bind_write(t->bound, &to, room.at), -ERR_USAGE);
        assert_int_equal(to.problem, XDR_PUT_TOO_LONG);
    }
    buf_free(&made);
}

static void check_verdict(const struct bound_type *t, const uint8_t *body, uint32_t len)
{
    static struct bound_room room;
    uint8_t *exact = malloc(len ? len : 1);
    struct walk w;

    assert_non_null(exact);
    memcpy(exact, body, len);
    bound_room(t, &room, 50);
    assert_int_equal(bind_read(t->bound, (struct bytes){ exact, len }, room.at),
                     walk(&w, t->type, exact, len, len, false, NULL));
    free(exact);
}

static void test_random_bodies(void **state)
{
    struct generated g = { .state = 1 };
    struct bound_type t;
    uint32_t i;

    (void)state;
    for (i = 0; bound_types(i, &t); i++)
        for (int k = 0; k < SEEDS; k++) {
            uint32_t len;

            g.success = k % 4 < 2;
            g.plain = k % 8 < 4;
            assert_int_equal(generate(&g, t.type, &err), 0);
            len = (uint32_t)g.body.len;
            check_same(&t, (struct bytes){ g.body.data, len });
            for (int n = 0; n < 20 && len; n++) { /* cut, longer, changed */
                uint8_t *word = g.body.data + generated_random(&g, len / 4) * 4;
                uint32_t was = load_be32(word);

                check_verdict(&t, g.body.data, (uint32_t)generated_random(&g, len));
                store_be32(word, (uint32_t)generated_random(&g, n % 2 ? 0 : 70));
                check_verdict(&t, g.body.data, len);
                store_be32(word, was);
            }
            assert_int_equal(buf_append(&g.body, "more", 4), 0);
            check_verdict(&t, g.body.data, len + 4);
        }
    assert_int_equal(i, TYPES);
    generated_free(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_bodies),
    };

    if (bound_types_init(&err) < 0)
        return fprintf(stderr, "%s\n", err.text), 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
