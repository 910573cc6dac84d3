/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_kept.c
 *
 * Bodies of all procedures, made at random and captured to any length: whoever reads what is kept
 * of one comes to the verdict that was made when all that was captured was there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/scan.h"
#include "record/kept.h"

enum { BODIES = 3000, BODY_MAX = 512 };

static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

/* Words that are mostly valid booleans, arms, small counts and lengths. */
static uint32_t make_body(uint8_t body[BODY_MAX])
{
    uint32_t len = 4 * draw(BODY_MAX / 4 + 1);

    for (uint32_t i = 0; i < len; i += 4)
        store_be32(body + i, draw(8)   ? draw(2)
                             : draw(4) ? draw(12)
                             : draw(2) ? draw(BODY_MAX)
                                       : draw(UINT32_MAX));
    return len;
}

static struct {
    uint64_t whole, truncated, malformed, malformed_and_cut, surplus;
} seen;

static void check_kept(const struct type *type, const uint8_t *data, uint32_t cap_len,
                       uint32_t wire_len)
{
    uint8_t kept_data[BODY_MAX];
    struct kept_body kept = { .wire_len = wire_len };
    enum walk_result result;
    const char *why = "";
    const struct captured body = { data, cap_len, wire_len };
    struct scan scan = { 0 };
    struct err err;
    struct walk w;

    assert_int_equal(scan_body(&scan, type, &body, NULL, &err), 0);
    kept.flags = (cap_len < wire_len ? SIGHTING_PARTIAL | SIGHTING_CUT : 0) |
                 (scan.result == WALK_MALFORMED ? SIGHTING_MALFORMED : 0);
    kept.data = (struct bytes){ kept_data, scan_kept(&scan, cap_len) };
    memcpy(kept_data, data, kept.data.len);
    if (!kept_agrees(&w, type, &kept, &why))
        fail_msg("%s: %u of %u bytes, %u kept, flags %u: %s", type->name, cap_len, wire_len,
                 kept.data.len, kept.flags, why);
    result = kept_walk(&w, type, &kept, NULL);
    assert_int_equal(result == WALK_MALFORMED, scan.result == WALK_MALFORMED);
    assert_true(result != WALK_MALFORMED || w.problem);
    if (result == WALK_TRUNCATED)
        assert_int_equal(scan.result, WALK_TRUNCATED);
    seen.whole += scan.result == WALK_OK;
    seen.truncated += scan.result == WALK_TRUNCATED;
    seen.malformed += scan.result == WALK_MALFORMED;
    seen.malformed_and_cut += scan.result == WALK_MALFORMED && cap_len < wire_len;
    seen.surplus += w.surplus;
}

static void check_type(const struct type *type)
{
    uint8_t body[BODY_MAX];
    struct walk w;

    for (int i = 0; i < BODIES; i++) {
        uint32_t len = make_body(body), fits;

        /* mostly as long as what it holds */
        walk(&w, type, body, len, len, false, NULL);
        fits = w.offset <= len && draw(4) ? w.offset : len;
        check_kept(type, body, draw(2) ? fits : draw(fits + 1), fits);
    }
}

static void test_all_procedures(void **state)
{
    (void)state;
    for (const struct program *const *g = wire_programs; *g; g++)
        for (uint32_t i = 0; i < (*g)->procedure_count; i++)
            if ((*g)->procedures[i].name) {
                check_type((*g)->procedures[i].arguments);
                check_type((*g)->procedures[i].result);
            }
    assert_true(seen.whole > 10000 && seen.truncated > 10000 && seen.malformed > 10000);
    assert_true(seen.malformed_and_cut > 1000 && seen.surplus > 1000);
}

/* What contradicts the flags is found. */
static void test_contradictions(void **state)
{
    static const uint8_t handle[] = { 0, 0, 0, 4, 1, 2, 3, 4, 9, 9, 9, 9 };
    static const struct {
        uint32_t len, wire_len, flags;
        bool agrees;
        enum walk_result result;
    } cases[] = {
        { 8, 8, 0, true, WALK_OK },
        { 8, 8, SIGHTING_MALFORMED, false, WALK_MALFORMED },
        { 4, 8, 0, false, WALK_TRUNCATED },
        { 4, 8, SIGHTING_PARTIAL, true, WALK_TRUNCATED },
        { 4, 8, SIGHTING_MALFORMED, true, WALK_MALFORMED },
        { 4, 8, SIGHTING_MALFORMED | SIGHTING_PARTIAL, true, WALK_MALFORMED },
        { 12, 12, 0, false, WALK_MALFORMED },
        { 12, 12, SIGHTING_MALFORMED, true, WALK_MALFORMED },
        { 4, 6, 0, false, WALK_MALFORMED },
        { 0, 0, SIGHTING_PARTIAL, false, WALK_MALFORMED },
        { 0, 0, SIGHTING_PARTIAL | SIGHTING_HEADER, true, WALK_TRUNCATED },
        { 4, 0, SIGHTING_PARTIAL | SIGHTING_HEADER, false, WALK_TRUNCATED },
        { 0, 8, SIGHTING_OPAQUE, true, WALK_TRUNCATED },
        { 8, 8, SIGHTING_OPAQUE, false, WALK_TRUNCATED },
    };
    const struct type *type = procedure_find(100003, 3, 1)->arguments;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct kept_body body = { { handle, cases[i].len }, cases[i].wire_len, cases[i].flags };
        const char *why = NULL;
        char path[WALK_PATH_MAX];
        struct walk w;

        if (kept_agrees(&w, type, &body, &why) != cases[i].agrees)
            fail_msg("case %zu agrees: %d", i, !cases[i].agrees);
        walk_path(&w, NULL, path);
        assert_int_equal(kept_walk(&w, type, &body, NULL), cases[i].result);
        walk_path(&w, NULL, path);
        assert_true(why || cases[i].agrees);
    }
}

static int setup(void **state)
{
    (void)state;
    wire_init();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_procedures),
        cmocka_unit_test(test_contradictions),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
