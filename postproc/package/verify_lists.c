/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/verify_lists.c
 *
 * Compares SHA256SUMS and datapackage.json with the members that are there, and reads what the
 * audit's JSON says of its findings.  These texts are a stranger's: a path in them is looked up
 * among the members and opens nothing, and JSON is a parameter of SQLite's functions.  For
 * verify.c; verify_again.c reads members by it, too.  The contract is in verify_parts.h.
 */
#include "package/package_text.h"
#include "package/verify_parts.h"

#include <stdlib.h>

int verify_text(struct verifying *v, const char *member, char **text, size_t *len, struct err *err)
{
    struct err why;

    *text = NULL;
    if (!stage_find(&v->stage, member))
        return 0;
    *text = stage_read(&v->stage, member, PACKAGE_TEXT_MAX, len, &why);
    if (*text)
        return 0;
    if (why.code != ERR_INPUT) {
        *err = why;
        return -why.code;
    }
    package_finding(v->check, "%s", why.text);
    return 0;
}

static uint32_t member_index(const struct verifying *v, const struct member *member)
{
    return (uint32_t)(member - v->stage.members);
}

/* --- SHA256SUMS --- */

static void check_sum(struct verifying *v, char *line, bool *listed)
{
    const struct member *member;
    char *path = line + SHA256_HEX + 1;

    if (strlen(line) < SHA256_HEX + 2 || line[SHA256_HEX - 1] != ' ' || line[SHA256_HEX] != ' ') {
        package_finding(v->check, MEMBER_SUMS ": a line that is not of sha256sum's form");
        return;
    }
    line[SHA256_HEX - 1] = '\0';
    if (!sha256_is(line) || !member_path_is_safe(path)) {
        package_finding(v->check, MEMBER_SUMS ": a line that is not of sha256sum's form");
        return;
    }
    member = stage_find(&v->stage, path);
    if (!member)
        package_finding(v->check, "%s: missing, but " MEMBER_SUMS " lists it", path);
    else if (listed[member_index(v, member)])
        package_finding(v->check, MEMBER_SUMS ": lists %s twice", path);
    else if (strcmp(member->sha256, line) != 0)
        package_finding(v->check, "%s: its SHA-256 is not that of " MEMBER_SUMS, path);
    if (member)
        listed[member_index(v, member)] = true;
}

int verify_sums(struct verifying *v, struct err *err)
{
    bool listed[MEMBERS_MAX] = { false };
    char *text, *line, *end;
    size_t len = 0;

    if (verify_text(v, MEMBER_SUMS, &text, &len, err) < 0)
        return -err->code;
    if (!text)
        return 0;
    for (line = text; line < text + len; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + len - line));
        if (!end) {
            package_finding(v->check, MEMBER_SUMS ": its last line does not end");
            break;
        }
        *end = '\0';
        check_sum(v, line, listed);
    }
    free(text);
    for (uint32_t i = 0; i < v->stage.count; i++)
        if (!listed[i] && strcmp(v->stage.members[i].path, MEMBER_SUMS) != 0)
            package_finding(v->check, "%s: " MEMBER_SUMS " does not list it",
                            v->stage.members[i].path);
    return 0;
}

/* --- JSON --- */

/* Prepares |sql| for the text, after the statement before; 1: it is no JSON. */
static int verify_json(struct verifying *v, const char *member, const char *sql,
                       struct member_text *t, struct err *err)
{
    int rc;

    sqlite3_finalize(t->stmt);
    t->stmt = NULL;
    if (sqlite3_prepare_v2(v->json, "SELECT json_valid(?1)", -1, &t->stmt, NULL) != SQLITE_OK)
        return store_fail(v->json, member, err);
    sqlite3_bind_text(t->stmt, 1, t->text, (int)t->len, SQLITE_STATIC);
    rc = sqlite3_step(t->stmt) == SQLITE_ROW && sqlite3_column_int(t->stmt, 0) == 1;
    sqlite3_finalize(t->stmt);
    t->stmt = NULL;
    if (!rc || strlen(t->text) != t->len) {
        package_finding(v->check, "%s: not JSON", member);
        return 1;
    }
    if (sqlite3_prepare_v2(v->json, sql, -1, &t->stmt, NULL) != SQLITE_OK)
        return store_fail(v->json, member, err);
    sqlite3_bind_text(t->stmt, 1, t->text, (int)t->len, SQLITE_STATIC);
    return 0;
}

int verify_member(struct verifying *v, const char *member, const char *sql, struct member_text *t,
                  struct err *err)
{
    int rc;

    *t = (struct member_text){ 0 };
    rc = verify_text(v, member, &t->text, &t->len, err);
    if (rc < 0 || !t->text)
        return rc < 0 ? rc : 1;
    return verify_json(v, member, sql, t, err);
}

void verify_release(struct member_text *t)
{
    sqlite3_finalize(t->stmt);
    free(t->text);
}

static const char *column(sqlite3_stmt *stmt, int i)
{
    const char *text = (const char *)sqlite3_column_text(stmt, i);

    return text ? text : "";
}

static void check_resource(struct verifying *v, sqlite3_stmt *s, bool *listed)
{
    const char *path = column(s, 0), *hash = column(s, 2);
    const struct member *member = stage_find(&v->stage, path);

    if (!member || !member_path_is_safe(path)) {
        package_finding(v->check, MEMBER_DATAPACKAGE ": lists a file that is not there: %s",
                        member_path_is_safe(path) ? path : "(an unsafe path)");
        return;
    }
    if (listed[member_index(v, member)])
        package_finding(v->check, MEMBER_DATAPACKAGE ": lists %s twice", path);
    listed[member_index(v, member)] = true;
    if (sqlite3_column_type(s, 1) != SQLITE_INTEGER ||
        (uint64_t)sqlite3_column_int64(s, 1) != member->size)
        package_finding(v->check, MEMBER_DATAPACKAGE ": another number of bytes for %s", path);
    if (strncmp(hash, "sha256:", 7) != 0 || strcmp(hash + 7, member->sha256) != 0)
        package_finding(v->check, MEMBER_DATAPACKAGE ": another hash for %s", path);
}

static int check_resources(struct verifying *v, struct member_text *t, struct err *err)
{
    static const char sql[] =
        "SELECT json_extract(value, '$.path'), json_extract(value, '$.bytes'),"
        " json_extract(value, '$.hash') FROM json_each(?1, '$.resources')"
        " WHERE type = 'object'";
    bool listed[MEMBERS_MAX] = { false };
    int result = verify_json(v, MEMBER_DATAPACKAGE, sql, t, err);

    if (result != 0)
        return result;
    while (sqlite3_step(t->stmt) == SQLITE_ROW)
        check_resource(v, t->stmt, listed);
    for (uint32_t i = 0; i < v->stage.count; i++) {
        const char *path = v->stage.members[i].path;

        if (!listed[i] && strcmp(path, MEMBER_SUMS) != 0 && strcmp(path, MEMBER_DATAPACKAGE) != 0)
            package_finding(v->check, MEMBER_DATAPACKAGE ": does not list %s", path);
    }
    return 0;
}

/* What the maker accepted of the audit's findings. */
static int read_accepted(struct verifying *v, struct member_text *t, struct err *err)
{
    static const char sql[] =
        "SELECT json_extract(value, '$.kind'), json_extract(value, '$.class'),"
        " json_extract(value, '$.reason'), json_extract(value, '$.count')"
        " FROM json_each(?1, '$.nfsdigest.accepted') WHERE type = 'object'";
    int result = verify_json(v, MEMBER_DATAPACKAGE, sql, t, err);

    while (result == 0 && sqlite3_step(t->stmt) == SQLITE_ROW) {
        struct accepted_row row = { .count = (uint64_t)sqlite3_column_int64(t->stmt, 3) };

        snprintf(row.kind, sizeof(row.kind), "%s", column(t->stmt, 0));
        snprintf(row.what, sizeof(row.what), "%s", column(t->stmt, 1));
        snprintf(row.reason, sizeof(row.reason), "%s", column(t->stmt, 2));
        if (!row.reason[0] || !text_is_plain(row.reason, strlen(row.reason), false) ||
            !text_is_plain(row.kind, strlen(row.kind), false) ||
            !text_is_plain(row.what, strlen(row.what), false) || v->accepted.count == MEMBERS_MAX)
            package_finding(v->check, MEMBER_DATAPACKAGE ": accepts findings without a reason");
        else
            result = accepted_add(&v->accepted, &row, err);
    }
    return result < 0 ? result : 0;
}

/* Its reader is to see that. */
static void show_accepted(struct verifying *v)
{
    char text[512];

    for (uint32_t i = 0; i < v->accepted.count; i++) {
        const struct accepted_row *r = &v->accepted.rows[i];

        snprintf(text, sizeof(text), "accepted by its maker: %llu x %s: %s: %s",
                 (unsigned long long)r->count, r->kind, r->what, r->reason);
        v->check->accepted += r->count;
        v->check->note(v->check->ctx, text);
    }
}

int verify_datapackage(struct verifying *v, int64_t *operations, struct err *err)
{
    static const char sql[] = "SELECT json_extract(?1, '$.profile'), json_extract(?1, '$.name'),"
                              " json_extract(?1, '$.nfsdigest.operations')";
    struct member_text t;
    int result = verify_member(v, MEMBER_DATAPACKAGE, sql, &t, err);

    *operations = -1;
    if (result == 0 && sqlite3_step(t.stmt) == SQLITE_ROW) {
        if (strcmp(column(t.stmt, 0), "data-package") != 0)
            package_finding(v->check, MEMBER_DATAPACKAGE ": its profile is not \"data-package\"");
        if (strcmp(column(t.stmt, 1), v->check->name) != 0)
            package_finding(v->check, MEMBER_DATAPACKAGE ": its name is not that of the folder");
        if (sqlite3_column_type(t.stmt, 2) == SQLITE_INTEGER)
            *operations = sqlite3_column_int64(t.stmt, 2);
    }
    if (result == 0)
        result = read_accepted(v, &t, err);
    if (result == 0)
        result = check_resources(v, &t, err);
    verify_release(&t);
    return result < 0 ? result : 0;
}

int verify_audit(struct verifying *v, struct err *err)
{
    static const char sql[] = "SELECT json_extract(?1, '$.clean'), json_extract(?1, '$.redacted'),"
                              " json_extract(?1, '$.finding_total')";
    struct member_text t;
    int result = verify_member(v, MEMBER_AUDIT_JSON, sql, &t, err);

    if (result == 0 && sqlite3_step(t.stmt) == SQLITE_ROW) {
        show_accepted(v);
        if (strcmp(column(t.stmt, 0), v->check->accepted ? "0" : "1") != 0 ||
            sqlite3_column_int64(t.stmt, 2) != (int64_t)v->check->accepted)
            package_finding(v->check, MEMBER_AUDIT_JSON ": the audit was not clean");
        if (strcmp(column(t.stmt, 1), "1") != 0)
            package_finding(v->check, MEMBER_AUDIT_JSON ": a report that quotes the original");
    }
    verify_release(&t);
    return result < 0 ? result : 0;
}
