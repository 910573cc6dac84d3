/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_policy.c
 *
 * "nfsdigest policy": list, show and check; survives is in cmd_policy_survives.c.  Text of a policy
 * and its warnings come from engine/anon/policy.h; JSON is made here.  The contract of subcommands
 * is in cli.h.
 */
#include "anon/policy_parts.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "show/args.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char about[] =
    "A policy says for each class of values what happens to it in an anonymized\n"
    "capture.  Some policies are built in.  Others are files: a name with a '/' or\n"
    "'.' is a file (see nfsdigest-policy(5)).\n";

static void list_json(const struct policy *policy)
{
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_text(&j, "name", policy->name);
    json_text(&j, "description", policy->description);
    json_hex(&j, "digest", (struct bytes){ policy->digest, sizeof(policy->digest) });
    json_object_end(&j);
    json_end(&j);
}

static int list(int argc, char **argv, struct err *err)
{
    bool json = false;
    const struct arg own[] = {
        { 'j', "json", NULL, "print a JSON object for each policy", set_flag, &json },
        { 0 },
    };
    const struct args args = { "nfsdigest policy list [OPTION...]",
                               "Lists the built-in policies.\n", own, NULL, NULL };
    int first, result = args_parse(&args, argc, argv, &first, err);

    if (result != 1)
        return result;
    if (first != argc)
        return err_set(err, ERR_USAGE, "policy list takes no argument");
    for (const struct policy_builtin *row = policy_builtins; row->name; row++) {
        struct policy *policy;

        if (policy_load(row->name, &policy, err) < 0)
            return -err->code;
        if (json)
            list_json(policy);
        else
            printf("%-8s %s\n", policy->name, policy->description);
        policy_free(policy);
    }
    return 0;
}

/* --- show */

static void json_list(struct json *j, const char *name, char *const *list)
{
    json_array(j, name);
    for (int i = 0; list[i]; i++)
        json_text(j, NULL, list[i]);
    json_array_end(j);
}

static void json_keep(struct json *j, const struct policy *policy)
{
    json_object(j, "keep");
    for (int cls = 0; cls < CLASS_MAX; cls++) {
        const struct policy_kept *kept = &policy->kept[cls];

        if (!kept->count)
            continue;
        json_array(j, class_name((enum field_class)cls));
        for (uint32_t i = 0; i < kept->count; i++)
            json_u64(j, NULL, kept->values[i]);
        json_array_end(j);
    }
    json_object_end(j);
}

static int json_fields(struct json *j, const struct policy *policy, struct err *err)
{
    const struct policy_override **rows;
    uint32_t count;

    if (policy_overrides_by_path(policy, &rows, &count, err) < 0)
        return -err->code;
    json_object(j, "fields");
    for (uint32_t i = 0; i < count; i++)
        json_text(j, rows[i]->path, rule_name((enum rule)rows[i]->rule));
    json_object_end(j);
    free(rows);
    return 0;
}

static int json_warnings(struct json *j, const struct policy *policy, struct err *err)
{
    struct buf text = { 0 };
    int result = policy_warn(policy, &text, err);

    if (result >= 0 && buf_append(&text, "", 1) < 0)
        result = err_memory(err, "warnings");
    json_array(j, "warnings");
    for (char *rest = result > 0 ? (char *)text.data : NULL; rest && *rest;)
        json_text(j, NULL, strsep(&rest, "\n"));
    json_array_end(j);
    buf_free(&text);
    return result < 0 ? result : 0;
}

static void json_rules(struct json *j, const struct policy *policy)
{
    json_object(j, "classes");
    for (int cls = 0; cls < CLASS_MAX; cls++)
        json_text(j, class_name((enum field_class)cls), rule_name((enum rule)policy->rules[cls]));
    json_object_end(j);
    json_object(j, "messages");
    for (int i = 0; i < EXTRA_MAX; i++)
        json_text(j, policy_extra_words[i].name, rule_name((enum rule)policy->extras[i]));
    json_text(j, "unread", policy_unread_words[policy->unread]);
    json_object_end(j);
}

static int print_json(const struct policy *policy, struct err *err)
{
    struct json j = { .out = stdout };
    int result;

    json_object(&j, NULL);
    json_text(&j, "name", policy->name);
    json_text(&j, "description", policy->description);
    json_hex(&j, "digest", (struct bytes){ policy->digest, sizeof(policy->digest) });
    json_rules(&j, policy);
    json_object(&j, "names");
    json_list(&j, "keep-suffixes", policy->suffixes);
    json_list(&j, "keep-prefixes", policy->prefixes);
    json_object_end(&j);
    json_object(&j, "addresses");
    json_array(&j, "keep-ranges");
    for (const struct policy_word *word = policy_range_words; word->name; word++)
        if (policy->ranges & word->value)
            json_text(&j, NULL, word->name);
    json_array_end(&j);
    json_object_end(&j);
    json_object(&j, "time");
    json_u64(&j, "shift-days", policy->shift_days);
    json_object_end(&j);
    json_keep(&j, policy);
    if (json_fields(&j, policy, err) < 0)
        return -err->code;
    result = json_warnings(&j, policy, err);
    json_object_end(&j);
    json_end(&j);
    return result;
}

static int print_text(const struct policy *policy, struct err *err)
{
    struct buf text = { 0 };
    int result = policy_print(policy, &text, err);

    if (result == 0) {
        printf("# SHA-256 of what follows this line: ");
        for (size_t i = 0; i < sizeof(policy->digest); i++)
            printf("%02x", policy->digest[i]);
        printf("\n%.*s", (int)text.len, (const char *)text.data);
    }
    buf_free(&text);
    return result;
}

static int show(int argc, char **argv, struct err *err)
{
    bool json = false;
    const struct arg own[] = {
        { 'j', "json", NULL, "print JSON, with digest and warnings", set_flag, &json },
        { 0 },
    };
    const struct args args = {
        "nfsdigest policy show [OPTION...] NAME|FILE",
        "Prints a policy with every rule, as a policy file with the same meaning.\n", own, NULL,
        NULL
    };
    struct policy *policy;
    int first, result = args_parse(&args, argc, argv, &first, err);

    if (result != 1)
        return result;
    if (first + 1 != argc)
        return err_set(err, ERR_USAGE, "policy show takes one policy: a name or a file");
    if (policy_load(argv[first], &policy, err) < 0)
        return -err->code;
    result = json ? print_json(policy, err) : print_text(policy, err);
    policy_free(policy);
    return result;
}

/* --- check */

/* A policy that cannot be used, or, without |error|, |policy|. */
static int check_json(const char *what, const struct policy *policy, const char *error,
                      struct err *err)
{
    struct json j = { .out = stdout };
    int result = 0;

    json_object(&j, NULL);
    json_text(&j, "policy", what);
    json_bool(&j, "usable", !error);
    if (error) {
        json_text(&j, "error", error);
    } else {
        json_text(&j, "name", policy->name);
        result = json_warnings(&j, policy, err);
    }
    json_object_end(&j);
    json_end(&j);
    return result;
}

static int check_one(const char *what, bool json, struct err *err)
{
    struct buf text = { 0 };
    struct policy *policy;
    int count;

    if (policy_load(what, &policy, err) < 0)
        return -err->code;
    if (json) {
        count = check_json(what, policy, NULL, err);
        policy_free(policy);
        return count;
    }
    count = policy_warn(policy, &text, err);
    if (count >= 0) {
        escape_print(stdout, what);
        printf(": policy %s can be used; %s\n", policy->name,
               count ? "it gives away:" : "it hides all that a policy can hide");
    }
    for (const char *line = (const char *)text.data, *end = line + text.len;
         count > 0 && line < end; line += strcspn(line, "\n") + 1)
        printf("    %.*s\n", (int)strcspn(line, "\n"), line);
    buf_free(&text);
    policy_free(policy);
    return count < 0 ? count : 0;
}

static int check(int argc, char **argv, struct err *err)
{
    bool json = false;
    const struct arg own[] = {
        { 'j', "json", NULL, "print a JSON object for each policy", set_flag, &json },
        { 0 },
    };
    const struct args args = { "nfsdigest policy check [OPTION...] NAME|FILE...",
                               "Checks policies, and prints what each of them gives away.\n"
                               "Exit code 0: all can be used; 3: one cannot, and the\n"
                               "message names the line.\n",
                               own, NULL, NULL };
    int first, worst = 0, result = args_parse(&args, argc, argv, &first, err);

    if (result != 1)
        return result;
    if (first == argc)
        return err_set(err, ERR_USAGE, "nothing to check: name policies or files");
    for (int i = first; i < argc; i++) {
        result = check_one(argv[i], json, err);
        if (result == -ERR_INPUT) {
            say(err->text);
            worst = ERR_INPUT;
            if (json)
                check_json(argv[i], NULL, err->text, err);
        } else if (result < 0) {
            return result;
        }
    }
    return worst;
}

int cmd_policy(int argc, char **argv, struct err *err)
{
    static const struct command commands[] = {
        { "policy list", list, "list the built-in policies" },
        { "policy show", show, "print a policy in full" },
        { "policy check", check, "check a policy, and print what it gives away" },
        { "policy survives", cmd_policy_survives, "list what stays of a capture, and why" },
        { 0 },
    };

    return commands_run(commands, about, argc, argv, err);
}
