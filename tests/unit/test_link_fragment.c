/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link: reassembly, and datagrams whose fragments are lost or come with those of others. */
#include "link_build.h"

static struct build b;
static struct catcher c;
static const int64_t second = 1000000000;

static int setup(void **state)
{
    (void)state;
    catcher_init(&c);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    catcher_free(&c);
    return 0;
}

struct piece {
    int version;
    uint32_t id, offset, len;
    bool more;
    int64_t time;
};

static void build_piece(const struct piece *p, const uint8_t *data)
{
    uint32_t ip;

    b.len = 0;
    if (p->version == 4) {
        ip = put_ipv4(&b, 17);
        store_be16(b.data + 4, (uint16_t)p->id);
        store_be16(b.data + 6, (uint16_t)(p->offset / 8 | (p->more ? 0x2000 : 0)));
        put(&b, data, p->len);
        end_ipv4(&b, ip);
    } else {
        ip = put_ipv6(&b, 44);
        put16(&b, 17 << 8);
        put16(&b, (uint16_t)(p->offset | p->more));
        put32(&b, p->id);
        put(&b, data, p->len);
        end_ipv6(&b, ip);
    }
}

/* Feeds one fragment that carries |data|; returns the number of deliveries. */
static unsigned feed_data(const struct piece *p, const uint8_t *data)
{
    unsigned before = c.count;

    build_piece(p, data);
    assert_int_equal(feed_at(&c, 101, b.data, b.len, b.len, p->time, NULL), 0);
    return c.count - before;
}

/* The same with data[offset..], as an honest sender does. */
static unsigned feed_piece(const struct piece *p, const uint8_t *data)
{
    return feed_data(p, data + p->offset);
}

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(random_state >> 4) * n >> 28);
}

static uint8_t *random_data(uint32_t len)
{
    uint8_t *data = malloc(len ? len : 1);

    assert_non_null(data);
    for (uint32_t i = 0; i < len; i++)
        data[i] = (uint8_t)random_below(256);
    return data;
}

static void check_datagram(const uint8_t *data, uint32_t len)
{
    assert_int_equal(c.last.protocol, 17);
    assert_int_equal(c.last.wire_len, len);
    assert_int_equal(c.data.len, len);
    assert_memory_equal(c.data.data, data, len);
    assert_true(c.last.reassembled);
}

static void test_every_order(void **state)
{
    uint8_t *data = random_data(100);

    (void)state;
    for (int version = 4; version <= 6; version += 2) {
        seal_udp(data, 100, version);
        for (unsigned order = 0; order < 256; order++) {
            unsigned used = 0;

            for (unsigned i = 0; i < 4; i++)
                used |= 1u << (order >> 2 * i & 3);
            if (used != 15)
                continue; /* no permutation of 4 */
            for (unsigned i = 0; i < 4; i++) {
                unsigned n = order >> 2 * i & 3;
                struct piece p = { version, order, n * 32, n < 3 ? 32 : 4, n < 3, 0 };

                assert_int_equal(feed_piece(&p, data), i == 3);
            }
            check_datagram(data, 100);
            assert_string_equal(c.source, version == 4 ? "192.0.2.1" : "2001:db8::1");
        }
    }
    assert_int_equal(counter(&c, "ip_fragments"), 2 * 24 * 4);
    assert_int_equal(counter(&c, "ip_datagrams_reassembled"), 2 * 24);
    assert_int_equal(counter(&c, "ip_datagrams_waiting"), 0);
    free(data);
}

enum order { IN_ORDER, REVERSED, SWAPPED };

struct plan { /* of datagrams with one identification, one after the other */
    int version;
    enum order order;
    bool zeros;     /* all datagrams have the same bytes behind the header */
    uint32_t share; /* of 100 fragments so many are lost */
    int64_t apart;  /* ns between datagrams; their fragments are 10 us apart */
};

enum { SEQUENCE = 12, PIECE = 64 };
static unsigned whole, missed;

/* Sends SEQUENCE datagrams under one identification; every one that has all its fragments comes
 * out, and nothing else but begins of the others. */
static void run_plan(const struct plan *plan, uint32_t id)
{
    int64_t now = (int64_t)id * 100 * second;
    uint8_t *data[SEQUENCE];
    uint32_t len[SEQUENCE], seen = 0;

    for (unsigned i = 0; i < SEQUENCE; i++) {
        uint32_t pieces = 2 + random_below(7), order[10], kept = 0;
        len[i] = pieces * PIECE - random_below(PIECE - 1);
        data[i] = plan->zeros ? calloc(1, len[i]) : random_data(len[i]);
        store_be32(data[i] + 8, i); /* an XID */
        seal_udp(data[i], len[i], plan->version);
        for (uint32_t n = 0; n < pieces; n++)
            order[n] = plan->order == REVERSED ? pieces - 1 - n : n;
        if (plan->order == SWAPPED) {
            uint32_t n = random_below(pieces - 1), swap = order[n];
            order[n] = order[n + 1];
            order[n + 1] = swap;
        }
        for (uint32_t n = 0; n < pieces; n++) {
            struct piece p = { plan->version,         id,          order[n] * PIECE, PIECE,
                               order[n] < pieces - 1, now += 10000 };
            unsigned lost = c.lost;
            if (!p.more)
                p.len = len[i] - p.offset;
            if (random_below(100) < plan->share)
                continue;
            kept++;
            if (feed_piece(&p, data[i])) {
                unsigned k = seen; /* one of zeros may lend a fragment to another */
                while (k < i && (c.data.len != len[k] || memcmp(c.data.data, data[k], len[k])))
                    k++;
                if (c.data.len != len[k] || memcmp(c.data.data, data[k], len[k]))
                    fail_msg("a mixture: version %d, order %d, zeros %d, apart %lld", plan->version,
                             plan->order, plan->zeros, (long long)plan->apart);
                seen = k + 1;
            }
            if (lost != c.lost && c.lost_data.len >= 12) {
                uint32_t xid = load_be32(c.lost_data.data + 8);
                assert_true(xid <= i && c.lost_data.len < len[xid]);
                assert_memory_equal(c.lost_data.data, data[xid], c.lost_data.len);
            }
        }
        whole += kept == pieces;
        missed += kept == pieces && seen != i + 1;
        if (kept == pieces && seen != i + 1 && plan->order != SWAPPED &&
            !(plan->zeros && !plan->apart))
            fail_msg("lost: version %d, order %d, zeros %d, apart %lld", plan->version, plan->order,
                     plan->zeros, (long long)plan->apart);
        now += plan->apart;
    }
    assert_int_equal(link_end(c.link, NULL), 0);
    for (unsigned i = 0; i < SEQUENCE; i++)
        free(data[i]);
}

static void test_one_identification_again(void **state)
{
    static const int64_t apart[] = { 0, 1000000, 500000000, 2000000000, 20000000000 };
    uint32_t id = 1;

    (void)state;
    for (int version = 4; version <= 6; version += 2)
        for (unsigned order = IN_ORDER; order <= SWAPPED; order++)
            for (unsigned zeros = 0; zeros < 2; zeros++)
                for (unsigned a = 0; a < sizeof(apart) / sizeof(apart[0]); a++)
                    for (unsigned round = 0; round < 20; round++) {
                        struct plan plan = { version, order, zeros, 15, apart[a] };
                        run_plan(&plan, id++);
                    }
    assert_true(whole > 5000 && missed < whole / 100);
}

/* What is known of a datagram comes when it is given up, and only once. */
static void test_lost(void **state)
{
    enum { ANSWER, END, AGE, NEXT, WAYS };
    uint8_t *data = random_data(200), *next = random_data(200), answer[8 + 24] = { 0 };
    uint32_t ip;

    (void)state;
    seal_udp(data, 200, 4);
    seal_udp(next, 200, 4);
    for (unsigned way = ANSWER; way < WAYS; way++)
        for (uint32_t gone = 0; gone < 3; gone++) {
            int64_t now = (int64_t)(way * 3 + gone + 1) * 1000 * second;
            struct piece p[3] = { { 4, 7, 0, 80, true, now },
                                  { 4, 7, 80, 80, true, now },
                                  { 4, 7, 160, 40, false, now } };
            unsigned lost = c.lost, count = c.count;

            for (uint32_t i = 0; i < 3; i++)
                if (i != gone)
                    assert_int_equal(feed_piece(&p[i], data), 0);
            assert_int_equal(c.lost, lost);
            b.len = 0;
            ip = put_ipv4(&b, 17);
            switch (way) {
            case ANSWER: /* from the other side, with the ports and the XID */
                memcpy(b.data + ip + 12, "\xc6\x33\x64\x02\xc0\0\x02\x01", 8);
                memcpy(answer, data + 2, 2);
                memcpy(answer + 2, data, 2);
                store_be16(answer + 4, sizeof(answer));
                memcpy(answer + 8, data + 8, 4);
                put(&b, answer, sizeof(answer));
                end_ipv4(&b, ip);
                feed_at(&c, 101, b.data, b.len, b.len, now, NULL);
                assert_int_equal(c.count, ++count);
                assert_int_equal(c.lost, lost); /* it may be the answer of an earlier copy */
                feed_at(&c, 101, b.data, b.len, b.len, now + second, NULL);
                assert_int_equal(c.count, ++count);
                break;
            case END:
                assert_int_equal(link_end(c.link, NULL), 0);
                break;
            case AGE:
                put(&b, answer, sizeof(answer));
                store_be16(b.data + ip + 6, 0x2001);
                end_ipv4(&b, ip);
                feed_at(&c, 101, b.data, b.len, b.len, now + LINK_FRAGMENT_AGE + 1, NULL);
                break;
            default:
                for (uint32_t i = 0; i < 3; i++) {
                    p[i].time += second;
                    feed_piece(&p[i], next);
                }
                assert_int_equal(c.count, ++count);
                check_datagram(next, 200);
                break;
            }
            assert_int_equal(c.lost, lost + (gone != 0));
            assert_int_equal(c.count, count);
            if (gone) {
                assert_int_equal(c.lost_data.len, 80);
                assert_memory_equal(c.lost_data.data, data, 80);
            }
        }
    free(data);
    free(next);
}

/* Checksums that say nothing: 0, of the pseudo-header alone, always wrong.  A datagram that may be
 * a mixture waits for a while, and what has no rival comes at once. */
static void test_no_checksum(void **state)
{
    uint8_t *data = random_data(160), *next = random_data(160);

    (void)state;
    for (unsigned kind = 0; kind < 3; kind++)
        for (unsigned rest = 0; rest < 2; rest++) {
            int64_t now = (int64_t)(kind * 2 + rest + 1) * 1000 * second;
            struct piece first = { 4, 9, 0, 80, true, now }, last = { 4, 9, 80, 80, false, now };
            uint32_t pseudo = 0xc000 + 0x0201 + 0xc633 + 0x6402 + 17 + 160;
            unsigned count;

            for (unsigned n = 0; n < 2; n++) {
                uint8_t *d = n ? next : data;
                store_be16(d + 4, 160);
                store_be16(d + 6, kind == 0   ? 0
                                  : kind == 1 ? (uint16_t)((pseudo & 0xffff) + (pseudo >> 16))
                                              : 0x1234);
            }
            assert_int_equal(feed_piece(&first, data), 0);
            assert_int_equal(feed_piece(&last, data), 1);
            check_datagram(data, 160);
            /* the last of one, the first of another two seconds later */
            first.time = last.time = now + 10 * second;
            assert_int_equal(feed_piece(&last, data), 0);
            first.time += 2 * second;
            assert_int_equal(feed_piece(&first, next), 0);
            count = c.count;
            last.time = first.time;
            if (rest) {
                assert_int_equal(feed_piece(&last, next), 1);
                check_datagram(next, 160);
            }
            struct piece other = { 4, 10, 0, 80, true, first.time + second };
            assert_int_equal(feed_piece(&other, data), !rest);
            assert_int_equal(c.count, count + 1);
        }
    free(data);
    free(next);
}

static void test_largest(void **state)
{
    uint8_t *data = random_data(65535 + 8);
    struct piece first = { 4, 1, 0, 65504, true, 0 }, last = { 4, 1, 65504, 31, false, 0 };
    struct piece beyond = { 4, 2, 65528, 8, false, 0 };

    (void)state;
    assert_int_equal(feed_piece(&last, data), 0);
    assert_int_equal(feed_piece(&first, data), 1);
    check_datagram(data, 65535);
    assert_int_equal(feed_piece(&beyond, data), 0);
    assert_int_equal(counter(&c, "ip_fragments_malformed"), 1);
    struct piece odd = { 4, 3, 0, 7, true, 0 }; /* not one block */
    assert_int_equal(feed_piece(&odd, data), 0);
    struct piece none = { 4, 3, 8, 0, false, 0 };
    assert_int_equal(feed_piece(&none, data), 0);
    assert_int_equal(counter(&c, "ip_fragments_malformed"), 3);
    assert_int_equal(counter(&c, "ip_datagrams_waiting"), 0);
    free(data);
}

static void test_counts_of_repeats(void **state)
{
    uint8_t *data = random_data(200);
    struct piece first = { 4, 1, 0, 64, true, 0 }, wide = { 4, 1, 32, 64, true, 0 };
    struct piece last = { 4, 1, 96, 50, false, 0 };
    struct piece longer = { 4, 1, 96, 60, false, 0 }, behind = { 4, 1, 152, 8, true, 0 };
    struct piece shorter = { 4, 1, 32, 8, false, 0 };

    (void)state;
    seal_udp(data, 146, 4);
    assert_int_equal(feed_piece(&first, data), 0);
    assert_int_equal(feed_piece(&first, data), 0);
    assert_int_equal(counter(&c, "ip_fragments_duplicate"), 1);
    assert_int_equal(feed_piece(&wide, data), 0);
    assert_int_equal(counter(&c, "ip_fragments_overlapping"), 1);
    assert_int_equal(feed_piece(&last, data), 1);
    check_datagram(data, 146);

    /* what contradicts a set ends it, and begins another */
    first.id = last.id = longer.id = behind.id = shorter.id = 2;
    assert_int_equal(feed_piece(&first, data), 0);
    assert_int_equal(feed_piece(&last, data), 0);
    assert_int_equal(feed_piece(&longer, data), 0);
    assert_int_equal(counter(&c, "ip_fragments_conflicting"), 2);
    assert_int_equal(c.lost, 1);
    assert_int_equal(c.lost_data.len, 64);
    assert_int_equal(feed_piece(&behind, data), 0);
    assert_int_equal(feed_piece(&shorter, data), 0); /* an end before what was seen */
    assert_int_equal(counter(&c, "ip_fragments_conflicting"), 4);
    assert_int_equal(c.lost, 1);
    free(data);
}

/* What tells datagrams apart: each change makes another set. */
static void test_keys(void **state)
{
    uint8_t *data = random_data(16);
    struct piece first = { 4, 7, 0, 8, true, 0 }, last = { 4, 7, 8, 8, false, 0 };

    (void)state;
    static const struct {
        uint32_t at;
        uint8_t flip;
    } fields[] = { { 5, 1 }, { 9, 23 }, { 15, 1 }, { 19, 1 } }; /* id, protocol, addresses */
    assert_int_equal(feed_piece(&first, data), 0);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        build_piece(&last, data + 8);
        b.data[fields[i].at] ^= fields[i].flip;
        assert_int_equal(feed(&c, 101, &b), 0);
    }
    assert_int_equal(counter(&c, "ip_datagrams_waiting"), 5);
    assert_int_equal(feed_piece(&last, data), 1);

    /* IPv6: the next header is no part of it, and the first fragment's counts */
    struct piece first6 = { 6, 7, 0, 8, true, 0 }, last6 = { 6, 7, 8, 8, false, 0 };
    build_piece(&last6, data + 8);
    b.data[40] = 6;
    assert_int_equal(feed(&c, 101, &b), 0);
    assert_int_equal(feed_piece(&first6, data), 1);
    assert_int_equal(c.last.protocol, 17);
    free(data);
}

/* Tags matter between private addresses only: elsewhere the copies are of one datagram. */
static void test_tags(void **state)
{
    static const struct {
        uint8_t address[4];
        bool apart;
    } cases[] = {
        { { 10, 0, 0, 1 }, true },     { { 172, 16, 0, 1 }, true },  { { 172, 31, 9, 1 }, true },
        { { 192, 168, 0, 1 }, true },  { { 169, 254, 0, 1 }, true }, { { 11, 0, 0, 1 }, false },
        { { 172, 32, 0, 1 }, false },  { { 172, 15, 0, 1 }, false }, { { 192, 169, 0, 1 }, false },
        { { 169, 253, 0, 1 }, false },
    };
    static const uint8_t data[16] = { 1 };
    struct piece pieces[2] = { { 4, 7, 0, 8, true, 0 }, { 4, 7, 8, 8, false, 0 } };
    struct build *tagged = malloc(sizeof(*tagged));

    (void)state;
    assert_non_null(tagged);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned before = c.count;

        for (unsigned n = 0; n < 2; n++) {
            build_piece(&pieces[n], data);
            memcpy(b.data + (i & 1 ? 12 : 16), cases[i].address, 4);
            tagged->len = 0;
            put_ethernet(tagged, 0x8100);
            put16(tagged, (uint16_t)(5 + n));
            put16(tagged, 0x0800);
            put(tagged, b.data, b.len);
            feed(&c, 1, tagged);
        }
        assert_int_equal(c.count - before, !cases[i].apart);
    }
    free(tagged);
}

static void test_sets_bound(void **state)
{
    uint8_t *data = random_data(16);

    (void)state;
    for (uint32_t id = 0; id < LINK_FRAGMENT_SETS + 10; id++) {
        struct piece p = { 6, id, 0, 8, true, id };

        assert_int_equal(feed_piece(&p, data), 0);
    }
    assert_int_equal(counter(&c, "ip_datagrams_evicted"), 10);
    assert_int_equal(counter(&c, "ip_datagrams_incomplete"), 10);
    assert_int_equal(counter(&c, "ip_datagrams_waiting"), LINK_FRAGMENT_SETS);
    struct piece kept = { 6, 10, 8, 8, false, 5000 }, gone = { 6, 9, 8, 8, false, 5000 };
    assert_int_equal(feed_piece(&kept, data), 1);
    check_datagram(data, 16);
    assert_int_equal(feed_piece(&gone, data), 0);
    free(data);
}

static void test_bytes_bound(void **state)
{
    enum { MANY = 300, FIT = LINK_FRAGMENT_BYTES / 65536 };
    uint8_t *data = random_data(65528);

    (void)state;
    for (uint32_t id = 0; id < MANY; id++) {
        struct piece p = { 6, id, 8, 65000, false, id };

        assert_int_equal(feed_piece(&p, data), 0);
    }
    assert_int_equal(counter(&c, "ip_datagrams_evicted"), MANY - FIT);
    struct piece kept = { 6, MANY - FIT, 0, 8, true, MANY };
    struct piece gone = { 6, MANY - FIT - 1, 0, 8, true, MANY };
    assert_int_equal(feed_piece(&kept, data), 1);
    check_datagram(data, 65008);
    assert_int_equal(feed_piece(&gone, data), 0);

    /* the oldest set of all grows: the others go, not that one */
    teardown(NULL);
    setup(NULL);
    struct piece oldest = { 6, 1000, 0, 8, true, 0 }, rest = { 6, 1000, 8, 65000, false, 1 };
    assert_int_equal(feed_piece(&oldest, data), 0);
    for (uint32_t id = 0; id < FIT - 1; id++) {
        struct piece p = { 6, id, 8, 65000, false, 1 };

        assert_int_equal(feed_piece(&p, data), 0);
    }
    struct piece small = { 6, FIT, 0, 8, true, 1 }, next = { 6, 0, 0, 8, true, 1 };
    assert_int_equal(feed_piece(&small, data), 0);
    assert_int_equal(counter(&c, "ip_datagrams_evicted"), 0);
    assert_int_equal(feed_piece(&rest, data), 1);
    assert_int_equal(counter(&c, "ip_datagrams_evicted"), 1);
    check_datagram(data, 65008);
    assert_int_equal(feed_piece(&next, data), 0); /* the second oldest it was */
    free(data);
}

static void test_age(void **state)
{
    uint8_t *data = random_data(16);
    static const struct {
        int64_t apart;
        bool complete;
    } cases[] = {
        { 0, true },
        { LINK_FRAGMENT_AGE, true },
        { LINK_FRAGMENT_AGE + 1, false },
        { -LINK_FRAGMENT_AGE, true },
        { -LINK_FRAGMENT_AGE - 1, false },
        { INT64_MIN + 1, false },
        { TIME_NONE, true }, /* ages nothing */
        { INT64_MAX, false },
    };

    (void)state;
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t before = counter(&c, "ip_datagrams_incomplete");
        struct piece first = { 4, i, 0, 8, true, 0 }, last = { 4, i, 8, 8, false, cases[i].apart };

        seal_udp(data, 16, 4);
        assert_int_equal(feed_piece(&first, data), 0);
        assert_int_equal(feed_piece(&last, data), cases[i].complete);
        if (!cases[i].complete) {
            assert_true(counter(&c, "ip_datagrams_incomplete") > before);
            first.time = last.time;
            assert_int_equal(feed_piece(&first, data), 1); /* begins anew with |last| */
            check_datagram(data, 16);
        }
    }
    free(data);
}

/* A datagram captured twice is delivered twice; half a second copy doesn't spoil the next datagram
 * with this identification. */
static void test_copies(void **state)
{
    uint8_t *data = random_data(24), *next = random_data(24);
    struct piece pieces[3] = { { 4, 1, 0, 8, true, 0 },
                               { 4, 1, 8, 8, true, 0 },
                               { 4, 1, 16, 8, false, 0 } };

    (void)state;
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(feed_piece(&pieces[i % 3], data), i % 3 == 2);
    for (unsigned i = 0; i < 6; i++) /* every frame twice: a capture on all interfaces */
        assert_int_equal(feed_piece(&pieces[i / 2], data), i == 4);
    assert_int_equal(counter(&c, "ip_datagrams_waiting"), 1);
    for (unsigned i = 0; i < 3; i++) {
        pieces[i].time = 2 * second;
        assert_int_equal(feed_piece(&pieces[i], next), i == 2);
    }
    check_datagram(next, 24);
    assert_int_equal(counter(&c, "ip_fragments_duplicate"), 3);
    assert_int_equal(counter(&c, "ip_datagrams_incomplete"), 0);
    assert_int_equal(counter(&c, "ip_datagrams_waiting"), 0);
    free(data);
    free(next);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_order), TEST(test_one_identification_again),
        TEST(test_lost),        TEST(test_no_checksum),
        TEST(test_largest),     TEST(test_counts_of_repeats),
        TEST(test_keys),        TEST(test_tags),
        TEST(test_sets_bound),  TEST(test_bytes_bound),
        TEST(test_age),         TEST(test_copies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
