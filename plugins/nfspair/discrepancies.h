/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/discrepancies.h
 *
 * The discrepancies that nfsdigest compare found (schemas/compare.sql), for the frames of one of
 * the compared captures.  This file does not use Wireshark.
 *
 * It does not check which capture is open: an entry belongs to a frame with the same number, time
 * and XID, on either side.  A capture that has both servers shows both sides.
 *
 * Memory: 16 bytes for each frame with a discrepancy, on either side.  The rest stays in the
 * database, which is open, for reading only, as long as this object lives.
 */
#ifndef NFSDIGEST_NFSPAIR_DISCREPANCIES_H
#define NFSDIGEST_NFSPAIR_DISCREPANCIES_H

#include "align/codes.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    DISCREPANCIES_MOST = 500, /* the most that are shown for one message */
};

/* Texts are valid until the callback returns, and can hold any bytes.  NULL: there is no text. */
struct discrepancy {
    uint32_t number; /* its number within the message, from 1 */
    uint32_t group;  /* its group of similar discrepancies */
    uint64_t count;  /* size of the group */
    const char *side, *kind, *class, *field, *difference, *element, *ref, *sut, *explanation,
        *cause, *rule;
    bool is_noise;          /* no more frequent than between two runs of the reference */
    uint32_t other_frame;   /* 0: no counterpart */
    const char *other_file; /* NULL: the counterpart is in the same capture */
};

struct discrepancies;

/* Opens a result.  |side|: use only discrepancies of this side.  NULL: the file is not a result of
 * a comparison, or has a later version, or is damaged. */
struct discrepancies *discrepancies_open(const char *path, enum side_code side, struct err *err);
void discrepancies_close(struct discrepancies *d);

/* Notes that |frame| of the open capture has the time |time| (ns).  Call it once for each frame,
 * before its discrepancies are needed.  Other frames have none. */
void discrepancies_seen(struct discrepancies *d, uint32_t frame, int64_t time);

/* Guesses if the database belongs to the open capture, which was seen up to frame |last|.  Returns
 * false, with a message in |text|, if the database has discrepancies but none for a frame that was
 * seen, and it knows no capture with so many frames and no discrepancies. */
bool discrepancies_fit(const struct discrepancies *d, uint32_t last, struct err *text);

/* Calls |show| for at most DISCREPANCIES_MOST discrepancies of the message |xid| that ends in
 * |frame|.  Returns how many there are, or a negative code. */
typedef void (*discrepancy_show)(void *ctx, const struct discrepancy *discrepancy);
int64_t discrepancies_of(struct discrepancies *d, uint32_t frame, uint32_t xid,
                         discrepancy_show show, void *ctx, struct err *err);

/* Return the nearest seen frame after (or before) |frame| that has discrepancies; 0: none. */
uint32_t discrepancies_next(const struct discrepancies *d, uint32_t frame);
uint32_t discrepancies_previous(const struct discrepancies *d, uint32_t frame);

/* Returns the path that was given to discrepancies_open. */
const char *discrepancies_path(const struct discrepancies *d);

#endif
