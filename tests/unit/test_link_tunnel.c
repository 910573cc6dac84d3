/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link: tunnels, link_payload and the counters. */
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

/* |head| behind an outer IP header of |protocol|, then UDP over IP |version|. */
static bool opens(uint8_t protocol, const char *head, int version, bool outer6)
{
    b.len = 0;
    uint32_t ip = outer6 ? put_ipv6(&b, protocol) : put_ipv4(&b, protocol);
    b.data[ip + 19] = 0xee; /* an outer address that isn't the inner one */
    put_hex(&b, head);
    if (version == 4)
        put_udp4(&b, 100);
    else
        put_udp6(&b, 100);
    if (outer6)
        end_ipv6(&b, ip);
    else
        end_ipv4(&b, ip);
    put_zeros(&b, 7);
    return feed(&c, 101, &b) == 1 && is_udp(&c, 9999, 100) &&
           strcmp(c.destination, version == 4 ? "198.51.100.2" : "2001:db8:0:1::2") == 0;
}

static void test_ip_in_ip(void **state)
{
    (void)state;
    assert_true(opens(4, "", 4, false));
    assert_true(opens(41, "", 6, false));
    assert_true(opens(4, "", 4, true));
    assert_true(opens(41, "", 6, true));
    assert_int_equal(counter(&c, "ip_in_ip_packets"), 4);
    assert_false(opens(41, "", 4, false)); /* says version 6 */
    assert_int_equal(counter(&c, "malformed_headers"), 1);
    assert_true(opens(137, "00063140", 4, false));
}

static void test_gre(void **state)
{
    static const struct {
        const char *head;
        int version;
    } opened[] = {
        { "00000800", 4 },
        { "000086dd", 6 },
        { "8000080012340000", 4 },                         /* checksum */
        { "2000080000000009", 4 },                         /* key */
        { "1000080000000001", 4 },                         /* sequence number */
        { "b0000800123400000000000900000001", 4 },         /* all three */
        { "c000080012340000000200040000000000000000", 4 }, /* routing, RFC 1701 */
        { "000065580200000000010200000000020800", 4 },     /* Ethernet */
        { "20006558000000090200000000010200000000028100000586dd", 6 },
        { "0000884700063140", 4 },
        { "3081880b000000050000000100000001ff030021", 4 }, /* PPTP */
        { "3001880b000000050000000121", 4 },
        { "000088be0200000000010200000000020800", 4 }, /* ERSPAN I, II and III */
        { "100088be0000000110050007000000000200000000010200000000020800", 4 },
        { "100022eb0000000120050007000000000000000002000000000102000000000286dd", 6 },
        { "100022eb000000012005000700000000000008010000000000000000",
          4 }, /* IP, with a platform part */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(opened) / sizeof(opened[0]); i++) {
        if (!opens(47, opened[i].head, opened[i].version, false))
            fail_msg("%s: not opened", opened[i].head);
    }
    uint64_t count = counter(&c, "gre_packets");
    assert_int_equal(count, c.count);

    assert_false(opens(47, "00020800", 4, false));
    assert_int_equal(counter(&c, "gre_version.2"), 1);
    assert_false(opens(47, "0000000c", 4, false));
    assert_int_equal(counter(&c, "ether_type.0x000c"), 1);
    assert_false(opens(47, "100088be000000012005000700000000", 4, false)); /* ERSPAN version 2 */
    assert_false(opens(47, "100022eb00000001100500070000000000000000", 4, false));
    assert_false(opens(47, "100022eb00000001200500070000000000000400", 4, false)); /* type 1 */
    assert_int_equal(counter(&c, "malformed_headers"), 3);

    b.len = 0; /* an acknowledgment without payload: RFC 2637 */
    uint32_t ip = put_ipv4(&b, 47);
    put_hex(&b, "2081880b0000000500000001");
    end_ipv4(&b, ip);
    assert_int_equal(feed(&c, 101, &b), 0);
    assert_int_equal(counter(&c, "malformed_headers"), 3);
}

/* An outer UDP datagram with |flags| in the VXLAN header, an inner one of 50 bytes. */
static uint32_t put_vxlan(uint16_t port, uint8_t flags)
{
    uint32_t ip = put_ipv4(&b, 17), udp = b.len;

    b.data[ip + 19] = 0xee;
    put_udp(&b, port, 0);
    put8(&b, flags);
    put_zeros(&b, 3);
    put32(&b, 42 << 8);
    put_ethernet(&b, 0x86dd);
    put_udp6(&b, 50);
    store_be16(b.data + udp + 4, (uint16_t)(b.len - udp));
    end_ipv4(&b, ip);
    return udp;
}

static void test_vxlan(void **state)
{
    (void)state;
    put_vxlan(4789, 0x08);
    assert_int_equal(feed(&c, 101, &b), 1);
    assert_true(is_udp(&c, 9999, 50));
    assert_string_equal(c.destination, "2001:db8:0:1::2");
    assert_int_equal(counter(&c, "vxlan_packets"), 1);

    b.len = 0;
    put_vxlan(4789, 0); /* the flag says no VXLAN */
    assert_int_equal(feed(&c, 101, &b), 1);
    assert_string_equal(c.destination, "198.51.100.238");
    assert_int_equal(c.data.len, b.len - 20);
    b.len = 0;
    put_vxlan(4790, 0x08);
    assert_int_equal(feed(&c, 101, &b), 1);
    assert_string_equal(c.destination, "198.51.100.238");
    b.len = 0;
    uint32_t ip = put_ipv4(&b, 17);
    put_udp(&b, 4789, 7); /* too small for it */
    end_ipv4(&b, ip);
    assert_int_equal(feed(&c, 101, &b), 1);
    assert_int_equal(counter(&c, "vxlan_packets"), 1);
}

/* An outer UDP datagram with this Geneve header, an inner one of 50 bytes. */
static void put_geneve(const char *head)
{
    uint32_t ip = put_ipv4(&b, 17), udp = b.len;

    b.data[ip + 19] = 0xee;
    put_udp(&b, 6081, 0);
    put_hex(&b, head);
    put_ethernet(&b, 0x86dd);
    put_udp6(&b, 50);
    store_be16(b.data + udp + 4, (uint16_t)(b.len - udp));
    end_ipv4(&b, ip);
}

static void test_geneve(void **state)
{
    /* another version; reserved bits; no ether type; a reserved byte, as of an RPC reply */
    static const char *const others[] = { "4000655800002a00", "0001655800002a00",
                                          "0000002a00002a00", "0000655800000001" };

    (void)state;
    put_geneve("0000655800002a00");
    assert_int_equal(feed(&c, 101, &b), 1);
    assert_true(is_udp(&c, 9999, 50));
    assert_string_equal(c.destination, "2001:db8:0:1::2");
    b.len = 0;
    put_geneve("02c0655800002a000102030401020304"); /* options, control, critical */
    assert_int_equal(feed(&c, 101, &b), 1);
    assert_string_equal(c.destination, "2001:db8:0:1::2");
    assert_int_equal(counter(&c, "geneve_packets"), 2);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        b.len = 0;
        put_geneve(others[i]);
        assert_int_equal(feed(&c, 101, &b), 1);
        assert_string_equal(c.destination, "198.51.100.238");
    }
    b.len = 0;
    put_geneve("3f00655800002a00"); /* options longer than the packet */
    b.len = 20 + 8 + 8 + 100;
    store_be16(b.data + 2, (uint16_t)b.len);
    assert_int_equal(feed(&c, 101, &b), 0);
    assert_int_equal(counter(&c, "malformed_headers"), 1);
    assert_int_equal(counter(&c, "geneve_packets"), 3);
}

/* What begins with |head| behind one label: an Ethernet header up to its type, then IPv4. */
static bool opens_pseudowire(const char *head)
{
    b.len = 0;
    put_ethernet(&b, 0x8847);
    put_hex(&b, "00063140");
    put_hex(&b, head);
    put_udp4(&b, 100);
    return feed(&c, 1, &b) == 1 && is_udp(&c, 9999, 100);
}

static void test_pseudowire(void **state)
{
    (void)state;
    assert_true(opens_pseudowire("00000000"
                                 "0200000000010200000000020800"));
    assert_true(opens_pseudowire("0000002a"
                                 "02000000000102000000000281000005"
                                 "0800"));
    assert_true(opens_pseudowire("0200000000010200000000020800"));
    assert_true(opens_pseudowire("0000000000010200000000020800")); /* no control word */
    assert_true(opens_pseudowire("1200000000010200000000020800"));
    assert_true(opens_pseudowire("4e00000000010200000000020800"));
    assert_true(opens_pseudowire("6e0000ff90010200000000020800"));
    assert_true(opens_pseudowire("fe00000000010200000000020800"));
    assert_int_equal(counter(&c, "pseudowire_packets"), 8);
    assert_false(opens_pseudowire("1000002100010200000000020801"));
    assert_false(opens_pseudowire("0000000000010200000000020801"));
    assert_int_equal(counter(&c, "mpls_nibble.0x1"), 1);
    assert_int_equal(counter(&c, "mpls_nibble.0x0"), 1);
    assert_false(opens_pseudowire("4500ffff00010200000000020801")); /* damaged IP */
    assert_int_equal(counter(&c, "pseudowire_packets"), 8);
}

static void test_nflog(void **state)
{
    static const struct {
        const char *head;
        bool opened;
    } packets[] = {
        { "0200000584000900", true },
        { "0200000500840009", true },
        { "02000005080001000800010005000a00410000008400"
          "0900",
          true },
        { "0200000500080001000800010005000a41000000"
          "00844009",
          true },
        { "07000005080001000800010084000900", true }, /* of a bridge */
        { "0500000584000900", false },                /* another family */
        { "0200000503000900", false },                /* shorter than its header */
        { "0200000584000100", false },                /* no packet */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(packets) / sizeof(*packets); i++) {
        b.len = 0;
        put_hex(&b, packets[i].head);
        put_udp4(&b, 100);
        assert_int_equal(feed(&c, 239, &b), packets[i].opened);
    }
    assert_true(is_udp(&c, 9999, 100));
    assert_int_equal(counter(&c, "nflog_packets"), 6);
    assert_int_equal(counter(&c, "nflog_family.5"), 1);
    assert_int_equal(counter(&c, "malformed_headers"), 2);
}

static int nothing(void *ctx, const char *name, uint64_t value, struct err *err)
{
    (void)ctx;
    (void)err;
    fail_msg("counted %s %ju", name, (uintmax_t)value);
    return 0;
}

static void test_payload(void **state)
{
    struct frame frame = { .number = 1, .time = 5, .link_type = 147 };
    struct ip_payload payload = { .protocol = 17, .source.version = 4, .destination.version = 4 };
    uint32_t udp = put_vxlan(4789, 0x08);

    (void)state;
    c.frames = 1;
    payload.data = b.data + udp;
    payload.cap_len = payload.wire_len = b.len - udp;
    assert_int_equal(link_payload(c.link, &frame, &payload, NULL), 0);
    assert_int_equal(c.count, 1);
    assert_true(is_udp(&c, 9999, 50));
    assert_string_equal(c.destination, "2001:db8:0:1::2");

    payload.protocol = 6;
    payload.wire_len += 9;
    payload.reassembled = true;
    payload.source.bytes[0] = 1;
    assert_int_equal(link_payload(c.link, &frame, &payload, NULL), 0);
    assert_int_equal(c.count, 2);
    assert_int_equal(c.last.protocol, 6);
    assert_int_equal(c.last.cap_len, b.len - udp);
    assert_int_equal(c.last.wire_len, b.len - udp + 9);
    assert_true(c.last.reassembled);
    assert_string_equal(c.source, "1.0.0.0");
    assert_int_equal(c.data.len, c.last.cap_len);
    assert_memory_equal(c.data.data, b.data + udp, c.data.len);

    payload.protocol = 1;
    assert_int_equal(link_payload(c.link, &frame, &payload, NULL), 0);
    assert_int_equal(c.count, 2);
    assert_int_equal(link_counters(c.link, nothing, NULL, NULL), 0);
}

/* Without a callback frames are counted all the same. */
static void test_counting_only(void **state)
{
    struct link *link = link_new(NULL, NULL);
    struct link *kept = c.link;

    (void)state;
    assert_non_null(link);
    put_vxlan(4789, 0x08);
    assert_int_equal(feed(&c, 101, &b), 1);
    c.link = link;
    assert_int_equal(feed(&c, 101, &b), 0);
    static const char *const names[] = { "frames",        "ipv4_packets", "ipv6_packets",
                                         "vxlan_packets", "udp_payloads", "ip_protocol.17" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        c.link = link;
        assert_int_equal(counter(&c, names[i]), 1);
        c.link = kept;
        assert_int_equal(counter(&c, names[i]), 1);
    }
    link_free(link);
}

/* After a reset everything counts from nothing, but the fragments stay. */
static void test_reset(void **state)
{
    (void)state;
    uint32_t ip = put_ipv4(&b, 17);
    put_udp(&b, 9999, 8);
    end_ipv4(&b, ip);
    store_be16(b.data + 6, 0x2000);
    assert_int_equal(feed(&c, 101, &b), 0);
    assert_int_equal(feed(&c, 147, &b), 0);
    link_counters_reset(c.link);
    assert_int_equal(counter(&c, "frames"), 0);
    assert_int_equal(counter(&c, "link_type.147"), 0);
    assert_int_equal(counter(&c, "ip_datagrams_waiting"), 1);
    store_be16(b.data + 6, 2);
    assert_int_equal(feed(&c, 101, &b), 1);
    assert_int_equal(c.data.len, 32);
    assert_int_equal(counter(&c, "frames"), 1);
    assert_int_equal(counter(&c, "ip_fragments"), 1);
    assert_int_equal(counter(&c, "ip_datagrams_reassembled"), 1);
    assert_int_equal(counter(&c, "ip_datagrams_waiting"), 0);
}

static int list_counter(void *ctx, const char *name, uint64_t value, struct err *err)
{
    struct buf *text = ctx;
    char line[96];
    int len = snprintf(line, sizeof(line), "%s=%ju ", name, (uintmax_t)value);

    (void)err;
    return buf_append(text, line, (size_t)len);
}

static void test_unknown(void **state)
{
    static const struct {
        int link_type;
        const char *frame;
    } unknown[] = {
        { 147, "00" },
        { 127, "00" },
        { 1, "02000000000102000000000208060001" },
        { 1, "02000000000102000000000288cc0001" },
        { 1, "02000000000102000000000208060001" },
        { 1, "0200000000010200000000020003424203" },
        { 1, "0200000000010200000000020008aaaa0300000c2000" },
        { 1, "02000000000102000000000288470006414000010203" },
        { 0, "07000000" },
        { 108, "07000000" }, /* one byte order only */
        { 113, "00000338000600000000000000000004" },
        { 9, "ff03c02101" },
        { 50, "ff03c02101" },
    };
    static const char expected[] =
        "frames=13 mpls_packets=1 link_type.127=1 link_type.147=1 ether_type.0x0806=2 "
        "ether_type.0x88cc=1 llc_sap.0x42=1 snap_oui.0x00000c=1 ppp_protocol.0xc021=2 "
        "null_family.7=1 null_family.117440512=1 sll_hardware.824=1 mpls_nibble.0x0=1 ";
    struct buf text = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
        b.len = 0;
        put_hex(&b, unknown[i].frame);
        assert_int_equal(feed(&c, unknown[i].link_type, &b), 0);
    }
    assert_int_equal(link_counters(c.link, list_counter, &text, NULL), 0);
    assert_int_equal(text.len, sizeof(expected) - 1);
    assert_memory_equal(text.data, expected, text.len);
    buf_free(&text);
}

static int refuse(void *ctx, const char *name, uint64_t value, struct err *err)
{
    unsigned *left = ctx;

    (void)name;
    (void)value;
    return (*left)-- ? 0 : err_set(err, ERR_SYSTEM, "full");
}

/* The list of unknown numbers is bounded; what is beyond goes into one counter for each family. */
static void test_counter_bound(void **state)
{
    uint64_t sum = 0;

    (void)state;
    for (unsigned type = 0x7000; type < 0x7000 + 300; type++) {
        b.len = 0;
        put_ethernet(&b, (uint16_t)(type ^ 0x55)); /* not in order */
        feed(&c, 1, &b);
    }
    for (unsigned type = 0x7000; type < 0x7000 + 400; type++) {
        char name[32];

        snprintf(name, sizeof(name), "ether_type.0x%04x", type);
        sum += counter(&c, name);
    }
    assert_int_equal(sum, 256);
    assert_int_equal(counter(&c, "ether_type.other"), 44);

    /* and a refusal is passed on, at whatever counter it comes */
    unsigned shown = 0;
    for (;; shown++) {
        unsigned left = shown;
        struct err err = { 0 };

        if (link_counters(c.link, refuse, &left, &err) == 0)
            break;
        assert_string_equal(err.text, "full");
    }
    assert_int_equal(shown, 1 + 256 + 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ip_in_ip), TEST(test_gre),           TEST(test_vxlan),
        TEST(test_payload),  TEST(test_geneve),        TEST(test_pseudowire),
        TEST(test_nflog),    TEST(test_counting_only), TEST(test_reset),
        TEST(test_unknown),  TEST(test_counter_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
