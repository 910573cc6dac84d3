/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/datapackage.c
 *
 * datapackage.json, as version 1 of https://specs.frictionlessdata.io/data-package/ has it, without
 * what would differ from run to run.
 */
#include "base/json.h"
#include "base/values.h"
#include "package/accepted.h"
#include "package/archive.h"
#include "package/facts.h"
#include "package/package.h"
#include "package/stage.h"

/* Names of resources: lower case, and each once. */
static void resource_name(const char *path, char name[MEMBER_PATH_MAX])
{
    size_t i = 0;

    for (; path[i] && i < MEMBER_PATH_MAX - 1; i++) {
        char c = path[i];

        name[i] = (char)(c == '/' ? '.' : c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    }
    name[i] = '\0';
}

static int put_resource(struct json *j, const struct member *member, struct err *err)
{
    const struct member_kind *kind = member_kind(member->path);
    char name[MEMBER_PATH_MAX], hash[SHA256_HEX + 8];

    if (!kind)
        return err_set(err, ERR_SYSTEM, "%s: not known as a part of packages", member->path);
    resource_name(member->path, name);
    snprintf(hash, sizeof(hash), "sha256:%s", member->sha256);
    json_object(j, NULL);
    json_text(j, "name", name);
    json_text(j, "path", member->path);
    json_text(j, "title", kind->title);
    json_text(j, "format", kind->format);
    json_text(j, "mediatype", kind->media_type);
    json_u64(j, "bytes", member->size);
    json_text(j, "hash", hash);
    json_object_end(j);
    return 0;
}

static void put_license(struct json *j, const char *license)
{
    json_one_line(j);
    json_array(j, "licenses");
    json_object(j, NULL);
    json_text(j, "name", license);
    json_object_end(j);
    json_array_end(j);
}

static void put_keywords(struct json *j)
{
    json_one_line(j);
    json_array(j, "keywords");
    json_text(j, NULL, "NFSv3");
    json_text(j, NULL, "network file system");
    json_text(j, NULL, "trace");
    json_array_end(j);
}

static void put_accepted(struct json *j, const struct accepted *accepted)
{
    if (!accepted->count)
        return;
    json_array(j, "accepted");
    for (uint32_t i = 0; i < accepted->count; i++) {
        const struct accepted_row *r = &accepted->rows[i];

        json_one_line(j);
        json_object(j, NULL);
        json_text(j, "kind", r->kind);
        json_text(j, "class", r->what);
        json_u64(j, "count", r->count);
        json_text(j, "reason", r->reason);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_own(struct json *j, const struct package_story *story)
{
    json_object(j, "nfsdigest");
    json_text(j, "version", NFSDIGEST_VERSION);
    json_text(j, "policy", story->policy_name);
    json_text(j, "policy_sha256", story->policy_digest);
    json_text(j, "made_with", archive_made_with());
    if (story->options->date >= 0)
        json_i64(j, "date", story->options->date);
    put_accepted(j, story->accepted);
    json_u64(j, "operations", story->facts->operations);
    json_object_end(j);
}

int datapackage_write(const struct package_story *story, FILE *out, struct err *err)
{
    const struct package_options *o = story->options;
    struct json j = { .out = out, .indented = true };
    int result = 0;

    json_object(&j, NULL);
    json_text(&j, "profile", "data-package");
    json_text(&j, "name", story->name);
    json_text(&j, "title", o->title ? o->title : "A trace of NFSv3 traffic, anonymized");
    if (story->description)
        json_text(&j, "description", story->description);
    if (o->license)
        put_license(&j, o->license);
    put_keywords(&j);
    put_own(&j, story);
    json_array(&j, "resources");
    for (uint32_t i = 0; result == 0 && i < story->stage->count; i++)
        result = put_resource(&j, &story->stage->members[i], err);
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
    return result;
}
