/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_policy.c
 *
 * Policies: that the built-in ones say what they must, that what is printed means the same, and
 * that whatever is wrong in a file is refused in the line where it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/walk.h"

#include "policy_text.h"

/* --- the built-in ones */

static struct policy *builtin(const char *name)
{
    struct policy *policy;
    struct err err = { 0 };

    if (policy_load(name, &policy, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(policy->name, name);
    assert_true(*policy->description);
    return policy;
}

static bool has(char *const *list, const char *text)
{
    while (*list && strcmp(*list, text) != 0)
        list++;
    return *list;
}

static bool keeps(const struct policy_kept *kept, uint64_t value)
{
    for (uint32_t i = 0; i < kept->count; i++)
        if (kept->values[i] == value)
            return true;
    return false;
}

/* What none of them may keep, whatever it is good for. */
static void test_builtin_secrets(void **state)
{
    static const enum field_class secret[] = {
        CLASS_HANDLE, CLASS_NAME,       CLASS_PATH,   CLASS_UID,    CLASS_GID,
        CLASS_HOST,   CLASS_FILEID,     CLASS_FSID,   CLASS_DEVICE, CLASS_ADDRESS,
        CLASS_DATA,   CLASS_LOCK_OWNER, CLASS_OPAQUE, CLASS_COOKIE, CLASS_VERIFIER,
    };
    size_t count = 0;

    (void)state;
    for (; policy_builtins[count].name; count++) {
        struct policy *policy = builtin(policy_builtins[count].name);

        for (size_t i = 0; i < sizeof(secret) / sizeof(*secret); i++)
            assert_int_not_equal(policy->rules[secret[i]], RULE_KEEP);
        assert_int_equal(policy->rules[CLASS_DATA], RULE_ZERO);
        assert_int_equal(policy->extras[EXTRA_STAMP], RULE_KEYED);
        assert_int_equal(policy->extras[EXTRA_CREDENTIAL], RULE_ZERO);
        for (int i = 0; i < 2; i++) {
            const struct policy_kept *kept = &policy->kept[i ? CLASS_GID : CLASS_UID];

            assert_int_equal(kept->count, 4);
            assert_true(keeps(kept, 0) && keeps(kept, 65534) && keeps(kept, 4294967294) &&
                        keeps(kept, 4294967295));
        }
        policy_free(policy);
    }
    assert_int_equal(count, 3);
}

static void test_builtin_differences(void **state)
{
    struct policy *public = builtin("public"), *lab = builtin("lab"), *strict = builtin("strict");

    (void)state;
    assert_int_equal(public->rules[CLASS_NAME], RULE_TOKEN);
    assert_int_equal(public->rules[CLASS_PATH], RULE_TOKEN);
    assert_int_equal(public->rules[CLASS_HOST], RULE_TOKEN);
    assert_int_equal(public->rules[CLASS_TIME], RULE_KEEP);
    assert_int_equal(public->shift_days, 0);
    assert_true(policy_hides_lengths(public));
    assert_int_equal(public->ranges, RANGE_LOOPBACK | RANGE_LINK_LOCAL | RANGE_MULTICAST);
    assert_int_equal(public->unread, UNREAD_HEADER);
    assert_true(has(public->suffixes, ".c") && has(public->suffixes, ".tar.gz"));
    assert_true(has(public->prefixes, ".nfs") && !has(public->prefixes, "."));

    assert_int_equal(lab->rules[CLASS_NAME], RULE_SAME);
    assert_int_equal(lab->rules[CLASS_PATH], RULE_SAME);
    assert_int_equal(lab->rules[CLASS_HOST], RULE_SAME);
    assert_int_equal(lab->rules[CLASS_LOCK_OWNER], RULE_SAME);
    assert_int_equal(lab->rules[CLASS_OPAQUE], RULE_KEYED);
    assert_false(policy_hides_lengths(lab));
    assert_true(lab->ranges & RANGE_PRIVATE);
    assert_true(has(lab->prefixes, ".nfs") && has(lab->prefixes, "."));
    for (char **suffix = public->suffixes; *suffix; suffix++)
        assert_true(has(lab->suffixes, *suffix));

    assert_int_equal(strict->rules[CLASS_TIME], RULE_SHIFT);
    assert_int_equal(strict->shift_days, 1825);
    assert_int_equal(strict->rules[CLASS_MODE], RULE_OWNER);
    assert_int_equal(strict->rules[CLASS_DEVICE], RULE_ZERO);
    assert_int_equal(strict->unread, UNREAD_DROP);
    assert_null(strict->prefixes[0]);
    for (char **suffix = strict->suffixes; *suffix; suffix++)
        assert_true(has(public->suffixes, *suffix));
    assert_memory_not_equal(public->digest, lab->digest, 32);
    assert_memory_not_equal(public->digest, strict->digest, 32);
    policy_free(public);
    policy_free(lab);
    policy_free(strict);
}

static void test_no_builtin(void **state)
{
    struct policy *policy;
    struct err err = { 0 };

    (void)state;
    assert_int_equal(policy_load("moon", &policy, &err), -ERR_USAGE);
    assert_null(policy);
    assert_non_null(strstr(err.text, "\"moon\": there are lab, public, strict"));
    assert_int_equal(policy_load("./nowhere.conf", &policy, &err), -ERR_INPUT);
    assert_string_equal(err.text, "./nowhere.conf: no such file");
    assert_int_equal(policy_load("/", &policy, &err), -ERR_INPUT);
    assert_int_equal(policy_load("/dev/zero", &policy, &err), -ERR_INPUT);
    assert_non_null(strstr(err.text, "too large"));
}

/* --- printing */

static void same_list(char *const *a, char *const *b)
{
    for (; *a && *b; a++, b++)
        assert_string_equal(*a, *b);
    assert_true(!*a && !*b);
}

static void same_policy(const struct policy *a, const struct policy *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->description, b->description);
    assert_memory_equal(a->rules, b->rules, sizeof(a->rules));
    assert_memory_equal(a->extras, b->extras, sizeof(a->extras));
    assert_int_equal(a->unread, b->unread);
    assert_int_equal(a->ranges, b->ranges);
    assert_int_equal(a->shift_days, b->shift_days);
    same_list(a->suffixes, b->suffixes);
    same_list(a->prefixes, b->prefixes);
    for (int cls = 0; cls < CLASS_MAX; cls++) {
        assert_int_equal(a->kept[cls].count, b->kept[cls].count);
        if (a->kept[cls].count)
            assert_memory_equal(a->kept[cls].values, b->kept[cls].values,
                                a->kept[cls].count * sizeof(uint64_t));
    }
    assert_int_equal(a->override_count, b->override_count);
    for (uint32_t i = 0; i < a->override_count; i++) {
        assert_ptr_equal(a->overrides[i].field, b->overrides[i].field);
        assert_string_equal(a->overrides[i].path, b->overrides[i].path);
        assert_int_equal(a->overrides[i].rule, b->overrides[i].rule);
    }
    assert_memory_equal(a->digest, b->digest, 32);
}

static void print_again(struct policy *policy)
{
    struct buf text = { 0 }, again = { 0 };
    struct policy *other;
    struct err err = { 0 };

    assert_int_equal(policy_print(policy, &text, &err), 0);
    assert_int_equal(buf_append(&text, "", 1), 0);
    other = read_ok((const char *)text.data);
    same_policy(other, policy);
    assert_int_equal(policy_print(other, &again, &err), 0);
    assert_int_equal(again.len, text.len - 1);
    assert_memory_equal(again.data, text.data, again.len);
    buf_free(&text);
    buf_free(&again);
    policy_free(other);
    policy_free(policy);
}

static void test_print(void **state)
{
    (void)state;
    for (size_t i = 0; policy_builtins[i].name; i++)
        print_again(builtin(policy_builtins[i].name));
    print_again(read_ok(whole));
    print_again(read_more("[fields]\nREAD3args.file = keep\nGETATTR3res.resok.obj_attributes.mode "
                          "= zero\n[names]\nkeep-suffixes=.\xc3\xa9;.x;"));
    print_again(read_more("[keep]\ncookie=0xffffffffffffffff;1\n[names]\nkeep-prefixes=\\s#;"));
}

/* A description with what key files escape. */
static void test_description(void **state)
{
    char text[4096];
    struct policy *policy;

    (void)state;
    replaced(text, "name=mine", "name=mine\ndescription=\\sa\\\\b = [c];d #e ");
    policy = read_ok(text);
    assert_string_equal(policy->description, "a\\b = [c];d #e");
    print_again(policy);
}

/* What means the same has one digest, what does not has another one. */
static void test_digest(void **state)
{
    struct policy *a = read_more("[names]\nkeep-suffixes=.a;.b\n[keep]\nuid=1;2\n[addresses]\n"
                                 "keep-ranges=private;loopback\n");
    struct policy *b = read_more("# other words\n[keep]\n uid = 0x2; 0x1 ;1;\n[addresses]\r\n"
                                 "keep-ranges = loopback;private\n[names]\nkeep-suffixes=.b;.a;.b");
    struct policy *c = read_more("[names]\nkeep-suffixes=.a;.b\n[keep]\nuid=1;3\n[addresses]\n"
                                 "keep-ranges=private;loopback\n");
    struct policy *none = read_ok(whole), *named;
    char text[4096];

    (void)state;
    assert_memory_equal(a->digest, b->digest, 32);
    assert_memory_not_equal(a->digest, c->digest, 32);
    replaced(text, "name=mine", "name=other");
    named = read_ok(text);
    assert_memory_not_equal(none->digest, named->digest, 32);
    policy_free(a);
    policy_free(b);
    policy_free(c);
    policy_free(none);
    policy_free(named);
}

static void test_values(void **state)
{
    struct policy *p = read_more("[names]\nkeep-suffixes=.b;.a;.tar.gz\nkeep-prefixes=.;.nfs\n"
                                 "[keep]\nfileid=18446744073709551615;7;0x10\ngid=\n"
                                 "[addresses]\nkeep-ranges=private;multicast;");

    (void)state;
    assert_string_equal(p->suffixes[0], ".a");
    assert_string_equal(p->suffixes[1], ".b");
    assert_string_equal(p->suffixes[2], ".tar.gz");
    assert_null(p->suffixes[3]);
    assert_string_equal(p->prefixes[1], ".nfs");
    assert_int_equal(p->kept[CLASS_FILEID].count, 3);
    assert_int_equal(p->kept[CLASS_FILEID].values[0], 7);
    assert_int_equal(p->kept[CLASS_FILEID].values[1], 16);
    assert_true(p->kept[CLASS_FILEID].values[2] == UINT64_MAX);
    assert_int_equal(p->kept[CLASS_GID].count, 0);
    assert_int_equal(p->ranges, RANGE_PRIVATE | RANGE_MULTICAST);
    assert_int_equal(p->override_count, 0);
    policy_free(p);
}

/* --- fields */

struct places {
    char paths[4096][WALK_PATH_MAX];
    uint8_t classes[4096];
    size_t count;
};

static int add_place(void *ctx, const struct field_place *place)
{
    struct places *places = ctx;

    assert_true(places->count < 4096);
    snprintf(places->paths[places->count], WALK_PATH_MAX, "%s", place->path);
    places->classes[places->count++] = place->field->cls;
    return 0;
}

/* Every path there is can be written in a file, and GLib reads it as it stands. */
static void test_every_path(void **state)
{
    struct places *places = calloc(1, sizeof(*places));
    struct buf text = { 0 };
    struct policy *policy;
    size_t expected = 0;

    (void)state;
    assert_non_null(places);
    wire_each_field(add_place, places);
    buf_append(&text, whole, strlen(whole));
    buf_append(&text, "[fields]\n", 9);
    for (size_t i = 0; i < places->count; i++) {
        bool again = false;

        for (size_t k = 0; k < i && !again; k++)
            again = strcmp(places->paths[k], places->paths[i]) == 0;
        if (again)
            continue;
        buf_append(&text, places->paths[i], strlen(places->paths[i]));
        buf_append(&text, "=keep\n", 6);
        expected++;
    }
    buf_append(&text, "", 1);
    policy = read_ok((const char *)text.data);
    assert_true(expected > 500);
    assert_true(policy->override_count >= expected);
    for (uint32_t i = 1; i < policy->override_count; i++)
        assert_true((uintptr_t)policy->overrides[i - 1].field <=
                    (uintptr_t)policy->overrides[i].field);
    print_again(policy);
    buf_free(&text);
    free(places);
}

struct seen {
    const struct policy *policy;
    unsigned fields, overridden;
};

static int see(void *ctx, const struct visit *visit)
{
    struct seen *seen = ctx;
    char path[WALK_PATH_MAX];
    enum rule rule = policy_rule(seen->policy, visit->walk, visit->field), expected;

    if (visit->whole)
        return 0;
    walk_path(visit->walk, visit->field, path);
    expected = (enum rule)seen->policy->rules[visit->field->cls];
    if (strcmp(path, "GETATTR3res.resok.obj_attributes.mode") == 0 ||
        strcmp(path, "GETATTR3res.resok.obj_attributes.uid") == 0) {
        expected = RULE_ZERO;
        seen->overridden++;
    }
    assert_int_equal(rule, expected);
    seen->fields++;
    return 0;
}

/* The same fattr3 under two results: a rule for one path says nothing about the other. */
static void test_override(void **state)
{
    struct policy *policy = read_more("[fields]\nGETATTR3res.resok.obj_attributes.mode=zero\n"
                                      "GETATTR3res.resok.obj_attributes.uid=zero\n");
    const struct procedure *getattr = procedure_find(100003, 3, 1);
    const struct procedure *lookup = procedure_find(100003, 3, 3);
    uint8_t body[256] = { 0 };
    struct seen seen = { .policy = policy };
    struct visitor visitor = { see, &seen, 0 };
    struct walk w;

    (void)state;
    wire_init();
    assert_int_equal(walk(&w, getattr->result, body, 88, 88, false, &visitor), WALK_OK);
    assert_int_equal(seen.overridden, 2);
    assert_true(seen.fields > 15);

    /* status, a handle of no bytes, attributes of the object, none of the directory */
    body[11] = 1;
    seen.fields = 0;
    assert_int_equal(walk(&w, lookup->result, body, 100, 100, false, &visitor), WALK_OK);
    assert_int_equal(seen.overridden, 2);
    assert_true(seen.fields > 15);
    policy_free(policy);
}

/* --- warnings */

/* How many lines policy_warn has for |whole| with one line replaced, that hold |expected|. */
static int warned(const char *from, const char *to, const char *more, const char *expected)
{
    char text[4096], full[5000];
    struct policy *policy;
    struct buf out = { 0 };
    struct err err = { 0 };
    int count, lines = 0, found = 0;

    replaced(text, from, to);
    snprintf(full, sizeof(full), "%s%s", text, more);
    policy = read_ok(full);
    count = policy_warn(policy, &out, &err);
    assert_true(count >= 0);
    assert_int_equal(buf_append(&out, "", 1), 0);
    for (char *at = (char *)out.data, *end; *at; at = end + 1) {
        end = strchr(at, '\n');
        assert_non_null(end);
        *end = '\0';
        lines++;
        found += strstr(at, expected) == at;
    }
    assert_int_equal(lines, count);
    buf_free(&out);
    policy_free(policy);
    return found;
}

static void test_warnings(void **state)
{
    static const char *const sensitive[] = { "handle", "name",      "path",     "uid",
                                             "gid",    "host",      "address",  "time",
                                             "mode",   "fileid",    "interval", "fsid",
                                             "device", "cookie",    "verifier", "data",
                                             "opaque", "lock_owner" };
    char from[40], to[64], expected[64];

    (void)state;
    for (size_t i = 0; i < sizeof(sensitive) / sizeof(*sensitive); i++) {
        snprintf(to, sizeof(to), "%s=keep", sensitive[i]);
        snprintf(expected, sizeof(expected), "%s = keep:", sensitive[i]);
        assert_int_equal(warned(class_line(sensitive[i], from), to, "", expected), 1);
    }
    assert_int_equal(warned("uid=", "uid=keyed", "", "uid"), 0);
    assert_int_equal(warned("name=token", "name=same", "", "name = same: lengths"), 1);
    assert_int_equal(warned("name=token", "name=same", "", "name and path have different rules"),
                     1);
    assert_int_equal(warned("name=token", "name=token", "", "name"), 0);
    assert_int_equal(warned("data=", "data=noise", "", "data = noise:"), 1);
    assert_int_equal(warned("stamp=", "stamp=keep", "", "stamp = keep:"), 1);
    assert_int_equal(warned("credential=", "credential=keep", "", "credential = keep:"), 1);
    assert_int_equal(warned("unread=", "unread=header", "", "unread = header:"), 1);
    assert_int_equal(warned("unread=", "unread=drop", "", "unread"), 0);
    assert_int_equal(
        warned("uid=", "uid=keyed", "[names]\nkeep-suffixes=.a;.b", "keep-suffixes: 2 suffixes"),
        1);
    assert_int_equal(warned("uid=", "uid=keyed", "[names]\nkeep-prefixes=.a;.b", "keep-prefixes:"),
                     2);
    assert_int_equal(
        warned("uid=", "uid=keyed", "[addresses]\nkeep-ranges=private", "keep-ranges:"), 1);
    assert_int_equal(
        warned("uid=", "uid=keyed", "[addresses]\nkeep-ranges=loopback", "keep-ranges:"), 0);
    assert_int_equal(
        warned("uid=", "uid=keyed", "[keep]\nuid=0;65534;4294967295;7;8", "[keep] uid: 2 values"),
        1);
    assert_int_equal(warned("uid=", "uid=keyed", "[keep]\nfileid=0", "[keep]"), 0);
    assert_int_equal(
        warned("uid=", "uid=keyed", "[fields]\nREAD3args.file=keep", "READ3args.file = keep:"), 1);
    assert_int_equal(warned("uid=", "uid=keyed", "[fields]\nREAD3args.file=keyed", "READ3"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin_secrets), cmocka_unit_test(test_builtin_differences),
        cmocka_unit_test(test_no_builtin),      cmocka_unit_test(test_print),
        cmocka_unit_test(test_description),     cmocka_unit_test(test_digest),
        cmocka_unit_test(test_values),          cmocka_unit_test(test_every_path),
        cmocka_unit_test(test_override),        cmocka_unit_test(test_warnings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
