/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: room_live_player */
/* Directories that the trace's server and the target list in different orders and in replies of
 * different lengths.  The oracle is the set of names on each side. */
#include "verdict_lab.h"

#include <inttypes.h>

enum { READDIR = 16, READDIRPLUS = 17, NAMES_MAX = 40, FIRST_OBJECT = 100, STEP_AT_LEAST = 1 };

static uint64_t seed = 1;

static uint32_t any(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return below ? (uint32_t)(seed >> 33) % below : 0;
}

/* A directory on one side: numbers of names in the order of listings; 0 and 1 are "." and "..". */
struct side {
    uint32_t order[NAMES_MAX + 2], count;
};

static const struct lab_attributes none = { 0 };

static void name_of(uint32_t number, char text[24])
{
    if (number < 2)
        snprintf(text, 24, "%s", number ? ".." : ".");
    else
        snprintf(text, 24, "name-%" PRIu32, number);
}

static void shuffle(struct side *s, uint32_t count)
{
    s->count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = any(i + 1);

        s->order[i] = s->order[at];
        s->order[at] = i;
    }
}

/* The target's reply to a call with |cookie|: at most |most| entries.  Cookies are 1000 + place. */
static void reply(struct lab *l, const struct side *s, bool plus, uint64_t cookie, uint32_t most)
{
    uint32_t at = cookie ? (uint32_t)cookie - 1000 : 0, end;
    char name[24];

    l->reply.len = 0;
    put_u32(&l->reply, 0);
    put_post(&l->reply, none);
    put_u64(&l->reply, 0x1122334455667788);
    end = at + most < s->count ? at + most : s->count;
    for (; at < end; at++) {
        name_of(s->order[at], name);
        put_u32(&l->reply, 1);
        put_u64(&l->reply, s->order[at] + 5);
        put_text(&l->reply, name);
        put_u64(&l->reply, 1000 + at + 1);
        if (plus) {
            put_post(&l->reply, none);
            put_u32(&l->reply, 1);
            put_handle(&l->reply, FIRST_OBJECT + s->order[at]);
        }
    }
    put_u32(&l->reply, 0);
    put_u32(&l->reply, end == s->count);
}

/* What a listing of |s| must show. */
static void must_show(struct lab *l, const struct side *s, bool plus)
{
    uint64_t sum = 0, behind = 0;

    for (uint32_t i = 0; i < s->count; i++) {
        uint8_t both[12];
        uint64_t hash;
        char name[24];

        if (s->order[i] < 2)
            continue;
        name_of(s->order[i], name);
        hash = XXH3_64bits(name, strlen(name));
        sum += hash;
        store_be64(both, hash);
        store_be32(both + 8, FIRST_OBJECT + s->order[i]);
        behind += XXH3_64bits(both, 12);
    }
    put_u32(&l->results, s->count - 2);
    put_u64(&l->results, sum);
    if (plus)
        put_u64(&l->results, behind);
    l->step.mask = RDUMP_EXPECT_NAMES | (plus ? RDUMP_EXPECT_BEHIND : 0);
}

static void step_list(struct lab *l, bool plus, uint32_t from, uint32_t entries)
{
    step_begin(l, plus ? READDIRPLUS : READDIR, 7);
    put_u64(&l->arguments, from ? 4711 : 0);
    put_u64(&l->arguments, 0);
    put_u32(&l->arguments, 4096);
    if (plus)
        put_u32(&l->arguments, 4096);
    l->step.has = STEP_LISTS | (from ? STEP_CONTINUES : 0);
    l->more.cookie_from = from;
    l->more.cookie_entries = entries;
}

static void names_of_reply(struct lab *l, const struct side *s, bool plus, uint32_t from,
                           uint32_t count)
{
    for (uint32_t i = from; i < from + count && i < s->count; i++) {
        char name[24];

        if (s->order[i] < 2)
            continue;
        name_of(s->order[i], name);
        put_u32(&l->names, (uint32_t)strlen(name));
        assert_int_equal(buf_append(&l->names, name, strlen(name)), 0);
        if (plus)
            put_u32(&l->names, FIRST_OBJECT + s->order[i]);
    }
}

/* Answers until the verdict is there. */
static enum verdict_class play(struct lab *l, uint64_t number, const struct side *target, bool plus,
                               uint32_t most)
{
    struct fill_in with = { 0 };
    uint32_t again = 0;

    assert_true(verdict_cookie(l->verdicts, number, &l->step, &with));
    do {
        if (with.cookie)
            assert_int_equal(load_be64(with.verifier), 0x1122334455667788);
        reply(l, target, plus, with.cookie, STEP_AT_LEAST + any(most));
        lab_judge(l, number, again++);
        with = l->v.with;
        assert_true(again < 200);
    } while (l->v.next == NEXT_LIST_ON);
    assert_int_equal(l->v.next, NEXT_NOTHING);
    return l->v.class;
}

/* One listing of the trace, in as many operations as it had, played on |target|. */
static enum verdict_class list(struct lab *l, const struct side *trace, const struct side *target,
                               bool plus)
{
    uint32_t trace_most = 1 + any(trace->count + 3), most = 1 + any(target->count + 3);
    uint32_t place = 0, from = 0, entries = 0;
    uint64_t number = any(1000);

    for (;;) {
        uint32_t count = 1 + any(trace_most), next;
        bool ends = place + count >= trace->count;

        if (ends)
            count = trace->count - place;
        step_list(l, plus, from, entries);
        if (ends)
            must_show(l, trace, plus);
        next = 1 + any(count);
        l->more.cookies = &next;
        l->more.cookie_count = !ends;
        names_of_reply(l, trace, plus, place, count);
        step_end(l);
        play(l, number, target, plus, most);
        if (ends)
            return l->v.class;
        assert_int_equal(l->v.class, VERDICT_AS_RECORDED);
        place += next;
        entries = next;
        from = 1 + any(LAB_HORIZON - 1);
        for (uint32_t i = 0; i < from; i++) /* others, done meanwhile */
            verdict_release(l->verdicts, number + i, &(struct step){ 0 });
        number += from;
    }
}

static void lab_of_names(struct lab *l, bool results)
{
    lab_new(l, (struct verdict_setup){ 0 }, 1, results);
    for (uint32_t i = 0; i < NAMES_MAX + 2; i++)
        lab_object(l, FIRST_OBJECT + i, 1, 0);
}

static void same_names(void **state)
{
    struct side trace, target;
    struct lab l;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        uint32_t count = 2 + any(NAMES_MAX);

        shuffle(&trace, count);
        shuffle(&target, count);
        lab_of_names(&l, round % 2);
        assert_int_equal(list(&l, &trace, &target, round / 2 % 2), VERDICT_AS_RECORDED);
        lab_free(&l);
    }
}

/* The target lacks a name, or has one more, or another one. */
static void other_names(void **state)
{
    struct side trace, target;
    struct lab l;

    (void)state;
    for (int round = 0; round < 1000; round++) {
        uint32_t count = 3 + any(NAMES_MAX - 2), at;

        shuffle(&trace, count);
        shuffle(&target, count);
        for (at = any(count); target.order[at] < 2;)
            at = any(count);
        if (round % 3 == 0)
            target.order[at] = target.order[--target.count];
        else if (round % 3 == 1)
            target.order[target.count++] = NAMES_MAX;
        else
            target.order[at] = NAMES_MAX + 1;
        lab_of_names(&l, round % 2);
        assert_int_equal(list(&l, &trace, &target, round / 2 % 2), VERDICT_DIFFERENT_RESULT);
        assert_true(l.v.groups & RDUMP_EXPECT_NAMES);
        lab_free(&l);
    }
}

/* A name has another object behind it. */
static void other_objects(void **state)
{
    struct side side;
    struct lab l;

    (void)state;
    for (uint32_t round = 0; round < 2; round++) {
        shuffle(&side, 10);
        lab_of_names(&l, true);
        step_list(&l, true, 0, 0);
        must_show(&l, &side, true);
        step_end(&l);
        if (round) {
            struct object *o = objects_find(l.objects, FIRST_OBJECT + 5);
            uint8_t handle[12];

            target_handle(FIRST_OBJECT + 4, handle);
            assert_int_equal(
                objects_set_handle(l.objects, LAB_SERVER, o, (struct bytes){ handle, 12 }, NULL),
                0);
        }
        assert_int_equal(play(&l, 0, &side, true, 3),
                         round ? VERDICT_DIFFERENT_RESULT : VERDICT_AS_RECORDED);
        assert_int_equal(l.v.groups, round ? RDUMP_EXPECT_BEHIND : 0);
        lab_free(&l);
    }
}

/* The target lists last what the trace listed first: the dump forgets nothing before the end.  Only
 * a target that gives other objects behind names differs. */
static void other_parts(void **state)
{
    const uint32_t first = 6;
    struct side trace, target;
    struct lab l;

    (void)state;
    for (int other = 0; other < 3; other++) {
        lab_of_names(&l, true);
        trace.count = target.count = 12;
        for (uint32_t i = 0; i < 12; i++) {
            trace.order[i] = i;
            target.order[i] = 11 - i;
        }
        step_list(&l, true, 0, 0);
        l.more.cookies = &first;
        l.more.cookie_count = 1;
        step_end(&l);
        reply(&l, &target, true, 0, first);
        lab_judge(&l, 10, 0);
        verdict_release(l.verdicts, 10, &l.step);
        step_list(&l, true, 1, first);
        must_show(&l, &trace, true);
        step_end(&l);
        if (other == 1)
            target.order[9] = NAMES_MAX;
        if (other == 2) /* its handle is that of something that the dump does not know */
            objects_forget(l.objects, FIRST_OBJECT + 3);
        reply(&l, &target, true, 1000 + first, 100);
        assert_int_equal(lab_judge(&l, 11, 0),
                         other ? VERDICT_DIFFERENT_RESULT : VERDICT_AS_RECORDED);
        assert_int_equal(l.v.groups, other == 0   ? 0
                                     : other == 1 ? RDUMP_EXPECT_NAMES | RDUMP_EXPECT_BEHIND
                                                  : RDUMP_EXPECT_BEHIND);
        lab_free(&l);
    }
}

static void words(void **state)
{
    struct side trace, target;
    struct lab l;

    (void)state;
    lab_of_names(&l, true);
    shuffle(&trace, 12);
    target = trace;
    for (uint32_t i = 0; i < target.count; i++)
        if (target.order[i] == 5)
            target.order[i] = NAMES_MAX;
    step_list(&l, false, 0, 0);
    must_show(&l, &trace, false);
    names_of_reply(&l, &trace, false, 0, trace.count);
    step_end(&l);
    reply(&l, &target, false, 0, 100);
    assert_int_equal(lab_judge(&l, 0, 0), VERDICT_DIFFERENT_RESULT);
    expect_text(&l, "names: 10 ");
    expect_text(&l, "\"name-40\" is not in the trace");
    expect_text(&l, "\"name-5\" is missing");
    lab_free(&l);
}

/* Operations that did not list all: their names have to be there, in whatever reply. */
static void some_names(void **state)
{
    struct side trace, target;
    struct lab l;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        uint32_t count = 6 + any(NAMES_MAX - 6), first = 1 + any(count - 3), next = 1 + any(first);
        uint32_t second = 1 + any(count - next - 1), gone = 0;
        bool plus = round % 2;

        shuffle(&trace, count);
        shuffle(&target, count);
        if (round / 2 % 2) { /* a name of the second operation */
            uint32_t at = 0;

            gone = trace.order[next + any(second)];
            while (target.order[at] != gone)
                at++;
            target.order[at] = target.order[--target.count];
        }
        lab_of_names(&l, true);
        step_list(&l, plus, 0, 0);
        l.more.cookies = &next;
        l.more.cookie_count = 1;
        step_end(&l);
        assert_int_equal(play(&l, 10, &target, plus, count), VERDICT_AS_RECORDED);
        step_list(&l, plus, 1, next);
        names_of_reply(&l, &trace, plus, next, second);
        l.step.mask = RDUMP_EXPECT_SOME_NAMES;
        step_end(&l);
        assert_int_equal(play(&l, 11, &target, plus, count),
                         gone > 1 ? VERDICT_DIFFERENT_RESULT : VERDICT_AS_RECORDED);
        if (gone > 1)
            expect_text(&l, "1 names of the trace are not there");
        lab_free(&l);
    }
}

/* A server that never comes to an end. */
static void stalled(void **state)
{
    struct side side;
    struct lab l;

    (void)state;
    lab_of_names(&l, false);
    shuffle(&side, 10);
    step_list(&l, false, 0, 0);
    must_show(&l, &side, false);
    step_end(&l);
    reply(&l, &side, false, 0, 0);
    assert_int_equal(lab_judge(&l, 0, 0), VERDICT_DIFFERENT_RESULT);
    assert_int_equal(l.v.next, NEXT_NOTHING);
    expect_text(&l, "stops before its end");
    reply(&l, &side, false, 0, 4);
    lab_judge(&l, 1, 0);
    assert_int_equal(l.v.next, NEXT_LIST_ON);
    l.reply.len = 0;
    put_u32(&l.reply, 10008);
    put_post(&l.reply, none);
    lab_judge(&l, 1, 1); /* busy: the same again */
    assert_int_equal(l.v.next, NEXT_LIST_ON);
    assert_int_equal(l.v.wait, 200000000);
    assert_int_equal(l.v.with.cookie, 1004);
    l.reply.len = 0;
    put_u32(&l.reply, 10003);
    put_post(&l.reply, none);
    assert_int_equal(lab_judge(&l, 1, 2), VERDICT_NEW_ERROR);
    assert_int_equal(l.v.next, NEXT_NOTHING);
    lab_free(&l);
}

/* The listing before it gave no cookie, or is forgotten. */
static void no_cookie(void **state)
{
    const uint32_t place = 3;
    struct fill_in with;
    struct side side;
    struct lab l;

    (void)state;
    lab_of_names(&l, false);
    shuffle(&side, 10);
    step_list(&l, false, 4, 3);
    step_end(&l);
    assert_false(verdict_cookie(l.verdicts, 54, &l.step, &with));
    assert_false(verdict_cookie(l.verdicts, 3, &l.step, &with));
    step_list(&l, false, 0, 0);
    l.more.cookies = &place;
    l.more.cookie_count = 1;
    step_end(&l);
    reply(&l, &side, false, 0, 5);
    lab_judge(&l, 50, 0);
    step_list(&l, false, LAB_HORIZON - 1, 3);
    step_end(&l);
    assert_true(verdict_cookie(l.verdicts, 50 + LAB_HORIZON - 1, &l.step, &with));
    assert_int_equal(with.cookie, 1003);
    for (uint64_t i = 50; i < 50 + LAB_HORIZON - 1; i++)
        verdict_release(l.verdicts, i, &(struct step){ 0 });
    assert_true(verdict_cookie(l.verdicts, 50 + LAB_HORIZON - 1, &l.step, &with));
    verdict_release(l.verdicts, 50 + LAB_HORIZON - 1, &(struct step){ 0 });
    assert_false(verdict_cookie(l.verdicts, 50 + LAB_HORIZON - 1, &l.step, &with));
    /* a cookie that the trace does not explain: 0 */
    step_list(&l, false, 0, 0);
    l.step.has |= STEP_CONTINUES;
    step_end(&l);
    assert_true(verdict_cookie(l.verdicts, 60, &l.step, &with));
    assert_int_equal(with.cookie, 0);
    lab_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_names),    cmocka_unit_test(other_names),
        cmocka_unit_test(other_objects), cmocka_unit_test(other_parts),
        cmocka_unit_test(words),         cmocka_unit_test(some_names),
        cmocka_unit_test(stalled),       cmocka_unit_test(no_cookie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
