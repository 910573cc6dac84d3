/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/sources.h
 *
 * The files that a trace is made of, and what was found in each: the rows of the table "sources".
 *
 * Memory: 200 bytes and the note of each file.
 */
#ifndef NFSDIGEST_COLUMNS_SOURCES_H
#define NFSDIGEST_COLUMNS_SOURCES_H

#include "capture/input.h"
#include "columns/known.h"

struct source {
    struct bytes name, kind, state;
    struct bytes note; /* where and why it was cut; empty if it was not */
    uint64_t size;     /* bytes, decompressed */
    uint8_t digest[INPUT_DIGEST_LEN], head_digest[INPUT_DIGEST_LEN];
    uint64_t frame_base, frames;
    uint64_t operations, calls, replies, retransmissions, copies, problems;
    int64_t first_time, last_time; /* TIME_NONE: no frame has one */
};

struct sources {
    bool wanted; /* else the rest stays empty */
    bool ended;  /* the last one: its last record has told its frames and times, */
    bool cut;    /* and that the capture behind them was cut */
    struct source *list;
    uint32_t count, cap;
};

/* Begins the next file, of which nothing was read yet.  Its name must outlive |sources|. */
int sources_begin(struct sources *sources, struct input *input, bool is_stream, uint64_t frame_base,
                  struct err *err);

/* Counts what |record|, which |known| has checked, says about the files. */
void sources_count(struct sources *sources, const struct known *known, const struct record *record);

/* Notes that the last file was cut. */
int sources_cut(struct sources *sources, const char *note, struct err *err);

/* Reads what is left of the last file, so that its size and digest are those of all of it. */
int sources_end(struct sources *sources, struct input *input, struct err *err);

void sources_free(struct sources *sources);

#endif
