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

/* Makes the folder, which only its owner can use.  Its name is |beside| with a suffix. */
int stage_open(struct stage *stage, const char *beside, struct err *err);
/* Removes the folder.  Does nothing if |stage| is all zeros. */
void stage_close(struct stage *stage);

/* Writes the path of |member|, and makes its folder. */
int stage_path(const struct stage *stage, const char *member, char path[STAGE_PATH_MAX],
               struct err *err);
FILE *stage_create(const struct stage *stage, const char *member, struct err *err);
/* Closes the file that stage_create opened.  Returns -ERR_SYSTEM if not all was written. */
int stage_done(FILE *file, const char *member, struct err *err);

/* Makes a complete file a member.  For |needle| see sha256.h; *|found| becomes true if it is in the
 * file. */
int stage_take(struct stage *stage, const char *member, const char *needle, bool *found,
               struct err *err);

/* Sorts the members by path, in the order of bytes. */
void stage_sort(struct stage *stage);
const struct member *stage_find(const struct stage *stage, const char *path);

/* Returns true for a relative path of letters, digits and "._-", with at most one folder, that does
 * not lead outside. */
bool member_path_is_safe(const char *path);

/* Returns the kind of a member by its path, or NULL if no package has such a member. */
struct member_kind {
    const char *start, *end; /* of its path */
    const char *format, *media_type, *title;
    bool needed;
};
const struct member_kind *member_kind(const char *path);

/* Reads a small member as a whole and adds a zero.  The caller frees it.  Returns NULL if there is
 * no memory, or if it has more than |max| bytes. */
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
