/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: room_live_player */
/* Counts of a run against the operations themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "player/tally.h"
#include "rdump/rdump.h"

#include <stdlib.h>

enum {
    MANY = 20000,
    DUMPS = 5,
    OBJECTS = STALLS_OBJECTS / DUMPS,
    READ = 6,
    WRITE = 7,
    GETATTR = 1
};

static uint64_t seed = 1;

static uint32_t any(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) % below;
}

static struct step steps[MANY];
static struct verdict verdicts[MANY];
static struct done done[MANY];

static int64_t latest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static uint8_t handles[OBJECTS][8]; /* arguments */

static void make(uint32_t i, uint32_t span)
{
    static const uint8_t procedures[] = { READ, WRITE, GETATTR };
    uint8_t object = (uint8_t)any(OBJECTS);
    struct done *d = &done[i];

    handles[object][3] = 4;
    handles[object][7] = object;

    steps[i] = (struct step){ .number = procedures[any(3)], .source = i + 1 };
    steps[i].arguments = (struct bytes){ handles[object], 8 };
    steps[i].procedure = rdump_procedure(steps[i].number);
    steps[i].latency = any(10) ? (int64_t)any(2000000) : -1;
    verdicts[i] = (struct verdict){ .class = any(4) ? VERDICT_AS_RECORDED : any(VERDICT_CLASSES),
                                    .bytes = any(65536) };
    *d = (struct done){ .number = i, .step = &steps[i], .verdict = &verdicts[i] };
    d->planned = any(20) ? (int64_t)any(span) : -1;
    d->entered = any(span);
    d->ready = latest(d->entered, any(span));
    d->allowed = latest(d->ready, any(span));
    d->sent = any(30) ? latest(d->planned, d->allowed) + any(50000) : -1;
    d->answered = d->sent < 0 ? -1 : d->sent + any(3000000);
    d->chain = any(1000000);
    d->warm_up = !any(9);
    d->dump = any(DUMPS);
}

static bool counts(const struct done *d)
{
    return !d->warm_up && d->sent >= 0;
}

static void check_classes(const struct tally *t)
{
    uint64_t class[VERDICT_CLASSES] = { 0 }, warm_up = 0, all = 0, refused = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        class[verdicts[i].class]++;
        warm_up += done[i].warm_up && verdicts[i].class != VERDICT_NOT_PLAYED;
        refused += counts(&done[i]) && verdicts[i].class == VERDICT_UNANSWERED;
    }
    for (unsigned i = 0; i < VERDICT_CLASSES; i++) {
        uint64_t of_procedures = 0;

        for (unsigned p = 0; p < TALLY_PROCEDURES; p++)
            of_procedures += t->procedure[p] ? t->procedure[p]->class[i] : 0;
        assert_int_equal(t->class[i], class[i]);
        assert_int_equal(of_procedures, class[i]);
        all += t->class[i];
    }
    assert_int_equal(all, MANY);
    assert_int_equal(t->warm_up, warm_up);
    assert_int_equal(t->refused, refused);
}

static void check_dumps(const struct tally *t)
{
    uint64_t class[DUMPS][VERDICT_CLASSES] = { 0 };

    for (uint32_t i = 0; i < MANY; i++)
        class[done[i].dump][verdicts[i].class]++;
    assert_int_equal(t->dump_count, DUMPS);
    assert_memory_equal(t->dump_class, class, sizeof(class));
}

/* The parts of lateness add up to sent - planned, operation by operation. */
static void check_lateness(const struct tally *t)
{
    uint64_t late = 0, window = 0, dependency = 0, outstanding = 0, own = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        const struct done *d = &done[i];
        int64_t at = d->planned;

        if (!counts(d) || d->planned < 0)
            continue;
        late += (uint64_t)(d->sent - d->planned);
        window += (uint64_t)(latest(at, d->entered) - at);
        at = latest(at, d->entered);
        dependency += (uint64_t)(latest(at, d->ready) - at);
        at = latest(at, d->ready);
        outstanding += (uint64_t)(latest(at, d->allowed) - at);
        at = latest(at, d->allowed);
        own += (uint64_t)(d->sent - at);
    }
    assert_int_equal(t->late_all.sum, late);
    assert_int_equal(t->late[LATE_WINDOW].sum, window);
    assert_int_equal(t->late[LATE_DEPENDENCY].sum, dependency);
    assert_int_equal(t->late[LATE_OUTSTANDING].sum, outstanding);
    assert_int_equal(t->late[LATE_OWN].sum, own);
    assert_int_equal(window + dependency + outstanding + own, late);
}

/* There is room for all objects.  0 is none. */
static void check_stalls(const struct tally *t)
{
    int64_t waited[DUMPS][OBJECTS] = { 0 };
    uint32_t count = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        const struct done *d = &done[i];
        int64_t at = latest(d->planned, d->entered);

        if (counts(d) && d->planned >= 0)
            waited[d->dump][steps[i].arguments.data[7]] += latest(at, d->ready) - at;
    }
    for (uint32_t i = 0; i < t->stalls.count; i++) {
        const struct stall *x = &t->stalls.of[i];
        const struct done *longest = &done[x->number];
        char what[32], words[32];

        assert_int_equal(x->waited, waited[x->dump][x->object]);
        assert_int_equal(x->longest, longest->ready - latest(longest->planned, longest->entered));
        assert_int_equal(x->procedure, longest->step->number);
        snprintf(what, sizeof(what), "object %u", (unsigned)x->object);
        tally_stall_words(x, words, sizeof(words));
        assert_string_equal(words, what);
    }
    for (uint32_t i = 0; i < DUMPS; i++)
        for (uint32_t k = 1; k < OBJECTS; k++)
            count += waited[i][k] > 0;
    assert_int_equal(t->stalls.count, count);
}

/* How long operations were outstanding from |from| to |to|. */
static uint64_t busy_within(int64_t from, int64_t to, bool trace)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        const struct done *d = &done[i];
        int64_t begin = trace ? d->planned : d->sent;
        int64_t end = trace ? begin + steps[i].latency : d->answered;

        if (!counts(d) || (trace && (d->planned < 0 || steps[i].latency < 0)))
            continue;
        begin = latest(begin, from);
        end = end < to ? end : to;
        sum += end > begin ? (uint64_t)(end - begin) : 0;
    }
    return sum;
}

static void check_intervals(const struct tally *t)
{
    uint64_t sum_done = 0, bytes = 0, busy[TALLY_INTERVALS], trace_busy[TALLY_INTERVALS];
    int64_t length = t->interval_length;

    tally_busy(t, false, busy);
    tally_busy(t, true, trace_busy);
    for (uint32_t i = 0; i < t->interval_count; i++) {
        uint64_t now = 0, of_trace = 0;

        for (uint32_t k = 0; k < MANY; k++) {
            const struct done *d = &done[k];

            if (!counts(d))
                continue;
            now += d->answered / length == i;
            of_trace += d->planned >= 0 && steps[k].latency >= 0 &&
                        (d->planned + steps[k].latency) / length == i;
        }
        assert_int_equal(t->interval[i].done, now);
        assert_int_equal(t->interval[i].trace_done, of_trace);
        if (i % 16 == 0) {
            assert_int_equal(busy[i], busy_within(i * length, (i + 1) * length, false));
            assert_int_equal(trace_busy[i], busy_within(i * length, (i + 1) * length, true));
        }
        sum_done += now;
        bytes += t->interval[i].bytes;
    }
    for (uint32_t k = 0; k < MANY; k++) {
        sum_done -= counts(&done[k]);
        bytes -= counts(&done[k]) ? verdicts[k].bytes : 0;
    }
    assert_int_equal(sum_done, 0);
    assert_int_equal(bytes, 0);
}

static void check_times(const struct tally *t)
{
    uint64_t read = 0, written = 0, sent = 0, planned = 0, trace = 0;
    int64_t path = 0, end = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        const struct done *d = &done[i];

        if (!counts(d))
            continue;
        read += steps[i].number == READ ? verdicts[i].bytes : 0;
        written += steps[i].number == WRITE ? verdicts[i].bytes : 0;
        sent += (uint64_t)(d->answered - d->sent);
        planned += d->planned < 0 ? 0 : (uint64_t)(d->answered - d->planned);
        trace += steps[i].latency < 0 ? 0 : (uint64_t)steps[i].latency;
        path = latest(path, d->chain);
        end = latest(end, d->answered);
    }
    for (unsigned i = 0; i < TALLY_PROCEDURES; i++) {
        const struct tally_procedure *p = t->procedure[i];

        if (!p)
            continue;
        sent -= p->sent.sum;
        planned -= p->planned.sum;
        trace -= p->trace.sum;
        read -= p->bytes_read;
        written -= p->bytes_written;
    }
    assert_int_equal(sent | planned | trace | read | written, 0);
    assert_int_equal(t->critical_path, path);
    assert_int_equal(t->ended, end);
}

static void move(struct done *d, int64_t ns)
{
    d->planned += d->planned < 0 ? 0 : ns;
    d->entered += ns;
    d->ready += ns;
    d->allowed += ns;
    d->sent += d->sent < 0 ? 0 : ns;
    d->answered += d->answered < 0 ? 0 : ns;
}

/* Adds operation |k|, which then has the times that the tally should have for it.  The warm-up of
 * a round, which takes some time, is not in them. */
static void add(struct tally *t, uint32_t k, int64_t round)
{
    struct done *d = &done[k], told = *d;
    struct err err;

    told.measured = round ? 700000000 : 300000;
    move(&told, told.measured);
    assert_int_equal(tally_add(t, &told, &err), 0);
    move(d, round);
}

/* Round 0 has the first half of the operations, and the others follow it in a second round; or
 * there is one round. */
static void against_operations(void **state)
{
    static const uint32_t spans[] = { 1000, 300000000, 1000000000 };

    (void)state;
    wire_init();
    for (unsigned i = 0; i < 6; i++) {
        uint32_t span = spans[i % 3];
        int64_t last = 0, round = 0;
        struct err err;
        struct tally *t = tally_new(&err);

        for (uint32_t k = 0; k < MANY; k++) {
            make(k, k < MANY / 4 * 3 ? span : 4 * span); /* joins many */
            if (i >= 3 && k == MANY / 2) {
                round = last;
                tally_round(t);
            }
            add(t, k, round);
            last = counts(&done[k]) ? latest(last, done[k].answered) : last;
        }
        assert_true(t->interval_count <= TALLY_INTERVALS);
        check_classes(t);
        check_dumps(t);
        check_lateness(t);
        check_stalls(t);
        check_intervals(t);
        check_times(t);
        tally_free(t);
    }
}

/* Skipped operations do not take the places of those that differ first. */
static void examples(void **state)
{
    const uint8_t arguments[] = { 0, 0, 0, 4, 0, 0, 0, 9, 0, 0, 0, 3, 'a', 'b', '\n', 0 };
    struct step step = { .number = 3,
                         .procedure = rdump_procedure(3),
                         .source = 5,
                         .status = 2,
                         .arguments = { arguments, sizeof(arguments) } };
    struct verdict verdict = { .class = VERDICT_SKIPPED };
    struct done d = { .step = &step, .verdict = &verdict, .sent = -1, .answered = -1 };
    struct err err;
    struct tally *t = tally_new(&err);

    (void)state;
    for (int i = 0; i < 5000; i++)
        assert_int_equal(tally_add(t, &d, &err), 0);
    assert_int_equal(t->example_count, TALLY_EXAMPLES / 10);
    verdict.class = VERDICT_VANISHED_ERROR;
    snprintf(verdict.text, sizeof(verdict.text), "words");
    for (int i = 0; i < 5000; i++)
        assert_int_equal(tally_add(t, &d, &err), 0);
    assert_int_equal(t->example_count, TALLY_EXAMPLES);
    assert_string_equal(t->examples[500].what, "\"ab\\x0a\" in object 9");
    assert_string_equal(t->examples[500].text, "words");
    assert_int_equal(t->examples[500].source, 5);
    assert_int_equal(t->examples[500].expected, 2);
    assert_int_equal(t->class[VERDICT_SKIPPED], 5000);
    tally_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_operations),
        cmocka_unit_test(examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
