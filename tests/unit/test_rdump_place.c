/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: room_model_rdump */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rdump/rdump_place.h"

static void names(void **state)
{
    char name[RDUMP_NAME_ROOM];

    (void)state;
    rdump_root_name(7, name);
    assert_string_equal(name, "root-7");
    rdump_root_name(UINT32_MAX, name);
    assert_string_equal(name, "root-4294967295");
    rdump_link_name(12, 3, name);
    assert_string_equal(name, "link-12-3");
    rdump_link_name(UINT32_MAX, UINT32_MAX, name);
    assert_string_equal(name, "link-4294967295-4294967295");
}

static void links(void **state)
{
    static const struct {
        uint8_t type;
        uint32_t nlink, entries, further;
    } cases[] = {
        { 1, 1, 1, 0 }, { 1, 1, 0, 0 }, { 1, 3, 0, 2 }, { 1, 3, 1, 2 }, { 1, 3, 3, 0 },
        { 1, 2, 3, 0 }, { 1, 0, 0, 0 }, { 2, 9, 1, 0 }, { 0, 2, 1, 1 }, { 5, 2, 1, 1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rdump_object object = { .type = cases[i].type, .nlink = cases[i].nlink };

        assert_int_equal(rdump_further_links(&object, cases[i].entries), cases[i].further);
    }
}

static void texts(void **state)
{
    struct rdump_object object = { .link = { (const uint8_t *)"a/b", 3 }, .size = 9 };

    (void)state;
    assert_int_equal(rdump_link_text(&object).len, 3);
    object.link.len = 0;
    assert_int_equal(rdump_link_text(&object).len, 9);
    assert_memory_equal(rdump_link_text(&object).data, "xxxxxxxxx", 9);
    object.size = 0;
    assert_int_equal(rdump_link_text(&object).len, 1);
    object.size = UINT64_MAX;
    assert_int_equal(rdump_link_text(&object).len, RDUMP_TEXT_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(links),
        cmocka_unit_test(texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
