/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/record/shift.h
 *
 * Counts the frames of records from another place: those of a piece of a capture from where the
 * capture begins.
 */
#ifndef NFSDIGEST_RECORD_SHIFT_H
#define NFSDIGEST_RECORD_SHIFT_H

#include "record/record.h"

/* Adds |by| to all numbers of frames.  0 stays 0: not captured.  -ERR_INPUT: a frame would have a
 * number below 1. */
int record_shift(struct record *record, int64_t by, struct err *err);

/* Parses a signed number. */
int record_shift_parse(const char *text, int64_t *by, struct err *err);

/* A sink that shifts, in front of |to|. */
struct shifting {
    struct sink to;
    int64_t by;
};
struct sink shifting_sink(struct shifting *shifting);

#endif
