/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_mount_portmap.c
 *
 * Calls of MOUNT, PORTMAP and RPCBIND: the bytes that go out and come in are written here by hand
 * from RFC 1813, RFC 1094 and RFC 1833, one line a case.
 */
#include "net_client.h"

#include "net/mount_client.h"
#include "net/portmap_client.h"
#include "net/universal_address.h"

/* Results follow on a success; RPC's own states and texts that are no results begin with '!'. */
#define BYTES(text) text, sizeof(text) - 1

static char said[1024];

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
    size_t len = strlen(said);
    va_list args;

    va_start(args, format);
    vsnprintf(said + len, sizeof(said) - len, format, args);
    va_end(args);
}

/* Answers the call that is under way: its arguments must be |arguments|. */
static void play(struct seen *s, const char *arguments, size_t arguments_len, const char *results,
                 size_t results_len)
{
    uint32_t xid;

    if (s->server.fd < 0)
        server_accept(&s->server);
    xid = server_read(&s->server);
    assert_int_equal(s->server.len, 40 + arguments_len);
    assert_memory_equal(s->server.record + 40, arguments, arguments_len);
    if (results_len && results[0] == '!') { /* what follows on reply_stat MSG_ACCEPTED */
        uint8_t reply[64] = { 0 };

        store_be32(reply, 0x80000000u | (uint32_t)(12 + results_len - 1));
        store_be32(reply + 4, xid);
        store_be32(reply + 8, 1);
        memcpy(reply + 16, results + 1, results_len - 1);
        server_write(&s->server, reply, 16 + results_len - 1);
    } else {
        server_reply(&s->server, xid,
                     (struct bytes){ (const uint8_t *)results, (uint32_t)results_len });
    }
    server_run(&s->server, 5 * MS);
}

/* --- MOUNT */

static int on_mount(void *ctx, const struct mount_answer *a, struct err *e)
{
    (void)ctx;
    (void)e;
    if (a->problem)
        say("problem %u: %s", a->status, a->problem);
    for (uint32_t i = 0; i < a->handle.len; i++)
        say("%02x", a->handle.data[i]);
    for (uint32_t i = 0; i < a->flavor_count; i++)
        say(" %u", a->flavors[i]);
    for (uint32_t i = 0; i < a->export_count; i++) {
        say("[%.*s", (int)a->exports[i].path.len, (const char *)a->exports[i].path.data);
        for (uint32_t k = 0; k < a->exports[i].group_count; k++)
            say(" %.*s", (int)a->exports[i].groups[k].len,
                (const char *)a->exports[i].groups[k].data);
        say("]");
    }
    for (uint32_t i = 0; i < a->entry_count; i++)
        say("(%.*s:%.*s)", (int)a->entries[i].host.len, (const char *)a->entries[i].host.data,
            (int)a->entries[i].path.len, (const char *)a->entries[i].path.data);
    say(".");
    return 0;
}

static const struct {
    const char *what;
    uint32_t version;
    enum mount_procedure procedure;
    const char *path;
    const char *arguments;
    size_t arguments_len;
    const char *results;
    size_t results_len;
    const char *said;
} mounts[] = {
    { "MNT 3", 3, MOUNT_MNT, "/export", BYTES("\0\0\0\7/export\0"),
      BYTES("\0\0\0\0\0\0\0\5hand1\0\0\0\0\0\0\2\0\0\0\1\0\5\xf3\x73"), "68616e6431 1 390003." },
    { "MNT 3 refused", 3, MOUNT_MNT, "/x", BYTES("\0\0\0\2/x\0\0"), BYTES("\0\0\0\15"),
      "problem 13: MOUNT MNT: MNT3ERR_ACCES." },
    { "MNT 3, a status of its own", 3, MOUNT_MNT, "/x", BYTES("\0\0\0\2/x\0\0"), BYTES("\0\0\1\0"),
      "problem 256: MOUNT MNT: status 256." },
    { "MNT 3, a handle too long", 3, MOUNT_MNT, "/x", BYTES("\0\0\0\2/x\0\0"),
      BYTES("\0\0\0\0\0\0\0\x41"),
      "problem 0: MOUNT MNT: a malformed reply: mountres3.mountinfo.fhandle: " },
    { "MNT 3, cut", 3, MOUNT_MNT, "/x", BYTES("\0\0\0\2/x\0\0"), BYTES("\0\0"),
      "problem 0: MOUNT MNT: a malformed reply: mountres3.fhs_status: " },
    { "MNT 1", 1, MOUNT_MNT, "/a", BYTES("\0\0\0\2/a\0\0"),
      BYTES("\0\0\0\0"
            "0123456789abcdef0123456789abcdef"),
      "3031323334353637383961626364656630313233343536373839616263646566." },
    { "MNT 1 refused", 1, MOUNT_MNT, "/a", BYTES("\0\0\0\2/a\0\0"), BYTES("\0\0\0\2"),
      "problem 2: MOUNT MNT: ENOENT." },
    { "UMNT", 3, MOUNT_UMNT, "/a", BYTES("\0\0\0\2/a\0\0"), BYTES(""), "." },
    { "UMNT, bytes left over", 3, MOUNT_UMNT, "/a", BYTES("\0\0\0\2/a\0\0"), BYTES("\0\0\0\0"),
      "problem 0: MOUNT UMNT: a malformed reply: void: " },
    { "EXPORT", 3, MOUNT_EXPORT, NULL, BYTES(""),
      BYTES("\0\0\0\1\0\0\0\2/a\0\0\0\0\0\1\0\0\0\2h1\0\0\0\0\0\1\0\0\0\4h2.x\0\0\0\0"
            "\0\0\0\1\0\0\0\2/b\0\0\0\0\0\0\0\0\0\1\0\0\0\2/c\0\0\0\0\0\1\0\0\0\1*\0\0\0\0\0\0\0"
            "\0\0\0\0"),
      "[/a h1 h2.x][/b][/c *]." },
    { "EXPORT of nothing", 1, MOUNT_EXPORT, NULL, BYTES(""), BYTES("\0\0\0\0"), "." },
    { "DUMP", 3, MOUNT_DUMP, NULL, BYTES(""),
      BYTES("\0\0\0\1\0\0\0\2h1\0\0\0\0\0\2/a\0\0\0\0\0\1\0\0\0\2h2\0\0\0\0\0\2/b\0\0\0\0\0\0"),
      "(h1:/a)(h2:/b)." },
    { "not there", 3, MOUNT_MNT, "/a", BYTES("\0\0\0\2/a\0\0"), BYTES("!\0\0\0\0\0\0\0\0\0\0\0\1"),
      "problem 0: MOUNT MNT: the server does not have this program." },
    { "another version", 3, MOUNT_NULL, NULL, BYTES(""),
      BYTES("!\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\1\0\0\0\2"),
      "problem 0: MOUNT NULL: the server does not have version 3, but 1 to 2." },
    { "trouble", 3, MOUNT_NULL, NULL, BYTES(""), BYTES("!\0\0\0\0\0\0\0\0\0\0\0\5"),
      "problem 0: MOUNT NULL: SYSTEM_ERR." },
};

static void test_mount(void **state)
{
    struct seen s;

    (void)state;
    prepare(&s, SOCK_STREAM);
    start(&s);
    for (size_t i = 0; i < sizeof(mounts) / sizeof(*mounts); i++) {
        struct mount_question q = { .version = mounts[i].version,
                                    .procedure = mounts[i].procedure };
        size_t len = strlen(mounts[i].said);

        q.path = (struct bytes){ (const uint8_t *)mounts[i].path,
                                 mounts[i].path ? (uint32_t)strlen(mounts[i].path) : 0 };
        said[0] = '\0';
        if (mount_call(s.client, &q, on_mount, NULL, &err) != 0)
            fail_msg("%s: %s", mounts[i].what, err.text);
        play(&s, mounts[i].arguments, mounts[i].arguments_len, mounts[i].results,
             mounts[i].results_len);
        /* what the walker says of malformed bytes is its own */
        if (mounts[i].said[len - 1] == '.' ? strcmp(said, mounts[i].said) != 0
                                           : strncmp(said, mounts[i].said, len) != 0)
            fail_msg("%s: \"%s\"", mounts[i].what, said);
    }
    finish(&s);
}

static void test_mount_refused(void **state)
{
    static const uint8_t path[1025];
    struct mount_question q = { .version = 2 };
    struct seen s;

    (void)state;
    prepare(&s, SOCK_STREAM);
    s.setup.limits.calls = 1;
    start(&s);
    assert_int_equal(mount_call(s.client, &q, on_mount, NULL, &err), -ERR_USAGE);
    assert_string_equal(err.text, "MOUNT has no version 2 here, but 1 and 3");
    q.version = 3;
    q.procedure = MOUNT_MNT;
    q.path = (struct bytes){ path, sizeof(path) };
    assert_int_equal(mount_call(s.client, &q, on_mount, NULL, &err), -ERR_USAGE);
    q.path.len--;
    assert_int_equal(mount_call(s.client, &q, on_mount, NULL, &err), 0);
    assert_int_equal(mount_call(s.client, &q, on_mount, NULL, &err), RPC_CLIENT_FULL);
    said[0] = '\0';
    finish(&s);
    assert_string_equal(said, "problem 0: MOUNT MNT: cancelled.");
}

/* --- PORTMAP, RPCBIND */

static int on_portmap(void *ctx, const struct portmap_reply *a, struct err *e)
{
    char text[NET_ADDRESS_TEXT];

    (void)ctx;
    (void)e;
    if (a->problem)
        say("%s", a->problem);
    else if (a->address.family)
        say("%s", net_address_text(&a->address, text));
    for (uint32_t i = 0; i < a->entry_count; i++)
        say("[%u %u %.*s %s %.*s]", a->entries[i].program, a->entries[i].version,
            (int)a->entries[i].netid.len, (const char *)a->entries[i].netid.data,
            a->entries[i].address.family ? net_address_text(&a->entries[i].address, text) : "-",
            (int)a->entries[i].owner.len, (const char *)a->entries[i].owner.data);
    say(".");
    return 0;
}

#define NFS3 "\0\1\x86\xa3\0\0\0\3"

static const struct {
    const char *what;
    uint32_t version;
    enum portmap_what procedure;
    bool udp;
    const char *address;
    const char *arguments;
    size_t arguments_len;
    const char *results;
    size_t results_len;
    const char *said;
} portmaps[] = {
    { "GETPORT", 2, PORTMAP_GET, false, NULL, BYTES(NFS3 "\0\0\0\6\0\0\0\0"), BYTES("\0\0\x08\x01"),
      "0.0.0.0:2049." },
    { "GETPORT over UDP", 2, PORTMAP_GET, true, NULL, BYTES(NFS3 "\0\0\0\x11\0\0\0\0"),
      BYTES("\0\0\0\0"), "PORTMAP: the program is not registered." },
    { "GETPORT of no port", 2, PORTMAP_GET, false, NULL, BYTES(NFS3 "\0\0\0\6\0\0\0\0"),
      BYTES("\0\1\0\0"), "PORTMAP: a port above 65535." },
    { "SET 2", 2, PORTMAP_SET, false, "127.0.0.1:2049", BYTES(NFS3 "\0\0\0\6\0\0\x08\x01"),
      BYTES("\0\0\0\1"), "." },
    { "SET 2 refused", 2, PORTMAP_SET, false, "127.0.0.1:2049", BYTES(NFS3 "\0\0\0\6\0\0\x08\x01"),
      BYTES("\0\0\0\0"),
      "PORTMAP SET: refused: the program is registered already, or we may not register it." },
    { "UNSET 2", 2, PORTMAP_UNSET, false, "127.0.0.1:2049", BYTES(NFS3 "\0\0\0\6\0\0\0\0"),
      BYTES("\0\0\0\0"),
      "PORTMAP UNSET: refused: the program is not registered, or we may not change that." },
    { "UNSET 2, neither true nor false", 2, PORTMAP_UNSET, false, NULL,
      BYTES(NFS3 "\0\0\0\6\0\0\0\0"), BYTES("\0\0\0\2"),
      "PORTMAP UNSET: a malformed reply: PMAPPROC_UNSETres.answer: " },
    { "DUMP 2", 2, PORTMAP_DUMP, false, NULL, BYTES(""),
      BYTES(
          "\000\000\000\001\000\001\206\243\000\000\000\003\000\000\000\006\000\000\010\001\000\000"
          "\000\001\000\001\206\243\000\000\000\003\000\000\000\021\000\000\010\002\000\000\000\001"
          "\000\001\206\243\000\000\000\003\000\000\000\001\000\000\000\001\000\000\000\000"),
      "[100003 3 tcp 0.0.0.0:2049 ][100003 3 udp 0.0.0.0:2050 ][100003 3  0.0.0.0:1 ]." },
    { "DUMP 2 of nothing", 2, PORTMAP_DUMP, false, NULL, BYTES(""), BYTES("\0\0\0\0"), "." },
    { "GETADDR 3", 3, PORTMAP_GET, false, NULL,
      BYTES("\000\001\206\243\000\000\000\003\000\000\000\003tcp\000\000\000\000\000\000\000\000"
            "\000"),
      BYTES("\000\000\000\015192.0.2.1.8.1\000\000\000"), "192.0.2.1:2049." },
    { "GETADDR 4 over IPv6", 4, PORTMAP_GET, false, "[::1]:111",
      BYTES("\000\001\206\243\000\000\000\003\000\000\000\004tcp6\000\000\000\011::1.0."
            "111\000\000\000\000\000\000\000"),
      BYTES("\000\000\000\007::1.8.1\000"), "[::1]:2049." },
    { "GETADDR 3, none", 3, PORTMAP_GET, false, NULL,
      BYTES("\000\001\206\243\000\000\000\003\000\000\000\003tcp\000\000\000\000\000\000\000\000"
            "\000"),
      BYTES("\000\000\000\000"), "RPCBIND: the program is not registered." },
    { "GETADDR 3, of another transport", 3, PORTMAP_GET, false, NULL,
      BYTES("\000\001\206\243\000\000\000\003\000\000\000\003tcp\000\000\000\000\000\000\000\000"
            "\000"),
      BYTES("\000\000\000\004/run"), "RPCBIND: the answer is not an address of IPv4 or IPv6." },
    { "SET 4", 4, PORTMAP_SET, false, "127.0.0.1:2049",
      BYTES("\000\001\206\243\000\000\000\003\000\000\000\003tcp\000\000\000\000\015127.0.0.1.8."
            "1\000\000\000\000\000\000\002me\000\000"),
      BYTES("\000\000\000\001"), "." },
    { "DUMP 4", 4, PORTMAP_DUMP, false, NULL, BYTES(""),
      BYTES("\000\000\000\001\000\001\206\243\000\000\000\003\000\000\000\003tcp\000\000\000\000"
            "\0130.0.0.0.8."
            "1\000\000\000\000\004root\000\000\000\001\000\001\206\243\000\000\000\003\000\000\000"
            "\005local\000\000\000\000\000\000\006/run/x\000\000\000\000\000\000\000\000\000\000"),
      "[100003 3 tcp 0.0.0.0:2049 root][100003 3 local - ]." },
};

static void test_portmap(void **state)
{
    struct seen s;

    (void)state;
    prepare(&s, SOCK_STREAM);
    start(&s);
    for (size_t i = 0; i < sizeof(portmaps) / sizeof(*portmaps); i++) {
        struct portmap_question q = { .version = portmaps[i].version,
                                      .what = portmaps[i].procedure,
                                      .program = 100003,
                                      .program_version = 3,
                                      .udp = portmaps[i].udp };
        const char *want = portmaps[i].said;

        if (portmaps[i].procedure == PORTMAP_SET)
            q.owner = "me";
        if (portmaps[i].address &&
            net_address_parse(portmaps[i].address, true, &q.address, &err) < 0)
            fail_msg("%s", err.text);
        said[0] = '\0';
        if (portmap_call(s.client, &q, on_portmap, NULL, &err) != 0)
            fail_msg("%s: %s", portmaps[i].what, err.text);
        play(&s, portmaps[i].arguments, portmaps[i].arguments_len, portmaps[i].results,
             portmaps[i].results_len);
        if (want[strlen(want) - 1] == '.' ? strcmp(said, want) != 0
                                          : strncmp(said, want, strlen(want)) != 0)
            fail_msg("%s: \"%s\"", portmaps[i].what, said);
    }
    assert_int_equal(
        portmap_call(s.client,
                     &(struct portmap_question){
                         .version = 3, .what = PORTMAP_GET, .program = 100003, .udp = true },
                     on_portmap, NULL, &err),
        -ERR_USAGE);
    assert_string_equal(err.text, "RPCBIND says over TCP only what there is over TCP");
    assert_int_equal(
        portmap_call(s.client, &(struct portmap_question){ .version = 5 }, on_portmap, NULL, &err),
        -ERR_USAGE);
    finish(&s);
}

/* --- universal addresses */

static const struct {
    const char *text, *address; /* NULL: not one */
} universal[] = {
    { "192.0.2.1.8.1", "192.0.2.1:2049" },
    { "0.0.0.0.0.111", "0.0.0.0:111" },
    { "2001:db8::1.255.255", "[2001:db8::1]:65535" },
    { "::.0.1", "[::]:1" },
    { "::ffff:192.0.2.1.8.1", "[::ffff:192.0.2.1]:2049" },
    { "", NULL },
    { ".", NULL },
    { "8.1", NULL },
    { "192.0.2.1", NULL },
    { "192.0.2.1.8", NULL },
    { "192.0.2.1.8.", NULL },
    { "192.0.2.1.8.256", NULL },
    { "192.0.2.1.8.0001", NULL },
    { "192.0.2.1.-8.1", NULL },
    { "192.0.2.1.8.1 ", NULL },
    { "host.8.1", NULL },
    { "/run/rpcbind.sock", NULL },
    { "1111:2222:3333:4444:5555:6666:7777:8888:9999:0000:1111:2222:33.1.1", NULL },
};

static void test_universal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(universal) / sizeof(*universal); i++) {
        char text[NET_ADDRESS_TEXT], again[UNIVERSAL_ADDRESS_MAX];
        struct net_address address;
        bool is = universal_address_read((struct bytes){ (const uint8_t *)universal[i].text,
                                                         (uint32_t)strlen(universal[i].text) },
                                         &address);

        if (is != !!universal[i].address)
            fail_msg("%s", universal[i].text);
        if (is) {
            assert_string_equal(net_address_text(&address, text), universal[i].address);
            assert_string_equal(universal_address_text(&address, again), universal[i].text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mount),
        cmocka_unit_test(test_mount_refused),
        cmocka_unit_test(test_portmap),
        cmocka_unit_test(test_universal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
