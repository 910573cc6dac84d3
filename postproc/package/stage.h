/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/stage.h
 *
 * A private folder in which the files of a package are made or checked.  It is removed with
 * everything in it, also when the process is killed.  Its files are the members of the archive:
 * paths of at most MEMBER_PATH_MAX, one folder deep.
 *
 * Memory: 400 bytes for each member, at most MEMBERS_MAX.
 */
#ifndef NFSDIGEST_PACKAGE_STAGE_H
#define NFSDIGEST_PACKAGE_STAGE_H

#include "base/janitor.h"
#include "package/sha256.h"

#include <stdio.h>

enum {
    MEMBER_PATH_MAX = 100, /* fits the name of every tar header */
    MEMBERS_MAX = 1000,
    STAGE_PATH_MAX = 4096,
};

struct member {
    char path[MEMBER_PATH_MAX];
    uint64_t size;
    char sha256[SHA256_HEX];
};

struct stage {
    char folder[STAGE_PATH_MAX];
    struct member *members;
    uint32_t count;
    struct janitor janitor;
};

/* Makes the folder, for its owner alone: |beside| with a suffix. */
int stage_open(struct stage *stage, const char *beside, struct err *err);
/* Removes it; all zeros are nothing. */
void stage_close(struct stage *stage);

/* Where |member| is; its folder is made. */
int stage_path(const struct stage *stage, const char *member, char path[STAGE_PATH_MAX],
               struct err *err);
FILE *stage_create(const struct stage *stage, const char *member, struct err *err);
/* Closes what stage_create opened; -ERR_SYSTEM if not all was written. */
int stage_done(FILE *file, const char *member, struct err *err);

/* The file is complete: it becomes a member.  |needle|: sha256.h;
 * *|found| becomes true when it stands in the file. */
int stage_take(struct stage *stage, const char *member, const char *needle, bool *found,
               struct err *err);

/* By path, in the order of bytes. */
void stage_sort(struct stage *stage);
const struct member *stage_find(const struct stage *stage, const char *path);

/* Relative, of letters, digits and "._-", with one folder at most, and nothing that leads
 * elsewhere. */
bool member_path_is_safe(const char *path);

/* What a member is, by its path; NULL: no package has such a one. */
struct member_kind {
    const char *start, *end; /* of its path */
    const char *format, *media_type, *title;
    bool needed;
};
const struct member_kind *member_kind(const char *path);

/* The whole of a small member, with a zero behind it, to be freed; NULL when there is no memory, or
 * it has more than |max| bytes. */
char *stage_read(const struct stage *stage, const char *member, size_t max, size_t *len,
                 struct err *err);

#define MEMBER_CAPTURE "captures/001.pcapng"
#define MEMBER_DATABASE "trace.db"
#define MEMBER_RDUMP "trace.rdump"
#define MEMBER_POLICY "policy.conf"
#define MEMBER_AUDIT_HTML "audit.html"
#define MEMBER_AUDIT_JSON "audit.json"
#define MEMBER_README "README.md"
#define MEMBER_DATAPACKAGE "datapackage.json"
#define MEMBER_SUMS "SHA256SUMS"

#endif
