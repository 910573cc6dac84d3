/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/cli.h"
#include "cli/trace.h"
#include "record/nfsr.h"
#include "record/nfsr_check.h"
#include "show/args.h"
#include "show/colour.h"
#include "store/store_verify.h"

#include <stdarg.h>
#include <string.h>

static const char about[] =
    "Verifies trace databases and record streams.  Standard output lists what is\n"
    "wrong with each file.  In a database it checks the structure, the references,\n"
    "the counts of each source against the rows, and that each body is the XDR of\n"
    "its procedure.  The exit code is 0 if nothing is wrong, 1 if something is, and\n"
    "3 if a file cannot be read, or not to its end.\n";

/* With --json, one object for each file; its array of findings is open while it is checked. */
struct checked {
    const char *path;
    struct json *json; /* NULL: text */
};

/* The file's name has the colour. */
static void print_name(const char *path, enum colour colour)
{
    colour_begin(stdout, colour_is_wanted(stdout), colour);
    escape_print(stdout, path);
    colour_end(stdout, colour_is_wanted(stdout));
    fputs(": ", stdout);
}

static void print_line(const char *path, enum colour colour, const char *text)
{
    print_name(path, colour);
    escape_print(stdout, text);
    putchar('\n');
}

static void print_finding(void *ctx, const char *text)
{
    const struct checked *c = ctx;

    if (c->json)
        json_text(c->json, NULL, text);
    else
        print_line(c->path, COLOUR_BAD, text);
}

static void json_begin(const struct checked *c, const char *kind)
{
    if (!c->json)
        return;
    json_object(c->json, NULL);
    json_file(c->json, "file", c->path);
    json_text(c->json, "kind", kind);
    json_array(c->json, "shown");
}

/* |err|: why it cannot be read, or not to its end; or NULL. */
static void json_finish(const struct checked *c, uint64_t findings, const struct err *err)
{
    if (!c->json)
        return;
    json_array_end(c->json);
    json_u64(c->json, "findings", findings);
    json_text(c->json, "error", err ? err->text : NULL);
    json_object_end(c->json);
    json_end(c->json);
}

static int check_database(const struct checked *c, struct err *err)
{
    struct store *store = store_open(c->path, STORE_READ, err);
    uint64_t findings = 0;
    int result;

    if (store)
        trace_say_unfinished(store);
    json_begin(c, "trace database");
    result = store ? verify(store, print_finding, (void *)c, &findings, err) : -err->code;
    json_finish(c, findings, result < 0 ? err : NULL);
    store_close(store);
    if (result < 0)
        return result;
    if (!findings && !c->json)
        print_line(c->path, COLOUR_GOOD, "a trace database, nothing wrong");
    return findings ? EXIT_FINDINGS : 0;
}

__attribute__((format(printf, 3, 4))) static void print(const char *name, enum colour colour,
                                                        const char *format, ...)
{
    va_list args;

    print_name(name, colour);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

/* Findings of a stream are lines. */
static void json_lines(struct json *j, struct bytes text)
{
    char line[512];

    while (text.len) {
        const uint8_t *end = memchr(text.data, '\n', text.len);
        uint32_t len = end ? (uint32_t)(end - text.data) : text.len;

        snprintf(line, sizeof(line), "%.*s", (int)len, (const char *)text.data);
        json_text(j, NULL, line);
        len += end != NULL;
        text.data += len;
        text.len -= len;
    }
}

static void print_stream(const char *name, const struct nfsr_summary *summary, uint64_t total,
                         int result)
{
    char records[VALUE_TEXT_MAX], frames[VALUE_TEXT_MAX];

    if (summary->text.len)
        printf("%.*s", (int)summary->text.len, (const char *)summary->text.data);
    if (summary->findings > NFSR_FINDINGS_SHOWN)
        print(name, COLOUR_BAD, "%llu findings, the first %d are shown",
              (unsigned long long)summary->findings, NFSR_FINDINGS_SHOWN);
    if (result == 0 && !summary->findings)
        print(name, COLOUR_GOOD, "a record stream of %s records from %s frames, nothing wrong",
              count_text(total, records), count_text(summary->end.frames, frames));
    else if (result < 0)
        print(name, COLOUR_BAD, "%s records can be read", count_text(total, records));
}

static int check_stream(const struct checked *c, struct input *input, struct err *err)
{
    const char *name = input_name(input);
    struct nfsr_summary summary;
    uint64_t total = 0;
    int result = nfsr_check(input_read, input, name, &summary, err);

    for (int i = 0; i < RECORD_KIND_MAX; i++)
        total += summary.records[i];
    if (c->json) {
        json_begin(c, "record stream");
        json_lines(c->json, (struct bytes){ summary.text.data, summary.text.len });
        json_finish(c, summary.findings, result < 0 ? err : NULL);
    } else {
        print_stream(name, &summary, total, result);
    }
    result = result < 0 ? result : summary.findings ? EXIT_FINDINGS : 0;
    nfsr_summary_free(&summary);
    return result;
}

/* It is neither a database nor a stream, or there is no such file. */
static int refuse(const struct checked *c, const struct err *err)
{
    json_begin(c, NULL);
    json_finish(c, 0, err);
    return -err->code;
}

static int check_file(const struct checked *c, struct err *err)
{
    struct input *input = input_open(c->path, false, err);
    const uint8_t *head;
    size_t len;
    int result;

    if (!input)
        return refuse(c, err);
    len = input_head(input, &head);
    if (store_is_database(head, len)) {
        result = input_is_file(input) ? 0 : store_no_stream(input_name(input), err);
        input_close(input);
        return result < 0 ? refuse(c, err) : check_database(c, err);
    }
    if (nfsr_is_stream(head, len)) {
        result = check_stream(c, input, err);
    } else {
        err_set(err, ERR_INPUT, "%s: %s", input_name(input),
                len ? "neither a trace database nor a record stream, at byte 0" : "empty");
        result = refuse(c, err);
    }
    input_close(input);
    return result;
}

int cmd_check(int argc, char **argv, struct err *err)
{
    bool json = false;
    const struct arg own[] = {
        { 'j', "json", NULL, "print a JSON object for each file", set_flag, &json },
        { 0 },
    };
    struct json j = { .out = stdout };
    const struct args args = { "nfsdigest check [OPTION...] FILE...", about, own, NULL, NULL };
    int first, worst = 0, result;

    result = args_parse(&args, argc, argv, &first, err);
    if (result != 1)
        return result;
    if (first == argc)
        return err_set(err, ERR_USAGE, "nothing to check: name databases or record streams");
    for (int i = first; i < argc; i++) {
        const struct checked checked = { argv[i], json ? &j : NULL };

        result = check_file(&checked, err);
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
