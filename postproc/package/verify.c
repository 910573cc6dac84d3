/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/verify.c
 *
 * Verifies an archive that a stranger has sent.  What is wrong with it is a finding, and the rest
 * is looked at nevertheless.  This file checks the capture, the database and the dump;
 * verify_lists.c checks the lists, and verify_again.c makes all of it again.  For the command
 * package.  The contract is in package.h, what the parts share in verify_parts.h.
 */
#include "package/database.h"
#include "package/package_rdump.h"
#include "package/verify_parts.h"
#include "store/store_verify.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* How a key file begins (engine/anon/key.c). */
static const char key_mark[] = "nfsdigest anonymization key";

enum { CAPTURE_HEAD = 4096 }; /* where its section's comment is */

static const char *const needed_names[] = {
    MEMBER_README,     MEMBER_CAPTURE, MEMBER_POLICY,      MEMBER_AUDIT_HTML,
    MEMBER_AUDIT_JSON, MEMBER_SUMS,    MEMBER_DATAPACKAGE,
};

static void check_members(struct verifying *v)
{
    for (size_t i = 0; i < sizeof(needed_names) / sizeof(*needed_names); i++)
        if (!stage_find(&v->stage, needed_names[i]))
            package_finding(v->check, "%s: missing", needed_names[i]);
}

/* --- the capture, and what was made of it --- */

/* The capture says which policy it was made under. */
static int check_policy(struct verifying *v, struct err *err)
{
    const struct member *policy = stage_find(&v->stage, MEMBER_POLICY);
    char path[STAGE_PATH_MAX], head[CAPTURE_HEAD], stated[SHA256_HEX + 16];
    size_t len;
    FILE *file;

    if (!policy || !stage_find(&v->stage, MEMBER_CAPTURE))
        return 0;
    if (stage_path(&v->stage, MEMBER_CAPTURE, path, err) < 0)
        return -err->code;
    file = fopen(path, "re");
    if (!file)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    len = fread(head, 1, sizeof(head), file);
    fclose(file);
    snprintf(stated, sizeof(stated), "SHA-256 %s", policy->sha256);
    if (!memmem(head, len, stated, strlen(stated)))
        package_finding(v->check,
                        MEMBER_CAPTURE ": does not say that it was made under " MEMBER_POLICY);
    return 0;
}

/* Makes the database again. */
static int check_capture(struct verifying *v, struct err *err)
{
    char path[STAGE_PATH_MAX], again[STAGE_PATH_MAX];
    int result;

    if (!stage_find(&v->stage, MEMBER_CAPTURE))
        return 0;
    if (stage_path(&v->stage, MEMBER_CAPTURE, path, err) < 0 ||
        stage_path(&v->again, MEMBER_CAPTURE, again, err) < 0)
        return -err->code;
    if (link(path, again) < 0)
        return err_set(err, ERR_SYSTEM, "%s: %s", again, strerror(errno));
    result = parts_database(&v->parts, err);
    if (result == 0)
        return 0;
    if (result == -ERR_SYSTEM)
        return result;
    package_finding(v->check, "%s", err->text);
    v->cut = true;
    if (result < 0)
        parts_free(&v->parts);
    return 0;
}

static void show_database(void *ctx, const char *text)
{
    package_finding(ctx, MEMBER_DATABASE ": %s", text);
}

static int compare_database(struct verifying *v, struct store *store, struct err *err)
{
    uint64_t found = 0;
    bool same = false;
    int result;

    if (database_same_schema(store_db(store), store_db(v->parts.store), &same, err) < 0)
        return -err->code;
    if (!same) {
        package_finding(v->check, MEMBER_DATABASE ": its tables are not those of the schema");
        return 0;
    }
    result = verify(store, show_database, v->check, &found, err);
    if (result < 0)
        return result;
    /* package_finding has counted what was shown */
    return database_compare(store_db(store), store_db(v->parts.store), show_database, v->check,
                            err);
}

static int check_database(struct verifying *v, struct err *err)
{
    char path[STAGE_PATH_MAX];
    struct store *store;
    int result;

    if (!stage_find(&v->stage, MEMBER_DATABASE) || !v->parts.store)
        return 0;
    if (stage_path(&v->stage, MEMBER_DATABASE, path, err) < 0)
        return -err->code;
    store = store_open(path, STORE_READ, err);
    result = store ? compare_database(v, store, err) : -err->code;
    store_close(store);
    if (result != -ERR_INPUT)
        return result;
    package_finding(v->check, MEMBER_DATABASE ": cannot be read as a trace database");
    return 0;
}

static int count_operations(struct verifying *v, int64_t stated, struct err *err)
{
    sqlite3_stmt *s;

    if (!v->parts.store)
        return 0;
    if (sqlite3_prepare_v2(store_db(v->parts.store), "SELECT count(*) FROM operation", -1, &s,
                           NULL) != SQLITE_OK)
        return store_fail(store_db(v->parts.store), "the database made again", err);
    if (sqlite3_step(s) == SQLITE_ROW)
        v->check->operations = (uint64_t)sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    if (stated >= 0 && (uint64_t)stated != v->check->operations)
        package_finding(v->check,
                        MEMBER_DATAPACKAGE ": says %lld operations, but the capture has %llu",
                        (long long)stated, (unsigned long long)v->check->operations);
    return 0;
}

static int check_rdump(struct verifying *v, struct err *err)
{
    char path[STAGE_PATH_MAX];

    if (!stage_find(&v->stage, MEMBER_RDUMP))
        return 0;
    return stage_path(&v->stage, MEMBER_RDUMP, path, err) < 0
               ? -err->code
               : package_rdump_check(path, v->check, err);
}

/* --- all of it --- */

static int check_all(struct verifying *v, struct err *err)
{
    int64_t operations = -1;

    if (archive_unpack(v->path, &v->stage, key_mark, v->check, err) < 0)
        return -err->code;
    v->check->members = v->stage.count;
    if (!stage_find(&v->stage, MEMBER_SUMS) && !stage_find(&v->stage, MEMBER_DATAPACKAGE))
        return err_set(err, ERR_INPUT,
                       "%s: not a package: neither " MEMBER_SUMS " nor " MEMBER_DATAPACKAGE
                       " is in it",
                       v->path);
    check_members(v);
    if (verify_sums(v, err) < 0 || verify_datapackage(v, &operations, err) < 0 ||
        verify_audit(v, err) < 0 || check_policy(v, err) < 0 || check_capture(v, err) < 0 ||
        check_database(v, err) < 0 || count_operations(v, operations, err) < 0 ||
        check_rdump(v, err) < 0)
        return -err->code;
    return verify_again(v, err);
}

int package_verify(const char *path, struct package_check *check, struct err *err)
{
    const char *folder = getenv("TMPDIR");
    struct verifying v = { .path = path, .check = check };
    char beside[STAGE_PATH_MAX / 2];
    int result = 0;

    check->accepted = check->findings = check->members = check->bytes = check->operations = 0;
    check->name[0] = '\0';
    if (!check->bytes_max)
        check->bytes_max = PACKAGE_BYTES_MAX;
    snprintf(beside, sizeof(beside), "%s/nfsdigest-package", folder && *folder ? folder : "/tmp");
    if (sqlite3_open(":memory:", &v.json) != SQLITE_OK)
        result = err_memory(err, "the package's facts");
    if (result == 0)
        result = stage_open(&v.stage, beside, err);
    if (result == 0)
        result = stage_open(&v.again, beside, err);
    v.options.progress = check->progress;
    v.parts.options = &v.options;
    v.parts.stage = &v.again;
    v.parts.accepted = &v.accepted;
    if (result == 0)
        result = check_all(&v, err);
    parts_free(&v.parts);
    free(v.parts.description);
    free(v.title);
    free(v.license);
    audit_free(v.audit);
    accepted_free(&v.accepted);
    policy_free(v.policy);
    sqlite3_close(v.json);
    stage_close(&v.again);
    stage_close(&v.stage);
    return result;
}
