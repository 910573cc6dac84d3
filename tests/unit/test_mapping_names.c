/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mapping: names, paths, hosts and addresses as texts. */
#include "base/bytes.h"
#include "mapping_case.h"

#include <arpa/inet.h>
#include <ctype.h>

/* The result as a string; |max| as given to mapping_bytes. */
static const char *mapped(enum field_class cls, enum rule rule, uint32_t max, const char *text)
{
    static char out[4][512]; /* lives for four calls */
    static unsigned turn;
    struct bytes x;
    struct err err = { 0 };

    assert_int_equal(mapping_bytes(mapping, cls, rule, true, max, (const uint8_t *)text,
                                   (uint32_t)strlen(text), &x, &err),
                     0);
    assert_true(x.len < sizeof(out[0]));
    turn = (turn + 1) % 4;
    memcpy(out[turn], x.data, x.len);
    out[turn][x.len] = '\0';
    return out[turn];
}

static const char *name(const char *text)
{
    return mapped(CLASS_NAME, RULE_TOKEN, 0, text);
}

static bool is_token(const char *text, size_t len)
{
    if (len != TOKEN_LEN)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isdigit(text[i]) && (text[i] < 'a' || text[i] > 'v'))
            return false;
    return true;
}

static void check_token(char **words)
{
    const char *cls = words[1];

    if (strcmp(cls, "name") == 0)
        assert_string_equal(name(words[2]), words[3]);
    else if (strcmp(cls, "host") == 0)
        assert_string_equal(mapped(CLASS_HOST, RULE_TOKEN, 0, words[2]), words[3]);
    else /* a path without room for its parts */
        assert_string_equal(mapped(CLASS_PATH, RULE_TOKEN, 20, words[2]) + 1, words[3]);
}

static void independent_samples(void **state)
{
    (void)state;
    each_vector("token", 4, 4, check_token);
}

/* --- tokens --- */

static void affixes_stay(void **state)
{
    static const struct {
        const char *name, *prefix, *suffix;
    } cases[] = {
        { "Makefile", "", "" },
        { "main.c", "", ".c" },
        { "a.c", "", ".c" },
        { ".c", "", "" },
        { "x.tar.gz", "", ".tar.gz" },
        { "x.gz", "", ".gz" },
        { ".tar.gz", "", ".gz" },
        { "main.c~", "", "~" },
        { "main.C", "", "" },
        { ".nfs0000001", ".nfs", "" },
        { ".nfs", "", "" },
        { "libz.c", "lib", ".c" },
        { "lib.c", "", ".c" },
        { "a\nb.c", "", ".c" },
        { "h\xc3\xa9.gz", "", ".gz" },
        { "\xff\xfe.c", "", ".c" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        size_t prefix = strlen(cases[i].prefix), suffix = strlen(cases[i].suffix), len;
        char x[64];

        len = (size_t)snprintf(x, sizeof(x), "%s", name(cases[i].name));

        assert_int_equal(len, prefix + TOKEN_LEN + suffix);
        assert_memory_equal(x, cases[i].prefix, prefix);
        assert_true(is_token(x + prefix, TOKEN_LEN));
        assert_string_equal(x + len - suffix, cases[i].suffix);
        assert_string_equal(name(cases[i].name), x);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(name(cases[j].name), x);
    }
    /* the token is the whole name's: nothing tells that two have a stem in common */
    assert_memory_not_equal(name("main.c"), name("main.gz"), TOKEN_LEN);
}

static void dots_stay(void **state)
{
    (void)state;
    for (int rule = RULE_TOKEN; rule <= RULE_SAME; rule++) {
        assert_string_equal(mapped(CLASS_NAME, (enum rule)rule, 0, "."), ".");
        assert_string_equal(mapped(CLASS_NAME, (enum rule)rule, 0, ".."), "..");
        assert_string_not_equal(mapped(CLASS_NAME, (enum rule)rule, 0, "..."), "...");
    }
}

static void other_keys_differ(void **state)
{
    static const char *const names[] = { "Makefile", "main.c", ".nfs01", "a", "client1" };
    struct mapping *other = build_mapping(&policy, 1), *mine = mapping;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        for (int cls = CLASS_NAME; cls <= CLASS_HOST; cls += CLASS_HOST - CLASS_NAME) {
            const char *a = mapped((enum field_class)cls, RULE_TOKEN, 0, names[i]), *b;

            mapping = other;
            b = mapped((enum field_class)cls, RULE_TOKEN, 0, names[i]);
            mapping = mine;
            assert_string_not_equal(a, b);
        }
    assert_string_not_equal(name("client1"), mapped(CLASS_HOST, RULE_TOKEN, 0, "client1"));
    mapping_free(other);
}

/* --- names of kept length --- */

static void same(enum field_class cls, const uint8_t *in, uint32_t len, uint8_t *image)
{
    struct bytes x;
    struct err err = { 0 };

    assert_int_equal(mapping_bytes(mapping, cls, RULE_SAME, true, 0, in, len, &x, &err), 0);
    assert_int_equal(x.len, len);
    memcpy(image, x.data, len);
    assert_int_equal(mapping_bytes_back(mapping, cls, RULE_SAME, image, len, &x, &err), 0);
    assert_int_equal(x.len, len);
    assert_memory_equal(x.data, in, len);
}

/* All names of 1 and 2 bytes, and all of 3 that end with '~', which is kept: each is met once. */
static void short_names_are_a_permutation(void **state)
{
    static uint8_t seen[1 << 16];

    (void)state;
    for (uint32_t len = 1; len <= 3; len++) {
        memset(seen, 0, sizeof(seen));
        for (uint32_t value = 0; value < (len == 1 ? 1u << 8 : 1u << 16); value++) {
            uint8_t in[3] = { (uint8_t)value, len == 1 ? 0 : (uint8_t)(value >> 8), '~' };
            uint8_t image[3] = { 0 };

            same(CLASS_NAME, in, len, image);
            assert_int_equal(seen[load_be16(image)]++, 0);
            assert_int_equal(memchr(in, '/', len) != NULL, memchr(image, '/', len) != NULL);
            if (!memchr(in, '/', len)) /* which no name has that a file system gave */
                assert_int_equal(memchr(in, 0, len) != NULL, memchr(image, 0, len) != NULL);
            if (len == 3)
                assert_int_equal(image[2], '~');
        }
    }
}

static bool all_printable(const uint8_t *text, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    return true;
}

static void random_names_lead_back(void **state)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    uint64_t random = 7;

    (void)state;
    for (uint32_t i = 0; i < 30000; i++) {
        uint32_t len = 1 + (i < 3000 ? i / 10 : (uint32_t)(random64(&random) % 20));
        uint8_t in[300], image[300];

        random_bytes(&random, in, sizeof(in));
        if (i % 3)
            for (uint32_t k = 0; k < len; k++)
                in[k] = (uint8_t)(i % 3 == 1 ? letters[in[k] % (sizeof(letters) - 1)]
                                             : 0x20 + in[k] % 95);
        if (i % 5 == 0 && len > 3)
            memcpy(in + len - 2, ".c", 2);
        if (i % 7 == 0 && len > 6)
            memcpy(in, ".nfs", 4);
        same(CLASS_NAME, in, len, image);
        if (!memchr(in, '/', len))
            assert_int_equal(all_printable(in, len), all_printable(image, len));
        if (i % 5 == 0 && len > 3)
            assert_memory_equal(image + len - 2, ".c", 2);
        if (i % 7 == 0 && len > 6)
            assert_memory_equal(image, ".nfs", 4);
        if (len > 12)
            assert_memory_not_equal(image, in, len);
    }
}

static bool has_controls(const uint8_t *text, uint32_t len)
{
    for (uint32_t i = 0; i < len; i++)
        if (text[i] < 0x20 || text[i] == 0x7f)
            return true;
    return false;
}

/* Names in other languages become names without control characters; those of an old key do not. */
static void kinds_of_letters_stay(void **state)
{
    static const char *const names[] = { "\xc3\xa9", "na\xc3\xafve.txt", "Gr\u00f6\u00dfe",
                                         "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "r\xe9sum\xe9" };
    struct key old = build_key(0);
    struct err err = { 0 };
    struct mapping *now = mapping;
    unsigned with_controls = 0;
    uint64_t random = 9;

    (void)state;
    old.version = KEY_VERSION_1;
    mapping = mapping_new(&old, &policy, &err);
    assert_non_null(mapping);
    for (unsigned i = 0; i < 1000; i++) {
        const char *name = names[i % (sizeof(names) / sizeof(*names))];
        uint8_t in[64], image[64];
        uint32_t len = (uint32_t)snprintf((char *)in, sizeof(in), "%s%u", name, i), high = 0;
        struct mapping *other = mapping;

        same(CLASS_NAME, in, len, image);
        with_controls += has_controls(image, len);
        mapping = now;
        same(CLASS_NAME, in, len, image);
        assert_false(has_controls(image, len));
        for (uint32_t k = 0; k < len; k++)
            high += image[k] >= 0x80;
        assert_true(high > 0);
        in[random64(&random) % len] = '\n';
        same(CLASS_NAME, in, len, image);
        assert_true(has_controls(image, len));
        mapping = other;
    }
    assert_true(with_controls > 300);
    mapping_free(mapping);
    mapping = now;
}

/* Names beside each other in a directory have nothing in common afterwards. */
static void likeness_is_lost(void **state)
{
    unsigned alike = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        char text[32];
        const char *a, *b;

        snprintf(text, sizeof(text), "report-%04d", i);
        a = mapped(CLASS_NAME, RULE_SAME, 0, text);
        snprintf(text, sizeof(text), "report-%04d", i + 1);
        b = mapped(CLASS_NAME, RULE_SAME, 0, text);
        for (int k = 0; k < 11; k++)
            alike += a[k] == b[k];
    }
    assert_true(alike < 11000 / 70 * 2); /* of 11000 letters, by chance 157 */
}

/* --- paths --- */

static void paths_keep_their_shape(void **state)
{
    static const char *const paths[] = { "/",          "//",       "/srv/exp",        "srv/exp/",
                                         "/srv//exp/", "../a",     "./../../lib/x.c", "..",
                                         "a",          "/a/b/c/d", "/srv/.",          "///a///" };

    (void)state;
    for (int rule = RULE_TOKEN; rule <= RULE_SAME; rule++)
        for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
            const char *at = paths[i], *x;
            char copy[128];
            struct bytes back;
            struct err err = { 0 };

            snprintf(copy, sizeof(copy), "%s", mapped(CLASS_PATH, (enum rule)rule, 0, paths[i]));
            x = copy;
            if (rule == RULE_SAME) {
                assert_int_equal(strlen(x), strlen(paths[i]));
                assert_int_equal(mapping_bytes_back(mapping, CLASS_PATH, RULE_SAME,
                                                    (const uint8_t *)x, (uint32_t)strlen(x), &back,
                                                    &err),
                                 0);
                assert_int_equal(back.len, strlen(paths[i]));
                assert_memory_equal(back.data, paths[i], back.len);
            }
            while (*at || *x) { /* slash by slash, name by name */
                size_t n = strcspn(at, "/"), k = strcspn(x, "/");
                char part[64] = "";

                memcpy(part, at, n);
                assert_int_equal(k, strlen(mapped(CLASS_NAME, (enum rule)rule, 0, part)));
                assert_memory_equal(x, mapped(CLASS_NAME, (enum rule)rule, 0, part), k);
                assert_int_equal(at[n], x[k]);
                at += n + (at[n] != '\0');
                x += k + (x[k] != '\0');
            }
        }
    assert_int_equal(mapping_overflows(mapping), 0);
}

static void paths_have_bounds(void **state)
{
    const char *x = mapped(CLASS_PATH, RULE_TOKEN, 33, "/a/b");

    (void)state;
    assert_int_equal(strlen(mapped(CLASS_PATH, RULE_TOKEN, 34, "/a/b")), 34);
    assert_int_equal(mapping_overflows(mapping), 1);
    assert_int_equal(x[0], '/');
    assert_true(is_token(x + 1, strlen(x + 1)));
    x = mapped(CLASS_PATH, RULE_TOKEN, 32, "a/b");
    assert_true(is_token(x, strlen(x)));
    assert_string_not_equal(x, mapped(CLASS_PATH, RULE_TOKEN, 32, "a/c"));
    assert_int_equal(strlen(mapped(CLASS_PATH, RULE_TOKEN, 7, "/a/b")), 7);
    assert_int_equal(mapping_overflows(mapping), 4);
    assert_int_equal(strlen(mapped(CLASS_PATH, RULE_SAME, 4, "/a/b")), 4);
    assert_int_equal(mapping_overflows(mapping), 4);
}

/* --- hosts --- */

static const char *address(const char *text)
{
    static char out[ADDRESS_TEXT_MAX];
    struct address a = { .version = strchr(text, ':') ? 6 : 4 };

    assert_int_equal(inet_pton(a.version == 6 ? AF_INET6 : AF_INET, text, a.bytes), 1);
    mapping_address(mapping, &a, &a);
    return address_text(&a, out);
}

static void hosts(void **state)
{
    static const struct {
        const char *text, *address, *rest;
    } cases[] = {
        { "10.1.2.3", "10.1.2.3", "" },
        { "10.1.0.0/16", "10.1.0.0", "/16" },
        { "10.1.0.0/255.255.0.0", "10.1.0.0", "/255.255.0.0" },
        { "2001:db8::7", "2001:db8::7", "" },
        { "2001:db8::/32", "2001:db8::", "/32" },
        { "127.0.0.1", "127.0.0.1", "" },
    };

    (void)state;
    for (int rule = RULE_TOKEN; rule <= RULE_SAME; rule++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
            const char *x = mapped(CLASS_HOST, (enum rule)rule, 0, cases[i].text);
            char expected[64];
            struct bytes back;
            struct err err = { 0 };

            snprintf(expected, sizeof(expected), "%s%s", address(cases[i].address), cases[i].rest);
            assert_string_equal(x, expected);
            assert_int_equal(mapping_bytes_back(mapping, CLASS_HOST, (enum rule)rule,
                                                (const uint8_t *)x, (uint32_t)strlen(x), &back,
                                                &err),
                             0);
            assert_memory_equal(back.data, cases[i].text, strlen(cases[i].text));
        }
        assert_string_equal(mapped(CLASS_HOST, (enum rule)rule, 0, "*"), "*");
        assert_string_equal(mapped(CLASS_HOST, (enum rule)rule, 0, "@"), "@");
        assert_int_equal(mapped(CLASS_HOST, (enum rule)rule, 0, "@trusted")[0], '@');
    }
    assert_true(is_token(mapped(CLASS_HOST, RULE_TOKEN, 0, "client1"), TOKEN_LEN));
    assert_int_equal(strlen(mapped(CLASS_HOST, RULE_TOKEN, 0, "client1.example.com")), TOKEN_LEN);
    assert_int_equal(strlen(mapped(CLASS_HOST, RULE_TOKEN, 0, "@trusted")), 1 + TOKEN_LEN);
    assert_string_not_equal(mapped(CLASS_HOST, RULE_TOKEN, 0, "@trusted") + 1,
                            mapped(CLASS_HOST, RULE_TOKEN, 0, "trusted"));
    assert_int_equal(strlen(mapped(CLASS_HOST, RULE_SAME, 0, "@trusted")), 8);
}

static void short_hosts_are_a_permutation(void **state)
{
    static uint8_t seen[1 << 16];

    (void)state;
    for (uint32_t len = 1; len <= 2; len++) {
        memset(seen, 0, sizeof(seen));
        for (uint32_t value = 0; value < 1u << 8 * len; value++) {
            uint8_t in[2] = { (uint8_t)value, (uint8_t)(value >> 8) }, image[2] = { 0 };

            same(CLASS_HOST, in, len, image);
            assert_int_equal(seen[load_be16(image)]++, 0);
            assert_int_equal(in[0] == '@', image[0] == '@');
        }
    }
}

/* --- addresses as RPCBIND writes them, network ids, owners --- */

static void universal_addresses(void **state)
{
    static const struct {
        const char *text, *address;
        unsigned port;
    } cases[] = {
        { "10.1.2.3.8.1", "10.1.2.3", 2049 },
        { "0.0.0.0.0.111", "0.0.0.0", 111 },
        { "::.0.111", "::", 111 },
        { "2001:db8::7.8.1", "2001:db8::7", 2049 },
        { "127.0.0.1.78.80", "127.0.0.1", 20048 },
    };

    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        policy.extras[EXTRA_PORT] = keep ? RULE_KEEP : RULE_KEYED;
        for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
            const char *x = mapped(CLASS_ADDRESS, RULE_KEYED, 0, cases[i].text);
            uint32_t port = mapping_extra(mapping, EXTRA_PORT, cases[i].port);
            char expected[64];
            struct bytes back;
            struct err err = { 0 };

            snprintf(expected, sizeof(expected), "%s.%u.%u", address(cases[i].address), port >> 8,
                     port & 255);
            assert_string_equal(x, expected);
            assert_int_equal(port == cases[i].port, keep);
            assert_int_equal(mapping_bytes_back(mapping, CLASS_ADDRESS, RULE_KEYED,
                                                (const uint8_t *)x, (uint32_t)strlen(x), &back,
                                                &err),
                             0);
            assert_int_equal(back.len, strlen(cases[i].text));
            assert_memory_equal(back.data, cases[i].text, back.len);
        }
    }
    assert_true(is_token(mapped(CLASS_ADDRESS, RULE_KEYED, 0, "/run/rpcbind.sock"), TOKEN_LEN));
    assert_true(is_token(mapped(CLASS_ADDRESS, RULE_KEYED, 0, "10.1.2.3"), TOKEN_LEN));
}

static void well_known_words(void **state)
{
    static const char *const words[] = { "tcp",    "udp",    "tcp6",      "udp6", "local", "rdma",
                                         "ticots", "ticlts", "ticotsord", "inet", "inet6", "-",
                                         "unix",   "raw",    "loopback",  "rdma6" };

    (void)state;
    for (int rule = RULE_KEEP; rule <= RULE_TOKEN; rule++) {
        for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
            assert_string_equal(mapped(CLASS_NONE, (enum rule)rule, 0, words[i]), words[i]);
        assert_string_not_equal(mapped(CLASS_NONE, (enum rule)rule, 0, "tcpx"), "tcpx");
        assert_string_not_equal(mapped(CLASS_NONE, (enum rule)rule, 0, "tc"), "tc");
    }
    assert_string_equal(mapped(CLASS_OPAQUE, RULE_TOKEN, 0, "superuser"), "superuser");
    assert_string_equal(mapped(CLASS_OPAQUE, RULE_KEYED, 0, "unknown"), "unknown");
    assert_true(is_token(mapped(CLASS_OPAQUE, RULE_TOKEN, 0, "tcp"), TOKEN_LEN));
    assert_int_equal(strlen(mapped(CLASS_OPAQUE, RULE_KEYED, 0, "jane")), 4);
    assert_string_not_equal(mapped(CLASS_OPAQUE, RULE_KEYED, 0, "jane"), "jane");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(independent_samples),
        TEST(affixes_stay),
        TEST(dots_stay),
        TEST(other_keys_differ),
        TEST(short_names_are_a_permutation),
        TEST(random_names_lead_back),
        TEST(likeness_is_lost),
        TEST(kinds_of_letters_stay),
        TEST(paths_keep_their_shape),
        TEST(paths_have_bounds),
        TEST(hosts),
        TEST(short_hosts_are_a_permutation),
        TEST(universal_addresses),
        TEST(well_known_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
