/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/plan/partition.c
 *
 * Lists the clients, users, groups or subtrees of a trace, and names a file for the dump of each.
 * Subtrees below another one are left to that, and two parts with the same file name are an error.
 * For cmd_rdump_make.c.  The contract is in partition.h.
 */
#include "base/digest.h"
#include "base/grow.h"
#include "plan/partition.h"
#include "store/sql.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const partition_names[PARTITION_MAX] = { "client", "uid", "gid", "subtree" };

static const char *const queries[PARTITION_MAX] = {
    /* the last: calls that were not captured may be NFS's, too */
    [PARTITION_CLIENT] = "SELECT DISTINCT client FROM operation WHERE program IN (100003, 100227)"
                         " OR program IS NULL ORDER BY client",
    [PARTITION_UID] = "SELECT DISTINCT uid FROM credential WHERE uid IS NOT NULL AND id IN (SELECT"
                      " DISTINCT credential FROM operation WHERE program IN (100003, 100227))"
                      " ORDER BY uid",
    [PARTITION_GID] = "SELECT DISTINCT gid FROM credential WHERE gid IS NOT NULL AND id IN (SELECT"
                      " DISTINCT credential FROM operation WHERE program IN (100003, 100227))"
                      " ORDER BY gid",
    /* directories in the root of an export, or in one whose path is not known */
    [PARTITION_SUBTREE] = "SELECT DISTINCT text FROM path WHERE parent IN (SELECT id FROM path"
                          " WHERE parent IS NULL) AND id IN (SELECT parent FROM path)"
                          " ORDER BY text",
};

void partition_choose(enum partition_by by, const char *value, struct effect_filter *filter)
{
    if (by == PARTITION_CLIENT)
        filter->client = value;
    else if (by == PARTITION_UID)
        filter->uid = atoll(value);
    else if (by == PARTITION_GID)
        filter->gid = atoll(value);
    else
        filter->under = value;
}

/* What is no good in file names becomes "_", and long names end with a hash. */
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

static void part_free(struct part *part)
{
    free(part->value);
    free(part->path);
}

static int list_parts(sqlite3 *db, const char *sql, const char *path, struct partition *parts,
                      struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (sql_prepare(db, sql, &stmt, err) < 0)
        return -err->code;
    while (result == 0 && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *value = (const char *)sqlite3_column_text(stmt, 0);
        struct part part;

        if (!value || GROW(parts->parts, parts->count, parts->cap) < 0) {
            result = err_memory(err, "parts");
            break;
        }
        part = (struct part){ strdup(value), part_path(path, value) };
        result = part.value && part.path ? 0 : err_memory(err, "parts");
        parts->parts[parts->count++] = part;
    }
    return sql_end(stmt, result, err);
}

/* Parts of which one is below another would share operations: the upper one has them. */
static void drop_inner(struct partition *parts)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < parts->count; i++) {
        bool inner = false;

        for (uint32_t n = 0; n < kept && !inner; n++) { /* sorted: upper ones come first */
            size_t len = strlen(parts->parts[n].value);

            inner = strncmp(parts->parts[n].value, parts->parts[i].value, len) == 0 &&
                    parts->parts[i].value[len] == '/';
        }
        if (inner) {
            part_free(&parts->parts[i]);
            continue;
        }
        parts->parts[kept++] = parts->parts[i];
    }
    parts->count = kept;
}

static int tell_apart(const struct partition *parts, struct err *err)
{
    for (uint32_t i = 0; i < parts->count; i++)
        for (uint32_t n = 0; n < i; n++)
            if (strcmp(parts->parts[i].path, parts->parts[n].path) == 0)
                return err_set(err, ERR_USAGE,
                               "the parts \"%s\" and \"%s\" would both be %s: make each by itself",
                               parts->parts[n].value, parts->parts[i].value, parts->parts[i].path);
    return 0;
}

void partition_free(struct partition *parts)
{
    for (uint32_t i = 0; i < parts->count; i++) {
        part_free(&parts->parts[i]);
    }
    free(parts->parts);
    *parts = (struct partition){ .count = 0 };
}

int partition_list(sqlite3 *db, enum partition_by by, const char *path, struct partition *partition,
                   struct err *err)
{
    int result;

    *partition = (struct partition){ .count = 0 };
    result = list_parts(db, queries[by], path, partition, err);
    if (result == 0 && by == PARTITION_SUBTREE)
        drop_inner(partition);
    if (result == 0)
        result = tell_apart(partition, err);
    if (result < 0)
        partition_free(partition);
    return result;
}
