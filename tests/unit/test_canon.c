/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names/canon: which connection an event belongs to, against a search through all of them. */
#include "names/canon.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { FLOWS = 60, EVENTS = 200, ROUNDS = 200 };

static uint32_t seed = 1;

static uint32_t below(uint32_t most)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % most;
}

static struct address host(uint32_t number)
{
    return (struct address){ .version = 4, .bytes = { 10, 0, 0, (uint8_t)number } };
}

/* Few ends, so that many connections have the same ones, also the other way around. */
static void put_records(struct canon_records *c)
{
    struct err err = { 0 };

    for (uint32_t i = 0; i < FLOWS; i++) {
        struct record r = { .kind = RECORD_FLOW,
                            .flow = { .id = i + 1,
                                      .transport = below(5) ? IPPROTO_TCP : IPPROTO_UDP,
                                      .client = host(below(3)),
                                      .server = host(below(3)),
                                      .client_port = (uint16_t)(1 + below(2)),
                                      .server_port = (uint16_t)(1 + below(2)),
                                      .frame = below(6) ? 1 + below(40) : 0 } };

        assert_int_equal(canon_records_put(c, &r, &err), 0);
    }
    for (uint32_t i = 0; i < EVENTS; i++) {
        struct record r = { .kind = RECORD_CONNECTION_EVENT,
                            .connection_event = { .flow = below(4) ? 0 : 1 + below(FLOWS),
                                                  .client = host(below(3)),
                                                  .server = host(below(3)),
                                                  .client_port = (uint16_t)(1 + below(2)),
                                                  .server_port = (uint16_t)(1 + below(2)),
                                                  .direction = (uint8_t)below(2),
                                                  .frame = 1 + below(40) } };

        assert_int_equal(canon_records_put(c, &r, &err), 0);
    }
}

static bool has_ends(const struct record_flow *f, const struct record_connection_event *e)
{
    bool same = f->client_port == e->client_port && f->server_port == e->server_port &&
                address_equal(&f->client, &e->client) && address_equal(&f->server, &e->server);

    return f->transport == IPPROTO_TCP &&
           (same ||
            (f->client_port == e->server_port && f->server_port == e->client_port &&
             address_equal(&f->client, &e->server) && address_equal(&f->server, &e->client)));
}

/* The connection of an event, found the long way. */
static uint32_t expected(const struct canon_records *c, const struct record_connection_event *e)
{
    uint32_t found = e->flow;

    for (uint32_t i = 0; !e->flow && i < FLOWS; i++)
        if (c->all[i].r.flow.frame <= e->frame && has_ends(&c->all[i].r.flow, e))
            found = c->all[i].r.flow.id;
    return found;
}

static void events_find_their_connections(void **state)
{
    uint32_t found = 0;

    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        struct err err = { 0 };
        struct canon_records *c = canon_records_new(&err);
        uint32_t truth[EVENTS];

        assert_non_null(c);
        put_records(c);
        for (uint32_t i = 0; i < EVENTS; i++)
            truth[i] = expected(c, &c->all[FLOWS + i].r.connection_event);
        assert_int_equal(find_connections(c, &err), 0);
        for (uint32_t i = 0; i < EVENTS; i++) {
            assert_int_equal(c->all[FLOWS + i].r.connection_event.flow, truth[i]);
            found += truth[i] != 0;
        }
        canon_records_free(c);
    }
    assert_in_range(found, ROUNDS * EVENTS / 2, ROUNDS * EVENTS - ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_find_their_connections),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
