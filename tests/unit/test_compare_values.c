/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What compares by itself: names in other writings, patterns, spans of lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compare/pairs.h"

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
            const char *how = turned ? names_difference(text(cases[i].b), text(cases[i].a))
                                     : names_difference(text(cases[i].a), text(cases[i].b));

            if ((how == NULL) != (cases[i].how == NULL) || (how && strcmp(how, cases[i].how)))
                fail_msg("%s and %s: %s", cases[i].a, cases[i].b, how ? how : "nothing");
        }
}

static void test_patterns(void **state)
{
    struct patterns p = { 0 };

    (void)state;
    assert_false(pattern_is_known(&p, 1, 10, 20));
    assert_int_equal(pattern_holds(&p, 1, 10, 20, &err), PATTERN_HOLDS);
    assert_true(pattern_is_known(&p, 1, 10, 99));
    assert_true(pattern_is_known(&p, 1, 99, 20));
    assert_false(pattern_is_known(&p, 2, 10, 20));
    /* a single odd value is told once */
    assert_int_equal(pattern_holds(&p, 1, 10, 21, &err), PATTERN_SUT_CHANGED);
    assert_int_equal(pattern_holds(&p, 1, 10, 20, &err), PATTERN_HOLDS);
    assert_int_equal(pattern_holds(&p, 1, 10, 20, &err), PATTERN_HOLDS);
    /* and so is one that changed for good */
    assert_int_equal(pattern_holds(&p, 1, 10, 22, &err), PATTERN_SUT_CHANGED);
    assert_int_equal(pattern_holds(&p, 1, 10, 22, &err), PATTERN_HOLDS);
    assert_int_equal(pattern_holds(&p, 1, 10, 22, &err), PATTERN_HOLDS);
    assert_int_equal(pattern_holds(&p, 1, 11, 22, &err), PATTERN_REF_CHANGED);
    assert_int_equal(pattern_holds(&p, 1, 11, 22, &err), PATTERN_HOLDS);
    /* both at once may do so; scopes are apart */
    assert_int_equal(pattern_holds(&p, 1, 12, 23, &err), PATTERN_HOLDS);
    assert_int_equal(pattern_holds(&p, 3, 10, 77, &err), PATTERN_HOLDS);
    assert_int_equal(pattern_note(&p, 1, 12, 50, &err), 0);
    assert_int_equal(pattern_holds(&p, 1, 12, 50, &err), PATTERN_HOLDS);
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
    assert_int_equal(places_get(&set, 100005, 3, procedure, true, &places, &err), 0);
    assert_int_equal(body_read(&body, places, kept, &err), 0);
    assert_int_equal(body.walked, WALK_OK);
    /* the list, then for each element its path, its groups' list, and these */
    assert_int_equal(body.count, 1 + (1 + 1 + 2) + (1 + 1));
    assert_int_equal(body.items[0].value, 2);
    assert_int_equal(list_length((struct span){ body.items, body.count }), body.count);
    assert_int_equal(body.items[2].value, 2);
    assert_int_equal(list_length((struct span){ body.items + 2, body.count - 2 }), 3);
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

/* Differences that are the same when the sides change places, and those that are not. */
static void test_neutral(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        { "NFS3_OK, NFS3ERR_ACCES", "NFS3ERR_ACCES, NFS3_OK", true },
        { "NFS3_OK, NFS3ERR_ACCES", "NFS3_OK, NFS3ERR_JUKEBOX", false },
        { "NFS3_OK, NFS3ERR_ACCES", "NFS3ERR_ACCES, NFS3ERR_ACCES", false },
        { "only ref", "only sut", true },
        { "only ref, other case", "only sut, other case", true },
        { "only ref, other case", "only sut", false },
        { "only ref's", "only sut's", true },
        { "only ref answered", "only sut answered", true },
        { "sut larger", "sut smaller", true },
        { "sut later", "sut earlier", true },
        { "sut more", "sut fewer", true },
        { "sut later", "sut larger", false },
        { "sut changed, ref not", "ref changed, sut not", true },
        { "ref of this request, sut earlier", "sut of this request, ref earlier", true },
        { "ref of this request, sut earlier", "sut earlier", false },
        { "ref from before the trace, sut not", "sut from before the trace, ref not", true },
        { "ref from before the trace, sut not", "both from before the trace", false },
        { "022 only sut", "022 only ref", true },
        { "022 only sut", "02 only sut", false },
        { "01 only ref, 02 only sut", "02 only ref, 01 only sut", true },
        { "01 only ref, 02 only sut", "03 only sut", false },
        { "differs", "differs", true },
        { "differs", "", false },
    };
    char a[COMPARE_TEXT_MAX], b[COMPARE_TEXT_MAX], many[COMPARE_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        noise_neutral(cases[i].a, a);
        noise_neutral(cases[i].b, b);
        if ((strcmp(a, b) == 0) != cases[i].same)
            fail_msg("\"%s\" is \"%s\", \"%s\" is \"%s\"", cases[i].a, a, cases[i].b, b);
    }
    memset(many, ',', sizeof(many) - 1);
    many[sizeof(many) - 1] = '\0';
    noise_neutral(many, a);
    assert_string_equal(a, "");
    memset(many, 'x', sizeof(many) - 1);
    noise_neutral(many, a);
    for (size_t i = 1; i < sizeof(many) - 1; i += 2)
        many[i] = ' ';
    noise_neutral(many, b);
    assert_true(strlen(b) < COMPARE_TEXT_MAX && strlen(b) > COMPARE_TEXT_MAX / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neutral),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
