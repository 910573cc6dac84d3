/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/outputs.c
 *
 * Keeps a list of files, read and written, and compares each that is written with all the others.
 * Databases among those that are read are opened, to learn which captures, databases and rule files
 * they name.  For cmd_compare.c and cmd_report.c.  The contract is in outputs.h.
 */
#include "cli/outputs.h"
#include "base/escape.h"
#include "base/grow.h"
#include "compare/compare.h"
#include "rules/rules.h"
#include "report/annotate.h"
#include "store/sql.h"
#include "store/store.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct outputs_file {
    const char *what;        /* of an input what it is, of an output its option */
    const char *replaced_by; /* the option that may take its place */
    char *path, *resolved;
    struct stat st;
    bool exists, is_output;
};

static int no_memory(struct err *err)
{
    return err_memory(err, "the names of files");
}

/* The name without links and dots; of a file that is not there, that of its folder and its own. */
static char *resolve(const char *path)
{
    char *whole = realpath(path, NULL), *folder, *resolved = NULL;
    const char *slash = strrchr(path, '/');

    if (whole)
        return whole;
    folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    whole = folder ? realpath(folder, NULL) : NULL;
    free(folder);
    if (!whole)
        return strdup(path);
    if (asprintf(&resolved, "%s/%s", whole, slash ? slash + 1 : path) < 0)
        resolved = NULL;
    free(whole);
    return resolved;
}

static int add(struct outputs *o, const char *path, struct outputs_file file, struct err *err)
{
    if (GROW(o->files, o->count, o->cap) < 0)
        return no_memory(err);
    file.exists = stat(path, &file.st) == 0;
    file.path = strdup(path);
    file.resolved = resolve(path);
    o->files[o->count++] = file;
    return file.path && file.resolved ? 0 : no_memory(err);
}

int outputs_reads(struct outputs *o, const char *what, const char *path, const char *option,
                  struct err *err)
{
    return add(o, path, (struct outputs_file){ .what = what, .replaced_by = option }, err);
}

int outputs_writes(struct outputs *o, const char *option, const char *path, struct err *err)
{
    if (!*path)
        return err_set(err, ERR_USAGE, "%s: a file's name is missing", option);
    if (strcmp(path, "-") == 0)
        return 0;
    return add(o, path, (struct outputs_file){ .what = option, .is_output = true }, err);
}

/* --- what databases name */

/* A trace database or a result, open for reading.  Neither: NULL without a word. */
struct database {
    struct store *store;
    sqlite3 *result, *db;
};

static void open_database(struct database *d, const char *path)
{
    struct err unseen;

    *d = (struct database){ .db = NULL };
    if (compare_is_result(path)) {
        d->db = compare_open(path, &d->result, &unseen) == 0 ? d->result : NULL;
    } else {
        d->store = store_open(path, STORE_READ, &unseen);
        d->db = d->store ? store_db(d->store) : NULL;
    }
}

static void close_database(struct database *d)
{
    store_close(d->store);
    sqlite3_close(d->result);
}

static const char of_trace[] = "SELECT 'the capture', name FROM source";
static const char of_result[] = "SELECT 'the capture', name FROM source"
                                " UNION SELECT 'the trace database', database FROM side"
                                " UNION SELECT 'the trace database', path FROM side"
                                " UNION SELECT 'the rule file', name FROM rule_file";

static int add_named(struct outputs *o, sqlite3_stmt *row, struct err *err)
{
    static const char *const words[] = { "the capture", "the trace database", "the rule file" };
    const char *what = (const char *)sqlite3_column_text(row, 0);
    const char *name = (const char *)sqlite3_column_text(row, 1);
    struct buf path = { 0 };
    struct stat st;
    int result = 0;

    if (what && name && strcmp(words[0], what) == 0) { /* as databases have names */
        if (unescape_name(name, strlen(name), &path) < 0 || buf_append(&path, "", 1) < 0)
            result = no_memory(err);
        name = (const char *)path.data;
    }
    for (size_t i = 0; result == 0 && what && name && i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i], what) == 0 && (i < 2 || rules_is_file(name)) && stat(name, &st) == 0) {
            result = outputs_reads(o, words[i], name, NULL, err);
            break;
        }
    buf_free(&path);
    return result;
}

int outputs_names(struct outputs *o, const char *path, struct err *err)
{
    struct database d;
    sqlite3_stmt *row;
    struct err unseen;
    struct stat st;
    int result = 0;

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode)) /* nothing may be read from a pipe */
        return 0;
    open_database(&d, path);
    if (d.db && sql_prepare(d.db, d.result ? of_result : of_trace, &row, &unseen) == 0) {
        while (result == 0 && sql_row(row, &unseen) > 0)
            result = add_named(o, row, err);
        sqlite3_finalize(row);
    }
    close_database(&d);
    return result;
}

static int add_annotated(void *ctx, const char *path, struct err *err)
{
    return outputs_writes(ctx, "--annotate", path, err);
}

int outputs_annotates(struct outputs *o, const char *path, const char *const *databases,
                      uint32_t count, uint32_t captures, struct err *err)
{
    struct database d[SIDES];
    sqlite3 *dbs[SIDES] = { NULL };
    bool all = true;
    int result = 0;

    for (uint32_t i = 0; i < count; i++) {
        open_database(&d[i], databases[i]);
        dbs[i] = d[i].db;
        all = all && d[i].db;
    }
    if (all)
        result = annotate_names(dbs, count, path, captures, add_annotated, o, err);
    for (uint32_t i = 0; i < count; i++)
        close_database(&d[i]);
    return result;
}

/* --- */

static bool same(const struct outputs_file *a, const struct outputs_file *b)
{
    return (a->exists && b->exists && a->st.st_dev == b->st.st_dev &&
            a->st.st_ino == b->st.st_ino) ||
           strcmp(a->resolved, b->resolved) == 0;
}

int outputs_check(const struct outputs *o, struct err *err)
{
    for (uint32_t i = 0; i < o->count; i++) {
        const struct outputs_file *out = &o->files[i];

        if (!out->is_output || (out->exists && !S_ISREG(out->st.st_mode)))
            continue;
        for (uint32_t k = 0; k < o->count; k++) {
            const struct outputs_file *other = &o->files[k];

            if (k == i || !same(out, other))
                continue;
            if (other->is_output)
                return err_set(err, ERR_USAGE, "%s %s and %s %s would be one file",
                               o->files[i < k ? i : k].what, o->files[i < k ? i : k].path,
                               o->files[i < k ? k : i].what, o->files[i < k ? k : i].path);
            if (!other->replaced_by || strcmp(other->replaced_by, out->what) != 0)
                return err_set(err, ERR_USAGE, "%s: %s would replace %s %s", out->what, out->path,
                               other->what, other->path);
        }
    }
    return 0;
}

void outputs_free(struct outputs *o)
{
    for (uint32_t i = 0; i < o->count; i++) {
        free(o->files[i].path);
        free(o->files[i].resolved);
    }
    free(o->files);
    *o = (struct outputs){ .count = 0 };
}

int outputs_spare(const char *input, const char *option, const char *path, struct err *err)
{
    struct outputs o = { .count = 0 };
    int result = path ? outputs_reads(&o, "the input", input, NULL, err) : 0;

    if (path && result == 0)
        result = outputs_names(&o, input, err);
    if (path && result == 0)
        result = outputs_writes(&o, option, path, err);
    if (path && result == 0)
        result = outputs_check(&o, err);
    outputs_free(&o);
    return result;
}

int outputs_spare_each(char *const *inputs, uint32_t count, const char *suffix, const char *option,
                       const char *path, struct err *err)
{
    char input[PATH_MAX];
    struct stat out, in;

    if (path && !*path)
        return err_set(err, ERR_USAGE, "%s: a file's name is missing", option);
    if (!path || strcmp(path, "-") == 0 || stat(path, &out) < 0 || !S_ISREG(out.st_mode))
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(input, sizeof(input), "%s%s", inputs[i], suffix);
        if (stat(input, &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return err_set(err, ERR_USAGE, "%s: %s would replace the input %s", option, path,
                           input);
    }
    return 0;
}
