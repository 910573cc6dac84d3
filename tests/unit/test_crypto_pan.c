/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Crypto-PAn against its authors' sample trace and an independent implementation; addresses within
 * their ranges; addresses as texts. */
#include "anon/address_map.h"
#include "anon/address_text.h"
#include "anon_build.h"

#include <arpa/inet.h>

static struct address address_of(const char *text)
{
    struct address a = { .version = strchr(text, ':') ? 6 : 4 };

    assert_int_equal(inet_pton(a.version == 6 ? AF_INET6 : AF_INET, text, a.bytes), 1);
    return a;
}

/* sample_trace_raw.dat and sample_trace_sanitized.dat of the authors' implementation 1.0, with the
 * key in its sample.cpp. */
static const uint8_t sample_key[PAN_KEY_LEN] = { 21,  34,  23,  141, 51,  164, 207, 128,
                                                 19,  10,  91,  22,  73,  144, 125, 16,
                                                 216, 152, 143, 131, 121, 121, 101, 39,
                                                 98,  87,  76,  45,  42,  132, 34,  2 };
/* clang-format off */
static const char *const sample_trace[][2] = {
    { "128.11.68.132", "135.242.180.132" }, { "129.118.74.4", "134.136.186.123" },
    { "130.132.252.244", "133.68.164.234" }, { "141.223.7.43", "141.167.8.160" },
    { "141.233.145.108", "141.129.237.235" }, { "152.163.225.39", "151.140.114.167" },
    { "156.29.3.236", "147.225.12.42" }, { "165.247.96.84", "162.9.99.234" },
    { "166.107.77.190", "160.132.178.185" }, { "192.102.249.13", "252.138.62.131" },
    { "192.215.32.125", "252.43.47.189" }, { "192.233.80.103", "252.25.108.8" },
    { "192.41.57.43", "252.222.221.184" }, { "193.150.244.223", "253.169.52.216" },
    { "195.205.63.100", "255.186.223.5" }, { "198.200.171.101", "249.199.68.213" },
    { "198.26.132.101", "249.36.123.202" }, { "198.36.213.5", "249.7.21.132" },
    { "198.51.77.238", "249.18.186.254" }, { "199.217.79.101", "248.38.184.213" },
    { "202.49.198.20", "245.206.7.234" }, { "203.12.160.252", "244.248.163.4" },
    { "204.184.162.189", "243.192.77.90" }, { "204.202.136.230", "243.178.4.198" },
    { "204.29.20.4", "243.33.20.123" }, { "205.178.38.67", "242.108.198.51" },
    { "205.188.147.153", "242.96.16.101" }, { "205.188.248.25", "242.96.88.27" },
    { "205.245.121.43", "242.21.121.163" }, { "207.105.49.5", "241.118.205.138" },
    { "207.135.65.238", "241.202.129.222" }, { "207.155.9.214", "241.220.250.22" },
    { "207.188.7.45", "241.255.249.220" }, { "207.25.71.27", "241.33.119.156" },
    { "207.33.151.131", "241.1.233.131" }, { "208.147.89.59", "227.237.98.191" },
    { "208.234.120.210", "227.154.67.17" }, { "208.28.185.184", "227.39.94.90" },
    { "208.52.56.122", "227.8.63.165" }, { "209.12.231.7", "226.243.167.8" },
    { "209.238.72.3", "226.6.119.243" }, { "209.246.74.109", "226.22.124.76" },
    { "209.68.60.238", "226.184.220.233" }, { "209.85.249.6", "226.170.70.6" },
    { "212.120.124.31", "228.135.163.231" }, { "212.146.8.236", "228.19.4.234" },
    { "212.186.227.154", "228.59.98.98" }, { "212.204.172.118", "228.71.195.169" },
    { "212.206.130.201", "228.69.242.193" }, { "216.148.237.145", "235.84.194.111" },
    { "216.157.30.252", "235.89.31.26" }, { "216.184.159.48", "235.96.225.78" },
    { "216.227.10.221", "235.28.253.36" }, { "216.254.18.172", "235.7.16.162" },
    { "216.32.132.250", "235.192.139.38" }, { "216.35.217.178", "235.195.157.81" },
    { "24.0.250.221", "100.15.198.226" }, { "24.13.62.231", "100.2.192.247" },
    { "24.14.213.138", "100.1.42.141" }, { "24.5.0.80", "100.9.15.210" },
    { "24.7.198.88", "100.10.6.25" }, { "24.94.26.44", "100.88.228.35" },
    { "38.15.67.68", "64.3.66.187" }, { "4.3.88.225", "124.60.155.63" },
    { "63.14.55.111", "95.9.215.7" }, { "63.195.241.44", "95.179.238.44" },
    { "63.97.7.140", "95.97.9.123" }, { "64.14.118.196", "0.255.183.58" },
    { "64.34.154.117", "0.221.154.117" }, { "64.39.15.238", "0.219.7.41" },
    { "10.185.25.118", "117.161.29.118" },
    /* IPv6, the same key: what other implementations agree on */
    { "::1", "78ff:f001:9fc0:20df:8380:b1f1:704:ed" },
    { "::2", "78ff:f001:9fc0:20df:8380:b1f1:704:ef" },
    { "::ffff", "78ff:f001:9fc0:20df:8380:b1f1:704:f838" },
    { "2001:db8::1", "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1e" },
    { "2001:db8::2", "4401:2bc:603f:d91d:27f:ff8e:e6f1:dc1c" },
};
/* clang-format on */

static void check_pair(enum pan_way way, const uint8_t *key, const char *in, const char *out)
{
    struct address original = address_of(in), pseudonym = address_of(out);
    unsigned len = address_len(&original);
    struct err err = { 0 };
    struct pan pan;
    uint8_t bytes[16];

    assert_int_equal(pan_open(&pan, key, way, &err), 0);
    pan_encrypt(&pan, original.bytes, bytes, len, 0);
    assert_memory_equal(bytes, pseudonym.bytes, len);
    pan_decrypt(&pan, bytes, bytes, len, 0);
    assert_memory_equal(bytes, original.bytes, len);
    pan_close(&pan);
}

static void published_samples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sample_trace) / sizeof(*sample_trace); i++)
        check_pair(PAN_PUBLISHED, sample_key, sample_trace[i][0], sample_trace[i][1]);
}

static void check_line(char **words)
{
    uint8_t key[64];

    assert_int_equal(hex_bytes(words[1], key), PAN_KEY_LEN);
    check_pair(strcmp(words[0], "pan") == 0 ? PAN_PUBLISHED : PAN_NUMBERED, key, words[2],
               words[3]);
}

static void independent_samples(void **state)
{
    (void)state;
    each_vector("pan", 4, 64, check_line);
    each_vector("numbered", 4, 64, check_line);
}

static unsigned common_bits(const uint8_t *a, const uint8_t *b, unsigned len)
{
    unsigned n = 0;

    while (n < 8 * len && !((a[n / 8] ^ b[n / 8]) >> (7 - n % 8) & 1))
        n++;
    return n;
}

static void check_prefixes(enum pan_way way)
{
    struct err err = { 0 };
    uint64_t random = 3;
    struct pan pan;

    assert_int_equal(pan_open(&pan, sample_key, way, &err), 0);
    for (unsigned len = 4; len <= 16; len += 12)
        for (unsigned keep = 0; keep <= 8 * len; keep++)
            for (unsigned share = keep; share < 8 * len; share += 3) {
                uint8_t a[16], b[16], x[16], y[16];

                random_bytes(&random, a, len);
                random_bytes(&random, b, len);
                for (unsigned i = 0; i <= share; i++) { /* differ in bit |share| first */
                    uint8_t bit = (uint8_t)(0x80 >> i % 8);

                    b[i / 8] =
                        (uint8_t)((b[i / 8] & ~bit) | ((a[i / 8] & bit) ^ (i == share ? bit : 0)));
                }
                pan_encrypt(&pan, a, x, len, keep);
                pan_encrypt(&pan, b, y, len, keep);
                assert_int_equal(common_bits(x, y, len), share);
                assert_true(common_bits(a, x, len) >= keep);
                pan_decrypt(&pan, x, x, len, keep);
                assert_memory_equal(x, a, len);
            }
    pan_close(&pan);
}

static void prefixes_stay(void **state)
{
    (void)state;
    check_prefixes(PAN_PUBLISHED);
    check_prefixes(PAN_NUMBERED);
}

/* Which of the 8 * |len| - |keep| bits of |in| each of |keys| keys flips: how many keys flip none
 * of the first |run|, and how often a bit is flipped as the one before it. */
static void count_flips(enum pan_way way, const char *text, unsigned keep, unsigned run,
                        unsigned keys, unsigned *none, double *alike)
{
    struct address in = address_of(text);
    unsigned len = address_len(&in), same = 0, pairs = 0;
    uint64_t random = 7;

    *none = 0;
    for (unsigned n = 0; n < keys; n++) {
        uint8_t key[PAN_KEY_LEN], out[16];
        struct err err = { 0 };
        struct pan pan;

        random_bytes(&random, key, sizeof(key));
        assert_int_equal(pan_open(&pan, key, way, &err), 0);
        pan_encrypt(&pan, in.bytes, out, len, keep);
        pan_close(&pan);
        *none += common_bits(in.bytes, out, len) >= keep + run;
        for (unsigned i = 0; i < len; i++)
            out[i] ^= in.bytes[i];
        for (unsigned i = keep + 1; i < 8 * len; i++, pairs++)
            same += (out[i / 8] >> (7 - i % 8) & 1) == (out[(i - 1) / 8] >> (7 - (i - 1) % 8) & 1);
    }
    *alike = (double)same / pairs;
}

/* Each bit by itself: 10.x.y.* stays with one key of 2^16, not with one of 150. */
static void bits_are_flipped_apart(void **state)
{
    enum { KEYS = 4000 };
    static const char *const texts[] = { "10.20.30.40", "10.0.0.1", "10.255.1.2" };
    unsigned none, published = 0;
    double alike;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        count_flips(PAN_PUBLISHED, texts[i], 8, 16, KEYS, &none, &alike);
        published += none;
        assert_true(alike > 0.7);
        count_flips(PAN_NUMBERED, texts[i], 8, 16, KEYS, &none, &alike);
        assert_true(none <= 3);
        assert_true(alike > 0.48 && alike < 0.52);
    }
    assert_true(published > 3 * KEYS / 1000 * 3);
    count_flips(PAN_NUMBERED, "2001:db8::1", 0, 16, KEYS, &none, &alike);
    assert_true(none <= 3 && alike > 0.49 && alike < 0.51);
}

/* --- ranges --- */

static struct address_map map_of(uint32_t ranges)
{
    struct address_map map;
    struct err err = { 0 };
    uint8_t key6[PAN_KEY_LEN];

    memcpy(key6, sample_key, sizeof(key6));
    key6[0]++;
    assert_int_equal(address_map_open(&map, sample_key, key6, PAN_NUMBERED, ranges, &err), 0);
    return map;
}

static bool within(const struct address *a, const char *prefix, unsigned bits)
{
    struct address p = address_of(prefix);

    return a->version == p.version && common_bits(a->bytes, p.bytes, address_len(a)) >= bits;
}

static const struct {
    const char *prefix;
    unsigned bits, keep;
    uint32_t asks;
} special[] = {
    { "0.0.0.0", 8, 8, 0 },
    { "240.0.0.0", 4, 4, 0 },
    { "127.0.0.0", 8, 8, RANGE_LOOPBACK },
    { "169.254.0.0", 16, 16, RANGE_LINK_LOCAL },
    { "224.0.0.0", 4, 4, RANGE_MULTICAST },
    { "10.0.0.0", 8, 8, RANGE_PRIVATE },
    { "172.16.0.0", 12, 12, RANGE_PRIVATE },
    { "192.168.0.0", 16, 16, RANGE_PRIVATE },
    { "::", 96, 96, 0 },
    { "fe80::", 64, 64, RANGE_LINK_LOCAL },
    { "fe80::", 10, 10, RANGE_LINK_LOCAL },
    { "ff02::", 8, 16, RANGE_MULTICAST },
    { "fc00::", 7, 7, RANGE_PRIVATE },
};

enum { SPECIAL = sizeof(special) / sizeof(*special) };

/* The first special range that |a| is in; SPECIAL: none. */
static unsigned range_of(const struct address *a, uint32_t ranges)
{
    unsigned i = 0;

    while (i < SPECIAL && !(within(a, special[i].prefix, special[i].bits) &&
                            (!special[i].asks || special[i].asks & ranges)))
        i++;
    return i;
}

static struct address random_in(uint64_t *random, const char *prefix, unsigned bits)
{
    struct address p = address_of(prefix), a = p;

    random_bytes(random, a.bytes, address_len(&a));
    for (unsigned i = 0; i < bits; i++) {
        uint8_t bit = (uint8_t)(0x80 >> i % 8);

        a.bytes[i / 8] = (uint8_t)((a.bytes[i / 8] & ~bit) | (p.bytes[i / 8] & bit));
    }
    return a;
}

static void ranges_stay(void **state)
{
    static const struct {
        const char *prefix;
        unsigned bits;
    } others[] = { { "2000::", 3 },  { "2001:db8::", 32 }, { "::", 0 },       { "4000::", 3 },
                   { "0.0.0.0", 0 }, { "192.0.0.0", 8 },   { "168.0.0.0", 7 } };
    uint64_t random = 4;

    (void)state;
    for (uint32_t ranges = 0; ranges < 16; ranges++) {
        struct address_map map = map_of(ranges);

        for (unsigned i = 0; i < SPECIAL + sizeof(others) / sizeof(*others); i++)
            for (unsigned n = 0; n < 100; n++) {
                bool is_special = i < SPECIAL;
                struct address a =
                    is_special
                        ? random_in(&random, special[i].prefix, special[i].keep)
                        : random_in(&random, others[i - SPECIAL].prefix, others[i - SPECIAL].bits);
                struct address x, back;
                unsigned range = range_of(&a, ranges);

                address_map_encrypt(&map, &a, &x);
                assert_int_equal(x.version, a.version);
                assert_int_equal(range_of(&x, ranges), range);
                if (range < SPECIAL)
                    assert_true(common_bits(a.bytes, x.bytes, address_len(&a)) >=
                                special[range].keep);
                else if (within(&a, "2000::", 3) && ranges == 15)
                    assert_true(within(&x, "2000::", 3));
                address_map_decrypt(&map, &x, &back);
                assert_true(address_equal(&a, &back));
            }
        address_map_close(&map);
    }
}

/* Addresses of a range that the policy does not keep leave it: of IPv4 with most keys, of
 * IPv6 with many. */
static void other_ranges_are_left(void **state)
{
    enum { KEYS = 64 };
    uint64_t random = 5;

    (void)state;
    for (unsigned i = 0; i < SPECIAL; i++) {
        unsigned left = 0;

        for (unsigned n = 0; n < KEYS; n++) {
            uint8_t key4[PAN_KEY_LEN], key6[PAN_KEY_LEN];
            struct address a = random_in(&random, special[i].prefix, special[i].bits), x;
            struct address_map map;
            struct err err = { 0 };

            random_bytes(&random, key4, sizeof(key4));
            random_bytes(&random, key6, sizeof(key6));
            assert_int_equal(
                address_map_open(&map, key4, key6, PAN_NUMBERED, special[i].asks ^ 15, &err), 0);
            address_map_encrypt(&map, &a, &x);
            left += !within(&x, special[i].prefix, special[i].bits);
            address_map_close(&map);
        }
        if (!special[i].asks)
            assert_int_equal(left, 0);
        else
            assert_true(left >= (strchr(special[i].prefix, ':') ? KEYS / 16 : KEYS / 2));
    }
}

static void some_addresses_stay(void **state)
{
    static const char *const texts[] = { "0.0.0.0", "255.255.255.255",  "127.0.0.1",       "::",
                                         "::1",     "::ffff:127.0.0.1", "64:ff9b::0.0.0.0" };

    (void)state;
    for (uint32_t ranges = 0; ranges < 16; ranges++) {
        struct address_map map = map_of(ranges);
        struct address unset = { 0 };

        for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
            struct address a = address_of(texts[i]), x;

            address_map_encrypt(&map, &a, &x);
            assert_true(address_equal(&a, &x));
            address_map_decrypt(&map, &a, &x);
            assert_true(address_equal(&a, &x));
        }
        address_map_encrypt(&map, &unset, &unset);
        assert_int_equal(unset.version, 0);
        address_map_close(&map);
    }
}

static void ipv4_within_ipv6(void **state)
{
    struct address_map map = map_of(7);
    struct address a = address_of("10.1.2.3"), b = address_of("::ffff:10.1.2.3"),
                   c = address_of("64:ff9b::10.1.2.3"), x, y, z;

    (void)state;
    address_map_encrypt(&map, &a, &x);
    address_map_encrypt(&map, &b, &y);
    address_map_encrypt(&map, &c, &z);
    assert_memory_equal(y.bytes, b.bytes, 12);
    assert_memory_equal(y.bytes + 12, x.bytes, 4);
    assert_memory_equal(z.bytes, c.bytes, 12);
    assert_memory_equal(z.bytes + 12, x.bytes, 4);
    address_map_close(&map);
}

/* All of 169.254/16, of 10.7/16 within 10/8, and of an ordinary /16: each is met once, networks
 * stay networks. */
static void no_two_are_the_same(void **state)
{
    static const char *const networks[] = { "169.254.0.0", "10.7.0.0", "128.11.0.0" };
    struct address_map map = map_of(15);

    (void)state;
    for (size_t i = 0; i < sizeof(networks) / sizeof(*networks); i++) {
        uint8_t *seen = calloc(1 << 16, 1);
        struct address a = address_of(networks[i]), first, x;

        assert_non_null(seen);
        address_map_encrypt(&map, &a, &first);
        for (unsigned n = 0; n < 1 << 16; n++) {
            store_be16(a.bytes + 2, (uint16_t)n);
            address_map_encrypt(&map, &a, &x);
            assert_memory_equal(x.bytes, first.bytes, 2);
            assert_int_equal(seen[load_be16(x.bytes + 2)]++, 0);
        }
        free(seen);
    }
    address_map_close(&map);
}

/* --- texts --- */

static void texts_are_read(void **state)
{
    static const struct {
        const char *text;
        int address, network, universal; /* port + 1 */
    } cases[] = {
        { "10.0.0.1", 1, 1, 0 },
        { "10.0.0.01", 0, 0, 0 },
        { "10.0.0", 0, 0, 0 },
        { "10.0.0.256", 0, 0, 0 },
        { " 10.0.0.1", 0, 0, 0 },
        { "10.0.0.0/24", 0, 1, 0 },
        { "10.0.0.0/0", 0, 1, 0 },
        { "10.0.0.0/32", 0, 1, 0 },
        { "10.0.0.0/33", 0, 0, 0 },
        { "10.0.0.0/024", 0, 0, 0 },
        { "10.0.0.0/", 0, 0, 0 },
        { "10.0.0.0/24/8", 0, 0, 0 },
        { "10.0.0.0/255.255.0.0", 0, 1, 0 },
        { "10.0.0.0/0.0.0.0", 0, 1, 0 },
        { "10.0.0.0/255.0.255.0", 0, 0, 0 },
        { "10.0.0.0/fe80::", 0, 0, 0 },
        { "fe80::1", 1, 1, 0 },
        { "fe80::1%eth0", 0, 0, 0 },
        { "FE80::1", 0, 0, 0 },
        { "fe80:0::1", 0, 0, 0 },
        { "::ffff:10.0.0.1", 1, 1, 0 },
        { "2001:db8::/32", 0, 1, 0 },
        { "2001:db8::/129", 0, 0, 0 },
        { "2001:db8::/255.255.0.0", 0, 0, 0 },
        { "::", 1, 1, 0 },
        { "", 0, 0, 0 },
        { "host", 0, 0, 0 },
        { "10.0.0.1.8.1", 0, 0, 2050 },
        { "10.0.0.1.0.111", 0, 0, 112 },
        { "10.0.0.1.255.255", 0, 0, 65536 },
        { "10.0.0.1.256.1", 0, 0, 0 },
        { "10.0.0.1.08.1", 0, 0, 0 },
        { "10.0.0.1.8.", 0, 0, 0 },
        { "10.0.0.1..1", 0, 0, 0 },
        { "::.8.1", 0, 0, 2050 },
        { "fe80::1.8.1", 0, 0, 2050 },
        { "::ffff:10.0.0.1.8.1", 0, 0, 2050 },
        { "/run/rpcbind.sock", 0, 0, 0 },
        { ".8.1", 0, 0, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const uint8_t *text = (const uint8_t *)cases[i].text;
        size_t len = strlen(cases[i].text), rest;
        struct address a;
        uint16_t port;

        assert_int_equal(address_parse(text, len, &a), cases[i].address);
        assert_int_equal(address_parse_network(text, len, &a, &rest), cases[i].network);
        assert_int_equal(address_parse_universal(text, len, &a, &port), cases[i].universal != 0);
        if (cases[i].universal)
            assert_int_equal(port, cases[i].universal - 1);
    }
    assert_false(address_parse((const uint8_t *)"10.0.0.1\0", 9, &(struct address){ 0 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_samples),     cmocka_unit_test(independent_samples),
        cmocka_unit_test(prefixes_stay),         cmocka_unit_test(ranges_stay),
        cmocka_unit_test(other_ranges_are_left), cmocka_unit_test(some_addresses_stay),
        cmocka_unit_test(ipv4_within_ipv6),      cmocka_unit_test(no_two_are_the_same),
        cmocka_unit_test(texts_are_read),        cmocka_unit_test(bits_are_flipped_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
