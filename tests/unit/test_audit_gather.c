/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts of a frame as the audit notes them, against each byte looked at by itself. */
#include "audit/audit_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

enum { LEAST = 6, FRAMES = 20000, LEN_MOST = 400 };

static uint64_t state = 88172645463325252u;

static uint32_t random_number(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 20) % below;
}

static bool is_printable(uint8_t c)
{
    return c >= 0x20 && c < 0x7f;
}

/* Texts and other bytes in turns, some of them at the bounds of what is printable. */
static void make(uint8_t *data, uint32_t len)
{
    static const uint8_t other[] = { 0, 0x1f, 0x7f, 0x80, 0xa0, 0xff }, text[] = " ~a0";

    for (uint32_t at = 0; at < len;) {
        bool printable = random_number(2);
        uint32_t run = 1 + random_number(printable ? random_number(20) ? 9 : 150 : 12);

        for (; run && at < len; run--, at++)
            data[at] = printable ? text[random_number(4)] : other[random_number(6)];
    }
}

/* Takes the runs out of the note one by one. */
static void check(const uint8_t *data, uint32_t len, const uint8_t *note, size_t note_len)
{
    size_t at = 0;

    for (uint32_t start = 0, end; start < len; start = end + 1) {
        uint32_t run;

        for (end = start; end < len && is_printable(data[end]);)
            end++;
        if (end - start < LEAST)
            continue;
        assert_true(at + sizeof(run) <= note_len);
        memcpy(&run, note + at, sizeof(run));
        at += sizeof(run);
        assert_int_equal(run, end - start);
        assert_true(at + run <= note_len);
        assert_memory_equal(note + at, data + start, run);
        at += run;
    }
    assert_int_equal(at, note_len);
}

static void test_texts(void **ctx)
{
    struct buf note = { 0 };
    struct err err = { 0 };

    (void)ctx;
    for (unsigned i = 0; i < FRAMES; i++) {
        uint32_t len = 1 + random_number(LEN_MOST);
        uint8_t *data = malloc(len); /* exactly, so that a sanitizer sees its end */
        struct frame frame = { .number = 1, .data = data, .cap_len = len, .wire_len = len };

        assert_non_null(data);
        make(data, len);
        note.len = 0;
        assert_int_equal(gather_look(NULL, &frame, &note, &err), 0);
        assert_true(note.len >= sizeof(struct peek));
        check(data, len, note.data + sizeof(struct peek), note.len - sizeof(struct peek));
        free(data);
    }
    buf_free(&note);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
