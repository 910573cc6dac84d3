/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/moment.h
 *
 * Points in time of a trace, in the forms that people type:
 *
 *     10:03, 10:03:20.5         a time of day (UTC) in the trace
 *     +5m, +1.5                 after the first packet; without a unit, seconds
 *     -30s                      before the last packet
 *     2026-11-21 10:03, ...     what parse_time reads (base/values.h)
 */
#ifndef NFSDIGEST_STORE_MOMENT_H
#define NFSDIGEST_STORE_MOMENT_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct moment_span {
    bool known;          /* false: no packet has a time */
    int64_t first, last; /* ns since the epoch */
};

/* Reads the times of the first and the last packet of a trace. */
int moment_span_read(sqlite3 *db, struct moment_span *span, struct err *err);

/* Returns -ERR_USAGE if |text| has another form, if it names a time of day that the trace has more
 * than once, or if it needs the times of packets and there are none. */
int moment_parse(const char *text, const struct moment_span *span, int64_t *ns, struct err *err);

#endif
