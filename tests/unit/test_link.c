/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link without fragments: every link type, tag, header and tunnel, byte by byte. */
#include "link_build.h"

static struct build b; /* too large for the stack */
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

static void check_four(void)
{
    assert_true(is_udp(&c, 9999, 100));
    assert_int_equal(c.last.source.version, 4);
    assert_string_equal(c.source, "192.0.2.1");
    assert_string_equal(c.destination, "198.51.100.2");
    assert_false(c.last.reassembled);
}

static void check_six(void)
{
    assert_true(is_udp(&c, 9999, 100));
    assert_int_equal(c.last.source.version, 6);
    assert_string_equal(c.source, "2001:db8::1");
    assert_string_equal(c.destination, "2001:db8:0:1::2");
    assert_false(c.last.reassembled);
}

/* Link headers and tags before IP, in hexadecimal digits, and the version of IP behind them. */
static const struct {
    int link_type;
    const char *head;
    int version;
} heads[] = {
    { 1, "0200000000010200000000020800", 4 },
    { 1, "02000000000102000000000286dd", 6 },
    { 1, "020000000001020000000002810000050800", 4 },
    { 1, "0200000000010200000000028100200586dd", 6 },
    { 1, "02000000000102000000000288a80005810000060800", 4 },
    { 1, "02000000000102000000000291000005810000060800", 4 },
    { 1, "02000000000102000000000291000005810000069100000788a8000886dd", 6 },
    { 1, "0200000000010200000000020088aaaa030000000800", 4 }, /* 802.3: length 136 */
    { 1, "0200000000010200000000020088aaaa030000f80800", 4 }, /* 802.1H */
    { 1, "0200000000010200000000020083060603", 4 },           /* LLC for IP */
    { 1, "020000000001020000000002810000050088aaaa030000000800", 4 },
    { 1, "020000000001020000000002884700063040000641ff", 4 },
    { 1, "020000000001020000000002884800064140", 6 },
    { 1, "02000000000102000000000288641100000100820021", 4 },
    { 1, "02000000000102000000000288641100000100960057", 6 },
    { 0, "02000000", 4 },
    { 0, "00000002", 4 },
    { 0, "18000000", 6 },
    { 0, "1c000000", 6 },
    { 0, "1e000000", 6 },
    { 0, "0a000000", 6 },
    { 0, "17000000", 6 },
    { 0, "0000001e", 6 },
    { 108, "00000002", 4 },
    { 108, "0000001c", 6 },
    { 9, "ff030021", 4 },
    { 9, "ff0321", 4 },
    { 9, "0021", 4 },
    { 9, "57", 6 },
    { 9, "ff03028100063140", 4 },
    { 50, "0f000800", 4 },
    { 104, "8f0086dd", 6 },
    { 51, "1100000100820021", 4 },
    { 12, "", 4 },
    { 12, "", 6 },
    { 14, "", 6 },
    { 101, "", 4 },
    { 101, "", 6 },
    { 228, "", 4 },
    { 229, "", 6 },
    { 113, "00000001000602000000000100000800", 4 },
    { 113, "000003040006000000000000000086dd", 6 },
    { 113, "0000000100060200000000010000810000070800", 4 },
    { 113, "00000001000602000000000100000004aaaa030000000800", 4 },
    { 276, "0800000000000003000100060200000000010000", 4 },
    { 276, "86dd000000000003030400060000000000000000", 6 },
    { 276, "810000000000000300010006020000000001000000070800", 4 },
    { 276, "88a800000000000300010006020000000001000000078100000886dd", 6 },
};

static void test_heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        b.len = 0;
        put_hex(&b, heads[i].head);
        if (heads[i].version == 4)
            put_udp4(&b, 100);
        else
            put_udp6(&b, 100);
        if (feed(&c, heads[i].link_type, &b) != 1)
            fail_msg("link type %d, %s: not delivered", heads[i].link_type, heads[i].head);
        heads[i].version == 4 ? check_four() : check_six();
    }
}

static void test_padding(void **state)
{
    (void)state;
    put_ethernet(&b, 0x0800);
    put_udp4(&b, 1);
    put_zeros(&b, 60 - b.len);
    assert_int_equal(feed(&c, 1, &b), 1);
    assert_true(is_udp(&c, 9999, 1));

    b.len = 0;
    put_ethernet(&b, 0x86dd);
    put_udp6(&b, 1);
    put_zeros(&b, 100);
    assert_int_equal(feed(&c, 1, &b), 1);
    assert_true(is_udp(&c, 9999, 1));
}

/* Where a total length of 0 asks for the rest of the frame, 802.3 and PPPoE lengths bound it. */
static void test_offload(void **state)
{
    static const struct {
        int link_type;
        const char *head;
        uint32_t trailer;
    } cases[] = {
        { 101, "", 0 },
        { 1, "0200000000010200000000020088aaaa030000000800", 9 },
        { 51, "1100000100820021", 9 },
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        b.len = 0;
        put_hex(&b, cases[i].head);
        uint32_t ip = b.len;
        put_udp4(&b, 100);
        store_be16(b.data + ip + 2, 0);
        put_zeros(&b, cases[i].trailer);
        assert_int_equal(feed(&c, cases[i].link_type, &b), 1);
        check_four();
    }
    b.len = 0;
    put_udp6(&b, 100);
    store_be16(b.data + 4, 0);
    assert_int_equal(feed(&c, 101, &b), 1);
    check_six();
}

/* A frame that was shorter on the wire than its IP header says holds what it holds. */
static void test_overrun(void **state)
{
    (void)state;
    put_udp4(&b, 100);
    store_be16(b.data + 2, 1000);
    assert_int_equal(feed(&c, 101, &b), 1);
    check_four();
    b.len = 0;
    put_udp6(&b, 100);
    store_be16(b.data + 4, 1000);
    assert_int_equal(feed(&c, 101, &b), 1);
    check_six();
}

static void test_malformed(void **state)
{
    (void)state;
    put_udp4(&b, 100);
    b.data[0] = 0x44; /* a header of 16 bytes */
    assert_int_equal(feed(&c, 101, &b), 0);
    b.data[0] = 0x45;
    store_be16(b.data + 2, 19);
    assert_int_equal(feed(&c, 101, &b), 0);
    b.data[0] = 0x55; /* version 5 */
    assert_int_equal(feed(&c, 101, &b), 0);
    b.data[0] = 0x45; /* version 4 in LINKTYPE_IPV6 */
    assert_int_equal(feed(&c, 229, &b), 0);
    b.len = 0;
    put_ethernet(&b, 1501); /* neither length nor type */
    put_udp4(&b, 100);
    assert_int_equal(feed(&c, 1, &b), 0);
    b.len = 0;
    put_hex(&b, "110100010082002145"); /* PPPoE discovery code */
    assert_int_equal(feed(&c, 51, &b), 0);
    b.len = 0;
    put_hex(&b, "60000000000000400000"); /* IPv6 of 10 bytes */
    assert_int_equal(feed(&c, 101, &b), 0);
    assert_int_equal(counter(&c, "malformed_headers"), 7);
    assert_int_equal(counter(&c, "truncated_headers"), 0);

    b.len = 0;
    uint32_t ip = put_ipv4(&b, 17); /* no payload: nothing to deliver */
    end_ipv4(&b, ip);
    assert_int_equal(feed(&c, 101, &b), 0);
    assert_int_equal(counter(&c, "ip_payloads_empty"), 1);
}

/* Headers between IPv6 and UDP; the first byte of each is the next header. */
static const struct {
    uint8_t first;
    const char *headers;
    const char *source, *destination; /* NULL: as in the header */
} chains[] = {
    { 0, "1100010400000000", NULL, NULL },
    { 60, "1100010400000000", NULL, NULL },
    { 0,
      "3c00010400000000"
      "1101010c000000000000000000000000",
      NULL, NULL },
    { 135, "1100000000000000", NULL, NULL },
    { 139, "1100000000000000", NULL, NULL },
    { 140, "1100000000000000", NULL, NULL },
    { 51, "110400000000000100000001000000000000000000000000", NULL, NULL },
    { 0,
      "3300010400000000"
      "110400000000000100000001000000000000000000000000",
      NULL, NULL },
    { 44, "1100000000000007", NULL, NULL },
    { 0,
      "2c00010400000000"
      "3c00000000000007"
      "1100010400000000",
      NULL, NULL },
    { 43,
      "1102000100000000"
      "20010db8000000000000000000000009",
      NULL, "2001:db8::9" },
    { 43,
      "1102000000000000"
      "20010db8000000000000000000000009",
      NULL, NULL },
    { 43,
      "1104000200000000"
      "20010db8000000000000000000000008"
      "20010db8000000000000000000000009",
      NULL, "2001:db8::9" },
    { 43,
      "1102020100000000"
      "20010db8000000000000000000000007",
      NULL, "2001:db8::7" },
    { 43,
      "1104040101000000"
      "20010db8000000000000000000000006"
      "20010db8000000000000000000000009",
      NULL, "2001:db8::6" },
    { 43,
      "1104040001000000"
      "20010db8000000000000000000000006"
      "20010db8000000000000000000000009",
      NULL, NULL },
    { 43, "1100000100000000", NULL, NULL }, /* segments left, but no address */
    { 60,
      "110201020000c910"
      "20010db8000000000000000000000005",
      "2001:db8::5", NULL },
    { 60,
      "110201020000c90f"
      "20010db8000000000000000000000005",
      NULL, NULL }, /* 15 bytes: not one */
};

static void test_chains(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++) {
        b.len = 0;
        uint32_t ip = put_ipv6(&b, chains[i].first);
        put_hex(&b, chains[i].headers);
        put_udp(&b, 9999, 100);
        end_ipv6(&b, ip);
        if (feed(&c, 101, &b) != 1)
            fail_msg("%u %s: not delivered", chains[i].first, chains[i].headers);
        assert_true(is_udp(&c, 9999, 100));
        assert_false(c.last.reassembled);
        assert_string_equal(c.source, chains[i].source ? chains[i].source : "2001:db8::1");
        assert_string_equal(c.destination,
                            chains[i].destination ? chains[i].destination : "2001:db8:0:1::2");
    }
    assert_int_equal(counter(&c, "ip_protocol.17"), sizeof(chains) / sizeof(chains[0]));
}

/* In IPv4 these numbers mean nothing; no next header, ESP and ICMP end a chain. */
static void test_not_delivered(void **state)
{
    static const uint8_t protocols[] = { 0, 1, 2, 43, 44, 50, 59, 60, 132, 135, 139, 140, 255 };

    (void)state;
    for (size_t i = 0; i < sizeof(protocols); i++) {
        char name[32];

        b.len = 0;
        uint32_t ip = put_ipv4(&b, protocols[i]);
        put_hex(&b, "1100010400000000");
        put_udp4(&b, 100); /* as ICMP errors hold a packet */
        end_ipv4(&b, ip);
        assert_int_equal(feed(&c, 101, &b), 0);
        snprintf(name, sizeof(name), "ip_protocol.%u", protocols[i]);
        assert_int_equal(counter(&c, name), 1);
    }
    b.len = 0;
    uint32_t ip = put_ipv6(&b, 58);
    put_hex(&b, "0104000000000000");
    put_udp6(&b, 100);
    end_ipv6(&b, ip);
    assert_int_equal(feed(&c, 101, &b), 0);
    assert_int_equal(counter(&c, "ip_protocol.58"), 1);
}

static void test_ipv4_options(void **state)
{
    static const struct {
        const char *options, *destination;
    } cases[] = {
        { "94040000", "198.51.100.2" },
        { "01830b040a0102030a010204", "10.1.2.4" },     /* loose source route, not used up */
        { "8907040a01020300", "10.1.2.3" },             /* strict */
        { "8907080a01020300", "198.51.100.2" },         /* used up */
        { "00830b040a0102030a010204", "198.51.100.2" }, /* behind the end of the options */
        { "01830d040a0102030a010204", "198.51.100.2" }, /* longer than the options */
        { "94010000830b040a0102030a", "198.51.100.2" }, /* an option of 1 byte */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        b.len = 0;
        uint32_t ip = put_ipv4(&b, 17);
        put_hex(&b, cases[i].options);
        b.data[ip] += (uint8_t)(strlen(cases[i].options) / 8);
        put_udp(&b, 9999, 100);
        end_ipv4(&b, ip);
        assert_int_equal(feed(&c, 101, &b), 1);
        assert_true(is_udp(&c, 9999, 100));
        assert_string_equal(c.destination, cases[i].destination);
    }
}

static void test_jumbogram(void **state)
{
    (void)state;
    put_ipv6(&b, 0);
    put_hex(&b, "1100c20400000000");
    put_udp(&b, 9999, 100000);
    store_be32(b.data + 44, b.len - 40);
    put_zeros(&b, 5); /* a trailer */
    assert_int_equal(feed(&c, 101, &b), 1);
    assert_true(is_udp(&c, 9999, 100000));
    b.data[42] = 1; /* no jumbo option any more */
    assert_int_equal(feed(&c, 101, &b), 0);
    assert_int_equal(counter(&c, "malformed_headers"), 1);
}

static void test_depth(void **state)
{
    (void)state;
    for (unsigned tags = 0; tags < 40; tags++) {
        bool fits = tags + 2 <= LINK_DEPTH_MAX; /* with Ethernet's header and IP's */

        b.len = 0;
        put_ethernet(&b, tags ? 0x8100 : 0x0800);
        for (unsigned i = 1; i <= tags; i++) {
            put16(&b, 5);
            put16(&b, i < tags ? 0x8100 : 0x0800);
        }
        put_udp4(&b, 100);
        assert_int_equal(feed(&c, 1, &b), fits);
    }
    assert_int_equal(counter(&c, "too_many_encapsulations"), 40 - (LINK_DEPTH_MAX - 1));
}

static void test_refusal(void **state)
{
    struct err err = { 0 };

    (void)state;
    put_udp4(&b, 100);
    c.answer = -1;
    assert_int_equal(feed_at(&c, 101, b.data, b.len, b.len, 0, &err), -ERR_SYSTEM);
    assert_string_equal(err.text, "said no");
}

static void test_addresses(void **state)
{
    /* RFC 5952 s4 and s5; the second text is ours */
    static const char *const texts[][2] = {
        { "20010db8000000000000000000000001", "2001:db8::1" },
        { "20010db8000000000000000000020001", "2001:db8::2:1" },
        { "20010db8000000010001000100010001", "2001:db8:0:1:1:1:1:1" },
        { "20010000000000010000000000000001", "2001:0:0:1::1" },
        { "20010db8000000000001000000000001", "2001:db8::1:0:0:1" },
        { "00000000000000000000000000000000", "::" },
        { "00000000000000000000000000000001", "::1" },
        { "fe800000000000000000000000000000", "fe80::" },
        { "00010002000300040005000600070000", "1:2:3:4:5:6:7:0" },
        { "00000002000300040005000600070008", "0:2:3:4:5:6:7:8" },
        { "00000000000300040005000600000000", "::3:4:5:6:0:0" },
        { "abcdef0123456789abcdef0123456789", "abcd:ef01:2345:6789:abcd:ef01:2345:6789" },
        { "00000000000000000000ffffc0000201", "::ffff:192.0.2.1" },
        { "00000000000000000000ffffffffffff", "::ffff:255.255.255.255" },
    };
    struct address a = { .version = 4, .bytes = { 255, 255, 255, 255 } }, other = a;
    char text[ADDRESS_TEXT_MAX];

    (void)state;
    assert_string_equal(address_text(&a, text), "255.255.255.255");
    other.bytes[4] = 1; /* behind an IPv4 address: no part of it */
    assert_true(address_equal(&a, &other));
    other.bytes[3] = 1;
    assert_false(address_equal(&a, &other));
    a.version = 6;
    assert_false(address_equal(&a, &other));
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        b.len = 0;
        put_hex(&b, texts[i][0]);
        memcpy(a.bytes, b.data, 16);
        assert_string_equal(address_text(&a, text), texts[i][1]);
        assert_true(text == address_text(&a, text));
        other = a;
        assert_true(address_equal(&a, &other));
        other.bytes[15] ^= 1;
        assert_false(address_equal(&a, &other));
    }
    memset(&a, 0, sizeof(a));
    assert_string_equal(address_text(&a, text), "-");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_heads),     TEST(test_padding), TEST(test_offload),       TEST(test_overrun),
        TEST(test_malformed), TEST(test_chains),  TEST(test_not_delivered), TEST(test_ipv4_options),
        TEST(test_jumbogram), TEST(test_depth),   TEST(test_refusal),       TEST(test_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
