/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_net_fault.c
 *
 * Faults: what is read and printed, what is refused and with which words, which requests meet a
 * rule, and what rules together come to.
 */
#include "net/control_parts.h"
#include "net/fault_control.c"
#include "wire/nfs3_numbers.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cmocka.h>

static struct err err;

static struct faults *with(const char *rule)
{
    struct faults *faults = faults_new(1, &err);

    assert_non_null(faults);
    if (faults_add(faults, rule, NULL, &err) < 0)
        fail_msg("%s: %s", rule, err.text);
    return faults;
}

/* --- texts */

static const struct {
    const char *given, *printed; /* NULL: the same */
} good[] = {
    { "READ:delay=250ms", NULL },
    { "READ:path=/a/*:client=192.0.2.7:delay=250ms:p=0.01:count=5", NULL },
    { "*:drop", NULL },
    { "NFS.*:close", NULL },
    { "MOUNT.*:ignore", NULL },
    { "MOUNT.MNT:status=MNT3ERR_ACCES", NULL },
    { "MNT:status=13", "MNT:status=MNT3ERR_ACCES" },
    { "GETACL:status=NFS3ERR_NOTSUPP", NULL },
    { "WRITE:status=28", "WRITE:status=NFS3ERR_NOSPC" },
    { "WRITE:status=4711", NULL },
    { "*:status=NFS3ERR_JUKEBOX", NULL },
    { "NULL:rpc-status=SYSTEM_ERR", NULL },
    { "READ:delay=0.25s", "READ:delay=250ms" },
    { "READ:delay=90", "READ:delay=90s" },
    { "READ:delay=120s", "READ:delay=2m" },
    { "READ:delay=1500us", NULL },
    { "READ:delay=0", "READ:delay=0s" },
    { "READ:shift-times=-1s", NULL },
    { "READ:drop:p=1.000", "READ:drop:p=1" },
    { "READ:drop:p=0.000000001", NULL },
    { "READ:drop:every=3:after=10:count=1:uid=0", NULL },
    { "READ:client=10.1.2.3/8:drop", "READ:client=10.0.0.0/8:drop" },
    { "READ:client=0.0.0.0/0:drop", NULL },
    { "READ:client=[2001:db8::1]:drop", NULL },
    { "READ:client=[2001:DB8::1]/32:drop", "READ:client=[2001:db8::]/32:drop" },
    { "READ:client=[::ffff:192.0.2.1]:drop", "READ:client=192.0.2.1:drop" },
    { "READ:object=00FF:drop", "READ:object=00ff:drop" },
    { "READ:path=\\x3a\\\\*?:eof", NULL },
    { "READ:path=/[a:eof", NULL },
    { "READ:eof:short:wrong-bytes", NULL },
    { "READDIR:eof:skip-entry:twice-entry:cookie-verifier", NULL },
    { "WRITE:verifier:lose-unstable:committed=FILE_SYNC:before-current:no-before", NULL },
    { "COMMIT:verifier", NULL },
    { "CREATE:no-handle:handle:no-attributes", NULL },
    { "GETATTR:mode-bits=170000:no-atime:keep-times:link-count:size:fileid:fsid", NULL },
    { "GETATTR:mode-bits=0777", "GETATTR:mode-bits=777" },
    { "LOOKUP:twice:forget:malformed", NULL },
};

static void test_good(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        struct faults *faults = with(good[i].given), *again;
        const char *text = faults_info(faults, 0).text;

        assert_string_equal(text, good[i].printed ? good[i].printed : good[i].given);
        again = with(text);
        assert_string_equal(faults_info(again, 0).text, text);
        faults_free(again);
        faults_free(faults);
    }
}

static const struct {
    const char *given, *message;
} bad[] = {
    { "", "\"\" is not a procedure of NFS, MOUNT or NFSACL: READ, MOUNT.MNT, NFS.* or *" },
    { "REED:drop", "\"REED\" is not a procedure of NFS, MOUNT or NFSACL: READ, MOUNT.MNT, NFS.* "
                   "or *" },
    { "read:drop", "\"read\" is not a procedure" },
    { "MOUNT.READ:drop", "\"MOUNT.READ\" is not a procedure" },
    { "NLM.*:drop", "\"NLM.*\" is not a procedure" },
    { "READ", "\"READ\" has no effect: add one" },
    { "READ:path=/a", "\"READ:path=/a\" has no effect" },
    { "READ:", "\"\" is neither a condition nor an effect of a fault" },
    { "READ:dorp", "\"dorp\" is neither a condition nor an effect of a fault" },
    { "READ:drop:drop", "drop: given twice" },
    { "READ:drop=1", "drop: takes no value" },
    { "READ:delay", "delay: a value is missing: delay=TIME" },
    { "READ:delay=", "delay: a value is missing: delay=TIME" },
    { "READ:delay=soon", "delay: \"soon\" is not a time such as 250ms" },
    { "READ:delay=-1s", "delay: \"-1s\" is not a time such as 250ms" },
    { "READ:shift-times=x", "shift-times: \"x\" is not a time such as 250ms or -1s" },
    { "READ:drop:p=0", "p: \"0\" is not a probability, above 0 and at most 1" },
    { "READ:drop:p=1.1", "p: \"1.1\" is not a probability" },
    { "READ:drop:p=1ms", "p: \"1ms\" is not a probability" },
    { "READ:drop:p=-0.5", "p: \"-0.5\" is not a probability" },
    { "READ:drop:count=0", "count: \"0\" is not a number from 1" },
    { "READ:drop:every=0", "every: \"0\" is not a number from 1" },
    { "READ:drop:after=x", "after: \"x\" is not a number" },
    { "READ:drop:uid=4294967296", "uid: \"4294967296\" is not a number" },
    { "GETATTR:mode-bits=8", "mode-bits: \"8\" is not an octal number above 0" },
    { "GETATTR:mode-bits=0", "mode-bits: \"0\" is not an octal number above 0" },
    { "READ:status=NFS4ERR_IO", "status: \"NFS4ERR_IO\" is neither a number nor a name that READ "
                                "has" },
    { "READ:status=MNT3ERR_ACCES", "status: \"MNT3ERR_ACCES\" is neither" },
    { "READ:status=4294967296", "status: \"4294967296\" is neither" },
    { "READ:rpc-status=13", "rpc-status: \"13\" is not one of PROG_UNAVAIL, PROG_MISMATCH" },
    { "READ:client=host:drop", "client: \"host\" is not an address: ADDR or ADDR/BITS" },
    { "READ:client=::1:drop", "client: a value is missing" },
    { "READ:client=[::1:drop", "client: \"[::1:drop\" is not an address" },
    { "READ:client=[::1]x:drop", "client: \"[::1]x\" is not an address" },
    { "READ:client=10.0.0.0/33:drop", "client: \"33\" is not a number of bits from 0 to 32" },
    { "READ:client=[::]/129:drop", "client: \"129\" is not a number of bits from 0 to 128" },
    { "READ:object=abc:drop", "object: a handle has 1 to 64 bytes of two hexadecimal digits each" },
    { "READ:object=xy:drop", "object: \"xy\" is not a byte in hexadecimal digits" },
    { "READ:path=a\\:drop", "path: after a backslash stands another one, or xNN" },
    { "GETATTR:eof", "eof: no reply of GETATTR has what it needs" },
    { "GETATTR:no-attributes", "no-attributes: no reply of GETATTR has what it needs" },
    { "READ:verifier", "verifier: no reply of READ has what it needs" },
    { "NULL:status=5", "status: no reply of NULL has what it needs" },
    { "NULL:malformed", "malformed: no reply of NULL has what it needs" },
    { "REMOVE:no-handle", "no-handle: no reply of REMOVE has what it needs" },
};

static void test_bad(void **state)
{
    struct faults *faults = faults_new(1, &err);

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        if (faults_add(faults, bad[i].given, NULL, &err) != -ERR_USAGE)
            fail_msg("%s: accepted", bad[i].given);
        if (strncmp(err.text, "fault: ", 7) != 0 ||
            strncmp(err.text + 7, bad[i].message, strlen(bad[i].message)) != 0)
            fail_msg("%s: \"%s\"", bad[i].given, err.text);
    }
    assert_int_equal(faults_count(faults), 0);
    faults_free(faults);
}

static void test_long(void **state)
{
    struct faults *faults = faults_new(1, &err);
    char text[FAULT_TEXT_MAX + 100];

    (void)state;
    for (int len = 400; len < FAULT_TEXT_MAX; len++) { /* with a status that grows */
        snprintf(text, sizeof(text), "READ:status=63:drop:path=%0*d", len, 1);
        if (faults_add(faults, text, NULL, &err) == 0) {
            struct faults *again = with(faults_info(faults, 0).text);

            faults_free(again);
            faults_clear(faults);
        } else {
            assert_string_equal(err.text, "fault: a fault has at most 511 bytes");
        }
    }
    faults_free(faults);
}

/* --- conditions */

static struct sockaddr_storage address(const char *text)
{
    struct sockaddr_storage to = { 0 };
    struct sockaddr_in *v4 = (void *)&to;
    struct sockaddr_in6 *v6 = (void *)&to;

    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
        to.ss_family = AF_INET;
    else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
        to.ss_family = AF_INET6;
    return to;
}

static const struct {
    const char *rule;
    uint32_t program, procedure;
    const char *path, *client;
    int64_t uid;        /* -1: none */
    const char *object; /* bytes */
    bool hit;
} requests[] = {
    { "READ:drop", NFS3_PROGRAM, 6, NULL, NULL, -1, NULL, true },
    { "READ:drop", NFS3_PROGRAM, 7, NULL, NULL, -1, NULL, false },
    { "READ:drop", MOUNT_PROGRAM, 6, NULL, NULL, -1, NULL, false },
    { "READ:drop", 100021, 6, NULL, NULL, -1, NULL, false },
    { "READ:drop", NFS3_PROGRAM, 6 + 64, NULL, NULL, -1, NULL, false },
    { "NULL:drop", NFSACL_PROGRAM, 0, NULL, NULL, -1, NULL, true },
    { "NFS.NULL:drop", NFSACL_PROGRAM, 0, NULL, NULL, -1, NULL, false },
    { "MOUNT.*:drop", MOUNT_PROGRAM, 5, NULL, NULL, -1, NULL, true },
    { "*:drop", NFS3_PROGRAM, 21, NULL, NULL, -1, NULL, true },
    { "*:drop", NFS3_PROGRAM, 22, NULL, NULL, -1, NULL, false },
    { "READ:path=/a/*:drop", NFS3_PROGRAM, 6, "/a/b/c", NULL, -1, NULL, true },
    { "READ:path=/a/*:drop", NFS3_PROGRAM, 6, "/a/", NULL, -1, NULL, true },
    { "READ:path=/a/*:drop", NFS3_PROGRAM, 6, "/a", NULL, -1, NULL, false },
    { "READ:path=/a/*:drop", NFS3_PROGRAM, 6, NULL, NULL, -1, NULL, false },
    { "READ:path=*.c*x:drop", NFS3_PROGRAM, 6, "/a.cc.cyx", NULL, -1, NULL, true },
    { "READ:path=*.c*x:drop", NFS3_PROGRAM, 6, "/a.cc.cyxy", NULL, -1, NULL, false },
    { "READ:path=?a:drop", NFS3_PROGRAM, 6, "/a", NULL, -1, NULL, true },
    { "READ:path=?a:drop", NFS3_PROGRAM, 6, "a", NULL, -1, NULL, false },
    { "READ:path=/\\x2a\\x3a:drop", NFS3_PROGRAM, 6, "/*:", NULL, -1, NULL, true },
    { "READ:path=/\\x2a:drop", NFS3_PROGRAM, 6, "/a", NULL, -1, NULL, false },
    { "READ:path=\\xff:drop", NFS3_PROGRAM, 6, "\xff", NULL, -1, NULL, true },
    { "READ:client=192.0.2.7:drop", NFS3_PROGRAM, 6, NULL, "192.0.2.7", -1, NULL, true },
    { "READ:client=192.0.2.7:drop", NFS3_PROGRAM, 6, NULL, "192.0.2.6", -1, NULL, false },
    { "READ:client=192.0.2.7:drop", NFS3_PROGRAM, 6, NULL, "::ffff:192.0.2.7", -1, NULL, true },
    { "READ:client=192.0.2.7:drop", NFS3_PROGRAM, 6, NULL, NULL, -1, NULL, false },
    { "READ:client=192.0.0.0/15:drop", NFS3_PROGRAM, 6, NULL, "192.1.2.7", -1, NULL, true },
    { "READ:client=192.0.0.0/15:drop", NFS3_PROGRAM, 6, NULL, "192.2.2.7", -1, NULL, false },
    { "READ:client=[fe80::]/10:drop", NFS3_PROGRAM, 6, NULL, "febf::1", -1, NULL, true },
    { "READ:client=[fe80::]/10:drop", NFS3_PROGRAM, 6, NULL, "fec0::1", -1, NULL, false },
    { "READ:client=[::]/0:drop", NFS3_PROGRAM, 6, NULL, "10.0.0.1", -1, NULL, true },
    { "READ:client=0.0.0.0/0:drop", NFS3_PROGRAM, 6, NULL, "fec0::1", -1, NULL, false },
    { "READ:uid=7:drop", NFS3_PROGRAM, 6, NULL, NULL, 7, NULL, true },
    { "READ:uid=7:drop", NFS3_PROGRAM, 6, NULL, NULL, 8, NULL, false },
    { "READ:uid=0:drop", NFS3_PROGRAM, 6, NULL, NULL, -1, NULL, false },
    { "READ:object=4142:drop", NFS3_PROGRAM, 6, NULL, NULL, -1, "AB", true },
    { "READ:object=4142:drop", NFS3_PROGRAM, 6, NULL, NULL, -1, "ABC", false },
    { "READ:object=4142:drop", NFS3_PROGRAM, 6, NULL, NULL, -1, "AC", false },
    { "READ:object=4142:uid=7:drop", NFS3_PROGRAM, 6, NULL, NULL, 7, "AB", true },
    { "READ:object=4142:uid=7:drop", NFS3_PROGRAM, 6, NULL, NULL, 6, "AB", false },
};

static void test_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++) {
        struct faults *faults = with(requests[i].rule);
        struct sockaddr_storage client;
        struct fault_request request = { .program = requests[i].program,
                                         .procedure = requests[i].procedure,
                                         .path = requests[i].path };
        struct fault_effects effects;

        if (request.path)
            request.path_len = (uint32_t)strlen(request.path);
        if (requests[i].client) {
            client = address(requests[i].client);
            request.client = (struct sockaddr *)&client;
        }
        request.has_uid = requests[i].uid >= 0;
        request.uid = request.has_uid ? (uint32_t)requests[i].uid : 0;
        if (requests[i].object)
            request.object = (struct bytes){ (const uint8_t *)requests[i].object,
                                             (uint32_t)strlen(requests[i].object) };
        if (faults_apply(faults, &request, &effects) != requests[i].hit)
            fail_msg("%zu: %s", i, requests[i].rule);
        assert_int_equal(effects.set, requests[i].hit ? UINT64_C(1) << FAULT_DROP : 0);
        assert_int_equal(faults_info(faults, 0).hits, requests[i].hit);
        if (requests[i].hit)
            assert_true(faults_concern(faults, request.program, request.procedure));
        faults_free(faults);
    }
}

/* --- turns */

static const struct {
    const char *rule, *turns; /* of 16 requests */
} turns[] = {
    { "READ:drop", "xxxxxxxxxxxxxxxx" },
    { "READ:drop:count=3", "xxx............." },
    { "READ:drop:after=3", "...xxxxxxxxxxxxx" },
    { "READ:drop:every=4", "...x...x...x...x" },
    { "READ:drop:every=4:after=2", ".....x...x...x.." },
    { "READ:drop:every=4:count=2", "...x...x........" },
    { "READ:drop:every=2:after=1:count=3", "..x.x.x........." },
    { "READ:drop:p=1", "xxxxxxxxxxxxxxxx" },
};

static void turns_of(struct faults *faults, char text[17])
{
    struct fault_request request = { .program = NFS3_PROGRAM, .procedure = 6 };
    struct fault_effects effects;

    for (int i = 0; i < 16; i++)
        text[i] = faults_apply(faults, &request, &effects) ? 'x' : '.';
    text[16] = '\0';
}

static void test_turns(void **state)
{
    char text[17];

    (void)state;
    for (size_t i = 0; i < sizeof(turns) / sizeof(*turns); i++) {
        struct faults *faults = with(turns[i].rule);

        turns_of(faults, text);
        assert_string_equal(text, turns[i].turns);
        assert_int_equal(faults_info(faults, 0).requests, 16);
        faults_free(faults);
    }
}

/* The share of hits is that of the rule; runs repeat, seeds and rules differ, and a rule's dice do
 * not depend on other rules. */
static void test_dice(void **state)
{
    struct faults *faults = with("READ:drop:p=0.3"), *again = faults_new(1, &err);
    struct faults *other = faults_new(2, &err);
    struct fault_request request = { .program = NFS3_PROGRAM, .procedure = 6 };
    struct fault_effects effects;
    uint32_t hits = 0, same = 0;

    (void)state;
    faults_add(again, "READ:delay=1s:p=0.5", NULL, &err);
    faults_add(again, "READ:drop:p=0.3", NULL, &err);
    faults_add(other, "READ:drop:p=0.3", NULL, &err);
    for (int i = 0; i < 100000; i++) {
        bool hit = faults_apply(faults, &request, &effects);

        hits += hit;
        faults_apply(again, &request, &effects);
        assert_int_equal(fault_has(&effects, FAULT_DROP), hit);
        same += faults_apply(other, &request, &effects) == hit;
    }
    /* ten standard deviations of a binomial distribution: 145 each */
    assert_in_range(hits, 30000 - 1450, 30000 + 1450);
    assert_in_range(same, 58000 - 1560, 58000 + 1560); /* 0.3^2 + 0.7^2 */
    faults_free(faults);
    faults_free(again);
    faults_free(other);
}

/* --- several rules */

static void test_together(void **state)
{
    struct faults *faults = faults_new(1, &err);
    struct fault_request request = { .program = NFS3_PROGRAM, .procedure = 6 };
    struct fault_effects effects;
    uint32_t first, second, third;

    (void)state;
    assert_int_equal(faults_add(faults, "READ:delay=1s:status=5:mode-bits=7", &first, &err), 0);
    assert_int_equal(faults_add(faults, "*:delay=2s:status=13:mode-bits=5", &second, &err), 0);
    assert_int_equal(faults_add(faults, "WRITE:drop", &third, &err), 0);
    assert_true(faults_apply(faults, &request, &effects));
    assert_int_equal(effects.value[FAULT_DELAY], INT64_C(3000000000));
    assert_int_equal(effects.value[FAULT_STATUS], NFS3ERR_IO);
    assert_int_equal(effects.value[FAULT_MODE_BITS], 2);
    assert_false(fault_has(&effects, FAULT_DROP));

    assert_int_equal(faults_remove(faults, first, &err), 0);
    assert_int_equal(faults_remove(faults, first, &err), -ERR_USAGE);
    assert_string_equal(err.text, "there is no fault of number 1");
    assert_true(faults_apply(faults, &request, &effects));
    assert_int_equal(effects.value[FAULT_STATUS], NFS3ERR_ACCES);
    assert_int_equal(faults_info(faults, 0).hits, 2);
    assert_int_equal(faults_remove(faults, second, &err), 0);
    assert_false(faults_concern(faults, NFS3_PROGRAM, 6));
    assert_true(faults_concern(faults, NFS3_PROGRAM, 7));
    assert_false(faults_apply(faults, &request, &effects));
    assert_int_equal(faults_add(faults, "READ:drop", &first, &err), 0);
    assert_int_equal(first, 4); /* numbers do not come again */
    faults_clear(faults);
    assert_int_equal(faults_count(faults), 0);
    faults_free(faults);
}

static void test_bound(void **state)
{
    struct faults *faults = faults_new(1, &err);

    (void)state;
    for (int i = 0; i < FAULTS_MAX; i++)
        assert_int_equal(faults_add(faults, "READ:drop", NULL, &err), 0);
    assert_int_equal(faults_add(faults, "READ:drop", NULL, &err), -ERR_USAGE);
    assert_string_equal(err.text, "there are 256 faults already: remove one");
    faults_free(faults);
}

/* The help has each word once. */
static void test_help(void **state)
{
    struct buf help = { 0 };
    uint32_t lines = 0;

    (void)state;
    assert_int_equal(fault_help(NULL, &help), 0);
    assert_int_equal(buf_append(&help, "", 1), 0);
    for (const uint8_t *p = help.data; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 2 + FAULT_EFFECTS + 8);
    assert_non_null(strstr((char *)help.data, "\n  delay=TIME          answer that much later\n"));
    assert_ptr_equal(strstr((char *)help.data, "conditions:\n"), help.data);
    buf_free(&help);
}

/* --- by a control socket */

static const struct {
    const char *line, *answer;
} lines[] = {
    { "fault-add READ:delay=0.5s", "{\"ok\":true,\"number\":1,\"rule\":\"READ:delay=500ms\"}" },
    { "{\"command\":\"fault-add\",\"rule\":\"WRITE:drop\"}",
      "{\"ok\":true,\"number\":2,\"rule\":\"WRITE:drop\"}" },
    { "fault-add READ:dorp",
      "{\"error\":\"fault: \\\"dorp\\\" is neither a condition nor an effect of a fault\"}" },
    { "fault-list", "{\"ok\":true,\"faults\":[{\"number\":1,\"rule\":\"READ:delay=500ms\","
                    "\"requests\":0,\"hits\":0},{\"number\":2,\"rule\":\"WRITE:drop\","
                    "\"requests\":0,\"hits\":0}]}" },
    { "fault-remove 1", "{\"ok\":true}" },
    { "fault-remove 1", "{\"error\":\"there is no fault of number 1\"}" },
    { "fault-remove x", "{\"error\":\"fault-remove: \\\"x\\\" is not a fault's number\"}" },
    { "fault-clear", "{\"ok\":true,\"removed\":1}" },
    { "fault-list", "{\"ok\":true,\"faults\":[]}" },
    { "fault-help", "{\"ok\":true,\"words\":[\"conditions:\"," },
};

/* The commands, with a table in the place of a socket's. */
static struct control_commands added;

int control_add(struct control *control, const struct control_command *commands, uint32_t count,
                void *ctx, struct err *e)
{
    static struct control_table table;

    (void)control;
    (void)e;
    table = (struct control_table){ commands, count, ctx };
    added = (struct control_commands){ &table, 1, 1 };
    return 0;
}

static void test_commands(void **state)
{
    struct faults *faults = faults_new(1, &err);

    (void)state;
    assert_int_equal(fault_control_add(NULL, faults, &err), 0);
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        struct buf out = { 0 };
        char line[100];
        size_t len = strlen(lines[i].answer);

        snprintf(line, sizeof(line), "%s", lines[i].line);
        assert_int_equal(control_line(&added, line, strlen(line), &out), 0);
        assert_true(out.len > len);
        if (lines[i].answer[len - 1] == '}')
            assert_int_equal(out.len, len + 1);
        out.data[len] = '\0';
        assert_string_equal(out.data, lines[i].answer);
        buf_free(&out);
    }
    faults_free(faults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),     cmocka_unit_test(test_bad),   cmocka_unit_test(test_long),
        cmocka_unit_test(test_requests), cmocka_unit_test(test_turns), cmocka_unit_test(test_dice),
        cmocka_unit_test(test_together), cmocka_unit_test(test_bound), cmocka_unit_test(test_help),
        cmocka_unit_test(test_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
