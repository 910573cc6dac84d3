/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names/told: paths of any depth. */
#include "names/told.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { DEEP = 1 << 19 };

/* Parents come first, and each path once. */
static int see(void *ctx, const struct record *r, struct err *err)
{
    uint64_t *seen = ctx;

    (void)err;
    assert_int_equal(r->kind, RECORD_PATH);
    assert_int_equal(r->path.id, *seen + 1);
    assert_int_equal(r->path.parent, *seen);
    ++*seen;
    return 0;
}

/* Each name of a path once: this test would take minutes if each path looked for the first one. */
static void a_deep_path(void **state)
{
    struct path *paths = calloc(DEEP + 1, sizeof(*paths));
    const struct flows flows = { 0 };
    static uint8_t text[1];
    uint8_t *chunk = text;
    struct objects objects = { .paths = paths, .texts.chunks = &chunk };
    struct told t = { 0 };
    struct err err = { 0 };
    uint64_t seen = 0;

    (void)state;
    assert_non_null(paths);
    assert_int_equal(told_init(&t, &objects, &flows, &err), 0);
    t.out = (struct sink){ see, &seen };
    for (uint32_t i = 1; i <= DEEP; i++)
        paths[i].parent = i - 1;
    assert_int_equal(tell_path(&t, DEEP / 2, &err), 0);
    assert_int_equal(seen, DEEP / 2);
    assert_int_equal(tell_path(&t, DEEP, &err), 0);
    assert_int_equal(tell_path(&t, DEEP, &err), 0);
    assert_int_equal(seen, DEEP);
    told_free(&t);
    free(paths);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deep_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
