/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: model */
/* Rules of comparing: every field has one, later ones override, errors name file and line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "judge/explanations.h"
#include "rules/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct err err;

static const char *builtin(const char *name)
{
    for (const struct rules_builtin *b = rules_builtins; b->name; b++)
        if (strcmp(b->name, name) == 0)
            return b->text;
    fail_msg("no built-in %s", name);
    return NULL;
}

/* default, and |text| on top of it. */
static struct rules *with(const char *text)
{
    const char *const names[] = { "default", "mine.conf" };
    const char *const texts[] = { builtin("default"), text };
    struct rules *rules;

    if (rules_read(names, texts, 2, &rules, &err) < 0)
        fail_msg("%s", err.text);
    return rules;
}

static void refused(const char *text, const char *message)
{
    const char *const names[] = { "default", "mine.conf" };
    const char *const texts[] = { builtin("default"), text };
    struct rules *rules;

    assert_int_equal(rules_read(names, texts, 2, &rules, &err), -ERR_USAGE);
    assert_null(rules);
    if (!strstr(err.text, message))
        fail_msg("\"%s\" does not say \"%s\"", err.text, message);
}

struct search {
    const struct rules *rules;
    const char *path;
    struct rule_case given;
    const struct compare_rule *rule;
    unsigned results;
};

static int find(void *ctx, const struct field_place *place)
{
    struct search *s = ctx;
    const struct compare_rule **list, **last;

    if (!place->result || (s->path && strcmp(place->path, s->path) != 0))
        return 0;
    s->results++;
    list = rules_for(s->rules, place);
    assert_non_null(list);
    s->rule = rules_pick(list, &s->given);
    if (!s->rule || s->rule->kind == COMPARE_UNSET)
        fail_msg("%s has no rule", place->path);
    /* and one without a condition stands behind all others */
    for (last = list; *last && (*last)->has_case;)
        last++;
    assert_non_null(*last);
    free(list);
    return s->path != NULL;
}

static const struct compare_rule *rule_of(struct rules *rules, const char *path,
                                          struct rule_case given)
{
    struct search s = { .rules = rules, .path = path, .given = given };

    if (!wire_each_field(find, &s))
        fail_msg("no field %s", path);
    return s.rule;
}

static const struct rule_case anywhere;

static void test_every_field(void **state)
{
    struct search s = { .rules = with("") };

    (void)state;
    assert_int_equal(wire_each_field(find, &s), 0);
    assert_true(s.results > 900);
    rules_free((struct rules *)s.rules);
}

static void test_builtin(void **state)
{
    (void)state;
    for (const struct rules_builtin *b = rules_builtins; b->name; b++) {
        struct rules *rules;

        if (strcmp(b->name, "causes") == 0)
            continue;
        if (rules_load(&b->name, 1, &rules, &err) < 0)
            fail_msg("%s", err.text);
        rules_free(rules);
    }
}

static void test_order(void **state)
{
    struct rules *r = with("[classes]\nsize = tolerance 10\n[fields]\n"
                           "READ3res.*.size = ignored\n"
                           "READ3res.*.size = mask 0xff if type=NF3REG, status=NFS3_OK\n"
                           "*.eof = at-most if procedure=READDIR\n"
                           "*.eof = at-least if ref=1\n"
                           "*.mtime* = tolerance 1.5s\n*.nlink = tolerance 5%\n");
    static const char size[] = "READ3res.resok.file_attributes.size";
    struct rule_case file = { .has_type = true, .type = 1, .has_status = true };
    struct rule_case one = { .has_ref = true, .ref = 1 };
    const struct compare_rule *rule;

    (void)state;
    assert_int_equal(rule_of(r, size, anywhere)->kind, COMPARE_IGNORED);
    assert_int_equal(rule_of(r, size, file)->kind, COMPARE_MASK);
    assert_int_equal(rule_of(r, size, file)->amount, 0xff);
    file.status = 5;
    assert_int_equal(rule_of(r, size, file)->kind, COMPARE_IGNORED);
    /* of classes, where no field is meant */
    rule = rule_of(r, "FSINFO3res.resok.rtmax", anywhere);
    assert_int_equal(rule->kind, COMPARE_TOLERANCE);
    assert_int_equal(rule->amount, 10);
    assert_int_equal(rule->line, 2);
    assert_string_equal(r->files[rule->file].name, "mine.conf");
    assert_string_equal(rule->text, "[classes] size = tolerance 10");
    /* a field's rule of an earlier file comes before a class's of a later one */
    assert_int_equal(rule_of(r, "GETATTR3res.resok.obj_attributes.used", anywhere)->kind,
                     COMPARE_IGNORED);
    assert_int_equal(rule_of(r, "READ3res.resok.eof", anywhere)->kind, COMPARE_BITWISE);
    assert_int_equal(rule_of(r, "READ3res.resok.eof", one)->kind, COMPARE_AT_LEAST);
    assert_int_equal(rule_of(r, "READDIR3res.resok.reply.eof", anywhere)->kind, COMPARE_AT_MOST);
    rule = rule_of(r, "GETATTR3res.resok.obj_attributes.mtime.seconds", anywhere);
    assert_int_equal(rule->amount, 1500000000);
    rule = rule_of(r, "GETATTR3res.resok.obj_attributes.nlink", anywhere);
    assert_true(rule->percent && rule->amount == 500);
    rules_free(r);
}

static void test_events(void **state)
{
    struct rules *r = with("[messages]\nretransmissions = tolerance 3\ndisconnects = ignored\n");

    (void)state;
    assert_int_equal(rules_at(r, r->events[EVENT_RETRANSMISSION])->amount, 3);
    assert_int_equal(rules_at(r, r->events[EVENT_DISCONNECT])->kind, COMPARE_IGNORED);
    assert_int_equal(rules_at(r, r->events[EVENT_RPC_STATUS])->kind, COMPARE_BITWISE);
    rules_free(r);
}

static int count_request(void *ctx, const struct field_place *place)
{
    struct search *s = ctx;

    if (!place->result && strcmp(place->path, s->path) == 0)
        s->results = 1 + rules_request(s->rules, place);
    return 0;
}

static void test_requests(void **state)
{
    static const struct {
        const char *path;
        unsigned counts;
    } cases[] = {
        { "READ3args.offset", 1 },    { "READ3args.file", 0 },
        { "READDIR3args.cookie", 0 }, { "LOOKUP3args.what.name", 1 },
        { "READDIR3args.count", 0 },  { "WRITE3args.stable", 0 },
        { "MNT3args.dirpath", 0 },    { "SETATTR3args.new_attributes.mode.mode", 1 },
    };
    struct rules *r = with("[requests]\nWRITE3args.stable = ignored\n"), *plain = with("");

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct search s = { .rules = r, .path = cases[i].path };

        wire_each_field(count_request, &s);
        if (s.results != 1 + cases[i].counts)
            fail_msg("%s", cases[i].path);
    }
    /* what decides which requests are equal has a digest of its own */
    assert_string_not_equal(r->requests_digest, plain->requests_digest);
    rules_free(r);
    r = with("[classes]\nsize = ignored\n");
    assert_string_equal(r->requests_digest, plain->requests_digest);
    assert_string_not_equal(r->digest, plain->digest);
    rules_free(r);
    rules_free(plain);
}

static void test_errors(void **state)
{
    (void)state;
    refused("[classes]\n\nsize = bitwise\nsise = bitwise\n",
            "mine.conf:4: no such class: \"sise\"");
    refused("[fields]\nREAD3res.resok.oef = bitwise\n", "mine.conf:2: no field of a result");
    refused("[fields]\nREAD3args.offset = bitwise\n", "mine.conf:2: no field of a result");
    refused("[requests]\nREAD3res.resok.eof = ignored\n", "mine.conf:2: no field of arguments");
    refused("[classes]\nsize = about\n", "mine.conf:2: unknown kind \"about\"");
    refused("[classes]\nsize = tolerance\n", "mine.conf:2: tolerance:");
    refused("[classes]\nsize = tolerance 3kg\n", "mine.conf:2: tolerance:");
    refused("[classes]\nsize = mask -1\n", "mine.conf:2: mask:");
    refused("[classes]\nfsid = pattern\n", "mine.conf:2: pattern:");
    refused("[classes]\nfsid = bitwise 3\n", "mine.conf:2: bitwise takes no value");
    refused("[classes]\nsize = set\n", "mine.conf:2: set is for single fields");
    refused("[fields]\nREAD3res.resok.eof = set\n",
            "mine.conf:2: READ3res.resok.eof: set does not fit");
    refused("[fields]\nREAD3res.resok.data = mask 3\n", "mask does not fit");
    refused("[fields]\n*.eof = ignored if weather=fine\n", "unknown condition \"weather\"");
    refused("[fields]\n*.eof = ignored if weather=1\n",
            "mine.conf:2: unknown condition \"weather\"");
    refused("[fields]\n*.eof = ignored if procedure=RAED\n", "no such procedure: \"RAED\"");
    refused("[fields]\n*.eof = ignored if status\n", "NAME=VALUE");
    refused("[messages]\nlatency = bitwise\n", "mine.conf:2: unknown key \"latency\"");
    refused("[messages]\nrpc-status = mask 1\n", "mine.conf:2: rpc-status: mask does not fit");
    refused("[requests]\nsize = mask 1\n", "bitwise or ignored");
    refused("[colours]\n", "mine.conf:1: unknown section \"colours\"");
    refused("[rules]\ncolour = red\n", "mine.conf:2: unknown key \"colour\"");
    refused("size = bitwise\n", "mine.conf:1: \"size\" comes before the first [section]");
    refused("[classes\n", "mine.conf:1: a section's name ends with ']'");
    refused("[classes]\nsize\n", "mine.conf:2: expected a comment");
    refused("[classes]\nsize =\n", "mine.conf:2: key or value is missing");
    refused("[classes]\nsi\x01ze = bitwise\n", "mine.conf:2: a control character");
}

/* What is well-formed, but could never hold or would be taken for something else. */
static void test_groups(void **state)
{
    static const char eof[] = "READ3res.resok.eof";
    struct rules *r = with(
        "[fields]\nREAD3res.resok.eof = ignored if operation=NFS READ, difference=\"only ref\"\n"
        "*.mtime = ignored if difference=\"sut of this request, ref earlier\"\n"
        "*.nlink = ignored if when=no directory, operation=NFS *\n"
        "[messages]\nrpc-status = ignored if operation=\"NFSACL NULL\"\n"
        "disconnects = ignored if operation=\"\"\n"
        "[classes]\nuid = ignored if difference=sut larger\n");
    const struct {
        struct rule_found found;
        const char *rule; /* its key; NULL: none */
    } cases[] = {
        { { "NFS READ", eof, "only ref", "boolean", NULL, false }, eof },
        { { "NFS READ", eof, "only sut", "boolean", NULL, false }, NULL },
        { { "NFS WRITE", eof, "only ref", "boolean", NULL, false }, NULL },
        { { "NFS READ", eof, "only ref", NULL, NULL, true }, NULL },
        { { "NFS MKDIR", "MKDIR3res.resok.dir_wcc.after.mtime", "sut of this request, ref earlier",
            "time", NULL, false },
          "*.mtime" },
        { { "NFS MKDIR", "MKDIR3res.resok.dir_wcc.after.mtime", "sut of this request", "time", NULL,
            false },
          NULL },
        { { "NFS GETATTR", "a.nlink", "sut larger", "count", "no directory", false }, "*.nlink" },
        { { "NFS GETATTR", "a.nlink", "sut larger", "count", "directory", false }, NULL },
        { { "NFS GETATTR", "a.nlink", "sut larger", "count", NULL, false }, NULL },
        { { "NFSACL NULL", "rpc-status", "SUCCESS, PROG_UNAVAIL", NULL, NULL, true },
          "rpc-status" },
        { { "NFS NULL", "rpc-status", "SUCCESS, PROG_UNAVAIL", NULL, NULL, true }, NULL },
        { { "", "disconnects", "sut more", NULL, NULL, true }, "disconnects" },
        { { "NFS READ", "disconnects", "sut more", NULL, NULL, true }, NULL },
        { { "NFS GETATTR", "a.uid", "sut larger", "uid", NULL, false }, "uid" },
        { { "NFS GETATTR", "a.uid", "sut larger", "gid", NULL, false }, NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct compare_rule *rule = rules_accept(r, &cases[i].found);

        if (!rule != !cases[i].rule || (rule && strcmp(rule->key, cases[i].rule) != 0))
            fail_msg("case %zu: %s", i, rule ? rule->text : "no rule");
    }
    /* they decide nothing before a comparison */
    assert_int_equal(rule_of(r, eof, anywhere)->kind, COMPARE_BITWISE);
    assert_int_equal(rules_at(r, r->events[EVENT_RPC_STATUS])->kind, COMPARE_BITWISE);
    rules_free(r);
    refused("[fields]\n*.eof = bitwise if difference=x\n", "conditions for \"ignored\"");
    refused("[fields]\n*.eof = ignored if difference=x, procedure=READ\n", "cannot stand with");
    refused("[fields]\n*.eof = ignored if ref=1, difference=x\n", "cannot stand with");
    refused("[fields]\n*.eof = ignored if difference=\"x\n", "a quote is missing");
    refused("[fields]\n*.eof = ignored if difference=\"x\" y\"\n", "a quote is missing");
    refused("[fields]\n*.eof = ignored if operation=READ\n", "no such operation: \"READ\"");
    refused("[fields]\n*.eof = ignored if when=never\n", "when=never: expected directory");
    refused("[fields]\n*.eof = ignored if when=asked, when=asked\n", "comes twice");
    refused("[fields]\n*.foe = ignored if difference=x\n", "no field of a result");
    refused("[requests]\nsize = ignored if difference=x\n", "conditions for \"ignored\"");
}

static void test_nothing(void **state)
{
    (void)state;
    /* messages have no conditions, and are counted in whole numbers */
    refused("[messages]\nretransmissions = ignored if procedure=COMMIT\n", "no conditions");
    refused("[messages]\nrpc-status = ignored if status=NFS3_OK\n", "no conditions");
    refused("[messages]\nretransmissions = tolerance 5%\n", "its tolerance is a number");
    refused("[messages]\ndisconnects = tolerance 3s\n", "its tolerance is a number");
    refused("[requests]\ncredential = ignored if procedure=READ\n", "without conditions");
    /* kinds that are nothing for a class */
    refused("[classes]\nname = mask 7\n", "mine.conf:2: name: mask does not fit");
    refused("[classes]\nhandle = at-least\n", "handle: at-least does not fit");
    refused("[classes]\nsize = nocase\n", "size: nocase does not fit");
    refused("[classes]\nsize = tolerance 200ms\n", "size: tolerance with a duration does not fit");
    refused("[classes]\ninterval = tolerance 1s\n", "interval: tolerance with a duration");
    refused("[classes]\ntime = tolerance 5%\n", "time: tolerance with a percentage does not fit");
    refused("[classes]\ntime = mask 7\n", "time: mask does not fit");
    refused("[classes]\nname = ignored if ref=3\n", "with these conditions does not fit");
    refused("[fields]\n*.nlink = tolerance 2s\n", "tolerance with a duration does not fit");
    refused("[fields]\n*.mtime = tolerance 5%\n", "tolerance with a percentage does not fit");
    refused("[fields]\n*.eof = ignored if procedure=WRITE\n", "no field of WRITE's result");
    /* one value, of which the fraction is a part */
    refused("[fields]\n*.nseconds = ignored\n", "the fraction of a time");
    refused("[fields]\n*.mtime.nseconds = tolerance 5\n", "the fraction of a time");
    refused("[requests]\n*.obj_ctime.nseconds = ignored\n", "the fraction of a time");
    /* names of another enumeration */
    refused("[fields]\n*.mode = ignored if type=NFS3ERR_NOENT\n", "is not a type of objects");
    refused("[fields]\n*.mode = ignored if status=NF3DIR\n", "is not a status");
    refused("[fields]\nREAD3res.* = ignored if status=MNT3ERR_ACCES\n", "is not a status");
    refused("[fields]\nREAD3res.status = ignored if ref=NF3DIR\n", "is not a value of these");
    /* conditions twice, empty or too large */
    refused("[fields]\n*.mode = ignored if ref=1, ref=2\n", "\"ref\" comes twice");
    refused("[fields]\n*.eof = ignored if procedure=READ,procedure=READDIR\n", "comes twice");
    refused("[fields]\n*.mode = ignored if ,\n", "NAME=VALUE");
    refused("[fields]\n*.mode = ignored if ref=1,\n", "NAME=VALUE");
    refused("[fields]\n*.mode = ignored if ref=1,,sut=2\n", "NAME=VALUE");
    refused("[fields]\n*.mode = ignored if ref=\n", "NAME=VALUE");
    refused("[fields]\n*.mode = ignored if status=0x100000000\n", "more than 32 bits");
    /* amounts */
    refused("[classes]\ntime = tolerance 18446744073709551615\n", "at most 1000000000000000000 ns");
    refused("[fields]\n*.mtime = tolerance 1000000000000000001\n", "at most");
    refused("[fields]\n*.mtime = tolerance 300000h\n", "mine.conf:2: tolerance:");
    refused("[fields]\n*.nlink = tolerance 18446744073709551616\n", "mine.conf:2: tolerance:");
}

/* Times have the names that reports have for them, and are one value. */
static void test_times(void **state)
{
    static const char seconds[] = "READ3res.resok.file_attributes.mtime.seconds";
    struct rules *r = with("[fields]\nREAD3res.resok.file_attributes.mtime = tolerance 1s\n"
                           "*.atime = ignored\n*.ctime.seconds = tolerance 3\n"
                           "*.time_delta.nseconds = at-least\n");

    (void)state;
    assert_int_equal(rule_of(r, seconds, anywhere)->amount, 1000000000);
    assert_int_equal(rule_of(r, "READ3res.resfail.file_attributes.mtime.seconds", anywhere)->amount,
                     200000000);
    assert_int_equal(rule_of(r, "READ3res.resok.file_attributes.atime.seconds", anywhere)->kind,
                     COMPARE_IGNORED);
    assert_int_equal(rule_of(r, "READ3res.resok.file_attributes.ctime.seconds", anywhere)->amount,
                     3);
    assert_int_equal(rule_of(r, "FSINFO3res.resok.time_delta.nseconds", anywhere)->kind,
                     COMPARE_AT_LEAST);
    rules_free(r);
    /* a wildcard reaches what its kind is for, and leaves the rest */
    r = with("[fields]\nREAD3res.resok.* = tolerance 5%\n");
    assert_int_equal(rule_of(r, seconds, anywhere)->amount, 200000000);
    assert_int_equal(rule_of(r, "READ3res.resok.data", anywhere)->kind, COMPARE_BITWISE);
    assert_int_equal(rule_of(r, "READ3res.resok.count", anywhere)->kind, COMPARE_TOLERANCE);
    rules_free(r);
    /* as the shipped rules have it */
    r = with(builtin("linux-knfsd"));
    assert_int_equal(rule_of(r, "READ3res.resok.file_attributes.atime.seconds", anywhere)->kind,
                     COMPARE_IGNORED);
    rules_free(r);
    /* names where they are meant */
    rules_free(with("[fields]\nREAD3res.status = ignored if ref=NFS3ERR_IO, sut=NFS3ERR_STALE\n"
                    "*.mode = ignored if type=NF3DIR,status=NFS3_OK\n"
                    "mountres3.* = ignored if status=MNT3ERR_ACCES\n"));
}

/* default.conf without one of its lines is not whole. */
static void test_whole(void **state)
{
    const char *names[] = { "default" }, *text = builtin("default");
    char *copy = strdup(text), *line = strstr(copy, "\noffset = ");
    const char *texts[] = { copy };
    struct rules *rules;

    (void)state;
    memset(line + 1, '#', 1);
    assert_int_equal(rules_read(names, texts, 1, &rules, &err), -ERR_USAGE);
    assert_non_null(strstr(err.text, "does not set \"offset\""));
    free(copy);
}

/* An explanation must be true of what it is given for. */
static void test_true_causes(void **state)
{
    static const struct {
        const char *kind, *operation, *field, *difference, *name;
    } cases[] = {
        { "status", "NFS LOOKUP", "LOOKUP3res.status", "NFS3_OK, NFS3ERR_NOENT", "status-noent" },
        { "status", "NFS LOOKUP", "LOOKUP3res.status", "NFS3ERR_NOENT, NFS3_OK", "status-noent" },
        { "status", "NFS LOOKUP", "LOOKUP3res.status", "NFS3ERR_NOENT, NFS3ERR_ACCES",
          "status-errors" },
        { "status", "NFS MKDIR", "MKDIR3res.status", "NFS3ERR_EXIST, NFS3_OK", "status-exist" },
        { "status", "NFS MKDIR", "MKDIR3res.status", "NFS3_OK, NFS3ERR_EXIST", "status-exist" },
        { "status", "NFS MKDIR", "MKDIR3res.status", "NFS3ERR_ROFS, NFS3ERR_EXIST",
          "status-errors" },
        { "status", "NFS MKDIR", "MKDIR3res.status", "NFS3ERR_NOENT, 12345", "status" },
        { "status", "NFS MKDIR", "MKDIR3res.status", "NFS3_OK, NFS3ERR_ACCES", "status-refused" },
        { "status", "NFS REMOVE", "REMOVE3res.status", "NFS3ERR_PERM, NFS3_OK", "status-refused" },
        { "status", "NFS REMOVE", "REMOVE3res.status", "NFS3_OK, NFS3ERR_IO", "status" },
        { "status", "NFS LOOKUP", "LOOKUP3res.status", "NFS3ERR_NAMETOOLONG, NFS3ERR_NOENT",
          "status-name-too-long" },
        { "status", "MOUNT MNT", "mountres3.status", "MNT3_OK, MNT3ERR_NOENT", "status-noent" },
        { "value", "NFS WRITE", "WRITE3res.resok.committed", "UNSTABLE, FILE_SYNC", "committed" },
        { "value", "NFS WRITE", "WRITE3res.resok.committed", "DATA_SYNC, UNSTABLE", "committed" },
        { "value", "NFS WRITE", "WRITE3res.resok.committed", "DATA_SYNC, FILE_SYNC",
          "committed-metadata" },
    };
    struct explanations c;

    (void)state;
    assert_int_equal(explanations_load(&c, &err), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct explained of = { cases[i].kind, cases[i].operation, cases[i].field,
                                      cases[i].difference };
        const struct explanation *explanation = explanations_find(&c, &of);

        assert_non_null(explanation);
        assert_string_equal(explanation->name, cases[i].name);
    }
    for (uint32_t i = 0; i < c.count; i++) /* what the page shows as a whole */
        if (strlen(c.list[i].text) > 200)
            fail_msg("[%s] has too many words", c.list[i].name);
    for (uint32_t i = 0; i < c.count; i++) { /* what stands for all its groups names no side */
        const char *title = c.list[i].title;

        if (!title || strlen(title) > 80 || strchr(title, '{'))
            fail_msg("[%s] needs a short title", c.list[i].name);
    }
    explanations_free(&c);
}

static void test_causes(void **state)
{
    struct explained of = { "value", "NFS READ", "READ3res.resok.eof", "only ref" };
    struct explanations c;

    (void)state;
    assert_int_equal(explanations_load(&c, &err), 0);
    assert_string_equal(explanations_find(&c, &of)->name, "eof");
    of.kind = "presence";
    assert_null(explanations_find(&c, &of));
    of.field = "READ3res.resok.file_attributes";
    assert_string_equal(explanations_find(&c, &of)->name, "attributes-follow");
    of = (struct explained){ "time", "NFS REMOVE", "REMOVE3res.resok.dir_wcc.before.mtime",
                             "sut of this request, ref earlier" };
    assert_string_equal(explanations_find(&c, &of)->name, "before-is-now");
    explanations_free(&c);
    assert_int_equal(explanations_read(&c, "c.conf", "[a]\ntext = x\n[b]\nfield = *\n", &err),
                     -ERR_USAGE);
    assert_non_null(strstr(err.text, "c.conf: [b] has no text"));
    explanations_free(&c);
    assert_int_equal(explanations_read(&c, "c.conf", "[a]\nhue = red\n", &err), -ERR_USAGE);
    assert_non_null(strstr(err.text, "c.conf:2: unknown key"));
    explanations_free(&c);
}

static int setup(void **state)
{
    (void)state;
    wire_init();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field), cmocka_unit_test(test_builtin),
        cmocka_unit_test(test_order),       cmocka_unit_test(test_events),
        cmocka_unit_test(test_requests),    cmocka_unit_test(test_errors),
        cmocka_unit_test(test_groups),      cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_times),       cmocka_unit_test(test_whole),
        cmocka_unit_test(test_causes),      cmocka_unit_test(test_true_causes),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
