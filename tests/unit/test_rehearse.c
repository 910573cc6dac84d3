/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order in which a rehearsal plays operations that overlap, what it makes up for what was not
 * captured, and what it gives up: a line a case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "play_lab.h"

enum { GETATTR = 1, SETATTR, LOOKUP, ACCESS, WRITE = 7, CREATE, MKDIR, REMOVE = 12, RMDIR, RENAME };
enum { OK, NOENT = 2, EXIST = 17, NOTEMPTY = 66, STALE = 70 };
enum { MOST = 4 };

struct step {
    int call, done; /* times */
    struct lab_op op;
    uint32_t mode, size; /* of a regular file's attributes that the result shows; 0: none */
    uint32_t before;     /* ctime of the directory before it, by its wcc_data; 0: none */
};

/* The operations in the order of their calls, numbered from 1; what is played in which order:
 * "2 1" the second before the first, "1!" unplayable, "+REMOVE" made up. */
static const struct {
    const char *what;
    struct step steps[MOST];
    const char *played;
} rows[] = {
    { "one after the other",
      { { 1, 2, { LOOKUP, ROOT_DIR, "f", .shows = F } }, { 3, 4, { REMOVE, ROOT_DIR, "f" } } },
      "1 2" },
    { "a name is found before it goes",
      { { 1, 5, { REMOVE, ROOT_DIR, "f" } }, { 2, 4, { LOOKUP, ROOT_DIR, "f", .shows = F } } },
      "2 1" },
    { "or is gone already",
      { { 1, 5, { REMOVE, ROOT_DIR, "f" } }, { 2, 4, { LOOKUP, ROOT_DIR, "f", .status = NOENT } } },
      "1 2" },
    { "a call that came first was done last",
      { { 1, 5, { LOOKUP, ROOT_DIR, "x", .shows = NEW } },
        { 2, 4, { CREATE, ROOT_DIR, "x", .shows = NEW } } },
      "2 1" },
    { "not if it was over before",
      { { 1, 2, { LOOKUP, ROOT_DIR, "x", .shows = NEW } },
        { 3, 4, { CREATE, ROOT_DIR, "x", .shows = NEW } } },
      "1! 2" },
    { "nobody made it", { { 1, 2, { LOOKUP, ROOT_DIR, "x", .shows = NEW } } }, "1!" },
    { "two that need each other's names",
      { { 1, 8, { RENAME, ROOT_DIR, "f", ROOT_DIR, "x" } },
        { 2, 9, { RENAME, ROOT_DIR, "e", ROOT_DIR, "f" } },
        { 3, 7, { LOOKUP, ROOT_DIR, "x", .shows = F } } },
      "1 3 2" },
    { "the one that was refused came last",
      { { 1, 4, { CREATE, ROOT_DIR, "x", .status = EXIST, .how = 'g' } },
        { 2, 5, { CREATE, ROOT_DIR, "x", .shows = NEW, .how = 'g' } } },
      "2 1" },
    { "a chain of three",
      { { 1, 9, { LOOKUP, ROOT_DIR, "y", .shows = F } },
        { 2, 9, { RENAME, ROOT_DIR, "x", ROOT_DIR, "y" } },
        { 3, 9, { RENAME, ROOT_DIR, "f", ROOT_DIR, "x" } } },
      "3 2 1" },
    { "of two changes the one that was over first",
      { { 1, 9, { CREATE, ROOT_DIR, "x", .shows = NEW } },
        { 2, 8, { CREATE, ROOT_DIR, "y", .shows = 92 } } },
      "2 1" },
    { "unless the server's clock says otherwise",
      { { 1, 9, { CREATE, ROOT_DIR, "x", .shows = NEW }, .before = 5 },
        { 2, 8, { CREATE, ROOT_DIR, "y", .shows = 92 }, .before = 6 } },
      "1 2" },
    { "a change waits for its reply, what it does not concern does not",
      { { 1, 9, { CREATE, D, "x", .shows = NEW } },
        { 2, 9, { LOOKUP, ROOT_DIR, "f", .shows = F } },
        { 3, 4, { GETATTR, G } },
        { 5, 6, { LOOKUP, ROOT_DIR, "x", .shows = 92 } } },
      "2 3 4! 1" },
    { "a stale handle waits for what takes it away",
      { { 1, 5, { GETATTR, F, .status = STALE } }, { 2, 4, { REMOVE, ROOT_DIR, "f" } } },
      "2 1" },
    { "a directory that cannot go is emptied",
      { { 1, 2, { RMDIR, ROOT_DIR, "d" } } },
      "+REMOVE 1" },
    { "but not by another one's time",
      { { 1, 6, { RMDIR, ROOT_DIR, "d" } }, { 2, 5, { REMOVE, D, "g" } } },
      "2 1" },
    { "it was not empty", { { 1, 2, { RMDIR, ROOT_DIR, "d", .status = NOTEMPTY } } }, "1" },
    { "another mode was set unseen", { { 1, 2, { GETATTR, F }, 0600, 10 } }, "+SETATTR 1" },
    { "the same mode was not", { { 1, 2, { GETATTR, F }, 0644, 10 } }, "1" },
    { "unless somebody was about to",
      { { 1, 5, { SETATTR, F, .sets = ASKED_MODE, .value = 0600 } },
        { 2, 4, { GETATTR, F }, 0600, 10 } },
      "1 2" },
    { "which shows the mode before",
      { { 1, 5, { SETATTR, F, .sets = ASKED_MODE, .value = 0600 } },
        { 2, 4, { GETATTR, F }, 0644, 10 } },
      "2 1" },
    { "a size between two writes",
      { { 1, 8, { WRITE, F, .offset = 10, .count = 5, .done = 5 } },
        { 2, 9, { WRITE, F, .offset = 15, .count = 5, .done = 5 } },
        { 3, 7, { GETATTR, F }, 0644, 15 } },
      "1 3 2" },
    { "whoever takes another's name from a sticky directory owned it",
      { { 1, 2, { REMOVE, STICKY_DIR, "theirs", .who = USER } } },
      "+SETATTR 1" },
};

static struct lab lab;
static uint8_t fattr3[MOST][84], wcc_attr[MOST][24];

static struct spooled *make_step(const struct step *s, int index)
{
    struct spooled *o = lab_make(&lab, &s->op);
    uint8_t *p = fattr3[index];

    o->effect.id = index + 1;
    o->effect.call_time = s->call * INT64_C(1000);
    o->effect.done_time = s->done * INT64_C(1000);
    o->effect.timed = true;
    if (s->op.status == STALE)
        o->unplayable = UNPLAYABLE_STALE;
    if (s->before) {
        store_be32(wcc_attr[index] + 16, s->before);
        o->effect.wcc_attr[OF_PARENT] = wcc_attr[index];
    }
    if (!s->mode)
        return o;
    memset(p, 0, 84);
    store_be32(p, OBJECT_REG);
    store_be32(p + 4, s->mode);
    store_be32(p + 8, 1);
    store_be32(p + 12, 1000);
    store_be32(p + 16, 100);
    store_be32(p + 24, s->size);
    o->effect.fattr3[OF_OBJECT] = p;
    return o;
}

static void test_orders(void **state)
{
    int failed = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        lab_begin(&lab);
        for (int k = 0; k < MOST && rows[i].steps[k].call; k++)
            assert_int_equal(rehearse(&lab.r, make_step(&rows[i].steps[k], k), &lab.err), 0);
        assert_int_equal(rehearsal_end(&lab.r, &lab.err), 0);
        if (strcmp(lab.played, rows[i].played) != 0) {
            print_error("%s: %s, not %s\n", rows[i].what, lab.played, rows[i].played);
            failed++;
        }
        lab_end(&lab);
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
