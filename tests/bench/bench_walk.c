/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/bench/bench_walk.c
 *
 * How long the walker takes for one message body, and rpc_parse for one header: the best of seven
 * rounds, in nanoseconds, with the roles that pairing asks for and with all fields.
 *
 *     bench_walk
 */
#include "wire/rpc.h"
#include "wire/walk.h"

#include <stdio.h>
#include <time.h>

enum { ROUNDS = 7, PAIRING = 0x1fffffff }; /* every role */

static uint8_t body[65536];
static uint32_t body_len;
static volatile uint64_t sink;

static void word(uint32_t value)
{
    store_be32(body + body_len, value);
    body_len += 4;
}

static void words(unsigned count)
{
    while (count--)
        word(count);
}

static void attributes(void)
{
    word(1);
    words(21);
}

static void handle(void)
{
    word(28);
    words(7);
}

static int look(void *ctx, const struct visit *visit)
{
    uint64_t *sum = ctx;

    *sum += visit->value + visit->len;
    return 0;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int time_walk(const char *what, uint32_t procedure, uint32_t roles, unsigned count)
{
    const struct type *type = procedure_find(100003, 3, procedure)->result;
    uint64_t sum = 0;
    struct visitor visitor = { .visit = look, .ctx = &sum, .roles = roles };
    struct walk walked;
    double best = 1e18, start, took;
    unsigned round, i;

    for (round = 0; round < ROUNDS; round++) {
        start = now();
        for (i = 0; i < count; i++)
            if (walk(&walked, type, body, body_len, body_len, false, &visitor) != WALK_OK)
                return fprintf(stderr, "%s: %s\n", what, walked.problem), 1;
        took = (now() - start) / count;
        best = took < best ? took : best;
    }
    sink = sum;
    printf("%-18s %-12s %9.1f ns\n", what, roles ? "roles" : "all fields", best);
    return 0;
}

static int time_both(const char *what, uint32_t procedure, unsigned count)
{
    return time_walk(what, procedure, PAIRING, count) | time_walk(what, procedure, 0, count / 4);
}

static int time_rpc(const char *what)
{
    struct rpc_header header;
    double best = 1e18, start, took;
    unsigned round, i;

    for (round = 0; round < ROUNDS; round++) {
        start = now();
        for (i = 0; i < 1000000; i++) {
            if (rpc_parse(body, body_len, body_len, &header) != RPC_OK)
                return fprintf(stderr, "%s: not parsed\n", what), 1;
            sink = header.body;
        }
        took = (now() - start) / 1e6;
        best = took < best ? took : best;
    }
    printf("%-18s %-12s %9.1f ns\n", what, "", best);
    return 0;
}

static void begin(void)
{
    body_len = 0;
    word(0); /* status, or XID */
}

int main(void)
{
    int failed = 0, i;

    wire_init();
    begin();
    words(21);
    failed |= time_both("GETATTR reply", 1, 1000000);
    begin();
    handle();
    attributes();
    attributes();
    failed |= time_both("LOOKUP reply", 3, 1000000);
    begin();
    attributes();
    word(8192);
    word(1);
    word(8192);
    words(2048);
    failed |= time_both("READ reply", 6, 1000000);
    begin();
    attributes();
    words(2);
    for (i = 0; i < 100; i++) {
        word(1);
        words(2);
        word(8);
        words(4);
        attributes();
        word(1);
        handle();
    }
    word(0);
    word(1);
    failed |= time_both("READDIRPLUS of 100", 17, 20000);
    begin(); /* a call with AUTH_SYS and five groups */
    word(RPC_CALL);
    word(2);
    word(100003);
    word(3);
    word(1);
    word(RPC_AUTH_SYS);
    word(52);
    word(0);
    word(10);
    words(3);
    words(2);
    word(5);
    words(5);
    word(RPC_AUTH_NONE);
    word(0);
    handle();
    failed |= time_rpc("RPC call");
    begin();
    word(RPC_REPLY);
    for (i = 0; i < 4; i++)
        word(0);
    failed |= time_rpc("RPC reply");
    return failed;
}
