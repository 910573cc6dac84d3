/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands before a dump's operations is read as it was written, and refused when it is wrong.
 */
#include "player_dump.h"
#include "base/bytes.h"
#include "player/script.h"
#include "wire/rpc_put.h"

#include <fcntl.h>
#include <pthread.h>

static void put_small(struct dump *d, union rdump_record *records)
{
    enum rdump_kind kinds[16];
    union rdump_record unchanged[16];
    size_t count = sample_small(unchanged, kinds);

    dump_begin(d);
    for (size_t i = 0; i + 1 < count; i++)
        dump_put(d, kinds[i], records ? &records[i] : &unchanged[i]);
    dump_end(d);
}

static void opens(struct script *script, const char *path)
{
    struct err err = { 0 };

    if (script_open(script, path, &err) < 0)
        fail_msg("%s", err.text);
}

static void refuses(const char *path, const char *words)
{
    struct script script;
    struct err err = { 0 };

    assert_int_equal(script_open(&script, path, &err), -ERR_INPUT);
    assert_int_equal(err.code, ERR_INPUT);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    script_close(&script); /* allowed */
}

static bool is_text(struct bytes bytes, const char *text)
{
    return bytes.len == strlen(text) && (!bytes.len || !memcmp(bytes.data, text, bytes.len));
}

static void small(void **state)
{
    const struct rdump_operation *first;
    struct script s;
    struct dump d;

    (void)state;
    put_small(&d, NULL);
    opens(&s, d.path);
    assert_true(is_text(s.trace.tool, "nfsdigest 0.2.0"));
    assert_int_equal(s.trace.horizon, 262144);
    assert_int_equal(s.host_count, 2);
    assert_true(is_text(s.hosts[1].address, "192.0.2.1"));
    assert_true(is_text(s.hosts[2].address, "192.0.2.2"));
    assert_false(s.hosts[1].is_server);
    assert_true(s.hosts[2].is_server);
    assert_int_equal(s.object_count, 2);
    assert_int_equal(s.objects[1].size, 4096);
    assert_true(is_text(s.objects[0].root, "/export"));
    assert_int_equal(s.entry_count, 1);
    assert_true(is_text(s.entries[0].name, "hi"));
    assert_int_equal(s.entries[0].object, 2);
    assert_int_equal(s.first_kind, RDUMP_OPERATION);
    first = s.first;
    assert_int_equal(first->source, 1);
    assert_int_equal(first->arguments.len, 16);
    script_drop_tree(&s);
    assert_null(s.objects);
    assert_true(is_text(s.hosts[2].address, "192.0.2.2"));
    assert_int_equal(first->forget[0], 2);
    script_close(&s);
    script_close(&s);
    dump_free(&d);
}

/* As rpc_put_auth would have written it from its parts. */
static void credentials(void **state)
{
    static const uint8_t gids[] = { 0, 0, 0, 100, 0, 0, 0, 4 };
    const struct rdump_trace trace = { .horizon = 1, .fine = 1, .copies = 1 };
    const struct rdump_credential sys = { 7, 1, 1000, 100, { gids, 8 }, sample_text("pc") };
    const struct rdump_credential gss = { .number = 4000000000, .flavor = 6 };
    const struct rpc_auth parts = { .flavor = RPC_AUTH_SYS,
                                    .valid = true,
                                    .machine = sample_text("pc"),
                                    .uid = 1000,
                                    .gid = 100,
                                    .gid_count = 2,
                                    .gids = { 100, 4 } };
    static const uint8_t none[16]; /* flavor and length of credential and verifier */
    struct buf expected = { 0 };
    struct xdr_put to_expected = xdr_put_to(&expected, 1000);
    struct bytes got;
    struct script s;
    struct dump d;

    (void)state;
    dump_begin(&d);
    dump_put(&d, RDUMP_TRACE, &trace);
    dump_put(&d, RDUMP_CREDENTIAL, &sys);
    dump_put(&d, RDUMP_CREDENTIAL, &gss);
    dump_end(&d);
    opens(&s, d.path);
    assert_int_equal(s.credential_count, 2);
    assert_int_equal(s.credentials[0].encoded.len, 16);
    assert_memory_equal(s.credentials[0].encoded.data, none, 16);
    assert_int_equal(s.credentials[1].number, 7);
    assert_int_equal(s.credentials[1].uid, 1000);
    rpc_put_auth(&to_expected, &parts);
    rpc_put_auth(&to_expected, &(struct rpc_auth){ 0 });
    got = s.credentials[1].encoded;
    assert_int_equal(got.len, expected.len);
    assert_memory_equal(got.data, expected.data, got.len);
    assert_int_equal(s.credentials[2].number, 4000000000);
    assert_int_equal(s.credentials[2].flavor, 6);
    assert_int_equal(s.credentials[2].encoded.len, 16);
    assert_memory_equal(s.credentials[2].encoded.data, none, 16);
    assert_int_equal(s.first_kind, RDUMP_END);
    script_close(&s);
    dump_free(&d);
    buf_free(&expected);
}

static uint64_t identity_of(union rdump_record *records)
{
    struct script s;
    struct dump d;
    uint64_t identity;

    put_small(&d, records);
    opens(&s, d.path);
    identity = s.identity;
    script_close(&s);
    dump_free(&d);
    return identity;
}

static void identities(void **state)
{
    union rdump_record records[16];
    enum rdump_kind kinds[16];
    uint64_t same = identity_of(NULL);

    (void)state;
    sample_small(records, kinds);
    assert_int_equal(identity_of(records), same);
    for (size_t i = 0; i < 16 && kinds[i] != RDUMP_END; i++) {
        bool is_of_tree = kinds[i] != RDUMP_CREDENTIAL && kinds[i] != RDUMP_OPERATION;

        sample_small(records, kinds);
        switch (kinds[i]) {
        case RDUMP_TRACE:
            records[i].trace.time++;
            break;
        case RDUMP_HOST:
            records[i].host.address.len--;
            break;
        case RDUMP_CREDENTIAL:
            records[i].credential.uid++;
            break;
        case RDUMP_OBJECT:
            records[i].object.mode ^= 1;
            break;
        case RDUMP_ENTRY:
            records[i].entry.name.len--;
            break;
        default:
            records[i].operation.status++;
        }
        assert_int_equal(identity_of(records) != same, is_of_tree);
    }
}

/* Each change of the right dump is refused with these words. */
static void refusals(void **state)
{
    union rdump_record r[16];
    enum rdump_kind kinds[16];
    uint8_t gids[68] = { 0 };
    char name[400];
    struct dump d;

    (void)state;
    memset(name, 'm', sizeof(name));
#define REFUSES(words, ...)                                                                        \
    do {                                                                                           \
        sample_small(r, kinds);                                                                    \
        __VA_ARGS__;                                                                               \
        put_small(&d, r);                                                                          \
        refuses(d.path, words);                                                                    \
        dump_free(&d);                                                                             \
    } while (0)
    REFUSES("horizon is 0", r[0].trace.horizon = 0);
    REFUSES("has number 9, not 2", r[2].host.number = 9);
    REFUSES("17 groups", r[3].credential.gids = (struct bytes){ gids, 68 });
    REFUSES("machine's name has 400 bytes",
            r[3].credential.machine = (struct bytes){ (uint8_t *)name, 400 });
    REFUSES("object 2: has number 3, not 2", r[5].object.number = 3);
    REFUSES("is on host 3 of 2", r[5].object.server = 3);
    REFUSES("is on host 0 of 2", r[5].object.server = 0);
    REFUSES("object 7, which is not there", r[6].entry.object = 7);
    REFUSES("below itself", r[6].entry.object = 1);
    REFUSES("not possible", r[6].entry.name = sample_text(".."));
    sample_small(r, kinds);
    dump_begin(&d);
    dump_put(&d, RDUMP_OPERATION, &r[7]);
    dump_end(&d);
    refuses(d.path, "its first record is not the trace");
    dump_free(&d);
    put_small(&d, NULL);
    d.data.data[d.data.len - 9] ^= 1;
    dump_cut(&d, d.data.len);
    refuses(d.path, "wrong checksum");
    dump_cut(&d, d.data.len - 9);
    refuses(d.path, "truncated");
    dump_free(&d);
    refuses("/nonexistent/dump", "cannot be read");
}

struct late {
    const struct buf *data;
    int fd;
};

static void *write_late(void *ctx)
{
    struct late *late = ctx;

    for (size_t at = 0; at < late->data->len; at++)
        assert_int_equal(write(late->fd, late->data->data + at, 1), 1);
    close(late->fd);
    return NULL;
}

static void from_a_pipe(void **state)
{
    struct late late;
    struct script s;
    struct dump d;
    pthread_t thread;
    char path[64];
    int fds[2];

    (void)state;
    put_small(&d, NULL);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
    late = (struct late){ &d.data, fds[1] };
    assert_int_equal(pthread_create(&thread, NULL, write_late, &late), 0);
    opens(&s, path);
    assert_int_equal(s.object_count, 2);
    pthread_join(thread, NULL);
    script_close(&s);
    close(fds[0]);
    dump_free(&d);
}

/* A tree of many objects and names against what was written. */
static void a_larger_tree(void **state)
{
    enum { OBJECTS = 30000 };
    struct script s;
    struct dump d;
    char name[16];

    (void)state;
    dump_begin_small(&d, 4);
    for (uint32_t n = 2; n <= OBJECTS; n++) {
        struct rdump_object object = { .number = n, .server = 2, .type = n < 100 ? 2 : 5 };

        snprintf(name, sizeof(name), "text %u", n);
        object.link = n < 100 ? (struct bytes){ 0 } : sample_text(name);
        dump_put(&d, RDUMP_OBJECT, &object);
    }
    for (uint32_t n = 2; n <= OBJECTS; n++) {
        struct rdump_entry entry = { n < 100 ? n - 1 : 1 + n % 99, n, { 0 } };

        snprintf(name, sizeof(name), "n%u", n);
        entry.name = sample_text(name);
        dump_put(&d, RDUMP_ENTRY, &entry);
    }
    dump_end(&d);
    opens(&s, d.path);
    assert_int_equal(s.object_count, OBJECTS);
    assert_int_equal(s.entry_count, OBJECTS - 1);
    for (uint32_t n = 2; n <= OBJECTS; n++) {
        assert_int_equal(s.objects[n - 1].number, n);
        snprintf(name, sizeof(name), "text %u", n);
        assert_true(is_text(s.objects[n - 1].link, n < 100 ? "" : name));
        snprintf(name, sizeof(name), "n%u", n);
        assert_true(is_text(s.entries[n - 2].name, name));
        assert_int_equal(s.entries[n - 2].object, n);
    }
    script_close(&s);
    dump_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small),    cmocka_unit_test(credentials),   cmocka_unit_test(identities),
        cmocka_unit_test(refusals), cmocka_unit_test(a_larger_tree), cmocka_unit_test(from_a_pipe),
    };

    wire_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
