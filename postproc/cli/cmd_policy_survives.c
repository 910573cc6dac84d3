/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/policy_parts.h"
#include "audit/survive.h"
#include "cli/engine_args.h"
#include "cli/cli.h"

#include <string.h>

static const char about[] =
    "Lists which values of a capture are unchanged in its anonymized capture, field\n"
    "by field: how many values, how many distinct ones, and why the policy leaves\n"
    "them.  A value is compared with the value in the same place, also in the\n"
    "headers of packets.  \"by chance\" marks a pseudonym that happens to equal its\n"
    "original.  The audit judges; this command only lists.\n";

/* --- the policy's rules */

static const char *rule_of(void *ctx, unsigned cls, const char *place)
{
    static const uint8_t extras[] = { [ITEM_XID - CLASS_MAX] = EXTRA_XID,
                                      [ITEM_STAMP - CLASS_MAX] = EXTRA_STAMP,
                                      [ITEM_CREDENTIAL - CLASS_MAX] = EXTRA_CREDENTIAL };
    const struct policy *policy = ctx;

    if (cls == ITEM_HEADER)
        return rule_name(RULE_KEEP);
    if (!policy)
        return NULL;
    if (cls >= CLASS_MAX)
        return rule_name((enum rule)policy->extras[extras[cls - CLASS_MAX]]);
    for (uint32_t i = 0; i < policy->override_count; i++)
        if (strcmp(policy->overrides[i].path, place) == 0)
            return rule_name((enum rule)policy->overrides[i].rule);
    return rule_name((enum rule)policy->rules[cls]);
}

static bool is_builtin(const char *name)
{
    for (const struct policy_builtin *row = policy_builtins; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return true;
    return false;
}

struct request {
    const char *policy;
    uint64_t examples;
    bool all, json;
};

static int print(struct survive *survive, const struct request *request, struct err *err)
{
    const char *stated = survive_policy(survive), *cut = survive_cut(survive);
    const char *name = request->policy ? request->policy : stated;
    struct policy *policy = NULL;
    struct survive_show show = { .rule = rule_of,
                                 .examples = request->all ? UINT64_MAX : request->examples };
    int result = 0;

    if ((request->policy || is_builtin(stated)) && policy_load(name, &policy, err) < 0)
        return -err->code;
    show.ctx = policy;
    show.policy = policy ? policy->name : stated[0] ? stated : "unknown";
    result = request->json ? survive_json(survive, &show, stdout, err)
                           : survive_text(survive, &show, stdout, err);
    policy_free(policy);
    if (result == 0 && cut)
        return err_set(err, ERR_INPUT,
                       "the %s capture is cut in the middle of a packet: what is behind was not "
                       "looked at",
                       cut);
    return result;
}

int cmd_policy_survives(int argc, char **argv, struct err *err)
{
    struct request request = { .examples = 3 };
    struct engine_args engine;
    struct arg more[ENGINE_ARG_COUNT];
    const struct arg own[] = {
        { 'p', "policy", "NAME|FILE",
          "the policy whose rules explain the values\n(default: the one that the file names)",
          set_text, &request.policy },
        { 'e', "examples", "N",
          "how many values of each field are shown, the most\nfrequent ones first (3)", set_count,
          &request.examples },
        { 0, "all", NULL, "show all values", set_flag, &request.all },
        { 'j', "json", NULL, "print JSON", set_flag, &request.json },
        { 0 },
    };
    const struct args args = { "nfsdigest policy survives [OPTION...] ORIGINAL ANONYMIZED",
                               about,
                               own,
                               more,
                               "How captures are read (as they were for anonymizing)",
                               2,
                               "an original and an anonymized capture" };
    struct survive_options options = { .engine = &engine.settings.options };
    struct survive *survive;
    int first, result;

    engine_arg_table(&engine, false, more);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    options.original = argv[first];
    options.anonymized = argv[first + 1];
    survive = survive_run(&options, err);
    if (!survive)
        return -err->code;
    result = print(survive, &request, err);
    survive_free(survive);
    return result;
}
