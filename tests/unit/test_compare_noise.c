/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Noise of a reference against itself: differences that are the same in either direction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compare/compare_parts.h"

#include <string.h>

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
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_neutral) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
