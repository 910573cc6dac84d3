/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A copy with the noted changes played on it is the original (fuzz/change_set_model.h), and every
 * bound of change_set.h holds. */
/* links: room_live_mirror */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fuzz/change_set_model.h"

enum { SEEDS = 5000, LENGTH = 700 };

static uint64_t seed = 1;

static uint32_t random_bits(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33);
}

static void test_stories(void **state)
{
    uint8_t story[LENGTH];

    (void)state;
    for (uint32_t i = 0; i < SEEDS; i++) {
        uint32_t length = i % 8 == 0 ? 4 + random_bits() % 30 : random_bits() % LENGTH;

        for (uint32_t at = 0; at < length; at++)
            story[at] = (uint8_t)random_bits();
        tell_story(story, length);
    }
}

struct lab {
    struct change_pool *pool;
    struct change_set *set;
    struct change_time time;
};

static struct lab begin(bool is_directory, uint64_t contents_max, uint64_t notes_max)
{
    struct err err;
    struct lab lab = { .pool = change_pool_open(contents_max, notes_max, &err) };

    assert_non_null(lab.pool);
    lab.set = change_set_open(lab.pool, is_directory, 0, &err);
    assert_non_null(lab.set);
    return lab;
}

static void end(struct lab *lab)
{
    change_set_close(lab->set);
    assert_int_equal(change_pool_contents(lab->pool), 0);
    assert_int_equal(change_pool_notes(lab->pool), 0);
    change_pool_close(lab->pool);
}

static struct change_time later(struct lab *lab)
{
    lab->time.begin += 2;
    lab->time.end = lab->time.begin + 1;
    return lab->time;
}

static void expect_full(struct lab *lab, enum changes got)
{
    assert_int_equal(got, CHANGES_FULL);
    assert_int_equal(change_set_state(lab->set), CHANGES_FULL);
    assert_true(change_set_is_empty(lab->set));
    change_set_restart(lab->set);
    assert_int_equal(change_set_state(lab->set), CHANGES_NOTED);
}

static void test_impossible(void **state)
{
    struct lab file = begin(false, 100, 1 << 20), directory = begin(true, 100, 1 << 20);
    const struct change_child child = { .handle = { (const uint8_t *)"h", 1 }, .type = 1 };
    const struct bytes name = { (const uint8_t *)"n", 1 }, none = { (const uint8_t *)"n", 0 };
    const struct sattr3 size = { .set_size = true, .size = 3 };
    uint8_t longest[256] = { 0 };

    (void)state;
    expect_full(&file, change_note_made(file.set, later(&file), name, &child));
    expect_full(&file, change_note_removed(file.set, later(&file), name, false));
    expect_full(&file, change_note_write(file.set, later(&file), UINT64_MAX, 1, NULL));
    expect_full(&directory, change_note_write(directory.set, later(&directory), 0, 1, NULL));
    expect_full(&directory, change_note_attributes(directory.set, later(&directory), &size));
    expect_full(&directory, change_note_made(directory.set, later(&directory), none, &child));
    expect_full(&directory, change_note_removed(directory.set, later(&directory),
                                                (struct bytes){ longest, 256 }, false));
    end(&file);
    end(&directory);
}

static void test_bounds(void **state)
{
    struct lab file = begin(false, 0, 1 << 30), directory = begin(true, 0, 1 << 30);
    struct change_child child = { 0 };
    uint8_t name[4];
    uint32_t i;

    (void)state;
    for (i = 0; i < CHANGES_EXTENTS_MAX; i++)
        assert_int_equal(change_note_write(file.set, later(&file), 2 * i, 1, name), CHANGES_NOTED);
    expect_full(&file, change_note_write(file.set, later(&file), 2 * i, 1, name));
    for (i = 0; i < CHANGES_NAMES_MAX; i++) {
        store_be32(name, i);
        assert_int_equal(
            change_note_made(directory.set, later(&directory), (struct bytes){ name, 4 }, &child),
            CHANGES_NOTED);
    }
    assert_true(change_pool_notes(directory.pool) < (uint64_t)CHANGES_NAMES_MAX * 160);
    store_be32(name, i);
    expect_full(&directory, change_note_removed(directory.set, later(&directory),
                                                (struct bytes){ name, 4 }, false));
    child.link_text = (struct bytes){ name, 65537 };
    expect_full(&directory, change_note_made(directory.set, later(&directory),
                                             (struct bytes){ name, 4 }, &child));
    child = (struct change_child){ .handle = { name, 65 } };
    expect_full(&directory, change_note_made(directory.set, later(&directory),
                                             (struct bytes){ name, 4 }, &child));
    end(&file);
    end(&directory);
}

/* Contents up to the last byte of the bound; and what was overwritten makes room. */
static void test_contents(void **state)
{
    struct lab lab = begin(false, 100, 1 << 20);
    struct change_cursor cursor = { 0 };
    struct change change;
    uint8_t data[101] = { 7 };

    (void)state;
    change_note_write(lab.set, later(&lab), 0, 60, data);
    assert_int_equal(change_note_write(lab.set, later(&lab), 40, 60, data), CHANGES_NOTED);
    assert_int_equal(change_pool_contents(lab.pool), 100);
    assert_true(change_set_next(lab.set, &cursor, &change));
    assert_true(change.kind == CHANGE_WRITE && change.length == 100 && change.data.data[40] == 7);
    assert_int_equal(change_note_write(lab.set, later(&lab), 0, 101, data), CHANGES_NOTED);
    assert_int_equal(change_pool_contents(lab.pool), 0);
    cursor = (struct change_cursor){ 0 };
    assert_true(change_set_next(lab.set, &cursor, &change));
    assert_true(change.kind == CHANGE_READ_AGAIN && change.length == 101 && !change.data.data);
    end(&lab);
}

static enum changes write_byte(struct lab *lab, uint64_t at, uint64_t since, uint64_t until)
{
    return change_note_write(lab->set, (struct change_time){ since, until }, at, 1, NULL);
}

/* One after the other is no conflict, and the first reason stays. */
static void test_conflict(void **state)
{
    struct lab lab = begin(false, 100, 1 << 20);

    (void)state;
    assert_int_equal(write_byte(&lab, 7, 1, 5), CHANGES_NOTED);
    assert_int_equal(write_byte(&lab, 7, 5, 6), CHANGES_NOTED);
    assert_int_equal(write_byte(&lab, 6, 2, 7), CHANGES_NOTED);
    assert_int_equal(write_byte(&lab, 7, 4, 8), CHANGES_AMBIGUOUS);
    assert_true(change_set_is_empty(lab.set));
    assert_int_equal(write_byte(&lab, UINT64_MAX, 9, 10), CHANGES_AMBIGUOUS);
    change_set_restart(lab.set);
    /* the copy begins anew, but what was at once remains at once */
    assert_int_equal(write_byte(&lab, 7, 3, 11), CHANGES_AMBIGUOUS);
    change_set_restart(lab.set);
    assert_int_equal(write_byte(&lab, 7, 11, 12), CHANGES_NOTED);
    assert_false(change_set_is_empty(lab.set));
    end(&lab);
}

/* A slow operation, when |count| others have come and gone meanwhile. */
static enum changes slow(uint32_t count, uint64_t since)
{
    struct lab lab = begin(false, 100, 1 << 20);
    enum changes got;

    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(write_byte(&lab, 2 * i, 10 * i, 10 * i + 9), CHANGES_NOTED);
    got = write_byte(&lab, 1, since, UINT64_MAX);
    end(&lab);
    return got;
}

static void test_rivals(void **state)
{
    (void)state;
    assert_int_equal(slow(CHANGES_RIVALS, 1), CHANGES_NOTED);
    assert_int_equal(slow(CHANGES_RIVALS + 1, 8), CHANGES_AMBIGUOUS);
    assert_int_equal(slow(CHANGES_RIVALS + 1, 9), CHANGES_NOTED);
    assert_int_equal(slow(CHANGES_RIVALS + 3, 28), CHANGES_AMBIGUOUS);
    assert_int_equal(slow(CHANGES_RIVALS + 3, 29), CHANGES_NOTED);
}

/* A long file, written in order: blocks. */
static void test_blocks(void **state)
{
    enum { PIECE = 8192, PIECES = 100 };
    struct lab lab = begin(false, 1 << 20, 1 << 20);
    struct change_cursor cursor = { 0 };
    struct change change;
    uint8_t data[PIECE];
    uint64_t at = 1000;

    (void)state;
    for (uint32_t i = 0; i < PIECES; i++) {
        memset(data, (int)i, sizeof(data));
        assert_int_equal(
            change_note_write(lab.set, later(&lab), 1000 + (uint64_t)i * PIECE, PIECE, data),
            CHANGES_NOTED);
    }
    while (change_set_next(lab.set, &cursor, &change)) {
        assert_int_equal(change.kind, CHANGE_WRITE);
        assert_int_equal(change.offset, at);
        assert_true(change.length <= CHANGES_BLOCK);
        for (uint64_t i = 0; i < change.length; i++)
            assert_int_equal(change.data.data[i], (at + i - 1000) / PIECE);
        at += change.length;
        assert_true(at % CHANGES_BLOCK == 0 || at == 1000 + PIECE * PIECES);
    }
    assert_int_equal(at, 1000 + PIECE * PIECES);
    end(&lab);
}

/* The end of the numbers. */
static void test_far(void **state)
{
    struct lab lab = begin(false, 100, 1 << 20);
    struct sattr3 size = { .set_size = true, .size = UINT64_MAX };
    struct change_cursor cursor = { 0 };
    struct change change;

    (void)state;
    assert_int_equal(change_note_attributes(lab.set, later(&lab), &size), CHANGES_NOTED);
    assert_int_equal(
        change_note_write(lab.set, later(&lab), UINT64_MAX - 3, 3, (const uint8_t *)"abc"),
        CHANGES_NOTED);
    size.size = UINT64_MAX - 2;
    assert_int_equal(change_note_attributes(lab.set, later(&lab), &size), CHANGES_NOTED);
    assert_true(change_set_next(lab.set, &cursor, &change));
    assert_true(change.kind == CHANGE_SIZE && change.size == UINT64_MAX - 2);
    assert_true(change_set_next(lab.set, &cursor, &change));
    assert_true(change.kind == CHANGE_WRITE && change.offset == UINT64_MAX - 3);
    assert_int_equal(change.length, 1);
    assert_int_equal(change.data.data[0], 'a');
    assert_false(change_set_next(lab.set, &cursor, &change));
    end(&lab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stories),  cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_bounds),   cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_far),      cmocka_unit_test(test_contents),
        cmocka_unit_test(test_conflict), cmocka_unit_test(test_rivals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
