/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* What compares by itself: names in other writings, patterns, spans of lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "judge/judge_fields.h"

#include <stdlib.h>
#include <string.h>

static struct err err;

static struct bytes text(const char *s)
{
    return (struct bytes){ (const uint8_t *)s, (uint32_t)strlen(s) };
}

static void test_names(void **state)
{
    static const struct {
        const char *a, *b, *how;
    } cases[] = {
        { "readme", "README", "case" },
        { "readme", "readme.txt", NULL },
        { "a", "b", NULL },
        { "", "a", NULL },
        { "caf\xc3\xa9", "cafe\xcc\x81", "encoding" }, /* composed, decomposed */
        { "caf\xc3\xa9", "caf\xe9", "encoding" },      /* UTF-8, Latin 1 */
        { "\xc3\xbc\xc3\xb1", "u\xcc\x88n\xcc\x83", "encoding" },
        { "\xed\x95\x9c", "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", "encoding" }, /* Hangul */
        { "\xc5\xbe", "z\xcc\x8c", "encoding" },
        /* two names */
        { "\xc3\xbc"
          "1",
          "\xc3\xb6"
          "1",
          NULL },
        { "\xc3\xbc"
          "1",
          "o\xcc\x88"
          "1",
          NULL },
        { "u\xcc\x88", "u\xcc\x81", NULL },
        { "\xfc", "\xf6", NULL },
        { "\xe4\xb8\xad", "\xe6\x96\x87", NULL },
        { "\xed\x95\x9c", "\xed\x95\x98", NULL },
        { "\xc3", "\xc3\x83\xc3", NULL },
        { "caf\xc3\xa9", "tea", NULL },
        { "caf\xc3\xa9", "caf", NULL },
        { "x\xc3\xa9", "abcdefgh", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int turned = 0; turned < 2; turned++) {
            const char *how = turned ? alike_difference(text(cases[i].b), text(cases[i].a))
                                     : alike_difference(text(cases[i].a), text(cases[i].b));

            if ((how == NULL) != (cases[i].how == NULL) || (how && strcmp(how, cases[i].how)))
                fail_msg("%s and %s: %s", cases[i].a, cases[i].b, how ? how : "nothing");
        }
}

static void test_patterns(void **state)
{
    enum { KNOWN = 10, UNKNOWN, NOTED, EXPECTED };
    static const struct {
        uint64_t scope, ref, sut;
        int what; /* of patterns_hold, or of the above */
        uint64_t expected;
    } steps[] = {
        { 1, 10, 20, UNKNOWN },
        { 1, 10, 20, PATTERN_HOLDS },
        { 1, 10, 99, KNOWN },
        { 1, 99, 20, KNOWN },
        { 2, 10, 20, UNKNOWN },
        /* a single odd value is told once */
        { 1, 10, 21, PATTERN_SUT_CHANGED },
        { 1, 10, 21, EXPECTED, 20 },
        { 1, 10, 20, PATTERN_HOLDS },
        { 1, 10, 20, PATTERN_HOLDS },
        /* and so is one that changed for good */
        { 1, 10, 22, PATTERN_SUT_CHANGED },
        { 1, 10, 22, PATTERN_HOLDS },
        { 1, 10, 22, PATTERN_HOLDS },
        { 1, 11, 22, PATTERN_REF_CHANGED },
        { 1, 11, 22, PATTERN_HOLDS },
        /* both at once may do so; scopes are apart */
        { 1, 12, 23, PATTERN_HOLDS },
        { 3, 10, 77, PATTERN_HOLDS },
        { 1, 12, 50, NOTED },
        { 1, 12, 50, PATTERN_HOLDS },
        /* each of two values belongs to another one */
        { 4, 1, 2, PATTERN_HOLDS },
        { 4, 3, 4, PATTERN_HOLDS },
        { 4, 1, 4, PATTERN_CROSSED },
    };
    struct patterns p = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        const struct pattern_of of = { steps[i].scope, steps[i].ref, steps[i].sut, 0 };
        uint64_t expected = 0;
        int got = steps[i].what == NOTED ? patterns_note(&p, &of, &err) + NOTED
                  : steps[i].what == EXPECTED
                      ? (patterns_expect(&p, &of, SUT, &expected) ? EXPECTED : UNKNOWN)
                  : steps[i].what < KNOWN  ? patterns_hold(&p, &of, &err)
                  : patterns_know(&p, &of) ? KNOWN
                                           : UNKNOWN;

        if (got != steps[i].what || expected != steps[i].expected)
            fail_msg("step %zu: %d, %llu expected", i, got, (unsigned long long)expected);
    }
    patterns_free(&p);
}

/* Values go with their owner; of those without one the oldest go. */
static void test_owners(void **state)
{
    enum { OBJECTS = 50, VALUES = 40, KEPT = 16 };
    struct patterns p = { .unowned_max = KEPT };
    uint32_t cap;

    (void)state;
    for (int round = 0; round < 4; round++) {
        for (uint32_t owner = 1; owner <= OBJECTS; owner++)
            for (uint64_t v = 1; v <= VALUES; v++) {
                const struct pattern_of of = { owner, v, v + 1000, owner };

                assert_int_equal(patterns_hold(&p, &of, &err), PATTERN_HOLDS);
            }
        cap = p.cap;
        for (uint32_t owner = 1; owner <= OBJECTS; owner += 1 + (uint32_t)(round % 2)) {
            const struct pattern_of gone = { owner, 1, 1001, owner },
                                    other = { owner + 1, 1, 1001, owner + 1 };

            assert_true(patterns_know(&p, &gone));
            patterns_forget(&p, owner);
            assert_false(patterns_know(&p, &gone));
            assert_true(owner == OBJECTS || patterns_know(&p, &other));
        }
        assert_true(p.cap == cap || round == 0); /* memory is used again */
    }
    for (uint64_t v = 1; v <= 1000; v++) {
        const struct pattern_of of = { 7, v, v, 0 };

        assert_int_equal(patterns_hold(&p, &of, &err), PATTERN_HOLDS);
        for (uint64_t old = v > 20 ? v - 20 : 1; old <= v; old++)
            assert_int_equal(patterns_know(&p, &(struct pattern_of){ 7, old, old, 0 }),
                             old + KEPT / 2 > v);
    }
    assert_int_equal(p.unowned, KEPT);
    assert_int_equal(patterns_first(&p, REF, 5, 3, &err), 1);
    assert_int_equal(patterns_first(&p, REF, 5, 3, &err), 0);
    assert_int_equal(patterns_first(&p, SUT, 5, 3, &err), 1);
    patterns_forget(&p, 3);
    assert_int_equal(patterns_first(&p, REF, 5, 3, &err), 1);
    patterns_free(&p);
}

/* A reply to MOUNT's EXPORT: a list in a list. */
static void test_nested(void **state)
{
    static const char *const names[] = { "default" };
    static const uint32_t words[] = {
        1, 4, 0x2f737276, /* "/srv" */ 1, 1, 0x61000000, 1, 1, 0x62000000, 0, /* groups a, b */
        1, 4, 0x2f746d70, /* "/tmp" */ 0,                                     /* none */
        0,
    };
    const char *default_text = NULL;
    struct places_set set = { .count = 0 };
    struct rules *rules;
    struct places *places;
    struct body body = { .count = 0 };
    struct elements elements = { .count = 0 };
    struct kept_body kept;
    uint8_t data[sizeof(words)];
    const struct procedure *procedure = procedure_find(100005, 3, 5);

    (void)state;
    wire_init();
    for (const struct rules_builtin *b = rules_builtins; b->name; b++)
        if (strcmp(b->name, "default") == 0)
            default_text = b->text;
    assert_int_equal(rules_read(names, &default_text, 1, &rules, &err), 0);
    set.rules = rules;
    kept = (struct kept_body){ { data, sizeof(data) }, sizeof(data), 0 };
    for (size_t i = 0; i < sizeof(words) / 4; i++)
        store_be32(data + 4 * i, words[i]);
    assert_int_equal(
        places_get(&set, &(struct places_key){ 100005, 3, procedure, true }, &places, &err), 0);
    assert_int_equal(body_read(&body, places, kept, &err), 0);
    assert_int_equal(body.walked, WALK_OK);
    /* the list, then for each element its path, its groups' list, and these */
    assert_int_equal(body.count, 1 + (1 + 1 + 2) + (1 + 1));
    assert_int_equal(body.items[0].value, 2);
    assert_int_equal(lists_length((struct span){ body.items, body.count }), body.count);
    assert_int_equal(body.items[2].value, 2);
    assert_int_equal(lists_length((struct span){ body.items + 2, body.count - 2 }), 3);
    assert_int_equal(elements_add(&elements, (struct span){ body.items, body.count }, &err), 0);
    assert_int_equal(elements.count, 2);
    assert_int_equal(elements.elements[0].span.count, 4);
    assert_int_equal(elements.elements[1].span.count, 2);
    assert_true(elements.elements[0].hash != elements.elements[1].hash);
    /* cut in the middle it is as much as there is */
    kept.data.len = 24;
    kept.flags = SIGHTING_PARTIAL;
    assert_int_equal(body_read(&body, places, kept, &err), 0);
    assert_int_equal(body.walked, WALK_TRUNCATED);
    assert_int_equal(body.count, 4);
    free(elements.elements);
    body_free(&body);
    places_set_free(&set);
    rules_free(rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_owners),
        cmocka_unit_test(test_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
