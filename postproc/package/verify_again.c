/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/verify_again.c
 *
 * A package made again from its own capture, with the texts and figures that only its maker has, in
 * a folder beside the unpacked one: then all files, and the archive, must be the same byte for
 * byte.
 */
#include "package/differ.h"
#include "package/recapture.h"
#include "package/package_text.h"
#include "package/verify_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static const char again_name[] = "again.pcapng"; /* no member */

/* What verify.c and verify_lists.c look at, also in what another version has made. */
#define LOOKED_AT                                                                                  \
    "lists and sums, policy and end of the capture, the audit's verdict, rows of the database, "   \
    "sums of the replay dump; not the bytes of all files and of the archive"

/* --- what its maker wrote --- */

/* A copy of a column's text for as long as |v| lives; NULL: it is none. */
static int keep_text(sqlite3_stmt *s, int column, char **to, struct err *err)
{
    const char *text = (const char *)sqlite3_column_text(s, column);

    *to = text ? strdup(text) : NULL;
    return text && !*to ? err_memory(err, "a text") : 0;
}

/* 1: it was found that this program cannot make it again. */
static int check_maker(struct verifying *v, sqlite3_stmt *s)
{
    const char *made_with = (const char *)sqlite3_column_text(s, 0);
    char text[128];

    if (made_with && strcmp(made_with, archive_made_with()) == 0)
        return 0;
    package_finding(
        v->check,
        "made with %s.  This is %s, which cannot make it again byte for byte.  Only these "
        "were checked: " LOOKED_AT,
        made_with ? archive_shown(made_with, text) : "an unknown version", archive_made_with());
    return 1;
}

static int check_texts(struct verifying *v)
{
    const char *description = v->parts.description;
    struct err why;

    if (package_texts_check(&v->options, &why) == 0 &&
        (!description || package_description_is_good(description, strlen(description))))
        return 0;
    package_finding(v->check, MEMBER_DATAPACKAGE
                    ": its name, title, license or description is not possible in a package");
    return 1;
}

static int read_texts(struct verifying *v, struct err *err)
{
    static const char sql[] =
        "SELECT json_extract(?1, '$.nfsdigest.made_with'), json_extract(?1, '$.title'),"
        " json_extract(?1, '$.description'), json_extract(?1, '$.licenses[0].name'),"
        " json_extract(?1, '$.nfsdigest.date')";
    struct member_text t;
    int result = verify_member(v, MEMBER_DATAPACKAGE, sql, &t, err);
    sqlite3_stmt *s = t.stmt;

    if (result == 0 && sqlite3_step(s) != SQLITE_ROW)
        result = store_fail(v->json, MEMBER_DATAPACKAGE, err);
    if (result == 0)
        result = check_maker(v, s);
    if (result == 0 &&
        (keep_text(s, 1, &v->title, err) < 0 || keep_text(s, 2, &v->parts.description, err) < 0 ||
         keep_text(s, 3, &v->license, err) < 0))
        result = -err->code;
    v->options.date = sqlite3_column_type(s, 4) == SQLITE_INTEGER ? sqlite3_column_int64(s, 4) : -1;
    verify_release(&t);
    v->options.title = v->title;
    v->options.license = v->license;
    v->options.name = v->parts.name = v->check->name;
    v->options.no_database = !stage_find(&v->stage, MEMBER_DATABASE);
    v->options.no_rdump = !stage_find(&v->stage, MEMBER_RDUMP);
    return result == 0 ? check_texts(v) : result;
}

/* --- the policy, and the capture by it --- */

/* 1: it is none. */
static int read_policy(struct verifying *v, struct policy **policy, struct err *err)
{
    char path[STAGE_PATH_MAX];

    if (stage_path(&v->stage, MEMBER_POLICY, path, err) < 0)
        return -err->code;
    if (policy_load(path, policy, err) == 0)
        return 0;
    if (err->code == ERR_SYSTEM)
        return -err->code;
    package_finding(v->check, MEMBER_POLICY ": is not a policy");
    return 1;
}

static int check_capture(struct verifying *v, struct err *err)
{
    char path[STAGE_PATH_MAX], again[STAGE_PATH_MAX];
    struct policy *policy = NULL;
    int result = read_policy(v, &policy, err);

    if (result == 0 && (stage_path(&v->stage, MEMBER_CAPTURE, path, err) < 0 ||
                        stage_path(&v->again, again_name, again, err) < 0))
        result = -err->code;
    if (result == 0)
        result = recapture(path, policy, again, err);
    policy_free(policy);
    if (result == -ERR_INPUT) {
        package_finding(v->check, MEMBER_CAPTURE ": cannot be read again");
        return 1;
    }
    if (result == 0)
        result = recapture_compare(path, again, MEMBER_CAPTURE, v->check, err);
    unlink(again);
    return result;
}

/* --- the audit --- */

static int read_audit(struct verifying *v, struct err *err)
{
    char digest[2 * sizeof(v->policy->digest) + 1];
    char *text;
    size_t len = 0;
    int result = verify_text(v, MEMBER_AUDIT_JSON, &text, &len, err);

    if (result < 0 || !text)
        return result < 0 ? result : 1;
    for (size_t i = 0; i < sizeof(v->policy->digest); i++)
        snprintf(digest + 2 * i, 3, "%02x", v->policy->digest[i]);
    v->audit = audit_restore(v->json, text, len, v->policy->name, digest,
                             "anonymized by nfsdigest " NFSDIGEST_VERSION, err);
    free(text);
    if (v->audit && !accepted_agree(&v->accepted, v->audit))
        package_finding(v->check, MEMBER_AUDIT_JSON ": has other findings than its maker accepted");
    return v->audit ? 0 : -err->code;
}

/* --- comparing --- */

static int compare_member(struct verifying *v, const struct member *made, struct err *err)
{
    const struct member *member = stage_find(&v->stage, made->path);
    char path[STAGE_PATH_MAX], again[STAGE_PATH_MAX];
    int64_t at;

    if (!member) {
        package_finding(v->check, "%s: missing, but it is made of the capture", made->path);
        return 0;
    }
    if (strcmp(member->sha256, made->sha256) == 0)
        return 0;
    if (stage_path(&v->stage, made->path, path, err) < 0 ||
        stage_path(&v->again, made->path, again, err) < 0 ||
        differ_at(path, again, UINT64_MAX, &at, err) < 0)
        return -err->code;
    package_finding(v->check, "%s: byte %lld differs from the file made again from the captures",
                    made->path, (long long)at);
    return 0;
}

static int compare_members(struct verifying *v, struct err *err)
{
    for (uint32_t i = 0; i < v->again.count; i++)
        if (compare_member(v, &v->again.members[i], err) < 0)
            return -err->code;
    for (uint32_t i = 0; i < v->stage.count; i++)
        if (!stage_find(&v->again, v->stage.members[i].path))
            package_finding(v->check, "%s: differs from the one made again from the captures",
                            v->stage.members[i].path);
    return 0;
}

struct side { /* the archive as it is, beside what is written */
    FILE *file;
    uint64_t at;
    bool differs;
};

static int beside(void *ctx, const void *data, size_t len, struct err *err)
{
    struct side *s = ctx;
    const uint8_t *p = data;

    (void)err;
    for (size_t i = 0; i < len && !s->differs; i++) {
        s->differs = getc_unlocked(s->file) != p[i];
        s->at += !s->differs;
    }
    return 0;
}

static int compare_archive(struct verifying *v, struct err *err)
{
    struct side side = { .file = fopen(v->path, "re") };
    int result = side.file ? parts_pack(&v->parts, beside, &side, err)
                           : err_set(err, ERR_SYSTEM, "%s: %s", v->path, strerror(errno));

    if (result == 0 && !side.differs && getc_unlocked(side.file) != EOF)
        side.differs = true;
    if (result == 0 && side.differs)
        package_finding(v->check,
                        "the archive's own bytes (headers, dates, order, compression) are not what "
                        "packing its files gives, from byte %llu on",
                        (unsigned long long)side.at);
    if (side.file)
        fclose(side.file);
    return result;
}

/* --- all of it --- */

static int make_again(struct verifying *v, struct err *err)
{
    int result = read_texts(v, err);

    if (result == 0)
        result = read_policy(v, &v->policy, err);
    if (result == 0)
        result = check_capture(v, err);
    if (result == 0)
        result = read_audit(v, err);
    if (result != 0)
        return result;
    v->parts.policy = v->policy;
    v->parts.audit = v->audit;
    result = parts_make(&v->parts, err);
    if (result != -ERR_INPUT)
        return result;
    package_finding(v->check, "%s", err->text);
    return 1;
}

int verify_again(struct verifying *v, struct err *err)
{
    uint64_t before;
    int result;

    if (!v->parts.store || v->cut || !stage_find(&v->stage, MEMBER_POLICY))
        return 0; /* which was found */
    result = make_again(v, err);
    if (result != 0)
        return result < 0 ? result : 0;
    before = v->check->findings;
    if (compare_members(v, err) < 0)
        return -err->code;
    return v->check->findings == before ? compare_archive(v, err) : 0;
}
