/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_policy_errors.c
 *
 * Whatever is wrong in a policy file is refused, in the line where it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "policy_text.h"

/* |text| is refused, and says so with |expected| at the message's start. */
static void refuse(const char *text, size_t len, const char *expected)
{
    struct policy *policy = (struct policy *)1;
    struct err err = { 0 };

    assert_int_equal(policy_read("f", text, len, &policy, &err), -ERR_INPUT);
    assert_null(policy);
    assert_int_equal(err.code, ERR_INPUT);
    if (strncmp(err.text, expected, strlen(expected)) != 0)
        fail_msg("\"%s\" does not begin with \"%s\"", err.text, expected);
}

/* |whole| with |more| behind it. */
static void refuse_more(const char *more, const char *expected)
{
    char text[4096];

    snprintf(text, sizeof(text), "%s%s", whole, more);
    refuse(text, strlen(text), expected);
}

static void refuse_line(const char *from, const char *to, const char *expected)
{
    char text[4096];

    replaced(text, from, to);
    refuse(text, strlen(text), expected);
}

static void test_every_class(void **state)
{
    char from[40], expected[128];

    (void)state;
    for (int cls = 0; cls < CLASS_MAX; cls++) {
        const char *name = class_name((enum field_class)cls);

        snprintf(expected, sizeof(expected), "f:3: [classes] does not set \"%s\"", name);
        refuse_line(class_line(name, from), "", expected);
    }
    refuse_line("stamp=", "", "f:30: [messages] does not set \"stamp\"");
    refuse_line("credential=", "", "f:30: [messages] does not set \"credential\"");
    refuse_line("xid=", "", "f:30: [messages] does not set \"xid\"");
    refuse_line("port=", "", "f:30: [messages] does not set \"port\"");
    refuse_line("unread=", "", "f:30: [messages] does not set \"unread\"");
    refuse_line("name=mine", "", "f:1: [policy] does not set \"name\"");
    refuse("", 0, "f: section [policy] is missing");
    refuse("[policy]\nname=x\n", 16, "f: section [classes] is missing");
}

/* Every rule with every class: the table of nfsdigest-policy(5), written anew. */
static void test_allowed(void **state)
{
    static const char *const table[] = {
        "handle keyed,keep",
        "name token,same,keep",
        "path token,same,keep",
        "host token,same,keep",
        "lock_owner token,same,keep",
        "address keyed,keep",
        "uid keyed,zero,keep",
        "gid keyed,zero,keep",
        "fileid keyed,zero,keep",
        "fsid keyed,zero,keep",
        "device keyed,zero,keep",
        "cookie keyed,zero,keep",
        "verifier keyed,zero,keep",
        "time shift,zero,keep",
        "interval zero,keep",
        "mode owner,zero,keep",
        "data zero,noise,keep",
        "opaque token,keyed,zero,keep",
        "size keep",
        "offset keep",
        "count keep",
        "type keep",
        "status keep",
        "boolean keep",
        "enum keep",
        "none keep",
    };
    static const char *const rules[] = { "keep",  "keyed", "token", "same",  "zero",
                                         "noise", "shift", "owner", "unset", "" };
    enum { ROWS = sizeof(table) / sizeof(*table), RULES = sizeof(rules) / sizeof(*rules) };
    unsigned seen = 0;

    (void)state;
    for (size_t i = 0; i < ROWS; i++) {
        size_t len = strcspn(table[i], " ");
        char name[32], allowed[64], word[32];

        snprintf(name, sizeof(name), "%.*s", (int)len, table[i]);
        snprintf(allowed, sizeof(allowed), ",%s,", table[i] + len + 1);
        assert_int_not_equal(policy_class(name), CLASS_MAX);
        seen |= 1u << policy_class(name);
        for (size_t k = 0; k < RULES; k++) {
            char from[40], line[64], text[4096], full[4200];
            struct policy *policy;
            struct err err = { 0 };
            bool good;

            snprintf(word, sizeof(word), ",%s,", rules[k]);
            good = *rules[k] && strstr(allowed, word);
            snprintf(line, sizeof(line), "%s=%s", name, rules[k]);
            replaced(text, class_line(name, from), line);
            snprintf(full, sizeof(full), "%s%s", text,
                     good && strcmp(rules[k], "shift") == 0 ? "[time]\nshift-days=1\n" : "");
            assert_int_equal(policy_read("f", full, strlen(full), &policy, &err),
                             good ? 0 : -ERR_INPUT);
            if (good)
                assert_string_equal(rule_name((enum rule)policy->rules[policy_class(name)]),
                                    rules[k]);
            else
                assert_non_null(strstr(err.text, "allowed is "));
            policy_free(policy);
        }
    }
    assert_int_equal(seen, (1u << CLASS_MAX) - 1);
}

static void test_wrong_lines(void **state)
{
    (void)state;
    refuse_line("uid=", "uid=moon", "f:7: uid = \"moon\": allowed is keep, keyed, zero");
    refuse_line("uid=", "uid", "f:7: expected a comment, a [section] or key = value");
    refuse_line("uid=", "moon=keep", "f:7: unknown key \"moon\"");
    refuse_line("uid=", "uid[de]=keep", "f:7: unknown key \"uid[de]\"");
    refuse_line("uid=", "=keep", "f:7: unknown key \"\"");
    refuse_line("uid=", "uid=keyed\nuid=keep", "f:8: uid again, after line 7");
    refuse_line("uid=", "uid=keyed\n[classes]", "f:8: [classes] again, after line 3");
    refuse_line("uid=", "[moon]", "f:7: unknown section \"moon\"");
    refuse_line("uid=", "[keep", "f:7: a section's name ends");
    refuse_line("uid=", "[keep]x", "f:7: a section's name ends");
    refuse_line("uid=", "uid=k\\qeyed", "f:7: uid: an escape");
    refuse_line("name=mine", "name=mine\ndescription=a\\", "f:3: description: an escape");
    refuse_line("uid=", "uid=k\001eyed", "f:7: a control character");
    refuse_line("uid=", "uid=k\xff", "f:7: not UTF-8 text");
    refuse_line("port=", "port=keyed", "f:34: port = \"keyed\": allowed is keep");
    refuse_line("xid=", "xid=zero", "f:33: xid = \"zero\": allowed is keep, keyed");
    refuse_line("stamp=", "stamp=token", "f:31: stamp = \"token\": allowed is keep, keyed, zero");
    refuse_line("unread=", "unread=keep", "f:35: unread = \"keep\": allowed is header, drop");
    refuse_line("stamp=", "stamps=keep", "f:31: unknown key \"stamps\"");
    refuse_line("[policy]", "version=1\n[policy]", "f:1: \"version\" comes before");
    refuse_line("name=mine", "name=", "f:2: name: 1 to 32");
    refuse_line("name=mine", "name=a b", "f:2: name: 1 to 32");
    refuse_line("name=mine", "name=123456789012345678901234567890123", "f:2: name: 1 to 32");
    refuse_line("name=mine", "name=mine\ndescription=a\\nb", "f:3: description: one line");
    refuse_line("time=", "time=shift", "f:11: time = shift needs shift-days");
    refuse("[policy]\nname=a\0b\n", 18, "f:2: not UTF-8 text");
}

static void test_wrong_parts(void **state)
{
    char many[3 * POLICY_LIST_MAX + 64], expected[64];
    size_t len;

    (void)state;
    refuse_more("[names]\nkeep-suffixes=c\n", "f:37: keep-suffixes: \"c\": a suffix");
    refuse_more("[names]\nkeep-suffixes=.c;.\n", "f:37: keep-suffixes: \".\": a suffix");
    refuse_more("[names]\nkeep-suffixes=.c;;.d\n", "f:37: keep-suffixes: an empty value");
    refuse_more("[names]\nkeep-suffixes=.a/b\n", "f:37: keep-suffixes: \".a/b\"");
    refuse_more("[names]\nkeep-suffixes=.12345678901234567\n", "f:37: keep-suffixes");
    refuse_more("[names]\nkeep-prefixes=a b\n", "f:37: keep-prefixes: \"a b\"");
    refuse_more("[names]\nkeep-infixes=a\n", "f:37: unknown key");
    refuse_more("[addresses]\nkeep-ranges=private;moon\n", "f:37: keep-ranges: \"moon\"");
    refuse_more("[addresses]\nranges=private\n", "f:37: unknown key");
    refuse_more("[time]\nshift-days=5\n", "f:37: shift-days without time = shift");
    refuse_more("[time]\nshift-days=0\n", "f:37: shift-days = \"0\"");
    refuse_more("[time]\nshift-days=10951\n", "f:37: shift-days = \"10951\"");
    refuse_more("[time]\nshift-days=-5\n", "f:37: shift-days = \"-5\"");
    refuse_more("[keep]\nuid=4294967296\n", "f:37: uid: \"4294967296\" is not a number of 32 bits");
    refuse_more("[keep]\nuid=-1\n", "f:37: uid: \"-1\"");
    refuse_more("[keep]\nuid=1x\n", "f:37: uid: \"1x\"");
    refuse_more("[keep]\nuid=0x\n", "f:37: uid: \"0x\"");
    refuse_more("[keep]\nuid=0x-1\n", "f:37: uid: \"0x-1\"");
    refuse_more("[keep]\nuid=ff\n", "f:37: uid: \"ff\"");
    refuse_more("[keep]\nuid= \n\nfileid=18446744073709551616\n", "f:39: fileid: \"1844674407");
    refuse_more("[keep]\nname=1\n", "f:37: unknown key \"name\"");
    refuse_more("[keep]\nmoon=1\n", "f:37: unknown key \"moon\"");
    refuse_more("[fields]\nREAD3args.moon=keep\n",
                "f:37: no field has the path \"READ3args.moon\"");
    refuse_more("[fields]\nREAD3args.file=zero\n",
                "f:37: READ3args.file = \"zero\": allowed is keep, keyed");
    refuse_more("[fields]\nREAD3args.offset=zero\n",
                "f:37: READ3args.offset = \"zero\": allowed is keep");
    refuse_more("[fields]\nGETATTR3res.resok.obj_attributes.mtime.seconds=shift\n",
                "f:37: shift without time = shift");
    refuse_more("[fields]\nREAD3args.file=keep\n\nREAD3args.file=keep\n",
                "f:39: READ3args.file again, after line 37");

    len = (size_t)snprintf(many, sizeof(many), "[keep]\nuid=");
    for (int i = 0; i <= POLICY_LIST_MAX; i++) {
        memcpy(many + len, "1;", 2);
        len += 2;
    }
    many[len] = '\0';
    snprintf(expected, sizeof(expected), "f:2: uid: more than %d values", POLICY_LIST_MAX);
    refuse(many, len, expected);

    { /* kept numbers of a class that is not keyed */
        char text[4096], more[4200];

        replaced(text, "uid=", "uid=zero");
        snprintf(more, sizeof(more), "%s[keep]\nuid=5\n", text);
        refuse(more, strlen(more), "f:37: values to keep without uid = keyed");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_class),
        cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_wrong_lines),
        cmocka_unit_test(test_wrong_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
