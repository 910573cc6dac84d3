/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/frames.h
 *
 * Which fields of a record are numbers of frames.
 */
#ifndef NFSDIGEST_RECORD_FRAMES_H
#define NFSDIGEST_RECORD_FRAMES_H

#include "record/record.h"

enum { RECORD_FRAMES_MAX = 4 };

/* Sets |frames| to the fields of |record| that are numbers of frames.  Returns how many it has. */
int record_frames(struct record *record, uint64_t *frames[RECORD_FRAMES_MAX]);

#endif
