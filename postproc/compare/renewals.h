/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/compare/renewals.h
 *
 * A server may give a file another handle than before (RFC 1813 s2.6 nfs_fh3), for example after a
 * restart.  The new handle is recognized by the name of the file, to which aligned requests led
 * while the other server still has the old handle, and by file number and type.  From then on, its
 * requests belong to the object.  Table other_handle says so.
 *
 * Memory: 16 bytes for each new handle that is not stored yet.
 */
#ifndef NFSDIGEST_COMPARE_RENEWALS_H
#define NFSDIGEST_COMPARE_RENEWALS_H

#include "align/align.h"
#include "compare/compare_parts.h"

struct renewal {
    int side;
    uint32_t object, row, old;
};

struct renewals {
    struct compare *c;
    struct objects *objects;
    sqlite3_stmt *same[SIDES], *put, *sequence[SIDES], *name[SIDES];
    struct renewal *waiting;
    uint32_t count, cap;
};

/* Call this if request |e| of |side| found or made an object, and the request aligned with it found
 * |other| of the other side. */
int renewals_note(struct renewals *r, int side, const struct align_element *e, uint32_t other,
                  struct err *err);
/* Call this between two sequences.  It moves the requests of the new handles to the objects.
 * Objects up to row |aligned| are already aligned, so their requests stay where they are. */
int renewals_apply(struct renewals *r, uint32_t aligned, struct err *err);
void renewals_close(struct renewals *r);

#endif
