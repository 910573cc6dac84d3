/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pieces/border and pieces/range: files that say what no program writes. */
#include "flow/pair.h"
#include "pieces/range.h"
#include "pieces/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char name[] = "/tmp/test_range.XXXXXX";

static const char *path(void)
{
    static char text[STATE_PATH_MAX];

    return state_path(text, name, ".border");
}

/* More replies than can be held: join makes a list of them. */
static void replies_without_end(void **state)
{
    struct border border = { .held = 2 * HELD_MAX, .first = 1 }, back;
    struct err err = { 0 };

    (void)state;
    border.after.from = border.end.from = OUTLINE_UNKNOWN;
    assert_int_equal(border_write(path(), &border, &err), 0);
    assert_int_equal(border_read(path(), &back, &err), 0);
    border_free(&back);
    border.held++;
    assert_int_equal(border_write(path(), &border, &err), 0);
    assert_int_equal(border_read(path(), &back, &err), -ERR_INPUT);
}

/* A range of one piece cannot be one in which a piece must be made again. */
static void one_piece_again(void **state)
{
    struct border border = { .first = 1 };
    struct range range, back;
    struct err err = { 0 };

    (void)state;
    border.after.from = border.end.from = OUTLINE_UNKNOWN;
    assert_int_equal(range_piece(&range, "a", &border, &err), 0);
    assert_int_equal(range_write(name, &range, &err), 0);
    assert_int_equal(range_read(name, &back, &err), 0);
    assert_int_equal(back.count, 1);
    range_free(&back);
    range.again = true;
    assert_int_equal(range_write(name, &range, &err), 0);
    assert_int_equal(range_read(name, &back, &err), -ERR_INPUT);
    range_free(&range);
}

static int begin(void **state)
{
    int fd = mkstemp(name);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int end(void **state)
{
    (void)state;
    unlink(path());
    return unlink(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_without_end),
        cmocka_unit_test(one_piece_again),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
