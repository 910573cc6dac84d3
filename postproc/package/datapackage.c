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

static void put_field(FILE *out, const char *key, const char *value)
{
    fprintf(out, ",\n      \"%s\": ", key);
    json_text(out, value);
}

static int put_resource(FILE *out, const struct member *member, struct err *err)
{
    const struct member_kind *kind = member_kind(member->path);
    char name[MEMBER_PATH_MAX], hash[SHA256_HEX + 8];

    if (!kind)
        return err_set(err, ERR_SYSTEM, "%s: not known as a part of packages", member->path);
    resource_name(member->path, name);
    fputs("    {\n      \"name\": ", out);
    json_text(out, name);
    put_field(out, "path", member->path);
    put_field(out, "title", kind->title);
    put_field(out, "format", kind->format);
    put_field(out, "mediatype", kind->media_type);
    fprintf(out, ",\n      \"bytes\": %llu", (unsigned long long)member->size);
    snprintf(hash, sizeof(hash), "sha256:%s", member->sha256);
    put_field(out, "hash", hash);
    fputs("\n    }", out);
    return 0;
}

static void put_text(FILE *out, const char *key, const char *value)
{
    fprintf(out, ",\n  \"%s\": ", key);
    json_text(out, value);
}

static void put_accepted(FILE *out, const struct accepted *accepted)
{
    for (uint32_t i = 0; i < accepted->count; i++) {
        const struct accepted_row *r = &accepted->rows[i];

        fputs(i ? ",\n      { \"kind\": " : ",\n    \"accepted\": [\n      { \"kind\": ", out);
        json_text(out, r->kind);
        fputs(", \"class\": ", out);
        json_text(out, r->what);
        fprintf(out, ", \"count\": %llu, \"reason\": ", (unsigned long long)r->count);
        json_text(out, r->reason);
        fputs(" }", out);
    }
    if (accepted->count)
        fputs("\n    ]", out);
}

int datapackage_write(const struct package_story *story, FILE *out, struct err *err)
{
    const struct package_options *o = story->options;
    int result = 0;

    fputs("{\n  \"profile\": \"data-package\"", out);
    put_text(out, "name", story->name);
    put_text(out, "title", o->title ? o->title : "A trace of NFSv3 traffic, anonymized");
    if (story->description)
        put_text(out, "description", story->description);
    if (o->license) {
        fputs(",\n  \"licenses\": [ { \"name\": ", out);
        json_text(out, o->license);
        fputs(" } ]", out);
    }
    fputs(",\n  \"keywords\": [ \"NFSv3\", \"network file system\", \"trace\" ]", out);
    fputs(",\n  \"nfsdigest\": {\n    \"version\": \"" NFSDIGEST_VERSION "\",\n    \"policy\": ",
          out);
    json_text(out, story->policy_name);
    fputs(",\n    \"policy_sha256\": ", out);
    json_text(out, story->policy_digest);
    fputs(",\n    \"made_with\": ", out);
    json_text(out, archive_made_with());
    if (o->date >= 0)
        fprintf(out, ",\n    \"date\": %lld", (long long)o->date);
    put_accepted(out, story->accepted);
    fprintf(out, ",\n    \"operations\": %llu\n  },\n  \"resources\": [\n",
            (unsigned long long)story->facts->operations);
    for (uint32_t i = 0; result == 0 && i < story->stage->count; i++) {
        if (i)
            fputs(",\n", out);
        result = put_resource(out, &story->stage->members[i], err);
    }
    fputs("\n  ]\n}\n", out);
    return result;
}
