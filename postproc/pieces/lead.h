/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/pieces/lead.h
 *
 * Finds where a lead-in begins: so many bytes and so much time before a border, whichever is more.
 */
#ifndef NFSDIGEST_PIECES_LEAD_H
#define NFSDIGEST_PIECES_LEAD_H

#include "pieces/part.h"

struct lead {
    uint64_t bytes;
    int64_t time; /* ns */
};

/* Finds the packet at which the lead-in of the border at byte |from| begins. */
int lead_find(const struct lead *lead, const char *path, const struct capture_shape *shape,
              uint64_t from, uint64_t *begin, struct err *err);

/* Opens |path| at the lead-in of a border at its end.  A compressed file is read twice. */
int lead_open_end(const struct lead *lead, const char *path, struct part *part, struct err *err);

#endif
