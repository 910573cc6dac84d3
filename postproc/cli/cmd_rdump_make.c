/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/cmd_rdump_make.c
 *
 * Parses which part of a trace is wanted, puts that into words for the dump itself, and makes one
 * dump or, with --split-by, one for each part (partition.h).  For cmd_rdump.c.  rdump_make.h writes
 * the dumps; the contract is in cmd_rdump_make.h.
 */
#include "cli/cmd_rdump_make.h"
#include "base/values.h"
#include "cli/outputs.h"
#include "cli/plan_print.h"
#include "cli/trace.h"
#include "plan/partition.h"
#include "plan/rdump_make.h"
#include "rdump/rdump_copies.h"
#include "show/args.h"
#include "store/ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool rdump_make_wanted(const struct rdump_make_args *a)
{
    return a->client || a->uid || a->gid || a->under || a->split_by || a->granularity ||
           a->time_scale || a->from != INT64_MIN || a->to != INT64_MAX || a->copies || a->delay ||
           a->seed || a->with_results;
}

/* One dump that is to be made. */
struct job {
    const struct rdump_make_args *args;
    sqlite3 *db;
    struct effect_filter filter;
    struct rdump_make_options options;
    char client[ADDRESS_TEXT_MAX], selection[1024];
    uint64_t operations; /* of all dumps so far */
};

static int parse_id(const char *option, const char *text, int64_t *id, struct err *err)
{
    uint64_t value;

    *id = -1;
    if (!text)
        return 0;
    if (!parse_number(text, &value) || value > UINT32_MAX)
        return err_set(err, ERR_USAGE, "--%s takes a number, not \"%s\"", option, text);
    *id = (int64_t)value;
    return 0;
}

static int parse(struct job *j, struct err *err)
{
    const struct rdump_make_args *a = j->args;
    struct address address;
    char *end = NULL;

    j->filter = (struct effect_filter){ .client = a->client, .under = a->under, .to = a->to };
    if (a->client) {
        if (read_address(a->client, &address, err) < 0)
            return err_set(err, ERR_USAGE, "--client: \"%s\" is not an IPv4 or IPv6 address",
                           a->client);
        j->filter.client = address_text(&address, j->client);
    }
    if (parse_id("uid", a->uid, &j->filter.uid, err) < 0 ||
        parse_id("gid", a->gid, &j->filter.gid, err) < 0)
        return -ERR_USAGE;
    j->options.time_scale = a->time_scale ? strtod(a->time_scale, &end) : 0;
    if (a->time_scale && (*end || end == a->time_scale ||
                          !(j->options.time_scale >= 1e-6 && j->options.time_scale <= 1e6)))
        return err_set(err, ERR_USAGE, "--time-scale takes 0.000001 to 1000000, not \"%s\"",
                       a->time_scale);
    if (a->granularity && !granularity_find(a->granularity, &j->options.granularity))
        return err_set(err, ERR_USAGE, "--granularity takes fine or object, not \"%s\"",
                       a->granularity);
    if (a->copies > RDUMP_COPIES_MAX)
        return err_set(err, ERR_USAGE, "--copies takes at most %d", RDUMP_COPIES_MAX);
    if ((a->delay || a->seed) && a->copies < 2)
        return err_set(err, ERR_USAGE, "--delay and --seed go with --copies");
    j->options.copies = (uint32_t)a->copies;
    j->options.with_results = a->with_results;
    j->options.delay = a->delay;
    j->options.seed = a->seed;
    j->options.has_from = a->from != INT64_MIN;
    j->options.from = a->from;
    return 0;
}

static size_t add(char *to, size_t size, size_t len, const char *option, const char *value)
{
    if (value && len < size)
        len += (size_t)snprintf(to + len, size - len, "%s--%s %s", len ? " " : "", option, value);
    return len;
}

static size_t add_time(char *to, size_t size, size_t len, const char *option, int64_t time)
{
    char text[VALUE_TEXT_MAX];

    if (time < 0) /* seconds before 1970 are no argument */
        *strchr(time_text(time, text), ' ') = 'T';
    else
        snprintf(text, sizeof(text), "%lld.%09lld", (long long)(time / 1000000000),
                 (long long)(time % 1000000000));
    return add(to, size, len, option, text);
}

/* The part of a trace in words of the command line. */
static void describe(struct job *j)
{
    const struct effect_filter *f = &j->filter;
    const struct rdump_make_args *a = j->args;
    char number[32];
    size_t len = 0, size = sizeof(j->selection);

    j->selection[0] = '\0';
    len = add(j->selection, size, len, "client", f->client);
    snprintf(number, sizeof(number), "%lld", (long long)f->uid);
    len = add(j->selection, size, len, "uid", f->uid >= 0 ? number : NULL);
    snprintf(number, sizeof(number), "%lld", (long long)f->gid);
    len = add(j->selection, size, len, "gid", f->gid >= 0 ? number : NULL);
    len = add(j->selection, size, len, "under", f->under);
    if (a->from != INT64_MIN)
        len = add_time(j->selection, size, len, "from", a->from);
    if (a->to != INT64_MAX)
        len = add_time(j->selection, size, len, "to", a->to);
    len = add(j->selection, size, len, "time-scale", a->time_scale);
    j->options.selection = len ? j->selection : NULL;
    j->options.filter =
        f->client || f->uid >= 0 || f->gid >= 0 || f->under || f->to != INT64_MAX ? f : NULL;
}

static int make(struct job *j, const char *path, struct err *err)
{
    struct plan_made made = { j->options.granularity, path, 0,
                              j->options.copies > 1 ? j->options.copies : 1 };
    struct plan_counts counts;
    struct stat st;

    describe(j);
    if (rdump_make(j->db, &j->options, path, &counts, err) < 0)
        return -err->code;
    j->operations += counts.operations;
    if (strcmp(path, "-") == 0)
        return 0;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        made.bytes = (uint64_t)st.st_size;
    plan_print(&counts, &made, j->args->json);
    return 0;
}

/* Of parts, those without an operation in what else was asked for are left out. */
static int make_each(struct job *j, enum partition_by by, const struct partition *parts,
                     uint32_t *made, struct err *err)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        uint64_t count;

        partition_choose(by, parts->parts[i].value, &j->filter);
        if (effects_count(j->db, &j->filter, j->args->from, &count, err) < 0 ||
            (count && make(j, parts->parts[i].path, err) < 0))
            return -err->code;
        *made += count != 0;
    }
    return 0;
}

static void print_parts(const struct job *j, enum partition_by by, uint32_t made, uint64_t all)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX];
    struct json json = { .out = stdout };

    if (j->args->json) {
        json_object(&json, NULL);
        json_text(&json, "split_by", partition_names[by]);
        json_u64(&json, "dumps", made);
        json_u64(&json, "operations", j->operations);
        json_u64(&json, "in_none", all - j->operations);
        json_object_end(&json);
        json_end(&json);
        return;
    }
    printf("split by %s: %s dumps with %s operations; %s others belong to no %s\n",
           partition_names[by], count_text(made, a), count_text(j->operations, b),
           count_text(all - j->operations, c), partition_names[by]);
}

static int make_parts(struct job *j, enum partition_by by, struct err *err)
{
    struct partition parts = { .count = 0 };
    uint32_t made = 0;
    uint64_t all;
    int result = effects_count(j->db, &j->filter, j->args->from, &all, err);

    if (result == 0)
        result = partition_list(j->db, by, j->args->output, &parts, err);
    if (result == 0)
        result = make_each(j, by, &parts, &made, err);
    if (result == 0 && !made)
        result = err_set(err, ERR_INPUT, "nothing to split by %s", partition_names[by]);
    if (result == 0)
        print_parts(j, by, made, all);
    partition_free(&parts);
    return result;
}

static int run(struct job *j, struct err *err)
{
    const struct rdump_make_args *a = j->args;

    if (parse(j, err) < 0)
        return -err->code;
    if (!a->split_by)
        return make(j, a->output, err);
    if (strcmp(a->output, "-") == 0)
        return err_set(err, ERR_USAGE, "--split-by writes several files: not with --output -");
    if ((a->client && strcmp(a->split_by, "client") == 0) ||
        (a->uid && strcmp(a->split_by, "uid") == 0) ||
        (a->gid && strcmp(a->split_by, "gid") == 0) ||
        (a->under && strcmp(a->split_by, "subtree") == 0))
        return err_set(err, ERR_USAGE, "--split-by %s contradicts the choice of one %s",
                       a->split_by, a->split_by);
    for (int by = 0; by < PARTITION_MAX; by++)
        if (strcmp(partition_names[by], a->split_by) == 0)
            return make_parts(j, (enum partition_by)by, err);
    return err_set(err, ERR_USAGE, "--split-by takes client, uid, gid or subtree, not \"%s\"",
                   a->split_by);
}

int rdump_make_run(const char *database, const struct rdump_make_args *a, struct err *err)
{
    struct job j = { .args = a };
    struct trace trace;
    int result;

    if (!a->output)
        return err_set(err, ERR_USAGE, "no output file: use --output FILE");
    if (outputs_spare(database, "--output", a->output, err) < 0 ||
        trace_open(&trace, database, false, err) < 0)
        return -err->code;
    j.db = store_db(trace.store);
    result = run(&j, err);
    if (result == -ERR_INPUT)
        err_prefix(err, "%s", database);
    return trace_close(&trace, result, err);
}
