/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_rdump_file.c
 *
 * nfsdigest rdump --dump, --check and --undump.  The contract is in cmd_rdump_file.h.
 */
#include "cli/cmd_rdump_file.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/values.h"
#include "cli/cli.h"
#include "cli/outputs.h"
#include "rdump/rdump_check.h"
#include "rdump/rdump_text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int rdump_file_wanted(const struct rdump_file_args *args, struct err *err)
{
    int wanted = (args->dump != NULL) + (args->check != NULL) + (args->undump != NULL);

    if (wanted > 1)
        return err_set(err, ERR_USAGE, "only one of --dump, --check and --undump");
    if (args->json && args->undump)
        return err_set(err, ERR_USAGE, "--json does not go with --undump");
    if (args->check && args->output)
        return err_set(err, ERR_USAGE, "--check writes no file: not with --output");
    if (wanted && !args->check &&
        outputs_spare(args->dump ? args->dump : args->undump, "--output", args->output, err) < 0)
        return -err->code;
    return wanted;
}

static int open_input(const char *path, struct err *err)
{
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

    return fd < 0 ? err_set(err, ERR_INPUT, "%s: cannot be opened: %s", path, strerror(errno)) : fd;
}

/* Each of these takes the open |fd|, which |name| stands for. */
static int dump(int fd, const char *name, const struct rdump_file_args *args, struct output *out,
                struct err *err)
{
    struct rdump_reader *reader = rdump_reader_new(fd, name, err);
    int result = reader ? rdump_to_text(reader, args->json, output_write, out, err) : -err->code;

    rdump_reader_free(reader);
    return result;
}

static int convert(int fd, const char *name, const struct rdump_file_args *args, struct err *err)
{
    struct output *out = output_open(args->output ? args->output : "-", err);
    int result;

    if (!out)
        return -err->code;
    result = args->dump ? dump(fd, name, args, out, err)
                        : rdump_from_text(fd, name, output_write, out, err);
    if (result == 0)
        result = output_commit(out, err);
    output_close(out);
    return result;
}

static void print_totals(struct json *j, const struct rdump_end *t)
{
    json_object(j, "totals");
    json_u64(j, "hosts", t->hosts);
    json_u64(j, "credentials", t->credentials);
    json_u64(j, "objects", t->objects);
    json_u64(j, "entries", t->entries);
    json_u64(j, "operations", t->operations);
    json_u64(j, "inferred", t->inferred);
    json_u64(j, "unplayable", t->unplayable);
    json_u64(j, "dependencies", t->dependencies);
    json_i64(j, "last_time", t->last_time);
    json_object_end(j);
}

/* A line of |text|: "WHERE: WHAT". */
static void print_finding(struct json *j, struct bytes line)
{
    uint32_t at = 0;

    while (at + 1 < line.len && !(line.data[at] == ':' && line.data[at + 1] == ' '))
        at++;
    json_object(j, NULL);
    json_name(j, "where", (struct bytes){ line.data, at });
    at = at + 2 < line.len ? at + 2 : line.len;
    json_name(j, "what", (struct bytes){ line.data + at, line.len - at });
    json_object_end(j);
}

/* schemas/rdump-check.schema.json */
static void print_check_json(const char *name, const struct rdump_summary *s, const char *damage)
{
    struct json j = { .out = stdout };
    struct bytes left = { s->text.data, (uint32_t)s->text.len };

    json_object(&j, NULL);
    json_file(&j, "dump", name);
    json_text(&j, "damage", damage);
    json_u64(&j, "findings", s->findings);
    json_array(&j, "first_findings");
    while (left.len) {
        const uint8_t *end = memchr(left.data, '\n', left.len);
        uint32_t len = end ? (uint32_t)(end - left.data) : left.len;

        print_finding(&j, (struct bytes){ left.data, len });
        left.data += len + (end != NULL);
        left.len -= len + (end != NULL);
    }
    json_array_end(&j);
    print_totals(&j, &s->totals);
    json_object_end(&j);
    json_end(&j);
}

static void print_check(const char *name, const struct rdump_summary *s, bool damaged)
{
    char operations[VALUE_TEXT_MAX], objects[VALUE_TEXT_MAX];

    printf("%.*s", (int)s->text.len, (const char *)s->text.data);
    if (s->findings > RDUMP_FINDINGS_SHOWN) {
        escape_print(stdout, name);
        printf(": %llu findings, the first %d are shown\n", (unsigned long long)s->findings,
               RDUMP_FINDINGS_SHOWN);
    }
    if (damaged || !s->findings)
        escape_print(stdout, name);
    count_text(s->totals.operations, operations);
    count_text(s->totals.objects, objects);
    if (damaged)
        printf(": %s objects and %s operations can be read\n", objects, operations);
    else if (!s->findings)
        printf(": a replay dump of %s operations on a tree of %s objects, nothing wrong\n",
               operations, objects);
}

static int check(int fd, const char *name, bool as_json, struct err *err)
{
    struct rdump_summary summary;
    int result = rdump_check(fd, name, &summary, err);

    if (as_json)
        print_check_json(name, &summary, result < 0 ? err->text : NULL);
    else
        print_check(name, &summary, result < 0);
    result = result < 0 ? result : summary.findings ? EXIT_FINDINGS : 0;
    rdump_summary_free(&summary);
    return result;
}

int rdump_file_run(const struct rdump_file_args *args, struct err *err)
{
    const char *path = args->dump ? args->dump : args->check ? args->check : args->undump;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    int fd = open_input(path, err), result;

    if (fd < 0)
        return fd;
    result = args->check ? check(fd, name, args->json, err) : convert(fd, name, args, err);
    if (fd != STDIN_FILENO)
        close(fd);
    return result;
}
