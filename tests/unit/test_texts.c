/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: room_engine_base */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/texts.h"

enum { COUNT = 4000, LONGEST = 3 * TEXTS_CHUNK * TEXTS_UNIT };

/* Most are short; some have no bytes, some more than a chunk has. */
static size_t length_of(uint32_t i)
{
    if (i % 500 == 499)
        return LONGEST - i;
    return i % 40 ? i % 40 : (i % 80 ? TEXTS_CHUNK : 0);
}

static void fill(uint8_t *to, uint32_t i)
{
    for (size_t at = 0; at < length_of(i); at++)
        to[at] = (uint8_t)(at * 31 + i * 7);
}

static void all_stay_what_they_were(void **state)
{
    static uint8_t bytes[LONGEST];
    static uint32_t numbers[COUNT];
    static const uint8_t *places[COUNT];
    struct texts texts = { 0 };

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        fill(bytes, i);
        numbers[i] = texts_add(&texts, length_of(i) ? bytes : NULL, length_of(i));
        assert_int_not_equal(numbers[i], 0);
        assert_true(!i || numbers[i] > numbers[i - 1]);
        places[i] = texts_at(&texts, numbers[i]);
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        fill(bytes, i);
        assert_ptr_equal(texts_at(&texts, numbers[i]), places[i]);
        assert_memory_equal(places[i], bytes, length_of(i));
        assert_int_equal(texts_number(&texts, places[i]), numbers[i]);
        assert_int_equal(texts_number(&texts, places[i] + 1), 0);
    }
    assert_int_equal(texts_number(&texts, bytes), 0);
    assert_int_equal(texts_number(&texts, NULL), 0);
    texts_free(&texts);
    assert_int_equal(texts.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_stay_what_they_were) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
