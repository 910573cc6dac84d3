/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_package.c
 *
 * "nfsdigest package": its options, for making an archive and for checking one, and which of them
 * exclude each other.  The work is package.h's; the contract of subcommands is in cli.h.
 */
#include "anon/key.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/engine_args.h"
#include "cli/outputs.h"
#include "cli/cli.h"
#include "package/package.h"

#include <stdlib.h>
#include <string.h>

static const char about[] =
    "Makes a release of a trace for the public: an archive (tar.zst) with the\n"
    "anonymized captures, the report of their audit, the database and the replay\n"
    "dump made from them, the policy, statistics, plots, formats and sums.\n"
    "\n"
    "If the audit finds anything that is not accepted, its report is shown and no\n"
    "archive is made: exit code 1.  The same captures, key and options give the\n"
    "same bytes.\n"
    "\n"
    "With --verify it checks such an archive: it makes everything in it again from\n"
    "its own capture, compares bytes, and says on standard output what is wrong.\n"
    "Exit code 0: nothing is wrong; 1: something is wrong, or other versions made\n"
    "the archive; 3: the file is not such an archive.\n";

struct package_args {
    struct package_options options;
    bool verify, json;
    const char *max_size;
};

static void show_finding(void *ctx, const char *text)
{
    escape_print(stdout, ctx);
    fputs(": ", stdout);
    escape_print(stdout, text);
    putchar('\n');
}

static void put_finding(void *ctx, const char *text)
{
    json_text(ctx, NULL, text);
}

/* As verify_archive, as JSON. */
static int verify_json(struct package_check *check, const char *path, struct err *err)
{
    struct json j = { .out = stdout };
    int result;

    json_object(&j, NULL);
    json_file(&j, "archive", path);
    json_array(&j, "findings"); /* notes on findings that the maker accepted are among them */
    check->show = check->note = put_finding;
    check->ctx = &j;
    result = package_verify(path, check, err);
    json_array_end(&j);
    json_u64(&j, "wrong", check->findings);
    json_u64(&j, "accepted", check->accepted);
    json_text(&j, "package", check->name);
    json_u64(&j, "files", check->members);
    json_u64(&j, "bytes", check->bytes);
    json_u64(&j, "operations", check->operations);
    json_object_end(&j);
    json_end(&j);
    if (result >= 0 && j.failed)
        return err_memory(err, "findings");
    return result < 0 ? result : check->findings ? EXIT_FINDINGS : 0;
}

static int verify_archive(const struct package_args *a, const char *path, struct err *err)
{
    struct package_check check = {
        .show = show_finding, .note = show_finding, .ctx = (void *)path, .progress = &progress_line
    };
    char members[VALUE_TEXT_MAX], size[VALUE_TEXT_MAX], operations[VALUE_TEXT_MAX];
    int result;

    if (a->max_size && (!parse_size(a->max_size, &check.bytes_max) || !check.bytes_max))
        return err_set(err, ERR_USAGE, "--max-size: \"%s\" is not a size above 0", a->max_size);
    if (a->json)
        return verify_json(&check, path, err);
    result = package_verify(path, &check, err);
    if (result < 0)
        return result;
    if (check.findings)
        return EXIT_FINDINGS;
    escape_print(stdout, path);
    printf(": package %s of %s files, %s, %s operations, nothing wrong%s\n", check.name,
           count_text(check.members, members), size_text(check.bytes, size),
           count_text(check.operations, operations),
           check.accepted ? " except for the findings that its maker accepted" : "");
    return 0;
}

/* https://reproducible-builds.org/specs/source-date-epoch/ */
static int read_date(int64_t *date, struct err *err)
{
    const char *text = getenv("SOURCE_DATE_EPOCH");
    uint64_t value;

    *date = -1;
    if (!text || !*text)
        return 0;
    if (!parse_number(text, &value) || value > INT32_MAX * UINT64_C(4))
        return err_set(err, ERR_USAGE, "SOURCE_DATE_EPOCH: \"%s\" is not a number of seconds",
                       text);
    *date = (int64_t)value;
    return 0;
}

static int tell_made(const struct package_options *o, int count, char **captures, struct err *err)
{
    struct json j = { .out = stdout };

    json_object(&j, NULL);
    json_file(&j, "archive", o->output);
    json_array(&j, "captures");
    for (int i = 0; i < count; i++)
        json_file(&j, NULL, captures[i]);
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
    return j.failed ? err_memory(err, "names") : finish_output(err);
}

/* --force replaces another file, not what is read. */
static int spare_inputs(const struct package_options *o, int count, char **captures,
                        struct err *err)
{
    const char *const files[] = { o->key, o->policy, o->description, o->accept };

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char *const file = (char *)files[i];

        if (file && outputs_spare_each(&file, 1, "", "--output", o->output, err) < 0)
            return -err->code;
    }
    return outputs_spare_each(captures, (uint32_t)count, "", "--output", o->output, err);
}

static int make_archive(struct package_args *a, int count, char **captures, struct err *err)
{
    int result;

    if (a->max_size)
        return err_set(err, ERR_USAGE, "--max-size goes with --verify");
    if (!count)
        return err_set(err, ERR_USAGE, "nothing to package: name captures");
    if (!a->options.output || strcmp(a->options.output, "-") == 0)
        return err_set(err, ERR_USAGE, "give the archive's name with -o NAME.tar.zst");
    if (!a->options.key)
        return err_set(err, ERR_USAGE,
                       "give the key with --key FILE; \"nfsdigest key new FILE\" makes one");
    if (spare_inputs(&a->options, count, captures, err) < 0 || read_date(&a->options.date, err) < 0)
        return -err->code;
    a->options.report = stdout;
    a->options.json = a->json;
    a->options.progress = &progress_line;
    result = package_make(&a->options, count, captures, err);
    if (result == EXIT_FINDINGS)
        say(err->text);
    return result == 0 && a->json ? tell_made(&a->options, count, captures, err) : result;
}

/* Which options of a new archive were given. */
static bool is_making(const struct package_options *o)
{
    return o->output || o->key || o->name || o->title || o->license || o->description || o->force ||
           o->no_database || o->no_rdump || o->accept || o->findings;
}

int cmd_package(int argc, char **argv, struct err *err)
{
    struct package_args a = { .options = { .policy = "public" } };
    struct package_options *o = &a.options;
    struct engine_args engine;
    struct arg more[ENGINE_ARG_COUNT];
    const struct arg own[] = {
        { 'o', "output", "FILE", "the archive, NAME.tar.zst", set_text, &o->output },
        { 'k', "key", "FILE", "the key that decides the pseudonyms\n(made by nfsdigest key new)",
          set_text, &o->key },
        { 'p', "policy", "NAME|FILE",
          "public (default), lab, strict, or a policy file\n(see nfsdigest policy list)", set_text,
          &o->policy },
        { 0, "force", NULL, "replace the archive if it exists", set_flag, &o->force },
        { 0, "name", "ID",
          "name of the package and its folder (default: made\nfrom the name of the archive)",
          set_text, &o->name },
        { 0, "title", "TEXT", "one line that readers see first", set_text, &o->title },
        { 0, "license", "SPDX-ID", "license for others, for example CC-BY-4.0", set_text,
          &o->license },
        { 0, "description", "FILE", "text (Markdown) that goes into README.md", set_text,
          &o->description },
        { 0, "no-database", NULL, "leave out trace.db", set_flag, &o->no_database },
        { 0, "no-rdump", NULL, "leave out trace.rdump", set_flag, &o->no_rdump },
        { 0, "findings", "FILE",
          "write the findings of the audit into a new file,\nso that you can accept them", set_text,
          &o->findings },
        { 0, "accept", "FILE",
          "make the archive in spite of findings: this file\nhas a reason for each", set_text,
          &o->accept },
        { 'j', "json", NULL, "print what was made, or found, as JSON", set_flag, &a.json },
        { 0, "verify", NULL, "check an archive that exists", set_flag, &a.verify },
        { 0, "max-size", "SIZE",
          "with --verify: limit of the size of all unpacked\nfiles together (64G)", set_text,
          &a.max_size },
        { 0 },
    };
    const struct args args = { "nfsdigest package -o FILE --key FILE [OPTION...] CAPTURE...\n"
                               "       nfsdigest package --verify FILE",
                               about, own, more, "How captures are read" };
    int first, result;

    engine_arg_table(&engine, false, more);
    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    o->engine = &engine.settings.options;
    if (!a.verify)
        key_refuse_dumps();
    if (!a.verify)
        return make_archive(&a, argc - first, argv + first, err);
    if (is_making(o))
        return err_set(err, ERR_USAGE, "--verify goes with --max-size and --json only");
    if (argc - first != 1)
        return err_set(err, ERR_USAGE, "--verify takes one archive");
    return verify_archive(&a, argv[first], err);
}
