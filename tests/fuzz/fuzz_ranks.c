/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_ranks.c
 *
 * Any bytes as what another rank of a replay says.  Held to: no read beyond them; what is accepted
 * is written again as it was meant; a tally can be added up and written.
 *
 * Input: a byte, and the message.  The byte: 0 outcomes; 1 a tally; 2 to 4 what a WRITE, a CREATE
 * and a READDIR have taught.
 */
#include "fill/fill.h"
#include "player/places.h"
#include "player/tally.h"
#include "player/verdict_lesson.h"
#include "ranks/outcomes.h"

#include <stdlib.h>

enum { NUMBER = 50, COOKIES = 3 };

static struct places places;

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    wire_init();
    places_init(&places);
    fill_at(0, 0);
    return 0;
}

static bool is_equal(const struct player_outcome *a, const struct player_outcome *b)
{
    return a->number == b->number && a->dump == b->dump && a->tainted == b->tainted &&
           a->because == b->because && a->chain == b->chain && a->lesson.len == b->lesson.len &&
           (!a->lesson.len || memcmp(a->lesson.data, b->lesson.data, a->lesson.len) == 0);
}

static void read_outcomes(struct bytes message)
{
    struct outcomes_reader reader = { .left = message };
    struct outcomes again = { 0 };
    struct player_outcome one, two;
    struct err err;

    while (outcomes_next(&reader, &one, &err) == 1) {
        struct outcomes_reader back;

        outcomes_clear(&again);
        require(outcomes_add(&again, &one, &err) == 0);
        back = (struct outcomes_reader){ .left = { again.bytes.data, (uint32_t)again.bytes.len } };
        require(outcomes_next(&back, &two, &err) == 1 && is_equal(&one, &two));
        require(outcomes_next(&back, &two, &err) == 0);
    }
    outcomes_free(&again);
}

static void read_tally(struct bytes message)
{
    struct err err;
    struct tally *one = tally_new(&err), *sum = tally_new(&err);
    struct buf again = { 0 };

    require(one && sum && tally_rules(one, 1, &err) == 0 && tally_rules(sum, 1, &err) == 0);
    if (tally_read(one, message, &err) == 0) {
        require(tally_merge(sum, one, &err) == 0);
        require(tally_write(sum, &again, &err) == 0);
    }
    buf_free(&again);
    tally_free(one);
    tally_free(sum);
}

/* Of WRITE to object 1, CREATE in object 1 and READDIR of object 1. */
static const uint8_t write_args[] = { 0,  0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
                                      16, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 9 };
static const uint8_t create_args[] = { 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 'x', 0, 0, 0, 0, 0,
                                       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   0, 0, 0, 0, 1,
                                       0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0,   0, 0, 0 };
static const uint8_t readdir_args[] = { 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
                                        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0 };
static const struct {
    uint8_t number;
    struct bytes arguments;
} asked[] = { { 7, { write_args, sizeof(write_args) } },
              { 8, { create_args, sizeof(create_args) } },
              { 16, { readdir_args, sizeof(readdir_args) } } };

static void learn(unsigned which, struct bytes lesson)
{
    static const uint32_t cookies[COOKIES] = { 1, 2, 3 };
    const struct step_more more = { .cookies = cookies, .cookie_count = COOKIES };
    const struct step_more on = { .cookie_from = 1, .cookie_entries = 2 };
    struct script script = { .trace = { .copies = 1, .horizon = 64 } };
    struct err err;
    struct objects *objects = objects_open(&err);
    const struct verdict_setup setup = { .script = &script, .objects = objects, .fill = true };
    struct verdicts *verdicts = verdicts_new(&setup, &err);
    struct verdict seen = { .found = 0 };
    struct fill_in with = { 0 };
    struct step step = { .number = asked[which].number,
                         .server = 1,
                         .arguments = asked[which].arguments,
                         .more = &more };
    struct step next = { .has = STEP_CONTINUES, .more = &on };
    struct bytes again;

    require(objects && verdicts && objects_add(objects, 1, &err));
    require(places_find(&places, &step, &err) == 0);
    if (verdict_taught(verdicts, NUMBER, &step, lesson, &err) == 0) {
        verdict_cookie(verdicts, NUMBER + 1, &next, &with);
        require(verdict_lesson(verdicts, NUMBER, &step, &seen, &again, &err) == 0);
        require(!(lesson.data[0] & LESSON_COOKIES) == !again.len);
        require(again.len <= lesson.len);
    }
    verdict_release(verdicts, NUMBER, NULL);
    verdicts_free(verdicts);
    objects_close(objects);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes message;
    uint8_t *copy;

    if (!size || size > 1 << 20)
        return 0;
    copy = malloc(size - 1 + (size == 1)); /* of its own size: reads beyond it are found */
    require(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    message = (struct bytes){ copy, (uint32_t)size - 1 };
    if (data[0] == 0)
        read_outcomes(message);
    else if (data[0] == 1)
        read_tally(message);
    else if (data[0] <= 4)
        learn(data[0] - 2u, message);
    free(copy);
    return 0;
}
