/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_address.c */
#include "net/address.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* nfs://...: its parts; or |error| is in the message.  |again|: what is printed. */
static const struct {
    const char *text, *host, *path;
    unsigned nfs, mount;
    const char *again, *error;
} urls[] = {
    { "nfs://h/a", "h", "/a", 0, 0, "nfs://h/a", NULL },
    { "nfs://h/", "h", "/", 0, 0, "nfs://h/", NULL },
    { "nfs://h:2050/a", "h", "/a", 2050, 0, "nfs://h/a?nfsport=2050", NULL },
    { "nfs://h/a?nfsport=1", "h", "/a", 1, 0, "nfs://h/a?nfsport=1", NULL },
    { "nfs://h/a?mountport=65535", "h", "/a", 0, 65535, "nfs://h/a?mountport=65535", NULL },
    { "nfs://h/a?mountport=9&nfsport=8", "h", "/a", 8, 9, "nfs://h/a?nfsport=8&mountport=9", NULL },
    { "nfs://h:8/a?nfsport=8", "h", "/a", 8, 0, "nfs://h/a?nfsport=8", NULL },
    { "nfs://127.0.0.1/a/b", "127.0.0.1", "/a/b", 0, 0, "nfs://127.0.0.1/a/b", NULL },
    { "nfs://[::1]/a", "::1", "/a", 0, 0, "nfs://[::1]/a", NULL },
    { "nfs://[::1]:77/a", "::1", "/a", 77, 0, "nfs://[::1]/a?nfsport=77", NULL },
    { "nfs://[fe80::1%25eth0]/a", "fe80::1%eth0", "/a", 0, 0, "nfs://[fe80::1%25eth0]/a", NULL },
    { "nfs://h/a%20b%2fc%3F", "h", "/a b/c?", 0, 0, "nfs://h/a%20b/c%3F", NULL },
    { "nfs://h/%c3%a9%ff", "h", "/\xc3\xa9\xff", 0, 0, "nfs://h/%C3%A9%FF", NULL },
    { "nfs://h/a%25", "h", "/a%", 0, 0, "nfs://h/a%25", NULL },
    { "nfs://h/-._~!$'()*,;:@", "h", "/-._~!$'()*,;:@", 0, 0, "nfs://h/-._~!$'()*,;:@", NULL },
    { "nfs://h/a&b=c+#", "h", "/a&b=c+#", 0, 0, "nfs://h/a%26b%3Dc%2B%23", NULL },
    { "http://h/a", .error = "must begin with nfs://" },
    { "h:/a", .error = "must begin with nfs://" },
    { "nfs://", .error = "the host is missing" },
    { "nfs:///a", .error = "the host is missing" },
    { "nfs://:20/a", .error = "the host is missing" },
    { "nfs://h", .error = "the export is missing" },
    { "nfs://h:5", .error = "the export is missing" },
    { "nfs://h?nfsport=5", .error = "the export is missing" },
    { "nfs://u@h/a", .error = "users are not part of it" },
    { "nfs://::1/a", .error = "in brackets" },
    { "nfs://fe80::1/a", .error = "in brackets" },
    { "nfs://[::1/a", .error = "the bracket is not closed" },
    { "nfs://[h]/a", .error = "and only that, stands in brackets" },
    { "nfs://a%3ab/a", .error = "stands in brackets" },
    { "nfs://a%2fb/a", .error = "the host has a byte" },
    { "nfs://a b/a", .error = "the host has a byte" },
    { "nfs://h:0/a", .error = "the port of NFS is not a number from 1 to 65535" },
    { "nfs://h:65536/a", .error = "the port of NFS is not a number" },
    { "nfs://h:4294967297/a", .error = "the port of NFS is not a number" },
    { "nfs://h:x/a", .error = "the port of NFS is not a number" },
    { "nfs://h:2x/a", .error = "the export is missing" },
    { "nfs://h/a?nfsport=", .error = "nfsport, the port of NFS, is not a number" },
    { "nfs://h/a?mountport=-1", .error = "mountport is not a number" },
    { "nfs://h/a?nfsport=1;mountport=2", .error = "arguments are separated by \"&\"" },
    { "nfs://h/a?nfsport=1x", .error = "arguments are separated by \"&\"" },
    { "nfs://h/a?version=4", .error = "the argument \"version\" is unknown" },
    { "nfs://h/a?", .error = "the argument \"\" is unknown" },
    { "nfs://h/a?nfsport=1&", .error = "the argument \"\" is unknown" },
    { "nfs://h:1/a?nfsport=2", .error = "was given before as 1" },
    { "nfs://h/a?mountport=1&mountport=2", .error = "mountport was given before as 1" },
    { "nfs://h/a%2", .error = "two hexadecimal digits" },
    { "nfs://h/a%", .error = "two hexadecimal digits" },
    { "nfs://h/a%zz", .error = "two hexadecimal digits" },
    { "nfs://h/a%00", .error = "the byte %00" },
};

static void test_urls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(urls) / sizeof(*urls); i++) {
        struct nfs_address a, b;
        struct err err = { 0 };
        char text[NFS_ADDRESS_TEXT];
        int result = nfs_address_parse(urls[i].text, &a, &err);

        if (urls[i].error) {
            if (result != -ERR_USAGE || !strstr(err.text, urls[i].error))
                fail_msg("%s: %d \"%s\"", urls[i].text, result, err.text);
            continue;
        }
        if (result != 0)
            fail_msg("%s", err.text);
        assert_string_equal(a.host, urls[i].host);
        assert_string_equal(a.path, urls[i].path);
        assert_int_equal(a.nfs_port, urls[i].nfs);
        assert_int_equal(a.mount_port, urls[i].mount);
        assert_string_equal(nfs_address_text(&a, text), urls[i].again);
        assert_int_equal(nfs_address_parse(text, &b, &err), 0);
        assert_memory_equal(&a, &b, sizeof(a));
    }
}

/* The longest parts fit into the longest text; one byte more is an error. */
static void test_longest_url(void **state)
{
    struct nfs_address a = { .nfs_port = 65535, .mount_port = 65535 }, b;
    struct err err = { 0 };
    char text[NFS_ADDRESS_TEXT + 8];

    (void)state;
    memset(a.host, 'h', NET_ADDRESS_HOST_MAX);
    memset(a.path, '\xff', NFS_ADDRESS_PATH_MAX);
    a.path[0] = '/';
    nfs_address_text(&a, text);
    assert_int_equal(nfs_address_parse(text, &b, &err), 0);
    assert_memory_equal(&a, &b, sizeof(a));
    snprintf(text, sizeof(text), "nfs://h/%0*d", NFS_ADDRESS_PATH_MAX, 0);
    assert_int_equal(nfs_address_parse(text, &b, &err), -ERR_USAGE);
    assert_non_null(strstr(err.text, "the path is longer than 1024 bytes"));
    snprintf(text, sizeof(text), "nfs://%0*d/", NET_ADDRESS_HOST_MAX + 1, 0);
    assert_int_equal(nfs_address_parse(text, &b, &err), -ERR_USAGE);
    assert_non_null(strstr(err.text, "the host is longer than 255 bytes"));
}

/* ADDR:PORT: what is printed of it, or the error. */
static const struct {
    const char *text, *again, *error;
} names[] = {
    { "127.0.0.1:0", "127.0.0.1:0", NULL },
    { "[::1]:2049", "[::1]:2049", NULL },
    { ":111", "0.0.0.0:111", NULL },
    { "0.0.0.0:65535", "0.0.0.0:65535", NULL },
    { "[::]:1", "[::]:1", NULL },
    { "[fe80::1%1]:5", "[fe80::1%1]:5", NULL },
    { "[::ffff:1.2.3.4]:5", "[::ffff:1.2.3.4]:5", NULL },
    { "127.0.0.1", NULL, "the port is missing" },
    { "127.0.0.1:", NULL, "the port is missing" },
    { "[::1]", NULL, "the port is missing" },
    { "[::1]2049", NULL, "the port is missing" },
    { "::1:2049", NULL, "in brackets" },
    { "[::1:2049", NULL, "the bracket is not closed" },
    { "[127.0.0.1]:1", NULL, "only an IPv6 address stands in brackets" },
    { "127.0.0.1:65536", NULL, "the port \"65536\" is not a number from 0 to 65535" },
    { "127.0.0.1:x", NULL, "the port \"x\" is not a number" },
    { "127.0.0.1:-1", NULL, "the port \"-1\" is not a number" },
};

static void test_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct net_address a;
        struct err err = { 0 };
        char text[NET_ADDRESS_TEXT];
        int result = net_address_parse(names[i].text, true, &a, &err);

        if (names[i].error) {
            if (result != -ERR_USAGE || !strstr(err.text, names[i].error))
                fail_msg("%s: %d \"%s\"", names[i].text, result, err.text);
            continue;
        }
        if (result != 0)
            fail_msg("%s: %s", names[i].text, err.text);
        assert_string_equal(net_address_text(&a, text), names[i].again);
    }
}

static struct net_address v4(const char *host, uint16_t port)
{
    struct net_address a = { .v4 = { .sin_family = AF_INET, .sin_port = htons(port) } };

    assert_int_equal(inet_pton(AF_INET, host, &a.v4.sin_addr), 1);
    return a;
}

static struct net_address v6(const char *host, uint16_t port)
{
    struct net_address a = { .v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) } };

    assert_int_equal(inet_pton(AF_INET6, host, &a.v6.sin6_addr), 1);
    return a;
}

static void test_sockets(void **state)
{
    struct net_address a = v4("127.0.0.1", 5), b = v4("127.0.0.1", 6), c = v4("127.0.0.2", 5);
    struct net_address d = v6("::1", 5), e = v6("::2", 5), local = { .family = AF_UNIX }, f;
    struct sockaddr_storage storage = { 0 };
    char text[NET_ADDRESS_TEXT];

    (void)state;
    assert_true(net_address_equal(&a, &a) && net_address_same_host(&a, &b));
    assert_false(net_address_equal(&a, &b));
    assert_false(net_address_same_host(&a, &c) || net_address_same_host(&a, &d));
    assert_false(net_address_same_host(&d, &e));
    assert_true(net_address_is_loopback(&a) && net_address_is_loopback(&c) &&
                net_address_is_loopback(&d));
    assert_false(net_address_is_loopback(&e));
    assert_int_equal(net_address_port(&d), 5);
    net_address_set_port(&d, 7);
    assert_int_equal(net_address_port(&d), 7);
    assert_string_equal(net_address_host_text(&d, text), "::1");
    assert_string_equal(net_address_text(&local, text), "local");
    assert_int_equal(net_address_size(&a), sizeof(struct sockaddr_in));
    memcpy(&storage, &e.v6, sizeof(e.v6));
    net_address_from(&f, &storage);
    assert_true(net_address_equal(&e, &f));
    storage.ss_family = AF_APPLETALK;
    net_address_from(&f, &storage);
    assert_int_equal(f.family, AF_UNSPEC);
    memset(&e.v6.sin6_addr, 0xff, 16);
    e.v6.sin6_scope_id = UINT32_MAX;
    e.v6.sin6_port = 0xffff;
    assert_string_equal(net_address_text(&e, text),
                        "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff%4294967295]:65535");
}

/* What it becomes depends on the machine: tests/pipeline/ftnfsd_stock.sh. */
static void test_wildcards(void **state)
{
    struct net_address any4 = v4("0.0.0.0", 5), any6 = v6("::", 6), a = v4("192.0.2.7", 7);
    const struct net_address same = a;

    (void)state;
    net_address_name_wildcard(&any4);
    net_address_name_wildcard(&any6);
    net_address_name_wildcard(&a);
    assert_int_equal(any4.family, AF_INET);
    assert_int_not_equal(any4.v4.sin_addr.s_addr, 0);
    assert_int_equal(net_address_port(&any4), 5);
    assert_int_equal(any6.family, AF_INET6);
    assert_false(IN6_IS_ADDR_UNSPECIFIED(&any6.v6.sin6_addr));
    assert_int_equal(net_address_port(&any6), 6);
    assert_true(net_address_equal(&a, &same));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),      cmocka_unit_test(test_longest_url),
        cmocka_unit_test(test_names),     cmocka_unit_test(test_sockets),
        cmocka_unit_test(test_wildcards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
