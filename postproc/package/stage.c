/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/stage.c
 *
 * The table of the files that a package may have, and the list of those that are in the folder.  A
 * name is checked before it becomes a member, as it may come from a stranger.  base/janitor.h
 * removes the folder.  For all that makes or verifies a package.  The contract is in stage.h.
 */
#include "package/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAFE "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"

/* clang-format off */
static const struct member_kind member_kinds[] = {
    { MEMBER_README, "", "markdown", "text/markdown", "What this is", true },
    { MEMBER_AUDIT_HTML, "", "html", "text/html", "Report of the audit", true },
    { MEMBER_AUDIT_JSON, "", "json", "application/json", "Report of the audit", true },
    { MEMBER_CAPTURE, "", "pcapng", "application/vnd.tcpdump.pcap",
      "Anonymized capture of packets", true },
    { MEMBER_POLICY, "", "ini", "text/plain", "The policy of anonymizing, every rule spelled out",
      true },
    { MEMBER_DATABASE, "", "sqlite", "application/vnd.sqlite3",
      "Operations of the trace, and its tree", false },
    { MEMBER_RDUMP, "", "rdump", "application/octet-stream", "Replay dump", false },
    { "plots/", ".svg", "svg", "image/svg+xml", "Plot", false },
    { "schemas/", ".sql", "sql", "application/sql", "Schema of tables in trace.db", false },
    { "schemas/", ".md", "markdown", "text/markdown", "Specification of a format", false },
    { "schemas/", ".ksy", "ksy", "text/plain", "Kaitai Struct specification of a format", false },
    { "schemas/", ".json", "json", "application/schema+json", "JSON Schema", false },
    { MEMBER_DATAPACKAGE, "", "json", "application/json", "Frictionless Data Package", true },
    { MEMBER_SUMS, "", "text", "text/plain", "SHA-256 of all other files", true },
    { NULL },
};
/* clang-format on */

const struct member_kind *member_kind(const char *path)
{
    size_t len = strlen(path);

    for (const struct member_kind *kind = member_kinds; kind->start; kind++) {
        size_t start = strlen(kind->start), end = strlen(kind->end);

        if (len < start + end || (!end && len > start) || strncmp(path, kind->start, start) != 0)
            continue;
        if (strcmp(path + len - end, kind->end) == 0)
            return kind;
    }
    return NULL;
}

bool member_path_is_safe(const char *path)
{
    size_t len = strlen(path), part = strcspn(path, "/");
    const char *rest = path[part] ? path + part + 1 : NULL;

    if (!len || len >= MEMBER_PATH_MAX)
        return false;
    if (!part || path[0] == '.' || path[0] == '-' || strspn(path, SAFE) != part)
        return false;
    return !rest || (rest[0] && rest[0] != '.' && rest[0] != '-' && !rest[strspn(rest, SAFE)]);
}

int stage_open(struct stage *stage, const char *beside, struct err *err)
{
    memset(stage, 0, sizeof(*stage));
    if (strlen(beside) + 16 >= STAGE_PATH_MAX / 2)
        return err_set(err, ERR_USAGE, "%.100s...: the name is too long", beside);
    stage->members = calloc(MEMBERS_MAX, sizeof(*stage->members));
    if (!stage->members)
        return err_memory(err, "the package's files");
    snprintf(stage->folder, sizeof(stage->folder), "%s.part-XXXXXX", beside);
    return janitor_start(&stage->janitor, stage->folder, err) < 0
               ? err_prefix(err, "%s: cannot make a folder beside it", beside)
               : 0;
}

void stage_close(struct stage *stage)
{
    janitor_stop(&stage->janitor);
    free(stage->members);
    stage->members = NULL;
}

int stage_path(const struct stage *stage, const char *member, char path[STAGE_PATH_MAX],
               struct err *err)
{
    char *slash;
    int len = snprintf(path, STAGE_PATH_MAX, "%s/%s", stage->folder, member);

    if (len >= STAGE_PATH_MAX)
        return err_set(err, ERR_SYSTEM, "%.100s: too long a path", member);
    slash = strchr(path + strlen(stage->folder) + 1, '/');
    if (!slash)
        return 0;
    *slash = '\0';
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_set(err, ERR_SYSTEM, "%.200s: %s", path, strerror(errno));
    *slash = '/';
    return 0;
}

FILE *stage_create(const struct stage *stage, const char *member, struct err *err)
{
    char path[STAGE_PATH_MAX];
    FILE *file;

    if (stage_path(stage, member, path, err) < 0)
        return NULL;
    file = fopen(path, "wxe");
    if (!file)
        err_set(err, ERR_SYSTEM, "%s: cannot be made: %s", path, strerror(errno));
    return file;
}

int stage_done(FILE *file, const char *member, struct err *err)
{
    bool bad = ferror(file) != 0;

    if (fclose(file) != 0 || bad)
        return err_set(err, ERR_SYSTEM, "%s: cannot be written: %s", member, strerror(errno));
    return 0;
}

int stage_take(struct stage *stage, const char *name, const char *needle, bool *found,
               struct err *err)
{
    struct member *member;
    char path[STAGE_PATH_MAX];
    struct sha256 sum;
    int result;

    if (stage->count == MEMBERS_MAX || !member_path_is_safe(name))
        return err_set(err, ERR_SYSTEM,
                       "%.100s: not a name of a file in a package, or there are too many", name);
    if (stage_path(stage, name, path, err) < 0)
        return -err->code;
    member = &stage->members[stage->count];
    snprintf(member->path, sizeof(member->path), "%s", name);
    result = sha256_file(path, needle, &sum, err);
    if (sum.found)
        *found = true;
    if (result < 0)
        return result;
    memcpy(member->sha256, sum.hex, sizeof(member->sha256));
    member->size = sum.size;
    stage->count++;
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct member *)a)->path, ((const struct member *)b)->path);
}

void stage_sort(struct stage *stage)
{
    qsort(stage->members, stage->count, sizeof(*stage->members), by_path);
}

const struct member *stage_find(const struct stage *stage, const char *path)
{
    for (uint32_t i = 0; i < stage->count; i++)
        if (strcmp(stage->members[i].path, path) == 0)
            return &stage->members[i];
    return NULL;
}

char *stage_read(const struct stage *stage, const char *name, size_t max, size_t *len,
                 struct err *err)
{
    char path[STAGE_PATH_MAX], *text = NULL;
    const struct member *member = stage_find(stage, name);
    FILE *file;

    if (!member || member->size > max) {
        err_set(err, ERR_INPUT, "%s: %s", name, member ? "too large" : "missing");
        return NULL;
    }
    if (stage_path(stage, name, path, err) < 0)
        return NULL;
    file = fopen(path, "re");
    text = file ? calloc(1, member->size + 1) : NULL;
    if (!text || fread(text, 1, member->size, file) != member->size) {
        err_set(err, ERR_SYSTEM, "%s: cannot be read", path);
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    *len = member->size;
    return text;
}
