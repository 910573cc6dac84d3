/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/package/counters.h
 *
 * The counters at the end of an anonymized capture, lines "NAME VALUE" (anon_counters).
 */
#ifndef NFSDIGEST_PACKAGE_COUNTERS_H
#define NFSDIGEST_PACKAGE_COUNTERS_H

#include <stdbool.h>

/* Returns true if |text| has only such lines, each once and in order, and its counts of messages,
 * frames and values agree with |again|.  These are the counters from anonymizing the result once
 * more.  Counts of what the original had lost, or what was dropped, cannot be checked. */
bool counters_agree(const char *text, const char *again);

#endif
