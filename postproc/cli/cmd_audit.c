/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/key.h"
#include "anon/policy.h"
#include "audit/audit.h"
#include "cli/engine_args.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char about[] =
    "Checks an anonymized capture for leaks, before it is released.  It searches\n"
    "every byte of the anonymized file for everything that identifies in the\n"
    "original (names, hosts, addresses, handles, contents, ...), and compares both\n"
    "message by message and value by value.\n"
    "\n"
    "Exit code 0: clean; 1: findings.  The report quotes the original: keep it\n"
    "private, or use --redact.\n";

struct request {
    struct audit_options options;
    const char *findings, *key_path;
    struct key key;
    struct policy *policy; /* of a file */
    bool json, html, redact;
};

static int print(const struct audit *audit, const struct request *request, struct err *err)
{
    const char *cut = audit_cut(audit);

    if (request->json)
        audit_json(audit, request->redact, stdout);
    else if (request->html)
        audit_html(audit, request->redact, stdout);
    else
        audit_text(audit, request->redact, stdout);
    if (audit_findings(audit))
        return EXIT_FINDINGS;
    return cut ? err_set(err, ERR_INPUT,
                         "the %s capture is cut in the middle of a packet: what is behind was not "
                         "looked at",
                         cut)
               : 0;
}

static int check_captures(const struct request *r, struct err *err)
{
    const char *const captures[] = { r->options.original, r->options.anonymized };
    struct stat st;

    for (size_t i = 0; i < 2; i++)
        if (strcmp(captures[i], "-") == 0 ||
            (stat(captures[i], &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
            return err_set(err, ERR_USAGE, "%s: it is read more than once: give a file",
                           captures[i]);
    return 0;
}

static int load_key(struct request *r, struct err *err)
{
    if (!r->key_path)
        return 0;
    key_refuse_dumps();
    if (key_load(&r->key, r->key_path, err) < 0)
        return -err->code;
    r->options.key = &r->key;
    return 0;
}

/* A policy of a file goes by the name that it has there. */
static int load_policy(struct request *r, struct err *err)
{
    if (!r->options.policy)
        return 0;
    if (policy_load(r->options.policy, &r->policy, err) < 0)
        return -err->code;
    if (!policy_is_file(r->options.policy))
        return 0;
    r->options.policy_file = r->options.policy;
    r->options.policy = r->policy->name;
    r->options.key_policy = r->policy;
    return 0;
}

/* Long since it has the table of options. */
int cmd_audit(int argc, char **argv, struct err *err)
{
    struct request request = { 0 };
    struct engine_args engine;
    struct arg more[ENGINE_ARG_COUNT];
    uint64_t per_class = 0;
    const struct arg own[] = {
        { 'k', "key", "FILE", "also make every value again with this key, and\ncompare", set_text,
          &request.key_path },
        { 'p', "policy", "NAME|FILE",
          "the policy to expect (default: the one that the\nfile names)", set_text,
          &request.options.policy },
        { 0, "allow", "FILE", "an additional allow-list, in the form of\nschemas/audit-allow.conf",
          set_text, &request.options.allow },
        { 0, "sample", "N",
          "how many patterns of each class are searched for\n"
          "(65536); also limits the mappings to remember",
          set_count, &per_class },
        { 0, "redact", NULL, "leave out what the original says, for publication", set_flag,
          &request.redact },
        { 0, "findings", "FILE",
          "write the findings into a new file, so that you\ncan accept them with package", set_text,
          &request.findings },
        { 'j', "json", NULL, "print JSON (schemas/audit.schema.json)", set_flag, &request.json },
        { 'H', "html", NULL, "print one HTML page", set_flag, &request.html },
        { 0 },
    };
    const struct args args = { "nfsdigest audit [OPTION...] ORIGINAL ANONYMIZED",
                               about,
                               own,
                               more,
                               "How captures are read (as they were for anonymizing)",
                               2,
                               "an original and an anonymized capture" };
    struct audit *audit;
    int first, result;

    engine_arg_table(&engine, false, more);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (request.json && request.html)
        return err_set(err, ERR_USAGE, "--json and --html exclude each other");
    if (per_class > UINT32_MAX / 2)
        return err_set(err, ERR_USAGE, "--sample: too many");
    request.options.original = argv[first];
    request.options.anonymized = argv[first + 1];
    request.options.engine = &engine.settings.options;
    request.options.per_class = (uint32_t)per_class;
    audit = NULL;
    result = check_captures(&request, err);
    if (result == 0)
        result = load_key(&request, err);
    if (result == 0)
        result = load_policy(&request, err);
    request.options.progress = &progress_line;
    if (result == 0 && !(audit = audit_run(&request.options, err)))
        result = -err->code;
    progress_clear();
    key_forget(&request.key);
    if (result == 0 && request.findings)
        result = audit_template(audit, request.findings, err);
    if (result == 0)
        result = print(audit, &request, err);
    audit_free(audit);
    policy_free(request.policy);
    return result;
}
