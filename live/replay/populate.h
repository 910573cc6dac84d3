/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/populate.h
 *
 * The tree before the first operation of a dump, on one target, through NFS: finds it, compares it,
 * or makes what is missing.  Many objects at a time, each by a few calls, one after the other:
 *
 *     found:  LOOKUP
 *     made:   CREATE, WRITE..., COMMIT, SETATTR    (MKDIR, SYMLINK, MKNOD; LINK for further names)
 *
 *     checked: LOOKUP, READ..., READLINK; at last READDIR of directories
 *
 * First comes each object by its first name, then come further hard links, then the directories'
 * own attributes, as making names changes them.  A file gets its mtime last.  So a file with
 * another size or mtime is written again, and a run that was interrupted continues where it was.
 *
 * Memory: beside the script's tree 32 bytes for each object, 4 for each entry, about 64 for the
 * handle of each directory and of each file with several links; about 1 KiB for each object under
 * way; each piece of a file that is being written, of which one file has at most 16, takes the
 * place of an object.
 */
#ifndef NFSDIGEST_REPLAY_POPULATE_H
#define NFSDIGEST_REPLAY_POPULATE_H

#include "replay/contents.h"
#include "replay/pipeline.h"
#include "rdump/rdump_place.h"
#include "replay/plan.h"

enum populate_mode {
    POPULATE_FIND,  /* handles, attributes; changes nothing */
    POPULATE_CHECK, /* also compares attributes, links, and the names in directories */
    POPULATE_MAKE,
};

struct populate_counts {
    uint64_t objects;           /* that the tree has */
    uint64_t there, made;       /* were found, were made; the others are missing */
    uint64_t refused;           /* devices and such that the server does not make; with FIND:
                                 * that are missing */
    uint64_t links, links_made; /* further hard links */
    uint64_t written, set;      /* bytes of files; SETATTRs */
    uint64_t read;              /* bytes of files that were compared */
    uint64_t differences;       /* that were told */
    uint64_t calls;
    bool interrupted; /* by a signal */
};

struct populate_setup {
    struct loop *loop;
    const struct target *target;
    const struct plan *plan;
    enum populate_mode mode;
    struct contents contents;
    bool reads;           /* CHECK compares the contents of files, too */
    struct bytes scratch; /* handle of the directory for links without a name; 0 bytes: none */
    uint32_t connections; /* 0: 4 */
    uint32_t outstanding; /* objects under way; 0: 256 */
    /* All may be NULL. */
    /* An object is there. */
    int (*found)(void *ctx, const struct rdump_object *object, struct bytes handle,
                 const struct fattr3 *attributes, struct err *err);
    /* Something is not as the dump wants it: |path| below the export.  Names are escaped in both.
     */
    int (*differs)(void *ctx, const char *path, const char *text, struct err *err);
    int (*progress)(void *ctx, const struct populate_counts *counts, struct err *err); /* 4 a s */
    void *ctx;
};

/* Returns 0 if everything was gone through, also when something is missing, or if a signal
 * interrupted it (|counts->interrupted|).  -ERR_INPUT: the server refuses something, with its path;
 * -ERR_SYSTEM: no connection.  |counts| is filled in either case. */
int populate(const struct populate_setup *setup, struct populate_counts *counts, struct err *err);

#endif
