/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/archive.h
 *
 * tar.zst archives, through libarchive.  When writing, only the members and the date decide the
 * bytes.  When reading, the archive is not trusted.
 */
#ifndef NFSDIGEST_PACKAGE_ARCHIVE_H
#define NFSDIGEST_PACKAGE_ARCHIVE_H

#include "base/output.h"
#include "package/package.h"
#include "package/stage.h"

struct archive_folder {
    const char *name; /* what all members are in */
    int64_t date;     /* of each; seconds since the epoch */
};

/* Members in the order of |stage|, as NAME/PATH: mode 0644, owner and group 0 without names.
 * Headers are ustar, pax where that cannot hold a value.  zstd at ARCHIVE_LEVEL, one thread. */
#define ARCHIVE_LEVEL "9"
int archive_pack(const struct stage *stage, const struct archive_folder *folder,
                 output_writer *write, void *ctx, struct err *err);

/* Unpacks into |stage| what is safe to be unpacked: regular files that packages have, each once, in
 * one folder, at most |check->bytes_max| bytes in all.  All else is a finding, as are owners.  A
 * member in which |needle| stands is one, too.  -ERR_INPUT: no tar.zst, cut or damaged, or above a
 * bound. */
int archive_unpack(const char *path, struct stage *stage, const char *needle,
                   struct package_check *check, struct err *err);

/* Whether anything else is in it than |stage|'s members, which are all of it, in its order: what is
 * is a finding. */
int archive_slack(const char *path, const struct stage *stage, struct package_check *check,
                  struct err *err);

/* The program and the libraries on which the bytes of a package depend, with their versions:
 * "nfsdigest 1.2.3, libarchive 3.6.2, libzstd 1.5.4, SQLite 3.40.1". */
const char *archive_made_with(void);

/* A text from a stranger, as it may be shown. */
const char *archive_shown(const char *name, char text[128]);

/* Counts a finding and shows it. */
void package_finding(struct package_check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
