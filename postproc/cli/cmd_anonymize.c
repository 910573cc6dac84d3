/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/anon.h"
#include "base/json.h"
#include "capture/convert.h"
#include "cli/engine_args.h"
#include "cli/outputs.h"
#include "cli/cli.h"

#include <string.h>
#include <unistd.h>

static const char about[] =
    "Makes one anonymized pcapng file from captures.\n"
    "\n"
    "CAPTURE is a pcap or pcapng file, also compressed with gzip, zstd, xz, lz4 or\n"
    "bzip2, or \"-\" for standard input.  Several captures are read one after the\n"
    "other, as if they were one.\n"
    "\n"
    "Every message is decoded and written again by the rules of the policy, in new\n"
    "frames.  Nothing else of the captures gets into the file.  Check the result\n"
    "with \"nfsdigest audit\" before it leaves the site.\n";

struct anonymizer {
    const char *output, *policy_name, *key_path;
    bool force, stats, json;
    struct engine_args options;
    struct policy *policy;
    struct key key;
    struct output *file;
    struct anon *anon;
};

static int open_output(void *ctx, struct engine **engine, struct err *err)
{
    struct anonymizer *a = ctx;

    a->file = a->force ? output_open(a->output, err) : output_open_new(a->output, err);
    if (!a->file && err->code == ERR_USAGE)
        return err_set(err, ERR_USAGE, "%s exists: --force replaces it", a->output);
    if (a->file)
        a->anon =
            anon_new(&a->options.settings.options, a->policy, &a->key, output_write, a->file, err);
    if (!a->anon)
        return -err->code;
    *engine = anon_engine(a->anon);
    return 0;
}

static int show_counter(void *ctx, const char *name, uint64_t value, struct err *err)
{
    (void)err;
    fprintf(ctx, "%14llu  %s\n", (unsigned long long)value, name);
    return 0;
}

static int put_counter(void *ctx, const char *name, uint64_t value, struct err *err)
{
    (void)err;
    json_u64(ctx, name, value);
    return 0;
}

static int print_counters(const struct anonymizer *a, struct err *err)
{
    struct json j = { .out = stdout };
    int result;

    json_object(&j, NULL);
    result = anon_counters(a->anon, put_counter, &j, err);
    json_object_end(&j);
    json_end(&j);
    return result;
}

static int end_output(void *ctx, bool cut, struct err *err)
{
    struct anonymizer *a = ctx;

    if (anon_end(a->anon, cut, err) < 0 || output_commit(a->file, err) < 0)
        return -err->code;
    progress_clear();
    if (a->json && print_counters(a, err) < 0)
        return -err->code;
    return a->stats ? anon_counters(a->anon, show_counter, stderr, err) : 0;
}

static int check(const struct anonymizer *a, int inputs, struct err *err)
{
    if (!inputs)
        return err_set(err, ERR_USAGE, "nothing to anonymize: name captures or \"-\"");
    if (!a->key_path)
        return err_set(err, ERR_USAGE,
                       "give the key with --key FILE; \"nfsdigest key new FILE\" makes one");
    if (a->json && (!a->output || strcmp(a->output, "-") == 0))
        return err_set(err, ERR_USAGE, "--json goes to standard output: use -o FILE");
    if (!a->output && isatty(STDOUT_FILENO))
        return err_set(err, ERR_USAGE, "refusing to write a capture to a terminal: use -o FILE");
    return 0;
}

/* --force replaces another file, not what is read. */
static int spare_inputs(const struct anonymizer *a, char **captures, int count, struct err *err)
{
    char *const others[] = { (char *)a->key_path, (char *)a->policy_name };

    if (outputs_spare_each(captures, (uint32_t)count, "", "--output", a->output, err) < 0 ||
        outputs_spare_each(others, 2, "", "--output", a->output, err) < 0)
        return -err->code;
    return 0;
}

int cmd_anonymize(int argc, char **argv, struct err *err)
{
    struct anonymizer a = { .policy_name = "public" };
    const struct conversion conversion = {
        .open = open_output, .end = end_output, .ctx = &a, .progress = &progress_line
    };
    struct arg more[ENGINE_ARG_COUNT];
    const struct arg own[] = {
        { 'o', "output", "FILE",
          "the anonymized capture, or \"-\" for standard output\n"
          "(the default, unless that is a terminal)",
          set_text, &a.output },
        { 'k', "key", "FILE", "the key that decides the pseudonyms\n(made by nfsdigest key new)",
          set_text, &a.key_path },
        { 'p', "policy", "NAME|FILE",
          "public (default), lab, strict, or a policy file\n(see nfsdigest policy list)", set_text,
          &a.policy_name },
        { 0, "force", NULL, "replace the output file if it exists", set_flag, &a.force },
        { 0, "stats", NULL, "print on standard error what was changed and left\nout", set_flag,
          &a.stats },
        { 'j', "json", NULL, "print the same on standard output as a JSON object", set_flag,
          &a.json },
        { 0 },
    };
    const struct args args = { "nfsdigest anonymize [OPTION...] --key FILE [-o FILE] CAPTURE...",
                               about, own, more, "How captures are read" };
    int first, result;

    engine_arg_table(&a.options, false, more);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    key_refuse_dumps();
    result = check(&a, argc - first, err);
    if (result == 0)
        result = spare_inputs(&a, argv + first, argc - first, err);
    if (result == 0)
        result = key_load(&a.key, a.key_path, err);
    if (result == 0)
        result = policy_load(a.policy_name, &a.policy, err);
    if (!a.output)
        a.output = "-";
    if (result == 0)
        result = convert_captures(&conversion, argc - first, argv + first, err);
    anon_free(a.anon);
    output_close(a.file);
    policy_free(a.policy);
    key_forget(&a.key);
    return result;
}
