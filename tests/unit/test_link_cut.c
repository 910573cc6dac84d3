/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link with what is not all there: frames cut at every length, damaged frames, cut
 * fragments, and the kept fragments through link_save and link_restore. */
#include "link_build.h"

static struct build b;
static struct catcher c;

static int setup(void **state)
{
    (void)state;
    b.len = 0;
    catcher_init(&c);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    catcher_free(&c);
    return 0;
}

static uint32_t random_state = 7;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(random_state >> 4) * n >> 28);
}

/* Frames of many headers: hexadecimal digits, and between them "4/P" and "6/P" for IP headers with
 * protocol P ("4+1/P": with one word of options, which follows). All end with UDP. */
static const struct {
    int link_type;
    const char *headers;
} frames[] = {
    { 1, "0200000000010200000000020800 4/17" },
    { 1, "02000000000102000000000288a80005810000060800 4+1/17 94040000" },
    { 1, "0200000000010200000000020400aaaa0300000086dd 6/0 3c00010400000000 1100010400000000" },
    { 1, "02000000000102000000000286dd 6/43 3302000100000000 20010db8000000000000000000000009 "
         "110400000000000100000001 000000000000000000000000" },
    { 113, "00000001000602000000000100000800 4/47 b0000800123400000000000900000001 4/17" },
    { 276, "86dd000000000003030400060000000000000000 6/4 4/47 00006558 "
           "020000000001020000000002 8864 110000010050 0057 6/17" },
    { 0, "02000000 4/17 9c4012b500000000 0800000000002a00 0200000000010200000000020800 4/17" },
    { 51, "110000010100 0281 00063040 00064140 4/47 3081880b 00000005 00000001 00000001 ff030021 "
          "4/17" },
    { 1, "0200000000010200000000020800 4/47 c000655800000000 0002000400000000 00000000 "
         "020000000001020000000002 0800 4/17" },
    { 1, "0200000000010200000000020800 4/47 100022eb00000001 200500070000000000000801 "
         "0000000000000000 4/17" },
};

enum { VXLAN = 6 }; /* in that table */

static void build_frame(size_t n)
{
    uint32_t ip[4];
    unsigned count = 0;

    b.len = 0;
    for (const char *at = frames[n].headers; *at; at += strcspn(at, " "), at += *at == ' ') {
        unsigned version, protocol, words = 0;

        if (sscanf(at, "%1u/%u", &version, &protocol) == 2 ||
            sscanf(at, "%1u+%u/%u", &version, &words, &protocol) == 3) {
            ip[count] =
                version == 4 ? put_ipv4(&b, (uint8_t)protocol) : put_ipv6(&b, (uint8_t)protocol);
            b.data[ip[count++]] += (uint8_t)words;
        } else {
            char digits[128];

            assert_int_equal(sscanf(at, "%127[0-9a-f]", digits), 1);
            put_hex(&b, digits);
        }
    }
    put_udp(&b, 9999, 30);
    while (count--) {
        if (b.data[ip[count]] >> 4 == 4)
            end_ipv4(&b, ip[count]);
        else
            end_ipv6(&b, ip[count]);
    }
}

/* Cut by the snap length: each captured length gives the same payload, cut in turn, or none but a
 * counter.  Short on the wire: never more than there is.  ASan sees reads beyond. */
static void test_every_length(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof(frames) / sizeof(frames[0]); n++) {
        bool before = false;

        build_frame(n);
        if (feed(&c, frames[n].link_type, &b) != 1)
            fail_msg("frame %zu: not delivered", n);
        assert_true(is_udp(&c, 9999, 30));
        for (uint32_t len = 0; len < b.len; len++) {
            unsigned count = c.count;
            uint64_t cut = counter(&c, "truncated_headers");
            uint64_t malformed = counter(&c, "malformed_headers");

            assert_int_equal(feed_at(&c, frames[n].link_type, b.data, len, b.len, 0, NULL), 0);
            if (c.count == count) {
                assert_false(before); /* once there is a payload, there is one */
                assert_int_equal(counter(&c, "truncated_headers"), cut + 1);
                assert_int_equal(counter(&c, "malformed_headers"), malformed);
            } else if (n == VXLAN && c.last.cap_len < 4) {
                assert_false(before); /* the outer datagram: its port was cut off */
            } else {
                before = true;
                assert_int_equal(c.last.wire_len, 38);
                assert_int_equal(c.last.cap_len, len - (b.len - 38));
            }
            count = c.count;
            assert_int_equal(feed_at(&c, frames[n].link_type, b.data, len, len, 0, NULL), 0);
            if (c.count != count && n == VXLAN && c.last.wire_len < 16)
                continue; /* an outer datagram too small for VXLAN */
            if (c.count != count)
                assert_int_equal(c.last.wire_len, len - (b.len - 38));
        }
        assert_true(before);
    }
}

/* Any byte may be anything: no read beyond (ASan), no endless loop, lengths that hold. */
static void test_damage(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        size_t n = random_below(sizeof(frames) / sizeof(frames[0]));
        uint32_t len;

        build_frame(n);
        for (uint32_t flips = 1 + random_below(6); flips; flips--)
            b.data[random_below(b.len)] = (uint8_t)random_below(256);
        len = random_below(4) ? b.len : random_below(b.len);
        assert_int_equal(feed_at(&c, frames[n].link_type, b.data, len, b.len, round, NULL), 0);
        if (c.last.source.version)
            assert_true(c.last.cap_len <= c.last.wire_len && c.last.wire_len <= 65535);
    }
    assert_true(c.count > 5000);
}

static void put_fragment(uint32_t id, uint32_t offset, uint32_t len, bool more)
{
    b.len = 0;
    put_ethernet(&b, 0x0800);
    uint32_t ip = put_ipv4(&b, 6); /* whose checksum nobody looks at */
    store_be16(b.data + ip + 4, (uint16_t)id);
    store_be16(b.data + ip + 6, (uint16_t)(offset / 8 | (more ? 0x2000 : 0)));
    for (uint32_t i = 0; i < len; i++)
        put8(&b, (uint8_t)((offset + i) * 13 + id));
    end_ipv4(&b, ip);
}

static unsigned feed_cut(uint32_t cap_len)
{
    unsigned before = c.count;

    assert_int_equal(feed_at(&c, 1, b.data, cap_len, b.len, 0, NULL), 0);
    return c.count - before;
}

static void test_cut_fragments(void **state)
{
    (void)state;
    put_fragment(1, 0, 800, true);
    assert_int_equal(feed_cut(96), 1); /* the first comes alone, with its own length */
    assert_int_equal(c.last.cap_len, 96 - 34);
    assert_int_equal(c.last.wire_len, 800);
    assert_false(c.last.reassembled);
    put_fragment(1, 800, 800, true);
    assert_int_equal(feed_cut(96), 0);
    put_fragment(1, 1600, 20, false); /* whole, but it waits in vain */
    assert_int_equal(feed_cut(b.len), 0);
    assert_int_equal(counter(&c, "ip_fragments_cut"), 1);
    assert_int_equal(counter(&c, "ip_fragments_cut_delivered"), 1);
    assert_int_equal(counter(&c, "ip_datagrams_waiting"), 1);

    /* the header promises more than the frame had: as good as cut */
    put_fragment(2, 0, 80, true);
    store_be16(b.data + 16, 20 + 800);
    assert_int_equal(feed_cut(b.len), 1);
    assert_int_equal(c.last.wire_len, 80);
    put_fragment(2, 800, 80, true);
    store_be16(b.data + 16, 20 + 800);
    assert_int_equal(feed_cut(b.len), 0);
    assert_int_equal(counter(&c, "ip_fragments_cut"), 2);
    assert_int_equal(counter(&c, "ip_fragments_cut_delivered"), 2);

    /* the same in IPv6, here behind destination options in the fragmented part */
    b.len = 0;
    uint32_t ip = put_ipv6(&b, 44);
    put_hex(&b, "3c00000100000007"
                "1100010400000000");
    put_udp(&b, 9999, 800);
    end_ipv6(&b, ip);
    assert_int_equal(feed_at(&c, 101, b.data, 100, b.len, 0, NULL), 0);
    assert_int_equal(counter(&c, "ip_fragments_cut_delivered"), 3);
    assert_int_equal(c.last.wire_len, 808);
    assert_int_equal(c.last.cap_len, 100 - 56);
    assert_string_equal(c.source, "2001:db8::1");
}

static void move_to_new_link(const struct buf *saved)
{
    link_free(c.link);
    c.link = link_new(catch_payload, &c);
    assert_non_null(c.link);
    assert_int_equal(link_restore(c.link, saved->data, saved->len, NULL), 0);
}

enum { DATAGRAMS = 6, PIECES = 5, FEEDS = DATAGRAMS * PIECES * 2 };

/* Feeds the shuffled pieces of some datagrams, most of them twice, and notes in |log| what is
 * delivered at each; saves and restores before each number in |every|. */
static void feed_shuffled(unsigned every, uint32_t log[FEEDS])
{
    random_state = 99;
    for (unsigned i = 0; i < FEEDS; i++) {
        uint32_t id = random_below(DATAGRAMS), n = random_below(PIECES);

        if (every && i % every == 0) {
            struct buf saved = { 0 }, again = { 0 };

            assert_int_equal(link_save(c.link, &saved), 0);
            move_to_new_link(&saved);
            assert_int_equal(link_save(c.link, &again), 0);
            assert_int_equal(saved.len, again.len);
            assert_memory_equal(saved.data, again.data, saved.len);
            buf_free(&saved);
            buf_free(&again);
        }
        c.data.len = 0;
        put_fragment(id, n * 40, n < PIECES - 1 ? 40 : 13, n < PIECES - 1);
        log[i] = feed(&c, 1, &b) ? 1 : 0;
        for (size_t k = 0; k < c.data.len; k++)
            log[i] = log[i] * 31 + c.data.data[k];
    }
}

static void test_save(void **state)
{
    uint32_t plain[FEEDS], saved[FEEDS];
    unsigned delivered = 0;

    (void)state;
    feed_shuffled(0, plain);
    for (unsigned i = 0; i < FEEDS; i++)
        delivered += plain[i] != 0;
    assert_true(delivered >= DATAGRAMS / 2);
    for (unsigned every = 1; every < 8; every++) {
        teardown(NULL);
        setup(NULL);
        feed_shuffled(every, saved);
        assert_memory_equal(plain, saved, sizeof(plain));
    }
}

/* Half a second copy is still one after a restore. */
static void test_save_copies(void **state)
{
    struct buf saved = { 0 };

    (void)state;
    put_fragment(1, 0, 8, true);
    feed(&c, 1, &b);
    put_fragment(1, 8, 8, false);
    assert_int_equal(feed(&c, 1, &b), 1);
    assert_int_equal(link_save(c.link, &saved), 0);
    move_to_new_link(&saved);
    assert_int_equal(feed(&c, 1, &b), 0);
    saved.len = 0;
    assert_int_equal(link_save(c.link, &saved), 0);
    move_to_new_link(&saved);
    assert_int_equal(counter(&c, "ip_datagrams_waiting"), 1);
    put_fragment(1, 0, 8, true);
    assert_int_equal(feed_at(&c, 1, b.data, b.len, b.len, 2000000000, NULL), 0);
    assert_int_equal(c.count, 1);
    assert_int_equal(counter(&c, "ip_fragments_duplicate"), 1);
    assert_int_equal(counter(&c, "ip_datagrams_incomplete"), 0);
    buf_free(&saved);
}

static void test_restore_refuses(void **state)
{
    struct buf saved = { 0 };

    (void)state;
    for (uint32_t id = 0; id < 3; id++) {
        put_fragment(id, 0, 40, true);
        feed(&c, 1, &b);
        put_fragment(id, 80, 5, false);
        feed(&c, 1, &b);
    }
    assert_int_equal(link_save(c.link, &saved), 0);
    for (size_t len = 0; len < saved.len; len++) {
        uint8_t *exact = malloc(len ? len : 1);
        struct err err = { 0 };

        assert_non_null(exact);
        memcpy(exact, saved.data, len);
        assert_int_equal(link_restore(c.link, exact, len, &err), -ERR_INPUT);
        assert_true(err.text[0] != '\0');
        assert_int_equal(counter(&c, "ip_datagrams_waiting"), 0); /* nothing half restored */
        free(exact);
    }
    /* damaged, it is refused or gives something that can be lived with */
    for (size_t at = 0; at < saved.len; at++)
        for (unsigned flip = 1; flip < 256; flip <<= 1) {
            saved.data[at] ^= (uint8_t)flip;
            link_restore(c.link, saved.data, saved.len, NULL);
            for (uint32_t id = 0; id < 3; id++) {
                put_fragment(id, 40, 40, true);
                feed(&c, 1, &b);
            }
            saved.data[at] ^= (uint8_t)flip;
        }
    assert_int_equal(link_restore(c.link, saved.data, saved.len, NULL), 0);
    for (uint32_t id = 0; id < 3; id++) {
        put_fragment(id, 40, 40, true);
        assert_int_equal(feed(&c, 1, &b), 1);
        assert_int_equal(c.data.len, 85);
        for (uint32_t i = 0; i < 85; i++)
            assert_int_equal(c.data.data[i], (uint8_t)(i * 13 + id));
    }
    buf_free(&saved);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_every_length), TEST(test_damage),      TEST(test_cut_fragments),
        TEST(test_save),         TEST(test_save_copies), TEST(test_restore_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
