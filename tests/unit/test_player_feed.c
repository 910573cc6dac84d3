/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps come as the dump has them, stay as they are until they are released, and what is wrong with
 * a dump comes behind all that was right. */
/* links: room_live_player */
#include "player_feed_case.h"

static void all_steps(void **state)
{
    static const uint64_t bytes[] = { 1, 5000, 1 << 16, 0 };
    static const uint32_t most[] = { 1, 10, HORIZON };
    struct err err = { 0 };
    struct played p;
    struct dump d;

    (void)state;
    make_dump(&d, OPERATIONS);
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
        for (size_t j = 0; j < sizeof(most) / sizeof(most[0]); j++) {
            if (bytes[i] == 1 && most[j] > 1)
                continue; /* the ring has not even room for two */
            play(&p, &d, (struct feed_setup){ .bytes = bytes[i] });
            assert_int_equal(take_all(&p, bytes[i] == 5000 ? 1 + most[j] % 2 : most[j], 0, &err),
                             OPERATIONS);
            assert_int_equal(feed_stats(p.feed).end.operations, OPERATIONS);
            assert_false(feed_stats(p.feed).damaged);
            stop(&p);
        }
    dump_free(&d);
}

static void stop_after(void **state)
{
    static const uint64_t counts[] = { 1, 31, 32, 33, 500 };
    struct err err = { 0 };
    struct played p;
    struct dump d;

    (void)state;
    make_dump(&d, 500);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        play(&p, &d, (struct feed_setup){ .stop_after = counts[i] });
        assert_int_equal(take_all(&p, 10, 0, &err), counts[i]);
        stop(&p);
    }
    dump_free(&d);
    make_dump(&d, 0);
    play(&p, &d, (struct feed_setup){ 0 });
    assert_int_equal(take_all(&p, 1, 0, &err), 0);
    stop(&p);
    dump_free(&d);
}

static void damage(void **state)
{
    struct played p;
    struct dump d;
    uint32_t played = 0;

    (void)state;
    make_dump(&d, OPERATIONS);
    for (size_t len = 1000; len < d.data.len; len += 150001) {
        int64_t operations = readable(&d, len);
        struct err err = { 0 };

        close(d.fd);
        dump_cut(&d, len);
        if (operations < 0) {
            assert_int_equal(script_open(&p.script, d.path, &err), -ERR_INPUT);
            continue;
        }
        play(&p, &d, (struct feed_setup){ 0 });
        assert_int_equal(take_all(&p, 50, -ERR_INPUT, &err), operations);
        assert_non_null(strstr(err.text, "truncated"));
        assert_false(feed_stats(p.feed).damaged);
        stop(&p);
        play(&p, &d, (struct feed_setup){ .partial = true });
        assert_int_equal(take_all(&p, 50, 0, &err), operations);
        assert_true(feed_stats(p.feed).damaged);
        assert_non_null(strstr(feed_stats(p.feed).damage, "truncated"));
        assert_int_equal(feed_stats(p.feed).end.operations, 0);
        stop(&p);
        played++;
    }
    assert_true(played > 5);
    dump_free(&d);
}

/* One operation right, then |o|: refused with these words. */
static void refuses(const struct rdump_operation *o, const char *words)
{
    struct sample_operation first;
    struct err err = { 0 };
    struct played p;
    struct dump d;

    make_operation(&first, 0);
    dump_begin_small(&d, HORIZON);
    dump_put(&d, RDUMP_OPERATION, &first.o);
    dump_put(&d, RDUMP_OPERATION, o);
    dump_end(&d);
    play(&p, &d, (struct feed_setup){ 0 });
    assert_int_equal(take_all(&p, 1, -ERR_INPUT, &err), 1);
    if (!strstr(err.text, words) || !strstr(err.text, ": operation 1: "))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    stop(&p);
    dump_free(&d);
}

static void wrong_operations(void **state)
{
    static const uint32_t itself[] = { 0 }, before_all[] = { 2 };
    struct sample_operation s;

    (void)state;
#define REFUSES(words, ...)                                                                        \
    do {                                                                                           \
        make_operation(&s, 1);                                                                     \
        __VA_ARGS__;                                                                               \
        refuses(&s.o, words);                                                                      \
    } while (0)
    REFUSES("hosts 3 and 2 of 2", s.o.client = 3);
    REFUSES("hosts 1 and 3 of 2", s.o.server = 3);
    REFUSES("credential 6", s.o.credential = 6);
    REFUSES("credential 8", s.o.credential = 8);
    REFUSES("copy 1 of 1", s.o.copy = 1);
    REFUSES("depends on what is 0", s.o.dependencies = itself, s.o.dependency_count = 1);
    REFUSES("depends on what is 2", s.o.dependencies = before_all, s.o.dependency_count = 1);
    REFUSES("continues what is 2", s.o.cookie_from = 2);
    REFUSES("0 bytes of link counts, not 4", s.o.links.len = 0, s.o.mask = RDUMP_EXPECT_LINKS);
    REFUSES("procedure 99", s.o.procedure = 99);
    REFUSES("not those of LOOKUP", s.o.arguments.len -= 4);
}

/* Distances of the horizon and above are refused as well, and a total that is wrong. */
static void wrong_distances_and_totals(void **state)
{
    const struct rdump_end end = { .operations = 3 };
    static const uint32_t far[] = { 2 };
    struct sample_operation s;
    struct err err = { 0 };
    struct played p;
    struct dump d;

    (void)state;
    dump_begin_small(&d, 2);
    make_operation(&s, 0);
    for (int i = 0; i < 4; i++) {
        s.o.dependencies = far;
        s.o.dependency_count = i == 3;
        dump_put(&d, RDUMP_OPERATION, &s.o);
    }
    dump_end(&d);
    play(&p, &d, (struct feed_setup){ 0 });
    for (const struct step *step; next(&p, &step, &err) == FEED_STEP;)
        feed_release(p.feed);
    assert_int_equal(feed_stats(p.feed).given, 3);
    assert_non_null(strstr(err.text, "depends on what is 2"));
    stop(&p);
    dump_free(&d);
    dump_begin_small(&d, 2);
    make_operation(&s, 0);
    dump_put(&d, RDUMP_OPERATION, &s.o);
    dump_put(&d, RDUMP_END, &end);
    dump_cut(&d, d.data.len);
    play(&p, &d, (struct feed_setup){ 0 });
    assert_int_equal(take_all(&p, 1, -ERR_INPUT, &err), 1);
    assert_non_null(strstr(err.text, "says 3 operations, there were 1"));
    stop(&p);
    dump_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_steps),
        cmocka_unit_test(stop_after),
        cmocka_unit_test(damage),
        cmocka_unit_test(wrong_operations),
        cmocka_unit_test(wrong_distances_and_totals),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
