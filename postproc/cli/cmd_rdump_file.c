/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd_rdump_file.h"
#include "base/values.h"
#include "cli/cli.h"
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
    if (args->json && !args->dump)
        return err_set(err, ERR_USAGE, "--json goes with --dump only");
    if (args->check && args->output)
        return err_set(err, ERR_USAGE, "--check writes no file: not with --output");
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

static int check(int fd, const char *name, struct err *err)
{
    char operations[VALUE_TEXT_MAX], objects[VALUE_TEXT_MAX];
    struct rdump_summary summary;
    int result = rdump_check(fd, name, &summary, err);

    printf("%.*s", (int)summary.text.len, (const char *)summary.text.data);
    if (summary.findings > RDUMP_FINDINGS_SHOWN)
        printf("%s: %llu findings, the first %d are shown\n", name,
               (unsigned long long)summary.findings, RDUMP_FINDINGS_SHOWN);
    count_text(summary.totals.operations, operations);
    count_text(summary.totals.objects, objects);
    if (result == 0 && !summary.findings)
        printf("%s: a replay dump of %s operations on a tree of %s objects, nothing wrong\n", name,
               operations, objects);
    else if (result < 0)
        printf("%s: %s objects and %s operations can be read\n", name, objects, operations);
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
    result = args->check ? check(fd, name, err) : convert(fd, name, args, err);
    if (fd != STDIN_FILENO)
        close(fd);
    return result;
}
