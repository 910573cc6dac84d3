/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/cli/outage_lost.h
 *
 * For outage_differ.c: follows the WRITEs that were acknowledged as UNSTABLE, and fills in |lost|
 * of each outage (outage.h).  It is fed with all operations in the order of their replies.
 *
 * Memory: 48 bytes for each of at most LOST_RANGES WRITEs that are not committed yet, and 64 for
 * each file that had one.  Others are counted (not_followed).
 */
#ifndef NFSDIGEST_CLI_OUTAGE_LOST_H
#define NFSDIGEST_CLI_OUTAGE_LOST_H

#include "cli/outage.h"
#include "effect/effect.h"

enum { LOST_RANGES = 1 << 18 };

struct lost;

/* NULL: it failed. */
struct lost *lost_new(sqlite3 *db, const struct outage_request *request, struct outages *outages,
                      struct err *err);
int lost_done(struct lost *lost, const struct effect *effect, struct err *err);
/* No operation follows. */
int lost_end(struct lost *lost, sqlite3 *db, struct err *err);
void lost_free(struct lost *lost);

#endif
