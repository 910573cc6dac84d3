/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd_rdump_make.h"
#include "base/digest.h"
#include "base/values.h"
#include "cli/args.h"
#include "cli/plan_print.h"
#include "plan/rdump_make.h"
#include "rdump/rdump_copies.h"
#include "store/ids.h"
#include "store/store.h"

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
    if (a->granularity && !parse_granularity(a->granularity, &j->options.granularity))
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
    char text[32];

    snprintf(text, sizeof(text), "%lld.%09lld", (long long)(time / 1000000000),
             (long long)(time % 1000000000));
    return add(to, size, len, option, text);
}

/* The part of a trace in words of the command line, times since 1970. */
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

/* Parts of a trace */

static const struct kind {
    const char *name, *sql;
} kinds[] = {
    /* the last: calls that were not captured may be NFS's, too */
    { "client",
      "SELECT DISTINCT client FROM operation WHERE program IN (100003, 100227) OR program IS NULL"
      " ORDER BY client" },
    { "uid", "SELECT DISTINCT uid FROM credential WHERE uid IS NOT NULL AND id IN (SELECT DISTINCT"
             " credential FROM operation WHERE program IN (100003, 100227)) ORDER BY uid" },
    { "gid", "SELECT DISTINCT gid FROM credential WHERE gid IS NOT NULL AND id IN (SELECT DISTINCT"
             " credential FROM operation WHERE program IN (100003, 100227)) ORDER BY gid" },
    /* directories in the root of an export, or in one whose path is not known */
    { "subtree", "SELECT DISTINCT text FROM path WHERE parent IN (SELECT id FROM path WHERE parent"
                 " IS NULL) AND id IN (SELECT parent FROM path) ORDER BY text" },
};

static void choose(struct job *j, const char *kind, const char *value)
{
    if (strcmp(kind, "client") == 0)
        j->filter.client = value;
    else if (strcmp(kind, "uid") == 0)
        j->filter.uid = atoll(value);
    else if (strcmp(kind, "gid") == 0)
        j->filter.gid = atoll(value);
    else
        j->filter.under = value;
}

/* FILE.rdump and "10.0.0.1" become FILE-10.0.0.1.rdump; what is no good in file names becomes "_",
 * and long names end with a hash. */
static char *part_path(const char *path, const char *value)
{
    enum { KEPT = 100 };
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    size_t stem =
        dot && (!slash || dot > slash + 1) && dot != path ? (size_t)(dot - path) : strlen(path);
    size_t len = strlen(value), kept = len > KEPT + 17 ? KEPT : len;
    char hash[24] = "", *name;

    if (kept < len)
        snprintf(hash, sizeof(hash), "-%016llx", (unsigned long long)XXH3_64bits(value, len));
    if (asprintf(&name, "%.*s-%.*s%s%s", (int)stem, path, (int)kept, value, hash, path + stem) < 0)
        return NULL;
    for (size_t i = 0; i < kept; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-+,@",
                    value[i]))
            name[stem + 1 + i] = '_';
    return name;
}

struct parts {
    char **values, **paths;
    uint32_t count;
};

static int list_parts(sqlite3 *db, const char *sql, const char *path, struct parts *parts,
                      struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0, step;

    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        return store_fail(db, "parts", err);
    while (result == 0 && (step = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *value = (const char *)sqlite3_column_text(stmt, 0);
        char **values = realloc(parts->values, (parts->count + 1) * sizeof(*values));
        char **paths = values ? realloc(parts->paths, (parts->count + 1) * sizeof(*paths)) : NULL;

        parts->values = values ? values : parts->values;
        parts->paths = paths ? paths : parts->paths;
        if (!value || !values || !paths) {
            result = err_set(err, ERR_SYSTEM, "out of memory for parts");
            break;
        }
        values[parts->count] = strdup(value);
        paths[parts->count] = part_path(path, value);
        result = values[parts->count] && paths[parts->count]
                     ? 0
                     : err_set(err, ERR_SYSTEM, "out of memory for parts");
        parts->count++;
    }
    if (result == 0 && step != SQLITE_DONE)
        result = store_fail(db, "parts", err);
    sqlite3_finalize(stmt);
    return result;
}

/* Parts of which one is below another would share operations: the upper one has them. */
static void drop_inner(struct parts *parts)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < parts->count; i++) {
        bool inner = false;

        for (uint32_t n = 0; n < kept && !inner; n++) { /* sorted: upper ones come first */
            size_t len = strlen(parts->values[n]);

            inner = strncmp(parts->values[n], parts->values[i], len) == 0 &&
                    parts->values[i][len] == '/';
        }
        if (inner) {
            free(parts->values[i]);
            free(parts->paths[i]);
            continue;
        }
        parts->values[kept] = parts->values[i];
        parts->paths[kept++] = parts->paths[i];
    }
    parts->count = kept;
}

static int tell_apart(const struct parts *parts, struct err *err)
{
    for (uint32_t i = 0; i < parts->count; i++)
        for (uint32_t n = 0; n < i; n++)
            if (strcmp(parts->paths[i], parts->paths[n]) == 0)
                return err_set(err, ERR_USAGE,
                               "the parts \"%s\" and \"%s\" would both be %s: make each by itself",
                               parts->values[n], parts->values[i], parts->paths[i]);
    return 0;
}

static void free_parts(struct parts *parts)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        free(parts->values[i]);
        free(parts->paths[i]);
    }
    free(parts->values);
    free(parts->paths);
}

/* Of parts, those without an operation in what else was asked for are left out. */
static int make_each(struct job *j, const struct kind *kind, const struct parts *parts,
                     uint32_t *made, struct err *err)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        uint64_t count;

        choose(j, kind->name, parts->values[i]);
        if (effects_count(j->db, &j->filter, j->args->from, &count, err) < 0 ||
            (count && make(j, parts->paths[i], err) < 0))
            return -err->code;
        *made += count != 0;
    }
    return 0;
}

static void print_parts(const struct job *j, const struct kind *kind, uint32_t made, uint64_t all)
{
    char a[VALUE_TEXT_MAX], b[VALUE_TEXT_MAX], c[VALUE_TEXT_MAX];

    if (j->args->json)
        printf("{\"split_by\":\"%s\",\"dumps\":%u,\"operations\":%llu,\"in_none\":%llu}\n",
               kind->name, made, (unsigned long long)j->operations,
               (unsigned long long)(all - j->operations));
    else
        printf("split by %s: %s dumps with %s operations; %s others belong to no %s\n", kind->name,
               count_text(made, a), count_text(j->operations, b),
               count_text(all - j->operations, c), kind->name);
}

static int make_parts(struct job *j, const struct kind *kind, struct err *err)
{
    struct parts parts = { 0 };
    uint32_t made = 0;
    uint64_t all;
    int result = effects_count(j->db, &j->filter, j->args->from, &all, err);

    if (result == 0)
        result = list_parts(j->db, kind->sql, j->args->output, &parts, err);
    if (result == 0 && strcmp(kind->name, "subtree") == 0)
        drop_inner(&parts);
    if (result == 0)
        result = tell_apart(&parts, err);
    if (result == 0)
        result = make_each(j, kind, &parts, &made, err);
    if (result == 0 && !made)
        result = err_set(err, ERR_INPUT, "there is nothing to be split by %s", kind->name);
    if (result == 0)
        print_parts(j, kind, made, all);
    free_parts(&parts);
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
        return err_set(err, ERR_USAGE, "--split-by %s and one %s alone contradict each other",
                       a->split_by, a->split_by);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, a->split_by) == 0)
            return make_parts(j, &kinds[i], err);
    return err_set(err, ERR_USAGE, "--split-by takes client, uid, gid or subtree, not \"%s\"",
                   a->split_by);
}

int rdump_make_run(const char *database, const struct rdump_make_args *a, struct err *err)
{
    struct job j = { .args = a };
    struct store *store;
    int result;

    if (!a->output)
        return err_set(err, ERR_USAGE, "which file is to be written? Say --output FILE");
    wire_init();
    store = store_open(database, STORE_READ, err);
    if (!store)
        return -err->code;
    j.db = store_db(store);
    result = run(&j, err);
    if (result == -ERR_INPUT)
        err_prefix(err, "%s", database);
    store_close(store);
    return result;
}
