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
    const char *name; /* the folder of all members */
    int64_t date;     /* of each; seconds since the epoch */
};

/* Writes the members in the order of |stage|, as NAME/PATH: mode 0644, owner and group 0 without
 * names.  Headers are ustar, or pax for values that do not fit.  zstd at ARCHIVE_LEVEL, one
 * thread. */
#define ARCHIVE_LEVEL "9"
int archive_pack(const struct stage *stage, const struct archive_folder *folder,
                 output_writer *write, void *ctx, struct err *err);

/* Unpacks the safe members into |stage|: regular files that packages have, each once, in one
 * folder, at most |check->bytes_max| bytes in all.  Everything else is a finding, and so are owners
 * and a member that contains |needle|.  Returns -ERR_INPUT if it is not a tar.zst, is cut or
 * damaged, or exceeds a limit. */
int archive_unpack(const char *path, struct stage *stage, const char *needle,
                   struct package_check *check, struct err *err);

/* Checks that the archive has only |stage|'s members, in the same order.  Reports anything else as
 * a finding. */
int archive_slack(const char *path, const struct stage *stage, struct package_check *check,
                  struct err *err);

/* Returns the program and the libraries that decide the bytes of a package, with their versions:
 * "nfsdigest 1.2.3, libarchive 3.6.2, libzstd 1.5.4, SQLite 3.40.1". */
const char *archive_made_with(void);

/* Makes a text from an unknown source safe to print. */
const char *archive_shown(const char *name, char text[128]);

/* Counts a finding and shows it. */
void package_finding(struct package_check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
