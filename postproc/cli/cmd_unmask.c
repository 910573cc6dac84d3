/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/key.h"
#include "anon/unmask.h"
#include "base/json.h"
#include "cli/cli.h"
#include "show/args.h"

#include <errno.h>
#include <string.h>

static const char about[] =
    "Finds the originals of values in an anonymized capture, with the key and the\n"
    "policy that it was made with.  Prints each value, a tab, and its original.\n"
    "\n"
    "CLASS says what the values are:\n"
    "  address                                     as RFC 5952 writes it\n"
    "  uid, gid, fileid, fsid, device, cookie,\n"
    "  verifier, lock_owner, time, stamp, xid,\n"
    "  port                                        numbers, hexadecimal with 0x\n"
    "  handle                                      hexadecimal\n"
    "  name, path, host                            text\n"
    "\n"
    "Names, paths and hosts that became tokens cannot be mapped back.  For these,\n"
    "use --candidates to guess: it prints the candidates that became one of the\n"
    "values, or without values all candidates with their pseudonyms.\n"
    "\n"
    "Bytes that are not printable UTF-8 are written \\xNN, and a backslash \\\\.\n"
    "Exit code 0: success; 1: no candidate became one of the values.\n";

struct unmask_args {
    const char *key, *policy, *candidates, *cls;
    bool forward, json;
};

static void print_pair(const struct unmask_args *a, bool original_first, const char *pseudonym,
                       const char *original)
{
    struct json j = { .out = stdout };

    if (!a->json) {
        printf("%s\t%s\n", original_first ? original : pseudonym,
               original_first ? pseudonym : original);
        return;
    }
    json_object(&j, NULL);
    json_text(&j, "class", a->cls);
    json_text(&j, "pseudonym", pseudonym);
    json_text(&j, "original", original);
    json_object_end(&j);
    json_end(&j);
}

static void print_guess(void *ctx, const char *pseudonym, const char *original)
{
    print_pair(ctx, false, pseudonym, original);
}

static int print_values(const struct unmask_args *a, struct unmask *u, char **values, int count,
                        struct err *err)
{
    const char *result;

    for (int i = 0; i < count; i++) {
        if (unmask_value(u, values[i], !a->forward, &result, err) < 0)
            return -err->code;
        print_pair(a, a->forward, a->forward ? result : values[i], a->forward ? values[i] : result);
    }
    return 0;
}

/* Exit code: 0, or EXIT_FINDINGS when there are |values| and no candidate is one of them. */
static int try_candidates(const struct unmask_args *a, struct unmask *u, char **values, int count,
                          struct err *err)
{
    bool standard = strcmp(a->candidates, "-") == 0;
    struct unmask_guess guess = { .file = standard ? stdin : fopen(a->candidates, "r"),
                                  .name = standard ? "standard input" : a->candidates,
                                  .values = values,
                                  .count = count,
                                  .show = print_guess,
                                  .ctx = (void *)a };
    int result;

    if (!guess.file)
        return err_set(err, ERR_INPUT, "%s: cannot open: %s", guess.name, strerror(errno));
    result = unmask_candidates(u, &guess, err);
    if (!standard)
        fclose(guess.file);
    return result > 0 ? EXIT_FINDINGS : result;
}

static int check_request(const struct unmask_args *a, const struct unmask *u, int values,
                         struct err *err)
{
    if (a->candidates)
        return a->forward ? err_set(err, ERR_USAGE, "--candidates are originals: without --forward")
               : !unmask_is_text(u)
                   ? err_set(err, ERR_USAGE, "--candidates are names, paths or hosts, not %s",
                             a->cls)
                   : 0;
    if (!values)
        return err_set(err, ERR_USAGE, "no value to look up");
    if (!a->forward && !unmask_has_way_back(u))
        return err_set(err, ERR_USAGE, "a %s under \"%s\" of policy %s cannot be mapped back%s",
                       a->cls, unmask_rule(u), unmask_policy(u),
                       unmask_is_text(u) ? ": guess with --candidates" : "");
    return 0;
}

static int run(struct unmask_args *a, char **argv, int count, struct err *err)
{
    struct unmask *u;
    int result;

    if (!a->key)
        return err_set(err, ERR_USAGE, "--key FILE is needed");
    if (!count)
        return err_set(err, ERR_USAGE, "name a class of values, and values");
    a->cls = argv[0];
    key_refuse_dumps();
    u = unmask_new(a->key, a->policy, a->cls, err);
    if (!u)
        return -err->code;
    result = check_request(a, u, count - 1, err);
    if (result == 0)
        result = a->candidates ? try_candidates(a, u, argv + 1, count - 1, err)
                               : print_values(a, u, argv + 1, count - 1, err);
    unmask_free(u);
    return result;
}

int cmd_unmask(int argc, char **argv, struct err *err)
{
    struct unmask_args a = { .policy = "public" };
    const struct arg own[] = {
        { 'k', "key", "FILE", "the key of the capture", set_text, &a.key },
        { 'p', "policy", "NAME|FILE", "the policy of the capture (public)", set_text, &a.policy },
        { 0, "candidates", "FILE|-", "names, paths or hosts to try, one on each line", set_text,
          &a.candidates },
        { 0, "forward", NULL, "the other direction: values are originals", set_flag, &a.forward },
        { 'j', "json", NULL, "print a JSON object on each line", set_flag, &a.json },
        { 0 },
    };
    const struct args args = { "nfsdigest unmask --key FILE [OPTION...] CLASS [VALUE...]", about,
                               own, NULL, NULL };
    int first, result = args_parse(&args, argc, argv, &first, err);

    if (result != 1)
        return result;
    return run(&a, argv + first, argc - first, err);
}
