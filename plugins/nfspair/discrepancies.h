/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/nfspair/discrepancies.h
 *
 * The discrepancies that nfsdigest compare found (schemas/compare.sql), for the frames of one of
 * the compared captures.  Knows nothing of Wireshark.
 *
 * It does not ask which capture is open: an entry belongs to a frame with the same number, time and
 * XID, on either side.  A capture that has both servers shows both sides.
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
    DISCREPANCIES_MOST = 500, /* that are shown of one message */
};

/* Texts live until the callback returns; they may be any bytes.  NULL: there is none. */
struct discrepancy {
    uint32_t number; /* of those of the message, from 1 */
    uint32_t group;  /* of like discrepancies */
    uint64_t count;  /* of the group */
    const char *side, *kind, *class, *field, *difference, *element, *ref, *sut, *explanation,
        *cause, *rule;
    bool is_noise;          /* no more frequent than between two runs of the reference */
    uint32_t other_frame;   /* 0: no counterpart */
    const char *other_file; /* NULL: the counterpart is in the same capture */
};

struct discrepancies;

/* |side|: only what is of that side.  NULL: it is no result of a comparison, or of a later version,
 * or damaged. */
struct discrepancies *discrepancies_open(const char *path, enum side_code side, struct err *err);
void discrepancies_close(struct discrepancies *d);

/* Frame |frame| of the open capture was made at |time| (ns): each frame once, before it is asked
 * for.  Nothing is shown of others. */
void discrepancies_seen(struct discrepancies *d, uint32_t frame, int64_t time);

/* Whether the database is of the capture that was seen, up to frame |last|, as far as one can tell:
 * false when it has discrepancies, none of which is for a frame that was seen, and knows no capture
 * of so many frames without any.  |text| then says so. */
bool discrepancies_fit(const struct discrepancies *d, uint32_t last, struct err *text);

/* Calls |show| for those of the message |xid| that ends in |frame|, at most DISCREPANCIES_MOST;
 * returns how many there are, or a negative code. */
typedef void (*discrepancy_show)(void *ctx, const struct discrepancy *discrepancy);
int64_t discrepancies_of(struct discrepancies *d, uint32_t frame, uint32_t xid,
                         discrepancy_show show, void *ctx, struct err *err);

/* The nearest frame behind (or before) |frame| that was seen and has some; 0: none. */
uint32_t discrepancies_next(const struct discrepancies *d, uint32_t frame);
uint32_t discrepancies_previous(const struct discrepancies *d, uint32_t frame);

/* As it was given to discrepancies_open. */
const char *discrepancies_path(const struct discrepancies *d);

#endif
