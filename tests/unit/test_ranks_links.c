/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The connections between ranks, two of them in one process: who gets in, a rank that cannot keep
 * up, and how one is lost. */
#include "ranks/links_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { MANY = 1 << 22 };

struct rank {
    struct links *links;
    uint64_t taken, room; /* outcomes that were taken; and that its player has room for */
    int stops, losses, ends, code;
    bool in_order;
};

struct lab {
    struct loop *loop;
    struct timer timer;
    struct rank ranks[2];
    struct net_address addresses[2];
};

static int on_outcome(void *ctx, const struct player_outcome *o, struct err *err)
{
    struct rank *r = ctx;

    (void)err;
    if (r->taken == r->room)
        return 1;
    r->in_order &= o->number == r->taken && o->chain == 5 && o->lesson.len == 3;
    r->taken++;
    return 0;
}

static int on_stop(void *ctx, uint32_t rank, int code, const char *text, struct err *err)
{
    struct rank *r = ctx;

    (void)err;
    assert_int_equal(rank, 1);
    assert_string_equal(text, "because");
    r->code = code;
    r->stops++;
    return 0;
}

static int on_lost(void *ctx, uint32_t rank, const char *text, struct err *err)
{
    (void)rank;
    (void)text;
    (void)err;
    ((struct rank *)ctx)->losses++;
    return 0;
}

static int on_end(void *ctx, uint32_t rank, int code, struct err *err)
{
    struct rank *r = ctx;

    (void)rank;
    (void)err;
    r->code = code;
    r->ends++;
    return 0;
}

static int on_time(void *ctx, struct err *err)
{
    (void)err;
    loop_stop(ctx);
    return 0;
}

/* Lets the loop work for some ms. */
static void work(struct lab *l, int ms)
{
    struct err err;

    l->timer = (struct timer){ .due = on_time, .ctx = l->loop };
    assert_int_equal(loop_set(l->loop, &l->timer, loop_clock() + ms * INT64_C(1000000), &err), 0);
    assert_int_equal(loop_run(l->loop, &err), 0);
}

static void begin(struct lab *l)
{
    struct net_address any;
    struct err err;

    memset(l, 0, sizeof(*l));
    l->loop = loop_new(&err);
    assert_int_equal(net_address_parse("127.0.0.1:0", true, &any, &err), 0);
    for (uint32_t i = 0; i < 2; i++) {
        struct links_setup setup = { .loop = l->loop, .rank = i, .count = 2, .token = "a secret" };

        l->ranks[i] = (struct rank){ .room = UINT64_MAX, .in_order = true };
        setup.host = (struct links_host){ on_outcome, on_stop, on_lost, on_end, &l->ranks[i] };
        l->ranks[i].links = links_new(&setup, &err);
        assert_int_equal(links_listen(l->ranks[i].links, &any, &l->addresses[i], &err), 0);
    }
}

static void join(struct lab *l)
{
    struct err err;

    assert_int_equal(links_connect(l->ranks[1].links, l->addresses, &err), 0);
    assert_int_equal(links_connect(l->ranks[0].links, l->addresses, &err), 0);
}

static void end(struct lab *l)
{
    links_free(l->ranks[0].links);
    links_free(l->ranks[1].links);
    loop_free(l->loop);
}

static int tell(struct links *links, uint64_t number)
{
    const struct player_outcome o = { .number = number,
                                      .chain = 5,
                                      .lesson = { (const uint8_t *)"abc", 3 } };
    struct err err;

    return links_outcome(links, &o, &err);
}

/* A rank that does not take what comes makes the other one stop, and loses nothing. */
static void a_slow_rank_slows_the_other(void **state)
{
    struct lab l;
    struct rank *fast = &l.ranks[0], *slow = &l.ranks[1];
    uint64_t sent = 0;
    struct err err;

    (void)state;
    begin(&l);
    join(&l);
    slow->room = 10;
    while (sent < MANY && !links_full(fast->links)) {
        for (unsigned i = 0; i < 4096; i++)
            assert_int_equal(tell(fast->links, sent++), 0);
        assert_int_equal(links_round(fast->links, &err), 0);
        assert_int_equal(links_round(slow->links, &err), 0);
        work(&l, 1);
    }
    assert_true(links_full(fast->links));
    assert_int_equal(slow->taken, 10);
    slow->room = 11;
    assert_int_equal(links_round(slow->links, &err), 0);
    assert_int_equal(slow->taken, 11);
    slow->room = UINT64_MAX;
    for (unsigned i = 0; i < 2000 && slow->taken < sent; i++) {
        assert_int_equal(links_round(slow->links, &err), 0);
        work(&l, 1);
    }
    assert_int_equal(slow->taken, sent);
    assert_true(slow->in_order);
    assert_int_equal(links_round(fast->links, &err), 0);
    assert_false(links_full(fast->links));
    assert_int_equal(fast->losses + slow->losses, 0);
    end(&l);
}

static void a_rank_that_goes_is_lost(void **state)
{
    struct lab l;
    struct err err;

    (void)state;
    begin(&l);
    join(&l);
    assert_int_equal(links_stop(l.ranks[1].links, 4, "because", &err), 0);
    work(&l, 5);
    assert_int_equal(l.ranks[0].stops, 1);
    assert_int_equal(l.ranks[0].code, 4);
    assert_false(links_is_lost(l.ranks[0].links, 1));
    links_free(l.ranks[1].links);
    l.ranks[1].links = NULL;
    work(&l, 5);
    assert_int_equal(l.ranks[0].losses, 1);
    assert_true(links_is_lost(l.ranks[0].links, 1));
    end(&l);
}

static void the_end_is_no_loss(void **state)
{
    const struct buf tally = { .data = (uint8_t *)(uintptr_t)"figures", .len = 7 };
    struct lab l;
    struct err err;

    (void)state;
    begin(&l);
    join(&l);
    assert_int_equal(links_tally(l.ranks[0].links, 1).len, 0);
    assert_int_equal(links_send_tally(l.ranks[1].links, 0, &tally, &err), 0);
    work(&l, 5);
    assert_int_equal(l.ranks[0].ends, 1);
    assert_int_equal(l.ranks[0].code, -1);
    assert_memory_equal(links_tally(l.ranks[0].links, 1).data, "figures", 7);
    assert_int_equal(links_end(l.ranks[0].links, 1, &err), 0);
    work(&l, 5);
    assert_int_equal(l.ranks[1].ends, 1);
    assert_int_equal(l.ranks[1].code, 1);
    links_free(l.ranks[0].links);
    l.ranks[0].links = NULL;
    work(&l, 5);
    assert_int_equal(l.ranks[1].losses, 0);
    end(&l);
}

/* --- strangers */

static int stranger(const struct net_address *to, const void *bytes, size_t len)
{
    int fd = socket(to->family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, &to->any, net_address_size(to)), 0);
    assert_int_equal(write(fd, bytes, len), len);
    return fd;
}

static void strangers_do_not_get_in(void **state)
{
    uint8_t hello[4 + 1 + 12 + LINKS_TOKEN] = { 0x80, 0, 0, 1 + 12 + LINKS_TOKEN, LINK_HELLO };
    struct lab l;
    int fds[6];

    (void)state;
    begin(&l);
    store_be32(hello + 5, 1);                                 /* version */
    store_be32(hello + 9, 2);                                 /* ranks */
    store_be32(hello + 13, 1);                                /* the rank */
    fds[0] = stranger(&l.addresses[0], hello, sizeof(hello)); /* without the token */
    memcpy(hello + 17, "a secret", 8);
    store_be32(hello + 13, 7); /* no such rank */
    fds[1] = stranger(&l.addresses[0], hello, sizeof(hello));
    store_be32(hello + 13, 0); /* itself */
    fds[2] = stranger(&l.addresses[0], hello, sizeof(hello));
    store_be32(hello + 13, 1);
    hello[3]--; /* too short */
    fds[3] = stranger(&l.addresses[0], hello, sizeof(hello) - 1);
    fds[4] = stranger(&l.addresses[0], "\x80\0\0\1\2", 5); /* not HELLO */
    fds[5] = stranger(&l.addresses[0], "\x80\0\0\0", 4);   /* nothing */
    work(&l, 20);
    assert_int_equal(l.ranks[0].links->connected, 0);
    for (unsigned i = 0; i < 6; i++) {
        char byte;

        assert_true(read(fds[i], &byte, 1) <= 0); /* put out */
        close(fds[i]);
    }
    join(&l);
    assert_int_equal(l.ranks[0].links->connected, 1);
    assert_int_equal(l.ranks[0].losses, 0);
    end(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_rank_slows_the_other),
        cmocka_unit_test(a_rank_that_goes_is_lost),
        cmocka_unit_test(the_end_is_no_loss),
        cmocka_unit_test(strangers_do_not_get_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
