/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_server_replies.c
 *
 * live/server/replies.h: which request is the same, and what goes first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/replies.h"

#include <arpa/inet.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

struct asked {
    uint32_t xid, procedure;
    const char *arguments, *address;
    uint16_t port;
    bool datagram;
};

static const struct asked plain = { 7, 8, "arguments of some length", "192.0.2.1", 700, false };

static enum replies_state ask_at(struct replies *r, struct asked a, int64_t now, uint32_t *slot,
                                 struct bytes *reply)
{
    struct rpc_header header = {
        .xid = a.xid, .program = 100003, .version = 3, .procedure = a.procedure
    };
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(a.port) };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(a.port) };
    struct replies_request request = {
        &header, { (const uint8_t *)a.arguments, (uint32_t)strlen(a.arguments) }, NULL, a.datagram
    };

    if (strchr(a.address, ':')) {
        assert_int_equal(inet_pton(AF_INET6, a.address, &in6.sin6_addr), 1);
        request.peer = (struct sockaddr *)&in6;
    } else {
        assert_int_equal(inet_pton(AF_INET, a.address, &in.sin_addr), 1);
        request.peer = (struct sockaddr *)&in;
    }
    return replies_begin(r, &request, now, slot, reply);
}

static enum replies_state ask(struct replies *r, struct asked a)
{
    uint32_t slot;
    struct bytes reply;

    return ask_at(r, a, 0, &slot, &reply);
}

static struct bytes text(const char *from)
{
    return (struct bytes){ (const uint8_t *)from, (uint32_t)strlen(from) };
}

/* Does |a| and keeps |answer|. */
static void done(struct replies *r, struct asked a, int64_t now, const char *answer)
{
    uint32_t slot;
    struct bytes reply;

    assert_int_equal(ask_at(r, a, now, &slot, &reply), REPLIES_NEW);
    replies_keep(r, slot, text(answer));
}

static struct replies *with(uint32_t entries, uint64_t bytes)
{
    struct replies *r = replies_new(&(struct replies_limits){ entries, bytes, 120 * SECOND }, NULL);

    assert_non_null(r);
    return r;
}

static void one_request(void **state)
{
    struct replies *r = with(10, 1000);
    uint32_t slot, again;
    struct bytes reply;
    struct replies_counts counts;

    (void)state;
    assert_int_equal(ask_at(r, plain, 0, &slot, &reply), REPLIES_NEW);
    assert_int_equal(ask_at(r, plain, 0, &again, &reply), REPLIES_UNDER_WAY);
    replies_keep(r, slot, text("the answer"));
    assert_int_equal(ask_at(r, plain, 0, &again, &reply), REPLIES_DONE);
    assert_int_equal(reply.len, 10);
    assert_memory_equal(reply.data, "the answer", 10);
    replies_count(r, &counts);
    assert_int_equal(counts.entries, 1);
    assert_int_equal(counts.bytes, 10);
    assert_int_equal(counts.hits, 1);
    assert_int_equal(counts.under_way, 1);
    assert_int_equal(counts.misses, 1);
    replies_free(r);
}

/* Each of these differs in one thing from |plain|, and is another request. */
static void other_requests(void **state)
{
    static const struct asked others[] = {
        { 8, 8, "arguments of some length", "192.0.2.1", 700, false },
        { 7, 9, "arguments of some length", "192.0.2.1", 700, false },
        { 7, 8, "arguments of same length", "192.0.2.1", 700, false },
        { 7, 8, "arguments of some length.", "192.0.2.1", 700, false },
        { 7, 8, "arguments of some length", "192.0.2.2", 700, false },
        { 7, 8, "arguments of some length", "::1", 700, false },
        { 7, 8, "arguments of some length", "192.0.2.1", 701, false },
        { 7, 8, "arguments of some length", "192.0.2.1", 700, true },
    };
    struct replies *r = with(100, 1000);

    (void)state;
    done(r, plain, 0, "answer");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_int_equal(ask(r, others[i]), REPLIES_NEW);
    assert_int_equal(ask(r, plain), REPLIES_DONE);
    replies_free(r);
}

/* Behind the first 256 bytes only the length counts. */
static void digested(void **state)
{
    char one[300], other[300];
    struct asked a = plain;
    struct replies *r = with(10, 1000);

    (void)state;
    memset(one, 'x', sizeof(one) - 1);
    one[299] = '\0';
    memcpy(other, one, sizeof(one));
    other[REPLIES_DIGESTED] = 'y';
    a.arguments = one;
    done(r, a, 0, "answer");
    a.arguments = other;
    assert_int_equal(ask(r, a), REPLIES_DONE);
    other[REPLIES_DIGESTED - 1] = 'y';
    assert_int_equal(ask(r, a), REPLIES_NEW);
    replies_free(r);
}

static void dropped(void **state)
{
    struct replies *r = with(10, 1000);
    uint32_t slot;
    struct bytes reply;

    (void)state;
    assert_int_equal(ask_at(r, plain, 0, &slot, &reply), REPLIES_NEW);
    replies_drop(r, slot);
    assert_int_equal(ask(r, plain), REPLIES_NEW);
    replies_free(r);
}

static void too_old(void **state)
{
    struct replies *r = with(10, 1000);
    uint32_t slot;
    struct bytes reply;

    (void)state;
    done(r, plain, 5 * SECOND, "answer");
    assert_int_equal(ask_at(r, plain, 125 * SECOND - 1, &slot, &reply), REPLIES_DONE);
    assert_int_equal(ask_at(r, plain, 125 * SECOND, &slot, &reply), REPLIES_NEW);
    replies_free(r);
}

static struct asked number(uint32_t xid)
{
    struct asked a = plain;

    a.xid = xid;
    return a;
}

/* The oldest goes, but none that is under way. */
static void bounded_entries(void **state)
{
    struct replies *r = with(3, 1000);
    uint32_t slot, slots[3];
    struct bytes reply;
    struct replies_counts counts;

    (void)state;
    assert_int_equal(ask_at(r, number(1), 0, &slots[0], &reply), REPLIES_NEW);
    done(r, number(2), 0, "two");
    done(r, number(3), 0, "three");
    done(r, number(4), 0, "four"); /* takes the place of 2 */
    assert_int_equal(ask(r, number(1)), REPLIES_UNDER_WAY);
    assert_int_equal(ask(r, number(3)), REPLIES_DONE);
    assert_int_equal(ask_at(r, number(5), 0, &slots[1], &reply), REPLIES_NEW); /* of 3 */
    assert_int_equal(ask_at(r, number(6), 0, &slots[2], &reply), REPLIES_NEW); /* of 4 */
    assert_int_equal(ask_at(r, number(7), 0, &slot, &reply), REPLIES_FULL);
    replies_count(r, &counts);
    assert_int_equal(counts.entries, 3);
    assert_int_equal(counts.evicted, 3);
    for (int i = 0; i < 3; i++)
        replies_drop(r, slots[i]);
    replies_count(r, &counts);
    assert_int_equal(counts.entries, 0);
    assert_int_equal(counts.bytes, 0);
    replies_free(r);
}

static void bounded_bytes(void **state)
{
    struct replies *r = with(100, 10);
    struct replies_counts counts;
    uint32_t slot;
    struct bytes reply;

    (void)state;
    done(r, number(1), 0, "1234");
    done(r, number(2), 0, "1234");
    done(r, number(3), 0, "1234");
    assert_int_equal(ask(r, number(2)), REPLIES_DONE);
    replies_count(r, &counts);
    assert_int_equal(counts.bytes, 8);
    assert_int_equal(ask_at(r, number(9), 0, &slot, &reply), REPLIES_NEW);
    replies_keep(r, slot, text("longer than all"));
    assert_int_equal(ask_at(r, number(9), 0, &slot, &reply), REPLIES_NEW);
    replies_drop(r, slot);
    replies_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_request),   cmocka_unit_test(other_requests),
        cmocka_unit_test(digested),      cmocka_unit_test(dropped),
        cmocka_unit_test(too_old),       cmocka_unit_test(bounded_entries),
        cmocka_unit_test(bounded_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
