/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/escape.h"
#include "base/values.h"
#include "cli/cli.h"
#include "record/nfsr.h"
#include "record/nfsr_check.h"
#include "show/args.h"
#include "store/store_verify.h"

#include <stdarg.h>

static const char about[] =
    "Verifies trace databases and record streams.  Standard output lists what is\n"
    "wrong with each file.  In a database it checks the structure, the references,\n"
    "the counts of each source against the rows, and that each body is the XDR of\n"
    "its procedure.  The exit code is 0 if nothing is wrong, 1 if something is, and\n"
    "3 if a file cannot be read, or not to its end.\n";

static void print_finding(void *ctx, const char *text)
{
    escape_print(stdout, ctx);
    fputs(": ", stdout);
    escape_print(stdout, text);
    putchar('\n');
}

static int check_database(const char *path, struct err *err)
{
    struct store *store = store_open(path, STORE_READ, err);
    uint64_t findings = 0;
    int result = store ? verify(store, print_finding, (void *)path, &findings, err) : -err->code;

    store_close(store);
    if (result < 0)
        return result;
    if (!findings)
        print_finding((void *)path, "a trace database, nothing wrong");
    return findings ? EXIT_FINDINGS : 0;
}

__attribute__((format(printf, 2, 3))) static void print(const char *name, const char *format, ...)
{
    va_list args;

    escape_print(stdout, name);
    fputs(": ", stdout);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

static int check_stream(struct input *input, struct err *err)
{
    const char *name = input_name(input);
    char records[VALUE_TEXT_MAX], frames[VALUE_TEXT_MAX];
    struct nfsr_summary summary;
    uint64_t total = 0;
    int result = nfsr_check(input_read, input, name, &summary, err);

    for (int i = 0; i < RECORD_KIND_MAX; i++)
        total += summary.records[i];
    if (summary.text.len)
        printf("%.*s", (int)summary.text.len, (const char *)summary.text.data);
    if (summary.findings > NFSR_FINDINGS_SHOWN)
        print(name, "%llu findings, the first %d are shown", (unsigned long long)summary.findings,
              NFSR_FINDINGS_SHOWN);
    if (result == 0 && !summary.findings)
        print(name, "a record stream of %s records from %s frames, nothing wrong",
              count_text(total, records), count_text(summary.end.frames, frames));
    else if (result < 0)
        print(name, "%s records can be read", count_text(total, records));
    result = result < 0 ? result : summary.findings ? EXIT_FINDINGS : 0;
    nfsr_summary_free(&summary);
    return result;
}

static int check_file(const char *path, struct err *err)
{
    struct input *input = input_open(path, false, err);
    const uint8_t *head;
    size_t len;
    int result;

    if (!input)
        return -err->code;
    len = input_head(input, &head);
    if (store_is_database(head, len)) {
        result = input_is_file(input) ? 0 : store_no_stream(input_name(input), err);
        input_close(input);
        return result < 0 ? result : check_database(path, err);
    }
    result =
        nfsr_is_stream(head, len)
            ? check_stream(input, err)
            : err_set(err, ERR_INPUT, "%s: %s", input_name(input),
                      len ? "neither a trace database nor a record stream, at byte 0" : "empty");
    input_close(input);
    return result;
}

int cmd_check(int argc, char **argv, struct err *err)
{
    static const struct arg own[] = { { 0 } };
    const struct args args = { "nfsdigest check FILE...", about, own, NULL, NULL };
    int first, worst = 0, result;

    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (first == argc)
        return err_set(err, ERR_USAGE, "nothing to check: name databases or record streams");
    for (int i = first; i < argc; i++) {
        result = check_file(argv[i], err);
        if (result == -ERR_INPUT) {
            say(err->text);
            result = ERR_INPUT;
        }
        if (result < 0)
            return result;
        if (result > worst)
            worst = result;
    }
    return worst;
}
