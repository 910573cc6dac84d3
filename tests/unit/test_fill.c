/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: room_live_fill */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fill/fill.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLE = 16, LONG = 3 * FILL_RUN + 5 };

/* The examples of docs/contents.md, which a script computes in its own way (contents_spec.py). */
static void examples(void **state)
{
    char path[4096], line[256], hex[2 * SAMPLE + 1], text[2 * SAMPLE + 1];
    uint32_t seen = 0;
    FILE *file;

    (void)state;
    snprintf(path, sizeof(path), "%s/docs/contents.md", getenv("SRC"));
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file)) {
        uint64_t key, offset;
        const uint8_t *at;

        if (sscanf(line, "| %" SCNu64 " | %" SCNu64 " | `%32[0-9a-f]` |", &key, &offset, hex) != 3)
            continue;
        at = fill_at(key, offset);
        for (int i = 0; i < SAMPLE; i++)
            snprintf(text + (size_t)2 * i, 3, "%02x", at[i]);
        assert_string_equal(text, hex);
        seen++;
    }
    fclose(file);
    assert_int_equal(seen, 9);
}

/* A piece is the function at each of its offsets, also behind the table's end. */
static void pieces(void **state)
{
    uint8_t *copy = malloc(LONG);

    (void)state;
    assert_non_null(copy);
    fill_copy(7, 12345, copy, LONG);
    for (uint32_t at = 0; at < LONG; at++)
        assert_int_equal(copy[at], *fill_at(7, 12345 + at));
    for (uint32_t start = 0; start < FILL_PERIOD; start += 65521) {
        const uint8_t *run = fill_at(9, start);

        for (uint32_t at = 0; at < FILL_RUN; at += 4093)
            assert_int_equal(run[at], *fill_at(9, start + at));
        assert_int_equal(run[FILL_RUN - 1], *fill_at(9, start + FILL_RUN - 1));
    }
    free(copy);
}

static void same(void **state)
{
    static const uint32_t places[] = { 0, 1, 4095, FILL_RUN - 1, FILL_RUN, FILL_PERIOD, LONG - 1 };
    uint8_t *copy = malloc(LONG);

    (void)state;
    assert_non_null(copy);
    fill_copy(3, UINT64_C(1) << 60, copy, LONG);
    assert_int_equal(fill_same(3, UINT64_C(1) << 60, (struct bytes){ copy, LONG }), LONG);
    assert_int_equal(fill_same(3, 0, (struct bytes){ copy, 0 }), 0);
    assert_true(fill_same(3, (UINT64_C(1) << 60) + 1, (struct bytes){ copy, LONG }) < 8);
    assert_true(fill_same(4, UINT64_C(1) << 60, (struct bytes){ copy, LONG }) < 8);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        copy[places[i]] ^= 1;
        assert_int_equal(fill_same(3, UINT64_C(1) << 60, (struct bytes){ copy, LONG }), places[i]);
        copy[places[i]] ^= 1;
    }
    free(copy);
}

/* No two blocks of 4 KiB of the first 4 GiB begin alike: their places in the table differ. */
static void blocks_differ(void **state)
{
    uint8_t *seen = calloc(1, FILL_PERIOD);
    const uint8_t *low = fill_at(1, 0);

    (void)state;
    assert_non_null(seen);
    for (uint32_t at = 0; at < FILL_PERIOD; at++)
        if (fill_at(1, at) < low)
            low = fill_at(1, at);
    for (uint64_t block = 0; block < FILL_PERIOD; block++) {
        size_t place = (size_t)(fill_at(1, block * 4096) - low);

        assert_true(place < FILL_PERIOD && !seen[place]);
        seen[place] = 1;
    }
    free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),
        cmocka_unit_test(pieces),
        cmocka_unit_test(same),
        cmocka_unit_test(blocks_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
