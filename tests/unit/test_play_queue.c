/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A queue of operations gives the lowest key first, as looking at all of them does, however their
 * keys come. */
/* links: room_live_player */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "player/play_queue.h"
#include "player/player_parts.h"

enum { MOST = 700, STEPS = 200000 };

static uint64_t seed = 1;
static struct play plays[MOST];
static int64_t keys[MOST]; /* the oracle: what is queued, by number of its play */
static bool queued[MOST];

static uint32_t below(uint32_t most)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % most;
}

static uint32_t lowest(void)
{
    uint32_t best = MOST;

    for (uint32_t i = 0; i < MOST; i++)
        if (queued[i] && (best == MOST || keys[i] < keys[best]))
            best = i;
    return best;
}

static void check_later(const struct play_queue *q, int64_t key)
{
    uint32_t before = 0;

    for (uint32_t i = 0; i < MOST; i++)
        before += queued[i] && keys[i] <= key;
    if (play_queue_is_behind(q, 10, key))
        assert_true(before > 10);
}

/* |back|: so far a key may be behind the last one.  |fill|: of 10 steps, how many add. */
static void as_a_list(uint32_t back, uint32_t fill)
{
    struct play_queue q = { 0 };
    uint32_t count = 0;
    int64_t last = 0;
    struct err err;

    for (uint32_t step = 0; step < STEPS / (back + 1) + 5000; step++) {
        const struct queued *first = play_queue_first(&q);
        uint32_t low = lowest(), i = below(MOST);

        assert_int_equal(play_queue_count(&q), count);
        assert_int_equal(first != NULL, low < MOST);
        if (first)
            assert_int_equal(first->key, keys[low]);
        if (below(10) < fill && !queued[i]) {
            keys[i] = (last += below(3)) - below(back + 1);
            queued[i] = true;
            assert_int_equal(play_queue_add(&q, keys[i], &plays[i], &err), 0);
            count++;
            check_later(&q, keys[i]);
        } else if (first) {
            struct play *play = play_queue_take(&q);

            assert_true(queued[play - plays] && keys[play - plays] == keys[low]);
            queued[play - plays] = false;
            count--;
        }
    }
    while (play_queue_count(&q))
        queued[play_queue_take(&q) - plays] = false;
    assert_int_equal(lowest(), MOST);
    play_queue_free(&q);
}

static void ascending(void **state)
{
    (void)state;
    as_a_list(0, 5);
    as_a_list(0, 8);
}

static void nearly_ascending(void **state)
{
    (void)state;
    as_a_list(20, 5);
    as_a_list(20, 9);
    as_a_list(200, 6);
}

static void mixed(void **state)
{
    (void)state;
    as_a_list(2000, 5);
    as_a_list(2000, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascending),
        cmocka_unit_test(nearly_ascending),
        cmocka_unit_test(mixed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
