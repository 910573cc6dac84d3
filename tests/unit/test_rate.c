/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_words(void **state)
{
    static const struct {
        uint64_t bytes;
        double part;
        int64_t now;
        const char *text;
    } calls[] = {
        { 0, 0, 5000, "0 B, 0 %" },
        { 512 << 10, 0.01, 5500, "512.0 KiB, 1 %" },
        { 1 << 20, 0.02, 6000, "1.0 MiB, 2 %, 1.0 MiB/s, 49 s left" },
        { 10 << 20, 0.2, 25000, "10.0 MiB, 20 %, 512.0 KiB/s, 1 min 20 s left" },
        { 10 << 20, 0.2, 2005000, "10.0 MiB, 20 %, 5.1 KiB/s, 2 h 13 min left" },
        { 50 << 20, 1, 2565000, "50.0 MiB, 100 %, 20.0 KiB/s, 0 s left" },
        /* another file begins */
        { 1024, 0.5, 3000100, "1.0 KiB, 50 %" },
        { 2048, 0.75, 3002100, "2.0 KiB, 75 %, 512 B/s, 2 s left" },
        /* a pipe */
        { 1024, -1, 4000000, "1.0 KiB" },
        { 3072, -1, 4002000, "3.0 KiB, 1.0 KiB/s" },
        /* nothing comes */
        { 0, 0, 5000000, "0 B, 0 %" },
        { 0, 0, 5009000, "0 B, 0 %" },
        /* too long to say */
        { 1, 1e-9, 5010000, "1 B, 0 %, 0 B/s" },
    };
    struct rate rate = { 0 };
    char text[RATE_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        rate_text(&rate, calls[i].bytes, calls[i].part, calls[i].now, text);
        if (strcmp(text, calls[i].text) != 0)
            fail_msg("%zu: \"%s\", not \"%s\"", i, text, calls[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_words) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
