/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_shadow_known.c
 *
 * live/shadow: what lies beside objects, because few of them have it: struct known_rare, and lists
 * of touches.  Both are what plain arrays say, in whatever order they come and go.
 */
#include "touches_lab.h"

static uint64_t seed = 1;

static uint32_t below(uint32_t most)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % most;
}

/* --- struct known_rare */

enum { KNOWN = 3000, RARE_STEPS = 300000 };

static void check_rare(const struct shadow *s, const uint64_t changed[KNOWN], uint32_t object)
{
    const struct known_rare *rare = known_rare_find(s, object);

    assert_int_equal(rare != NULL, changed[object] != 0);
    assert_int_equal(rare_of(s, object)->changed, changed[object]);
    assert_int_equal(rare_of(s, object)->same_before, 0);
}

static void test_rare(void **state)
{
    static uint64_t changed[KNOWN]; /* the oracle; 0: it has none */
    struct shadow s = { 0 };
    uint32_t count = 0;

    (void)state;
    for (uint32_t i = 1; i < KNOWN; i++)
        assert_non_null(known_get(&s, i, &err));
    s.born_count = 0;
    for (uint32_t i = 1; i <= RARE_STEPS; i++) {
        uint32_t object = 1 + below(KNOWN - 1);

        check_rare(&s, changed, object);
        if (below(3)) {
            known_rare_get(&s, object, &err)->changed = changed[object] = i;
        } else {
            known_forget(&s, object);
            assert_non_null(known_get(&s, object, &err));
            s.born_count = changed[object] = 0;
        }
        check_rare(&s, changed, object);
    }
    for (uint32_t i = 1; i < KNOWN; i++) {
        check_rare(&s, changed, i);
        count += changed[i] != 0;
    }
    assert_int_equal(s.by_rare.used, count);
    assert_true(s.rare.count <= KNOWN);
    known_free_all(&s);
}

/* --- touches */

enum { REQUESTS = 12, TOUCH_STEPS = 20000 };

static const struct asking askings[] = {
    { .procedure = SETATTR, .on = F },
    { .procedure = WRITE, .on = F },
    { .procedure = REMOVE, .on = D1, .gone = F, .name = "f" },
    { .procedure = REMOVE, .on = D2, .gone = G, .name = "g" },
    { .procedure = RENAME, .on = D1, .to = D2, .moved = F, .gone = G, .name = "f", .name2 = "g" },
    { .procedure = RENAME, .on = D1, .to = D1, .moved = F, .name = "f", .name2 = "h" },
    { .procedure = LINK, .on = G, .to = D3, .name2 = "i" },
};

/* The list of an object has all touches of it: those of earlier requests first. */
static void check_touches(const struct shadow *s, struct request *const requests[], uint32_t count)
{
    uint32_t touched = 0;

    for (uint32_t object = D1; object < OBJECTS_END; object++) {
        const struct touch *first = touches_of(s, object), *t = first, *last = NULL;

        for (uint32_t i = 0; i < count; i++)
            for (const struct touch *own = touch_at(s, requests[i]->touches); own;
                 own = touch_at(s, own->further)) {
                if (own->object != object)
                    continue;
                assert_ptr_equal(t, own);
                assert_ptr_equal(request_of(s, t), requests[i]);
                if (last)
                    assert_ptr_equal(touch_at(s, t->previous), last);
                last = t;
                t = touch_at(s, t->next);
            }
        assert_null(t);
        if (first)
            assert_ptr_equal(touch_at(s, first->previous), last);
        touched += first != NULL;
    }
    assert_int_equal(s->touched.used, touched);
}

static void test_touches(void **state)
{
    struct request *requests[REQUESTS]; /* in the order in which they came */
    uint32_t count = 0;
    struct shadow s;

    (void)state;
    begin(&s);
    s.is_ending = true; /* nothing is forgotten */
    for (uint32_t i = 0; i < TOUCH_STEPS; i++) {
        if (count < REQUESTS && below(2)) {
            requests[count++] = ask(&s, &askings[below(sizeof(askings) / sizeof(*askings))], 1, 2);
        } else if (count) {
            uint32_t which = below(count--);

            touches_clear(&s, requests[which]);
            requests_free(&s, requests[which]);
            for (; which < count; which++)
                requests[which] = requests[which + 1];
        }
        check_touches(&s, requests, count);
    }
    while (count)
        requests_free(&s, requests[--count]);
    check_touches(&s, requests, 0);
    requests_free_all(&s);
    mirror_close(s.mirror);
    known_free_all(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rare),
        cmocka_unit_test(test_touches),
    };

    wire_init();
    if (nfs3_structs_init(&err) < 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
