/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_layout.c
 *
 * record/layout_fields.h: what a field of any type sets when it is there, it clears when it is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/layout_fields.h"

#include <string.h>

enum { SIZE = 64, AT = 16 /* the field in the record */ };

struct fixture {
    struct layout_reader reader;
    struct layout_field field;
    uint8_t body[SIZE + LAYOUT_SLACK];
};

static void get(struct fixture *f, void *record)
{
    const uint8_t *end = f->body + SIZE;

    f->reader.lists.len = 0;
    memset(&f->reader.bases, 0, sizeof(f->reader.bases));
    assert_non_null(layout_get_field(&f->reader, &f->field, f->body, end, record));
}

static void clear(struct fixture *f, void *record)
{
    layout_clear_field(&f->reader, &f->field, record);
}

/* Returns how many bytes |set| decides, from the field's beginning on, and leaves them in |bytes|.
 */
static size_t decided(struct fixture *f, void (*set)(struct fixture *, void *),
                      uint64_t bytes[SIZE / 8])
{
    uint64_t other[SIZE / 8];
    const uint8_t *a = (const uint8_t *)bytes, *b = (const uint8_t *)other;
    size_t len = 0;

    memset(bytes, 0xaa, SIZE);
    memset(other, 0x55, SIZE);
    set(f, bytes);
    set(f, other);
    for (size_t i = 0; i < SIZE; i++) {
        if (a[i] != b[i])
            continue;
        assert_int_equal(i, AT + len); /* no others, and no gap */
        len++;
    }
    return len;
}

static void absent_fields_are_cleared(void **state)
{
    static struct fixture f = { .reader = { .format = &nfsr_format } };
    uint64_t there[SIZE / 8], absent[SIZE / 8];

    (void)state;
    for (unsigned type = 0; type < LAYOUT_TYPE_MAX; type++) {
        size_t len, cleared;

        f.field = (struct layout_field){ "field", AT, (uint8_t)type };
        memset(f.body, 1, sizeof(f.body)); /* a number, a list of one, a byte */
        if (type == LAYOUT_ADDRESS)
            f.body[0] = 6;
        len = decided(&f, get, there);
        cleared = decided(&f, clear, absent);
        assert_int_not_equal(len, 0);
        assert_in_range(cleared, len, (len + 7) / 8 * 8); /* with the padding behind it */
        assert_memory_not_equal(there, absent, SIZE);
        for (size_t i = AT; type != LAYOUT_TIME && i < AT + len; i++)
            assert_int_equal(((const uint8_t *)absent)[i], 0);
        if (type == LAYOUT_TIME)
            assert_memory_equal((const uint8_t *)absent + AT, &nfsr_format.no_time, len);
    }
    buf_free(&f.reader.lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_fields_are_cleared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
