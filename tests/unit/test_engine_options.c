/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_engine_options.c
 *
 * engine/flow/options.h: the table and its defaults.  What can be given is in
 * test_nfspair_options.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine.h"

#include <string.h>

static void the_defaults(void **state)
{
    static const struct {
        const char *name, *text;
    } known[] = {
        { "rpc-port", "" },         { "stream-window", "8M" }, { "total-window", "48M" },
        { "connections", "16384" }, { "pending", "65536" },    { "retransmit-span", "900s" },
        { "reorder-span", "50ms" }, { "same-server", "" },
    };
    char text[ENGINE_DEFAULT_TEXT];

    (void)state;
    assert_int_equal(sizeof(known) / sizeof(*known), ENGINE_OPTIONS);
    for (unsigned i = 0; i < ENGINE_OPTIONS; i++) {
        assert_string_equal(engine_option_table[i].name, known[i].name);
        assert_string_equal(engine_option_default(&engine_option_table[i], text), known[i].text);
        assert_ptr_equal(engine_option_named(known[i].name), &engine_option_table[i]);
    }
    assert_null(engine_option_table[ENGINE_OPTIONS].name);
    assert_null(engine_option_named("moon"));
}

/* A default can be given, and is then in the member that the table names. */
static void a_default_can_be_given(void **state)
{
    (void)state;
    for (const struct engine_option *o = engine_option_table; o->name; o++) {
        struct engine_settings settings;
        char text[ENGINE_DEFAULT_TEXT];
        struct err err;

        engine_settings_init(&settings);
        if (!*engine_option_default(o, text))
            continue;
        assert_int_equal(engine_option_set(o, &settings, text, &err), 0);
        if (o->unit == ENGINE_TIME)
            assert_int_equal(*(int64_t *)((char *)&settings.options + o->offset), o->initial);
        else
            assert_int_equal(*(uint32_t *)((char *)&settings.options + o->offset), o->initial);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_defaults),
        cmocka_unit_test(a_default_can_be_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
